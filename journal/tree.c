/* SPDX-License-Identifier: ISC */
/*
 * tree.c - the Merkle tree of RFC 6962, section 2.1.
 *
 * Provers walk down from the root, as the RFC defines the proofs; verifiers
 * walk up from the leaf, as RFC 9162 (2.1.3.2, 2.1.4.2) does.  They have only
 * the two hash functions in common.
 */
#include <string.h>

#include "journal/tree.h"

void
tree_leaf(struct bytes record, struct hash *out)
{
	static const uint8_t prefix = 0x00;
	struct sha256 s;

	sha256_init(&s);
	sha256_update(&s, &prefix, 1);
	sha256_update(&s, record.p, record.n);
	sha256_final(&s, out->b);
}

void
tree_node(const struct hash *l, const struct hash *r, struct hash *out)
{
	uint8_t b[1 + 2 * SHA256_BYTES];

	b[0] = 0x01;
	memcpy(b + 1, l->b, SHA256_BYTES);
	memcpy(b + 1 + SHA256_BYTES, r->b, SHA256_BYTES);
	sha256_of(BYTES(b), out->b);
}

void
tree_append(struct tree_edge *t, const struct hash *leaf)
{
	struct hash h = *leaf;
	unsigned level = 0;

	/* A binary counter: each carry joins two complete subtrees. */
	for (; t->size >> level & 1; level++)
		tree_node(&t->node[level], &h, &h);
	t->node[level] = h;
	t->size++;
}

void
tree_root(const struct tree_edge *t, struct hash *out)
{
	struct hash h;
	unsigned level;

	if (t->size == 0) {
		sha256_of((struct bytes){ NULL, 0 }, out->b);
		return;
	}
	level = (unsigned)__builtin_ctzll(t->size);
	h = t->node[level];
	while (++level < TREE_LEVELS)
		if (t->size >> level & 1)
			tree_node(&t->node[level], &h, &h);
	*out = h;
}

int
tree_edge_load(const struct tree_reader *r, uint64_t size, struct tree_edge *t,
    struct err *e)
{
	struct tree_edge edge = { .size = size };

	for (unsigned level = 0; level < TREE_LEVELS; level++)
		if (size >> level & 1 && r->node(r->ctx, level,
		    (size >> level) - 1, &edge.node[level], e))
			return -1;
	*t = edge;
	return 0;
}

/* The largest power of two that is smaller than ${n}; ${n} > 1. */
static unsigned
split_level(uint64_t n)
{
	return 63 - (unsigned)__builtin_clzll(n - 1);
}

/*
 * The hash of leaves [at, at + n), n > 0, where ${at} is a multiple of every
 * power of two up to ${n}: the complete subtrees in it, joined from the right.
 */
static int
range(const struct tree_reader *r, uint64_t at, uint64_t n, struct hash *out,
    struct err *e)
{
	uint64_t end = at + n;
	struct hash h, l;
	unsigned level = (unsigned)__builtin_ctzll(n);

	if (r->node(r->ctx, level, (end >> level) - 1, &h, e))
		return -1;
	end -= (uint64_t)1 << level;
	while (end != at) {
		level = (unsigned)__builtin_ctzll(end - at);
		if (r->node(r->ctx, level, (end >> level) - 1, &l, e))
			return -1;
		tree_node(&l, &h, &h);
		end -= (uint64_t)1 << level;
	}
	*out = h;
	return 0;
}

/* The walk goes down, the proof goes up. */
static void
hand_over(const struct hash *down, size_t n, struct hash *proof, size_t *nproof)
{
	for (size_t i = 0; i < n; i++)
		proof[i] = down[n - 1 - i];
	*nproof = n;
}

int
tree_prove(const struct tree_reader *r, uint64_t index, uint64_t size,
    struct hash proof[PROOF_MAX], size_t *nproof, struct err *e)
{
	struct hash down[PROOF_MAX];
	uint64_t at = 0, n = size, k;
	size_t count = 0;

	if (index >= size)
		return err_say(e, ERR_NOTFOUND,
		    "there is no leaf %llu in a tree of %llu",
		    (unsigned long long)index, (unsigned long long)size);
	while (n > 1) {
		k = (uint64_t)1 << split_level(n);
		if (index - at < k) {
			if (range(r, at + k, n - k, &down[count++], e))
				return -1;
			n = k;
		} else {
			if (range(r, at, k, &down[count++], e))
				return -1;
			at += k;
			n -= k;
		}
	}
	hand_over(down, count, proof, nproof);
	return 0;
}

