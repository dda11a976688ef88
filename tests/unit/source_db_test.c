/* SPDX-License-Identifier: ISC */
/* Verifying the database of a state directory: whole, changed, cut short. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <sqlite3.h>

#include "base/fd.h"

#include "journal/source_db.h"
#include "journal/verify.h"
#include "tests/lib/forge.h"
#include "tests/lib/home.h"

/* A journal with some history, closed. */
struct place {
	struct home	h;
	struct trusted	trusted;
	uint64_t	records;
	char		db[80], wal[80], head[80];
};

static int
setup(void **state)
{
	static struct place p;
	struct journal_txn *t;
	struct id exp, ses;
	struct err e;

	home_make(&p.h);
	for (int i = 0; i < 24; i++) {
		must(journal_begin(p.h.j, &t, &e));
		switch (i % 4) {
		case 0:
			id_random(&exp);
			id_random(&ses);
			must(home_expose(t, &exp, NULL, &e));
			break;
		case 1:
			must(home_move(t, MACHINE_SESSION, &ses,
			    SESSION_EV_prepare, &e));
			break;
		case 2:
			must(home_move(t, MACHINE_SESSION, &ses,
			    SESSION_EV_start_intent, &e));
			break;
		default:
			must(home_move(t, MACHINE_EXPOSURE, &exp,
			    EXPOSURE_EV_revoke, &e));
			must(home_move(t, MACHINE_SESSION, &ses,
			    SESSION_EV_revoke, &e));
			break;
		}
		if (i == 12)
			must(journal_epoch_roll(t, &e));
		must(home_commit(t, &e));
	}
	p.trusted = (struct trusted){ .how = TRUST_PINNED, .has_root = 1 };
	memcpy(p.trusted.install, journal_install(p.h.j), 16);
	memcpy(p.trusted.root_pub, journal_root_pub(p.h.j), PUB_BYTES);
	p.records = journal_size(p.h.j);
	/* Into the database, so that there is something to cut. */
	must(journal_idle(p.h.j, &e));
	home_close(&p.h);
	(void)snprintf(p.db, sizeof(p.db), "%s/journal.db", p.h.dir);
	(void)snprintf(p.wal, sizeof(p.wal), "%s/journal.db-wal", p.h.dir);
	(void)snprintf(p.head, sizeof(p.head), "%s/head", p.h.dir);
	*state = &p;
	return 0;
}

static int
teardown(void **state)
{
	struct place *p = *state;

	home_free(&p->h);
	return 0;
}

/* What it comes to; what cannot even be opened cannot be checked. */
static enum answer
look(const struct place *p, struct report *r)
{
	AUTO(source_db) struct source_db *d = NULL;
	struct verify_opts o = { .trusted = &p->trusted, .ntrusted = 1 };
	struct source s;
	struct err e;

	memset(r, 0, sizeof(*r));
	if (source_db_open(p->h.dir, &d, &s, &e)) {
		(void)snprintf(r->line[1].text, CHECK_TEXT_MAX, "%.300s",
		    e.msg);
		return ANSWER_CANNOT_CHECK;
	}
	verify_run(&s, &o, r);
	return r->answer;
}

static void
a_closed_state_directory_verifies(void **state)
{
	const struct place *p = *state;
	struct report r;

	if (look(p, &r) != ANSWER_NOT_WITNESSED)
		forge_print(&r);
	assert_int_equal(r.answer, ANSWER_NOT_WITNESSED);
	assert_int_equal(r.records, p->records);
	assert_int_equal(r.line[CHECK_COMPLETENESS].outcome, OUTCOME_PASS);
	assert_int_equal(r.line[CHECK_MACHINE].outcome, OUTCOME_PASS);
	assert_int_equal(r.line[CHECK_FILES].outcome, OUTCOME_PASS);

	/* Without the head file nobody knows where the end was. */
	assert_int_equal(0, unlink(p->head));
	assert_int_equal(look(p, &r), ANSWER_NOT_WITNESSED);
	assert_int_equal(r.line[CHECK_COMPLETENESS].outcome, OUTCOME_SKIP);
}

/* ---- changed rows ------------------------------------------------------- */

static void
sql(sqlite3 *h, const char *text)
{
	char *msg = NULL;

	if (sqlite3_exec(h, text, NULL, NULL, &msg) != SQLITE_OK)
		fail_msg("%s: %s", text, msg);
}

static int
keep(void *ctx, int n, char **v, char **names)
{
	struct buf *b = ctx;

	(void)n;
	(void)names;
	buf_putf(b, "%s;", v[0]);
	return 0;
}

/* As somebody does who writes to the file: the triggers do not stop him, and
 * are put back. */
