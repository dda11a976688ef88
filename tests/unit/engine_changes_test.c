/* SPDX-License-Identifier: ISC */
/* engine_changes_test.c - staged work through the engine. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <cmocka.h>

#include "tests/lib/paper.h"

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
an_apply_is_answered_when_it_is_done_and_durable(void **state)
{
	struct paper *p = *state;
	struct id c = paper_staged(p);
	int64_t n = paper_ask(p, PAPER_ME, "change.apply", "{'id':'%s'}", paper_text(MACHINE_CHANGE, &c));

	paper_turn(p);
	assert_null(paper_answered(p, n));
	assert_int_equal(CHANGE_APPLYING, CHANGE(p, c));
	assert_int_equal(1, paper_orders(p, ORDER_APPLY, &c));
	assert_int_equal(ERR_OK, paper_result(p, &c, WORK_WHOLE));
	assert_string_equal("applied", paper_get(paper_ok(p, n), "state"));
	assert_string_equal("whole", paper_get(paper_ok(p, n), "outcome"));
	n = paper_ask(p, PAPER_ME, "change.undo", "{'id':'%s'}", paper_text(MACHINE_CHANGE, &c));
	paper_turn(p);
	assert_int_equal(ERR_OK, paper_result(p, &c, WORK_WHOLE));
	assert_string_equal("undone", paper_get(paper_ok(p, n), "state"));
}

static void
a_conflict_goes_back_to_staged_and_names_the_paths(void **state)
{
	struct paper *p = *state;
	struct id c = paper_staged(p);
	int64_t n = paper_ask(p, PAPER_ME, "change.apply", "{'id':'%s'}", paper_text(MACHINE_CHANGE, &c));
	struct str s;

	paper_turn(p);
	assert_int_equal(ERR_OK, paper_result(p, &c, WORK_CONFLICT));
	assert_string_equal("staged", paper_get(paper_ok(p, n), "state"));
	assert_string_equal("conflict", paper_get(paper_ok(p, n), "outcome"));
	assert_int_equal(0, json_text(json_at(json_get(paper_ok(p, n), "conflicts"), 1), &s));
	assert_true(str_eq(s, STR("b/c")));
}

static void
an_undo_that_touched_nothing_leaves_it_applied(void **state)
{
	struct paper *p = *state;
	struct id c = paper_staged(p);
	int64_t n;

	(void)paper_ask(p, PAPER_ME, "change.apply", "{'id':'%s'}", paper_text(MACHINE_CHANGE, &c));
	paper_turn(p);
	assert_int_equal(ERR_OK, paper_result(p, &c, WORK_WHOLE));
	n = paper_ask(p, PAPER_ME, "change.undo", "{'id':'%s'}", paper_text(MACHINE_CHANGE, &c));
	paper_turn(p);
	assert_int_equal(ERR_OK, paper_result(p, &c, WORK_CONFLICT));
	assert_string_equal("applied", paper_get(paper_ok(p, n), "state"));
	assert_string_equal("conflict", paper_get(paper_ok(p, n), "outcome"));
	/* Stopped half way it is partial, and a conflict keeps it so. */
	for (int i = 0; i < 2; i++) {
		n = paper_ask(p, PAPER_ME, "change.undo", "{'id':'%s'}", paper_text(MACHINE_CHANGE, &c));
		paper_turn(p);
		assert_int_equal(ERR_OK, paper_result(p, &c,
		    i == 0 ? WORK_PARTIAL : WORK_CONFLICT));
		assert_string_equal("partial", paper_get(paper_ok(p, n), "state"));
	}
}

