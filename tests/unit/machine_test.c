/* SPDX-License-Identifier: ISC */
/*
 * Generated from the tables: a state or an edge that is added is tested on the
 * day it is added.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>
#include <cmocka.h>

#include "lifecycle/machine.h"

static void
every_three_integers_are_answered(void **state)
{
	struct step step = { -7, EFFECT_NONE };
	struct err e;

	(void)state;
	for (int m = -2; m < 20; m++)
		for (int from = -2; from < 40; from++)
			for (int ev = -2; ev < 40; ev++) {
				step.to = -7;
				if (machine_step(m, from, ev, &step, &e) == 0) {
					assert_true(step.to >= 0);
					assert_true(step.to < machine_states(m));
					continue;
				}
				assert_int_equal(ERR_ILLEGAL, e.code);
				assert_int_equal(-7, step.to);
			}
}

static void
final_states_have_no_way_out(void **state)
{
	struct step step;
	struct err e;

	(void)state;
	for (int m = 0; m < MACHINE_END; m++)
		for (int s = 1; s < machine_states(m); s++)
			for (int ev = 1; ev < machine_events(m); ev++)
				if (machine_final(m, s) &&
				    machine_step(m, s, ev, &step, &e) == 0)
					assert_int_equal(s, step.to);
}

static void
every_state_can_be_reached_from_nothing(void **state)
{
	struct step step;
	struct err e;

	(void)state;
	for (int m = 1; m < MACHINE_END; m++) {
		char seen[64] = { 1 };

		for (int round = 0; round < 64; round++)
			for (int s = 0; s < machine_states(m); s++)
				for (int ev = 1; ev < machine_events(m); ev++)
					if (seen[s] && machine_step(m, s, ev,
					    &step, &e) == 0)
						seen[step.to] = 1;
		for (int s = 1; s < machine_states(m); s++)
			if (machine_state_doc(m, s)[0] != '\0' && !seen[s])
				fail_msg("%s %s", machine_name(m),
				    machine_state_name(m, s));
	}
}

static void
every_state_that_is_not_final_leads_to_a_rest(void **state)
{
	struct step step;
	struct err e;

	(void)state;
	for (int m = 1; m < MACHINE_END; m++)
		for (int s = 1; s < machine_states(m); s++) {
			int ways = 0;

			if (machine_state_doc(m, s)[0] == '\0' ||
			    machine_final(m, s))
				continue;
			for (int ev = 1; ev < machine_events(m); ev++)
				ways += machine_step(m, s, ev, &step, &e) == 0;
			assert_true(ways > 0);
		}
}

static void
every_event_is_used_by_an_edge(void **state)
{
	struct step step;
	struct err e;

	(void)state;
	for (int m = 0; m < MACHINE_END; m++)
		for (int ev = 1; ev < machine_events(m); ev++) {
			int used = 0;

			if (machine_event_doc(m, ev)[0] == '\0')
				continue;
			for (int s = 0; s < machine_states(m); s++)
				used += machine_step(m, s, ev, &step, &e) == 0;
			if (!used)
				fail_msg("%s %s", machine_name(m),
				    machine_event_name(m, ev));
		}
}

static void
nothing_runs_but_through_the_gate(void **state)
{
	struct step step;
	struct err e;

	(void)state;
	for (int s = 0; s < SESSION_STATE_END; s++)
		for (int ev = 1; ev < SESSION_EVENT_END; ev++)
			if (machine_step(MACHINE_SESSION, s, ev, &step, &e) == 0 &&
			    step.to == SESSION_RUNNING && s != SESSION_RUNNING) {
				assert_int_equal(SESSION_STARTING, s);
				assert_int_equal(SESSION_EV_gate_open, ev);
				assert_int_equal(EFFECT_RELEASE, step.effect);
			}
}

static void
what_runs_can_be_stopped_revoked_and_expired(void **state)
{
	static const int evs[] = { SESSION_EV_stop, SESSION_EV_revoke,
	    SESSION_EV_expire };
	static const int from[] = { SESSION_STARTING, SESSION_RUNNING };
	struct step step;
	struct err e;

	(void)state;
	for (size_t i = 0; i < 3; i++)
		for (size_t k = 0; k < 2; k++) {
			assert_int_equal(0, machine_step(MACHINE_SESSION,
			    from[k], evs[i], &step, &e));
			assert_int_equal(SESSION_STOPPING, step.to);
			assert_int_equal(EFFECT_KILL, step.effect);
		}
}

static void
a_lease_that_is_not_active_is_not_renewed(void **state)
{
	struct step step;
	struct err e;

	(void)state;
	for (int s = 0; s < EXPOSURE_STATE_END; s++)
		assert_int_equal(s == EXPOSURE_ACTIVE, machine_step(
		    MACHINE_EXPOSURE, s, EXPOSURE_EV_renew, &step, &e) == 0);
}

static void
what_is_owed_follows_the_rule(void **state)
{
	(void)state;
	assert_int_equal(EFFECT_SPAWN, machine_owed(EFFECT_NONE, 1, 3, EFFECT_SPAWN));
	/* a move pays for what the state before owed, */
	assert_int_equal(EFFECT_NONE, machine_owed(EFFECT_SPAWN, 3, 6, EFFECT_NONE));
	/* a record within a state does not, */
	assert_int_equal(EFFECT_RELEASE, machine_owed(EFFECT_RELEASE, 4, 4, EFFECT_NONE));
	/* unless it says so. */
	assert_int_equal(EFFECT_NONE, machine_owed(EFFECT_CLEAN, 5, 5, EFFECT_DONE));
	assert_int_equal(EFFECT_KILL, machine_owed(EFFECT_RELEASE, 4, 5, EFFECT_KILL));
}

