/* SPDX-License-Identifier: ISC */
#ifndef CLI_OUT_H
#define CLI_OUT_H

#include <stdint.h>

#include "base/json.h"

/*
 * What people and scripts read.  Everything that did not come from this
 * program (names, paths, commands, sentences of others) goes through
 * out_foreign() or a table cell; both escape.  Nothing else may print it.
 */
enum style { STYLE_PLAIN, STYLE_BOLD, STYLE_DIM, STYLE_RED, STYLE_GREEN,
	STYLE_YELLOW, STYLE_CYAN };

enum out_color { OUT_COLOR_AUTO, OUT_COLOR_ALWAYS, OUT_COLOR_NEVER };

struct out {
	struct buf	b;		/* not written yet */
	int		fd;
	int		terminal;
	int		color;
	int		columns;	/* 0: not a terminal */
	int		failed;		/* errno of the first write that failed */
};

/* out_init(o, fd, color): looks at NO_COLOR, CLICOLOR_FORCE, TERM. */
void out_init(struct out *o, int fd, enum out_color color);
void out_done(struct out *o);

void out_put(struct out *o, const char *s);
void out_putf(struct out *o, const char *fmt, ...)
    __attribute__((format(printf, 2, 3)));
void out_foreign(struct out *o, struct str s, size_t max);
void out_style(struct out *o, enum style style);
void out_json(struct out *o, const struct json *j);	/* one line */

/* out_flush(o, e): SYS if it cannot be written; PEER if the reader went. */
int out_flush(struct out *o, struct err *e) MUST_CHECK;

/*
 * out_error(o, json, e): three lines for a person, or one glove.error/1 object.
 * ${exit} is what the program will exit with, ${data} the daemon's data or NULL.
 */
void out_error(struct out *o, int json, const struct err *e, int exit,
    const struct json *data);

/*
 * A table.  Cells are escaped and padded to the width of their column; the
 * last column is cut at the width of the terminal unless ${wide}.
 */
enum { TABLE_COLUMNS_MAX = 10 };
struct table {
	struct out	*o;
	size_t		 ncols;
	int		 wide;
	struct buf	 text;		/* all cells, escaped */
	struct cell {
		size_t		at, n;	/* bytes of text */
		size_t		columns;	/* on a terminal */
		enum style	style;
	} *cells;
	size_t		 ncells, cap;
	int		 failed;
};

void table_init(struct table *t, struct out *o, int wide,
    const char *const *heads);	/* NULL-ended */
void table_cell(struct table *t, enum style style, struct str s);
void table_cellf(struct table *t, enum style style, const char *fmt, ...)
    __attribute__((format(printf, 3, 4)));
int table_end(struct table *t, struct err *e) MUST_CHECK;	/* prints it */
void table_done(struct table *t);
static inline void auto_table(struct table *t) { table_done(t); }

/* text_columns(s): how wide UTF-8 text stands on a terminal. */
size_t text_columns(struct str s);

/* when_put(b, us, now_us, utc): "12m ago (10:41)", "in 8h (18:41)". */
void when_put(struct buf *b, int64_t us, int64_t now_us, int utc);
/* clock_put(b, us, seconds, utc): "10:41" or "10:41:02"; another day: with the
 * date. */
void clock_put(struct buf *b, int64_t us, int64_t now_us, int seconds, int utc);

#endif
