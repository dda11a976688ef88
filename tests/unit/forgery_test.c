/* SPDX-License-Identifier: ISC */
/* Histories that only somebody with every key could have made. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>
#include <cmocka.h>

#include "journal/verify.h"
#include "tests/lib/forge.h"

static void
a_record_of_another_installation_is_found(void **state)
{
	struct forge f;
	struct record r;
	struct id exp;

	(void)state;
	forge_init(&f);
	forge_commit(&f);
	id_random(&exp);
	forge_draft(&f, MACHINE_EXPOSURE, &exp, EXPOSURE_EV_expose, &r);
	r.install[3] ^= 1;
	(void)forge_add(&f, &r);
	forge_commit(&f);
	forge_publish(&f);
	forge_fails(&f, CHECK_MACHINE);
	forge_done(&f);
}

static void
a_key_outside_its_span_is_found(void **state)
{
	struct forge f;

	(void)state;
	for (int wrong = 0; wrong < 2; wrong++) {
		forge_init(&f);
		forge_commit(&f);
		forge_epoch(&f);
		if (wrong == 1)
			f.signer = 1;	/* too early: it is enrolled by this */
		forge_commit(&f);
		forge_event(&f, MACHINE_LOG, NULL, LOG_EV_heartbeat, NULL);
		if (wrong == 0)
			f.signer = 0;	/* too late: it is retired */
		forge_commit(&f);
		forge_publish(&f);
		forge_fails(&f, CHECK_KEY_ORDER);
		forge_done(&f);
	}
}

static void
an_epoch_key_without_its_certificate_is_found(void **state)
{
	struct forge f;
	struct forge_key thief;

	(void)state;
	forge_init(&f);
	forge_commit(&f);
	thief = f.log;
	f.log = f.epoch[0];	/* signs the next certificate */
	forge_epoch(&f);
	f.log = thief;
	forge_commit(&f);
	forge_publish(&f);
	forge_fails(&f, CHECK_SIGNATURE);
	forge_done(&f);
}

static void
what_a_revoked_key_signed_is_not_believed(void **state)
{
	AUTO(fields) struct fields v;
	struct forge f;
	struct report r;

	(void)state;
	forge_init(&f);
	forge_commit(&f);
	forge_event(&f, MACHINE_LOG, NULL, LOG_EV_heartbeat, NULL);
	forge_commit(&f);
	forge_epoch(&f);
	fields_init(&v);
	fields_u64(&v, FIELD_SINCE_INDEX, 3);
	forge_event(&f, MACHINE_KEY, &f.epoch[0].id, KEY_EV_compromise, &v);
	forge_commit(&f);
	forge_publish(&f);
	assert_int_equal(forge_look(&f, f.n, &r), ANSWER_REVOKED);
	assert_int_equal(answer_exit((int)r.answer), 1);
	forge_done(&f);
}

static void
a_move_that_no_table_allows_is_found(void **state)
{
	struct forge f;
	struct record r;
	struct id exp;

	(void)state;
	for (int wrong = 0; wrong < 6; wrong++) {
		forge_init(&f);
		id_random(&exp);
		forge_event(&f, MACHINE_EXPOSURE, &exp, EXPOSURE_EV_expose, NULL);
		forge_commit(&f);
		forge_draft(&f, MACHINE_EXPOSURE, &exp, EXPOSURE_EV_revoke, &r);
		switch (wrong) {
		case 0: r.to = EXPOSURE_REVOKED; break;
		case 1: r.from = EXPOSURE_SUSPECT; break;
		case 2: r.event = EXPOSURE_EV_closed_revoked; break;
		case 3: r.subject_seq++; break;
		case 4: r.prev--; break;
		case 5: r.event = 200; break;
		default: break;
		}
		(void)forge_add(&f, &r);
		forge_commit(&f);
		forge_publish(&f);
		forge_fails(&f, CHECK_MACHINE);
		forge_done(&f);
	}
}

