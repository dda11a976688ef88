/* SPDX-License-Identifier: ISC */
/* news.c - what runtimes say, and what recovery finds; each becomes a record
 * or changes nothing. */
#include <string.h>

#include "base/sha256.h"

#include "engine/internal.h"

static int
stale(const struct subject *s, const char *what, struct err *e)
{
	char text[ID_TEXT_MAX];

	return err_say(e, ERR_STALE, "%s of %s, which is %s", what,
	    id_str(machine_id_kind(s->machine), &s->id, text),
	    machine_state_name(s->machine, s->state));
}

/* D("glove/binding/1", each line). */
static void
binding_digest(struct str lines, uint8_t out[SHA256_BYTES])
{
	struct digest d;
	const char *nl;

	digest_init(&d, "glove/binding/1");
	while (lines.n > 0) {
		nl = memchr(lines.p, '\n', lines.n);
		size_t n = nl == NULL ? lines.n : (size_t)(nl - lines.p);

		digest_str(&d, (struct str){ lines.p, n });
		n += nl != NULL;
		lines.p += n;
		lines.n -= n;
	}
	digest_final(&d, out);
}

/* It lost a race before its gate: it never ran and never will. */
static int
refuse(struct engine *en, const struct id *session, const struct err *why,
    struct err *e)
{
	AUTO(fields) struct fields f;
	struct move m = { .machine = MACHINE_SESSION, .subject = *session,
	    .event = SESSION_EV_refuse, .actor = ACTOR_SERVICE, .fields = &f };

	fields_init(&f);
	fields_text(&f, FIELD_CODE, str_of(err_name(why->code)));
	fields_u64(&f, FIELD_END_CAUSE, why->code == ERR_EXPIRED ? CAUSE_EXPIRED :
	    CAUSE_REVOKED);
	return turn_append(en, &m, NULL, e);
}

static int
news_ready(struct engine *en, const struct news *n, const struct subject *s,
    struct err *e)
{
	AUTO(fields) struct fields f;
	struct move m = { .machine = MACHINE_SESSION, .subject = s->id,
	    .event = SESSION_EV_gate_open, .actor = ACTOR_RUNTIME, .fields = &f };
	uint8_t binding[SHA256_BYTES];
	struct subject x;
	struct id exposure;
	struct err why;

	/* It is on its way out already: whoever ended it has told it so. */
	if (s->state == SESSION_STOPPING)
		return 0;
	if (s->state != SESSION_STARTING)
		return stale(s, "news of the gate", e);
	if (fact_id(s, SESSION_FACT_exposure, &exposure))
		return err_set(e, ERR_FORMAT, "a session without an exposure");
	if (journal_subject(en->j, MACHINE_EXPOSURE, &exposure, &x, e))
		return -1;
	if (lease_open(en, &x, &why))
		return refuse(en, &s->id, &why, e);
	binding_digest(n->binding, binding);
	fields_init(&f);
	fields_bytes(&f, FIELD_NONCE, BYTES(n->nonce));
	fields_bytes(&f, FIELD_BINDING_DIGEST, BYTES(binding));
	fields_text(&f, FIELD_BINDING, n->binding);
	fields_text(&f, FIELD_ENFORCED, n->enforced);
	fields_u64(&f, FIELD_INIT_PID, n->init_pid);
	fields_u64(&f, FIELD_INIT_START, n->init_start);
	fields_u64(&f, FIELD_PIDNS_INODE, n->pidns);
	fields_u64(&f, FIELD_SUPERVISOR_PID, n->supervisor_pid);
	fields_u64(&f, FIELD_SUPERVISOR_START, n->supervisor_start);
	return turn_append(en, &m, NULL, e);
}

/* The staged work of a session that has just ended; ${ended} names it back. */
static int
stage(struct engine *en, const struct news *n, const struct subject *s,
    const struct id *change, uint64_t ended, struct err *e)
{
	AUTO(fields) struct fields f;
	struct move m = { .machine = MACHINE_CHANGE, .subject = *change,
	    .event = CHANGE_EV_stage, .actor = ACTOR_RUNTIME, .fields = &f };
	uint8_t blob[SHA256_BYTES];
	struct id exposure;

	if (fact_id(s, SESSION_FACT_exposure, &exposure))
		return err_set(e, ERR_FORMAT, "a session without an exposure");
	if (journal_blob_put(en->txn, n->manifest, blob, e))
		return -1;
	fields_init(&f);
	fields_bytes(&f, FIELD_SESSION_ID, BYTES(s->id.b));
	fields_bytes(&f, FIELD_EXPOSURE_ID, BYTES(exposure.b));
	fields_bytes(&f, FIELD_MANIFEST_DIGEST, BYTES(n->digest));
	fields_bytes(&f, FIELD_MANIFEST_BLOB, BYTES(blob));
	fields_u64(&f, FIELD_FILES, n->files);
	fields_u64(&f, FIELD_LINES_ADDED, n->added);
	fields_u64(&f, FIELD_LINES_REMOVED, n->removed);
	fields_u64(&f, FIELD_LINK, ended);
	return turn_append(en, &m, NULL, e);
}

