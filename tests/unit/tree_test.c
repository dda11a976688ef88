/* SPDX-License-Identifier: ISC */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include "base/text.h"
#include "journal/tree.h"

/* ---- the vectors of Certificate Transparency ---------------------------- */

static const char *const leaves[8] = { "", "00", "10", "2021", "3031",
    "40414243", "5051525354555657", "606162636465666768696a6b6c6d6e6f" };

static const char *const roots[9] = {
	"e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855",
	"6e340b9cffb37a989ca544e6bb780a2c78901d3fb33738768511a30617afa01d",
	"fac54203e7cc696cf0dfcb42c92a1d9dbaf70ad9e621f4bd8d98662f00e3c125",
	"aeb6bcfe274b70a14fb067a5e5578264db0fa9b51af5e0ba159158f329e06e77",
	"d37ee418976dd95753c1c73862b9398fa2a2cf9b4ff0fdfe8b30cd95209614b7",
	"4e3bbb1f7b478dcfe71fb631631519a3bca12c9aefca1612bfce4c13a86264d4",
	"76e67dadbcdf1e10e1b74ddc608abd2f98dfb16fbce75277b5232a127f2087ef",
	"ddb89be403809e325750d3d263cd78929c2942b7942a34b77e122c9594a74c8c",
	"5dc9da79a70659a9ad559cb701ded9a2ab9d823aad2f4960cfe370eff4604328",
};

#define H01   "96a296d224f285c67bee93c30f8a309157f0daa35dc5b87e410b78630a09cfc7"
#define H23   "5f083f0a1a33ca076a95279832580db3e0ef4584bdff1f54c8a360f50de3031e"
#define H47   "6b47aaf29ee3c2af9af889bc1fb9254dabd31177f16232dd6aab035ca39bf6e4"
#define H4    "bc1a0643b12e4d2d7c77918f44e0f4f79a838b6cf9ec5b5c283e1f4d88599e6b"
#define H67   "ca854ea128ed050b41b35ffc1b87b8eb2bde461e9e3b5596ece6b9d5975a0ae0"
#define H03   "d37ee418976dd95753c1c73862b9398fa2a2cf9b4ff0fdfe8b30cd95209614b7"
#define H02   "fac54203e7cc696cf0dfcb42c92a1d9dbaf70ad9e621f4bd8d98662f00e3c125"
#define H0    "6e340b9cffb37a989ca544e6bb780a2c78901d3fb33738768511a30617afa01d"
#define H45   "0ebc5d3437fbe2db158b9f126a1d118e308181031d0a949f8dededebc558ef6a"

static const struct vector {
	uint64_t	 a, b;		/* index and size, or two sizes */
	const char	*proof[4];
} inclusions[] = {
	{ 0, 1, { NULL } },
	{ 0, 8, { H01, H23, H47, NULL } },
	{ 5, 8, { H4, H67, H03, NULL } },
	{ 2, 3, { H02, NULL } },
	{ 1, 5, { H0, H23, H4, NULL } },
}, consistencies[] = {
	{ 1, 1, { NULL } },
	{ 1, 8, { H01, H23, H47, NULL } },
	{ 6, 8, { H45, H67, H03, NULL } },
	{ 2, 5, { H23, H4, NULL } },
};

static struct hash
unhex(const char *s)
{
	struct hash h;
	struct err e;

	assert_int_equal(0, hex_get(str_of(s), h.b, sizeof(h.b), &e));
	return h;
}

static void
assert_hash(const struct hash *want, const struct hash *got)
{
	assert_memory_equal(want->b, got->b, sizeof(got->b));
}

/* ---- a reader over every node of a small tree --------------------------- */

enum { MOST = 300, LEVELS = 9 };

static struct hash nodes[LEVELS][MOST];
static uint64_t have;		/* leaves */

static int
read_node(void *ctx, unsigned level, uint64_t n, struct hash *out,
    struct err *e)
{
	(void)ctx;
	(void)e;
	/* Only complete ones may be asked for. */
	assert_true(level < LEVELS);
	assert_true((n + 1) << level <= have);
	*out = nodes[level][n];
	return 0;
}

