/* SPDX-License-Identifier: ISC */
/* engine_test.c - the engine in a world of paper. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <cmocka.h>

#include "recovery/recover.h"
#include "tests/lib/paper.h"

enum { US = 1000000, ME = 1000, OTHER = 1001 };

static int
setup(void **state)
{
	struct paper *p = malloc(sizeof(*p));

	assert_non_null(p);
	paper_open(p);
	*state = p;
	return 0;
}

static int
teardown(void **state)
{
	paper_close(*state);
	free(*state);
	return 0;
}

static char *
text_of(int machine, const struct id *id)
{
	static char out[4][ID_TEXT_MAX];
	static unsigned n;

	return id_str(machine_id_kind(machine), id, out[n++ % 4]);
}

static struct id
lease_of(struct paper *p, const struct id *session)
{
	struct id id;

	assert_int_equal(0, paper_fact_id(p, MACHINE_SESSION, session,
	    SESSION_FACT_exposure, &id));
	return id;
}

static struct json *
answer(struct paper *p, int64_t n)
{
	struct paper_answer *a = paper_answered(p, n);

	assert_non_null(a);
	if (a->err.code != ERR_OK)
		fail_msg("%s", a->err.msg);
	return a->result;
}

static int
code(struct paper *p, int64_t n)
{
	struct paper_answer *a = paper_answered(p, n);

	assert_non_null(a);
	return a->err.code;
}

static const char *
get(const struct json *o, const char *key)
{
	static char out[512];
	struct str s;
	struct err e;

	if (json_get_str(o, key, &s, &e))
		fail_msg("%s", e.msg);
	snprintf(out, sizeof(out), "%.*s", (int)s.n, s.p);
	return out;
}

#define SESSION(p, id)	paper_state((p), MACHINE_SESSION, &(id))
#define EXPOSURE(p, id)	paper_state((p), MACHINE_EXPOSURE, &(id))
#define CHANGE(p, id)	paper_state((p), MACHINE_CHANGE, &(id))

/* A running session. */
static struct id
running(struct paper *p)
{
	struct id id = paper_start(p, ME);

	assert_int_equal(ERR_OK, paper_ready(p, &id));
	assert_int_equal(SESSION_RUNNING, SESSION(p, id));
	return id;
}

/* ---- a run --------------------------------------------------------------- */

static void
a_run_goes_from_intent_through_the_gate_to_its_end(void **state)
{
	struct paper *p = *state;
	struct id id = paper_start(p, ME), change;
	int64_t wait;

	assert_int_equal(SESSION_STARTING, SESSION(p, id));
	assert_int_equal(1, paper_orders(p, ORDER_BUILD, &id));
	assert_int_equal(0, paper_orders(p, ORDER_GATE, &id));
	assert_int_equal(ERR_OK, paper_ready(p, &id));
	assert_int_equal(1, paper_orders(p, ORDER_GATE, &id));
	assert_int_equal(PAPER_RUNS, paper_box(p, &id)->state);

	wait = paper_ask(p, ME, "session.wait", "{'id':'%s'}", text_of(MACHINE_SESSION, &id));
	paper_turn(p);
	assert_null(paper_answered(p, wait));
	assert_int_equal(ERR_OK, paper_ended(p, &id, CAUSE_EXITED, 1));
	assert_string_equal("ended", get(answer(p, wait), "state"));
	assert_string_equal("exited", get(answer(p, wait), "ended_by"));
	assert_int_equal(1, paper_box(p, &id)->told_done);
	assert_int_equal(0, paper_fact_id(p, MACHINE_SESSION, &id,
	    SESSION_FACT_change, &change));
	assert_int_equal(CHANGE_STAGED, CHANGE(p, change));
	assert_int_equal(0, engine_live(p->en));
}

static void
a_sandbox_that_cannot_be_built_ends_the_session_as_failed(void **state)
{
	struct paper *p = *state;
	struct id id = paper_start(p, ME);
	int64_t n;

	assert_int_equal(ERR_OK, paper_failed(p, &id));
	assert_int_equal(SESSION_ENDED, SESSION(p, id));
	n = paper_ask(p, ME, "session.show", "{'id':'%s'}", text_of(MACHINE_SESSION, &id));
	paper_turn(p);
	assert_string_equal("failed", get(answer(p, n), "ended_by"));
	assert_string_equal("it would not stand",
	    get(json_get(answer(p, n), "error"), "message"));
}

