/* SPDX-License-Identifier: ISC */
/* tilecut.c - a tree in tiles.  C2SP tlog-tiles, "Merkle Tree". */
#include <stdio.h>

#include "journal/tilecut.h"

enum { TILE_HEIGHT = 8 };	/* 256 is 2^8 */

static int
put(struct tilecut *t, unsigned level, const struct hash *h, struct err *e)
{
	uint64_t at = t->edge.size >> (TILE_HEIGHT * level);
	struct tile full = { level, at / TILE_WIDTH, TILE_WIDTH, t->tile[level] };

	t->tile[level][at % TILE_WIDTH] = *h;
	if (at % TILE_WIDTH != TILE_WIDTH - 1 || t->out == NULL)
		return 0;
	return t->out(t->ctx, &full, e);
}

int
tilecut_append(struct tilecut *t, const struct hash *leaf, struct err *e)
{
	struct hash h = *leaf;
	unsigned level = 0;

	if (t->edge.size >> (TILE_HEIGHT * TILECUT_LEVELS) != 0)
		return err_set(e, ERR_TOOBIG, "the tree");
	/* As tree_append(), looking in at each eighth carry. */
	for (;; level++) {
		if (level % TILE_HEIGHT == 0 &&
		    level / TILE_HEIGHT < TILECUT_LEVELS &&
		    put(t, level / TILE_HEIGHT, &h, e))
			return -1;
		if (!(t->edge.size >> level & 1))
			break;
		tree_node(&t->edge.node[level], &h, &h);
	}
	t->edge.node[level] = h;
	t->edge.size++;
	return 0;
}

int
tilecut_finish(struct tilecut *t, struct err *e)
{
	for (unsigned level = 0; level < TILECUT_LEVELS && t->out != NULL; level++) {
		uint64_t n = t->edge.size >> (TILE_HEIGHT * level);
		struct tile part = { level, n / TILE_WIDTH,
		    (unsigned)(n % TILE_WIDTH), t->tile[level] };

		if (part.width != 0 && t->out(t->ctx, &part, e))
			return -1;
	}
	return 0;
}

char *
tile_path(int kind, uint64_t n, unsigned width, char out[TILE_PATH_MAX])
{
	char level[8] = "entries", part[8] = "", group[TILE_PATH_MAX], more[TILE_PATH_MAX];

	if (kind != TILE_ENTRIES)
		(void)snprintf(level, sizeof(level), "%u", (unsigned)kind & 63);
	if (width != TILE_WIDTH)
		(void)snprintf(part, sizeof(part), ".p/%u", width & 255);
	(void)snprintf(group, sizeof(group), "%03u", (unsigned)(n % 1000));
	/* Groups of three digits, each but the last behind an x. */
	for (n /= 1000; n != 0; n /= 1000) {
		(void)snprintf(more, sizeof(more), "x%03u/%.40s",
		    (unsigned)(n % 1000), group);
		(void)snprintf(group, sizeof(group), "%s", more);
	}
	(void)snprintf(out, TILE_PATH_MAX, "tile/%s/%.44s%s", level, group, part);
	return out;
}
