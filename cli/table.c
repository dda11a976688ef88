/* SPDX-License-Identifier: ISC */
/* table.c - columns of text, and times, as people read them. */
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <wchar.h>

#include "base/num.h"
#include "base/text.h"
#include "cli/out.h"

enum { TABLE_MAX = 64 << 20, CELL_MAX = 4096, GAP = 2 };

size_t
text_columns(struct str s)
{
	size_t columns = 0;

	/* Escaped text is well-formed UTF-8, so decoding needs no errors. */
	for (size_t i = 0; i < s.n; ) {
		unsigned char c = (unsigned char)s.p[i];
		size_t len = c < 0x80 ? 1 : c < 0xe0 ? 2 : c < 0xf0 ? 3 : 4;
		wchar_t w = len == 1 ? c : c & (0xff >> (len + 1));
		int width;

		for (size_t k = 1; k < len && i + k < s.n; k++)
			w = (w << 6) | (s.p[i + k] & 0x3f);
		width = wcwidth(w);
		columns += width < 0 ? 1 : (size_t)width;
		i += len;
	}
	return columns;
}

void
table_init(struct table *t, struct out *o, int wide, const char *const *heads)
{
	memset(t, 0, sizeof(*t));
	t->o = o;
	t->wide = wide || o->columns == 0;
	buf_init(&t->text, TABLE_MAX);
	while (heads[t->ncols] != NULL)
		t->ncols++;
	for (size_t i = 0; i < t->ncols; i++)
		table_cell(t, STYLE_DIM, str_of(heads[i]));
}

void
table_cell(struct table *t, enum style style, struct str s)
{
	struct cell *cell;

	if (t->ncells == t->cap) {
		size_t cap = t->cap == 0 ? 64 : 2 * t->cap;
		struct cell *more = realloc(t->cells, cap * sizeof(*more));

		if (more == NULL) {
			t->failed = 1;
			return;
		}
		t->cells = more;
		t->cap = cap;
	}
	cell = &t->cells[t->ncells++];
	cell->style = style;
	cell->at = t->text.n;
	escape_put(&t->text, s, CELL_MAX);
	cell->n = t->text.n - cell->at;
	cell->columns = cell->n == 0 ? 0 : text_columns((struct str){
	    (const char *)t->text.p + cell->at, cell->n });
}

void
table_cellf(struct table *t, enum style style, const char *fmt, ...)
{
	char s[256];
	va_list ap;

	va_start(ap, fmt);
	(void)vsnprintf(s, sizeof(s), fmt, ap);
	va_end(ap);
	table_cell(t, style, str_of(s));
}

/* As many bytes of the cell as fit into ${room} columns, whole characters. */
static size_t
fitting(struct str s, size_t room)
{
	size_t n = s.n;

	while (n > 0 && text_columns((struct str){ s.p, n }) > room) {
		n--;
		while (n > 0 && ((unsigned char)s.p[n] & 0xc0) == 0x80)
			n--;
	}
	return n;
}

static void
row(const struct table *t, size_t first, const size_t *width)
{
	size_t used = 0;

	for (size_t i = 0; i < t->ncols; i++) {
		const struct cell *c = &t->cells[first + i];
		struct str s = { (const char *)t->text.p + c->at, c->n };
		size_t room = (size_t)t->o->columns;
		int cut = 0;

		if (i + 1 == t->ncols && !t->wide && room > used + 4 &&
		    c->columns > room - used) {
			s.n = fitting(s, room - used - 1);
			cut = 1;
		}
		if (c->style != STYLE_PLAIN)
			out_style(t->o, c->style);
		out_putf(t->o, "%.*s%s", (int)s.n, s.n == 0 ? "" : s.p,
		    cut ? "\u2026" : "");
		if (c->style != STYLE_PLAIN)
			out_style(t->o, STYLE_PLAIN);
		if (i + 1 < t->ncols)
			out_putf(t->o, "%*s", (int)(width[i] - c->columns + GAP),
			    "");
		used += width[i] + GAP;
	}
	out_put(t->o, "\n");
}

int
table_end(struct table *t, struct err *e)
{
	size_t width[TABLE_COLUMNS_MAX] = { 0 };

	if (t->failed)
		return err_set(e, ERR_NOMEM, "table");
	if (buf_ok(&t->text, "table", e))
		return -1;
	if (t->ncols > TABLE_COLUMNS_MAX || t->ncells % t->ncols != 0)
		return err_set(e, ERR_BUG, "a table with ragged rows");
	for (size_t i = 0; i < t->ncells; i++)
		if (width[i % t->ncols] < t->cells[i].columns)
			width[i % t->ncols] = t->cells[i].columns;
	for (size_t i = 0; i < t->ncells; i += t->ncols)
		row(t, i, width);
	return 0;
}

void
table_done(struct table *t)
{
	buf_done(&t->text);
	free(t->cells);
	t->cells = NULL;
}

void
clock_put(struct buf *b, int64_t us, int64_t now_us, int seconds, int utc)
{
	time_t at = (time_t)(us / 1000000), now = (time_t)(now_us / 1000000);
	struct tm t, n;
	char s[64];

	if (utc ? gmtime_r(&at, &t) == NULL || gmtime_r(&now, &n) == NULL :
	    localtime_r(&at, &t) == NULL || localtime_r(&now, &n) == NULL)
		return;
	if (t.tm_year != n.tm_year || t.tm_yday != n.tm_yday)
		(void)strftime(s, sizeof(s), seconds ? "%Y-%m-%d %H:%M:%S" :
		    "%Y-%m-%d %H:%M", &t);
	else
		(void)strftime(s, sizeof(s), seconds ? "%H:%M:%S" : "%H:%M", &t);
	buf_put_str(b, s);
	if (utc)
		buf_put_str(b, "Z");
}

void
when_put(struct buf *b, int64_t us, int64_t now_us, int utc)
{
	int64_t off = us - now_us;

	if (off > 0)
		buf_put_str(b, "in ");
	/* Whole seconds: nobody reads "12.345s ago". */
	duration_put(b, ((off < 0 ? -off : off) + 500000) / 1000000 * 1000000);
	if (off <= 0)
		buf_put_str(b, " ago");
	buf_put_str(b, " (");
	clock_put(b, us, now_us, 0, utc);
	buf_put_str(b, ")");
}
