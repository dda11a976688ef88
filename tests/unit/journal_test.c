/* SPDX-License-Identifier: ISC */
/* The journal on a real directory: append, commit, read, prove, refuse. */
#include <sys/resource.h>

#include <setjmp.h>
#include <signal.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
#include <cmocka.h>

#include "base/text.h"
#include "journal/receipt.h"
#include "tests/lib/home.h"

static int
setup(void **state)
{
	static struct home h;

	home_make(&h);
	*state = &h;
	return 0;
}

static int
teardown(void **state)
{
	home_free(*state);
	return 0;
}

static uint64_t
write_one(struct home *h, struct id *id)
{
	struct err e;
	uint64_t index;

	id_random(id);
	must(home_write(h, id, &index, &e));
	return index;
}

static int
state_of(struct home *h, int machine, const struct id *id)
{
	struct subject s;
	struct err e;

	if (journal_subject(h->j, machine, id, &s, &e) == 0)
		return s.state;
	assert_int_equal(e.code, ERR_NOTFOUND);
	return 0;
}

static void
it_starts_new_and_is_clean_again(void **state)
{
	struct home *h = *state;
	struct err e;

	assert_int_equal(h->verdict, VERDICT_NEW);
	assert_int_equal(journal_size(h->j), 6);
	assert_int_equal(journal_commits(h->j), 1);
	must(home_open(h, &e));
	assert_int_equal(h->verdict, VERDICT_CLEAN);
	assert_int_equal(journal_size(h->j), 6);
}

static void
a_start_that_only_reads_writes_no_record(void **state)
{
	struct home *h = *state;
	struct journal_txn *t;
	struct err e;

	must(journal_begin(h->j, &t, &e));
	assert_int_equal(journal_appended(t), 0);
	journal_rollback(t);
	must(journal_begin(h->j, &t, &e));
	must(home_commit(t, &e));
	must(journal_stop(h->j, &e));
	assert_int_equal(journal_size(h->j), 6);
}

static void
what_was_committed_is_there_after_a_reopen(void **state)
{
	struct home *h = *state;
	struct subject s;
	struct err e;
	struct id id;
	uint64_t index = write_one(h, &id);

	for (int i = 0; i < 2; i++) {
		must(journal_subject(h->j, MACHINE_EXPOSURE, &id, &s, &e));
		assert_int_equal(s.state, EXPOSURE_ACTIVE);
		assert_int_equal(s.last, index);
		assert_int_equal(s.fact[EXPOSURE_FACT_owner_uid].i, 1000);
		assert_int_equal(s.fact[EXPOSURE_FACT_scope].n, 32);
		assert_false(s.fact[EXPOSURE_FACT_ends_us].present);
		must(journal_stop(h->j, &e));
		must(home_open(h, &e));
		assert_int_equal(h->verdict, VERDICT_CLEAN);
		assert_false(journal_unclean(h->j));
	}
}

static void
an_end_without_a_stop_is_unclean_and_rolls_the_epoch_key(void **state)
{
	struct home *h = *state;
	struct journal_commit before, after;
	struct journal_txn *t;
	struct err e;
	struct id id;

	write_one(h, &id);
	must(home_open(h, &e));
	assert_true(journal_unclean(h->j));
	assert_true(journal_epoch_due(h->j));
	must(journal_begin(h->j, &t, &e));
	must(journal_epoch_roll(t, &e));
	must(home_commit(t, &e));
	assert_false(journal_epoch_due(h->j));
	must(journal_commit_row(h->j, journal_commits(h->j) - 1, &before, &e));
	assert_int_equal(before.epoch, 0);
	write_one(h, &id);
	must(journal_commit_row(h->j, journal_commits(h->j) - 1, &after, &e));
	assert_int_equal(after.epoch, 1);
	assert_memory_not_equal(before.pub, after.pub, PUB_BYTES);

	/* The new key is the one that a start takes. */
	must(journal_stop(h->j, &e));
	must(home_open(h, &e));
	write_one(h, &id);
	must(journal_commit_row(h->j, journal_commits(h->j) - 1, &before, &e));
	assert_int_equal(before.epoch, 1);
	assert_memory_equal(before.pub, after.pub, PUB_BYTES);
	must(journal_check_derived(h->j, &e));
}

