/* SPDX-License-Identifier: ISC */
/*
 * One change as git writes it.  What changes its type is a removal and a
 * creation, as in git; there is no index line, since we have no SHA-1 names.
 */
#include <errno.h>
#include <inttypes.h>
#include <string.h>
#include <unistd.h>

#include "base/text.h"

#include "sandbox/changes_text.h"

enum {
	CONTEXT		= 3,
	READ_BYTES	= 64 << 10
};

static const char PLAIN[] = "\033[m", BOLD[] = "\033[1m", CYAN[] = "\033[36m",
    RED[] = "\033[31m", GREEN[] = "\033[32m";

/* One side: where it lies and what it holds. */
struct half {
	const struct change_side *side;
	int		 root;
	const char	*prefix;	/* "a/" or "b/" */
	struct text	 t;
};

static void
color(struct sink *s, const char *code)
{
	if (s->o->color)
		sink_puts(s, code);
}

/* A line from an agent for a terminal: only "\\" and tabs go as they are. */
static void
harmless(struct sink *s, struct str line)
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

static void
put_line(struct sink *s, char sign, struct str line)
{
	int whole = line.n != 0 && line.p[line.n - 1] == '\n';
	struct str text = { line.p, line.n - (size_t)whole };

	if (sign != ' ')
		color(s, sign == '-' ? RED : GREEN);
	sink_put(s, (struct str){ &sign, 1 });
	if (s->o->terminal)
		harmless(s, text);
	else
		sink_put(s, text);
	if (sign != ' ')
		color(s, PLAIN);
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

static void
put_hunk_head(struct sink *s, size_t a, size_t an, size_t b, size_t bn)
{
	color(s, CYAN);
	sink_puts(s, "@@ ");
	put_range(s, '-', a, an);
	sink_puts(s, " ");
	put_range(s, '+', b, bn);
	sink_puts(s, " @@");
	color(s, PLAIN);
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
	put_hunk_head(s, i, iend - i, j, jend - j);
	while (i < iend || j < jend) {
		if (i < iend && a->changed[i])
			put_line(s, '-', text_line(a, i++));
		else if (j < jend && b->changed[j])
			put_line(s, '+', text_line(b, j++));
		else {
			put_line(s, ' ', text_line(a, i++));
			j++;
		}
	}
}

static void
put_hunks(struct sink *s, const struct text *a, const struct text *b)
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

/* Every line of a text that is too big to hold, read again. */
static int
put_big(struct sink *s, const struct half *h, char sign, struct str path,
    struct err *e)
{
	AUTO(fd) int fd = -1;
	AUTO(mem) char *chunk = malloc(READ_BYTES);
	size_t lines = 0, left;
	ssize_t n;
	char last = '\n';

	if (chunk == NULL)
		return err_set(e, ERR_NOMEM, "read a file");
	if (text_open(h->root, path, &fd, e))
		return -1;
	while ((n = read(fd, chunk, READ_BYTES)) != 0) {
		const char *p = chunk, *nl;

		if (n < 0 && errno == EINTR)
			continue;
		if (n < 0)
			return err_set(e, ERR_SYS, "read a file");
		for (left = (size_t)n; left != 0;) {
			size_t k;

			if (last == '\n') {
				sink_put(s, (struct str){ &sign, 1 });
				lines++;
			}
			nl = memchr(p, '\n', left);
			k = nl != NULL ? (size_t)(nl - p) + 1 : left;
			if (s->o->terminal)
				harmless(s, (struct str){ p, k - (nl != NULL) });
			else
				sink_put(s, (struct str){ p, k - (nl != NULL) });
			if (nl != NULL)
				sink_puts(s, "\n");
			last = p[k - 1];
			p += k;
			left -= k;
		}
	}
	if (last != '\n')
		sink_puts(s, "\n\\ No newline at end of file\n");
	if (lines != h->t.n)
		return err_say(e, ERR_STALE, "a file changed while it was read");
	return 0;
}

static int
put_replaced(struct sink *s, const struct half *a, const struct half *b,
    struct str path, struct err *e)
{
	const struct half *const sides[] = { a, b };

	put_hunk_head(s, 0, a->t.n, 0, b->t.n);
	for (size_t k = 0; k < 2; k++) {
		const struct half *h = sides[k];

		if (h->t.big) {
			if (put_big(s, h, "-+"[k], path, e))
				return -1;
			continue;
		}
		for (size_t i = 0; i < h->t.n; i++)
			put_line(s, "-+"[k], text_line(&h->t, i));
	}
	return 0;
}

static unsigned
git_mode(const struct change_side *side)
{
	return side->type == CHANGE_TYPE_SYMLINK ? 0120000 :
	    0100000U | side->mode;
}

static int
is_content(const struct change_side *side)
{
	return side->type == CHANGE_TYPE_FILE ||
	    side->type == CHANGE_TYPE_SYMLINK;
}

static void
put_side_name(struct sink *s, const char *lead, const struct half *h,
    struct str path)
{
	sink_puts(s, lead);
	if (!is_content(h->side))
		sink_puts(s, "/dev/null");
	else {
		sink_name(s, h->prefix, path);
		/* Where patch(1) would else stop at the blank. */
		if (memchr(path.p, ' ', path.n) != NULL && lead[0] != 'B' &&
		    lead[0] != ' ')
			sink_puts(s, "\t");
	}
}

static void
put_head(struct sink *s, const struct half *a, const struct half *b,
    struct str path)
{
	color(s, BOLD);
	sink_puts(s, "diff --git ");
	sink_name(s, "a/", path);
	sink_puts(s, " ");
	sink_name(s, "b/", path);
	if (!is_content(a->side))
		sink_putf(s, "\nnew file mode %06o", git_mode(b->side));
	else if (!is_content(b->side))
		sink_putf(s, "\ndeleted file mode %06o", git_mode(a->side));
	else if (a->side->mode != b->side->mode)
		sink_putf(s, "\nold mode %06o\nnew mode %06o",
		    git_mode(a->side), git_mode(b->side));
	color(s, PLAIN);
	sink_puts(s, "\n");
}

static int
put_body(struct sink *s, const struct half *a, const struct half *b,
    struct str path, struct err *e)
{
	if (a->t.binary || b->t.binary) {
		put_side_name(s, "Binary files ", a, path);
		put_side_name(s, " and ", b, path);
		sink_puts(s, " differ\n");
		return 0;
	}
	if (a->t.n == 0 && b->t.n == 0)
		return 0;
	color(s, BOLD);
	put_side_name(s, "--- ", a, path);
	sink_puts(s, "\n");
	put_side_name(s, "+++ ", b, path);
	color(s, PLAIN);
	sink_puts(s, "\n");
	if (a->t.big || b->t.big)
		return put_replaced(s, a, b, path, e);
	put_hunks(s, &a->t, &b->t);
	return 0;
}

static int
marked(const struct text *t)
{
	int n = 0;

	for (size_t i = 0; i < t->n; i++)
		n += t->changed[i];
	return n;
}

static void
auto_half(struct half *h)
{
	text_done(&h->t);
}

/* From ${before} to ${after}; one of them may be absent. */
static int
put_pair(struct sink *s, int upper, int lower, struct str path,
    const struct change_side *before, const struct change_side *after,
    struct text_count *count, struct err *e)
{
	AUTO(half) struct half a = { .side = before, .root = lower, .prefix = "a/" };
	AUTO(half) struct half b = { .side = after, .root = upper, .prefix = "b/" };

	if (text_load(lower, path, before, &a.t, e) ||
	    text_load(upper, path, after, &b.t, e))
		return -1;
	if (a.t.stale || b.t.stale) {
		count->stale = 1;
		sink_puts(s, "# ");
		sink_name(s, "", path);
		sink_putf(s, ": %s\n", a.t.stale ?
		    "the host's file is no longer what it was" :
		    "the session's file is no longer what it was");
		return 0;
	}
	if (a.t.binary || b.t.binary)
		count->binary = 1;
	else if (a.t.big || b.t.big) {
		count->removed += (int64_t)a.t.n;
		count->added += (int64_t)b.t.n;
	} else {
		if (text_compare(&a.t, &b.t, e))
			return -1;
		count->removed += marked(&a.t);
		count->added += marked(&b.t);
	}
	if (s->o->put == NULL || s->o->form != CHANGES_PATCH)
		return 0;
	put_head(s, &a, &b, path);
	return put_body(s, &a, &b, path, e);
}

int
patch_file(struct sink *s, int upper, int lower, const struct change *c,
    struct text_count *count, struct err *e)
{
	static const struct change_side none = { .type = CHANGE_TYPE_ABSENT };
	const struct change_side *before = is_content(&c->before) ? &c->before :
	    &none;
	const struct change_side *after = is_content(&c->after) ? &c->after :
	    &none;
	struct half a = { .side = before }, b = { .side = after };

	*count = (struct text_count){ .added = 0 };
	if (c->kind == CHANGE_KIND_MODE) {
		if (s->o->form == CHANGES_PATCH)
			put_head(s, &a, &b, c->path);
		return 0;
	}
	if (before != &none && after != &none && before->type != after->type)
		return put_pair(s, upper, lower, c->path, before, &none, count, e) ||
		    put_pair(s, upper, lower, c->path, &none, after, count, e) ?
		    -1 : 0;
	return put_pair(s, upper, lower, c->path, before, after, count, e);
}