static const struct tree_reader reader = { read_node, NULL };

static void
fill(const struct hash *leaf, size_t n)
{
	have = n;
	memcpy(nodes[0], leaf, n * sizeof(*leaf));
	for (unsigned l = 1; l < LEVELS; l++)
		for (size_t i = 0; i < n >> l; i++)
			tree_node(&nodes[l - 1][2 * i], &nodes[l - 1][2 * i + 1],
			    &nodes[l][i]);
}

static void
fill_vectors(void)
{
	struct hash leaf[8];
	uint8_t b[16];
	struct err e;

	for (size_t i = 0; i < 8; i++) {
		size_t n = strlen(leaves[i]) / 2;

		assert_int_equal(0, hex_get(str_of(leaves[i]), b, n, &e));
		tree_leaf(bytes_of(b, n), &leaf[i]);
	}
	fill(leaf, 8);
}

static void
roots_are_those_of_certificate_transparency(void **state)
{
	struct tree_edge t = { .size = 0 };
	struct hash root, want;

	(void)state;
	fill_vectors();
	for (uint64_t i = 0; i <= 8; i++) {
		tree_root(&t, &root);
		want = unhex(roots[i]);
		assert_hash(&want, &root);
		if (i < 8)
			tree_append(&t, &nodes[0][i]);
	}
}

static size_t
unhex_proof(const struct vector *v, struct hash *out)
{
	size_t n;

	for (n = 0; v->proof[n] != NULL; n++)
		out[n] = unhex(v->proof[n]);
	return n;
}

static void
inclusion_proofs_are_those_of_certificate_transparency(void **state)
{
	(void)state;
	fill_vectors();
	for (size_t i = 0; i < sizeof(inclusions) / sizeof(inclusions[0]); i++) {
		const struct vector *v = &inclusions[i];
		struct hash want[4], got[PROOF_MAX], root = unhex(roots[v->b]);
		size_t n = unhex_proof(v, want), m;
		struct err e;

		assert_int_equal(0, tree_prove(&reader, v->a, v->b, got, &m, &e));
		assert_int_equal(n, m);
		for (size_t k = 0; k < n; k++)
			assert_hash(&want[k], &got[k]);
		assert_int_equal(0, tree_check_inclusion(&nodes[0][v->a], v->a,
		    v->b, want, n, &root, &e));
	}
}

static void
consistency_proofs_are_those_of_certificate_transparency(void **state)
{
	(void)state;
	fill_vectors();
	for (size_t i = 0; i < sizeof(consistencies) / sizeof(consistencies[0]);
	    i++) {
		const struct vector *v = &consistencies[i];
		struct hash want[4], got[PROOF_MAX];
		struct hash r1 = unhex(roots[v->a]), r2 = unhex(roots[v->b]);
		size_t n = unhex_proof(v, want), m;
		struct err e;

		assert_int_equal(0, tree_consistency(&reader, v->a, v->b, got,
		    &m, &e));
		assert_int_equal(n, m);
		for (size_t k = 0; k < n; k++)
			assert_hash(&want[k], &got[k]);
		assert_int_equal(0, tree_check_consistency(v->a, &r1, v->b, &r2,
		    want, n, &e));
	}
}

/* ---- against the definitions of RFC 6962, word for word ----------------- */

static struct hash memo[MOST + 1][MOST + 1];	/* [start][length] */
static uint8_t known[MOST + 1][MOST + 1];

static size_t
below(size_t n)		/* the largest power of two smaller than ${n} */
{
	size_t k = 1;

	while (2 * k < n)
		k *= 2;
	return k;
}

static struct hash
mth(size_t at, size_t n)
{
	struct hash l, r;
	size_t k;

	if (!known[at][n]) {
		if (n == 0) {
			sha256_of((struct bytes){ NULL, 0 }, memo[at][n].b);
		} else if (n == 1) {
			memo[at][n] = nodes[0][at];
		} else {
			k = below(n);
			l = mth(at, k);
			r = mth(at + k, n - k);
			tree_node(&l, &r, &memo[at][n]);
		}
		known[at][n] = 1;
	}
	return memo[at][n];
}