static void
a_proof_is_made_of_each_record_in_order(void **state)
{
	struct home *h = *state;
	struct journal_txn *t;
	struct committed **p;
	struct id id[3];
	struct err e;
	uint64_t index[3];
	size_t n;

	must(journal_begin(h->j, &t, &e));
	for (int i = 0; i < 3; i++) {
		id_random(&id[i]);
		assert_int_equal(journal_appended(t), i);
		must(home_expose(t, &id[i], &index[i], &e));
	}
	must(journal_commit(&t, &p, &n, &e));
	assert_null(t);
	assert_int_equal(n, 3);
	for (int i = 0; i < 3; i++) {
		assert_true(committed_is(p[i], MACHINE_EXPOSURE,
		    EXPOSURE_EV_expose));
		assert_int_equal(committed_index(p[i]), index[i]);
		assert_true(id_eq(committed_subject(p[i]), &id[i]));
		committed_free(p[i]);
	}
	free(p);
}

static void
a_dropped_transaction_never_happened(void **state)
{
	struct home *h = *state;
	struct journal_txn *t;
	struct err e;
	struct id id;
	uint64_t size = journal_size(h->j);

	id_random(&id);
	must(journal_begin(h->j, &t, &e));
	must(home_expose(t, &id, NULL, &e));
	assert_int_equal(state_of(h, MACHINE_EXPOSURE, &id), EXPOSURE_ACTIVE);
	journal_rollback(t);
	assert_int_equal(state_of(h, MACHINE_EXPOSURE, &id), 0);
	assert_int_equal(journal_size(h->j), size);
	write_one(h, &id);
}

static void
an_undone_move_spoils_no_other(void **state)
{
	struct home *h = *state;
	struct journal_txn *t;
	struct id kept, gone;
	struct err e;
	uint64_t next;

	id_random(&kept);
	id_random(&gone);
	must(journal_begin(h->j, &t, &e));
	must(journal_save(t, &e));
	must(home_expose(t, &kept, NULL, &e));
	must(journal_keep(t, &e));
	next = journal_next(t);
	must(journal_save(t, &e));
	must(home_expose(t, &gone, NULL, &e));
	assert_int_equal(-1, home_move(t, MACHINE_EXPOSURE, &gone,
	    EXPOSURE_EV_closed_revoked, &e));
	assert_int_equal(e.code, ERR_ILLEGAL);
	must(journal_undo(t, &e));
	assert_int_equal(journal_next(t), next);
	must(home_commit(t, &e));
	assert_int_equal(state_of(h, MACHINE_EXPOSURE, &kept), EXPOSURE_ACTIVE);
	assert_int_equal(state_of(h, MACHINE_EXPOSURE, &gone), 0);
	must(journal_check_derived(h->j, &e));
	must(home_open(h, &e));
	assert_int_equal(h->verdict, VERDICT_CLEAN);
}

static void
a_state_that_moved_on_is_stale(void **state)
{
	struct home *h = *state;
	struct draft d = { .machine = MACHINE_EXPOSURE,
	    .event = EXPOSURE_EV_revoke, .actor = ACTOR_OWNER,
	    .expect_from = EXPOSURE_SUSPECT };
	struct journal_txn *t;
	struct err e;

	write_one(h, &d.subject);
	must(journal_begin(h->j, &t, &e));
	assert_int_equal(-1, journal_append(t, &d, NULL, &e));
	assert_int_equal(e.code, ERR_STALE);
	d.expect_from = EXPOSURE_ACTIVE;
	must(journal_append(t, &d, NULL, &e));
	must(home_commit(t, &e));
}