static void
an_order_to_build_that_fails_is_the_answer_and_a_record(void **state)
{
	struct paper *p = *state;
	int64_t n, list;

	p->refuse_build = 1;
	n = paper_ask(p, ME, "session.start", "{'command':['true'],'cwd':'/work/app',"
	    "'path':'/work/app','mode':'ro','terminal':false}");
	paper_turn(p);
	assert_int_equal(ERR_SANDBOX, code(p, n));
	list = paper_ask(p, ME, "session.list", "{'all':true}");
	paper_turn(p);
	assert_string_equal("ended",
	    get(json_at(json_get(answer(p, list), "sessions"), 0), "state"));
}

static void
a_detached_start_is_answered_when_it_runs_or_cannot(void **state)
{
	struct paper *p = *state;
	struct id id;
	int64_t n[2];

	for (int i = 0; i < 2; i++) {
		n[i] = paper_ask(p, ME, "session.start", "{'command':['true'],"
		    "'cwd':'/','path':'/work/app','mode':'ro','terminal':false,"
		    "'detach':true}");
		paper_turn(p);
		assert_null(paper_answered(p, n[i]));
		id = p->box[p->nbox - 1].session;
		assert_int_equal(ERR_OK, i == 0 ? paper_ready(p, &id) :
		    paper_failed(p, &id));
	}
	assert_string_equal(text_of(MACHINE_SESSION, &p->box[0].session),
	    get(answer(p, n[0]), "session"));
	assert_int_equal(ERR_SANDBOX, code(p, n[1]));
}

static void
news_of_the_end_may_come_twice(void **state)
{
	struct paper *p = *state;
	struct id id = running(p);
	uint64_t size;

	assert_int_equal(ERR_OK, paper_ended(p, &id, CAUSE_EXITED, 0));
	size = journal_size(p->j);
	assert_int_equal(ERR_STALE, paper_ended(p, &id, CAUSE_EXITED, 0));
	paper_turn(p);
	assert_int_equal(size, journal_size(p->j));
}

static void
stopping_waits_for_the_end_and_may_be_asked_twice(void **state)
{
	struct paper *p = *state;
	struct id id = running(p);
	const char *text = text_of(MACHINE_SESSION, &id);
	int64_t one, two, three;

	one = paper_ask(p, ME, "session.stop", "{'id':'%s'}", text);
	paper_turn(p);
	assert_null(paper_answered(p, one));
	assert_int_equal(SESSION_STOPPING, SESSION(p, id));
	assert_int_equal(1, paper_orders(p, ORDER_STOP, &id));
	assert_int_equal(STOP_GRACE_S * US, p->order[p->norder - 1].grace_us);
	two = paper_ask(p, ME, "session.stop", "{'id':'%s','now':true}", text);
	paper_turn(p);
	assert_int_equal(2, paper_orders(p, ORDER_STOP, &id));
	assert_int_equal(0, p->order[p->norder - 1].grace_us);
	assert_int_equal(ERR_OK, paper_ended(p, &id, CAUSE_STOPPED, 0));
	assert_string_equal("stopped", get(answer(p, one), "ended_by"));
	assert_string_equal("stopped", get(answer(p, two), "ended_by"));
	three = paper_ask(p, ME, "session.stop", "{'id':'%s'}", text);
	paper_turn(p);
	assert_string_equal("stopped", get(answer(p, three), "ended_by"));
}

static void
two_stops_in_one_turn_are_one_record_and_one_order(void **state)
{
	struct paper *p = *state;
	struct id id = running(p);
	const char *text = text_of(MACHINE_SESSION, &id);

	(void)paper_ask(p, ME, "session.stop", "{'id':'%s'}", text);
	(void)paper_ask(p, ME, "session.stop", "{'id':'%s','now':true}", text);
	paper_turn(p);
	assert_int_equal(1, paper_orders(p, ORDER_STOP, &id));
	assert_int_equal(0, p->order[p->norder - 1].grace_us);
}

/* ---- the four races of lifecycle.md 4 ------------------------------------ */

