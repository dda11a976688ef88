/* SPDX-License-Identifier: ISC */
#ifndef JOURNAL_COMMITTED_H
#define JOURNAL_COMMITTED_H

#include "journal/record.h"

/*
 * Proof that a record is durable: everything that touches the world takes one.
 * Only three things make one: journal_commit(), journal_owed() after a start,
 * and, across a process boundary, receipt_verify().
 *
 * With receipt.h this is all that sandbox/ and relay/ see of the journal.
 */
struct committed;

const struct record *committed_record(const struct committed *c); /* borrowed */
uint64_t committed_index(const struct committed *c);
int committed_machine(const struct committed *c);
int committed_event(const struct committed *c);
int committed_to(const struct committed *c);
const struct id *committed_subject(const struct committed *c);
/* committed_is(c, machine, event): 1 if it is that, and not a refusal. */
int committed_is(const struct committed *c, int machine, int event);
void committed_free(struct committed *c);	/* NULL is fine */

static inline void
auto_committed(struct committed **c)
{
	committed_free(*c);
}

#endif
