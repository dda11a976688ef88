/* SPDX-License-Identifier: ISC */
/* facts.c - what the journal knows, inside the transaction of this turn. */
#include <string.h>

#include "engine/internal.h"

struct collect {
	struct subjects	*out;
	int		 fact;		/* only those whose fact ... */
	const struct id	*id;		/* ... is this; NULL: all */
};

static int
collect(void *ctx, const struct subject *s, struct err *e)
{
	const struct collect *c = ctx;
	struct subject *at;
	struct id id;

	if (c->id != NULL && (fact_id(s, c->fact, &id) || !id_eq(&id, c->id)))
		return 0;
	if ((at = list_add(c->out, e)) == NULL)
		return -1;
	*at = *s;
	return 0;
}

int
facts_in(struct engine *en, int machine, int state, struct subjects *out,
    struct err *e)
{
	struct collect c = { out, 0, NULL };

	return journal_each(en->j, machine, state, 0, collect, &c, e);
}

int
facts_on(struct engine *en, const struct id *exposure, struct subjects *out,
    struct err *e)
{
	static const int states[] = { SESSION_PREPARED, SESSION_AWAITING,
	    SESSION_STARTING, SESSION_RUNNING, SESSION_STOPPING };
	struct collect c = { out, SESSION_FACT_exposure, exposure };

	for (size_t i = 0; i < sizeof(states) / sizeof(states[0]); i++)
		if (journal_each(en->j, MACHINE_SESSION, states[i], 0, collect, &c, e))
			return -1;
	return 0;
}

int
facts_work_on(struct engine *en, const struct id *exposure, struct subjects *out,
    struct err *e)
{
	struct collect c = { out, CHANGE_FACT_exposure, exposure };

	if (journal_each(en->j, MACHINE_CHANGE, CHANGE_APPLYING, 0, collect, &c, e) ||
	    journal_each(en->j, MACHINE_CHANGE, CHANGE_UNDOING, 0, collect, &c, e))
		return -1;
	return 0;
}

int
fact_id(const struct subject *s, int fact, struct id *id)
{
	if (!s->fact[fact].present || s->fact[fact].n != ID_BYTES)
		return -1;
	memcpy(id->b, s->fact[fact].b, ID_BYTES);
	return 0;
}

int64_t
fact_int(const struct subject *s, int fact, int64_t otherwise)
{
	return s->fact[fact].present ? s->fact[fact].i : otherwise;
}

struct seek {
	int		 event;
	int		 found;
	uint64_t	 index;
	struct buf	*b;
};

static int
seek(void *ctx, uint64_t index, struct bytes bytes, struct err *e)
{
	struct seek *s = ctx;
	struct record r;

	if (record_decode(bytes, &r, e))
		return -1;
	if (r.event != s->event || (r.flags & RECORD_REFUSED))
		return 0;
	s->found = 1;
	s->index = index;
	buf_reset(s->b);
	buf_put(s->b, bytes.p, bytes.n);
	return buf_ok(s->b, "record", e);
}

int
fact_record(struct engine *en, const struct subject *s, int event,
    uint64_t *index, struct buf *b, struct err *e)
{
	struct seek k = { .event = event, .b = b };

	if (journal_history(en->j, s->machine, &s->id, s->first, seek, &k, e))
		return -1;
	if (!k.found)
		return err_set(e, ERR_NOTFOUND, "a record of %s",
		    machine_event_name(s->machine, event));
	*index = k.index;
	return 0;
}

int
fact_text(struct engine *en, uint64_t index, int tag, struct buf *b,
    struct err *e)
{
	buf_reset(b);
	if (journal_sealed(en->j, index, tag, NULL, b, e))
		return -1;
	if (buf_cstr(b) == NULL)
		return err_set(e, ERR_NOMEM, "text");
	return 0;
}

int
facts_place(struct engine *en, const struct subject *exposure, struct place *p,
    struct err *e)
{
	AUTO(buf) struct buf b;
	struct cur c;

