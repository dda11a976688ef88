/* SPDX-License-Identifier: ISC */
/* engine_test.c - the engine in a world of paper: runs, who may what, how often. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <cmocka.h>

#include "tests/lib/paper.h"

enum { US = 1000000 };

#define START_ONCE "{'command':['true'],'cwd':'/srv/app','path':'/srv/app'," \
	"'mode':'staged','terminal':false,'request_id':'r-1'%s}"

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


static void
a_run_goes_from_intent_through_the_gate_to_its_end(void **state)
{
	struct paper *p = *state;
	struct id id = paper_start(p, PAPER_ME), change;
	int64_t wait;

	assert_int_equal(SESSION_STARTING, SESSION(p, id));
	assert_int_equal(1, paper_orders(p, ORDER_BUILD, &id));
	assert_int_equal(0, paper_orders(p, ORDER_GATE, &id));
	assert_int_equal(ERR_OK, paper_ready(p, &id));
	assert_int_equal(1, paper_orders(p, ORDER_GATE, &id));
	assert_int_equal(PAPER_RUNS, paper_box(p, &id)->state);

	wait = paper_ask(p, PAPER_ME, "session.wait", "{'id':'%s'}", paper_text(MACHINE_SESSION, &id));
	paper_turn(p);
	assert_null(paper_answered(p, wait));
	assert_int_equal(ERR_OK, paper_ended(p, &id, CAUSE_EXITED, 1));
	assert_string_equal("ended", paper_get(paper_ok(p, wait), "state"));
	assert_string_equal("exited", paper_get(paper_ok(p, wait), "ended_by"));
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
	struct id id = paper_start(p, PAPER_ME);
	int64_t n;

	assert_int_equal(ERR_OK, paper_failed(p, &id));
	assert_int_equal(SESSION_ENDED, SESSION(p, id));
	n = paper_ask(p, PAPER_ME, "session.show", "{'id':'%s'}", paper_text(MACHINE_SESSION, &id));
	paper_turn(p);
	assert_string_equal("failed", paper_get(paper_ok(p, n), "ended_by"));
	assert_string_equal("it would not stand",
	    paper_get(json_get(paper_ok(p, n), "error"), "message"));
}

static void
an_order_to_build_that_fails_is_the_answer_and_a_record(void **state)
{
	struct paper *p = *state;
	int64_t n, list;

	p->refuse_build = 1;
	n = paper_ask(p, PAPER_ME, "session.start", "{'command':['true'],'cwd':'/srv/app',"
	    "'path':'/srv/app','mode':'ro','terminal':false}");
	paper_turn(p);
	assert_int_equal(ERR_SANDBOX, paper_code(p, n));
	list = paper_ask(p, PAPER_ME, "session.list", "{'all':true}");
	paper_turn(p);
	assert_string_equal("ended",
	    paper_get(json_at(json_get(paper_ok(p, list), "sessions"), 0), "state"));
}

static void
a_detached_start_is_answered_when_it_runs_or_cannot(void **state)
{
	struct paper *p = *state;
	struct id id;
	int64_t n[2];

	for (int i = 0; i < 2; i++) {
		n[i] = paper_ask(p, PAPER_ME, "session.start", "{'command':['true'],"
		    "'cwd':'/','path':'/srv/app','mode':'ro','terminal':false,"
		    "'detach':true}");
		paper_turn(p);
		assert_null(paper_answered(p, n[i]));
		id = p->box[p->nbox - 1].session;
		assert_int_equal(ERR_OK, i == 0 ? paper_ready(p, &id) :
		    paper_failed(p, &id));
	}
	assert_string_equal(paper_text(MACHINE_SESSION, &p->box[0].session),
	    paper_get(paper_ok(p, n[0]), "session"));
	assert_int_equal(ERR_SANDBOX, paper_code(p, n[1]));
}

static void
news_of_the_end_may_come_twice(void **state)
{
	struct paper *p = *state;
	struct id id = paper_running(p);
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
	struct id id = paper_running(p);
	const char *text = paper_text(MACHINE_SESSION, &id);
	int64_t one, two, three;

	one = paper_ask(p, PAPER_ME, "session.stop", "{'id':'%s'}", text);
	paper_turn(p);
	assert_null(paper_answered(p, one));
	assert_int_equal(SESSION_STOPPING, SESSION(p, id));
	assert_int_equal(1, paper_orders(p, ORDER_STOP, &id));
	assert_int_equal(STOP_GRACE_S * US, p->order[p->norder - 1].grace_us);
	two = paper_ask(p, PAPER_ME, "session.stop", "{'id':'%s','now':true}", text);
	paper_turn(p);
	assert_int_equal(2, paper_orders(p, ORDER_STOP, &id));
	assert_int_equal(0, p->order[p->norder - 1].grace_us);
	assert_int_equal(ERR_OK, paper_ended(p, &id, CAUSE_STOPPED, 0));
	assert_string_equal("stopped", paper_get(paper_ok(p, one), "ended_by"));
	assert_string_equal("stopped", paper_get(paper_ok(p, two), "ended_by"));
	three = paper_ask(p, PAPER_ME, "session.stop", "{'id':'%s'}", text);
	paper_turn(p);
	assert_string_equal("stopped", paper_get(paper_ok(p, three), "ended_by"));
}

static void
two_stops_in_one_turn_are_one_record_and_one_order(void **state)
{
	struct paper *p = *state;
	struct id id = paper_running(p);
	const char *text = paper_text(MACHINE_SESSION, &id);

	(void)paper_ask(p, PAPER_ME, "session.stop", "{'id':'%s'}", text);
	(void)paper_ask(p, PAPER_ME, "session.stop", "{'id':'%s','now':true}", text);
	paper_turn(p);
	assert_int_equal(1, paper_orders(p, ORDER_STOP, &id));
	assert_int_equal(0, p->order[p->norder - 1].grace_us);
}


static void
another_user_sees_and_moves_nothing(void **state)
{
	struct paper *p = *state;
	struct id id = paper_running(p), x = paper_lease(p, &id);
	int64_t show, stop, list, revoke;

	show = paper_ask(p, PAPER_OTHER, "session.show", "{'id':'%s'}", paper_text(MACHINE_SESSION, &id));
	stop = paper_ask(p, PAPER_OTHER, "session.stop", "{'id':'%s'}", paper_text(MACHINE_SESSION, &id));
	revoke = paper_ask(p, PAPER_OTHER, "exposure.revoke", "{'id':'%s'}", paper_text(MACHINE_EXPOSURE, &x));
	list = paper_ask(p, PAPER_OTHER, "session.list", "{}");
	paper_turn(p);
	assert_int_equal(ERR_DENIED, paper_code(p, show));
	assert_int_equal(ERR_DENIED, paper_code(p, stop));
	assert_int_equal(ERR_DENIED, paper_code(p, revoke));
	assert_int_equal(0, json_len(json_get(paper_ok(p, list), "sessions")));
	assert_int_equal(SESSION_RUNNING, SESSION(p, id));
}

static void
a_refused_attempt_is_a_record_within_a_budget(void **state)
{
	struct paper *p = *state;
	struct id c = paper_staged(p);
	uint64_t before;
	int64_t n = 0, record = 0;

	n = paper_ask(p, PAPER_ME, "change.undo", "{'id':'%s'}", paper_text(MACHINE_CHANGE, &c));
	paper_turn(p);
	assert_int_equal(ERR_ILLEGAL, paper_code(p, n));
	assert_int_equal(0, json_int(json_get(paper_answered(p, n)->data, "record"), &record));
	assert_true((uint64_t)record == journal_size(p->j) - 2);
	before = journal_size(p->j);
	for (int i = 0; i < REFUSALS_BURST + 10; i++)
		(void)paper_ask(p, PAPER_ME, "change.undo", "{'id':'%s'}", paper_text(MACHINE_CHANGE, &c));
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

	a = paper_ask(p, PAPER_ME, "session.start", START_ONCE, "");
	b = paper_ask(p, PAPER_ME, "session.start", START_ONCE, "");
	paper_turn(p);
	size = journal_size(p->j);
	c = paper_ask(p, PAPER_ME, "session.start", START_ONCE, "");
	paper_turn(p);
	assert_true(size == journal_size(p->j));
	snprintf(first, sizeof(first), "%s", paper_get(paper_ok(p, a), "session"));
	assert_string_equal(first, paper_get(paper_ok(p, b), "session"));
	assert_string_equal(first, paper_get(paper_ok(p, c), "session"));
	assert_int_equal(1, p->nbox);
	/* The same words from somebody else, or about something else, are new. */
	d = paper_ask(p, PAPER_ME, "session.start", START_ONCE, ",'name':'x'");
	paper_turn(p);
	assert_int_equal(ERR_ILLEGAL, paper_code(p, d));
	d = paper_ask(p, PAPER_OTHER, "session.start", START_ONCE, "");
	paper_turn(p);
	assert_string_not_equal(first, paper_get(paper_ok(p, d), "session"));
	/* Also after a restart. */
	paper_down(p);
	paper_up(p);
	c = paper_ask(p, PAPER_ME, "session.start", START_ONCE, "");
	paper_turn(p);
	assert_string_equal(first, paper_get(paper_ok(p, c), "session"));
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
		n = paper_ask(p, PAPER_ME, "exposure.open", "{'path':'%s','mode':'ro'}", paths[i]);
		paper_turn(p);
		if (paper_code(p, n) != ERR_DENIED)
			fail_msg("%s: %d", paths[i], paper_code(p, n));
		/* That somebody tried is on record. */
		assert_true(json_is_int(json_get(paper_answered(p, n)->data, "record")));
	}
	n = paper_ask(p, PAPER_ME, "exposure.open", "{'path':'%s','mode':'ro'}", p->dir);
	paper_turn(p);
	assert_int_equal(ERR_DENIED, paper_code(p, n));
	n = paper_ask(p, PAPER_ME, "exposure.open", "{'path':'/home/u/app','mode':'ro'}");
	paper_turn(p);
	assert_int_equal(ERR_OK, paper_code(p, n));
}

