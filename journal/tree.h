/* SPDX-License-Identifier: ISC */
#ifndef JOURNAL_TREE_H
#define JOURNAL_TREE_H

#include "base/buf.h"
#include "base/sha256.h"

/*
 * The Merkle tree of RFC 6962, section 2.1: leaf hash SHA-256(0x00, bytes),
 * node hash SHA-256(0x01, left, right).  In memory: the right edge, one hash a
 * level, copied by value so that a failed commit is forgotten by dropping it.
 * On disk: tiles of 256 hashes (C2SP tlog-tiles).
 */
enum { TREE_LEVELS = 64, TILE_WIDTH = 256, PROOF_MAX = 64 };

struct hash {
	uint8_t b[SHA256_BYTES];
};

struct tree_edge {
	uint64_t	size;
	struct hash	node[TREE_LEVELS];	/* valid where size has the bit */
};

void tree_leaf(struct bytes record, struct hash *out);
void tree_node(const struct hash *l, const struct hash *r, struct hash *out);
void tree_append(struct tree_edge *t, const struct hash *leaf);
void tree_root(const struct tree_edge *t, struct hash *out);	/* of size 0: SHA-256("") */

/*
 * Reading stored nodes: ${node} of ${level} (0 = leaves) at ${n}, the hash of
 * leaves [n << level, (n + 1) << level), only ever asked for complete ones.
 */
struct tree_reader {
	int (*node)(void *ctx, unsigned level, uint64_t n, struct hash *out,
	    struct err *e);
	void *ctx;
};

/* tree_edge_load: the right edge of a tree of ${size}. */
int tree_edge_load(const struct tree_reader *r, uint64_t size,
    struct tree_edge *t, struct err *e) MUST_CHECK;
/* tree_prove: the inclusion proof (RFC 6962, 2.1.1) of leaf ${index} in the
 * tree of ${size}. */
int tree_prove(const struct tree_reader *r, uint64_t index, uint64_t size,
    struct hash proof[PROOF_MAX], size_t *n, struct err *e) MUST_CHECK;
/* tree_consistency: the proof (2.1.2) that ${size1} is a prefix of ${size2}. */
int tree_consistency(const struct tree_reader *r, uint64_t size1,
    uint64_t size2, struct hash proof[PROOF_MAX], size_t *n, struct err *e)
    MUST_CHECK;

/* The verifiers share nothing with the provers.  SIGNATURE if it is wrong. */
int tree_check_inclusion(const struct hash *leaf, uint64_t index,
    uint64_t size, const struct hash *proof, size_t n, const struct hash *root,
    struct err *e) MUST_CHECK;
int tree_check_consistency(uint64_t size1, const struct hash *root1,
    uint64_t size2, const struct hash *root2, const struct hash *proof,
    size_t n, struct err *e) MUST_CHECK;

#endif