/* PATH(m, D[n]) */
static size_t
path(size_t m, size_t at, size_t n, struct hash *out)
{
	size_t k, len;

	if (n == 1)
		return 0;
	k = below(n);
	if (m < k) {
		len = path(m, at, k, out);
		out[len] = mth(at + k, n - k);
	} else {
		len = path(m - k, at + k, n - k, out);
		out[len] = mth(at, k);
	}
	return len + 1;
}

/* SUBPROOF(m, D[n], b) */
static size_t
subproof(size_t m, size_t at, size_t n, int b, struct hash *out)
{
	size_t k, len;

	if (m == n) {
		if (!b)
			out[0] = mth(at, n);
		return b ? 0 : 1;
	}
	k = below(n);
	if (m <= k) {
		len = subproof(m, at, k, b, out);
		out[len] = mth(at + k, n - k);
	} else {
		len = subproof(m - k, at + k, n - k, 0, out);
		out[len] = mth(at, k);
	}
	return len + 1;
}

static void
fill_many(void)
{
	static struct hash leaf[MOST];

	for (size_t i = 0; i < MOST; i++) {
		uint8_t b[2] = { (uint8_t)(i >> 8), (uint8_t)i };

		tree_leaf(BYTES(b), &leaf[i]);
	}
	fill(leaf, MOST);
	memset(known, 0, sizeof(known));
}

static void
every_root_and_edge_is_that_of_the_definition(void **state)
{
	struct tree_edge t = { .size = 0 }, loaded;
	struct hash want, got;
	struct err e;

	(void)state;
	fill_many();
	for (size_t n = 0; n <= MOST; n++) {
		want = mth(0, n);
		tree_root(&t, &got);
		assert_hash(&want, &got);
		assert_int_equal(0, tree_edge_load(&reader, n, &loaded, &e));
		assert_int_equal(n, loaded.size);
		for (unsigned l = 0; l < LEVELS; l++)
			if (n >> l & 1)
				assert_hash(&t.node[l], &loaded.node[l]);
		if (n < MOST)
			tree_append(&t, &nodes[0][n]);
	}
}

static void
every_inclusion_proof_is_that_of_the_definition(void **state)
{
	struct hash want[PROOF_MAX], got[PROOF_MAX], root;
	struct err e;
	size_t m;

	(void)state;
	fill_many();
	for (size_t n = 1; n <= MOST; n++) {
		root = mth(0, n);
		for (size_t i = 0; i < n; i++) {
			size_t len = path(i, 0, n, want);

			assert_int_equal(0, tree_prove(&reader, i, n, got, &m,
			    &e));
			assert_int_equal(len, m);
			assert_memory_equal(want, got, len * sizeof(want[0]));
			assert_int_equal(0, tree_check_inclusion(&nodes[0][i],
			    i, n, got, m, &root, &e));
		}
	}
}

static void
every_consistency_proof_is_that_of_the_definition(void **state)
{
	struct hash want[PROOF_MAX], got[PROOF_MAX], r1, r2;
	struct err e;
	size_t m;

	(void)state;
	fill_many();
	for (size_t n = 1; n <= MOST; n++) {
		r2 = mth(0, n);
		for (size_t i = 0; i <= n; i++) {
			size_t len = i == 0 ? 0 : subproof(i, 0, n, 1, want);

			r1 = mth(0, i);
			assert_int_equal(0, tree_consistency(&reader, i, n, got,
			    &m, &e));
			assert_int_equal(len, m);
			assert_memory_equal(want, got, len * sizeof(want[0]));
			assert_int_equal(0, tree_check_consistency(i, &r1, n,
			    &r2, got, m, &e));
		}
	}
}

/* ---- lies --------------------------------------------------------------- */