static void
a_source_that_changed_makes_its_lease_suspect(void **state)
{
	struct paper *p = *state;
	struct id id = paper_running(p), x = paper_lease(p, &id);
	int64_t n;

	p->ino++;
	n = paper_ask(p, PAPER_ME, "session.start", "{'command':['true'],'cwd':'/',"
	    "'path':'/srv/app','mode':'staged','terminal':false,'exposure':'%s'}",
	    paper_text(MACHINE_EXPOSURE, &x));
	paper_turn(p);
	assert_int_equal(ERR_ILLEGAL, paper_code(p, n));
	assert_int_equal(EXPOSURE_SUSPECT, EXPOSURE(p, x));
}

static void
a_follower_hears_every_record(void **state)
{
	struct paper *p = *state;

	(void)paper_ask(p, PAPER_ME, "journal.follow", "{}");
	paper_turn(p);
	(void)paper_running(p);
	assert_int_equal(4, p->nnotes);
	engine_gone(p->en, 1);
	(void)paper_start(p, PAPER_ME);
	assert_int_equal(4, p->nnotes);
}

static void
an_attach_has_a_receipt_with_the_nonce(void **state)
{
	struct paper *p = *state;
	struct id id = paper_running(p);
	const char *nonce = "00112233445566778899aabbccddeeff00112233445566778899aabbccddeeff";
	int64_t n = paper_ask(p, PAPER_ME, "session.attach", "{'id':'%s','nonce':'%s'}",
	    paper_text(MACHINE_SESSION, &id), nonce);

	paper_turn(p);
	assert_non_null(strstr(paper_get(paper_ok(p, n), "receipt"), "c2sp.org/tlog-proof@v1"));
	n = paper_ask(p, PAPER_ME, "session.exec", "{'id':'%s','nonce':'%s','command':['ls','-l']}",
	    paper_text(MACHINE_SESSION, &id), nonce);
	paper_turn(p);
	assert_non_null(paper_ok(p, n));
}

