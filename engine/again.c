/* SPDX-License-Identifier: ISC */
/* again.c - what could not be carried out, and what recovery finds. */
#include <string.h>

#include "engine/internal.h"

/* ---- what could not be carried out -------------------------------------- */

static int
settle_failure(struct engine *en, const struct failure *f, struct err *e)
{
	struct news n = { .subject = f->id, .code = f->err.code,
	    .text = str_of(f->err.msg) };

	switch (f->kind) {
	case ORDER_BUILD:
		n.kind = NEWS_FAILED;
		break;
	case ORDER_APPLY:
	case ORDER_UNDO:
		n.kind = NEWS_WORKER_LOST;
		break;
	default:
		/* A lost supervisor is news of its own; CLEAN stays owed. */
		return 0;
	}
	return engine_news(en, &n, en->now, e) && e->code != ERR_STALE ? -1 : 0;
}

int
failures_settle(struct engine *en, struct err *e)
{
	size_t n = en->failures.n;
	int rc = 0;

	if (n == 0)
		return 0;
	for (size_t i = 0; i < n && rc == 0; i++) {
		struct failure f = en->failures.v[i];

		rc = settle_failure(en, &f, e);
	}
	memmove(en->failures.v, en->failures.v + n,
	    (en->failures.n - n) * sizeof(en->failures.v[0]));
	en->failures.n -= n;
	/* A full disk is not the end: recovery settles it at the next start. */
	return rc != 0 && e->code == ERR_JOURNAL ? 0 : rc;
}

/* ---- for recovery/ ------------------------------------------------------- */

int
engine_adopt(struct engine *en, const struct id *session, const uint8_t nonce[32],
    struct now now, struct err *e)
{
	AUTO(fields) struct fields f;
	struct move m = { .machine = MACHINE_SESSION, .subject = *session,
	    .event = SESSION_EV_adopt, .actor = ACTOR_RECOVERY, .fields = &f };

	en->now = now;
	fields_init(&f);
	fields_bytes(&f, FIELD_NONCE, bytes_of(nonce, 32));
	return turn_append(en, &m, NULL, e);
}

int
engine_again(struct engine *en, const struct subject *s, struct now now,
    struct err *e)
{
	AUTO(committed) struct committed *c = NULL;

	en->now = now;
	if (journal_owed(en->j, s, &c, e))
		return -1;
	orders_run(en, c);
	return 0;
}

int
engine_interrupt(struct engine *en, const struct id *change, struct now now,
    struct err *e)
{
	struct subject s;

	en->now = now;
	if (journal_subject(en->j, MACHINE_CHANGE, change, &s, e))
		return -1;
	return news_worker_lost(en, &s, ACTOR_RECOVERY, e);
}

int
engine_close(struct engine *en, const struct id *exposure, struct now now,
    struct err *e)
{
	en->now = now;
	return exposure_settle(en, exposure, e);
}

int
engine_identity(struct engine *en, const struct subject *s, struct identity *who,
    struct err *e)
{
	AUTO(buf) struct buf b;
	struct record r;
	uint64_t index;

	memset(who, 0, sizeof(*who));
	buf_init(&b, RECORD_MAX);
	if (fact_record(en, s, SESSION_EV_gate_open, &index, &b, e))
		return e->code == ERR_NOTFOUND ? 0 : -1;
	if (record_decode(buf_bytes(&b), &r, e))
		return -1;
	who->this_boot = memcmp(r.boot_id, en->o.boot_id, sizeof(r.boot_id)) == 0;
	(void)record_u64(&r, FIELD_INIT_PID, &who->init_pid);
	(void)record_u64(&r, FIELD_INIT_START, &who->init_start);
	(void)record_u64(&r, FIELD_SUPERVISOR_PID, &who->supervisor_pid);
	(void)record_u64(&r, FIELD_SUPERVISOR_START, &who->supervisor_start);
	return 0;
}