static void
a_revoke_between_intent_and_gate_wins(void **state)
{
	struct paper *p = *state;
	struct id id = paper_start(p, ME), x = lease_of(p, &id);
	int64_t n;

	n = paper_ask(p, ME, "exposure.revoke", "{'id':'%s'}", text_of(MACHINE_EXPOSURE, &x));
	paper_turn(p);
	assert_null(paper_answered(p, n));
	assert_int_equal(EXPOSURE_CLOSING, EXPOSURE(p, x));
	assert_int_equal(SESSION_STOPPING, SESSION(p, id));
	/* The gate comes too late: no record, no release. */
	assert_int_equal(ERR_OK, paper_ready(p, &id));
	assert_int_equal(SESSION_STOPPING, SESSION(p, id));
	assert_int_equal(0, paper_orders(p, ORDER_GATE, &id));
	assert_int_equal(ERR_OK, paper_failed(p, &id));
	assert_int_equal(EXPOSURE_REVOKED, EXPOSURE(p, x));
	assert_string_equal("revoked", get(answer(p, n), "state"));
}

static void
no_session_starts_on_what_was_revoked(void **state)
{
	struct paper *p = *state;
	struct id id = running(p), x = lease_of(p, &id);
	int64_t revoke, start;

	/* Both in one turn: the order of the requests decides. */
	revoke = paper_ask(p, ME, "exposure.revoke", "{'id':'%s'}", text_of(MACHINE_EXPOSURE, &x));
	start = paper_ask(p, ME, "session.start", "{'command':['true'],'cwd':'/',"
	    "'path':'/work/app','mode':'staged','terminal':false,'exposure':'%s'}",
	    text_of(MACHINE_EXPOSURE, &x));
	paper_turn(p);
	assert_int_equal(ERR_REVOKED, code(p, start));
	assert_null(paper_answered(p, revoke));
	assert_int_equal(ERR_OK, paper_ended(p, &id, CAUSE_REVOKED, 0));
	assert_string_equal("revoked", get(answer(p, revoke), "state"));
}

static void
a_renew_after_a_revoke_fails_and_before_it_succeeds(void **state)
{
	struct paper *p = *state;
	struct id id = running(p), x = lease_of(p, &id);
	const char *text = text_of(MACHINE_EXPOSURE, &x);
	int64_t before, revoke, after;

	before = paper_ask(p, ME, "exposure.renew", "{'id':'%s','ttl_s':60}", text);
	revoke = paper_ask(p, ME, "exposure.revoke", "{'id':'%s','wait':false}", text);
	after = paper_ask(p, ME, "exposure.renew", "{'id':'%s','ttl_s':60}", text);
	paper_turn(p);
	assert_int_equal(ERR_OK, code(p, before));
	assert_int_equal(ERR_OK, code(p, revoke));
	assert_int_equal(ERR_REVOKED, code(p, after));
	assert_int_equal(EXPOSURE_CLOSING, EXPOSURE(p, x));
}

static void
a_lease_that_ends_at_the_gate_keeps_it_shut(void **state)
{
	struct paper *p = *state;
	struct id id = paper_start(p, ME), x = lease_of(p, &id);

	/* Time is over, and nobody has looked at the clock yet. */
	p->now.real_us += (int64_t)EXPOSURE_TTL_S * US;
	assert_int_equal(ERR_OK, paper_ready(p, &id));
	assert_int_equal(SESSION_REFUSED, SESSION(p, id));
	assert_int_equal(0, paper_orders(p, ORDER_GATE, &id));
	assert_int_equal(1, paper_orders(p, ORDER_STOP, &id));
	paper_tick(p, 0);
	assert_int_equal(EXPOSURE_EXPIRED, EXPOSURE(p, x));
}

static void
a_crash_between_intent_and_gate_never_opens_it(void **state)
{
	struct paper *p = *state;
	struct id id = paper_start(p, ME);

	paper_down(p);
	paper_up(p);
	assert_int_equal(SESSION_ENDED, SESSION(p, id));
	assert_int_equal(PAPER_GONE, paper_box(p, &id)->state);
	assert_int_equal(0, paper_orders(p, ORDER_GATE, &id));
}

/* ---- recovery ------------------------------------------------------------ */

