/* SPDX-License-Identifier: ISC */
/*
 * tree_bench.c - how fast a log can be read and hashed, beside the SHA-256 that
 * this takes at the least: for each record its leaf and one node.
 *
 *	H	leaf and node hashes alone, of the same bytes
 *	tree	tree_leaf and tree_append
 *	verify	record_decode, tree_leaf and tree_append, root checked
 *
 * Each figure is the best of several rounds: others use the machine too.
 */
#include <inttypes.h>
#include <stdio.h>
#include <string.h>
#include <time.h>

#include "journal/tree.h"
#include "tests/lib/gen.h"

enum { RECORDS = 100000, ROUNDS = 5, GOAL = 600000 };

struct work {
	struct buf	bytes;
	size_t		off[RECORDS + 1];
	struct hash	root;
};

/* CPU time: what another process takes is not ours. */
static double
seconds(void)
{
	struct timespec t;

	(void)clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &t);
	return (double)t.tv_sec + (double)t.tv_nsec / 1e9;
}

static struct bytes
at(const struct work *w, size_t i)
{
	return bytes_of(w->bytes.p + w->off[i], w->off[i + 1] - w->off[i]);
}

/* As a session's records are: a dozen fields, 250 bytes or so. */
static int
prepare(struct work *w, struct err *e)
{
	static const int tags[] = { FIELD_ACTOR_UID, FIELD_ACTOR_PID,
	    FIELD_REASON, FIELD_MODE, FIELD_GENERATION, FIELD_ENDS_REAL_US,
	    FIELD_EXPOSURE_ID, FIELD_PLAN_DIGEST };
	AUTO(buf) struct buf mem;
	struct gen g = { 1 };

	buf_init(&w->bytes, (size_t)RECORDS * 1024);
	buf_init(&mem, RECORD_MAX);
	for (size_t i = 0; i < RECORDS; i++) {
		struct record r = { .machine = 1, .index = i,
		    .prev = i == 0 ? RECORD_NO_PREV : i - 1,
		    .subject_seq = i == 0 ? 0 : 1 };
		size_t off[8];

		buf_reset(&mem);
		for (size_t k = 0; k < 8; k++) {
			off[k] = mem.n;
			gen_value(&g, tags[k], &mem);
			r.field[k].tag = (uint16_t)tags[k];
			r.field[k].v.n = mem.n - off[k];
		}
		for (size_t k = 0; k < 8; k++)
			r.field[k].v.p = mem.p + off[k];
		r.nfields = 8;
		w->off[i] = w->bytes.n;
		if (record_encode(&r, &w->bytes, e))
			return -1;
	}
	w->off[RECORDS] = w->bytes.n;
	return 0;
}

static void
raw(struct work *w)
{
	uint8_t node[65] = { 1 };
	struct hash h;

	for (size_t i = 0; i < RECORDS; i++) {
		sha256_of(at(w, i), h.b);
		memcpy(node + 1, h.b, sizeof(h.b));
		sha256_of(BYTES(node), h.b);
	}
	w->root = h;
}

static void
tree(struct work *w)
{
	struct tree_edge t = { .size = 0 };
	struct hash h;

	for (size_t i = 0; i < RECORDS; i++) {
		tree_leaf(at(w, i), &h);
		tree_append(&t, &h);
	}
	tree_root(&t, &w->root);
}

static void
verify(struct work *w)
{
	struct tree_edge t = { .size = 0 };
	struct hash h, want = w->root;
	struct record r;
	struct err e;

	for (size_t i = 0; i < RECORDS; i++) {
		if (record_decode(at(w, i), &r, &e) || r.index != i)
			abort();
		tree_leaf(at(w, i), &h);
		tree_append(&t, &h);
	}
	tree_root(&t, &w->root);
	if (memcmp(want.b, w->root.b, sizeof(want.b)) != 0)
		abort();
}

/* Records a second. */
static double
rate(void (*f)(struct work *w), struct work *w)
{
	double best = 1e9;

	for (int i = 0; i < ROUNDS; i++) {
		double t = seconds();

		f(w);
		t = seconds() - t;
		if (t < best)
			best = t;
	}
	return RECORDS / best;
}

int
main(void)
{
	static struct work w;
	double h, t, v;
	struct err e;

	if (prepare(&w, &e)) {
		fprintf(stderr, "%s\n", e.msg);
		return 1;
	}
	h = rate(raw, &w);
	t = rate(tree, &w);
	v = rate(verify, &w);
	printf("tree: %d records of %zu bytes, %s\n", RECORDS,
	    w.bytes.n / RECORDS, sha256_accelerated() ? "SHA-NI" : "no SHA-NI");
	printf("  H       %9.0f records/s  (%.0f MB/s)\n", h,
	    h * (double)w.bytes.n / RECORDS / 1e6);
	printf("  tree    %9.0f records/s  %.2f H\n", t, t / h);
	printf("  verify  %9.0f records/s  %.2f H  goal %d and 0.3 H: %s\n", v,
	    v / h, GOAL, v >= GOAL && v >= 0.3 * h ? "reached" : "NOT reached");
	buf_done(&w.bytes);
	return 0;
}
