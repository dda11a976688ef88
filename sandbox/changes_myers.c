/* SPDX-License-Identifier: ISC */
/*
 * Which lines differ: Myers, "An O(ND) Difference Algorithm and Its
 * Variations", the linear-space variation.  The texts are an agent's, so the
 * work is bounded: when the steps are used up, what is left counts as replaced
 * as a whole, which is longer but not wrong.  Equal lines are found by a
 * strong hash, which an agent cannot aim at.
 */
#include <stdlib.h>
#include <string.h>

#include "sandbox/changes_text.h"

struct box {
	int	a0, a1, b0, b1;
};

struct search {
	struct text	*a, *b;
	int		*fwd, *bwd;	/* furthest x on each diagonal */
	int		 zero;		/* index of diagonal 0 */
	int64_t		 steps;		/* left */
};

struct slot {
	struct str	line;
	uint64_t	hash;
	uint32_t	class;		/* 0: empty */
};

static uint64_t
line_hash(struct str line)
{
	uint8_t d[SHA256_BYTES];
	uint64_t h;

	sha256_of(bytes_of_str(line), d);
	memcpy(&h, d, sizeof(h));
	return h;
}

/* Give each line of ${t} its class, from the table that both share. */
static void
classify(struct text *t, struct slot *table, size_t mask, uint32_t *last)
{
	for (size_t i = 0; i < t->n; i++) {
		struct str line = text_line(t, i);
		uint64_t h = line_hash(line);
		size_t at = h & mask;

		while (table[at].class != 0 && (table[at].hash != h ||
		    !str_eq(table[at].line, line)))
			at = (at + 1) & mask;
		if (table[at].class == 0)
			table[at] = (struct slot){ line, h, ++*last };
		t->class[i] = table[at].class;
	}
}

static int
classes(struct text *a, struct text *b, struct err *e)
{
	AUTO(mem) struct slot *table = NULL;
	uint32_t last = 0;
	size_t cap = 64;

	while (cap < (a->n + b->n) * 2)
		cap *= 2;
	if ((table = calloc(cap, sizeof(*table))) == NULL)
		return err_set(e, ERR_NOMEM, "compare");
	classify(a, table, cap - 1, &last);
	classify(b, table, cap - 1, &last);
	return 0;
}

static int
same(const struct search *s, int x, int y)
{
	return s->a->class[x] == s->b->class[y];
}

/* Further along diagonal ${k}, from where its neighbours have come. */
static int
furthest(const int *v, int k, int d)
{
	if (k == -d || (k != d && v[k - 1] < v[k + 1]))
		return v[k + 1];
	return v[k - 1] + 1;
}

/*
 * Search from both corners of ${box} at once until they meet; (*x, *y) is a
 * point on a shortest path.  -1 if the steps ran out.
 */
static int
middle(struct search *s, const struct box *box, int *mx, int *my)
{
	int n = box->a1 - box->a0, m = box->b1 - box->b0, delta = n - m;
	int *f = s->fwd + s->zero, *r = s->bwd + s->zero;
	int x, y, from;

	f[1] = r[1] = 0;
	for (int d = 0; d <= (n + m + 1) / 2; d++) {
		for (int k = -d; k <= d; k += 2) {
			from = x = furthest(f, k, d);
			for (y = x - k; x < n && y < m && y >= 0 &&
			    same(s, box->a0 + x, box->b0 + y); x++, y++)
				continue;
			f[k] = x;
			s->steps -= 1 + x - from;
			if (delta % 2 != 0 && delta - k > -d && delta - k < d &&
			    x <= n && y >= 0 && y <= m &&
			    x + r[delta - k] >= n) {
				*mx = box->a0 + x;
				*my = box->b0 + y;
				return 0;
			}
		}
		for (int k = -d; k <= d; k += 2) {
			from = x = furthest(r, k, d);
			for (y = x - k; x < n && y < m && y >= 0 &&
			    same(s, box->a1 - 1 - x, box->b1 - 1 - y); x++, y++)
				continue;
			r[k] = x;
			s->steps -= 1 + x - from;
			if (delta % 2 == 0 && delta - k >= -d &&
			    delta - k <= d && x <= n && y >= 0 && y <= m &&
			    x + f[delta - k] >= n) {
				*mx = box->a1 - x;
				*my = box->b1 - y;
				return 0;
			}
		}
		if (s->steps < 0)
			return -1;
	}
	return -1;
}

static void
replaced(const struct search *s, const struct box *box)
{
	memset(s->a->changed + box->a0, 1, (size_t)(box->a1 - box->a0));
	memset(s->b->changed + box->b0, 1, (size_t)(box->b1 - box->b0));
}

/* Each half has half the differences: the depth is their logarithm. */
static void
compare(struct search *s, struct box box)
{
	struct box one, two;
	int x, y;

	while (box.a0 < box.a1 && box.b0 < box.b1 && same(s, box.a0, box.b0)) {
		box.a0++;
		box.b0++;
	}
	while (box.a0 < box.a1 && box.b0 < box.b1 &&
	    same(s, box.a1 - 1, box.b1 - 1)) {
		box.a1--;
		box.b1--;
	}
	if (box.a0 == box.a1 || box.b0 == box.b1 ||
	    middle(s, &box, &x, &y) != 0 ||
	    (x == box.a0 && y == box.b0) || (x == box.a1 && y == box.b1)) {
		replaced(s, &box);
		return;
	}
	one = (struct box){ box.a0, x, box.b0, y };
	two = (struct box){ x, box.a1, y, box.b1 };
	compare(s, one);
	compare(s, two);
}

/*
 * A run of changed lines that could as well begin one line later is moved
 * down as far as it goes, as git does: functions then end where they end.
 * Only where the other side has no change to collide with.
 */
static void
slide(struct text *t, const struct text *other)
{
	size_t i = 0, j = 0, end;

	while (i < t->n) {
		if (!t->changed[i]) {
			while (j < other->n && other->changed[j])
				j++;
			i++;
			j++;
			continue;
		}
		for (end = i; end < t->n && t->changed[end]; end++)
			continue;
		while (end < t->n && t->class[i] == t->class[end] &&
		    !(j < other->n && other->changed[j])) {
			t->changed[i++] = 0;
			t->changed[end++] = 1;
			j++;
			/* It may have run into the next one. */
			while (end < t->n && t->changed[end])
				end++;
		}
		i = end;
	}
}

int
text_compare(struct text *a, struct text *b, struct err *e)
{
	AUTO(mem) int *v = NULL;
	struct search s = { .a = a, .b = b, .steps = TEXT_STEPS_MAX };
	struct box all = { 0, (int)a->n, 0, (int)b->n };
	size_t width = 2 * (a->n + b->n) + 8;

	if (classes(a, b, e))
		return -1;
	if ((v = calloc(width * 2, sizeof(*v))) == NULL)
		return err_set(e, ERR_NOMEM, "compare");
	s.fwd = v;
	s.bwd = v + width;
	s.zero = (int)(width / 2);
	compare(&s, all);
	slide(a, b);
	slide(b, a);
	return 0;
}