static int
included(size_t leaf, uint64_t index, uint64_t size, const struct hash *proof,
    size_t n, const struct hash *root)
{
	struct err e;

	if (tree_check_inclusion(&nodes[0][leaf], index, size, proof, n, root,
	    &e) == 0)
		return 1;
	assert_int_equal(ERR_SIGNATURE, e.code);
	return 0;
}

static void
a_wrong_inclusion_proof_is_refused(void **state)
{
	struct hash p[PROOF_MAX + 1], root;
	struct err e;
	size_t n;

	(void)state;
	fill_many();
	memset(p, 0, sizeof(p));
	for (size_t size = 1; size <= 40; size++)
		for (size_t i = 0; i < size; i++) {
			root = mth(0, size);
			assert_int_equal(0, tree_prove(&reader, i, size, p, &n,
			    &e));
			assert_true(included(i, i, size, p, n, &root));
			/* another leaf, place, root; longer, shorter, changed */
			assert_false(included(i + 1, i, size, p, n, &root));
			for (uint64_t k = 0; k < size + 3; k++)
				if (k != i)
					assert_false(included(i, k, size, p, n,
					    &root));
			root.b[31] ^= 1;
			assert_false(included(i, i, size, p, n, &root));
			root.b[31] ^= 1;
			assert_false(included(i, i, size, p, n + 1, &root));
			if (n > 0)
				assert_false(included(i, i, size, p, n - 1,
				    &root));
			for (size_t k = 0; k < n; k++) {
				p[k].b[k % 32] ^= 0x80;
				assert_false(included(i, i, size, p, n, &root));
				p[k].b[k % 32] ^= 0x80;
			}
		}
	assert_false(included(0, 0, 0, p, 0, &root));
}

static int
consistent(uint64_t a, const struct hash *ra, uint64_t b, const struct hash *rb,
    const struct hash *proof, size_t n)
{
	struct err e;

	if (tree_check_consistency(a, ra, b, rb, proof, n, &e) == 0)
		return 1;
	assert_int_equal(ERR_SIGNATURE, e.code);
	return 0;
}

static void
a_wrong_consistency_proof_is_refused(void **state)
{
	struct hash p[PROOF_MAX + 1], r1, r2, bad;
	struct err e;
	size_t n;

	(void)state;
	fill_many();
	memset(p, 0, sizeof(p));
	for (size_t b = 1; b <= 40; b++)
		for (size_t a = 0; a <= b; a++) {
			r1 = mth(0, a);
			r2 = mth(0, b);
			assert_int_equal(0, tree_consistency(&reader, a, b, p,
			    &n, &e));
			assert_true(consistent(a, &r1, b, &r2, p, n));
			bad = r1, bad.b[0] ^= 1;
			assert_false(consistent(a, &bad, b, &r2, p, n));
			bad = r2, bad.b[0] ^= 1;
			/* Every root may follow the empty tree. */
			if (a > 0)
				assert_false(consistent(a, &r1, b, &bad, p, n));
			assert_false(consistent(a, &r1, b, &r2, p, n + 1));
			if (n > 0)
				assert_false(consistent(a, &r1, b, &r2, p,
				    n - 1));
			for (size_t k = 0; k < n; k++) {
				p[k].b[k % 32] ^= 0x80;
				assert_false(consistent(a, &r1, b, &r2, p, n));
				p[k].b[k % 32] ^= 0x80;
			}
			if (a != b)
				assert_false(consistent(b, &r2, a, &r1, p, n));
		}
}

static void
there_is_no_proof_of_what_is_not_there(void **state)
{
	struct hash p[PROOF_MAX];
	struct err e;
	size_t n = 77;

	(void)state;
	fill_many();
	assert_int_equal(-1, tree_prove(&reader, 5, 5, p, &n, &e));
	assert_int_equal(ERR_NOTFOUND, e.code);
	assert_int_equal(-1, tree_prove(&reader, 0, 0, p, &n, &e));
	assert_int_equal(-1, tree_consistency(&reader, 6, 5, p, &n, &e));
	assert_int_equal(ERR_NOTFOUND, e.code);
	assert_int_equal(77, n);
}

