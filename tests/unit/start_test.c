/* SPDX-License-Identifier: ISC */
/* Each row of verdict.def is reached by a directory made for it. */
#include <sys/stat.h>

#include <fcntl.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
#include <sqlite3.h>
#include <cmocka.h>

#include "base/fd.h"
#include "journal/head.h"
#include "tests/lib/home.h"

/* ---- files, from outside ------------------------------------------------ */

static void
take(struct home *h, const char *name, struct buf *b)
{
	struct err e;

	buf_init(b, 64 << 20);
	must(fd_file(h->fd, name, b, &e));
}

static void
put(struct home *h, const char *name, struct buf *b)
{
	struct err e;

	must(fd_replace(h->fd, name, buf_bytes(b), 0600, &e));
	buf_done(b);
}

static void
write_one(struct home *h)
{
	struct err e;
	struct id id;

	id_random(&id);
	must(home_write(h, &id, NULL, &e));
}

/* The newest head, changed by ${change}, in both slots. */
static void
forge_head(struct home *h, void (*change)(struct head *))
{
	AUTO(buf) struct buf b;
	uint8_t slot[HEAD_SLOT];
	struct head head, other;
	struct err e;

	take(h, "head", &b);
	must(head_decode(b.p, &head, &e));
	must(head_decode(b.p + HEAD_SLOT, &other, &e));
	if (other.slot_seq > head.slot_seq)
		head = other;
	change(&head);
	head_encode(&head, slot);
	buf_reset(&b);
	buf_put(&b, slot, sizeof(slot));
	buf_put(&b, slot, sizeof(slot));
	put(h, "head", &b);
}

/* Somebody with sqlite3(1): what the triggers forbid, and no trace of it. */
static void
sql(struct home *h, const char *trigger, const char *text)
{
	char path[80], drop[80], again[512];
	sqlite3 *db;
	sqlite3_stmt *s;

	snprintf(path, sizeof(path), "%s/journal.db", h->dir);
	assert_int_equal(SQLITE_OK, sqlite3_open(path, &db));
	assert_int_equal(SQLITE_OK, sqlite3_prepare_v2(db,
	    "SELECT sql FROM sqlite_schema WHERE name = ?", -1, &s, NULL));
	sqlite3_bind_text(s, 1, trigger, -1, SQLITE_STATIC);
	assert_int_equal(SQLITE_ROW, sqlite3_step(s));
	snprintf(again, sizeof(again), "%s", (const char *)
	    sqlite3_column_text(s, 0));
	sqlite3_finalize(s);
	snprintf(drop, sizeof(drop), "DROP TRIGGER %s", trigger);
	assert_int_equal(SQLITE_OK, sqlite3_exec(db, drop, 0, 0, 0));
	if (sqlite3_exec(db, text, NULL, NULL, NULL) != SQLITE_OK)
		fail_msg("%s: %s", text, sqlite3_errmsg(db));
	assert_int_equal(SQLITE_OK, sqlite3_exec(db, again, 0, 0, 0));
	assert_int_equal(SQLITE_OK, sqlite3_close(db));
}

/* ---- one directory a verdict -------------------------------------------- */

static void
make_CLEAN(struct home *h)
{
	write_one(h);
	home_close(h);
}

