/* SPDX-License-Identifier: ISC */
/*
 * verify_links.c - link.def, checked: what has to stand in one commit and name
 * each other does; what is named as a cause is one.
 *
 * Records that link wait for the footer of their commit, since both ends may
 * stand in either order.  What may be a cause is kept for good: few are.
 */
#include <inttypes.h>
#include <string.h>

#include "journal/verify_int.h"

static int
push(struct pending **p, size_t *n, size_t *cap, const struct pending *item)
{
	if (*n == *cap) {
		size_t bigger = *cap == 0 ? 64 : *cap * 2;
		struct pending *q = realloc(*p, bigger * sizeof(*q));

		if (q == NULL)
			return -1;
		*p = q;
		*cap = bigger;
	}
	(*p)[(*n)++] = *item;
	return 0;
}

/* Can such a record be named as a cause? */
static int
is_cause(int machine, int event)
{
#define LINK(MACHINE, ev, OTHER, other_ev, RULE, doc)				\
	if (LINK_##RULE == LINK_CAUSE && machine == MACHINE_##OTHER &&		\
	    event == OTHER##_EV_##other_ev)					\
		return 1;
#include "lifecycle/link.def"
	return 0;
}

void
links_record(struct verify *v, const struct record *r)
{
	struct links *l = &v->links;
	struct pending p = { .index = r->index, .machine = r->machine,
	    .event = r->event, .subject = r->subject };
	struct bytes session = record_field(r, FIELD_SESSION_ID);
	struct err e;

	if (r->flags & RECORD_REFUSED)
		return;
	p.has_link = record_u64(r, FIELD_LINK, &p.link) == 0;
	p.has_cause = record_u64(r, FIELD_CAUSE, &p.cause) == 0;
	if (session.n == ID_BYTES) {
		memcpy(p.other.b, session.p, ID_BYTES);
		p.has_other = 1;
	}
	if (((p.has_link || p.has_cause ||
	    link_required(r->machine, r->event) != NULL) &&
	    push(&l->p, &l->n, &l->cap, &p)) ||
	    (is_cause(r->machine, r->event) &&
	    push(&l->cause, &l->ncause, &l->capcause, &p))) {
		(void)err_set(&e, ERR_NOMEM, "links");
		check_source(v, CHECK_LINKS, &e);
	}
}

/* Both arrays ascend by index. */
static const struct pending *
at(const struct pending *p, size_t n, uint64_t index)
{
	size_t low = 0, high = n;

	while (low < high) {
		size_t mid = low + (high - low) / 2;

		if (p[mid].index < index)
			low = mid + 1;
		else
			high = mid;
	}
	return low < n && p[low].index == index ? &p[low] : NULL;
}

static void
mutual(struct verify *v, const struct pending *p)
{
	const struct pending *o = at(v->links.p, v->links.n, p->link);

	if (o == NULL || !o->has_link || o->link != p->index) {
		check_fail(v, CHECK_LINKS, "record %" PRIu64 " names record %"
		    PRIu64 ", which is not of its commit or does not name it",
		    p->index, p->link);
		return;
	}
	if (link_find(LINK_MUTUAL, p->machine, p->event, o->machine, o->event))
		;
	else if (link_find(LINK_MUTUAL, o->machine, o->event, p->machine,
	    p->event))
		return;		/* seen from the other end */
	else
		check_fail(v, CHECK_LINKS, "records %" PRIu64 " and %" PRIu64
		    " name each other and have nothing to do with each other",
		    p->index, p->link);
	if (o->machine == MACHINE_SESSION && p->has_other &&
	    !id_eq(&p->other, &o->subject))
		check_fail(v, CHECK_LINKS, "record %" PRIu64
		    " is about another session than record %" PRIu64,
		    p->index, p->link);
}

void
links_commit(struct verify *v)
{
	struct links *l = &v->links;

	for (size_t i = 0; i < l->n; i++) {
		const struct pending *p = &l->p[i], *o;

		if (p->has_link)
			mutual(v, p);
		else if (link_required(p->machine, p->event) != NULL)
			check_fail(v, CHECK_LINKS, "record %" PRIu64
			    " stands alone and must not", p->index);
		if (!p->has_cause)
			continue;
		o = at(l->cause, l->ncause, p->cause);
		if (o == NULL || link_find(LINK_CAUSE, p->machine, p->event,
		    o->machine, o->event) == NULL)
			check_fail(v, CHECK_LINKS, "record %" PRIu64
			    " gives record %" PRIu64 " as its cause, which is"
			    " none", p->index, p->cause);
		else
			l->causes++;
	}
	l->linked += l->n;
	l->n = 0;
}

void
links_done(struct links *l)
{
	free(l->p);
	free(l->cause);
}
