/* SPDX-License-Identifier: ISC */
/* committed.c - the proof that a record is durable. */
#include <stdlib.h>
#include <string.h>

#include "journal/committed_impl.h"

int
committed_new(struct bytes b, struct committed **out, struct err *e)
{
	AUTO(committed) struct committed *c = NULL;

	if (b.n > RECORD_MAX)
		return err_set(e, ERR_TOOBIG, "a record");
	if ((c = malloc(sizeof(*c) + b.n)) == NULL)
		return err_set(e, ERR_NOMEM, "the proof of a record");
	c->n = b.n;
	if (b.n != 0)
		memcpy(c->bytes, b.p, b.n);
	if (record_decode(bytes_of(c->bytes, c->n), &c->record, e))
		return -1;
	*out = TAKE(c);
	return 0;
}

const struct record *
committed_record(const struct committed *c)
{
	return &c->record;
}

uint64_t
committed_index(const struct committed *c)
{
	return c->record.index;
}

int
committed_machine(const struct committed *c)
{
	return c->record.machine;
}

int
committed_event(const struct committed *c)
{
	return c->record.event;
}

int
committed_to(const struct committed *c)
{
	return c->record.to;
}

const struct id *
committed_subject(const struct committed *c)
{
	return &c->record.subject;
}

int
committed_is(const struct committed *c, int machine, int event)
{
	return !(c->record.flags & RECORD_REFUSED) &&
	    c->record.machine == machine && c->record.event == event;
}

void
committed_free(struct committed *c)
{
	free(c);
}
