/* SPDX-License-Identifier: ISC */
#ifndef TESTS_LIB_GEN_H
#define TESTS_LIB_GEN_H

#include "journal/record.h"

/* Made-up values, the same for the same seed (splitmix64). */
struct gen {
	uint64_t	s;
};

uint64_t gen_u64(struct gen *g);
uint64_t gen_below(struct gen *g, uint64_t n);
void gen_bytes(struct gen *g, void *p, size_t n);

/* gen_value: append a value that field ${tag} may have in a record to ${b}. */
void gen_value(struct gen *g, int tag, struct buf *b);

/*
 * gen_record(g, mem, r): a record that record_encode() takes, with index
 * ${index} and any number of fields; its values are in ${mem}, which is
 * emptied first.
 */
void gen_record(struct gen *g, uint64_t index, struct buf *mem,
    struct record *r);

#endif
