/* SPDX-License-Identifier: ISC */
#ifndef JOURNAL_TILECUT_H
#define JOURNAL_TILECUT_H

#include "journal/source.h"

/*
 * The tree as C2SP tlog-tiles cuts it up, made leaf by leaf: 256 hashes a
 * tile, the roots of 256 tiles a tile of the next level, and so on.  Memory is
 * one tile a level, whatever the size.
 */
enum { TILECUT_LEVELS = 6, TILE_PATH_MAX = 64 };	/* up to 2^48 leaves */

struct tilecut {
	struct tree_edge edge;
	struct hash	 tile[TILECUT_LEVELS][TILE_WIDTH];
	int (*out)(void *ctx, const struct tile *t, struct err *e);
	void		*ctx;
};

/* tilecut_append: ${t->out}, if not NULL, hears of every tile that is full now. */
int tilecut_append(struct tilecut *t, const struct hash *leaf, struct err *e)
    MUST_CHECK;
/* tilecut_finish: ${t->out} hears of the partial tiles at the right edge. */
int tilecut_finish(struct tilecut *t, struct err *e) MUST_CHECK;

/*
 * tile_path(kind, n, width, out): "tile/0/x001/234.p/17"; ${kind} is the level,
 * or TILE_ENTRIES: "tile/entries/...".
 */
enum { TILE_ENTRIES = -1 };
char *tile_path(int kind, uint64_t n, unsigned width, char out[TILE_PATH_MAX]);

#endif