int
tree_consistency(const struct tree_reader *r, uint64_t size1, uint64_t size2,
    struct hash proof[PROOF_MAX], size_t *nproof, struct err *e)
{
	struct hash down[PROOF_MAX];
	uint64_t at = 0, m = size1, n = size2, k;
	size_t count = 0;

	if (size1 > size2)
		return err_say(e, ERR_NOTFOUND,
		    "a tree of %llu cannot begin with one of %llu",
		    (unsigned long long)size2, (unsigned long long)size1);
	while (m != 0 && m != n) {
		k = (uint64_t)1 << split_level(n);
		if (m <= k) {
			if (range(r, at + k, n - k, &down[count++], e))
				return -1;
			n = k;
		} else {
			if (range(r, at, k, &down[count++], e))
				return -1;
			at += k;
			m -= k;
			n -= k;
		}
	}
	/* Off the left edge the old root does not contain this subtree. */
	if (at != 0 && range(r, at, n, &down[count++], e))
		return -1;
	hand_over(down, count, proof, nproof);
	return 0;
}

static int
same(const struct hash *a, const struct hash *b)
{
	return memcmp(a->b, b->b, SHA256_BYTES) == 0;
}

int
tree_check_inclusion(const struct hash *leaf, uint64_t index, uint64_t size,
    const struct hash *proof, size_t n, const struct hash *root, struct err *e)
{
	uint64_t fn = index, sn = size - 1;
	struct hash h = *leaf;

	if (index >= size)
		return err_say(e, ERR_SIGNATURE,
		    "the proof is for a leaf outside its tree");
	for (size_t i = 0; i < n; i++) {
		if (sn == 0)
			return err_say(e, ERR_SIGNATURE,
			    "the inclusion proof is too long");
		if (fn & 1 || fn == sn) {
			tree_node(&proof[i], &h, &h);
			/* A right edge without a partner moves up as it is. */
			while (!(fn & 1) && fn != 0) {
				fn >>= 1;
				sn >>= 1;
			}
		} else {
			tree_node(&h, &proof[i], &h);
		}
		fn >>= 1;
		sn >>= 1;
	}
	if (sn != 0)
		return err_say(e, ERR_SIGNATURE,
		    "the inclusion proof is too short");
	if (!same(&h, root))
		return err_say(e, ERR_SIGNATURE,
		    "the inclusion proof leads to another root");
	return 0;
}

/* The sizes for which there is nothing to fold. */
static int
check_trivial(uint64_t size1, const struct hash *root1, uint64_t size2,
    const struct hash *root2, size_t n, struct err *e)
{
	struct hash empty;

	sha256_of((struct bytes){ NULL, 0 }, empty.b);
	if (n != 0)
		return err_say(e, ERR_SIGNATURE,
		    "the consistency proof is too long");
	if (size1 == 0 && !same(root1, &empty))
		return err_say(e, ERR_SIGNATURE,
		    "an empty tree has another root than this");
	if (size1 == size2 && !same(root1, root2))
		return err_say(e, ERR_SIGNATURE,
		    "two trees of one size have two roots");
	return 0;
}

int
tree_check_consistency(uint64_t size1, const struct hash *root1, uint64_t size2,
    const struct hash *root2, const struct hash *proof, size_t n, struct err *e)
{
	uint64_t fn = size1 - 1, sn = size2 - 1;
	struct hash fr, sr;
	size_t i = 0;

	if (size1 > size2)
		return err_say(e, ERR_SIGNATURE, "the later tree is the smaller");
	if (size1 == 0 || size1 == size2)
		return check_trivial(size1, root1, size2, root2, n, e);
	if (n == 0)
		return err_say(e, ERR_SIGNATURE,
		    "the consistency proof is too short");
	while (fn & 1) {
		fn >>= 1;
		sn >>= 1;
	}
	/* A complete old tree is a node of the new one: its root starts both. */
	fr = sr = fn == 0 ? *root1 : proof[i++];
	for (; i < n; i++) {
		if (sn == 0)
			return err_say(e, ERR_SIGNATURE,
			    "the consistency proof is too long");
		if (fn & 1 || fn == sn) {
			tree_node(&proof[i], &fr, &fr);
			tree_node(&proof[i], &sr, &sr);
			while (!(fn & 1) && fn != 0) {
				fn >>= 1;
				sn >>= 1;
			}
		} else {
			tree_node(&sr, &proof[i], &sr);
		}
		fn >>= 1;
		sn >>= 1;
	}
	if (sn != 0)
		return err_say(e, ERR_SIGNATURE,
		    "the consistency proof is too short");
	if (!same(&fr, root1) || !same(&sr, root2))
		return err_say(e, ERR_SIGNATURE,
		    "the later tree does not begin with the earlier one");
	return 0;
}