static void
make_NEW(struct home *h)
{
	home_close(h);
	home_remove(h->dir);
	assert_int_equal(0, mkdir(h->dir, 0700));
	close(h->fd);
	h->fd = open(h->dir, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	assert_true(h->fd >= 0);
}

/* The head is ${behind} commits older than the database. */
static void
old_head(struct home *h, int behind)
{
	AUTO(buf) struct buf head;

	write_one(h);
	take(h, "head", &head);
	for (int i = 0; i < behind; i++)
		write_one(h);
	home_close(h);
	put(h, "head", &head);
}

static void
make_CRASH_WINDOW(struct home *h)
{
	old_head(h, 1);
}

static void
make_HEAD_STALE(struct home *h)
{
	old_head(h, 2);
}

static void
other_key(struct head *head)
{
	head->key[0] ^= 1;
}

static void
make_MAC_BAD(struct home *h)
{
	old_head(h, 1);
	forge_head(h, other_key);
}

static void
other_root(struct head *head)
{
	head->root.b[0] ^= 1;
}

static void
make_FORK(struct home *h)
{
	make_CLEAN(h);
	forge_head(h, other_root);
}

static void
make_LOST_TAIL(struct home *h)
{
	AUTO(buf) struct buf db, wal;
	struct err e;

	write_one(h);
	home_close(h);
	take(h, "journal.db", &db);
	take(h, "journal.db-wal", &wal);
	must(home_open(h, &e));
	write_one(h);
	home_close(h);
	put(h, "journal.db", &db);
	put(h, "journal.db-wal", &wal);
}

static void
make_LOST_ALL(struct home *h)
{
	make_CLEAN(h);
	assert_int_equal(0, unlinkat(h->fd, "journal.db", 0));
	assert_int_equal(0, unlinkat(h->fd, "journal.db-wal", 0));
}

static void
other_machine(struct head *head)
{
	head->machine[0] ^= 1;
}

static void
make_CLONED(struct home *h)
{
	make_CLEAN(h);
	forge_head(h, other_machine);
}

static void
make_HEAD_LOST(struct home *h)
{
	AUTO(buf) struct buf b;

	make_CLEAN(h);
	take(h, "head", &b);
	b.p[100] ^= 1;
	b.p[HEAD_SLOT + 100] ^= 1;
	put(h, "head", &b);
}

static void
make_CORRUPT(struct home *h)
{
	make_CLEAN(h);
	sql(h, "record_no_update", "UPDATE record SET bytes = (SELECT bytes FROM"
	    " record WHERE idx = 2) WHERE idx = 3");
}

static void
make_STATE_DRIFT(struct home *h)
{
	make_CLEAN(h);
	sql(h, "record_no_update", "UPDATE exposure SET state = 2");
}

static void
make_DB_DAMAGED(struct home *h)
{
	AUTO(buf) struct buf b;

	make_CLEAN(h);
	assert_int_equal(0, unlinkat(h->fd, "journal.db-wal", 0));
	take(h, "journal.db", &b);
	memset(b.p, 'x', 200);
	put(h, "journal.db", &b);
}

static const struct {
	enum verdict	verdict;
	void		(*make)(struct home *);
} crafted[] = {
#define VERDICT(code, NAME, action, doc) { VERDICT_##NAME, make_##NAME },
#include "journal/verdict.def"
};
enum { NCRAFTED = sizeof(crafted) / sizeof(crafted[0]) };

static int
try_open(struct home *h, struct err *e)
{
	h->verdict = VERDICT_END;
	return home_open(h, e);
}

static void
each_verdict_is_reached(void **state)
{
	(void)state;
	for (size_t i = 0; i < NCRAFTED; i++) {
		struct home h;
		struct err e = { .code = 0 };
		int bad;

		home_make(&h);
		crafted[i].make(&h);
		bad = try_open(&h, &e);
		if (h.verdict != crafted[i].verdict)
			fail_msg("%s instead of %s: %s %s",
			    verdict_name((int)h.verdict),
			    verdict_name((int)crafted[i].verdict),
			    bad ? e.msg : "", bad ? e.why : "");
		assert_int_equal(!bad, verdict_opens((int)h.verdict));
		if (bad)
			assert_int_equal(e.code, ERR_RECOVER);
		home_free(&h);
	}
}

static void
a_refused_start_touches_nothing(void **state)
{
	(void)state;
	for (size_t i = 0; i < NCRAFTED; i++) {
		static const char *const names[] = { "head", "journal.db" };
		struct buf b[2], after[2];
		struct home h;
		struct err e;

		if (verdict_opens((int)crafted[i].verdict))
			continue;
		home_make(&h);
		crafted[i].make(&h);
		for (int k = 0; k < 2; k++) {
			buf_init(&b[k], 64 << 20);
			buf_init(&after[k], 64 << 20);
			(void)!fd_file(h.fd, names[k], &b[k], &e);
		}
		for (int again = 0; again < 2; again++)
			assert_int_equal(-1, try_open(&h, &e));
		assert_int_equal(h.verdict, crafted[i].verdict);
		for (int k = 0; k < 2; k++) {
			(void)!fd_file(h.fd, names[k], &after[k], &e);
			if (!bytes_eq(buf_bytes(&b[k]), buf_bytes(&after[k])))
				fail_msg("%s: %s changed, %zu to %zu bytes",
				    verdict_name((int)h.verdict), names[k],
				    b[k].n, after[k].n);
			buf_done(&b[k]);
			buf_done(&after[k]);
		}
		home_free(&h);
	}
}

/* To look at what is wrong one has to be able to read it. */
static void
a_copy_that_does_not_agree_with_its_head_can_be_read(void **state)
{
	(void)state;
	for (size_t i = 0; i < NCRAFTED; i++) {
		struct journal_opts o = { .read_only = 1 };
		struct home h;
		struct err e;
		int bad;

		home_make(&h);
		crafted[i].make(&h);
		o.homefd = h.fd;
		bad = journal_open(&o, &h.j, &h.verdict, &e);
		switch (crafted[i].verdict) {
		case VERDICT_NEW:
			assert_int_equal(bad, -1);
			assert_int_equal(e.code, ERR_NOTFOUND);
			break;
		case VERDICT_LOST_ALL:
		case VERDICT_CORRUPT:
		case VERDICT_STATE_DRIFT:
		case VERDICT_DB_DAMAGED:
			assert_int_equal(bad, -1);
			assert_int_equal(h.verdict, crafted[i].verdict);
			break;
		case VERDICT_CLONED:	/* a copy is elsewhere by nature */
			assert_int_equal(bad, 0);
			assert_int_equal(h.verdict, VERDICT_CLEAN);
			break;
		default:
			if (bad)
				fail_msg("%s", e.msg);
			assert_int_equal(h.verdict, crafted[i].verdict);
			assert_true(journal_size(h.j) > 6);
			break;
		}
		home_free(&h);
	}
}

static void
after_a_crash_window_it_is_clean_and_the_next_write_says_so(void **state)
{
	AUTO(buf) struct buf b;
	struct home h;
	struct record r;
	struct err e;
	uint64_t size;

	(void)state;
	home_make(&h);
	make_CRASH_WINDOW(&h);
	must(home_open(&h, &e));
	size = journal_size(h.j);
	must(home_open(&h, &e));
	assert_int_equal(h.verdict, VERDICT_CLEAN);
	assert_int_equal(journal_size(h.j), size);
	home_free(&h);

	home_make(&h);
	make_CRASH_WINDOW(&h);
	must(home_open(&h, &e));
	size = journal_size(h.j);
	write_one(&h);
	buf_init(&b, RECORD_MAX);
	must(journal_record(h.j, size, &b, &e));
	must(record_decode(buf_bytes(&b), &r, &e));
	assert_int_equal(r.machine, MACHINE_LOG);
	assert_int_equal(r.event, LOG_EV_restart);
	home_free(&h);
}

static void
one_torn_slot_of_the_head_does_no_harm(void **state)
{
	(void)state;
	for (size_t slot = 0; slot < 2; slot++) {
		AUTO(buf) struct buf b;
		struct head head[2];
		struct home h;
		struct err e;
		int newer;

		home_make(&h);
		home_close(&h);		/* both slots say the same then */
		must(home_open(&h, &e));
		home_close(&h);
		take(&h, "head", &b);
		b.p[slot * HEAD_SLOT + 60] ^= 1;
		put(&h, "head", &b);
		must(home_open(&h, &e));
		assert_int_equal(h.verdict, VERDICT_CLEAN);
		write_one(&h);
		home_close(&h);
		take(&h, "head", &b);
		must(head_decode(b.p, &head[0], &e));
		must(head_decode(b.p + HEAD_SLOT, &head[1], &e));
		newer = head[1].slot_seq > head[0].slot_seq;
		assert_int_equal(head[newer].commit_no,
		    head[!newer].commit_no + 1);
		home_free(&h);
	}
}

static void
drifted_tables_are_rebuilt_when_a_person_says_so(void **state)
{
	struct journal_opts o = { .rebuild = 1 };
	struct home h;
	struct err e;

	(void)state;
	home_make(&h);
	make_STATE_DRIFT(&h);
	o.homefd = h.fd;
	must(journal_open(&o, &h.j, &h.verdict, &e));
	must(journal_check_derived(h.j, &e));
	must(home_open(&h, &e));
	assert_int_equal(h.verdict, VERDICT_CLEAN);
	home_free(&h);
}

static void
a_full_replay_finds_what_a_start_cannot_afford_to(void **state)
{
	struct home h;
	struct err e;

	(void)state;
	home_make(&h);
	make_CLEAN(&h);
	sql(&h, "record_no_update", "UPDATE exposure SET mode = 3");
	must(home_open(&h, &e));
	assert_int_equal(-1, journal_check_derived(h.j, &e));
	assert_int_equal(e.code, ERR_CORRUPT);
	home_free(&h);

	home_make(&h);
	make_CLEAN(&h);
	sql(&h, "record_no_update", "INSERT INTO exposure (id, state, seq,"
	    " first, last, born_us, moved_us, owed) SELECT zeroblob(10), 4, seq,"
	    " first, last, born_us, moved_us, 0 FROM exposure");
	must(home_open(&h, &e));
	assert_int_equal(-1, journal_check_derived(h.j, &e));
	assert_int_equal(e.code, ERR_CORRUPT);
	home_free(&h);
}

static void
an_interrupted_beginning_is_finished_or_begun_again(void **state)
{
	static const char *const parts[] = { "keys", "journal.db-wal",
	    "journal.db", "head" };

	(void)state;
	for (size_t moved = 0; moved <= 4; moved++) {
		struct home h;
		struct err e;
		uint8_t install[16];

		home_make(&h);
		memcpy(install, journal_install(h.j), 16);
		home_close(&h);
		assert_int_equal(0, mkdirat(h.fd, "new", 0700));
		for (size_t i = moved; i < 4; i++) {
			char to[32];

			snprintf(to, sizeof(to), "new/%s", parts[i]);
			assert_int_equal(0, renameat(h.fd, parts[i], h.fd, to));
		}
		must(home_open(&h, &e));
		assert_int_equal(h.verdict, VERDICT_CLEAN);
		assert_memory_equal(install, journal_install(h.j), 16);
		assert_int_equal(-1, faccessat(h.fd, "new", F_OK, 0));
		home_free(&h);

		/* Before it was whole it is nothing. */
		home_make(&h);
		home_close(&h);
		assert_int_equal(0, mkdirat(h.fd, "new.tmp", 0700));
		for (size_t i = 0; i < 4; i++) {
			char to[32];

			snprintf(to, sizeof(to), "new.tmp/%s", parts[i]);
			assert_int_equal(0, renameat(h.fd, parts[i], h.fd, to));
		}
		must(home_open(&h, &e));
		assert_int_equal(h.verdict, VERDICT_NEW);
		home_free(&h);
	}
}

static void
a_directory_that_others_can_read_is_refused(void **state)
{
	struct home h;
	struct err e;

	(void)state;
	home_make(&h);
	home_close(&h);
	assert_int_equal(0, fchmod(h.fd, 0750));
	assert_int_equal(-1, home_open(&h, &e));
	assert_int_equal(e.code, ERR_CONFIG);
	assert_int_equal(0, fchmod(h.fd, 0700));
	must(home_open(&h, &e));
	home_free(&h);
}

static void
files_are_this_users_alone(void **state)
{
	static const char *const names[] = { "lock", "journal.db",
	    "journal.db-wal", "head", "keys/log.key", "keys/epoch.key" };
	struct home h;
	struct stat st;

	(void)state;
	home_make(&h);
	for (size_t i = 0; i < sizeof(names) / sizeof(names[0]); i++) {
		assert_int_equal(0, fstatat(h.fd, names[i], &st, 0));
		assert_int_equal(st.st_mode & 07777, 0600);
	}
	assert_int_equal(-1, faccessat(h.fd, "journal.db-shm", F_OK, 0));
	home_free(&h);
}

static void
tables_that_are_not_ours_are_refused(void **state)
{
	struct home h;
	struct err e;

	(void)state;
	home_make(&h);
	home_close(&h);
	sql(&h, "record_no_update", "CREATE TABLE more (x INTEGER)");
	assert_int_equal(-1, home_open(&h, &e));
	assert_int_equal(e.code, ERR_RECOVER);
	home_free(&h);
}

static void
a_schema_of_a_newer_version_is_refused(void **state)
{
	struct home h;
	struct err e;

	(void)state;
	home_make(&h);
	home_close(&h);
	sql(&h, "record_no_update", "PRAGMA user_version=999");
	assert_int_equal(-1, home_open(&h, &e));
	assert_int_equal(e.code, ERR_VERSION);
	home_free(&h);
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(each_verdict_is_reached),
		cmocka_unit_test(a_refused_start_touches_nothing),
		cmocka_unit_test(a_copy_that_does_not_agree_with_its_head_can_be_read),
		cmocka_unit_test(after_a_crash_window_it_is_clean_and_the_next_write_says_so),
		cmocka_unit_test(one_torn_slot_of_the_head_does_no_harm),
		cmocka_unit_test(drifted_tables_are_rebuilt_when_a_person_says_so),
		cmocka_unit_test(a_full_replay_finds_what_a_start_cannot_afford_to),
		cmocka_unit_test(an_interrupted_beginning_is_finished_or_begun_again),
		cmocka_unit_test(a_directory_that_others_can_read_is_refused),
		cmocka_unit_test(files_are_this_users_alone),
		cmocka_unit_test(tables_that_are_not_ours_are_refused),
		cmocka_unit_test(a_schema_of_a_newer_version_is_refused),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
