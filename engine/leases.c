/* SPDX-License-Identifier: ISC */
/* leases.c - what is live, and when it is over: a copy in memory of what the
 * derived tables say, brought up to date after each commit. */
#include <string.h>

#include "engine/internal.h"

static struct lease *
find(struct engine *en, int machine, const struct id *id)
{
	for (size_t i = 0; i < en->leases.n; i++)
		if (en->leases.v[i].machine == machine &&
		    id_eq(&en->leases.v[i].id, id))
			return &en->leases.v[i];
	return NULL;
}

static void
drop(struct engine *en, struct lease *l)
{
	*l = en->leases.v[--en->leases.n];
}

/* Does it end by itself, and is anything of it alive? */
static int
lease_of(const struct subject *s, struct lease *l)
{
	*l = (struct lease){ s->machine, s->id, INT64_MAX, INT64_MAX, 1 };
	switch (s->machine) {
	case MACHINE_SESSION:
		if (machine_final(MACHINE_SESSION, s->state))
			return 0;
		if (s->state == SESSION_STOPPING)
			return 1;
		l->real_us = fact_int(s, SESSION_FACT_ends_us, INT64_MAX);
		l->boot_us = fact_int(s, SESSION_FACT_ends_boot_us, INT64_MAX);
		return 1;
	case MACHINE_EXPOSURE:
		if (s->state != EXPOSURE_ACTIVE && s->state != EXPOSURE_SUSPECT)
			return 0;
		l->live = 0;
		l->real_us = fact_int(s, EXPOSURE_FACT_ends_us, INT64_MAX);
		l->boot_us = fact_int(s, EXPOSURE_FACT_ends_boot_us, INT64_MAX);
		return 1;
	case MACHINE_CHANGE:
		return s->owed != EFFECT_NONE;
	default:
		return 0;
	}
}

static int
put(struct engine *en, const struct lease *l, struct err *e)
{
	struct lease *at = find(en, l->machine, &l->id);

	if (at == NULL && (at = list_add(&en->leases, e)) == NULL)
		return -1;
	*at = *l;
	return 0;
}

int
leases_follow(struct engine *en, int machine, const struct id *id, struct err *e)
{
	struct subject s;
	struct lease l, *at;

	if (machine != MACHINE_SESSION && machine != MACHINE_EXPOSURE &&
	    machine != MACHINE_CHANGE)
		return 0;
	/* A refused attempt to begin leaves a record and no subject. */
	if (journal_subject(en->j, machine, id, &s, e))
		return e->code == ERR_NOTFOUND ? 0 : -1;
	if (lease_of(&s, &l))
		return put(en, &l, e);
	if ((at = find(en, machine, id)) != NULL)
		drop(en, at);
	return 0;
}

/* The boot clock only counts in the boot that it was read in. */
struct boot_seek {
	const struct engine	*en;
	int			 this_boot;
};

static int
boot_seek(void *ctx, uint64_t index, struct bytes b, struct err *e)
{
	struct boot_seek *k = ctx;
	struct record r;
	uint64_t v;

	(void)index;
	if (record_decode(b, &r, e))
		return -1;
	if (record_u64(&r, FIELD_ENDS_BOOT_US, &v) == 0)
		k->this_boot = memcmp(r.boot_id, k->en->o.boot_id,
		    sizeof(r.boot_id)) == 0;
	return 0;
}

static int
load(struct engine *en, const struct subject *s, struct err *e)
{
	struct boot_seek k = { en, 0 };
	struct lease l;

	if (!lease_of(s, &l))
		return 0;
	if (l.boot_us != INT64_MAX) {
		if (journal_history(en->j, s->machine, &s->id, s->first, boot_seek,
		    &k, e))
			return -1;
		if (!k.this_boot)
			l.boot_us = INT64_MAX;
	}
	return put(en, &l, e);
}

int
leases_load(struct engine *en, struct err *e)
{
	static const struct { int machine, state; } live[] = {
		{ MACHINE_SESSION, SESSION_PREPARED },
		{ MACHINE_SESSION, SESSION_AWAITING },
		{ MACHINE_SESSION, SESSION_STARTING },
		{ MACHINE_SESSION, SESSION_RUNNING },
		{ MACHINE_SESSION, SESSION_STOPPING },
		{ MACHINE_EXPOSURE, EXPOSURE_ACTIVE },
		{ MACHINE_EXPOSURE, EXPOSURE_SUSPECT },
		{ MACHINE_CHANGE, CHANGE_APPLYING },
		{ MACHINE_CHANGE, CHANGE_UNDOING },
	};

	for (size_t i = 0; i < sizeof(live) / sizeof(live[0]); i++) {
		AUTO(subjects) struct subjects l = { NULL, 0, 0 };

		if (facts_in(en, live[i].machine, live[i].state, &l, e))
			return -1;
		for (size_t k = 0; k < l.n; k++)
			if (load(en, &l.v[k], e))
				return -1;
	}
	return 0;
}

static int
over(const struct lease *l, struct now now)
{
	return l->real_us <= now.real_us || l->boot_us <= now.boot_us;
}

int64_t
engine_due(const struct engine *en, struct now now)
{
	int64_t left = INT64_MAX;

	for (size_t i = 0; i < en->leases.n; i++) {
		const struct lease *l = &en->leases.v[i];

		if (over(l, now))
			return 0;
		if (l->real_us != INT64_MAX && l->real_us - now.real_us < left)
			left = l->real_us - now.real_us;
		if (l->boot_us != INT64_MAX && l->boot_us - now.boot_us < left)
			left = l->boot_us - now.boot_us;
	}
	return left;
}

size_t
engine_live(const struct engine *en)
{
	size_t n = 0;

	for (size_t i = 0; i < en->leases.n; i++)
		n += (size_t)en->leases.v[i].live;
	return n;
}

/* One that is over.  What changed since in this turn decides, not the list. */
static int
expire(struct engine *en, const struct lease *l, struct err *e)
{
	struct subject s;
	struct lease fresh;

	if (journal_subject(en->j, l->machine, &l->id, &s, e))
		return -1;
	if (!lease_of(&s, &fresh) || (fresh.real_us == l->real_us ?
	    !over(l, en->now) : !over(&fresh, en->now)))
		return 0;
	if (l->machine == MACHINE_SESSION)
		return session_end(en, &l->id, SESSION_EV_expire, UINT64_MAX, NULL, e);
	return exposure_end(en, &l->id, EXPOSURE_EV_expire, NULL, -1, e);
}

int
engine_tick(struct engine *en, struct now now, struct err *e)
{
	en->now = now;
	for (size_t i = 0; i < en->leases.n; i++) {
		/* A copy: the list may move under a later commit. */
		struct lease l = en->leases.v[i];

		if (!over(&l, now))
			continue;
		if (turn_try(en, e))
			return -1;
		if (expire(en, &l, e)) {
			turn_drop(en);
			return -1;
		}
		if (turn_keep(en, e))
			return -1;
	}
	return refusal_summary(en, e);
}
