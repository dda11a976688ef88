/* SPDX-License-Identifier: ISC */
#ifndef JOURNAL_DERIVE_H
#define JOURNAL_DERIVE_H

#include "journal/db.h"
#include "journal/fold.h"

/*
 * The derived tables: one row a subject, columns from the FACT rows of its
 * machine.  A cache of fold(): what a replay gives is right.
 */

/* derive_keep(d, e): prepare the statements of every machine. */
int derive_keep(struct db *d, struct err *e) MUST_CHECK;

/* derive_get(d, machine, id, s, found, e): *${found} 0 if there is no row. */
int derive_get(struct db *d, int machine, const struct id *id,
    struct subject *s, int *found, struct err *e) MUST_CHECK;
/* derive_put(d, s, fresh, e): the row of ${s}, a new one if ${fresh}. */
int derive_put(struct db *d, const struct subject *s, int fresh,
    struct err *e) MUST_CHECK;

/* derive_chain(d, s, chain, e): the indices of its records, newest first, each
 * a uint64_t. */
int derive_chain(struct db *d, const struct subject *s, struct buf *chain,
    struct err *e) MUST_CHECK;

/*
 * derive_check(d, e): replay all records and compare; CORRUPT names the first
 * subject that differs.  O(records).
 */
int derive_check(struct db *d, struct err *e) MUST_CHECK;
/* derive_check_live(d, e): every row that is not final against its last
 * record; what a start can afford. */
int derive_check_live(struct db *d, struct err *e) MUST_CHECK;
/* derive_rebuild(d, e): make the tables anew, in the caller's transaction. */
int derive_rebuild(struct db *d, struct err *e) MUST_CHECK;

#endif