	buf_init(&b, RECORD_MAX);
	memset(p, 0, sizeof(*p));
	if (fact_text(en, exposure->first, FIELD_HOST_PATH, &b, e))
		return -1;
	if (b.n > PATH_BYTES_MAX)
		return err_set(e, ERR_FORMAT, "path of an exposure");
	memcpy(p->path, b.p, b.n);
	buf_reset(&b);
	if (journal_sealed(en->j, exposure->first, FIELD_SOURCE, NULL, &b, e))
		return -1;
	c = cur_of(buf_bytes(&b));
	p->dev = cur_u64(&c);
	p->ino = cur_u64(&c);
	if (c.failed || c.n != 0)
		return err_set(e, ERR_FORMAT, "source of an exposure");
	return 0;
}

int
is_admin(const struct engine *en, const struct ask *a)
{
	return a->who.uid == 0 || a->who.uid == en->o.uid;
}

int
facts_owner(struct engine *en, const struct subject *s, int64_t *uid,
    struct err *e)
{
	struct subject session;
	struct id id;

	switch (s->machine) {
	case MACHINE_SESSION:
		*uid = fact_int(s, SESSION_FACT_owner_uid, -1);
		return 0;
	case MACHINE_EXPOSURE:
		*uid = fact_int(s, EXPOSURE_FACT_owner_uid, -1);
		return 0;
	case MACHINE_CHANGE:
		if (fact_id(s, CHANGE_FACT_session, &id))
			return err_set(e, ERR_FORMAT, "a change without a session");
		if (journal_subject(en->j, MACHINE_SESSION, &id, &session, e))
			return -1;
		*uid = fact_int(&session, SESSION_FACT_owner_uid, -1);
		return 0;
	default:
		*uid = en->o.uid;
		return 0;
	}
}

int
facts_mine(struct engine *en, struct ask *a, int machine, struct subject *s,
    struct err *e)
{
	char text[ID_TEXT_MAX];
	struct id id;
	int64_t uid;

	if (param_id(a, "id", machine, &id, e))
		return -1;
	if (journal_subject(en->j, machine, &id, s, e)) {
		if (e->code != ERR_NOTFOUND)
			return -1;
		return err_say(e, ERR_NOTFOUND, "there is no %s %s",
		    machine_name(machine),
		    id_str(machine_id_kind(machine), &id, text));
	}
	a->machine = machine;
	a->subject = id;
	if (facts_owner(en, s, &uid, e))
		return -1;
	if (uid == (int64_t)a->who.uid || a->who.uid == 0 ||
	    ((a->req->flags & REQ_REMOVAL) && is_admin(en, a)))
		return 0;
	return err_say(e, ERR_DENIED, "%s is another user's",
	    id_str(machine_id_kind(machine), &id, text));
}

/*
 * The boot clock of an earlier boot says nothing now; the lease list knows
 * which ends are from one.
 */
static int64_t
boot_end(const struct engine *en, const struct subject *x)
{
	int64_t real = fact_int(x, EXPOSURE_FACT_ends_us, 0);

	for (size_t i = 0; i < en->leases.n; i++) {
		const struct lease *l = &en->leases.v[i];

		if (l->machine == x->machine && id_eq(&l->id, &x->id) &&
		    l->real_us == real)
			return l->boot_us;
	}
	return fact_int(x, EXPOSURE_FACT_ends_boot_us, INT64_MAX);
}

int
lease_open(const struct engine *en, const struct subject *x, struct err *e)
{
	char text[ID_TEXT_MAX];
	int64_t real = fact_int(x, EXPOSURE_FACT_ends_us, 0);

	(void)id_str(ID_EXPOSURE, &x->id, text);
	if (x->state == EXPOSURE_SUSPECT)
		return err_say(e, ERR_ILLEGAL,
		    "%s no longer leads to the directory that was exposed", text);
	if (x->state == EXPOSURE_REVOKED ||
	    (x->state == EXPOSURE_CLOSING && real > en->now.real_us))
		return err_say(e, ERR_REVOKED, "%s was revoked", text);
	if (x->state != EXPOSURE_ACTIVE || real <= en->now.real_us ||
	    boot_end(en, x) <= en->now.boot_us)
		return err_say(e, ERR_EXPIRED, "%s is over", text);
	return 0;
}