static void
a_running_session_is_adopted(void **state)
{
	struct paper *p = *state;
	struct id id = running(p);

	paper_down(p);
	paper_up(p);
	assert_int_equal(SESSION_RUNNING, SESSION(p, id));
	assert_int_equal(1, paper_orders(p, ORDER_ADOPT, &id));
	assert_int_equal(0, paper_orders(p, ORDER_STOP, &id));
	assert_int_equal(ERR_OK, paper_ended(p, &id, CAUSE_EXITED, 1));
	assert_int_equal(SESSION_ENDED, SESSION(p, id));
}

static void
a_session_without_a_supervisor_is_lost(void **state)
{
	struct paper *p = *state;
	struct id id = running(p);

	paper_down(p);
	p->deaf = 1;
	paper_up(p);
	assert_int_equal(SESSION_ENDED, SESSION(p, id));
	assert_int_equal(0, engine_live(p->en));
}

static void
a_revoke_that_a_crash_cut_short_is_finished(void **state)
{
	struct paper *p = *state;
	struct id id = running(p), x = lease_of(p, &id);

	(void)paper_ask(p, ME, "exposure.revoke", "{'id':'%s'}", text_of(MACHINE_EXPOSURE, &x));
	paper_turn(p);
	paper_down(p);
	paper_up(p);
	assert_int_equal(SESSION_STOPPING, SESSION(p, id));
	assert_int_equal(1, paper_orders(p, ORDER_ADOPT, &id));
	assert_int_equal(2, paper_orders(p, ORDER_STOP, &id));
	assert_int_equal(ERR_OK, paper_ended(p, &id, CAUSE_REVOKED, 0));
	assert_int_equal(EXPOSURE_REVOKED, EXPOSURE(p, x));
}

static void
recovery_twice_changes_nothing(void **state)
{
	struct paper *p = *state;
	struct id a = running(p), b = paper_start(p, ME);
	uint64_t size;
	struct err e;

	paper_down(p);
	p->deaf = 1;
	paper_up(p);
	size = journal_size(p->j);
	assert_int_equal(0, recover(p->en, p->now, &e));
	assert_int_equal(size, journal_size(p->j));
	paper_down(p);
	paper_up(p);
	assert_int_equal(size, journal_size(p->j));
	assert_int_equal(SESSION_ENDED, SESSION(p, a));
	assert_int_equal(SESSION_ENDED, SESSION(p, b));
}

/* ---- time ---------------------------------------------------------------- */

static void
either_clock_ends_a_session(void **state)
{
	struct paper *p = *state;
	struct id a = running(p);
	struct err e;

	assert_true(engine_due(p->en, p->now) == (int64_t)SESSION_TTL_S * US);
	/* Somebody sets the clock back: the boot clock still counts. */
	p->now.real_us -= 3600LL * US;
	p->now.boot_us += (int64_t)SESSION_TTL_S * US;
	assert_int_equal(0, engine_due(p->en, p->now));
	assert_int_equal(0, engine_tick(p->en, p->now, &e));
	paper_turn(p);
	assert_int_equal(SESSION_STOPPING, SESSION(p, a));
	assert_int_equal(CAUSE_EXPIRED, p->order[p->norder - 1].cause);
	assert_int_equal(ERR_OK, paper_ended(p, &a, CAUSE_EXPIRED, 0));
	assert_int_equal(EXPOSURE_EXPIRED, paper_state(p, MACHINE_EXPOSURE,
	    &(struct id[]){ lease_of(p, &a) }[0]));
}

static void
a_renewal_never_passes_the_latest_end(void **state)
{
	struct paper *p = *state;
	int64_t n, no, yes;
	char id[64];

	n = paper_ask(p, ME, "exposure.open",
	    "{'path':'/work/app','mode':'staged','ttl_s':60,'max_s':120}");
	paper_turn(p);
	snprintf(id, sizeof(id), "%s", get(answer(p, n), "id"));
	paper_tick(p, 50 * US);
	no = paper_ask(p, ME, "exposure.renew", "{'id':'%s','ttl_s':71}", id);
	yes = paper_ask(p, ME, "exposure.renew", "{'id':'%s','ttl_s':71,'up_to':true}", id);
	paper_turn(p);
	assert_int_equal(ERR_LIMIT, code(p, no));
	n = 0;
	assert_int_equal(0, json_int(json_get(paper_answered(p, no)->data, "max_ttl_s"), &n));
	assert_int_equal(70, n);
	assert_int_equal(0, json_int(json_get(answer(p, yes), "generation"), &n));
	assert_int_equal(2, n);
	no = paper_ask(p, ME, "exposure.renew", "{'id':'%s','ttl_s':1,'expect_gen':1}", id);
	paper_turn(p);
	assert_int_equal(ERR_STALE, code(p, no));
}

