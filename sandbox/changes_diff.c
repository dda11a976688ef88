/* SPDX-License-Identifier: ISC */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "sandbox/changes_text.h"

enum { WIDTH = 80, WIDTH_LEAST = 40, GRAPH_MOST = 40 };

/* Has anything below ${dir} changed too?  Then it needs no line of its own. */
static int
has_below(const struct manifest *m, const struct change *dir)
{
	char text[PATH_BYTES_MAX + 2];
	struct str want = { text, dir->path.n + 1 };
	size_t lo = 0, hi = m->n, mid;

	memcpy(text, dir->path.p, dir->path.n);
	text[dir->path.n] = '/';
	while (lo < hi) {
		mid = lo + (hi - lo) / 2;
		if (path_cmp(m->v[mid].path, want) < 0)
			lo = mid + 1;
		else
			hi = mid;
	}
	return lo < m->n && path_below(m->v[lo].path, dir->path);
}

static int
only_dirs(const struct change *c)
{
	return (c->before.type == CHANGE_TYPE_DIR ||
	    c->before.type == CHANGE_TYPE_ABSENT) &&
	    (c->after.type == CHANGE_TYPE_DIR ||
	    c->after.type == CHANGE_TYPE_ABSENT);
}

/* What a patch cannot say stands before it, where git and patch skip it. */
static void
put_remarks(struct sink *s, const struct manifest *m, const struct change *c)
{
	const char *text;
	unsigned at = 0;

	if (only_dirs(c) && (c->kind == CHANGE_KIND_MODE || !has_below(m, c))) {
		sink_puts(s, "# ");
		sink_name(s, "", c->path);
		if (c->kind == CHANGE_KIND_MODE)
			sink_putf(s, ": directory, mode %04o, was %04o\n",
			    c->after.mode, c->before.mode);
		else if (c->kind != CHANGE_KIND_KEEP)
			sink_putf(s, ": directory, %s\n",
			    c->kind == CHANGE_KIND_CREATE ? "new" : "removed");
		else
			sink_puts(s, ": directory\n");
	}
	if (c->runs_later) {
		sink_puts(s, "# ");
		sink_name(s, "", c->path);
		sink_puts(s, ": the host may run this by itself\n");
	}
	while ((text = change_note_next(c->notes, &at)) != NULL) {
		sink_puts(s, "# ");
		sink_name(s, "", c->path);
		sink_putf(s, ": %s%s\n", change_refused(c) ? "left out: " : "",
		    text);
	}
}

/* Has it content that a patch could show? */
static int
has_text(const struct change *c)
{
	return c->kind != CHANGE_KIND_KEEP && !only_dirs(c) &&
	    c->before.type <= CHANGE_TYPE_SYMLINK &&
	    c->after.type <= CHANGE_TYPE_SYMLINK &&
	    (c->notes & (CHANGE_NOTE_UNREADABLE | CHANGE_NOTE_HUGE)) == 0;
}

static int
count_width(const struct text_count *t)
{
	char text[64];

	return snprintf(text, sizeof(text), "%" PRId64, t->added + t->removed);
}

/* "+++--": ${n} signs, of which the share of ${added} are plus. */
static void
put_graph(struct sink *s, const struct text_count *t, int64_t most, int room)
{
	int64_t all = t->added + t->removed, plus, n = all;

	if (most > room)
		n = (all * room + most - 1) / most;
	plus = all != 0 ? (t->added * n + all / 2) / all : 0;
	/* Neither side vanishes as long as there is room for two. */
	if (plus == 0 && t->added != 0 && n > 1)
		plus = 1;
	if (plus == n && t->removed != 0 && n > 1)
		plus = n - 1;
	if (s->o->color)
		sink_puts(s, "\033[32m");
	for (int64_t i = 0; i < plus; i++)
		sink_puts(s, "+");
	if (s->o->color)
		sink_puts(s, "\033[31m");
	for (int64_t i = plus; i < n; i++)
		sink_puts(s, "-");
	if (s->o->color)
		sink_puts(s, "\033[m");
}

/* Columns of UTF-8 text, near enough: one each character. */
static int
columns(struct bytes b)
{
	int n = 0;

	for (size_t i = 0; i < b.n; i++)
		n += (b.p[i] & 0xc0) != 0x80;
	return n;
}

static void
put_padded(struct sink *s, const struct change *c, int width)
{
	AUTO(buf) struct buf b;
	struct str cut;
	int n;

	buf_init(&b, (size_t)5 * PATH_BYTES_MAX);
	name_quote(&b, "", c->path);
	cut = (struct str){ (const char *)b.p, b.n };
	if ((n = columns(buf_bytes(&b))) > width) {
		/* The end of a path says more than its beginning. */
		for (int drop = n - width + 3; drop > 0 && cut.n != 0; drop--)
			do {
				cut.p++;
				cut.n--;
			} while (cut.n != 0 && (*cut.p & 0xc0) == 0x80);
		sink_puts(s, "...");
		n = width;
	}
	sink_put(s, cut);
	for (; n < width; n++)
		sink_puts(s, " ");
}

