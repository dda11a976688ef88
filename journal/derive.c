/* SPDX-License-Identifier: ISC */
#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "journal/derive.h"
#include "journal/sql.h"

/* The columns every machine has; then its facts, then id. */
static const char *const columns[] = {
	"state", "seq", "first", "last", "born_us", "moved_us", "owed",
};
enum { NCOLUMN = sizeof(columns) / sizeof(columns[0]), SQL_MAX = 2048,
	CHAIN_MAX = 64 << 20, LIVE_MAX = 4096 };

/* What stands between two columns: "state, seq, ..." or "state = ?, ...". */
static void
put_columns(struct buf *b, int machine, const char *suffix)
{
	const struct fact_info *info;
	size_t n;

	for (size_t i = 0; i < NCOLUMN; i++)
		buf_putf(b, "%s%s, ", columns[i], suffix);
	info = fact_info(machine, &n);
	for (size_t i = 0; i < n; i++)
		buf_putf(b, "%s%s, ", info[i].column, suffix);
	buf_putf(b, "id");
}

static int
keep_one(struct db *d, int machine, struct err *e)
{
	AUTO(buf) struct buf get, put, set;
	const char *name = machine_name(machine);
	size_t n;

	buf_init(&get, SQL_MAX);
	buf_init(&put, SQL_MAX);
	buf_init(&set, SQL_MAX);
	buf_put_str(&get, "SELECT ");
	put_columns(&get, machine, "");
	buf_putf(&get, " FROM %s WHERE id = ?", name);

	buf_putf(&put, "INSERT INTO %s (", name);
	put_columns(&put, machine, "");
	buf_put_str(&put, ") VALUES (?");
	(void)fact_info(machine, &n);
	for (size_t i = 0; i < NCOLUMN + n; i++)
		buf_put_str(&put, ", ?");
	buf_put_str(&put, ")");

	buf_putf(&set, "UPDATE %s SET ", name);
	put_columns(&set, machine, " = ?");
	buf_put_str(&set, " = id WHERE id = ?");

	if (buf_ok(&get, name, e) || buf_ok(&put, name, e) ||
	    buf_ok(&set, name, e) ||
	    db_keep(d, derived_slot(machine, DERIVED_GET), buf_cstr(&get), e) ||
	    db_keep(d, derived_slot(machine, DERIVED_PUT), buf_cstr(&put), e) ||
	    db_keep(d, derived_slot(machine, DERIVED_SET), buf_cstr(&set), e))
		return -1;
	return 0;
}

int
derive_keep(struct db *d, struct err *e)
{
	for (int m = 1; m < MACHINE_END; m++)
		if (machine_valid(m) && keep_one(d, m, e))
			return -1;
	return 0;
}

static int
load(struct stmt *row, int machine, struct subject *s, struct err *e)
{
	const struct fact_info *info;
	size_t n;

	*s = (struct subject){
		.machine = machine,
		.state = (int)stmt_int(row, 0),
		.seq = (uint32_t)stmt_int(row, 1),
		.first = (uint64_t)stmt_int(row, 2),
		.last = (uint64_t)stmt_int(row, 3),
		.born_us = stmt_int(row, 4),
		.moved_us = stmt_int(row, 5),
		.owed = (int)stmt_int(row, 6),
	};
	info = fact_info(machine, &n);
	for (size_t i = 0; i < n; i++) {
		int col = (int)(NCOLUMN + i);
		struct fact *f = &s->fact[i];
		struct bytes v;

		if (stmt_null(row, col))
			continue;
		f->present = 1;
		if (!info[i].blob) {
			f->i = stmt_int(row, col);
			continue;
		}
		v = stmt_blob(row, col);
		if (v.n > sizeof(f->b))
			return err_set(e, ERR_CORRUPT, "%s.%s",
			    machine_name(machine), info[i].column);
		if (v.n != 0)
			memcpy(f->b, v.p, v.n);
		f->n = v.n;
	}
	return stmt_copy(row, (int)(NCOLUMN + n), s->id.b, ID_BYTES, e);
}

int
derive_get(struct db *d, int machine, const struct id *id, struct subject *out,
    int *found, struct err *e)
{
	AUTO(row) struct stmt *row = NULL;
	struct subject s;
	int got;

	got = db_first(d, derived_slot(machine, DERIVED_GET),
	    VALS(VB(id->b, ID_BYTES)), &row, e);
	if (got < 0 || (got == 1 && load(row, machine, &s, e)))
		return -1;
	if (got == 1)
		*out = s;
	*found = got;
	return 0;
}

