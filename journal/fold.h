/* SPDX-License-Identifier: ISC */
#ifndef JOURNAL_FOLD_H
#define JOURNAL_FOLD_H

#include "journal/record.h"
#include "lifecycle/machine.h"

/*
 * What the records of a subject say about it: the one truth behind the derived
 * tables.  journal_append() derives with it, replay and verification repeat
 * it, so they cannot come apart.  Pure: no clock, no I/O, no memory.
 */
enum { REDUCER = 1 };		/* version of these rules; in every footer */

enum { FACTS_MAX = 16 };
struct fact {
	int		present;
	int64_t		i;		/* INTEGER */
	uint8_t		b[32];		/* BLOB, first n bytes */
	size_t		n;
};

/* A row of a derived table.  fact[] in the order of the FACT rows of the .def. */
struct subject {
	int		machine;
	struct id	id;
	int		state;		/* 0: only refused attempts so far */
	uint32_t	seq;		/* of its last record */
	uint64_t	first, last;	/* record that made it, newest record */
	int64_t		born_us;	/* when it was made */
	int64_t		moved_us;	/* when it last did what was asked */
	int		owed;		/* enum effect */
	struct fact	fact[FACTS_MAX];
};

struct fact_info {
	const char	*column;
	int		 blob;		/* 1: BLOB, 0: INTEGER */
	int		 tag;		/* enum field */
	const char	*doc;
};
/* fact_info(machine, n): its FACT rows. */
const struct fact_info *fact_info(int machine, size_t *n);

/*
 * fold(r, fresh, s, e): move *${s} on by the record ${r}; with ${fresh}, ${s}
 * is filled from nothing.  A refused attempt counts and changes nothing else.
 *
 * CORRUPT if ${r} does not continue ${s}: another subject, a gap in the
 * sequence, another previous record, not the state it is in; ILLEGAL if it is
 * no edge; FORMAT if a fact does not fit.  *${s} is then as it was.
 */
int fold(const struct record *r, int fresh, struct subject *s, struct err *e)
    MUST_CHECK;

/* subject_same(a, b): 1 if a derived row and a replayed one agree. */
int subject_same(const struct subject *a, const struct subject *b);

#endif
