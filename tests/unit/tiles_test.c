/* SPDX-License-Identifier: ISC */
/* Tiles on disk, the rest in memory: proofs across every boundary. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>
#include <cmocka.h>

#include "journal/head.h"
#include "journal/sql.h"
#include "journal/tiles.h"
#include "tests/lib/home.h"

enum { MANY = 2 * 65536 + 256 };	/* 2 tiles of level 1 complete, 1 begun */

static struct tiles tiles;		/* too large for a stack */

static struct db *
memory(void)
{
	struct db_opts o = { .memory = 1 };
	struct db *d;
	struct err e;

	must(db_open("", &o, &d, &e));
	must(sql_create(d, &e));
	must(sql_keep(d, &e));
	memset(&tiles, 0, sizeof(tiles));
	return d;
}

static struct hash
leaf(uint64_t n)
{
	struct hash h;

	tree_leaf(bytes_of(&n, sizeof(n)), &h);
	return h;
}

static void
check_index(struct tiles_ctx *ctx, uint64_t index, const struct hash *root)
{
	struct tree_reader r = tiles_reader(ctx);
	struct hash proof[PROOF_MAX], h = leaf(index);
	struct err e;
	size_t n;

	must(tree_prove(&r, index, ctx->t->size, proof, &n, &e));
	must(tree_check_inclusion(&h, index, ctx->t->size, proof, n, root, &e));
}

static void
proofs_cross_every_boundary(void **state)
{
	static const uint64_t sizes[] = { 1, 2, 255, 256, 257, 511, 512, 4096,
	    65535, 65536, 65537, 65792, 131071, 131072, MANY };
	struct db *d = memory();
	struct tiles_ctx ctx = { &tiles, d };
	struct tree_edge edge = { .size = 0 };
	struct hash old = { { 0 } }, root;
	uint64_t before = 0;
	size_t at = 0;

	(void)state;
	for (uint64_t i = 0; i < MANY; i++) {
		struct hash h = leaf(i);
		struct err e;

		must(tiles_push(&tiles, d, &h, &e));
		tree_append(&edge, &h);
		if (i + 1 != sizes[at])
			continue;
		at++;
		tree_root(&edge, &root);
		for (size_t k = 0; k < at; k++) {
			check_index(&ctx, sizes[k] - 1, &root);
			check_index(&ctx, sizes[k] / 2, &root);
		}
		if (before != 0) {
			struct tree_reader r = tiles_reader(&ctx);
			struct hash proof[PROOF_MAX];
			size_t n;

			must(tree_consistency(&r, before, i + 1, proof, &n, &e));
			must(tree_check_consistency(before, &old, i + 1, &root,
			    proof, n, &e));
		}
		before = i + 1;
		old = root;
	}
	assert_int_equal(at, sizeof(sizes) / sizeof(sizes[0]));
	db_close(d);
}

static void
what_is_loaded_is_what_was_pushed(void **state)
{
	static struct tiles again;
	struct db *d = memory();
	struct tiles_ctx ctx = { &again, d };
	struct tree_reader r = tiles_reader(&ctx);
	struct tree_edge edge = { .size = 0 }, loaded;
	struct hash a, b;
	struct err e;

	(void)state;
	for (uint64_t i = 0; i < 65536 + 512; i++) {
		struct hash h = leaf(i);

		must(tiles_push(&tiles, d, &h, &e));
		tree_append(&edge, &h);
	}
	must(tiles_load(&again, d, tiles.size, &e));
	must(tree_edge_load(&r, again.size, &loaded, &e));
	tree_root(&edge, &a);
	tree_root(&loaded, &b);
	assert_memory_equal(&a, &b, sizeof(a));
	db_close(d);
}

static void
a_missing_tile_is_corrupt(void **state)
{
	static struct tiles again;
	struct db *d = memory();
	struct err e;

	(void)state;
	for (uint64_t i = 0; i < 1024; i++) {
		struct hash h = leaf(i);

		must(tiles_push(&tiles, d, &h, &e));
	}
	must(tiles_load(&again, d, 1024, &e));
	must(db_script(d, "DROP TRIGGER tile_no_delete;"
	    " DELETE FROM tile WHERE n = 2", &e));
	assert_int_equal(-1, tiles_load(&again, d, 1024, &e));
	assert_int_equal(e.code, ERR_CORRUPT);
	/* As many leaves as there are not are no tree either. */
	assert_int_equal(-1, tiles_load(&again, d, 1100, &e));
	assert_int_equal(e.code, ERR_CORRUPT);
	db_close(d);
}

static void
a_slot_of_the_head_is_read_as_it_was_written(void **state)
{
	uint8_t slot[HEAD_SLOT], again[HEAD_SLOT];
	struct head h = { .slot_seq = 7, .incarnation = 1, .epoch = 2,
	    .commit_no = 3, .size = 4, .mac_no = 5 }, back;
	struct err e;

	(void)state;
	memset(h.key, 8, sizeof(h.key));
	memset(h.machine, 9, sizeof(h.machine));
	head_encode(&h, slot);
	must(head_decode(slot, &back, &e));
	head_encode(&back, again);
	assert_memory_equal(slot, again, sizeof(slot));
	assert_memory_equal(&h.key, &back.key, sizeof(h.key));
	for (size_t i = 0; i < HEAD_SLOT; i += 7) {
		slot[i] ^= 1;
		assert_int_equal(-1, head_decode(slot, &back, &e));
		slot[i] ^= 1;
	}
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(proofs_cross_every_boundary),
		cmocka_unit_test(what_is_loaded_is_what_was_pushed),
		cmocka_unit_test(a_missing_tile_is_corrupt),
		cmocka_unit_test(a_slot_of_the_head_is_read_as_it_was_written),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