/* ---- changes ------------------------------------------------------------- */

static struct id
staged(struct paper *p)
{
	struct id id = running(p), change;

	assert_int_equal(ERR_OK, paper_ended(p, &id, CAUSE_EXITED, 1));
	assert_int_equal(0, paper_fact_id(p, MACHINE_SESSION, &id,
	    SESSION_FACT_change, &change));
	return change;
}

static void
an_apply_is_answered_when_it_is_done_and_durable(void **state)
{
	struct paper *p = *state;
	struct id c = staged(p);
	int64_t n = paper_ask(p, ME, "change.apply", "{'id':'%s'}", text_of(MACHINE_CHANGE, &c));

	paper_turn(p);
	assert_null(paper_answered(p, n));
	assert_int_equal(CHANGE_APPLYING, CHANGE(p, c));
	assert_int_equal(1, paper_orders(p, ORDER_APPLY, &c));
	assert_int_equal(ERR_OK, paper_result(p, &c, WORK_WHOLE));
	assert_string_equal("applied", get(answer(p, n), "state"));
	assert_string_equal("whole", get(answer(p, n), "outcome"));
	n = paper_ask(p, ME, "change.undo", "{'id':'%s'}", text_of(MACHINE_CHANGE, &c));
	paper_turn(p);
	assert_int_equal(ERR_OK, paper_result(p, &c, WORK_WHOLE));
	assert_string_equal("undone", get(answer(p, n), "state"));
}

static void
a_conflict_goes_back_to_staged_and_names_the_paths(void **state)
{
	struct paper *p = *state;
	struct id c = staged(p);
	int64_t n = paper_ask(p, ME, "change.apply", "{'id':'%s'}", text_of(MACHINE_CHANGE, &c));
	struct str s;

	paper_turn(p);
	assert_int_equal(ERR_OK, paper_result(p, &c, WORK_CONFLICT));
	assert_string_equal("staged", get(answer(p, n), "state"));
	assert_string_equal("conflict", get(answer(p, n), "outcome"));
	assert_int_equal(0, json_text(json_at(json_get(answer(p, n), "conflicts"), 1), &s));
	assert_true(str_eq(s, STR("b/c")));
}

static void
an_apply_that_a_crash_cut_short_waits_for_a_person(void **state)
{
	struct paper *p = *state;
	struct id c = staged(p);
	int64_t n;

	(void)paper_ask(p, ME, "change.apply", "{'id':'%s'}", text_of(MACHINE_CHANGE, &c));
	paper_turn(p);
	paper_down(p);
	paper_up(p);
	assert_int_equal(CHANGE_PARTIAL, CHANGE(p, c));
	assert_int_equal(1, paper_orders(p, ORDER_APPLY, &c));
	n = paper_ask(p, ME, "change.apply", "{'id':'%s','resume':true}", text_of(MACHINE_CHANGE, &c));
	paper_turn(p);
	assert_int_equal(2, paper_orders(p, ORDER_APPLY, &c));
	assert_int_equal(ERR_OK, paper_result(p, &c, WORK_WHOLE));
	assert_string_equal("applied", get(answer(p, n), "state"));
}

static void
a_revoke_stops_an_apply_and_waits_for_it(void **state)
{
	struct paper *p = *state;
	struct id c = staged(p), x;
	int64_t apply, revoke, again;

	assert_int_equal(0, paper_fact_id(p, MACHINE_CHANGE, &c, CHANGE_FACT_exposure, &x));
	apply = paper_ask(p, ME, "change.apply", "{'id':'%s'}", text_of(MACHINE_CHANGE, &c));
	paper_turn(p);
	revoke = paper_ask(p, ME, "exposure.revoke", "{'id':'%s'}", text_of(MACHINE_EXPOSURE, &x));
	paper_turn(p);
	assert_int_equal(1, paper_orders(p, ORDER_HALT, &x));
	assert_null(paper_answered(p, revoke));
	assert_int_equal(ERR_OK, paper_result(p, &c, WORK_PARTIAL));
	assert_string_equal("partial", get(answer(p, apply), "state"));
	assert_string_equal("revoked", get(answer(p, revoke), "state"));
	again = paper_ask(p, ME, "change.apply", "{'id':'%s','resume':true}", text_of(MACHINE_CHANGE, &c));
	paper_turn(p);
	assert_int_equal(ERR_REVOKED, code(p, again));
}

