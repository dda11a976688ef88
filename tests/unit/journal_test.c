/* SPDX-License-Identifier: ISC */
/* The journal on a real directory: append, commit, read, prove, refuse. */
#include <sys/stat.h>

#include <fcntl.h>
#include <ftw.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <cmocka.h>

#include "journal/journal.h"
#include "journal/receipt.h"

struct home {
	char		 dir[32];
	int		 fd;
	struct journal	*j;
	enum verdict	 verdict;
};

static int
remove_one(const char *path, const struct stat *st, int flag, struct FTW *ftw)
{
	(void)st;
	(void)flag;
	(void)ftw;
	return remove(path);
}

static void
reopen(struct home *h)
{
	struct journal_opts o = { .homefd = h->fd, .create = 1 };
	struct err e;

	journal_close(h->j);
	h->j = NULL;
	if (journal_open(&o, &h->j, &h->verdict, &e))
		fail_msg("%s (%s:%d) %s", e.msg, e.file, e.line, e.why);
}

static int
setup(void **state)
{
	struct home *h = calloc(1, sizeof(*h));

	strcpy(h->dir, "/tmp/glove-journal-XXXXXX");
	assert_non_null(mkdtemp(h->dir));
	h->fd = open(h->dir, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	assert_true(h->fd >= 0);
	reopen(h);
	*state = h;
	return 0;
}

static int
teardown(void **state)
{
	struct home *h = *state;

	journal_close(h->j);
	close(h->fd);
	nftw(h->dir, remove_one, 16, FTW_DEPTH | FTW_PHYS);
	free(h);
	return 0;
}

static void
it_starts_new_and_is_clean_again(void **state)
{
	struct home *h = *state;

	assert_int_equal(h->verdict, VERDICT_NEW);
	assert_int_equal(journal_size(h->j), 6);
	reopen(h);
	assert_int_equal(h->verdict, VERDICT_CLEAN);
	assert_int_equal(journal_size(h->j), 6);
}

static void
proofs_free(struct committed **p, size_t n)
{
	for (size_t i = 0; i < n; i++)
		committed_free(p[i]);
	free(p);
}

/* One exposure, as a person would open it. */
static int
expose(struct journal_txn *t, const struct id *id, uint64_t *index,
    struct err *e)
{
	AUTO(fields) struct fields f;
	struct draft d = { .machine = MACHINE_EXPOSURE, .subject = *id,
	    .event = EXPOSURE_EV_expose, .actor = ACTOR_OWNER, .fields = &f,
	    .expect_from = 0 };
	uint8_t scope[32] = { 7 };

	fields_init(&f);
	fields_u64(&f, FIELD_OWNER_UID, 1000);
	fields_u64(&f, FIELD_MODE, MODE_STAGED);
	fields_u64(&f, FIELD_GENERATION, 1);
	fields_bytes(&f, FIELD_SCOPE_DIGEST, BYTES(scope));
	fields_text(&f, FIELD_HOST_PATH, STR("/home/u/app"));
	return journal_append(t, &d, index, e);
}

static int __attribute__((unused))
move(struct journal_txn *t, int machine, const struct id *id, int event,
    struct err *e)
{
	struct draft d = { .machine = machine, .subject = *id, .event = event,
	    .actor = ACTOR_OWNER, .expect_from = -1 };

	return journal_append(t, &d, NULL, e);
}

/* What has to work, or the test ends with the reason. */
#define must(call) do {							\
	if (call)							\
		fail_msg("%s: %s (%s:%d) %s", #call, e.msg, e.file,	\
		    e.line, e.why);					\
} while (0)

static void
commit_one(struct home *h, const struct id *id, uint64_t *index)
{
	struct journal_txn *t;
	struct committed **p;
	struct err e;
	size_t n;

	must(journal_begin(h->j, &t, &e));
	must(expose(t, id, index, &e));
	must(journal_commit(&t, &p, &n, &e));
	assert_int_equal(n, 1);
	assert_true(committed_is(p[0], MACHINE_EXPOSURE, EXPOSURE_EV_expose));
	assert_true(id_eq(committed_subject(p[0]), id));
	assert_int_equal(committed_index(p[0]), *index);
	proofs_free(p, n);
}

static void
what_was_committed_is_there_after_a_reopen(void **state)
{
	struct home *h = *state;
	struct subject s;
	struct err e;
	struct id id;
	uint64_t index;

	id_random(&id);
	commit_one(h, &id, &index);
	for (int i = 0; i < 2; i++) {
		must(journal_subject(h->j, MACHINE_EXPOSURE, &id, &s, &e));
		assert_int_equal(s.state, EXPOSURE_ACTIVE);
		assert_int_equal(s.last, index);
		assert_int_equal(s.fact[EXPOSURE_FACT_owner_uid].i, 1000);
		assert_int_equal(s.fact[EXPOSURE_FACT_scope].n, 32);
		assert_false(s.fact[EXPOSURE_FACT_ends_us].present);
		must(journal_stop(h->j, &e));
		reopen(h);
		assert_int_equal(h->verdict, VERDICT_CLEAN);
		assert_false(journal_unclean(h->j));
	}
}

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
	uint64_t at, index;

	id_random(&first);
	commit_one(h, &first, &at);
	for (int i = 0; i < 300; i++) {
		id_random(&id);
		commit_one(h, &id, &index);
		check_receipt(h, at, &first);
		check_receipt(h, index, &id);
	}
	reopen(h);
	assert_true(journal_unclean(h->j));
	check_receipt(h, at, &first);
	check_receipt(h, index, &id);
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
#define T(name) cmocka_unit_test_setup_teardown(name, setup, teardown)
		T(it_starts_new_and_is_clean_again),
		T(what_was_committed_is_there_after_a_reopen),
		T(receipts_verify_at_every_size_of_the_tree),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