static void
nothing_is_owed_in_a_final_state_but_cleaning(void **state)
{
	struct step step;
	struct err e;

	(void)state;
	for (int m = 1; m < MACHINE_END; m++)
		for (int s = 0; s < machine_states(m); s++)
			for (int ev = 1; ev < machine_events(m); ev++)
				if (machine_step(m, s, ev, &step, &e) == 0 &&
				    machine_final(m, step.to) && s != step.to)
					assert_true(step.effect == EFFECT_NONE ||
					    step.effect == EFFECT_CLEAN);
}

static void
names_are_found_again_and_never_null(void **state)
{
	(void)state;
	for (int m = -1; m <= MACHINE_END; m++)
		for (int s = -1; s < 64; s++) {
			const char *name = machine_state_name(m, s);

			assert_non_null(name);
			assert_non_null(machine_event_name(m, s));
			assert_non_null(machine_state_doc(m, s));
			assert_non_null(machine_event_doc(m, s));
			if (machine_state_doc(m, s)[0] != '\0')
				assert_int_equal(s, machine_state_find(m, name));
		}
	for (int i = -1; i < 64; i++) {
		assert_non_null(cause_word(i));
		assert_non_null(effect_name(i));
		assert_non_null(actor_word(i));
		assert_non_null(keyuse_word(i));
		if (i > 0 && i < MODE_END)
			assert_int_equal(i, mode_parse(mode_word(i)));
	}
}

static void
links_are_found_by_what_they_join(void **state)
{
	const struct link *l;

	(void)state;
	assert_non_null(l = link_required(MACHINE_CHANGE, CHANGE_EV_stage));
	assert_ptr_equal(l, link_find(LINK_MUTUAL, MACHINE_CHANGE,
	    CHANGE_EV_stage, MACHINE_SESSION, SESSION_EV_ended));
	assert_null(link_required(MACHINE_SESSION, SESSION_EV_ended));
	assert_null(link_find(LINK_CAUSE, MACHINE_SESSION, SESSION_EV_stop,
	    MACHINE_EXPOSURE, EXPOSURE_EV_revoke));
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(every_three_integers_are_answered),
		cmocka_unit_test(final_states_have_no_way_out),
		cmocka_unit_test(every_state_can_be_reached_from_nothing),
		cmocka_unit_test(every_state_that_is_not_final_leads_to_a_rest),
		cmocka_unit_test(every_event_is_used_by_an_edge),
		cmocka_unit_test(nothing_runs_but_through_the_gate),
		cmocka_unit_test(what_runs_can_be_stopped_revoked_and_expired),
		cmocka_unit_test(a_lease_that_is_not_active_is_not_renewed),
		cmocka_unit_test(what_is_owed_follows_the_rule),
		cmocka_unit_test(nothing_is_owed_in_a_final_state_but_cleaning),
		cmocka_unit_test(names_are_found_again_and_never_null),
		cmocka_unit_test(links_are_found_by_what_they_join),
	};

	return cmocka_run_group_tests_name("machine", tests, NULL, NULL);
}