/* ---- large trees, and readers that fail --------------------------------- */

/* All leaves alike: a complete subtree is known by its level. */
static int
read_alike(void *ctx, unsigned level, uint64_t n, struct hash *out,
    struct err *e)
{
	struct hash h;
	int *left = ctx;

	(void)n;
	if ((*left)-- == 0)
		return err_set(e, ERR_CORRUPT, "tile");
	tree_leaf((struct bytes){ NULL, 0 }, &h);
	for (unsigned l = 0; l < level; l++)
		tree_node(&h, &h, &h);
	*out = h;
	return 0;
}

static void
the_largest_trees_can_be_proven(void **state)
{
	static const uint64_t sizes[] = { (uint64_t)1 << 32,
	    ((uint64_t)1 << 40) + 12345, INT64_MAX, (uint64_t)1 << 63,
	    UINT64_MAX };

	(void)state;
	for (size_t i = 0; i < sizeof(sizes) / sizeof(sizes[0]); i++) {
		const uint64_t size = sizes[i], at[] = { 0, 1, size / 2,
		    size / 3, size - 2, size - 1 };
		int left = -1;
		const struct tree_reader r = { read_alike, &left };
		struct hash p[PROOF_MAX], leaf, root, old;
		struct tree_edge t;
		struct err e;
		size_t n;

		tree_leaf((struct bytes){ NULL, 0 }, &leaf);
		assert_int_equal(0, tree_edge_load(&r, size, &t, &e));
		tree_root(&t, &root);
		for (size_t k = 0; k < 6; k++) {
			assert_int_equal(0, tree_prove(&r, at[k], size, p, &n,
			    &e));
			assert_int_equal(0, tree_check_inclusion(&leaf, at[k],
			    size, p, n, &root, &e));
			assert_int_equal(0, tree_edge_load(&r, at[k] + 1, &t,
			    &e));
			tree_root(&t, &old);
			assert_int_equal(0, tree_consistency(&r, at[k] + 1,
			    size, p, &n, &e));
			assert_int_equal(0, tree_check_consistency(at[k] + 1,
			    &old, size, &root, p, n, &e));
		}
	}
}

static void
a_reader_that_fails_is_passed_on(void **state)
{
	const uint64_t size = 1000003;
	struct hash p[PROOF_MAX];
	struct tree_edge t = { .size = 5 };
	struct err e;
	size_t n = 77;

	(void)state;
	for (int k = 0; k < 5; k++) {
		int left = k;
		const struct tree_reader r = { read_alike, &left };

		assert_int_equal(-1, tree_prove(&r, 4711, size, p, &n, &e));
		assert_int_equal(ERR_CORRUPT, e.code);
		left = k;
		assert_int_equal(-1, tree_consistency(&r, 4711, size, p, &n, &e));
		assert_int_equal(ERR_CORRUPT, e.code);
		left = k;
		assert_int_equal(-1, tree_edge_load(&r, size, &t, &e));
		assert_int_equal(ERR_CORRUPT, e.code);
	}
	assert_int_equal(77, n);
	assert_int_equal(5, t.size);
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(roots_are_those_of_certificate_transparency),
		cmocka_unit_test(inclusion_proofs_are_those_of_certificate_transparency),
		cmocka_unit_test(consistency_proofs_are_those_of_certificate_transparency),
		cmocka_unit_test(every_root_and_edge_is_that_of_the_definition),
		cmocka_unit_test(every_inclusion_proof_is_that_of_the_definition),
		cmocka_unit_test(every_consistency_proof_is_that_of_the_definition),
		cmocka_unit_test(a_wrong_inclusion_proof_is_refused),
		cmocka_unit_test(a_wrong_consistency_proof_is_refused),
		cmocka_unit_test(there_is_no_proof_of_what_is_not_there),
		cmocka_unit_test(the_largest_trees_can_be_proven),
		cmocka_unit_test(a_reader_that_fails_is_passed_on),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