static void
a_discard_is_cleaned_again_after_a_crash(void **state)
{
	struct paper *p = *state;
	struct id c = staged(p);
	int64_t n;

	(void)paper_ask(p, ME, "change.discard", "{'id':'%s'}", text_of(MACHINE_CHANGE, &c));
	paper_turn(p);
	paper_down(p);
	paper_up(p);
	assert_int_equal(CHANGE_DISCARDED, CHANGE(p, c));
	assert_int_equal(2, paper_orders(p, ORDER_CLEAN, &c));
	n = paper_ask(p, ME, "change.discard", "{'id':'%s'}", text_of(MACHINE_CHANGE, &c));
	assert_int_equal(ERR_OK, paper_result(p, &c, WORK_WHOLE));
	assert_string_equal("discarded", get(answer(p, n), "state"));
}

static void
an_apply_names_what_the_caller_saw(void **state)
{
	struct paper *p = *state;
	struct id c = staged(p);
	int64_t n = paper_ask(p, ME, "change.apply", "{'id':'%s','manifest':"
	    "'ff00000000000000000000000000000000000000000000000000000000000000'}",
	    text_of(MACHINE_CHANGE, &c));

	paper_turn(p);
	assert_int_equal(ERR_STALE, code(p, n));
	assert_int_equal(CHANGE_STAGED, CHANGE(p, c));
}

#define START_ONCE "{'command':['true'],'cwd':'/work/app','path':'/work/app'," \
	"'mode':'staged','terminal':false,'request_id':'r-1'%s}"

/* ---- who, and how often -------------------------------------------------- */

static void
another_user_sees_and_moves_nothing(void **state)
{
	struct paper *p = *state;
	struct id id = running(p), x = lease_of(p, &id);
	int64_t show, stop, list, revoke;

	show = paper_ask(p, OTHER, "session.show", "{'id':'%s'}", text_of(MACHINE_SESSION, &id));
	stop = paper_ask(p, OTHER, "session.stop", "{'id':'%s'}", text_of(MACHINE_SESSION, &id));
	revoke = paper_ask(p, OTHER, "exposure.revoke", "{'id':'%s'}", text_of(MACHINE_EXPOSURE, &x));
	list = paper_ask(p, OTHER, "session.list", "{}");
	paper_turn(p);
	assert_int_equal(ERR_DENIED, code(p, show));
	assert_int_equal(ERR_DENIED, code(p, stop));
	assert_int_equal(ERR_DENIED, code(p, revoke));
	assert_int_equal(0, json_len(json_get(answer(p, list), "sessions")));
	assert_int_equal(SESSION_RUNNING, SESSION(p, id));
}

static void
a_refused_attempt_is_a_record_within_a_budget(void **state)
{
	struct paper *p = *state;
	struct id c = staged(p);
	uint64_t before;
	int64_t n = 0, record = 0;

	n = paper_ask(p, ME, "change.undo", "{'id':'%s'}", text_of(MACHINE_CHANGE, &c));
	paper_turn(p);
	assert_int_equal(ERR_ILLEGAL, code(p, n));
	assert_int_equal(0, json_int(json_get(paper_answered(p, n)->data, "record"), &record));
	assert_true((uint64_t)record == journal_size(p->j) - 2);
	before = journal_size(p->j);
	for (int i = 0; i < REFUSALS_BURST + 10; i++)
		(void)paper_ask(p, ME, "change.undo", "{'id':'%s'}", text_of(MACHINE_CHANGE, &c));
	paper_turn(p);
	assert_true(journal_size(p->j) - before == REFUSALS_BURST - 1 + 1);
	before = journal_size(p->j);
	paper_tick(p, 61LL * US);
	/* One summary and its footer. */
	assert_true(journal_size(p->j) - before == 2);
}