static void
every_reading_request_answers(void **state)
{
	struct paper *p = *state;
	struct id c = paper_staged(p);
	int64_t n[16];
	size_t k = 0;

	n[k++] = paper_ask(p, PAPER_ME, "hello", "{'schema':'glove.control/1','client':'t'}");
	n[k++] = paper_ask(p, PAPER_ME, "daemon.status", "{}");
	n[k++] = paper_ask(p, PAPER_ME, "resolve", "{'prefix':'%.6s'}", paper_text(MACHINE_CHANGE, &c));
	n[k++] = paper_ask(p, PAPER_ME, "change.list", "{}");
	n[k++] = paper_ask(p, PAPER_ME, "change.show", "{'id':'%s'}", paper_text(MACHINE_CHANGE, &c));
	n[k++] = paper_ask(p, PAPER_ME, "exposure.list", "{'all':true}");
	n[k++] = paper_ask(p, PAPER_ME, "record.list", "{}");
	n[k++] = paper_ask(p, PAPER_ME, "record.list", "{'subject':'%s'}", paper_text(MACHINE_CHANGE, &c));
	n[k++] = paper_ask(p, PAPER_ME, "record.raw", "{'from':0}");
	n[k++] = paper_ask(p, PAPER_ME, "commit.raw", "{'from':0}");
	n[k++] = paper_ask(p, PAPER_ME, "sealed.list", "{}");
	n[k++] = paper_ask(p, PAPER_ME, "derived.list", "{'machine':'session'}");
	n[k++] = paper_ask(p, PAPER_ME, "receipt.get", "{'record':3}");
	n[k++] = paper_ask(p, PAPER_ME, "checkpoint.get", "{}");
	n[k++] = paper_ask(p, PAPER_ME, "key.list", "{}");
	paper_turn(p);
	for (size_t i = 0; i < k; i++)
		assert_true(json_is_object(paper_ok(p, n[i])));
	assert_true(json_len(json_get(paper_ok(p, n[6]), "records")) > 5);
	assert_int_equal(1, json_len(json_get(paper_ok(p, n[7]), "records")));
	assert_true(json_len(json_get(paper_ok(p, n[9]), "commits")) >= 3);
	assert_int_equal(1, json_len(json_get(paper_ok(p, n[11]), "rows")));
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