static void
a_refused_attempt_is_a_record_and_needs_a_code(void **state)
{
	AUTO(fields) struct fields f;
	struct home *h = *state;
	struct draft d = { .machine = MACHINE_EXPOSURE, .refused = 1,
	    .event = EXPOSURE_EV_closed_revoked, .actor = ACTOR_OWNER,
	    .fields = &f, .expect_from = -1 };
	struct journal_txn *t;
	struct subject s;
	struct err e;

	fields_init(&f);
	write_one(h, &d.subject);
	must(journal_begin(h->j, &t, &e));
	assert_int_equal(-1, journal_append(t, &d, NULL, &e));
	fields_text(&f, FIELD_CODE, str_of(err_wire(ERR_ILLEGAL)));
	must(journal_append(t, &d, NULL, &e));
	must(home_commit(t, &e));
	must(journal_subject(h->j, MACHINE_EXPOSURE, &d.subject, &s, &e));
	assert_int_equal(s.state, EXPOSURE_ACTIVE);
	assert_int_equal(s.seq, 1);
}

static void
a_refused_attempt_does_not_bring_its_subject_about(void **state)
{
	AUTO(fields) struct fields f;
	struct home *h = *state;
	struct draft d = { .machine = MACHINE_EXPOSURE, .refused = 1,
	    .event = EXPOSURE_EV_expose, .actor = ACTOR_OWNER, .fields = &f,
	    .expect_from = -1 };
	struct journal_txn *t;
	struct subject s;
	struct err e;

	fields_init(&f);
	fields_text(&f, FIELD_CODE, STR("access.denied"));
	id_random(&d.subject);
	must(journal_begin(h->j, &t, &e));
	must(journal_append(t, &d, NULL, &e));
	must(home_commit(t, &e));
	assert_int_equal(state_of(h, MACHINE_EXPOSURE, &d.subject), 0);
	must(home_write(h, &d.subject, NULL, &e));
	must(journal_subject(h->j, MACHINE_EXPOSURE, &d.subject, &s, &e));
	assert_int_equal(s.seq, 1);
	must(journal_check_derived(h->j, &e));
}

static void
a_request_is_answered_with_its_first_record(void **state)
{
	struct home *h = *state;
	uint8_t request[16] = { 1 }, body[32] = { 2 }, other[32] = { 3 };
	struct journal_txn *t;
	struct err e;
	struct id id;
	uint64_t index, seen;

	id_random(&id);
	assert_int_equal(-1, journal_request_seen(h->j, request, body, &seen, &e));
	assert_int_equal(e.code, ERR_NOTFOUND);
	must(journal_begin(h->j, &t, &e));
	must(home_expose(t, &id, &index, &e));
	must(journal_request_note(t, request, body, index, &e));
	must(home_commit(t, &e));
	must(home_open(h, &e));
	must(journal_request_seen(h->j, request, body, &seen, &e));
	assert_int_equal(seen, index);
	assert_int_equal(-1, journal_request_seen(h->j, request, other, &seen, &e));
	assert_int_equal(e.code, ERR_ILLEGAL);
}

static void
a_sealed_value_is_beside_the_record_not_in_it(void **state)
{
	AUTO(buf) struct buf bytes, value;
	struct home *h = *state;
	struct record r;
	struct err e;
	struct id id;
	uint64_t index = write_one(h, &id);
	uint8_t salt[32], digest[32];

	buf_init(&bytes, RECORD_MAX);
	buf_init(&value, RECORD_MAX);
	must(journal_record(h->j, index, &bytes, &e));
	assert_null(memmem(bytes.p, bytes.n, "/home", 5));
	must(record_decode(buf_bytes(&bytes), &r, &e));
	must(journal_sealed(h->j, index, FIELD_HOST_PATH, salt, &value, &e));
	assert_true(bytes_eq(buf_bytes(&value), bytes_of("/home/u/app", 11)));
	sealed_digest(FIELD_HOST_PATH, salt, buf_bytes(&value), digest);
	assert_true(bytes_eq(record_field(&r, FIELD_HOST_PATH), BYTES(digest)));
	assert_int_equal(-1, journal_sealed(h->j, index, FIELD_REASON, NULL,
	    &value, &e));
	assert_int_equal(e.code, ERR_NOTFOUND);
}