static void
change(const struct place *p, const char *text)
{
	AUTO(buf) struct buf drop, make;
	sqlite3 *h;

	buf_init(&drop, 1 << 16);
	buf_init(&make, 1 << 16);
	assert_int_equal(SQLITE_OK, sqlite3_open(p->db, &h));
	sql(h, "PRAGMA locking_mode=EXCLUSIVE; PRAGMA ignore_check_constraints=1");
	assert_int_equal(SQLITE_OK, sqlite3_exec(h, "SELECT sql FROM"
	    " sqlite_schema WHERE type='trigger'", keep, &make, NULL));
	assert_int_equal(SQLITE_OK, sqlite3_exec(h, "SELECT 'DROP TRIGGER ' ||"
	    " name FROM sqlite_schema WHERE type='trigger'", keep, &drop, NULL));
	sql(h, "BEGIN");
	sql(h, buf_cstr(&drop));
	sql(h, text);
	if (sqlite3_changes(h) == 0)
		fail_msg("%s changed nothing", text);
	sql(h, buf_cstr(&make));
	sql(h, "COMMIT");
	assert_int_equal(SQLITE_OK, sqlite3_close(h));
}

static void
save(const char *path, struct buf *b)
{
	struct err e;

	buf_init(b, 64 << 20);
	must(fd_file(AT_FDCWD, path, b, &e));
}

static void
restore(const char *path, const struct buf *b)
{
	AUTO(fd) int fd = open(path, O_WRONLY | O_CREAT | O_TRUNC, 0600);
	struct err e;

	assert_true(fd >= 0);
	must(fd_write_all(fd, b->p, b->n, &e));
}

static const char *const changes[] = {
	"UPDATE record SET to_st = to_st + 1 WHERE idx = 9",
	"UPDATE record SET subject_seq = subject_seq + 1 WHERE idx = 9",
	"UPDATE record SET refused = 1 - refused WHERE idx = 9",
	"UPDATE record SET machine = 4 WHERE idx = 9",
	"UPDATE record SET event = event + 1 WHERE idx = 9",
	"UPDATE record SET prev = 0 WHERE idx = 9",
	"UPDATE record SET subject = zeroblob(10) WHERE idx = 7",
	"UPDATE record SET idx = 100000 WHERE idx = 9",
	"UPDATE record SET bytes = substr(bytes, 1, length(bytes) - 1)"
	    " WHERE idx = 9",
	"UPDATE record SET bytes = (SELECT bytes FROM record WHERE"
	    " idx = 10) WHERE idx = 9",
	"DELETE FROM record WHERE idx = 9",
	"DELETE FROM record WHERE idx = (SELECT max(idx) FROM record)",
	"DELETE FROM commit_row WHERE no = 3",
	"DELETE FROM commit_row WHERE no = (SELECT max(no) FROM"
	    " commit_row)",
	"DELETE FROM commit_sig WHERE no = 3",
	"UPDATE commit_row SET size = size - 1 WHERE no = 3",
	"UPDATE commit_row SET epoch = 1 - epoch WHERE no = 3",
	"UPDATE commit_row SET root = zeroblob(32) WHERE no = 3",
	"UPDATE commit_row SET mac = zeroblob(32) WHERE no = 3",
	"UPDATE commit_row SET mac = zeroblob(32) WHERE no ="
	    " (SELECT max(no) FROM commit_row)",
	"UPDATE commit_sig SET sig = zeroblob(64) WHERE no = 3",
	"UPDATE commit_sig SET key = zeroblob(10) WHERE no = 3",
	"UPDATE commit_sig SET sig = (SELECT sig FROM commit_sig WHERE"
	    " no = 4) WHERE no = 3",
	"UPDATE sealed SET value = x'00' WHERE idx = (SELECT min(idx)"
	    " FROM sealed) AND tag = 28",
	"UPDATE sealed SET salt = zeroblob(32) WHERE idx = (SELECT min(idx)"
	    " FROM sealed) AND tag = 28",
	"UPDATE sealed SET tag = 25 WHERE idx = (SELECT min(idx)"
	    " FROM sealed) AND tag = 28",
	"UPDATE sealed SET idx = 1 WHERE idx = (SELECT min(idx)"
	    " FROM sealed) AND tag = 28",
	"INSERT INTO tile VALUES (0, 0, zeroblob(32), zeroblob(8192))",
	"UPDATE exposure SET state = 5 WHERE rowid = 1",
	"UPDATE exposure SET owed = 3 WHERE rowid = 1",
	"UPDATE exposure SET owner_uid = 4711 WHERE rowid = 1",
	"UPDATE exposure SET moved_us = moved_us + 1 WHERE rowid = 1",
	"UPDATE exposure SET id = zeroblob(10) WHERE rowid = 1",
	"DELETE FROM exposure WHERE rowid = 1",
	"UPDATE key SET state = 3 WHERE use = 4 AND epoch = 1",
	"UPDATE key SET pub = zeroblob(32) WHERE use = 4 AND epoch = 1",
	"DELETE FROM service",
	"INSERT INTO session SELECT zeroblob(10), 6, 0, 1, 1, 1, 1, NULL,"
	    " NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, 0",
};

static void
each_kind_of_changed_row_is_found(void **state)
{
	const struct place *p = *state;
	AUTO(buf) struct buf db, wal;
	struct report r;

	save(p->db, &db);
	save(p->wal, &wal);
	for (size_t i = 0; i < sizeof(changes) / sizeof(changes[0]); i++) {
		change(p, changes[i]);
		if (answer_exit((int)look(p, &r)) == 0) {
			forge_print(&r);
			fail_msg("%s: not found", changes[i]);
		}
		restore(p->db, &db);
		restore(p->wal, &wal);
	}
	assert_int_equal(look(p, &r), ANSWER_NOT_WITNESSED);
}

