/* SPDX-License-Identifier: ISC */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>
#include <cmocka.h>

#include "journal/verify.h"
#include "tests/lib/forge.h"

/* Verify ${f}, of which the first ${n} records are shown, with its key pinned. */
static enum answer
look(const struct forge *f, size_t n, struct report *r)
{
	struct forge_source fs;
	struct source s;
	struct trusted t;
	struct verify_opts o = { .trusted = &t, .ntrusted = 1 };

	forge_source(f, &fs, &s);
	fs.records = n;
	forge_trust(f, &t);
	verify_run(&s, &o, r);
	return r->answer;
}

static void
print(const struct report *r)
{
	AUTO(buf) struct buf b;

	buf_init(&b, 65536);
	report_put(&b, r, "", 0);
	print_message("%s", buf_cstr(&b));
}

/* The verdict is INVALID, and the check that says so is ${c}. */
static void
assert_fails(const struct forge *f, enum check c)
{
	struct report r;

	if (look(f, f->n, &r) != ANSWER_INVALID ||
	    r.line[c].outcome != OUTCOME_FAIL) {
		print(&r);
		fail_msg("not found by check %s", check_word((int)c));
	}
}

static void
a_whole_history_is_valid(void **state)
{
	struct forge f;
	struct report r;

	(void)state;
	for (size_t sessions = 1; sessions < 6; sessions += 2) {
		forge_story(&f, sessions);
		if (look(&f, f.n, &r) != ANSWER_NOT_WITNESSED)
			print(&r);
		assert_int_equal(r.answer, ANSWER_NOT_WITNESSED);
		assert_int_equal(answer_exit((int)r.answer), 0);
		assert_int_equal(r.records, f.n);
		assert_int_equal(r.commits, f.ncommits);
		assert_int_equal(r.trust, TRUST_PINNED);
		for (int i = 1; i < CHECK_END; i++)
			assert_int_not_equal(r.line[i].outcome, OUTCOME_FAIL);
		assert_int_equal(r.line[CHECK_MACHINE].outcome, OUTCOME_PASS);
		assert_int_equal(r.line[CHECK_SEALED].outcome, OUTCOME_PASS);
		assert_int_equal(r.line[CHECK_COMPLETENESS].outcome,
		    OUTCOME_SKIP);
		forge_done(&f);
	}
}

static void
whose_key_nobody_vouches_for_is_not_trusted(void **state)
{
	struct forge f;
	struct forge_source fs;
	struct source s;
	struct trusted t;
	struct verify_opts o = { .ntrusted = 0 };
	struct report r;

	(void)state;
	forge_story(&f, 1);
	forge_source(&f, &fs, &s);
	verify_run(&s, &o, &r);
	assert_int_equal(r.answer, ANSWER_UNTRUSTED);
	assert_int_equal(answer_exit((int)r.answer), 7);

	/* Another root key with the same install id pinned. */
	forge_trust(&f, &t);
	t.root_pub[0] ^= 1;
	o.trusted = &t;
	o.ntrusted = 1;
	forge_source(&f, &fs, &s);
	verify_run(&s, &o, &r);
	assert_int_equal(r.answer, ANSWER_UNTRUSTED);

	/* The log key will do as well; this host's memory says so. */
	t.has_root = 0;
	t.has_log = 1;
	t.how = TRUST_HOST;
	memcpy(t.log_pub, f.log.pub, PUB_BYTES);
	forge_source(&f, &fs, &s);
	verify_run(&s, &o, &r);
	assert_int_equal(r.answer, ANSWER_NOT_WITNESSED);
	assert_int_equal(r.trust, TRUST_HOST);
	forge_done(&f);
}

static void
each_changed_byte_of_each_record_is_found(void **state)
{
	struct forge f;
	struct report r;

	(void)state;
	forge_story(&f, 1);
	for (size_t i = 0; i < f.bytes.n; i++) {
		f.bytes.p[i] ^= (uint8_t)(1u << i % 8);
		if (answer_exit((int)look(&f, f.n, &r)) == 0) {
			print(&r);
			fail_msg("byte %zu", i);
		}
		f.bytes.p[i] ^= (uint8_t)(1u << i % 8);
	}
	assert_int_equal(look(&f, f.n, &r), ANSWER_NOT_WITNESSED);
	forge_done(&f);
}

/* The MAC of the last commit has nothing behind it: the head file has it. */
static void
each_changed_byte_of_a_stored_signature_or_mac_is_found(void **state)
{
	struct forge f;
	struct report r;

	(void)state;
	forge_story(&f, 1);
	for (size_t c = 0; c < f.ncommits; c++) {
		struct commit_row *row = &f.commit[c];

		for (size_t i = 0; i < SIG_BYTES; i++) {
			row->sig[i] ^= 0x10;
			assert_int_equal(look(&f, f.n, &r), ANSWER_INVALID);
			row->sig[i] ^= 0x10;
		}
		for (size_t i = 0; i < MAC_BYTES && c + 1 < f.ncommits; i++) {
			row->mac[i] ^= 0x10;
			assert_int_equal(look(&f, f.n, &r), ANSWER_INVALID);
			row->mac[i] ^= 0x10;
		}
		row->root.b[c % 32] ^= 1;
		assert_int_equal(look(&f, f.n, &r), ANSWER_INVALID);
		row->root.b[c % 32] ^= 1;
		row->epoch++;
		assert_int_equal(look(&f, f.n, &r), ANSWER_INVALID);
		row->epoch--;
	}
	forge_done(&f);
}