static void
a_broken_link_is_found(void **state)
{
	AUTO(fields) struct fields link;
	struct forge f;
	struct id ses, chg;

	(void)state;
	for (int wrong = 0; wrong < 4; wrong++) {
		forge_init(&f);
		id_random(&ses);
		id_random(&chg);
		fields_init(&link);
		forge_event(&f, MACHINE_SESSION, &ses, SESSION_EV_prepare, NULL);
		forge_event(&f, MACHINE_SESSION, &ses, SESSION_EV_start_intent,
		    NULL);
		switch (wrong) {
		case 0:		/* staged work of no session */
			forge_event(&f, MACHINE_CHANGE, &chg, CHANGE_EV_stage,
			    NULL);
			break;
		case 1:		/* it names one that does not name it */
			fields_u64(&link, FIELD_LINK, f.n - 1);
			forge_event(&f, MACHINE_CHANGE, &chg, CHANGE_EV_stage,
			    &link);
			break;
		case 2:		/* two commits */
			fields_u64(&link, FIELD_LINK, f.n + 2);
			forge_event(&f, MACHINE_SESSION, &ses, SESSION_EV_ended,
			    &link);
			forge_commit(&f);
			fields_done(&link);
			fields_init(&link);
			fields_u64(&link, FIELD_LINK, f.n - 2);
			forge_event(&f, MACHINE_CHANGE, &chg, CHANGE_EV_stage,
			    &link);
			break;
		case 3:		/* a cause that is none */
			fields_u64(&link, FIELD_CAUSE, 0);
			forge_event(&f, MACHINE_SESSION, &ses, SESSION_EV_revoke,
			    &link);
			break;
		default: break;
		}
		fields_done(&link);
		forge_commit(&f);
		forge_publish(&f);
		forge_fails(&f, CHECK_LINKS);
		forge_done(&f);
	}
}

static void
changed_stored_state_is_found(void **state)
{
	struct forge f;

	(void)state;
	forge_story(&f, 1);
	for (size_t i = 0; i < f.nsubjects; i++) {
		struct subject was = f.subject[i];

		f.subject[i].state++;
		forge_fails(&f, CHECK_MACHINE);
		f.subject[i] = was;
		f.subject[i].moved_us++;
		forge_fails(&f, CHECK_MACHINE);
		f.subject[i] = was;
		f.subject[i].fact[0].i++;
		forge_fails(&f, CHECK_MACHINE);
		f.subject[i] = was;
		f.subject[i].id.b[0] ^= 1;	/* one gone, one out of nothing */
		forge_fails(&f, CHECK_MACHINE);
		f.subject[i] = was;
	}
	f.nsubjects--;
	forge_fails(&f, CHECK_MACHINE);
	forge_done(&f);
}

static void
a_disclosed_value_that_was_not_recorded_is_found(void **state)
{
	struct forge f;

	(void)state;
	forge_story(&f, 1);
	for (size_t i = 0; i < f.nsealed; i++) {
		struct sealed_row was = f.sealed[i];

		f.sealed[i].salt[5] ^= 1;
		forge_fails(&f, CHECK_SEALED);
		f.sealed[i] = was;
		f.sealed[i].value.n--;
		forge_fails(&f, CHECK_SEALED);
		f.sealed[i] = was;
		f.sealed[i].index++;
		forge_fails(&f, CHECK_SEALED);
		f.sealed[i] = was;
	}
	forge_done(&f);
}

static void
the_chain_of_macs_takes_its_first_key(void **state)
{
	struct forge f;
	struct forge_source fs;
	struct source s;
	struct trusted t;
	struct verify_opts o = { .trusted = &t, .ntrusted = 1 };
	struct report r;

	(void)state;
	forge_story(&f, 1);
	forge_trust(&f, &t);
	o.mac_key = f.first_mac_key;
	forge_source(&f, &fs, &s);
	verify_run(&s, &o, &r);
	assert_int_equal(r.answer, ANSWER_NOT_WITNESSED);
	assert_int_equal(r.line[CHECK_MAC_CHAIN].outcome, OUTCOME_PASS);
	/* The MAC of the last commit, which no footer names. */
	f.commit[f.ncommits - 1].mac[0] ^= 1;
	forge_source(&f, &fs, &s);
	verify_run(&s, &o, &r);
	assert_int_equal(r.answer, ANSWER_INVALID);
	assert_int_equal(r.line[CHECK_MAC_CHAIN].outcome, OUTCOME_FAIL);
	forge_done(&f);
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_record_of_another_installation_is_found),
		cmocka_unit_test(a_key_outside_its_span_is_found),
		cmocka_unit_test(an_epoch_key_without_its_certificate_is_found),
		cmocka_unit_test(what_a_revoked_key_signed_is_not_believed),
		cmocka_unit_test(a_move_that_no_table_allows_is_found),
		cmocka_unit_test(a_broken_link_is_found),
		cmocka_unit_test(changed_stored_state_is_found),
		cmocka_unit_test(
		    a_disclosed_value_that_was_not_recorded_is_found),
		cmocka_unit_test(the_chain_of_macs_takes_its_first_key),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
