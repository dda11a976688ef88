/* SPDX-License-Identifier: ISC */
/* orders.c - from a durable record to what the world has to do about it. */
#include <string.h>

#include "faultinject/fi.h"

#include "engine/internal.h"

void
failure_note(struct engine *en, int machine, const struct id *id,
    enum order_kind kind, const struct err *err)
{
	struct err ignore;
	struct failure *f = list_add(&en->failures, &ignore);

	if (f == NULL)
		return;
	*f = (struct failure){ machine, *id, kind, *err };
}

static enum order_kind
kind_of(const struct record *r)
{
	struct step step;
	struct err e;

	if ((r->flags & RECORD_REFUSED) ||
	    machine_step(r->machine, r->from, r->event, &step, &e))
		return ORDER_NONE;
	switch (step.effect) {
	case EFFECT_SPAWN:
		return ORDER_BUILD;
	case EFFECT_RELEASE:
		return ORDER_GATE;
	case EFFECT_KILL:
		return ORDER_STOP;
	case EFFECT_APPLY:
		return ORDER_APPLY;
	case EFFECT_UNDO:
		return ORDER_UNDO;
	case EFFECT_CLEAN:
		return ORDER_CLEAN;
	case EFFECT_CLOSE:
		return ORDER_HALT;
	default:
		break;
	}
	if (r->machine == MACHINE_SESSION)
		return r->event == SESSION_EV_adopt ? ORDER_ADOPT :
		    r->event == SESSION_EV_refuse ? ORDER_STOP :
		    r->event == SESSION_EV_ended ? ORDER_DONE : ORDER_NONE;
	return r->machine == MACHINE_CHANGE && r->event != CHANGE_EV_stage ?
	    ORDER_DONE : ORDER_NONE;
}

static int64_t
grace_of(const struct engine *en, const struct id *session)
{
	for (size_t i = en->graces.n; i > 0; i--)
		if (id_eq(&en->graces.v[i - 1].session, session))
			return en->graces.v[i - 1].us;
	return (int64_t)STOP_GRACE_S * 1000000;
}

static const struct start *
start_of(const struct engine *en, const struct id *session)
{
	for (const struct ask *a = en->asks; a != NULL; a = a->next)
		if (a->start != NULL && id_eq(&a->start->session, session))
			return a->start;
	return NULL;
}

/* The rooms that an order's borrowed particulars live in. */
struct room {
	struct buf	 receipt, manifest, paths;
	const char	**list;
	struct place	 place;
};

static void
auto_room(struct room *r)
{
	buf_done(&r->receipt);
	buf_done(&r->manifest);
	buf_done(&r->paths);
	free(r->list);
}

/* The strings of a LIST field, each ended by NUL. */
static int
split(struct room *r, struct order *o, struct err *e)
{
	size_t n = 0, k = 0;

	for (size_t i = 0; i < r->paths.n; i++)
		n += r->paths.p[i] == '\0';
	if (n == 0)
		return 0;
	if ((r->list = calloc(n, sizeof(*r->list))) == NULL)
		return err_set(e, ERR_NOMEM, "paths");
	for (size_t i = 0; k < n; k++) {
		r->list[k] = (const char *)r->paths.p + i;
		i += strlen(r->list[k]) + 1;
	}
	o->npaths = n;
	o->paths = r->list;
	return 0;
}

/* What a worker needs to know of a change: manifest, place, chosen paths. */
static int
order_work(struct engine *en, const struct committed *c, struct order *o,
    struct room *room, struct err *e)
{
	AUTO(buf) struct buf b;
	struct subject s, x;
	struct record r;
	struct bytes digest;
	uint64_t index;
	struct id exposure;

