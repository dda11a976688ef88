/* SPDX-License-Identifier: ISC */
/* derive_check.c - the derived tables against the records (J2). */
#include <inttypes.h>
#include <stdio.h>

#include "journal/derive.h"
#include "journal/sql.h"
#include "journal/subjects.h"

enum { SQL_MAX = 1024, LIVE_MAX = 4096 };

static inline void
auto_subjects(struct subjects *s)
{
	subjects_done(s);
}

/* Every record, in order. */
static int
replay(struct db *d, struct subjects *map, struct err *e)
{
	AUTO(stmt) struct stmt *all = NULL;
	int got;

	if (db_query(d, "SELECT bytes FROM record ORDER BY idx", NOVALS, &all, e))
		return -1;
	while ((got = stmt_next(d, all, e)) == 1) {
		struct subject_row *row;
		struct record r;

		if (record_decode(stmt_blob(all, 0), &r, e))
			return -1;
		if (r.machine == MACHINE_LOG)
			continue;
		if ((row = subjects_row(map, &r)) == NULL)
			return err_set(e, ERR_NOMEM, "replay");
		if (fold(&r, row->used == ROW_FREE, row->full, e))
			return -1;
		map->n += row->used == ROW_FREE;
		row->used = ROW_THERE;
	}
	return got;
}

static int
compare(struct db *d, const struct subject *due, struct err *e)
{
	char name[ID_TEXT_MAX];
	struct subject row;
	int found;

	if (derive_get(d, due->machine, &due->id, &row, &found, e))
		return -1;
	if (!found || !subject_same(&row, due))
		return err_set(e, ERR_CORRUPT, "%s is not in table %s as its"
		    " records say", id_str(machine_id_kind(due->machine),
		    &due->id, name), machine_name(due->machine));
	return 0;
}

int
derive_check(struct db *d, struct err *e)
{
	AUTO(subjects) struct subjects map = { .keep_facts = 1 };
	int64_t rows = 0;

	if (replay(d, &map, e))
		return -1;
	for (size_t i = 0; i < map.cap; i++)
		if (map.row[i].used != ROW_FREE &&
		    compare(d, map.row[i].full, e))
			return -1;
	for (int m = 1; m < MACHINE_END; m++) {
		char sql[80];
		int64_t n = 0;

		(void)snprintf(sql, sizeof(sql), "SELECT count(*) FROM %s",
		    machine_name(m));
		if (machine_valid(m) && db_number(d, sql, &n, e))
			return -1;
		rows += n;
	}
	if (rows != (int64_t)map.n)
		return err_set(e, ERR_CORRUPT, "%" PRId64 " derived rows, the"
		    " records make %zu", rows, map.n);
	return 0;
}

int
derive_rebuild(struct db *d, struct err *e)
{
	AUTO(stmt) struct stmt *all = NULL;
	int got;

	for (int m = 1; m < MACHINE_END; m++) {
		char sql[80];

		(void)snprintf(sql, sizeof(sql), "DELETE FROM %s",
		    machine_name(m));
		if (machine_valid(m) && db_script(d, sql, e))
			return -1;
	}
	if (db_query(d, "SELECT bytes FROM record ORDER BY idx", NOVALS, &all, e))
		return -1;
	while ((got = stmt_next(d, all, e)) == 1) {
		struct subject s;
		struct record r;
		int found;

		if (record_decode(stmt_blob(all, 0), &r, e))
			return -1;
		if (r.machine == MACHINE_LOG)
			continue;
		if (derive_get(d, r.machine, &r.subject, &s, &found, e) ||
		    fold(&r, !found, &s, e) || derive_put(d, &s, !found, e))
			return -1;
	}
	return got;
}

/* How many rows that are not final differ from their last record; of those
 * that a start can afford to look at. */
static int
stale_rows(struct db *d, int machine, int64_t *n, struct err *e)
{
	AUTO(buf) struct buf b;

	buf_init(&b, SQL_MAX);
	buf_putf(&b, "SELECT count(*) FROM (SELECT id, state, seq, last FROM %s"
	    " WHERE state IN (0", machine_name(machine));
	for (int i = 1; i < machine_states(machine); i++)
		if (!machine_final(machine, i))
			buf_putf(&b, ", %d", i);
	buf_putf(&b, ") LIMIT %d) t LEFT JOIN record r ON r.idx = t.last"
	    " WHERE NOT coalesce(r.machine = %d AND r.subject = t.id"
	    " AND r.to_st = t.state AND r.subject_seq = t.seq, 0)", LIVE_MAX,
	    machine);
	if (buf_ok(&b, "check", e))
		return -1;
	return db_number(d, buf_cstr(&b), n, e);
}

/* How many of the newest records have not reached their subject's row. */
static int
missed_records(struct db *d, int machine, uint64_t from, int64_t *n,
    struct err *e)
{
	AUTO(buf) struct buf b;

	buf_init(&b, SQL_MAX);
	buf_putf(&b, "SELECT count(*) FROM record r LEFT JOIN %s t"
	    " ON t.id = r.subject WHERE r.idx >= %" PRIu64 " AND"
	    " r.machine = %d AND NOT coalesce(t.last > r.idx"
	    " OR (t.last = r.idx AND t.state = r.to_st AND"
	    " t.seq = r.subject_seq), 0)", machine_name(machine), from, machine);
	if (buf_ok(&b, "check", e))
		return -1;
	return db_number(d, buf_cstr(&b), n, e);
}

int
derive_check_live(struct db *d, struct err *e)
{
	enum { NEWEST = 256 };
	int64_t last;

	if (db_number(d, "SELECT max(idx) FROM record", &last, e))
		return -1;
	for (int m = 1; m < MACHINE_END; m++) {
		int64_t stale, missed;

		if (!machine_valid(m))
			continue;
		if (stale_rows(d, m, &stale, e) || missed_records(d, m,
		    last < NEWEST ? 0 : (uint64_t)(last - NEWEST), &missed, e))
			return -1;
		if (stale != 0 || missed != 0)
			return err_set(e, ERR_CORRUPT, "table %s: %" PRId64
			    " rows differ from their records",
			    machine_name(m), stale + missed);
	}
	return 0;
}
