/* SPDX-License-Identifier: ISC */
#include <inttypes.h>
#include <string.h>

#include "journal/sql.h"
#include "journal/tiles.h"

/* Hashes at level 0, 8, 16 ... of a tree of ${size} leaves. */
static uint64_t
width_at(uint64_t size, unsigned level)
{
	return size >> (TILE_BITS * level);
}

void
tiles_copy(struct tiles *to, const struct tiles *from)
{
	to->size = from->size;
	for (unsigned l = 0; l < TILE_LEVELS; l++)
		memcpy(to->part[l], from->part[l],
		    (width_at(from->size, l) % TILE_WIDTH) *
		    sizeof(struct hash));
}

/* The root over ${n} hashes, a power of two. */
static void
subtree(const struct hash *h, size_t n, struct hash *out)
{
	struct tree_edge edge = { .size = 0 };

	for (size_t i = 0; i < n; i++)
		tree_append(&edge, &h[i]);
	tree_root(&edge, out);
}

int
tiles_push(struct tiles *t, struct db *d, const struct hash *leaf, struct err *e)
{
	struct hash h = *leaf;

	for (unsigned l = 0; l < TILE_LEVELS; l++) {
		uint64_t at = width_at(t->size, l);
		struct hash *tile = t->part[l];

		tile[at % TILE_WIDTH] = h;
		if (at % TILE_WIDTH != TILE_WIDTH - 1) {
			t->size++;
			return 0;
		}
		subtree(tile, TILE_WIDTH, &h);
		if (db_run(d, SQL_TILE_PUT, VALS(VI(l), VI(at / TILE_WIDTH),
		    VB(h.b, sizeof(h.b)), VB(tile[0].b,
		    TILE_WIDTH * sizeof(struct hash))), e))
			return -1;
	}
	return err_set(e, ERR_LIMIT, "records in one journal");
}

/* The leaves of the incomplete tile, from the records themselves. */
static int
load_leaves(struct tiles *t, struct db *d, uint64_t from, struct err *e)
{
	AUTO(stmt) struct stmt *s = NULL;
	uint64_t at = from;
	int got;

	if (db_query(d, "SELECT idx, bytes FROM record WHERE idx >= ?"
	    " ORDER BY idx", VALS(VI(from)), &s, e))
		return -1;
	while ((got = stmt_next(d, s, e)) == 1) {
		if ((uint64_t)stmt_int(s, 0) != at || at >= t->size)
			return err_set(e, ERR_CORRUPT, "record %" PRId64
			    " where %" PRIu64 " is due", stmt_int(s, 0), at);
		tree_leaf(stmt_blob(s, 1), &t->part[0][at++ - from]);
	}
	if (got == 0 && at != t->size)
		return err_set(e, ERR_CORRUPT, "records end at %" PRIu64
		    " of %" PRIu64, at, t->size);
	return got;
}

static int
load_roots(struct tiles *t, struct db *d, unsigned level, uint64_t from,
    struct err *e)
{
	AUTO(stmt) struct stmt *s = NULL;
	uint64_t at = from, end = width_at(t->size, level);
	int got = 0;

	if (db_query(d, "SELECT n, root FROM tile WHERE level = ? AND n >= ?"
	    " ORDER BY n", VALS(VI(level - 1), VI(from)), &s, e))
		return -1;
	while ((got = stmt_next(d, s, e)) == 1) {
		if ((uint64_t)stmt_int(s, 0) != at || at >= end)
			return err_set(e, ERR_CORRUPT, "tile %u/%" PRIu64,
			    level - 1, at);
		if (stmt_copy(s, 1, t->part[level][at++ - from].b,
		    sizeof(struct hash), e))
			return -1;
	}
	if (got == 0 && at != end)
		return err_set(e, ERR_CORRUPT, "tiles of level %u end at %"
		    PRIu64, level - 1, at);
	return got;
}

int
tiles_load(struct tiles *t, struct db *d, uint64_t size, struct err *e)
{
	t->size = size;
	for (unsigned l = 0; l < TILE_LEVELS; l++) {
		uint64_t w = width_at(size, l), from = w - w % TILE_WIDTH;

		if (l == 0 ? load_leaves(t, d, from, e) :
		    load_roots(t, d, l, from, e))
			return -1;
	}
	return 0;
}

static int
stored(struct db *d, unsigned level, uint64_t n, size_t off, size_t count,
    struct hash *out, struct err *e)
{
	struct hash h[TILE_WIDTH];
	struct stmt *s;
	int got, bad;

	got = db_first(d, SQL_TILE_GET, VALS(VI(off * sizeof(struct hash) + 1),
	    VI(count * sizeof(struct hash)), VI(level), VI(n)), &s, e);
	if (got == 0)
		return err_set(e, ERR_CORRUPT, "tile %u/%" PRIu64 " is missing",
		    level, n);
	if (got < 0)
		return -1;
	bad = stmt_copy(s, 0, h, count * sizeof(struct hash), e);
	stmt_done(s);
	if (!bad)
		subtree(h, count, out);
	return bad;
}

static int
node(void *cookie, unsigned level, uint64_t n, struct hash *out, struct err *e)
{
	const struct tiles_ctx *ctx = cookie;
	unsigned l = level / TILE_BITS, up = level % TILE_BITS;
	uint64_t first = n << up, width;
	size_t count = (size_t)1 << up;

	if (l >= TILE_LEVELS)
		return err_set(e, ERR_LIMIT, "level %u of the tree", level);
	width = width_at(ctx->t->size, l);
	if (first + count > width)
		return err_set(e, ERR_BUG, "node %u/%" PRIu64 " is incomplete",
		    level, n);
	if (first / TILE_WIDTH < width / TILE_WIDTH)
		return stored(ctx->d, l, first / TILE_WIDTH,
		    first % TILE_WIDTH, count, out, e);
	subtree(&ctx->t->part[l][first % TILE_WIDTH], count, out);
	return 0;
}

struct tree_reader
tiles_reader(struct tiles_ctx *ctx)
{
	return (struct tree_reader){ node, ctx };
}
