/* SPDX-License-Identifier: ISC */
/* J2: the derived tables are what a replay of the records gives. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>
#include <cmocka.h>

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

static void
a_replay_of_random_walks_gives_the_stored_tables(void **state)
{
	struct home *h = *state;

	for (uint64_t seed = 1; seed <= 8; seed++) {
		struct walk w = { .seed = seed * 0x9e3779b97f4a7c15u };
		struct err e;

		for (int commit = 0; commit < 20; commit++) {
			struct journal_txn *t;
			uint64_t n = 1 + walk_random(&w) % 12;

			must(journal_begin(h->j, &t, &e));
			for (uint64_t i = 0; i < n; i++)
				must(walk_step(&w, h->j, t, &e));
			must(home_commit(t, &e));
		}
		must(journal_check_derived(h->j, &e));
	}
}

/* A record as the first of a lease. */
static struct record
first(void)
{
	static const uint8_t scope[32] = { 1 };
	static const uint8_t one[8] = { 0, 0, 0, 0, 0, 0, 0, 1 };
	struct record r = { .machine = MACHINE_EXPOSURE, .index = 7,
	    .time_us = 1000, .prev = RECORD_NO_PREV,
	    .event = EXPOSURE_EV_expose, .to = EXPOSURE_ACTIVE, .nfields = 2 };

	r.field[0] = (struct tlv){ FIELD_GENERATION, BYTES(one) };
	r.field[1] = (struct tlv){ FIELD_SCOPE_DIGEST, BYTES(scope) };
	return r;
}

/* And the next one, a renewal. */
static struct record
next(const struct record *r)
{
	struct record n = *r;

	n.index = r->index + 3;
	n.prev = r->index;
	n.subject_seq = r->subject_seq + 1;
	n.time_us = r->time_us + 500;
	n.event = EXPOSURE_EV_renew;
	n.from = n.to = EXPOSURE_ACTIVE;
	n.nfields = 0;
	return n;
}

static void
the_last_value_of_a_fact_is_kept(void **state)
{
	static const uint8_t two[8] = { 0, 0, 0, 0, 0, 0, 0, 2 };
	struct record a = first(), b = next(&a);
	struct subject s;
	struct err e;

	(void)state;
	b.nfields = 1;
	b.field[0] = (struct tlv){ FIELD_GENERATION, BYTES(two) };
	must(fold(&a, 1, &s, &e));
	assert_int_equal(s.fact[EXPOSURE_FACT_generation].i, 1);
	must(fold(&b, 0, &s, &e));
	assert_int_equal(s.fact[EXPOSURE_FACT_generation].i, 2);
	assert_true(s.fact[EXPOSURE_FACT_scope].present);
	assert_false(s.fact[EXPOSURE_FACT_ends_us].present);
	assert_int_equal(s.first, 7);
	assert_int_equal(s.last, 10);
	assert_int_equal(s.born_us, 1000);
	assert_int_equal(s.moved_us, 1500);
}

static void
a_refused_attempt_counts_and_changes_nothing_else(void **state)
{
	static const uint8_t nine[8] = { 0, 0, 0, 0, 0, 0, 0, 9 };
	struct record a = first(), b = next(&a);
	struct subject s, before;
	struct err e;

	(void)state;
	must(fold(&a, 1, &s, &e));
	before = s;
	b.flags = RECORD_REFUSED;
	b.nfields = 1;
	b.field[0] = (struct tlv){ FIELD_GENERATION, BYTES(nine) };
	must(fold(&b, 0, &s, &e));
	assert_int_equal(s.seq, 1);
	assert_int_equal(s.last, b.index);
	s.seq = before.seq;
	s.last = before.last;
	assert_true(subject_same(&s, &before));
}

static void
an_attempt_on_what_does_not_exist_yet_leaves_it_so(void **state)
{
	struct record a = first(), b = first();
	struct subject s;
	struct err e;

	(void)state;
	a.flags = RECORD_REFUSED;
	a.to = 0;
	must(fold(&a, 1, &s, &e));
	assert_int_equal(s.state, 0);
	b.index = 9;
	b.prev = a.index;
	b.subject_seq = 1;
	must(fold(&b, 0, &s, &e));
	assert_int_equal(s.state, EXPOSURE_ACTIVE);
	assert_int_equal(s.first, 9);
}

static void
what_does_not_continue_its_subject_is_corrupt(void **state)
{
	const struct record a = first(), good = next(&a);
	struct record bad[8];
	struct subject s, before;
	struct err e;

	(void)state;
	must(fold(&a, 1, &s, &e));
	before = s;
	for (size_t i = 0; i < 8; i++)
		bad[i] = good;
	bad[0].subject.b[0] ^= 1;
	bad[1].machine = MACHINE_CHANGE;
	bad[2].subject_seq++;
	bad[3].prev--;
	bad[4].from = bad[4].to = EXPOSURE_SUSPECT;
	bad[5].to = EXPOSURE_CLOSING;
	bad[6].flags = RECORD_REFUSED;
	bad[6].to = EXPOSURE_CLOSING;
	bad[7].subject_seq = 0;
	for (size_t i = 0; i < 8; i++) {
		assert_int_equal(-1, fold(&bad[i], 0, &s, &e));
		if (e.code != ERR_CORRUPT)
			fail_msg("%zu: %s", i, e.msg);
		assert_true(subject_same(&s, &before));
	}
	/* A first record is only ever first. */
	assert_int_equal(-1, fold(&good, 1, &s, &e));
	assert_int_equal(e.code, ERR_CORRUPT);
	must(fold(&good, 0, &s, &e));
}

static void
an_event_that_is_no_edge_is_illegal(void **state)
{
	struct record a = first(), b = next(&a);
	struct subject s;
	struct err e;

	(void)state;
	must(fold(&a, 1, &s, &e));
	b.event = EXPOSURE_EV_closed_revoked;
	assert_int_equal(-1, fold(&b, 0, &s, &e));
	assert_int_equal(e.code, ERR_ILLEGAL);
}

static void
a_fact_that_does_not_fit_is_refused(void **state)
{
	static const uint8_t huge[8] = { 0x80 };
	static const uint8_t longer[33] = { 1 };
	struct record a = first();
	struct subject s;
	struct err e;

	(void)state;
	a.field[0].v = BYTES(huge);
	assert_int_equal(-1, fold(&a, 1, &s, &e));
	assert_int_equal(e.code, ERR_FORMAT);
	a = first();
	a.field[1].v = BYTES(longer);
	assert_int_equal(-1, fold(&a, 1, &s, &e));
	assert_int_equal(e.code, ERR_FORMAT);
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup_teardown(
		    a_replay_of_random_walks_gives_the_stored_tables, setup,
		    teardown),
		cmocka_unit_test(the_last_value_of_a_fact_is_kept),
		cmocka_unit_test(a_refused_attempt_counts_and_changes_nothing_else),
		cmocka_unit_test(an_attempt_on_what_does_not_exist_yet_leaves_it_so),
		cmocka_unit_test(what_does_not_continue_its_subject_is_corrupt),
		cmocka_unit_test(an_event_that_is_no_edge_is_illegal),
		cmocka_unit_test(a_fact_that_does_not_fit_is_refused),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
