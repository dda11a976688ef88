/* SPDX-License-Identifier: ISC */
#ifndef JOURNAL_COMMITTED_IMPL_H
#define JOURNAL_COMMITTED_IMPL_H

#include "journal/committed.h"

/*
 * The inside of a proof, private to journal/: who can include this can say
 * that something is durable, so nobody else may.
 */
struct committed {
	struct record	record;		/* borrows from bytes */
	size_t		n;
	uint8_t		bytes[];
};

/*
 * committed_new(b, c, e): a proof of the record ${b}, which is copied and
 * decoded.  To be called when the record is durable and not before, except to
 * have the memory: then the proof must not leave journal/ until it is.
 */
int committed_new(struct bytes b, struct committed **c, struct err *e) MUST_CHECK;

#endif
