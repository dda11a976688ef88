/* SPDX-License-Identifier: ISC */
#ifndef CLI_STAGED_H
#define CLI_STAGED_H

#include "cli/cli.h"
#include "sandbox/changes.h"

/* The changes of one session, as gloved recorded them, on this machine. */
enum { STAGED_PATHS_MAX = 1024 };
struct staged {
	char		 id[ID_TEXT_MAX];	/* of the change; "": it still runs */
	char		 session[ID_TEXT_MAX];
	struct json	*show;			/* change.show; NULL: it still runs */
	struct manifest	*m;
	int		 upper, lower;		/* directories, or -1 */
	char		*path;			/* the host directory */
	struct str	 paths[STAGED_PATHS_MAX];
	size_t		 npaths;
};

/*
 * staged_open(c, typed, care, st, e): ${typed} names a change or the session
 * that made it.  The manifest is checked against both of its digests.  Of a
 * session that still runs, what it has written so far (unless ${care}).
 * NOTFOUND if it changed nothing.
 */
int staged_open(struct cli *c, const char *typed, int care, struct staged *st,
    struct err *e) MUST_CHECK;
void staged_done(struct staged *st);
static inline void auto_staged(struct staged *st) { staged_done(st); }

/* staged_choose(st, n, v, e): the paths that were given, relative to here or to
 * the workspace. */
int staged_choose(struct staged *st, size_t n, const char *const *v,
    struct err *e) MUST_CHECK;

/* staged_undo(c, st): the directory where an apply kept what it replaced, the
 * caller's to close; -1 if there was none. */
int staged_undo(const struct cli *c, const struct staged *st);

/* staged_id(c, typed, care, id, e): only the id, for what needs no manifest. */
int staged_id(struct cli *c, const char *typed, int care, char id[ID_TEXT_MAX],
    struct err *e) MUST_CHECK;

#endif