static void
a_blob_comes_back_as_it_was(void **state)
{
	AUTO(buf) struct buf b, back;
	struct home *h = *state;
	struct journal_txn *t;
	struct err e;
	struct id id;
	uint8_t digest[32], again[32], wrong[32] = { 0 };

	buf_init(&b, 1 << 20);
	buf_init(&back, 1 << 20);
	for (int i = 0; i < 20000; i++)
		buf_putf(&b, "line %d\n", i);
	id_random(&id);
	must(journal_begin(h->j, &t, &e));
	must(home_expose(t, &id, NULL, &e));
	must(journal_blob_put(t, buf_bytes(&b), digest, &e));
	must(journal_blob_put(t, buf_bytes(&b), again, &e));
	assert_memory_equal(digest, again, 32);
	must(home_commit(t, &e));
	must(journal_blob_get(h->j, digest, &back, &e));
	assert_true(bytes_eq(buf_bytes(&b), buf_bytes(&back)));
	assert_int_equal(-1, journal_blob_get(h->j, wrong, &back, &e));
	assert_int_equal(e.code, ERR_NOTFOUND);
}

/* ---- lists -------------------------------------------------------------- */

struct seen {
	struct id	id[16];
	size_t		n, stop;
};

static int
note(void *ctx, const struct subject *s, struct err *e)
{
	struct seen *seen = ctx;

	(void)e;
	seen->id[seen->n++] = s->id;
	return seen->n == seen->stop;
}

static void
subjects_are_listed_by_state_and_age(void **state)
{
	struct home *h = *state;
	struct seen seen = { .n = 0 };
	struct journal_txn *t;
	struct id id[4];
	struct err e;

	for (int i = 0; i < 4; i++)
		write_one(h, &id[i]);
	must(journal_begin(h->j, &t, &e));
	must(home_move(t, MACHINE_EXPOSURE, &id[1], EXPOSURE_EV_revoke, &e));
	must(home_commit(t, &e));

	must(journal_each(h->j, MACHINE_EXPOSURE, EXPOSURE_ACTIVE, 0, note,
	    &seen, &e));
	assert_int_equal(seen.n, 3);
	assert_true(id_eq(&seen.id[0], &id[0]));
	assert_true(id_eq(&seen.id[2], &id[3]));
	seen = (struct seen){ .stop = 2 };
	must(journal_each(h->j, MACHINE_EXPOSURE, 0, 1, note, &seen, &e));
	assert_int_equal(seen.n, 2);
	assert_true(id_eq(&seen.id[0], &id[3]));
	assert_true(id_eq(&seen.id[1], &id[2]));
}

static void
what_is_owed_is_listed_with_a_proof_of_what_made_it_so(void **state)
{
	AUTO(committed) struct committed *c = NULL;
	AUTO(fields) struct fields f;
	struct home *h = *state;
	struct draft refused = { .machine = MACHINE_EXPOSURE, .refused = 1,
	    .event = EXPOSURE_EV_renew, .actor = ACTOR_OWNER, .fields = &f,
	    .expect_from = -1 };
	struct seen seen = { .n = 0 };
	struct journal_txn *t;
	struct subject s;
	struct id id, other;
	struct err e;

	fields_init(&f);
	fields_text(&f, FIELD_CODE, STR("state.forbids"));
	write_one(h, &id);
	write_one(h, &other);
	must(journal_begin(h->j, &t, &e));
	must(home_move(t, MACHINE_EXPOSURE, &id, EXPOSURE_EV_revoke, &e));
	refused.subject = id;
	must(journal_append(t, &refused, NULL, &e));
	must(home_commit(t, &e));
	must(journal_each_owed(h->j, MACHINE_EXPOSURE, note, &seen, &e));
	assert_int_equal(seen.n, 1);
	assert_true(id_eq(&seen.id[0], &id));
	must(journal_subject(h->j, MACHINE_EXPOSURE, &id, &s, &e));
	assert_int_equal(s.owed, EFFECT_CLOSE);
	must(journal_owed(h->j, &s, &c, &e));
	assert_true(committed_is(c, MACHINE_EXPOSURE, EXPOSURE_EV_revoke));

	/* What is not yet durable has no proof. */
	must(journal_begin(h->j, &t, &e));
	must(home_move(t, MACHINE_EXPOSURE, &other, EXPOSURE_EV_revoke, &e));
	must(journal_subject(h->j, MACHINE_EXPOSURE, &other, &s, &e));
	assert_int_equal(-1, journal_owed(h->j, &s, &c, &e));
	journal_rollback(t);
}

