/* SPDX-License-Identifier: ISC */
/*
 * The machines exist twice, in C and in SQL.  Offer SQLite every move of small
 * integers: it must take exactly the ones that machine_step() takes.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>
#include <sqlite3.h>
#include <cmocka.h>

#include "base/buf.h"
#include "lifecycle/machine.h"

static const char *const schema[] = {
#include "derived.h"
#include "schema.h"
};

static int
setup(void **state)
{
	AUTO(buf) struct buf b;
	sqlite3 *db;

	buf_init(&b, 1 << 20);
	for (size_t i = 0; i < sizeof(schema) / sizeof(schema[0]); i++)
		buf_put_str(&b, schema[i]);
	assert_int_equal(SQLITE_OK, sqlite3_open(":memory:", &db));
	if (sqlite3_exec(db, buf_cstr(&b), NULL, NULL, NULL) != SQLITE_OK)
		fail_msg("%s", sqlite3_errmsg(db));
	*state = db;
	return 0;
}

static int
teardown(void **state)
{
	return sqlite3_close(*state);
}

static int
run(sqlite3 *db, const char *sql)
{
	return sqlite3_exec(db, sql, NULL, NULL, NULL);
}

static sqlite3_stmt *
prepare(sqlite3 *db)
{
	sqlite3_stmt *s;

	assert_int_equal(SQLITE_OK, sqlite3_prepare_v2(db, "INSERT INTO record"
	    " (idx, machine, subject, subject_seq, prev, event, from_st, to_st,"
	    " refused, bytes) VALUES (?1, ?2, x'00010203040506070809', ?3, ?4,"
	    " ?5, ?6, ?7, ?8, x'00')", -1, &s, NULL));
	return s;
}

static int
insert(sqlite3_stmt *s, int idx, int machine, int seq, int prev, int event,
    int from, int to, int refused)
{
	const int v[] = { idx, machine, seq, prev, event, from, to, refused };

	sqlite3_reset(s);
	for (int i = 0; i < 8; i++)
		if (i == 3 && v[i] < 0)
			sqlite3_bind_null(s, i + 1);
		else
			sqlite3_bind_int(s, i + 1, v[i]);
	return sqlite3_step(s) == SQLITE_DONE;
}

static void
sql_and_c_agree_on_every_move(void **state)
{
	sqlite3_stmt *s = prepare(*state);
	int legal = 0, idx = 0;

	/* Here it is only about moves, not about what was before. */
	assert_int_equal(SQLITE_OK, run(*state, "DROP TRIGGER record_chain"));
	assert_int_equal(SQLITE_OK, run(*state, "BEGIN"));
	for (int m = 0; m <= MACHINE_END; m++)
	for (int from = 0; from <= machine_states(m); from++)
	for (int ev = 0; ev <= machine_events(m); ev++)
	for (int to = 0; to <= machine_states(m); to++) {
		struct step step;
		struct err e;
		int c, sql;

		c = machine_step(m, from, ev, &step, &e) == 0 && step.to == to;
		sql = insert(s, idx++, m, 0, -1, ev, from, to, 0);
		if (c != sql)
			fail_msg("machine %d: %d %d %d: C says %d, SQL %d", m,
			    from, ev, to, c, sql);
		legal += c;
		assert_int_equal(insert(s, idx++, m, 0, -1, ev, from, to, 1),
		    from == to);
	}
	assert_true(legal > 50);
	sqlite3_finalize(s);
}

static void
a_move_begins_where_its_subject_is(void **state)
{
	sqlite3_stmt *s = prepare(*state);
	enum { EX = MACHINE_EXPOSURE, ACTIVE = EXPOSURE_ACTIVE };

	/* Not without a first record; not twice the first. */
	assert_false(insert(s, 0, EX, 0, -1, EXPOSURE_EV_renew, ACTIVE, ACTIVE, 0));
	assert_true(insert(s, 0, EX, 0, -1, EXPOSURE_EV_expose, 0, ACTIVE, 0));
	/* Not from another state, another number, another record, another machine. */
	assert_false(insert(s, 1, EX, 1, 0, EXPOSURE_EV_closed_revoked,
	    EXPOSURE_CLOSING, EXPOSURE_REVOKED, 0));
	assert_false(insert(s, 1, EX, 2, 0, EXPOSURE_EV_renew, ACTIVE, ACTIVE, 0));
	assert_false(insert(s, 1, EX, 1, 9, EXPOSURE_EV_renew, ACTIVE, ACTIVE, 0));
	assert_false(insert(s, 1, MACHINE_KEY, 1, 0, KEY_EV_activate, KEY_NEXT,
	    KEY_ACTIVE, 0));
	assert_true(insert(s, 1, EX, 1, 0, EXPOSURE_EV_renew, ACTIVE, ACTIVE, 0));
	sqlite3_finalize(s);
}

static void
what_is_evidence_is_neither_changed_nor_deleted(void **state)
{
	static const char *const no[] = {
		"UPDATE record SET event = 2", "DELETE FROM record",
		"UPDATE commit_row SET size = 2", "DELETE FROM commit_row",
		"UPDATE commit_sig SET sig = zeroblob(64)",
		"DELETE FROM commit_sig", "UPDATE tile SET n = 2",
		"DELETE FROM tile", "UPDATE sealed SET value = x'01'",
	};
	sqlite3_stmt *s = prepare(*state);

	assert_true(insert(s, 0, MACHINE_EXPOSURE, 0, -1, EXPOSURE_EV_expose, 0,
	    EXPOSURE_ACTIVE, 0));
	assert_int_equal(SQLITE_OK, run(*state,
	    "INSERT INTO commit_row VALUES (0, 1, zeroblob(32), zeroblob(32), 0);"
	    "INSERT INTO commit_sig VALUES (0, zeroblob(10), zeroblob(64));"
	    "INSERT INTO tile VALUES (0, 0, zeroblob(32), zeroblob(8192));"
	    "INSERT INTO sealed VALUES (0, 4, zeroblob(32), x'00')"));
	for (size_t i = 0; i < sizeof(no) / sizeof(no[0]); i++)
		if (run(*state, no[i]) != SQLITE_CONSTRAINT)
			fail_msg("accepted: %s", no[i]);
	/* A sealed value may be withheld: the record keeps its digest. */
	assert_int_equal(SQLITE_OK, run(*state, "DELETE FROM sealed"));
	sqlite3_finalize(s);
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
#define T(name) cmocka_unit_test_setup_teardown(name, setup, teardown)
		T(sql_and_c_agree_on_every_move),
		T(a_move_begins_where_its_subject_is),
		T(what_is_evidence_is_neither_changed_nor_deleted),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