static void
a_request_with_an_id_happens_once(void **state)
{
	struct paper *p = *state;
	int64_t a, b, c, d;
	char first[64];
	uint64_t size;

	a = paper_ask(p, ME, "session.start", START_ONCE, "");
	b = paper_ask(p, ME, "session.start", START_ONCE, "");
	paper_turn(p);
	size = journal_size(p->j);
	c = paper_ask(p, ME, "session.start", START_ONCE, "");
	paper_turn(p);
	assert_true(size == journal_size(p->j));
	snprintf(first, sizeof(first), "%s", get(answer(p, a), "session"));
	assert_string_equal(first, get(answer(p, b), "session"));
	assert_string_equal(first, get(answer(p, c), "session"));
	assert_int_equal(1, p->nbox);
	/* The same words from somebody else, or about something else, are new. */
	d = paper_ask(p, ME, "session.start", START_ONCE, ",'name':'x'");
	paper_turn(p);
	assert_int_equal(ERR_ILLEGAL, code(p, d));
	d = paper_ask(p, OTHER, "session.start", START_ONCE, "");
	paper_turn(p);
	assert_string_not_equal(first, get(answer(p, d), "session"));
	/* Also after a restart. */
	paper_down(p);
	paper_up(p);
	c = paper_ask(p, ME, "session.start", START_ONCE, "");
	paper_turn(p);
	assert_string_equal(first, get(answer(p, c), "session"));
}

static void
what_must_not_be_exposed_is_not(void **state)
{
	static const char *const paths[] = { "/", "/etc", "/usr/share", "/home",
	    "/home/u", "/root", "/home/u/.ssh", "/home/u/x/.gnupg/y", "/proc/1",
	    "/sys", "/dev", "/run/x", "/var/lib/x" };
	struct paper *p = *state;
	int64_t n;

	for (size_t i = 0; i < sizeof(paths) / sizeof(paths[0]); i++) {
		n = paper_ask(p, ME, "exposure.open", "{'path':'%s','mode':'ro'}", paths[i]);
		paper_turn(p);
		if (code(p, n) != ERR_DENIED)
			fail_msg("%s: %d", paths[i], code(p, n));
	}
	n = paper_ask(p, ME, "exposure.open", "{'path':'%s','mode':'ro'}", p->dir);
	paper_turn(p);
	assert_int_equal(ERR_DENIED, code(p, n));
	n = paper_ask(p, ME, "exposure.open", "{'path':'/home/u/app','mode':'ro'}");
	paper_turn(p);
	assert_int_equal(ERR_OK, code(p, n));
}

static void
a_source_that_changed_makes_its_lease_suspect(void **state)
{
	struct paper *p = *state;
	struct id id = running(p), x = lease_of(p, &id);
	int64_t n;

	p->ino++;
	n = paper_ask(p, ME, "session.start", "{'command':['true'],'cwd':'/',"
	    "'path':'/work/app','mode':'staged','terminal':false,'exposure':'%s'}",
	    text_of(MACHINE_EXPOSURE, &x));
	paper_turn(p);
	assert_int_equal(ERR_ILLEGAL, code(p, n));
	assert_int_equal(EXPOSURE_SUSPECT, EXPOSURE(p, x));
}

static void
a_follower_hears_every_record(void **state)
{
	struct paper *p = *state;

	(void)paper_ask(p, ME, "journal.follow", "{}");
	paper_turn(p);
	(void)running(p);
	assert_int_equal(4, p->nnotes);
	engine_gone(p->en, 1);
	(void)paper_start(p, ME);
	assert_int_equal(4, p->nnotes);
}

static void
an_attach_has_a_receipt_with_the_nonce(void **state)
{
	struct paper *p = *state;
	struct id id = running(p);
	const char *nonce = "00112233445566778899aabbccddeeff00112233445566778899aabbccddeeff";
	int64_t n = paper_ask(p, ME, "session.attach", "{'id':'%s','nonce':'%s'}",
	    text_of(MACHINE_SESSION, &id), nonce);

	paper_turn(p);
	assert_non_null(strstr(get(answer(p, n), "receipt"), "c2sp.org/tlog-proof@v1"));
	n = paper_ask(p, ME, "session.exec", "{'id':'%s','nonce':'%s','command':['ls','-l']}",
	    text_of(MACHINE_SESSION, &id), nonce);
	paper_turn(p);
	assert_non_null(answer(p, n));
}