static void
an_id_is_found_by_how_it_begins(void **state)
{
	struct home *h = *state;
	struct id_prefix p = { .kind = ID_EXPOSURE };
	struct subject s[4];
	char text[ID_TEXT_MAX];
	struct id id = { { 0xab, 0xcd, 0xef, 1 } }, near = id;
	struct err e;
	size_t n;

	near.b[9] = 1;		/* the last character only */
	must(home_write(h, &id, NULL, &e));
	must(home_write(h, &near, NULL, &e));
	id_str(ID_EXPOSURE, &near, text);
	for (uint8_t len = 1; len <= ID_CHARS; len++) {
		p.nchars = len;
		memcpy(p.chars, text + 4, len);
		must(journal_find(h->j, &p, s, 4, &n, &e));
		assert_int_equal(n, len == ID_CHARS ? 1 : 2);
	}
	assert_true(id_eq(&s[0].id, &near));
	p.kind = ID_SESSION;
	must(journal_find(h->j, &p, s, 4, &n, &e));
	assert_int_equal(n, 0);
	p.kind = ID_NONE;
	p.nchars = 2;
	must(journal_find(h->j, &p, s, 1, &n, &e));
	assert_int_equal(n, 1);
}

struct walked {
	uint64_t index[16];
	size_t n;
};

static int
walk(void *ctx, uint64_t index, struct bytes b, struct err *e)
{
	struct walked *w = ctx;

	(void)b;
	(void)e;
	if (w->n < 16)
		w->index[w->n] = index;
	w->n++;
	return 0;
}

static void
a_history_is_the_records_of_one_subject_in_order(void **state)
{
	struct home *h = *state;
	struct walked w = { .n = 0 };
	struct journal_txn *t;
	struct id id, other;
	struct err e;
	uint64_t first = write_one(h, &id);

	write_one(h, &other);
	must(journal_begin(h->j, &t, &e));
	must(home_move(t, MACHINE_EXPOSURE, &id, EXPOSURE_EV_renew, &e));
	must(home_move(t, MACHINE_EXPOSURE, &id, EXPOSURE_EV_revoke, &e));
	must(home_commit(t, &e));
	must(journal_history(h->j, MACHINE_EXPOSURE, &id, 0, walk, &w, &e));
	assert_int_equal(w.n, 3);
	assert_int_equal(w.index[0], first);
	assert_true(w.index[1] > first && w.index[2] == w.index[1] + 1);
	w.n = 0;
	must(journal_history(h->j, 0, NULL, 2, walk, &w, &e));
	assert_int_equal(w.n, journal_size(h->j) - 2);
	assert_int_equal(w.index[0], 2);
}

/* ---- links -------------------------------------------------------------- */

static int
linked(struct journal_txn *t, int machine, const struct id *id, int event,
    int field, uint64_t index, struct err *e)
{
	AUTO(fields) struct fields f;
	struct draft d = { .machine = machine, .subject = *id, .event = event,
	    .actor = ACTOR_RUNTIME, .fields = &f, .expect_from = -1 };

	fields_init(&f);
	fields_u64(&f, field, index);
	return journal_append(t, &d, NULL, e);
}

/* A session at its start, in a transaction. */
static struct journal_txn *
session(struct home *h, struct id *ses)
{
	struct journal_txn *t;
	struct err e;

	id_random(ses);
	must(journal_begin(h->j, &t, &e));
	must(home_move(t, MACHINE_SESSION, ses, SESSION_EV_prepare, &e));
	must(home_move(t, MACHINE_SESSION, ses, SESSION_EV_start_intent, &e));
	return t;
}

static void
staged_work_and_the_end_of_its_session_name_each_other(void **state)
{
	struct home *h = *state;
	struct journal_txn *t;
	struct id ses, chg;
	struct err e;
	uint64_t at;

	id_random(&chg);
	t = session(h, &ses);
	at = journal_next(t);
	must(journal_save(t, &e));
	must(linked(t, MACHINE_SESSION, &ses, SESSION_EV_ended, FIELD_LINK,
	    at + 1, &e));
	must(linked(t, MACHINE_CHANGE, &chg, CHANGE_EV_stage, FIELD_LINK, at,
	    &e));
	must(journal_keep(t, &e));
	must(home_commit(t, &e));
	assert_int_equal(state_of(h, MACHINE_CHANGE, &chg), CHANGE_STAGED);
}

