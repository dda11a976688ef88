/* SPDX-License-Identifier: ISC */
/* links.c - records that name each other, against link.def. */
#include <inttypes.h>

#include "journal/inside.h"

static int
entry_record(const struct journal_txn *t, size_t i, struct record *r,
    struct err *e)
{
	const struct entry *it = &t->entry[i];

	return record_decode(bytes_of(t->bytes.p + it->off, it->n), r, e);
}

/* MUTUAL: both of this transaction, each naming the other. */
static int
check_link(const struct journal_txn *t, const struct record *r, uint64_t other,
    struct err *e)
{
	struct record o;
	uint64_t back;

	if (other < t->base || other >= t->at.size || other == r->index)
		return err_set(e, ERR_FORMAT, "record %" PRIu64 " names record %"
		    PRIu64 ", which is not of its commit", r->index, other);
	if (entry_record(t, (size_t)(other - t->base), &o, e))
		return -1;
	if (record_u64(&o, FIELD_LINK, &back) || back != r->index)
		return err_set(e, ERR_FORMAT, "record %" PRIu64 " names record %"
		    PRIu64 ", which does not name it", r->index, other);
	if (link_find(LINK_MUTUAL, r->machine, r->event, o.machine, o.event) ==
	    NULL && link_find(LINK_MUTUAL, o.machine, o.event, r->machine,
	    r->event) == NULL)
		return err_set(e, ERR_FORMAT, "%s of a %s and %s of a %s do not"
		    " belong together", machine_event_name(r->machine, r->event),
		    machine_name(r->machine),
		    machine_event_name(o.machine, o.event),
		    machine_name(o.machine));
	return 0;
}

/* CAUSE: an earlier record, or one of the same commit. */
static int
check_cause(const struct journal_txn *t, const struct record *r, uint64_t other,
    struct err *e)
{
	AUTO(buf) struct buf b;
	struct record o;

	buf_init(&b, RECORD_MAX);
	if (other >= t->at.size || other == r->index)
		return err_set(e, ERR_FORMAT, "record %" PRIu64 " names record %"
		    PRIu64 " as its cause, which is not there", r->index, other);
	if (other >= t->base ?
	    entry_record(t, (size_t)(other - t->base), &o, e) :
	    journal_record(t->j, other, &b, e) ||
	    record_decode(buf_bytes(&b), &o, e))
		return -1;
	if ((o.flags & RECORD_REFUSED) != 0 || link_find(LINK_CAUSE,
	    r->machine, r->event, o.machine, o.event) == NULL)
		return err_set(e, ERR_FORMAT, "%s of a %s cannot be the cause"
		    " of %s of a %s", machine_event_name(o.machine, o.event),
		    machine_name(o.machine),
		    machine_event_name(r->machine, r->event),
		    machine_name(r->machine));
	return 0;
}

int
append_links(struct journal_txn *t, struct err *e)
{
	for (size_t i = t->checked; i < t->nentry; i++) {
		struct record r;
		uint64_t other;

		if (!t->entry[i].linked)
			continue;
		if (entry_record(t, i, &r, e))
			return -1;
		if (r.flags & RECORD_REFUSED)
			continue;
		if (record_u64(&r, FIELD_LINK, &other) == 0 &&
		    check_link(t, &r, other, e))
			return -1;
		if (record_u64(&r, FIELD_CAUSE, &other) == 0 &&
		    check_cause(t, &r, other, e))
			return -1;
	}
	t->checked = t->nentry;
	return 0;
}
