/* SPDX-License-Identifier: ISC */
#ifndef JOURNAL_TILES_H
#define JOURNAL_TILES_H

#include "journal/db.h"
#include "journal/tree.h"

/*
 * The tree on disk: complete tiles of 256 hashes in table tile (level 0 holds
 * leaf hashes, level L the roots of the tiles of level L - 1), and in memory
 * the incomplete tile of each level, which an open makes again from at most
 * 255 records and 255 tile roots a level.  So an open is O(log n), an append
 * touches what it changes, and nothing is written twice.
 */
enum { TILE_LEVELS = 5, TILE_BITS = 8 };	/* 2^40 records */

struct tiles {
	uint64_t	size;		/* leaves */
	struct hash	part[TILE_LEVELS][TILE_WIDTH];
};

/* tiles_copy: ${from} into ${to}, only what is in use. */
void tiles_copy(struct tiles *to, const struct tiles *from);

/* tiles_push(t, d, leaf, e): one more leaf; the tiles it completes go into
 * ${d}.  LIMIT beyond 2^40. */
int tiles_push(struct tiles *t, struct db *d, const struct hash *leaf,
    struct err *e) MUST_CHECK;

/* tiles_load(t, d, size, e): as a tree of ${size} left them; CORRUPT. */
int tiles_load(struct tiles *t, struct db *d, uint64_t size, struct err *e)
    MUST_CHECK;

/* What tree_prove() and tree_edge_load() read with. */
struct tiles_ctx {
	const struct tiles	*t;
	struct db		*d;
};
struct tree_reader tiles_reader(struct tiles_ctx *ctx);

#endif
