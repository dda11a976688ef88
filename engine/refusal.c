/* SPDX-License-Identifier: ISC */
/* refusal.c - refused attempts are records too, within a budget a principal;
 * what is over it is counted, and the count recorded once a minute. */
#include "engine/internal.h"

enum { MINUTE_US = 60 * 1000000 };

static struct bucket *
bucket_of(struct engine *en, uid_t uid)
{
	struct bucket *oldest = &en->buckets[0];

	for (size_t i = 0; i < BUCKETS_MAX; i++) {
		struct bucket *b = &en->buckets[i];

		if (b->used && b->uid == uid)
			return b;
		if (!b->used || (oldest->used && b->at_us < oldest->at_us))
			oldest = b;
	}
	/* Whoever was counted there keeps their count: it is not recorded yet. */
	*oldest = (struct bucket){ .uid = uid, .used = 1,
	    .milli = (int64_t)REFUSALS_BURST * 1000, .at_us = en->now.boot_us,
	    .suppressed = oldest->suppressed };
	return oldest;
}

static int
take(struct engine *en, uid_t uid)
{
	struct bucket *b = bucket_of(en, uid);
	int64_t most = (int64_t)REFUSALS_BURST * 1000, gap;

	gap = en->now.boot_us - b->at_us;
	if (gap > MINUTE_US)
		gap = MINUTE_US;
	if (gap > 0) {
		b->milli += gap * REFUSALS_PER_MIN * 1000 / MINUTE_US;
		b->milli = b->milli < most ? b->milli : most;
		b->at_us = en->now.boot_us;
	}
	if (b->milli < 1000) {
		b->suppressed++;
		return -1;
	}
	b->milli -= 1000;
	return 0;
}

/* Errors that say no; the others are accidents. */
static int
is_refusal(int code)
{
	switch (code) {
	case ERR_ILLEGAL: case ERR_STALE: case ERR_LIMIT: case ERR_DENIED:
	case ERR_EXPIRED: case ERR_REVOKED: case ERR_CONFLICT:
		return 1;
	default:
		return 0;
	}
}

/* A refusal that cannot be recorded stays a refusal: nobody hears of that. */
void
refusal_record(struct engine *en, struct ask *a)
{
	AUTO(fields) struct fields f;
	struct draft d = { .machine = a->machine, .subject = a->subject,
	    .event = a->event, .actor = ACTOR_OWNER, .fields = &f, .refused = 1,
	    .request = a->has_request ? a->request : NULL, .expect_from = -1 };
	struct str path = STR("");
	struct err e;
	uint64_t index;

	if (a->machine < 0 || a->event == 0 || !is_refusal(a->err.code) ||
	    !journal_room(en->j) || take(en, a->who.uid))
		return;
	fields_init(&f);
	fields_u64(&f, FIELD_ACTOR_UID, a->who.uid);
	fields_u64(&f, FIELD_ACTOR_PID, (uint64_t)a->who.pid);
	fields_text(&f, FIELD_CODE, str_of(err_name(a->err.code)));
	if (json_opt_str(a->params, "path", &path, &e) == 0 && path.n > 0 &&
	    path.n <= PATH_BYTES_MAX)
		fields_text(&f, FIELD_HOST_PATH, path);
	if (turn_try(en, &e))
		return;
	if (fields_ok(&f, &e) || journal_append(en->txn, &d, &index, &e) ||
	    turn_keep(en, &e)) {
		turn_drop(en);
		return;
	}
	a->index = index;
	a->recorded = 1;
	if (a->data == NULL)
		a->data = json_make_object();
	json_set_int(a->data, "record", (int64_t)index);
}

static int
summarize(struct engine *en, struct bucket *b, struct err *e)
{
	AUTO(fields) struct fields f;
	struct draft d = { .machine = MACHINE_LOG, .event = LOG_EV_refused_summary,
	    .actor = ACTOR_SERVICE, .fields = &f, .expect_from = -1 };

	fields_init(&f);
	fields_u64(&f, FIELD_ACTOR_UID, b->uid);
	fields_u64(&f, FIELD_COUNT, b->suppressed);
	if (turn_try(en, e))
		return -1;
	if (fields_ok(&f, e) || journal_append(en->txn, &d, NULL, e)) {
		turn_drop(en);
		return -1;
	}
	b->suppressed = 0;
	return turn_keep(en, e);
}

int
refusal_summary(struct engine *en, struct err *e)
{
	if (en->now.boot_us - en->summary_us < MINUTE_US)
		return 0;
	for (size_t i = 0; i < BUCKETS_MAX; i++) {
		if (en->buckets[i].suppressed == 0)
			continue;
		en->summary_us = en->now.boot_us;
		if (summarize(en, &en->buckets[i], e))
			return -1;
	}
	return 0;
}
