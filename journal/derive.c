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
enum { NCOLUMN = sizeof(columns) / sizeof(columns[0]), SQL_MAX = 2048 };

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