static void
a_record_that_names_none_where_it_must_is_refused(void **state)
{
	struct home *h = *state;
	struct journal_txn *t;
	struct id ses, chg;
	struct err e;

	id_random(&chg);
	t = session(h, &ses);
	assert_int_equal(-1, home_move(t, MACHINE_CHANGE, &chg,
	    CHANGE_EV_stage, &e));
	assert_int_equal(e.code, ERR_FORMAT);
	journal_rollback(t);
}

static void
a_link_to_what_does_not_name_it_back_is_refused(void **state)
{
	struct home *h = *state;
	struct { int field, wrong; uint64_t to; } bad[] = {
		{ FIELD_LINK, 0, 0 },		/* of an older commit */
		{ FIELD_LINK, 1, 0 },		/* of itself */
		{ FIELD_LINK, 2, 0 },		/* to another move */
		{ FIELD_LINK, 3, 0 },		/* to nothing */
	};
	struct journal_txn *t;
	struct id ses, chg;
	struct err e;

	for (size_t i = 0; i < 4; i++) {
		uint64_t at;

		id_random(&chg);
		t = session(h, &ses);
		must(journal_save(t, &e));
		at = journal_next(t);
		must(linked(t, MACHINE_SESSION, &ses, SESSION_EV_ended,
		    FIELD_LINK, at + 1, &e));
		bad[i].to = i == 0 ? 2 : i == 1 ? at + 1 : i == 2 ? at - 1 :
		    at + 5;
		must(linked(t, MACHINE_CHANGE, &chg, CHANGE_EV_stage,
		    FIELD_LINK, bad[i].to, &e));
		assert_int_equal(-1, journal_keep(t, &e));
		assert_int_equal(e.code, ERR_FORMAT);
		must(journal_undo(t, &e));
		must(home_commit(t, &e));
		assert_int_equal(state_of(h, MACHINE_SESSION, &ses),
		    SESSION_STARTING);
	}

	/* Also without a savepoint: then the whole commit is refused. */
	t = session(h, &ses);
	must(linked(t, MACHINE_SESSION, &ses, SESSION_EV_ended, FIELD_LINK,
	    journal_next(t) + 1, &e));
	assert_int_equal(-1, home_commit(t, &e));
	assert_int_equal(e.code, ERR_FORMAT);
	assert_int_equal(state_of(h, MACHINE_SESSION, &ses), 0);
}

static void
a_cause_is_what_link_def_allows(void **state)
{
	struct home *h = *state;
	struct journal_txn *t;
	struct id ses, exp;
	struct err e;
	uint64_t expose = write_one(h, &exp), revoke;

	t = session(h, &ses);
	must(journal_save(t, &e));
	must(linked(t, MACHINE_SESSION, &ses, SESSION_EV_revoke, FIELD_CAUSE,
	    expose, &e));
	assert_int_equal(-1, journal_keep(t, &e));
	assert_int_equal(e.code, ERR_FORMAT);
	must(journal_undo(t, &e));
	must(journal_save(t, &e));
	revoke = journal_next(t);
	must(home_move(t, MACHINE_EXPOSURE, &exp, EXPOSURE_EV_revoke, &e));
	must(linked(t, MACHINE_SESSION, &ses, SESSION_EV_revoke, FIELD_CAUSE,
	    revoke, &e));
	must(journal_keep(t, &e));
	must(home_commit(t, &e));
	assert_int_equal(state_of(h, MACHINE_SESSION, &ses), SESSION_STOPPING);
}

/* ---- proofs ------------------------------------------------------------- */

