/* SPDX-License-Identifier: ISC */
/*
 * One change as git writes it.  What changes its type is a removal and a
 * creation, as in git; there is no index line, since we have no SHA-1 names.
 */
#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "sandbox/changes_text.h"

enum { READ_BYTES = 64 << 10 };

static const char PLAIN[] = "\033[m", BOLD[] = "\033[1m";

/* One side: where it lies and what it holds. */
struct half {
	const struct change_side *side;
	int		 root;
	struct str	 at;		/* below root */
	const char	*prefix;	/* "a/" or "b/" */
	struct text	 t;
};

/* One change: its path in both trees, and its number in an undo directory. */
struct place {
	int		upper, lower;
	struct str	path;
	char		number[32];
};

/* Every line of a text that is too big to hold, read again. */
static int
put_big(struct sink *s, const struct half *h, char sign, struct err *e)
{
	AUTO(fd) int fd = -1;
	AUTO(mem) char *chunk = malloc(READ_BYTES);
	size_t lines = 0, left;
	ssize_t n;
	char last = '\n';

	if (chunk == NULL)
		return err_set(e, ERR_NOMEM, "read a file");
	if (text_open(h->root, h->at, &fd, e))
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
				sink_harmless(s, (struct str){ p, k - (nl != NULL) });
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
    struct err *e)
{
	const struct half *const sides[] = { a, b };

	sink_hunk_head(s, 0, a->t.n, 0, b->t.n);
	for (size_t k = 0; k < 2; k++) {
		const struct half *h = sides[k];

		if (h->t.big) {
			if (put_big(s, h, "-+"[k], e))
				return -1;
			continue;
		}
		for (size_t i = 0; i < h->t.n; i++)
			sink_line(s, "-+"[k], text_line(&h->t, i));
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
	sink_color(s, BOLD);
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
	sink_color(s, PLAIN);
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
	sink_color(s, BOLD);
	put_side_name(s, "--- ", a, path);
	sink_puts(s, "\n");
	put_side_name(s, "+++ ", b, path);
	sink_color(s, PLAIN);
	sink_puts(s, "\n");
	if (a->t.big || b->t.big)
		return put_replaced(s, a, b, e);
	sink_hunks(s, &a->t, &b->t);
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

/* The host's side; where it has been replaced, from what was kept of it. */
static int
load_before(struct half *a, int undo_dirfd, struct str number, struct err *e)
{
	if (text_load(a->root, a->at, a->side, &a->t, e))
		return -1;
	if (!a->t.stale || undo_dirfd <= 0)
		return 0;
	text_done(&a->t);
	a->t = (struct text){ .n = 0 };
	a->root = undo_dirfd;
	a->at = number;
	return text_load(a->root, a->at, a->side, &a->t, e);
}

/* From ${before} to ${after}; one of them may be absent. */
static int
put_pair(struct sink *s, const struct place *p,
    const struct change_side *before, const struct change_side *after,
    struct text_count *count, struct err *e)
{
	struct str path = p->path;
	AUTO(half) struct half a = { .side = before, .root = p->lower,
	    .at = path, .prefix = "a/" };
	AUTO(half) struct half b = { .side = after, .root = p->upper,
	    .at = path, .prefix = "b/" };

	if (load_before(&a, s->o->undo_dirfd, str_of(p->number), e) ||
	    text_load(b.root, path, after, &b.t, e))
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
patch_file(struct sink *s, int upper, int lower, const struct manifest *m,
    size_t i, struct text_count *count, struct err *e)
{
	static const struct change_side none = { .type = CHANGE_TYPE_ABSENT };
	const struct change *c = &m->v[i];
	const struct change_side *before = is_content(&c->before) ? &c->before :
	    &none;
	const struct change_side *after = is_content(&c->after) ? &c->after :
	    &none;
	struct place p = { .upper = upper, .lower = lower, .path = c->path };
	struct half a = { .side = before }, b = { .side = after };

	(void)snprintf(p.number, sizeof(p.number), "%zu", i);
	*count = (struct text_count){ .added = 0 };
	if (c->kind == CHANGE_KIND_MODE) {
		if (s->o->form == CHANGES_PATCH)
			put_head(s, &a, &b, c->path);
		return 0;
	}
	if (before != &none && after != &none && before->type != after->type)
		return put_pair(s, &p, before, &none, count, e) ||
		    put_pair(s, &p, &none, after, count, e) ? -1 : 0;
	return put_pair(s, &p, before, after, count, e);
}