static void
each_changed_byte_of_the_checkpoint_is_found(void **state)
{
	struct forge f;
	struct report r;

	(void)state;
	forge_story(&f, 1);
	for (size_t i = 0; i < f.note.n; i++) {
		f.note.p[i] ^= 1;
		assert_int_not_equal(0, answer_exit((int)look(&f, f.n, &r)));
		f.note.p[i] ^= 1;
	}
	forge_done(&f);
}

static void
a_log_cut_short_is_incomplete_at_every_record(void **state)
{
	struct forge f;
	struct report r;

	(void)state;
	forge_story(&f, 3);
	for (size_t n = 0; n < f.n; n++) {
		enum answer a = look(&f, n, &r);

		if (a != ANSWER_INCOMPLETE)
			print(&r);
		assert_int_equal(a, ANSWER_INCOMPLETE);
		assert_int_equal(answer_exit((int)a), 7);
	}
	forge_done(&f);
}

/* Cut at a commit, with the checkpoint of that commit: only memory helps. */
static void
an_old_state_is_found_by_whoever_remembers_a_newer_one(void **state)
{
	struct forge f;
	struct forge_source fs;
	struct source s;
	struct trusted t;
	struct verify_opts o = { .trusted = &t, .ntrusted = 1 };
	AUTO(buf) struct buf newest;
	struct report r;
	size_t n, commits;

	(void)state;
	forge_story(&f, 3);
	forge_trust(&f, &t);
	buf_init(&newest, 4096);
	buf_put(&newest, f.note.p, f.note.n);
	n = f.n;
	commits = f.ncommits;
	f.ncommits -= 1;
	f.n = f.commit[f.ncommits - 1].size;
	f.nsubjects = 0;	/* its stored state would be another */
	forge_publish(&f);

	forge_source(&f, &fs, &s);
	s.ops = &(struct source_ops){ s.ops->checkpoint, s.ops->record,
	    s.ops->commit, s.ops->sealed, NULL, NULL, NULL, NULL, NULL };
	verify_run(&s, &o, &r);
	assert_int_equal(r.answer, ANSWER_NOT_WITNESSED);
	assert_int_equal(r.line[CHECK_COMPLETENESS].outcome, OUTCOME_SKIP);

	fs = (struct forge_source){ .f = &f, .records = f.n };
	o.against = (struct str){ (const char *)newest.p, newest.n };
	verify_run(&s, &o, &r);
	assert_int_equal(r.answer, ANSWER_INCOMPLETE);
	assert_int_equal(r.line[CHECK_COMPLETENESS].outcome, OUTCOME_FAIL);

	fs = (struct forge_source){ .f = &f, .records = f.n };
	o.against = (struct str){ NULL, 0 };
	s.size_from = "the head file";
	s.size = n;
	verify_run(&s, &o, &r);
	assert_int_equal(r.answer, ANSWER_INCOMPLETE);

	/* The other way round: the old checkpoint is a part of the new log. */
	buf_reset(&newest);
	buf_put(&newest, f.note.p, f.note.n);
	f.n = n;
	f.ncommits = commits;
	forge_publish(&f);
	fs = (struct forge_source){ .f = &f, .records = f.n };
	o.against = (struct str){ (const char *)newest.p, newest.n };
	verify_run(&s, &o, &r);
	assert_int_equal(r.answer, ANSWER_NOT_WITNESSED);
	assert_int_equal(r.line[CHECK_COMPLETENESS].outcome, OUTCOME_PASS);
	forge_done(&f);
}

static void
a_dropped_record_and_two_exchanged_are_found(void **state)
{
	struct forge f;
	size_t *off, n;

	(void)state;
	forge_story(&f, 1);
	n = f.n;
	off = malloc((n + 1) * sizeof(*off));
	assert_non_null(off);
	memcpy(off, f.off, (n + 1) * sizeof(*off));
	for (size_t i = 0; i + 1 < n; i++) {
		AUTO(buf) struct buf b;
		struct report r;
		struct bytes x = forge_record(&f, i);
		struct bytes y = forge_record(&f, i + 1);

		/* Two exchanged. */
		buf_init(&b, 1 << 20);
		buf_put(&b, y.p, y.n);
		buf_put(&b, x.p, x.n);
		memcpy(f.bytes.p + off[i], b.p, b.n);
		f.off[i + 1] = off[i] + y.n;
		assert_int_equal(look(&f, n, &r), ANSWER_INVALID);
		/* Back, and one dropped: the cut is at the end, in words. */
		x = bytes_of(b.p + y.n, x.n);
		memcpy(f.bytes.p + off[i], x.p, x.n);
		memcpy(f.bytes.p + off[i + 1], b.p, y.n);
		memmove(f.off + i, off + i + 1, (n - i) * sizeof(*off));
		assert_int_equal(look(&f, n - 1, &r), ANSWER_INVALID);
		memcpy(f.off, off, (n + 1) * sizeof(*off));
	}
	free(off);
	forge_done(&f);
}

