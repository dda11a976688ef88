/* SPDX-License-Identifier: ISC */
#ifndef JOURNAL_SUBJECTS_H
#define JOURNAL_SUBJECTS_H

#include "journal/fold.h"

/*
 * Every subject of a history, by machine and id.  A row is 48 bytes, and a
 * struct subject more if the facts are kept.
 */
enum { ROW_FREE, ROW_THERE, ROW_SEEN };

struct subject_row {
	uint8_t		machine, used;
	uint8_t		state, owed;
	struct id	id;
	uint32_t	seq;
	uint64_t	last;
	struct subject	*full;		/* with keep_facts; not of the log */
};

struct subjects {
	struct subject_row *row;
	size_t		 n, cap;	/* cap: a power of two, or 0 */
	uint64_t	 seed[3];
	int		 keep_facts;
};

/* subjects_row: the row of ${r}'s subject, ROW_FREE if it is new: who fills it
 * sets used and counts n.  NULL without memory. */
struct subject_row *subjects_row(struct subjects *s, const struct record *r);
struct subject_row *subjects_find(const struct subjects *s, int machine,
    const struct id *id);	/* NULL if there is none */
void subjects_done(struct subjects *s);

#endif