struct stat_row {
	const struct change *c;
	struct text_count t;
};

static void
put_stat(struct sink *s, const struct stat_row *row, size_t n)
{
	int total = s->o->width != 0 ? s->o->width : WIDTH, names = 0, digits = 3;
	int64_t most = 0;
	int room;

	total = total < WIDTH_LEAST ? WIDTH_LEAST : total;
	for (size_t i = 0; i < n; i++) {
		AUTO(buf) struct buf b;
		int w;

		buf_init(&b, (size_t)5 * PATH_BYTES_MAX);
		name_quote(&b, "", row[i].c->path);
		w = columns(buf_bytes(&b));
		names = w > names ? w : names;
		w = count_width(&row[i].t);
		digits = w > digits ? w : digits;
		if (row[i].t.added + row[i].t.removed > most)
			most = row[i].t.added + row[i].t.removed;
	}
	/* " name | 123 +++---": names get what the graph can spare. */
	room = total - 5 - digits;
	if (names > room * 5 / 8)
		names = room * 5 / 8;
	room = room - names < GRAPH_MOST ? room - names : GRAPH_MOST;
	for (size_t i = 0; i < n; i++) {
		const struct text_count *t = &row[i].t;

		sink_puts(s, " ");
		put_padded(s, row[i].c, names);
		if (change_refused(row[i].c)) {
			sink_puts(s, " | left out\n");
			continue;
		}
		if (t->binary || t->stale) {
			sink_putf(s, " | %*s\n", digits,
			    t->stale ? "stale" : "Bin");
			continue;
		}
		sink_putf(s, " | %*" PRId64, digits, t->added + t->removed);
		if (t->added + t->removed != 0)
			sink_puts(s, " ");
		put_graph(s, t, most, room);
		sink_puts(s, "\n");
	}
}

static void
put_total(struct sink *s, const struct changes_sum *sum)
{
	sink_putf(s, " %" PRId64 " file%s changed", sum->files,
	    sum->files == 1 ? "" : "s");
	if (sum->added != 0 || sum->removed == 0)
		sink_putf(s, ", %" PRId64 " insertion%s(+)", sum->added,
		    sum->added == 1 ? "" : "s");
	if (sum->removed != 0 || sum->added == 0)
		sink_putf(s, ", %" PRId64 " deletion%s(-)", sum->removed,
		    sum->removed == 1 ? "" : "s");
	sink_puts(s, "\n");
}

static void
add_up(struct changes_sum *sum, const struct change *c,
    const struct text_count *t)
{
	sum->files += c->kind != CHANGE_KIND_KEEP && !only_dirs(c) &&
	    !change_refused(c);
	sum->added += t->added;
	sum->removed += t->removed;
	sum->binary += t->binary;
	sum->stale += t->stale;
	sum->refused += change_refused(c);
	sum->runs_later += c->runs_later;
}

static void
put_name(struct sink *s, const struct manifest *m, const struct change *c)
{
	int dirs = only_dirs(c);

	if (dirs && c->kind != CHANGE_KIND_MODE && has_below(m, c))
		return;
	sink_name(s, "", c->path);
	sink_puts(s, dirs ? "/\n" : "\n");
}

static int
diff_all(struct sink *s, int upper, int lower, const struct manifest *m,
    struct stat_row *row, struct changes_sum *sum, struct err *e)
{
	enum changes_diff_form form = s->o->form;
	size_t n = 0;

	for (size_t i = 0; i < m->n && !s->failed; i++) {
		const struct change *c = &m->v[i];
		struct text_count t = { .added = 0 };

		if (!change_selected(&s->o->paths, c))
			continue;
		if (form == CHANGES_NAMES)
			put_name(s, m, c);
		if (form == CHANGES_PATCH)
			put_remarks(s, m, c);
		if (form != CHANGES_NAMES && has_text(c) &&
		    (form == CHANGES_PATCH || !change_refused(c)) &&
		    patch_file(s, upper, lower, m, i, &t, e)) {
			(void)err_wrap(e, "%.200s", c->path.p);
			return -1;
		}
		add_up(sum, c, &t);
		if (row != NULL && (has_text(c) || change_refused(c)))
			row[n++] = (struct stat_row){ c, t };
	}
	if (row != NULL && n != 0) {
		put_stat(s, row, n);
		put_total(s, sum);
	}
	return 0;
}

int
changes_diff(int upper_dirfd, int lower_dirfd, const struct manifest *m,
    const struct changes_diff_options *opts, struct changes_sum *sum,
    struct err *e)
{
	AUTO(mem) struct stat_row *row = NULL;
	struct changes_sum own = { .files = 0 };
	struct sink s;
	int rc;

	if (opts->form == CHANGES_STAT && m->n != 0 &&
	    (row = calloc(m->n, sizeof(*row))) == NULL)
		return err_set(e, ERR_NOMEM, "diff");
	sink_init(&s, opts, e);
	rc = diff_all(&s, upper_dirfd, lower_dirfd, m, row, &own, e);
	if (sink_done(&s) != 0 || rc != 0)
		return -1;
	if (sum != NULL)
		*sum = own;
	return 0;
}