int
derive_put(struct db *d, const struct subject *s, int fresh, struct err *e)
{
	struct val v[NCOLUMN + FACTS_MAX + 1] = {
		VI(s->state), VI(s->seq), VI(s->first), VI(s->last),
		VI(s->born_us), VI(s->moved_us), VI(s->owed),
	};
	const struct fact_info *info;
	size_t n;

	info = fact_info(s->machine, &n);
	for (size_t i = 0; i < n; i++) {
		const struct fact *f = &s->fact[i];

		v[NCOLUMN + i] = !f->present ? (struct val){ .type = VAL_NULL } :
		    info[i].blob ? VB(f->b, f->n) : VI(f->i);
	}
	v[NCOLUMN + n] = VB(s->id.b, ID_BYTES);
	return db_run(d, derived_slot(s->machine,
	    fresh ? DERIVED_PUT : DERIVED_SET), v, NCOLUMN + n + 1, e);
}

/* ---- against the records ------------------------------------------------ */

int
derive_chain(struct db *d, const struct subject *s, struct buf *chain,
    struct err *e)
{
	uint64_t at = s->last;

	for (;;) {
		struct stmt *row;
		uint64_t prev;
		int got;

		buf_put(chain, &at, sizeof(at));
		got = db_first(d, SQL_RECORD_PREV, VALS(VI(at),
		    VI(s->machine), VB(s->id.b, ID_BYTES)), &row, e);
		if (got < 0)
			return -1;
		if (got == 0)
			return err_set(e, ERR_CORRUPT, "record %" PRIu64
			    " is not of the %s it is counted to", at,
			    machine_name(s->machine));
		if (stmt_null(row, 0)) {
			stmt_done(row);
			return buf_ok(chain, "a history", e);
		}
		prev = (uint64_t)stmt_int(row, 0);
		stmt_done(row);
		if (prev >= at)
			return err_set(e, ERR_CORRUPT, "record %" PRIu64
			    " says that record %" PRIu64 " was before it", at,
			    prev);
		at = prev;
	}
}

static int
get_record(struct db *d, uint64_t index, struct stmt **row, struct record *r,
    struct err *e)
{
	int got = db_first(d, SQL_RECORD_GET, VALS(VI(index)), row, e);

	if (got != 1)
		return got < 0 ? -1 :
		    err_set(e, ERR_CORRUPT, "record %" PRIu64, index);
	return record_decode(stmt_blob(*row, 0), r, e);
}

/* The row of one subject against a replay of its records. */
static int
compare(struct db *d, const struct subject *row, struct buf *chain,
    struct err *e)
{
	struct subject s = { .state = 0 };
	char name[ID_TEXT_MAX];
	size_t n;

	buf_reset(chain);
	if (derive_chain(d, row, chain, e))
		return -1;
	n = chain->n / sizeof(uint64_t);
	for (size_t i = n; i-- > 0; ) {
		AUTO(row) struct stmt *st = NULL;
		struct record r;
		uint64_t index;

		memcpy(&index, chain->p + i * sizeof(index), sizeof(index));
		if (get_record(d, index, &st, &r, e) ||
		    fold(&r, i == n - 1, &s, e))
			return -1;
	}
	if (!subject_same(row, &s))
		return err_set(e, ERR_CORRUPT, "%s is not in table %s as its"
		    " records say", id_str(machine_id_kind(row->machine),
		    &row->id, name), machine_name(row->machine));
	return 0;
}

/* All rows of a machine; *${records} is how many records they stand for. */
static int
compare_all(struct db *d, int machine, int64_t *records, struct err *e)
{
	AUTO(stmt) struct stmt *ids = NULL;
	AUTO(buf) struct buf chain;
	char sql[80];
	int got;

	*records = 0;
	buf_init(&chain, CHAIN_MAX);
	(void)snprintf(sql, sizeof(sql), "SELECT id FROM %s",
	    machine_name(machine));
	if (db_query(d, sql, NOVALS, &ids, e))
		return -1;
	while ((got = stmt_next(d, ids, e)) == 1) {
		struct subject row;
		struct id id;
		int found;

		if (stmt_copy(ids, 0, id.b, ID_BYTES, e) ||
		    derive_get(d, machine, &id, &row, &found, e) ||
		    compare(d, &row, &chain, e))
			return -1;
		*records += (int64_t)row.seq + 1;
	}
	return got;
}

int
derive_check(struct db *d, struct err *e)
{
	for (int m = 1; m < MACHINE_END; m++) {
		char sql[80];
		int64_t counted, there;

		if (!machine_valid(m))
			continue;
		(void)snprintf(sql, sizeof(sql),
		    "SELECT count(*) FROM record WHERE machine = %d", m);
		if (compare_all(d, m, &counted, e) ||
		    db_number(d, sql, &there, e))
			return -1;
		if (counted != there)
			return err_set(e, ERR_CORRUPT, "table %s stands for %"
			    PRId64 " records, there are %" PRId64,
			    machine_name(m), counted, there);
	}
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
