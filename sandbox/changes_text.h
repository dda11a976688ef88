/* SPDX-License-Identifier: ISC */
#ifndef SANDBOX_CHANGES_TEXT_H
#define SANDBOX_CHANGES_TEXT_H

#include "sandbox/changes_impl.h"

/* One side of a change as lines of text, and what differs between two. */

enum {
	TEXT_BYTES_MAX	= 8 << 20,	/* of a side that is compared by line */
	TEXT_LINES_MAX	= 500000,
	TEXT_STEPS_MAX	= 20000000	/* of the search; then: all replaced */
};

struct text {
	struct buf	 b;
	size_t		*start;		/* of line i; start[n] is the end */
	uint32_t	*class;		/* equal lines have equal classes */
	uint8_t		*changed;	/* 1: the line is not in the other */
	size_t		 n;		/* lines */
	uint8_t		 binary;
	uint8_t		 big;		/* over a limit: n is known, no lines are */
	uint8_t		 stale;		/* not what the manifest says */
};

void text_done(struct text *t);
static inline void auto_text(struct text *t) { text_done(t); }

/*
 * text_load(root, path, side, t, e): the content of ${side}, empty if it is no
 * file or link.  ${t} is zeros; text_done() frees it, also after a failure.
 */
int text_load(int root, struct str path, const struct change_side *side,
    struct text *t, struct err *e) MUST_CHECK;

/* text_open(root, path, fd, e): the same file again, for a big text. */
int text_open(int root, struct str path, int *fd, struct err *e) MUST_CHECK;

/* text_compare(a, b, e): fill in which lines changed.  Neither is big. */
int text_compare(struct text *a, struct text *b, struct err *e) MUST_CHECK;

static inline struct str
text_line(const struct text *t, size_t i)
{
	return (struct str){ (const char *)t->b.p + t->start[i],
	    t->start[i + 1] - t->start[i] };
}

/* A sink with a small buffer in front; failure sticks in ${failed}. */
struct sink {
	const struct changes_diff_options *o;
	struct buf	 b;
	struct err	*e;
	int		 failed;
};

void sink_init(struct sink *s, const struct changes_diff_options *o,
    struct err *e);
int sink_done(struct sink *s);		/* flush; 0, or -1 and s->e is filled */
void sink_put(struct sink *s, struct str text);
void sink_puts(struct sink *s, const char *text);
void sink_putf(struct sink *s, const char *fmt, ...)
    __attribute__((format(printf, 2, 3)));
/* sink_name(s, prefix, path): as git writes it, quoted if it has to be. */
void sink_name(struct sink *s, const char *prefix, struct str path);
/* name_quote(b, prefix, path): the same into a buffer. */
void name_quote(struct buf *b, const char *prefix, struct str path);

/* sink_color(s, code): only where colours are wanted. */
void sink_color(struct sink *s, const char *code);
/* sink_harmless(s, line): only "\\" and tabs go as they are. */
void sink_harmless(struct sink *s, struct str line);
/* sink_line(s, sign, line): a line of a hunk, with or without its newline. */
void sink_line(struct sink *s, char sign, struct str line);
/* sink_hunk_head: "@@ -a,an +b,bn @@"; ${a} and ${b} count from 0. */
void sink_hunk_head(struct sink *s, size_t a, size_t an, size_t b, size_t bn);
/* sink_hunks(s, a, b): all of them, after text_compare(). */
void sink_hunks(struct sink *s, const struct text *a, const struct text *b);

/* patch_file(s, upper, lower, m, i, count, e): one change as git would. */
struct text_count {
	int64_t	added, removed;
	uint8_t	binary, stale;
};
int patch_file(struct sink *s, int upper, int lower, const struct manifest *m,
    size_t i, struct text_count *count, struct err *e) MUST_CHECK;

#endif
