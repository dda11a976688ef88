/* SPDX-License-Identifier: ISC */
/* walk.c - legal histories made from the tables, so that a new edge or fact is
 * walked on the day it is added. */
#include <string.h>

#include "tests/lib/home.h"

uint64_t
walk_random(struct walk *w)
{
	w->seed ^= w->seed << 13;
	w->seed ^= w->seed >> 7;
	w->seed ^= w->seed << 17;
	return w->seed;
}

static int
state_of(struct journal *j, int machine, const struct id *id)
{
	struct subject s;
	struct err e;

	return journal_subject(j, machine, id, &s, &e) ? 0 : s.state;
}

/* A subject of ${machine} that ${event} may happen to: one we have, else new. */
static int
pick(struct walk *w, struct journal *j, int machine, int event, struct id *id)
{
	struct step step;
	struct err e;
	size_t from = w->n == 0 ? 0 : walk_random(w) % w->n;

	for (size_t i = 0; i < w->n; i++) {
		size_t at = (from + i) % w->n;

		*id = w->subject[at].id;
		if (w->subject[at].machine == machine && machine_step(machine,
		    state_of(j, machine, id), event, &step, &e) == 0)
			return 1;
	}
	if (machine_step(machine, 0, event, &step, &e) ||
	    w->n == sizeof(w->subject) / sizeof(w->subject[0]))
		return 0;
	for (size_t i = 0; i < ID_BYTES; i++)
		id->b[i] = (uint8_t)walk_random(w);
	w->subject[w->n].machine = machine;
	w->subject[w->n++].id = *id;
	return 1;
}

/* Some of the facts of the machine, with values of their type. */
static void
put_facts(struct walk *w, int machine, struct fields *f)
{
	const struct fact_info *info;
	size_t n;

	info = fact_info(machine, &n);
	for (size_t i = 0; i < n; i++) {
		size_t size = field_type_size(field_info(info[i].tag)->type);
		uint8_t b[64];

		if (walk_random(w) % 3 == 0)
			continue;
		for (size_t k = 0; k < sizeof(b); k++)
			b[k] = (uint8_t)walk_random(w);
		/* Not an epoch key: there is only ever one that is active. */
		if (info[i].tag == FIELD_KEY_USE)
			fields_u64(f, info[i].tag, KEYUSE_RECOVERY);
		else if (!info[i].blob)
			fields_u64(f, info[i].tag, walk_random(w) >> 1);
		else if (size != 0)
			fields_bytes(f, info[i].tag, bytes_of(b, size));
		else
			fields_text(f, info[i].tag, STR("some text"));
	}
}

static int
put(struct walk *w, struct journal_txn *t, int machine, const struct id *id,
    int event, int64_t linked, struct err *e)
{
	AUTO(fields) struct fields f;
	struct draft d = { .machine = machine, .subject = *id, .event = event,
	    .actor = ACTOR_OWNER, .fields = &f, .expect_from = -1 };

	fields_init(&f);
	d.refused = linked < 0 && walk_random(w) % 8 == 0;
	if (d.refused)
		fields_text(&f, FIELD_CODE, STR("state.forbids"));
	if (linked >= 0)
		fields_u64(&f, FIELD_LINK, (uint64_t)linked);
	fields_text(&f, FIELD_REASON, STR("for the sake of it"));
	put_facts(w, machine, &f);
	return journal_append(t, &d, NULL, e);
}

int
walk_step(struct walk *w, struct journal *j, struct journal_txn *t,
    struct err *e)
{
	for (;;) {
		int m = 1 + (int)(walk_random(w) % (MACHINE_END - 1));
		const struct link *link;
		struct id id, other;
		uint64_t next = journal_next(t);
		int event;

		if (!machine_valid(m))
			continue;
		event = 1 + (int)(walk_random(w) %
		    (uint64_t)(machine_events(m) - 1));
		link = link_required(m, event);
		if (link != NULL && !pick(w, j, link->other, link->other_event,
		    &other))
			continue;
		if (!pick(w, j, m, event, &id))
			continue;
		if (link == NULL)
			return put(w, t, m, &id, event, -1, e);
		if (put(w, t, link->other, &other, link->other_event,
		    (int64_t)next + 1, e) ||
		    put(w, t, m, &id, event, (int64_t)next, e))
			return -1;
		return 0;
	}
}