	buf_init(&b, RECORD_MAX);
	if (journal_subject(en->j, MACHINE_CHANGE, &o->change, &s, e) ||
	    fact_record(en, &s, CHANGE_EV_stage, &index, &b, e) ||
	    record_decode(buf_bytes(&b), &r, e))
		return -1;
	digest = record_field(&r, FIELD_MANIFEST_BLOB);
	if (digest.n != 32 || fact_id(&s, CHANGE_FACT_session, &o->session) ||
	    fact_id(&s, CHANGE_FACT_exposure, &exposure))
		return err_set(e, ERR_FORMAT, "record of a change");
	if (journal_blob_get(en->j, digest.p, &room->manifest, e) ||
	    journal_subject(en->j, MACHINE_EXPOSURE, &exposure, &x, e) ||
	    facts_place(en, &x, &room->place, e))
		return -1;
	if (journal_sealed(en->j, committed_index(c), FIELD_PATHS, NULL,
	    &room->paths, e) && e->code != ERR_NOTFOUND)
		return -1;
	o->mode = MODE_STAGED;
	o->manifest = buf_bytes(&room->manifest);
	o->path = room->place.path;
	o->dev = room->place.dev;
	o->ino = room->place.ino;
	return split(room, o, e);
}

static int
fill(struct engine *en, const struct committed *c, struct order *o,
    struct room *room, struct err *e)
{
	const struct record *r = committed_record(c);
	uint64_t cause = CAUSE_REVOKED;

	if (r->machine == MACHINE_CHANGE)
		o->change = r->subject;
	else
		o->session = r->subject;
	switch (o->kind) {
	case ORDER_STOP:
		(void)record_u64(r, FIELD_END_CAUSE, &cause);
		o->cause = (int)cause;
		o->grace_us = grace_of(en, &o->session);
		return 0;
	case ORDER_DONE:
		o->worker = r->machine == MACHINE_CHANGE;
		return 0;
	case ORDER_APPLY:
	case ORDER_UNDO:
	case ORDER_CLEAN:
		if (order_work(en, c, o, room, e))
			return -1;
		break;
	case ORDER_BUILD:
		if ((o->start = start_of(en, &o->session)) == NULL)
			return err_set(e, ERR_BUG, "start without a request");
		break;
	default:
		break;
	}
	if (journal_receipt(en->j, committed_index(c), &room->receipt, e))
		return -1;
	if ((o->receipt = buf_cstr(&room->receipt)) == NULL)
		return err_set(e, ERR_NOMEM, "receipt");
	return 0;
}

static void
run(struct engine *en, const struct committed *c, struct order *o)
{
	AUTO(room) struct room room = { .list = NULL };
	struct err e;

	buf_init(&room.receipt, RECEIPT_MAX);
	buf_init(&room.manifest, BLOB_MAX);
	buf_init(&room.paths, FIELDS_BYTES_MAX);
	if (fill(en, c, o, &room, &e) || en->o.ops.run(en->o.ops.cookie, c, o, &e))
		failure_note(en, committed_machine(c), committed_subject(c), o->kind, &e);
	if (FI(ENGINE_EFFECT)) {
		(void)err_set(&e, ERR_SYS, "effect: injected");
		failure_note(en, committed_machine(c), committed_subject(c), o->kind, &e);
	}
}

/* A lease is taken back: work that is writing to it stops between two files. */
static void
halt_work(struct engine *en, const struct committed *c)
{
	AUTO(subjects) struct subjects l = { NULL, 0, 0 };
	struct err e;

	if (facts_work_on(en, committed_subject(c), &l, &e)) {
		failure_note(en, MACHINE_EXPOSURE, committed_subject(c), ORDER_HALT, &e);
		return;
	}
	for (size_t i = 0; i < l.n; i++) {
		struct order o = { .kind = ORDER_HALT, .change = l.v[i].id,
		    .worker = 1 };

		if (en->o.ops.run(en->o.ops.cookie, c, &o, &e))
			failure_note(en, MACHINE_CHANGE, &l.v[i].id, ORDER_HALT, &e);
	}
}

void
orders_run(struct engine *en, const struct committed *c)
{
	struct order o = { .kind = kind_of(committed_record(c)) };

	if (o.kind == ORDER_HALT)
		halt_work(en, c);
	else if (o.kind != ORDER_NONE)
		run(en, c, &o);
}