static void
every_reading_request_answers(void **state)
{
	struct paper *p = *state;
	struct id c = staged(p);
	int64_t n[16];
	size_t k = 0;

	n[k++] = paper_ask(p, ME, "hello", "{'schema':'glove.control/1','client':'t'}");
	n[k++] = paper_ask(p, ME, "daemon.status", "{}");
	n[k++] = paper_ask(p, ME, "resolve", "{'prefix':'%.6s'}", text_of(MACHINE_CHANGE, &c));
	n[k++] = paper_ask(p, ME, "change.list", "{}");
	n[k++] = paper_ask(p, ME, "change.show", "{'id':'%s'}", text_of(MACHINE_CHANGE, &c));
	n[k++] = paper_ask(p, ME, "exposure.list", "{'all':true}");
	n[k++] = paper_ask(p, ME, "record.list", "{}");
	n[k++] = paper_ask(p, ME, "record.list", "{'subject':'%s'}", text_of(MACHINE_CHANGE, &c));
	n[k++] = paper_ask(p, ME, "record.raw", "{'from':0}");
	n[k++] = paper_ask(p, ME, "commit.raw", "{'from':0}");
	n[k++] = paper_ask(p, ME, "sealed.list", "{}");
	n[k++] = paper_ask(p, ME, "derived.list", "{'machine':'session'}");
	n[k++] = paper_ask(p, ME, "receipt.get", "{'record':3}");
	n[k++] = paper_ask(p, ME, "checkpoint.get", "{}");
	n[k++] = paper_ask(p, ME, "key.list", "{}");
	paper_turn(p);
	for (size_t i = 0; i < k; i++)
		assert_true(json_is_object(answer(p, n[i])));
	assert_true(json_len(json_get(answer(p, n[6]), "records")) > 5);
	assert_int_equal(1, json_len(json_get(answer(p, n[7]), "records")));
	assert_true(json_len(json_get(answer(p, n[9]), "commits")) >= 3);
	assert_int_equal(1, json_len(json_get(answer(p, n[11]), "rows")));
}

int
main(void)
{
#define T(name) cmocka_unit_test_setup_teardown(name, setup, teardown)
	const struct CMUnitTest tests[] = {
		T(a_run_goes_from_intent_through_the_gate_to_its_end),
		T(a_sandbox_that_cannot_be_built_ends_the_session_as_failed),
		T(an_order_to_build_that_fails_is_the_answer_and_a_record),
		T(a_detached_start_is_answered_when_it_runs_or_cannot),
		T(news_of_the_end_may_come_twice),
		T(stopping_waits_for_the_end_and_may_be_asked_twice),
		T(two_stops_in_one_turn_are_one_record_and_one_order),
		T(a_revoke_between_intent_and_gate_wins),
		T(no_session_starts_on_what_was_revoked),
		T(a_renew_after_a_revoke_fails_and_before_it_succeeds),
		T(a_lease_that_ends_at_the_gate_keeps_it_shut),
		T(a_crash_between_intent_and_gate_never_opens_it),
		T(a_running_session_is_adopted),
		T(a_session_without_a_supervisor_is_lost),
		T(a_revoke_that_a_crash_cut_short_is_finished),
		T(recovery_twice_changes_nothing),
		T(either_clock_ends_a_session),
		T(a_renewal_never_passes_the_latest_end),
		T(an_apply_is_answered_when_it_is_done_and_durable),
		T(a_conflict_goes_back_to_staged_and_names_the_paths),
		T(an_apply_that_a_crash_cut_short_waits_for_a_person),
		T(a_revoke_stops_an_apply_and_waits_for_it),
		T(a_discard_is_cleaned_again_after_a_crash),
		T(an_apply_names_what_the_caller_saw),
		T(another_user_sees_and_moves_nothing),
		T(a_refused_attempt_is_a_record_within_a_budget),
		T(a_request_with_an_id_happens_once),
		T(what_must_not_be_exposed_is_not),
		T(a_source_that_changed_makes_its_lease_suspect),
		T(a_follower_hears_every_record),
		T(an_attach_has_a_receipt_with_the_nonce),
		T(every_reading_request_answers),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