static void
check_receipt(struct home *h, uint64_t index, const struct id *id)
{
	AUTO(buf) struct buf b;
	AUTO(committed) struct committed *c = NULL;
	struct receipt_want want = { .machine = MACHINE_EXPOSURE,
	    .event = EXPOSURE_EV_expose, .subject = *id };
	struct err e;
	uint64_t size;

	buf_init(&b, RECEIPT_MAX);
	must(journal_receipt(h->j, index, &b, &e));
	memcpy(want.log_pub, journal_log_pub(h->j), PUB_BYTES);
	strcpy(want.origin, journal_origin(h->j));
	must(receipt_verify((struct str){ (const char *)b.p, b.n }, &want, &c,
	    &size, &e));
	assert_int_equal(committed_index(c), index);
	assert_int_equal(size, journal_size(h->j));
}

static void
receipts_verify_at_every_size_of_the_tree(void **state)
{
	struct home *h = *state;
	struct id first, id;
	struct err e;
	uint64_t at = write_one(h, &first), index = at;

	for (int i = 0; i < 300; i++) {
		index = write_one(h, &id);
		check_receipt(h, at, &first);
		check_receipt(h, index, &id);
	}
	must(home_open(h, &e));
	check_receipt(h, at, &first);
	check_receipt(h, index, &id);
}

static void
a_checkpoint_bears_both_signatures(void **state)
{
	AUTO(buf) struct buf b;
	struct home *h = *state;
	struct journal_commit row;
	struct checkpoint c;
	struct str text, sigs;
	struct err e;

	buf_init(&b, 8192);
	must(journal_checkpoint(h->j, &b, &e));
	must(checkpoint_parse((struct str){ (const char *)b.p, b.n }, &c, &text,
	    &sigs, &e));
	assert_int_equal(c.size, journal_size(h->j));
	must(journal_commit_row(h->j, journal_commits(h->j) - 1, &row, &e));
	must(note_check(text, sigs, journal_origin(h->j), row.pub, &e));
	must(note_check(text, sigs, journal_origin(h->j), journal_log_pub(h->j),
	    &e));
}

static void
each_commit_is_signed_and_chained(void **state)
{
	struct home *h = *state;
	struct id id;
	struct err e;
	uint64_t no;

	for (int i = 0; i < 5; i++)
		write_one(h, &id);
	for (uint64_t i = 0; i < journal_commits(h->j); i++) {
		AUTO(buf) struct buf text, footer;
		struct journal_commit row;
		struct checkpoint c = { .size = 0 };
		struct record r;
		uint64_t number;

		buf_init(&text, 1024);
		buf_init(&footer, RECORD_MAX);
		must(journal_commit_row(h->j, i, &row, &e));
		c.size = row.size;
		c.root = row.root;
		strcpy(c.origin, journal_origin(h->j));
		checkpoint_text(&c, &text);
		must(note_sig_check((struct str){ (const char *)text.p, text.n },
		    row.sig, row.pub, &e));
		must(journal_record(h->j, row.size - 1, &footer, &e));
		must(record_decode(buf_bytes(&footer), &r, &e));
		assert_int_equal(r.event, LOG_EV_commit_footer);
		assert_int_equal(0, record_u64(&r, FIELD_COMMIT_NO, &number));
		assert_int_equal(number, i);
		must(journal_commit_of(h->j, row.size - 1, &no, &e));
		assert_int_equal(no, i);
	}
}

/*
 * A write that fails with anything but a full disk: nobody knows, nothing is
 * acknowledged, nothing more is written, and the next start tells.
 */
static void
a_commit_that_nobody_knows_of_ends_this_journal(void **state)
{
	struct home *h = *state;
	struct rlimit all, none;
	struct journal_txn *t;
	struct id before, lost;
	struct err e;
	uint64_t size;

	write_one(h, &before);
	size = journal_size(h->j);
	id_random(&lost);
	must(journal_begin(h->j, &t, &e));
	must(home_expose(t, &lost, NULL, &e));
	assert_int_equal(0, getrlimit(RLIMIT_FSIZE, &all));
	assert_true(signal(SIGXFSZ, SIG_IGN) != SIG_ERR);
	none = all;
	none.rlim_cur = 4096;		/* of the log: EFBIG, not ENOSPC */
	assert_int_equal(0, setrlimit(RLIMIT_FSIZE, &none));
	assert_int_equal(-1, home_commit(t, &e));
	assert_int_equal(0, setrlimit(RLIMIT_FSIZE, &all));
	assert_int_equal(e.code, ERR_UNKNOWN);
	assert_true(journal_poisoned(h->j));
	assert_int_equal(journal_size(h->j), size);
	assert_int_equal(-1, journal_begin(h->j, &t, &e));
	assert_int_equal(e.code, ERR_UNKNOWN);

	must(home_open(h, &e));
	assert_int_equal(h->verdict, VERDICT_CLEAN);
	assert_int_equal(journal_size(h->j), size);
	assert_int_equal(state_of(h, MACHINE_EXPOSURE, &lost), 0);
	write_one(h, &lost);
}

