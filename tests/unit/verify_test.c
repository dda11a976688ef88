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

static void
a_whole_history_is_valid(void **state)
{
	struct forge f;
	struct report r;

	(void)state;
	for (size_t sessions = 1; sessions < 6; sessions += 2) {
		forge_story(&f, sessions);
		if (forge_look(&f, f.n, &r) != ANSWER_NOT_WITNESSED)
			forge_print(&r);
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
		if (answer_exit((int)forge_look(&f, f.n, &r)) == 0) {
			forge_print(&r);
			fail_msg("byte %zu", i);
		}
		f.bytes.p[i] ^= (uint8_t)(1u << i % 8);
	}
	assert_int_equal(forge_look(&f, f.n, &r), ANSWER_NOT_WITNESSED);
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
			assert_int_equal(forge_look(&f, f.n, &r), ANSWER_INVALID);
			row->sig[i] ^= 0x10;
		}
		for (size_t i = 0; i < MAC_BYTES && c + 1 < f.ncommits; i++) {
			row->mac[i] ^= 0x10;
			assert_int_equal(forge_look(&f, f.n, &r), ANSWER_INVALID);
			row->mac[i] ^= 0x10;
		}
		row->root.b[c % 32] ^= 1;
		assert_int_equal(forge_look(&f, f.n, &r), ANSWER_INVALID);
		row->root.b[c % 32] ^= 1;
		row->epoch++;
		assert_int_equal(forge_look(&f, f.n, &r), ANSWER_INVALID);
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
		assert_int_not_equal(0, answer_exit((int)forge_look(&f, f.n, &r)));
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
		enum answer a = forge_look(&f, n, &r);

		if (a != ANSWER_INCOMPLETE)
			forge_print(&r);
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
		assert_int_equal(forge_look(&f, n, &r), ANSWER_INVALID);
		/* Back, and one dropped: the cut is at the end, in words. */
		x = bytes_of(b.p + y.n, x.n);
		memcpy(f.bytes.p + off[i], x.p, x.n);
		memcpy(f.bytes.p + off[i + 1], b.p, y.n);
		memmove(f.off + i, off + i + 1, (n - i) * sizeof(*off));
		assert_int_equal(forge_look(&f, n - 1, &r), ANSWER_INVALID);
		memcpy(f.off, off, (n + 1) * sizeof(*off));
	}
	free(off);
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
		forge_print(&r);
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
			forge_print(&r);
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
		cmocka_unit_test(a_receipt_verifies_alone_at_every_byte),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