static int
ended(struct engine *en, const struct news *n, const struct subject *s, int cause,
    struct err *e)
{
	AUTO(fields) struct fields f;
	struct move m = { .machine = MACHINE_SESSION, .subject = s->id,
	    .event = SESSION_EV_ended, .fields = &f, .actor =
	    n->kind == NEWS_LOST ? ACTOR_SERVICE : ACTOR_RUNTIME };
	int changed = n->kind == NEWS_ENDED && n->has_change;
	struct id change, exposure;
	uint64_t index;

	id_random(&change);
	fields_init(&f);
	fields_u64(&f, FIELD_END_CAUSE, (uint64_t)cause);
	if (n->kind == NEWS_ENDED) {
		fields_u64(&f, FIELD_EXIT_STATUS, n->status);
		fields_u64(&f, FIELD_LAST_WRITE_US, n->last_write_us);
		fields_u64(&f, FIELD_DURATION_US, n->duration_us);
		fields_u64(&f, FIELD_SIGNALS, n->signals);
	}
	if (n->kind == NEWS_FAILED) {
		fields_text(&f, FIELD_CODE, str_of(err_name(n->code)));
		fields_text(&f, FIELD_REASON, n->text);
	}
	if (changed) {
		fields_bytes(&f, FIELD_CHANGE_ID, BYTES(change.b));
		/* The record after this one belongs to it, and says so. */
		if (turn_open(en, e))
			return -1;
		fields_u64(&f, FIELD_LINK, journal_next(en->txn) + 1);
	}
	if (turn_append(en, &m, &index, e) ||
	    (changed && stage(en, n, s, &change, index, e)))
		return -1;
	if (fact_id(s, SESSION_FACT_exposure, &exposure))
		return 0;
	return exposure_settle(en, &exposure, e);
}

static int
news_ended(struct engine *en, const struct news *n, const struct subject *s,
    struct err *e)
{
	int cause = n->cause;

	/* Said twice: the answer to the first time was lost.  Nothing is new. */
	if (machine_final(MACHINE_SESSION, s->state))
		return stale(s, "news of the end", e);
	if (cause <= CAUSE_NONE || cause >= CAUSE_END)
		cause = CAUSE_LOST;
	if (n->kind == NEWS_FAILED)
		cause = CAUSE_FAILED;
	if (n->kind == NEWS_LOST)
		cause = CAUSE_LOST;
	/* It was being ended before it could be built: that is why it is over. */
	if (n->kind == NEWS_FAILED && s->state == SESSION_STOPPING)
		cause = (int)fact_int(s, SESSION_FACT_cause, CAUSE_STOPPED);
	return ended(en, n, s, cause, e);
}

/* Work on a lease that is being taken back names what stopped it. */
static int
put_cause(struct engine *en, const struct subject *change, struct fields *f,
    struct err *e)
{
	AUTO(buf) struct buf b;
	struct subject x;
	struct id exposure;
	uint64_t index;

	buf_init(&b, RECORD_MAX);
	if (fact_id(change, CHANGE_FACT_exposure, &exposure) ||
	    journal_subject(en->j, MACHINE_EXPOSURE, &exposure, &x, e) ||
	    x.state != EXPOSURE_CLOSING)
		return 0;
	if (fact_record(en, &x, EXPOSURE_EV_revoke, &index, &b, e))
		return e->code == ERR_NOTFOUND ? 0 : -1;
	fields_u64(f, FIELD_CAUSE, index);
	return 0;
}

static int
change_move(struct engine *en, const struct subject *s, int event,
    enum actor actor, const struct news *n, struct err *e)
{
	AUTO(fields) struct fields f;
	struct move m = { .machine = MACHINE_CHANGE, .subject = s->id,
	    .event = event, .actor = actor, .fields = &f };
	struct id exposure;