static void
a_blob_alone_is_a_commit(void **state)
{
	AUTO(buf) struct buf back;
	struct home *h = *state;
	struct journal_txn *t;
	struct err e;
	uint8_t digest[32];

	buf_init(&back, 64);
	must(journal_begin(h->j, &t, &e));
	must(journal_blob_put(t, bytes_of("text", 4), digest, &e));
	must(home_commit(t, &e));
	must(home_open(h, &e));
	must(journal_blob_get(h->j, digest, &back, &e));
	assert_int_equal(back.n, 4);
}

static void
a_second_owner_is_locked_out(void **state)
{
	struct home *h = *state;
	struct journal_opts o = { .homefd = h->fd };
	struct journal *j;
	enum verdict v;
	struct err e;

	assert_int_equal(-1, journal_open(&o, &j, &v, &e));
	assert_int_equal(e.code, ERR_LOCKED);
}

static void
a_copy_can_be_read_without_keys_and_is_not_written(void **state)
{
	struct home *h = *state;
	struct journal_opts o = { .homefd = h->fd, .read_only = 1 };
	AUTO(journal) struct journal *j = NULL;
	struct journal_txn *t;
	struct walked w = { .n = 0 };
	struct id id;
	enum verdict v;
	struct err e;
	uint64_t size;

	write_one(h, &id);
	size = journal_size(h->j);
	home_close(h);
	must(renameat(h->fd, "keys", h->fd, "elsewhere"));
	must(journal_open(&o, &j, &v, &e));
	assert_int_equal(v, VERDICT_CLEAN);
	assert_int_equal(journal_size(j), size);
	must(journal_history(j, 0, NULL, 0, walk, &w, &e));
	assert_int_equal(w.n, size);
	must(journal_check_derived(j, &e));
	assert_int_equal(-1, journal_begin(j, &t, &e));
	assert_int_equal(e.code, ERR_UNSUPPORTED);
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
#define T(name) cmocka_unit_test_setup_teardown(name, setup, teardown)
		T(it_starts_new_and_is_clean_again),
		T(a_start_that_only_reads_writes_no_record),
		T(what_was_committed_is_there_after_a_reopen),
		T(an_end_without_a_stop_is_unclean_and_rolls_the_epoch_key),
		T(a_proof_is_made_of_each_record_in_order),
		T(a_dropped_transaction_never_happened),
		T(an_undone_move_spoils_no_other),
		T(a_state_that_moved_on_is_stale),
		T(a_refused_attempt_is_a_record_and_needs_a_code),
		T(a_refused_attempt_does_not_bring_its_subject_about),
		T(a_request_is_answered_with_its_first_record),
		T(a_sealed_value_is_beside_the_record_not_in_it),
		T(a_blob_comes_back_as_it_was),
		T(subjects_are_listed_by_state_and_age),
		T(what_is_owed_is_listed_with_a_proof_of_what_made_it_so),
		T(an_id_is_found_by_how_it_begins),
		T(a_history_is_the_records_of_one_subject_in_order),
		T(staged_work_and_the_end_of_its_session_name_each_other),
		T(a_record_that_names_none_where_it_must_is_refused),
		T(a_link_to_what_does_not_name_it_back_is_refused),
		T(a_cause_is_what_link_def_allows),
		T(receipts_verify_at_every_size_of_the_tree),
		T(a_checkpoint_bears_both_signatures),
		T(each_commit_is_signed_and_chained),
		T(a_commit_that_nobody_knows_of_ends_this_journal),
		T(a_blob_alone_is_a_commit),
		T(a_second_owner_is_locked_out),
		T(a_copy_can_be_read_without_keys_and_is_not_written),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