/* ---- cut short ---------------------------------------------------------- */

/* With the head file: valid only if nothing is gone.  Without it: an older
 * state may be whole in itself, and the report says that nobody knows. */
static void
assert_honest(const struct place *p, const char *what, int64_t at)
{
	struct report r;

	if (answer_exit((int)look(p, &r)) != 0)
		return;
	if (access(p->head, F_OK) == 0 ? r.records != p->records :
	    r.line[CHECK_COMPLETENESS].outcome != OUTCOME_SKIP) {
		forge_print(&r);
		fail_msg("%s cut at %lld", what, (long long)at);
	}
}

/* At every n-th boundary and a byte to either side; with GLOVE_LONG, at all. */
static void
cut_everywhere(const struct place *p, const char *path, int64_t size,
    int64_t nth)
{
	const int64_t step = getenv("GLOVE_LONG") != NULL ? size : size * nth;
	AUTO(buf) struct buf b;

	save(path, &b);
	for (int64_t at = 0; at < (int64_t)b.n; at += step)
		for (int64_t off = -1; off <= 1; off++) {
			AUTO(fd) int fd = open(path, O_WRONLY);
			struct err e;

			if (at + off < 0 || at + off > (int64_t)b.n)
				continue;
			assert_int_equal(0, ftruncate(fd, at + off));
			assert_honest(p, path, at + off);
			assert_int_equal(0, ftruncate(fd, at + off));
			must(fd_pwrite_full(fd, b.p + at + off,
			    b.n - (size_t)(at + off), at + off, &e));
		}
}

static void
a_database_cut_at_a_page_is_never_whole(void **state)
{
	const struct place *p = *state;

	/* With the write-ahead log beside it, then alone. */
	cut_everywhere(p, p->db, 4096, 61);
	assert_int_equal(0, unlink(p->wal));
	cut_everywhere(p, p->db, 4096, 17);
	assert_int_equal(0, unlink(p->head));
	cut_everywhere(p, p->db, 4096, 31);
}

static void
a_write_ahead_log_cut_at_a_frame_is_never_whole(void **state)
{
	struct place *p = *state;
	struct id id;
	struct err e;

	/* Some commits that are only there. */
	must(home_open(&p->h, &e));
	for (int i = 0; i < 4; i++) {
		id_random(&id);
		must(home_write(&p->h, &id, NULL, &e));
	}
	p->records = journal_size(p->h.j);
	home_close(&p->h);
	cut_everywhere(p, p->wal, 4096 + 24, 29);
	assert_int_equal(0, unlink(p->head));
	cut_everywhere(p, p->wal, 4096 + 24, 61);
}

static void
an_older_database_beside_a_newer_head_is_found(void **state)
{
	struct place *p = *state;
	AUTO(buf) struct buf db, wal, head, newer;
	struct report r;
	struct id id;
	struct err e;

	save(p->db, &db);
	save(p->wal, &wal);
	save(p->head, &head);
	must(home_open(&p->h, &e));
	id_random(&id);
	must(home_write(&p->h, &id, NULL, &e));
	id_random(&id);
	must(home_write(&p->h, &id, NULL, &e));
	home_close(&p->h);
	assert_int_equal(look(p, &r), ANSWER_NOT_WITNESSED);

	/* The database put back: the end is missing. */
	save(p->head, &newer);
	restore(p->db, &db);
	restore(p->wal, &wal);
	assert_int_equal(look(p, &r), ANSWER_INCOMPLETE);
	assert_int_equal(r.line[CHECK_COMPLETENESS].outcome, OUTCOME_FAIL);

	/* Both put back: nobody here remembers. */
	restore(p->head, &head);
	assert_int_equal(look(p, &r), ANSWER_NOT_WITNESSED);
}

static void
an_older_head_beside_a_newer_database_is_found(void **state)
{
	struct place *p = *state;
	AUTO(buf) struct buf head;
	struct report r;
	struct id id;
	struct err e;

	save(p->head, &head);
	must(home_open(&p->h, &e));
	id_random(&id);
	must(home_write(&p->h, &id, NULL, &e));
	id_random(&id);
	must(home_write(&p->h, &id, NULL, &e));
	home_close(&p->h);
	restore(p->head, &head);
	assert_int_equal(look(p, &r), ANSWER_INVALID);
	assert_int_equal(r.line[CHECK_FILES].outcome, OUTCOME_FAIL);
}

int
main(void)
{
#define TEST(f) cmocka_unit_test_setup_teardown(f, setup, teardown)
	const struct CMUnitTest tests[] = {
		TEST(a_closed_state_directory_verifies),
		TEST(each_kind_of_changed_row_is_found),
		TEST(a_database_cut_at_a_page_is_never_whole),
		TEST(a_write_ahead_log_cut_at_a_frame_is_never_whole),
		TEST(an_older_head_beside_a_newer_database_is_found),
		TEST(an_older_database_beside_a_newer_head_is_found),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
