/* SPDX-License-Identifier: ISC */
#include <string.h>

#include "base/text.h"

#include "sandbox/changes_text.h"

enum { CONTEXT = 3 };

static const char PLAIN[] = "\033[m", CYAN[] = "\033[36m", RED[] = "\033[31m",
    GREEN[] = "\033[32m";

void
sink_color(struct sink *s, const char *code)
{
	if (s->o->color)
		sink_puts(s, code);
}

/* A line from an agent for a terminal: only "\\" and tabs go as they are. */
void
sink_harmless(struct sink *s, struct str line)
{
	AUTO(buf) struct buf b;
	size_t n;

	buf_init(&b, line.n * 8 + 8);
	while (line.n != 0) {
		for (n = 0; n < line.n && line.p[n] != '\\' &&
		    line.p[n] != '\t'; n++)
			continue;
		buf_reset(&b);
		escape_put(&b, (struct str){ line.p, n }, b.max);
		sink_put(s, (struct str){ (const char *)b.p, b.n });
		if (n < line.n)
			sink_put(s, (struct str){ line.p + n, 1 });
		n += n < line.n;
		line = (struct str){ line.p + n, line.n - n };
	}
}

void
sink_line(struct sink *s, char sign, struct str line)
{
	int whole = line.n != 0 && line.p[line.n - 1] == '\n';
	struct str text = { line.p, line.n - (size_t)whole };

	if (sign != ' ')
		sink_color(s, sign == '-' ? RED : GREEN);
	sink_put(s, (struct str){ &sign, 1 });
	if (s->o->terminal)
		sink_harmless(s, text);
	else
		sink_put(s, text);
	if (sign != ' ')
		sink_color(s, PLAIN);
	sink_puts(s, "\n");
	if (!whole)
		sink_puts(s, "\\ No newline at end of file\n");
}

static void
put_range(struct sink *s, char sign, size_t from, size_t n)
{
	if (n == 1)
		sink_putf(s, "%c%zu", sign, from + 1);
	else
		sink_putf(s, "%c%zu,%zu", sign, n != 0 ? from + 1 : from, n);
}

void
sink_hunk_head(struct sink *s, size_t a, size_t an, size_t b, size_t bn)
{
	sink_color(s, CYAN);
	sink_puts(s, "@@ ");
	put_range(s, '-', a, an);
	sink_puts(s, " ");
	put_range(s, '+', b, bn);
	sink_puts(s, " @@");
	sink_color(s, PLAIN);
	sink_puts(s, "\n");
}

static int
changed(const struct text *t, size_t i)
{
	return i < t->n && t->changed[i];
}

/* The lines a[i..iend) and b[j..jend), which belong together. */
static void
put_hunk(struct sink *s, const struct text *a, size_t i, size_t iend,
    const struct text *b, size_t j, size_t jend)
{
	sink_hunk_head(s, i, iend - i, j, jend - j);
	while (i < iend || j < jend) {
		if (i < iend && a->changed[i])
			sink_line(s, '-', text_line(a, i++));
		else if (j < jend && b->changed[j])
			sink_line(s, '+', text_line(b, j++));
		else {
			sink_line(s, ' ', text_line(a, i++));
			j++;
		}
	}
}

void
sink_hunks(struct sink *s, const struct text *a, const struct text *b)
{
	size_t i = 0, j = 0, from, ifrom, jfrom, same, most;

	for (;;) {
		for (; i < a->n && !a->changed[i] && !changed(b, j); i++, j++)
			continue;
		if (i >= a->n && j >= b->n)
			return;
		from = i < CONTEXT ? i : CONTEXT;
		ifrom = i - from;
		jfrom = j - from;
		/* Go on while the next change is near enough to share context. */
		for (same = 0; same <= 2 * CONTEXT && (i < a->n || j < b->n);) {
			if (changed(a, i))
				i++;
			else if (changed(b, j))
				j++;
			else {
				i++;
				j++;
				same++;
				continue;
			}
			same = 0;
		}
		most = same > CONTEXT ? same - CONTEXT : 0;
		put_hunk(s, a, ifrom, i - most, b, jfrom, j - most);
	}
}
