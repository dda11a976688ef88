/* SPDX-License-Identifier: ISC */
/* engine_races_test.c - races, crashes and clocks, traced through the engine. */
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

enum { US = 1000000 };

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
a_revoke_between_intent_and_gate_wins(void **state)
{
	struct paper *p = *state;
	struct id id = paper_start(p, PAPER_ME), x = paper_lease(p, &id);
	int64_t n;

	n = paper_ask(p, PAPER_ME, "exposure.revoke", "{'id':'%s'}", paper_text(MACHINE_EXPOSURE, &x));
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
	assert_string_equal("revoked", paper_get(paper_ok(p, n), "state"));
}

static void
no_session_starts_on_what_was_revoked(void **state)
{
	struct paper *p = *state;
	struct id id = paper_running(p), x = paper_lease(p, &id);
	int64_t revoke, start;

	/* Both in one turn: the order of the requests decides. */
	revoke = paper_ask(p, PAPER_ME, "exposure.revoke", "{'id':'%s'}", paper_text(MACHINE_EXPOSURE, &x));
	start = paper_ask(p, PAPER_ME, "session.start", "{'command':['true'],'cwd':'/',"
	    "'path':'/srv/app','mode':'staged','terminal':false,'exposure':'%s'}",
	    paper_text(MACHINE_EXPOSURE, &x));
	paper_turn(p);
	assert_int_equal(ERR_REVOKED, paper_code(p, start));
	assert_null(paper_answered(p, revoke));
	assert_int_equal(ERR_OK, paper_ended(p, &id, CAUSE_REVOKED, 0));
	assert_string_equal("revoked", paper_get(paper_ok(p, revoke), "state"));
}

static void
a_renew_after_a_revoke_fails_and_before_it_succeeds(void **state)
{
	struct paper *p = *state;
	struct id id = paper_running(p), x = paper_lease(p, &id);
	const char *text = paper_text(MACHINE_EXPOSURE, &x);
	int64_t before, revoke, after;

	before = paper_ask(p, PAPER_ME, "exposure.renew", "{'id':'%s','ttl_s':60}", text);
	revoke = paper_ask(p, PAPER_ME, "exposure.revoke", "{'id':'%s','wait':false}", text);
	after = paper_ask(p, PAPER_ME, "exposure.renew", "{'id':'%s','ttl_s':60}", text);
	paper_turn(p);
	assert_int_equal(ERR_OK, paper_code(p, before));
	assert_int_equal(ERR_OK, paper_code(p, revoke));
	assert_int_equal(ERR_REVOKED, paper_code(p, after));
	assert_int_equal(EXPOSURE_CLOSING, EXPOSURE(p, x));
}

static void
a_lease_that_ends_at_the_gate_keeps_it_shut(void **state)
{
	struct paper *p = *state;
	struct id id = paper_start(p, PAPER_ME), x = paper_lease(p, &id);

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
	struct id id = paper_start(p, PAPER_ME);

	paper_down(p);
	paper_up(p);
	assert_int_equal(SESSION_ENDED, SESSION(p, id));
	assert_int_equal(PAPER_GONE, paper_box(p, &id)->state);
	assert_int_equal(0, paper_orders(p, ORDER_GATE, &id));
}


static void
a_running_session_is_adopted(void **state)
{
	struct paper *p = *state;
	struct id id = paper_running(p);

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
	struct id id = paper_running(p);

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
	struct id id = paper_running(p), x = paper_lease(p, &id);

	(void)paper_ask(p, PAPER_ME, "exposure.revoke", "{'id':'%s'}", paper_text(MACHINE_EXPOSURE, &x));
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
	struct id a = paper_running(p), b = paper_start(p, PAPER_ME);
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


static void
either_clock_ends_a_session(void **state)
{
	struct paper *p = *state;
	struct id a = paper_running(p);
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
	    &(struct id[]){ paper_lease(p, &a) }[0]));
}

static void
a_renewal_never_passes_the_latest_end(void **state)
{
	struct paper *p = *state;
	int64_t n, no, yes;
	char id[64];

	n = paper_ask(p, PAPER_ME, "exposure.open",
	    "{'path':'/srv/app','mode':'staged','ttl_s':60,'max_s':120}");
	paper_turn(p);
	snprintf(id, sizeof(id), "%s", paper_get(paper_ok(p, n), "id"));
	paper_tick(p, 50 * US);
	no = paper_ask(p, PAPER_ME, "exposure.renew", "{'id':'%s','ttl_s':71}", id);
	yes = paper_ask(p, PAPER_ME, "exposure.renew", "{'id':'%s','ttl_s':71,'up_to':true}", id);
	paper_turn(p);
	assert_int_equal(ERR_LIMIT, paper_code(p, no));
	n = 0;
	assert_int_equal(0, json_int(json_get(paper_answered(p, no)->data, "max_ttl_s"), &n));
	assert_int_equal(70, n);
	assert_int_equal(0, json_int(json_get(paper_ok(p, yes), "generation"), &n));
	assert_int_equal(2, n);
	no = paper_ask(p, PAPER_ME, "exposure.renew", "{'id':'%s','ttl_s':1,'expect_gen':1}", id);
	paper_turn(p);
	assert_int_equal(ERR_STALE, paper_code(p, no));
}

int
main(void)
{
#define T(name) cmocka_unit_test_setup_teardown(name, setup, teardown)
	const struct CMUnitTest tests[] = {
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
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