static void
an_apply_that_a_crash_cut_short_waits_for_a_person(void **state)
{
	struct paper *p = *state;
	struct id c = paper_staged(p);
	int64_t n;

	(void)paper_ask(p, PAPER_ME, "change.apply", "{'id':'%s'}", paper_text(MACHINE_CHANGE, &c));
	paper_turn(p);
	paper_down(p);
	paper_up(p);
	assert_int_equal(CHANGE_PARTIAL, CHANGE(p, c));
	assert_int_equal(1, paper_orders(p, ORDER_APPLY, &c));
	n = paper_ask(p, PAPER_ME, "change.apply", "{'id':'%s','resume':true}", paper_text(MACHINE_CHANGE, &c));
	paper_turn(p);
	assert_int_equal(2, paper_orders(p, ORDER_APPLY, &c));
	assert_int_equal(ERR_OK, paper_result(p, &c, WORK_WHOLE));
	assert_string_equal("applied", paper_get(paper_ok(p, n), "state"));
}

static void
a_revoke_stops_an_apply_and_waits_for_it(void **state)
{
	struct paper *p = *state;
	struct id c = paper_staged(p), x;
	int64_t apply, revoke, again;

	assert_int_equal(0, paper_fact_id(p, MACHINE_CHANGE, &c, CHANGE_FACT_exposure, &x));
	apply = paper_ask(p, PAPER_ME, "change.apply", "{'id':'%s'}", paper_text(MACHINE_CHANGE, &c));
	paper_turn(p);
	revoke = paper_ask(p, PAPER_ME, "exposure.revoke", "{'id':'%s'}", paper_text(MACHINE_EXPOSURE, &x));
	paper_turn(p);
	assert_int_equal(1, paper_orders(p, ORDER_HALT, &x));
	assert_null(paper_answered(p, revoke));
	assert_int_equal(ERR_OK, paper_result(p, &c, WORK_PARTIAL));
	assert_string_equal("partial", paper_get(paper_ok(p, apply), "state"));
	assert_string_equal("revoked", paper_get(paper_ok(p, revoke), "state"));
	again = paper_ask(p, PAPER_ME, "change.apply", "{'id':'%s','resume':true}", paper_text(MACHINE_CHANGE, &c));
	paper_turn(p);
	assert_int_equal(ERR_REVOKED, paper_code(p, again));
}

static void
a_discard_is_cleaned_again_after_a_crash(void **state)
{
	struct paper *p = *state;
	struct id c = paper_staged(p);
	int64_t n;

	(void)paper_ask(p, PAPER_ME, "change.discard", "{'id':'%s'}", paper_text(MACHINE_CHANGE, &c));
	paper_turn(p);
	paper_down(p);
	paper_up(p);
	assert_int_equal(CHANGE_DISCARDED, CHANGE(p, c));
	assert_int_equal(2, paper_orders(p, ORDER_CLEAN, &c));
	n = paper_ask(p, PAPER_ME, "change.discard", "{'id':'%s'}", paper_text(MACHINE_CHANGE, &c));
	assert_int_equal(ERR_OK, paper_result(p, &c, WORK_WHOLE));
	assert_string_equal("discarded", paper_get(paper_ok(p, n), "state"));
}

static void
an_apply_names_what_the_caller_saw(void **state)
{
	struct paper *p = *state;
	struct id c = paper_staged(p);
	int64_t n = paper_ask(p, PAPER_ME, "change.apply", "{'id':'%s','manifest':"
	    "'ff00000000000000000000000000000000000000000000000000000000000000'}",
	    paper_text(MACHINE_CHANGE, &c));

	paper_turn(p);
	assert_int_equal(ERR_STALE, paper_code(p, n));
	assert_int_equal(CHANGE_STAGED, CHANGE(p, c));
}

int
main(void)
{
#define T(name) cmocka_unit_test_setup_teardown(name, setup, teardown)
	const struct CMUnitTest tests[] = {
		T(an_apply_is_answered_when_it_is_done_and_durable),
		T(a_conflict_goes_back_to_staged_and_names_the_paths),
		T(an_undo_that_touched_nothing_leaves_it_applied),
		T(an_apply_that_a_crash_cut_short_waits_for_a_person),
		T(a_revoke_stops_an_apply_and_waits_for_it),
		T(a_discard_is_cleaned_again_after_a_crash),
		T(an_apply_names_what_the_caller_saw),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