	fields_init(&f);
	if (n != NULL && n->kind == NEWS_RESULT)
		fields_u64(&f, FIELD_COUNT, n->files);
	if (event == CHANGE_EV_interrupted && put_cause(en, s, &f, e))
		return -1;
	if (turn_append(en, &m, NULL, e))
		return -1;
	if (fact_id(s, CHANGE_FACT_exposure, &exposure))
		return 0;
	return exposure_settle(en, &exposure, e);
}

/* Nothing was touched: it is what it was before the undo, if that was whole. */
static int
undo_conflict(struct engine *en, const struct subject *s)
{
	AUTO(buf) struct buf b;
	struct record r;
	uint64_t index;
	struct err e;

	buf_init(&b, RECORD_MAX);
	return fact_record(en, s, CHANGE_EV_undo, &index, &b, &e) == 0 &&
	    record_decode(buf_bytes(&b), &r, &e) == 0 &&
	    r.from == CHANGE_APPLIED ? CHANGE_EV_conflict : CHANGE_EV_interrupted;
}

/* What a worker's result means for the state that ordered it. */
static int
result_event(struct engine *en, const struct subject *s, int result)
{
	switch (s->state) {
	case CHANGE_APPLYING:
		return result == WORK_WHOLE ? CHANGE_EV_applied :
		    result == WORK_CONFLICT ? CHANGE_EV_conflict :
		    CHANGE_EV_interrupted;
	case CHANGE_UNDOING:
		return result == WORK_WHOLE ? CHANGE_EV_undone :
		    result == WORK_CONFLICT ? undo_conflict(en, s) :
		    CHANGE_EV_interrupted;
	case CHANGE_DISCARDED:
		return result == WORK_WHOLE && s->owed == EFFECT_CLEAN ?
		    CHANGE_EV_cleaned : 0;
	default:
		return 0;
	}
}

static int
news_result(struct engine *en, const struct news *n, const struct subject *s,
    struct err *e)
{
	int event = result_event(en, s, n->code);
	struct outcome *o = outcome_of(en, &s->id, 1);
	size_t len = n->text.n < sizeof(o->text) ? n->text.n : sizeof(o->text) - 1;

	if (event == 0)
		return stale(s, "the result of a worker", e);
	o->result = n->code;
	o->done = n->files;
	if (len != 0)
		memcpy(o->text, n->text.p, len);
	o->text[len] = '\0';
	return change_move(en, s, event, ACTOR_SERVICE, n, e);
}

/* A worker that died tells nothing: what it did is for a person to look at. */
int
news_worker_lost(struct engine *en, const struct subject *s, enum actor actor,
    struct err *e)
{
	if (s->state == CHANGE_APPLYING || s->state == CHANGE_UNDOING)
		return change_move(en, s, CHANGE_EV_interrupted, actor, NULL, e);
	if (s->owed == EFFECT_CLEAN) {
		struct err err;

		(void)err_say(&err, ERR_PENDING,
		    "it is dropped; its files are removed at the next start");
		failure_note(en, MACHINE_CHANGE, &s->id, ORDER_CLEAN, &err);
		return 0;
	}
	return stale(s, "the end of a worker", e);
}

static int
take_news(struct engine *en, const struct news *n, struct err *e)
{
	int machine = n->kind == NEWS_RESULT || n->kind == NEWS_WORKER_LOST ?
	    MACHINE_CHANGE : MACHINE_SESSION;
	struct subject s;

	if (journal_subject(en->j, machine, &n->subject, &s, e))
		return -1;
	switch (n->kind) {
	case NEWS_READY:
		return news_ready(en, n, &s, e);
	case NEWS_ENDED:
	case NEWS_FAILED:
	case NEWS_LOST:
		return news_ended(en, n, &s, e);
	case NEWS_RESULT:
		return news_result(en, n, &s, e);
	case NEWS_WORKER_LOST:
		return news_worker_lost(en, &s, ACTOR_SERVICE, e);
	}
	return err_set(e, ERR_BUG, "news of kind %d", (int)n->kind);
}

int
engine_news(struct engine *en, const struct news *n, struct now now, struct err *e)
{
	en->now = now;
	if (turn_try(en, e))
		return -1;
	if (take_news(en, n, e)) {
		turn_drop(en);
		return -1;
	}
	return turn_keep(en, e);
}
