/* SPDX-License-Identifier: ISC */
/* rules.c - what one move brings about for others; see lifecycle/link.def. */
#include "engine/internal.h"

/* The end that a session is on its way to, see cause.def. */
static int
cause_of(int event)
{
	switch (event) {
	case SESSION_EV_stop:
		return CAUSE_STOPPED;
	case SESSION_EV_expire:
		return CAUSE_EXPIRED;
	case SESSION_EV_revoke:
		return CAUSE_REVOKED;
	default:
		return CAUSE_LOST;
	}
}

static enum actor
actor_of(const struct ask *a, int is_clock)
{
	if (is_clock)
		return ACTOR_CLOCK;
	return a != NULL ? ACTOR_OWNER : ACTOR_SERVICE;
}

int
session_end(struct engine *en, const struct id *session, int event, uint64_t by,
    struct ask *a, struct err *e)
{
	AUTO(fields) struct fields f;
	struct move m = { .machine = MACHINE_SESSION, .subject = *session,
	    .event = event, .actor = actor_of(a, event == SESSION_EV_expire),
	    .ask = a, .fields = &f };

	fields_init(&f);
	fields_u64(&f, FIELD_END_CAUSE, (uint64_t)cause_of(event));
	if (by != UINT64_MAX)
		fields_u64(&f, FIELD_CAUSE, by);
	return turn_append(en, &m, NULL, e);
}

/* Every session on it that is not being ended yet. */
static int
end_sessions(struct engine *en, const struct id *exposure, int event, uint64_t by,
    struct ask *a, int64_t grace_us, struct err *e)
{
	AUTO(subjects) struct subjects l = { NULL, 0, 0 };

	if (facts_on(en, exposure, &l, e))
		return -1;
	for (size_t i = 0; i < l.n; i++) {
		if (l.v[i].state != SESSION_STOPPING &&
		    session_end(en, &l.v[i].id, event, by, a, e))
			return -1;
		if (grace_us >= 0 && turn_grace(en, &l.v[i].id, grace_us, e))
			return -1;
	}
	return 0;
}

int
exposure_end(struct engine *en, const struct id *exposure, int event,
    struct ask *a, int64_t grace_us, struct err *e)
{
	int expired = event == EXPOSURE_EV_expire;
	struct move m = { .machine = MACHINE_EXPOSURE, .subject = *exposure,
	    .event = event, .actor = actor_of(a, expired), .ask = a };
	uint64_t index;

	if (turn_append(en, &m, &index, e) ||
	    end_sessions(en, exposure,
	    expired ? SESSION_EV_expire : SESSION_EV_revoke, index, a, grace_us, e))
		return -1;
	return exposure_settle(en, exposure, e);
}

/* Which of the two ends a closing lease is on its way to. */
static int
closing_event(struct engine *en, const struct subject *x, int *event, struct err *e)
{
	AUTO(buf) struct buf b;
	uint64_t index;

	buf_init(&b, RECORD_MAX);
	*event = EXPOSURE_EV_closed_revoked;
	if (fact_record(en, x, EXPOSURE_EV_revoke, &index, &b, e) == 0)
		return 0;
	*event = EXPOSURE_EV_closed_expired;
	return e->code == ERR_NOTFOUND ? 0 : -1;
}

int
exposure_settle(struct engine *en, const struct id *exposure, struct err *e)
{
	AUTO(subjects) struct subjects l = { NULL, 0, 0 };
	struct move m = { .machine = MACHINE_EXPOSURE, .subject = *exposure,
	    .actor = ACTOR_SERVICE };
	struct subject x;

	if (journal_subject(en->j, MACHINE_EXPOSURE, exposure, &x, e))
		return -1;
	if (x.state != EXPOSURE_CLOSING)
		return 0;
	if (facts_on(en, exposure, &l, e) || facts_work_on(en, exposure, &l, e))
		return -1;
	if (l.n > 0)
		return 0;
	if (closing_event(en, &x, &m.event, e))
		return -1;
	return turn_append(en, &m, NULL, e);
}

int
settled(struct engine *en, int machine, const struct id *id)
{
	struct subject s;
	struct err e;

	if (journal_subject(en->j, machine, id, &s, &e))
		return 1;
	switch (machine) {
	case MACHINE_CHANGE:
		return s.owed == EFFECT_NONE;
	default:
		return machine_final(machine, s.state);
	}
}

int
is_started(struct engine *en, const struct id *session)
{
	struct subject s;
	struct err e;

	return journal_subject(en->j, MACHINE_SESSION, session, &s, &e) != 0 ||
	    (s.state != SESSION_PREPARED && s.state != SESSION_STARTING);
}
