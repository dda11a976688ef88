/* SPDX-License-Identifier: ISC */
#ifndef BASE_ERR_H
#define BASE_ERR_H

/*
 * Errors are values.  A function that can fail takes a struct err last and
 * returns 0, or -1 with the struct filled.  The caller owns it, usually on its
 * stack; nothing here allocates, so an error can be dropped but not leaked.
 *
 * A person reads three things: what (msg), why, and what to do (fix).  why and
 * fix may be empty; then the row of err.def speaks.
 */
enum err_code {
	ERR_OK = 0,
#define ERR(code, NAME, wire, exit, text, fix) ERR_##NAME = (code),
#include "base/err.def"
	ERR_CODE_END
};

enum {
	ERR_MSG_MAX = 400,	/* bytes, with the final NUL */
	ERR_WHY_MAX = 240,
	ERR_FIX_MAX = 240
};

struct err {
	int		 code;		/* enum err_code */
	int		 sys;		/* errno when it happened, or 0 */
	const char	*file;		/* where it was first noticed */
	int		 line;
	char		 msg[ERR_MSG_MAX];
	char		 why[ERR_WHY_MAX];
	char		 fix[ERR_FIX_MAX];
};

/*
 * err_set(e, code, fmt, ...): fill ${e} and be -1, so that
 *	return err_set(e, ERR_SYS, "open %s", path);
 * is the whole failure path.  SYS appends strerror(errno), every other code
 * the text of its row.  Keeps errno.  Clears why and fix.  ${e} is never NULL.
 */
#define err_set(e, code, ...) \
	(err_set_at(e, code, __FILE__, __LINE__, __VA_ARGS__), -1)
void err_set_at(struct err *e, enum err_code code, const char *file, int line,
    const char *fmt, ...) __attribute__((format(printf, 5, 6)));

/*
 * err_say(e, code, fmt, ...): as err_set(), but the message is the whole
 * sentence: nothing is appended.
 */
#define err_say(e, code, ...) \
	(err_say_at(e, code, __FILE__, __LINE__, __VA_ARGS__), -1)
void err_say_at(struct err *e, enum err_code code, const char *file, int line,
    const char *fmt, ...) __attribute__((format(printf, 5, 6)));

/*
 * err_wrap(e, fmt, ...): put context in front of an error that has already
 * happened, and be -1 again.  "session 7: open x: No such file or directory"
 */
#define err_wrap(e, ...)	(err_wrap_at(e, __VA_ARGS__), -1)
void err_wrap_at(struct err *e, const char *fmt, ...)
    __attribute__((format(printf, 2, 3)));

/* err_why, err_fix: add the second and the third thing; each is -1 again. */
#define err_why(e, ...)	(err_why_at(e, __VA_ARGS__), -1)
void err_why_at(struct err *e, const char *fmt, ...)
    __attribute__((format(printf, 2, 3)));
#define err_fix(e, ...)	(err_fix_at(e, __VA_ARGS__), -1)
void err_fix_at(struct err *e, const char *fmt, ...)
    __attribute__((format(printf, 2, 3)));

const char *err_name(int code);	/* "ILLEGAL"; static, never NULL */
const char *err_wire(int code);	/* "state.forbids"; static, never NULL */
const char *err_text(int code);	/* "the state it is in ..."; never NULL */
const char *err_do(const struct err *e);  /* fix, or the row's; never NULL */
int err_exit(int code);		/* exit status, see glove(1) */
int err_from_wire(const char *wire);	/* enum err_code, or ERR_BUG */

#endif