/* ---- by somebody who has all the keys ----------------------------------- */

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
	assert_fails(&f, CHECK_MACHINE);
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
		assert_fails(&f, CHECK_KEY_ORDER);
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
	assert_fails(&f, CHECK_SIGNATURE);
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
	assert_int_equal(look(&f, f.n, &r), ANSWER_REVOKED);
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
		assert_fails(&f, CHECK_MACHINE);
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
		assert_fails(&f, CHECK_LINKS);
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
		assert_fails(&f, CHECK_MACHINE);
		f.subject[i] = was;
		f.subject[i].moved_us++;
		assert_fails(&f, CHECK_MACHINE);
		f.subject[i] = was;
		f.subject[i].fact[0].i++;
		assert_fails(&f, CHECK_MACHINE);
		f.subject[i] = was;
		f.subject[i].id.b[0] ^= 1;	/* one gone, one out of nothing */
		assert_fails(&f, CHECK_MACHINE);
		f.subject[i] = was;
	}
	f.nsubjects--;
	assert_fails(&f, CHECK_MACHINE);
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
		assert_fails(&f, CHECK_SEALED);
		f.sealed[i] = was;
		f.sealed[i].value.n--;
		assert_fails(&f, CHECK_SEALED);
		f.sealed[i] = was;
		f.sealed[i].index++;
		assert_fails(&f, CHECK_SEALED);
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

static void
a_receipt_verifies_alone_at_every_byte(void **state)
{
	AUTO(buf) struct buf text;
	struct trusted t = { .how = TRUST_PINNED, .has_log = 1 };
	struct verify_opts o = { .trusted = &t, .ntrusted = 1 };
	struct forge f;
	struct report r;
	struct str s;
	size_t from = 0, to;

	(void)state;
	forge_story(&f, 1);
	memcpy(t.install, f.install, sizeof(t.install));
	memcpy(t.log_pub, f.log.pub, PUB_BYTES);
	buf_init(&text, 1 << 20);
	forge_receipt(&f, 7, &text);
	verify_receipt((struct str){ (const char *)text.p, text.n }, &o, &r);
	if (r.answer != ANSWER_NOT_WITNESSED)
		print(&r);
	assert_int_equal(r.answer, ANSWER_NOT_WITNESSED);
	/* The first signature is the epoch key's, whose certificate is in the
	 * log and not in the receipt: by itself it is no evidence. */
	s = (struct str){ (const char *)text.p, text.n };
	for (size_t i = 0; i + 1 < text.n; i++)
		if (s.p[i] == '\n' && s.p[i + 1] == '\n')
			from = i + 2;
	to = from;
	while (s.p[to] != '\n')
		to++;
	for (size_t i = 0; i < text.n; i++) {
		if (i == from)
			i = to;
		text.p[i] ^= 1;
		verify_receipt(s, &o, &r);
		if (answer_exit((int)r.answer) == 0) {
			print(&r);
			fail_msg("byte %zu", i);
		}
		text.p[i] ^= 1;
	}
	/* Nobody vouches for the log key: the signature says nothing. */
	o.ntrusted = 0;
	verify_receipt((struct str){ (const char *)text.p, text.n }, &o, &r);
	assert_int_equal(r.answer, ANSWER_UNTRUSTED);
	forge_done(&f);
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_whole_history_is_valid),
		cmocka_unit_test(whose_key_nobody_vouches_for_is_not_trusted),
		cmocka_unit_test(each_changed_byte_of_each_record_is_found),
		cmocka_unit_test(
		    each_changed_byte_of_a_stored_signature_or_mac_is_found),
		cmocka_unit_test(each_changed_byte_of_the_checkpoint_is_found),
		cmocka_unit_test(a_log_cut_short_is_incomplete_at_every_record),
		cmocka_unit_test(
		    an_old_state_is_found_by_whoever_remembers_a_newer_one),
		cmocka_unit_test(a_dropped_record_and_two_exchanged_are_found),
		cmocka_unit_test(a_record_of_another_installation_is_found),
		cmocka_unit_test(a_key_outside_its_span_is_found),
		cmocka_unit_test(an_epoch_key_without_its_certificate_is_found),
		cmocka_unit_test(what_a_revoked_key_signed_is_not_believed),
		cmocka_unit_test(a_move_that_no_table_allows_is_found),
		cmocka_unit_test(a_broken_link_is_found),
		cmocka_unit_test(changed_stored_state_is_found),
		cmocka_unit_test(a_disclosed_value_that_was_not_recorded_is_found),
		cmocka_unit_test(a_receipt_verifies_alone_at_every_byte),
		cmocka_unit_test(the_chain_of_macs_takes_its_first_key),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
