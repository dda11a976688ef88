/* SPDX-License-Identifier: ISC */
/* db.c - statements, transactions, checkpoints. */
#include <inttypes.h>
#include <string.h>

#include "base/sha256.h"

#include "journal/db_int.h"

/* A struct stmt is SQLite's under another name; nothing looks inside it. */
static sqlite3_stmt *
raw(struct stmt *s)
{
	return (sqlite3_stmt *)(void *)s;
}

int
db_fail(struct db *d, struct err *e, const char *doing)
{
	enum err_code code = ERR_BUG;
	int rc = sqlite3_errcode(d->h) & 0xff;

	d->last = rc;
	if (rc == SQLITE_FULL || rc == SQLITE_READONLY ||
	    rc == SQLITE_CANTOPEN || rc == SQLITE_PERM || rc == SQLITE_IOERR)
		code = ERR_JOURNAL;
	else if (rc == SQLITE_CORRUPT || rc == SQLITE_NOTADB ||
	    rc == SQLITE_FORMAT || rc == SQLITE_CONSTRAINT)
		code = ERR_CORRUPT;
	else if (rc == SQLITE_BUSY || rc == SQLITE_LOCKED)
		code = ERR_LOCKED;
	else if (rc == SQLITE_NOMEM)
		code = ERR_NOMEM;
	else if (rc == SQLITE_TOOBIG)
		code = ERR_TOOBIG;
	if (rc == SQLITE_IOERR)
		d->broken = 1;
	(void)err_set(e, code, "%.120s", doing);
	return err_why(e, "SQLite says: %s (%d)", sqlite3_errmsg(d->h),
	    sqlite3_extended_errcode(d->h));
}

/* ---- statements --------------------------------------------------------- */

static int
prepare(struct db *d, const char *sql, unsigned flags, struct stmt **out,
    struct err *e)
{
	sqlite3_stmt *s;

	if (sqlite3_prepare_v3(d->h, sql, -1, flags, &s, NULL) != SQLITE_OK)
		return db_fail(d, e, sql);
	*out = (struct stmt *)(void *)s;
	return 0;
}

static int
bind(struct db *d, struct stmt *s, const struct val *v, size_t n, struct err *e)
{
	for (size_t i = 0; i < n; i++) {
		int at = (int)i + 1, rc;

		if (v[i].type == VAL_INT)
			rc = sqlite3_bind_int64(raw(s), at, v[i].i);
		else if (v[i].type == VAL_NULL)
			rc = sqlite3_bind_null(raw(s), at);
		else if (v[i].b.n == 0)
			rc = sqlite3_bind_zeroblob(raw(s), at, 0);
		else
			rc = sqlite3_bind_blob64(raw(s), at, v[i].b.p,
			    v[i].b.n, SQLITE_STATIC);
		if (rc != SQLITE_OK)
			return db_fail(d, e, sqlite3_sql(raw(s)));
	}
	return 0;
}

static int
step(struct db *d, struct stmt *s, struct err *e)
{
	int rc = sqlite3_step(raw(s));

	if (rc == SQLITE_ROW)
		return 1;
	return rc == SQLITE_DONE ? 0 : db_fail(d, e, sqlite3_sql(raw(s)));
}

int
db_keep(struct db *d, unsigned slot, const char *sql, struct err *e)
{
	return prepare(d, sql, SQLITE_PREPARE_PERSISTENT, &d->kept[slot], e);
}

int
db_first(struct db *d, unsigned slot, const struct val *v, size_t n,
    struct stmt **out, struct err *e)
{
	struct stmt *s = d->kept[slot];
	int got;

	got = bind(d, s, v, n, e) ? -1 : step(d, s, e);
	if (got == 1)
		*out = s;
	else
		stmt_done(s);
	return got;
}

int
db_run(struct db *d, unsigned slot, const struct val *v, size_t n,
    struct err *e)
{
	struct stmt *s;
	int got;

	if ((got = db_first(d, slot, v, n, &s, e)) == 1)
		stmt_done(s);
	return got < 0 ? -1 : 0;
}

int
db_query(struct db *d, const char *sql, const struct val *v, size_t n,
    struct stmt **out, struct err *e)
{
	AUTO(stmt) struct stmt *s = NULL;

	if (prepare(d, sql, 0, &s, e) || bind(d, s, v, n, e))
		return -1;
	*out = TAKE(s);
	return 0;
}

int
stmt_next(struct db *d, struct stmt *s, struct err *e)
{
	return step(d, s, e);
}

void
stmt_done(struct stmt *s)
{
	if (s == NULL)
		return;
	(void)sqlite3_reset(raw(s));
	(void)sqlite3_clear_bindings(raw(s));
}

void
stmt_free(struct stmt *s)
{
	(void)sqlite3_finalize(raw(s));
}

int
stmt_null(struct stmt *s, int col)
{
	return sqlite3_column_type(raw(s), col) == SQLITE_NULL;
}

int64_t
stmt_int(struct stmt *s, int col)
{
	return sqlite3_column_int64(raw(s), col);
}

struct bytes
stmt_blob(struct stmt *s, int col)
{
	const void *p = sqlite3_column_blob(raw(s), col);
	int n = sqlite3_column_bytes(raw(s), col);

	return p == NULL || n < 0 ? (struct bytes){ NULL, 0 } :
	    bytes_of(p, (size_t)n);
}

int
stmt_copy(struct stmt *s, int col, void *to, size_t n, struct err *e)
{
	struct bytes b = stmt_blob(s, col);

	if (b.n != n)
		return err_set(e, ERR_CORRUPT, "column %d of %.80s: %zu bytes"
		    " where %zu are due", col, sqlite3_sql(raw(s)), b.n, n);
	memcpy(to, b.p, n);
	return 0;
}

int
db_script(struct db *d, const char *sql, struct err *e)
{
	if (sqlite3_exec(d->h, sql, NULL, NULL, NULL) != SQLITE_OK)
		return db_fail(d, e, sql);
	return 0;
}

int
db_number(struct db *d, const char *sql, int64_t *v, struct err *e)
{
	AUTO(stmt) struct stmt *s = NULL;
	int got;

	if (db_query(d, sql, NOVALS, &s, e) || (got = step(d, s, e)) < 0)
		return -1;
	*v = got == 1 ? stmt_int(s, 0) : 0;
	return 0;
}

/* ---- transactions ------------------------------------------------------- */

int
db_begin(struct db *d, struct err *e)
{
	d->last = SQLITE_OK;
	return db_run(d, SLOT_BEGIN, NOVALS, e);
}

void
db_rollback(struct db *d)
{
	if (db_in_txn(d))
		(void)sqlite3_exec(d->h, "ROLLBACK", NULL, NULL, NULL);
}

int
db_in_txn(struct db *d)
{
	return !sqlite3_get_autocommit(d->h);
}

enum db_commit
db_commit(struct db *d, struct err *e)
{
	if (db_run(d, SLOT_COMMIT, NOVALS, e) == 0)
		return DB_COMMITTED;
	if (!db_full(d))
		return DB_UNKNOWN;
	db_rollback(d);
	return DB_REFUSED;
}

int
db_wal_frames(const struct db *d)
{
	return d->wal_frames;
}

int
db_checkpoint(struct db *d, struct err *e)
{
	int log, moved;

	if (sqlite3_wal_checkpoint_v2(d->h, NULL, SQLITE_CHECKPOINT_RESTART,
	    &log, &moved) != SQLITE_OK)
		return db_fail(d, e, "checkpoint of the write-ahead log");
	if (log != moved)
		return err_set(e, ERR_BUG, "checkpoint moved %d of %d frames",
		    moved, log);
	d->wal_frames = 0;
	return 0;
}

int
db_reserve(struct db *d, int64_t pages, struct err *e)
{
	sqlite3_int64 size;
	int64_t have;

	if (db_number(d, "PRAGMA page_count", &have, e))
		return -1;
	size = (have + pages) * DB_PAGE;
	if (sqlite3_file_control(d->h, NULL, SQLITE_FCNTL_SIZE_HINT, &size) ==
	    SQLITE_OK)
		return 0;
	d->last = SQLITE_FULL;
	(void)err_say(e, ERR_JOURNAL, "the disk of the state directory has no"
	    " room for the journal");
	return err_why(e, "it sets %" PRId64 " KiB more aside, for what must"
	    " always be possible: revoke, stop", pages * DB_PAGE / 1024);
}

int
db_full(const struct db *d)
{
	return d->last == SQLITE_FULL;
}

int
db_damaged(const struct db *d)
{
	return d->last == SQLITE_CORRUPT || d->last == SQLITE_NOTADB ||
	    d->last == SQLITE_FORMAT;
}

int
db_broken(const struct db *d)
{
	return d->broken;
}

int
db_schema_digest(struct db *d, uint8_t out[32], struct err *e)
{
	AUTO(stmt) struct stmt *s = NULL;
	struct digest sum;
	int got;

	if (db_query(d, "SELECT type, name, tbl_name, coalesce(sql, '')"
	    " FROM sqlite_schema ORDER BY type, name", NOVALS, &s, e))
		return -1;
	digest_init(&sum, "glove/schema/1");
	while ((got = step(d, s, e)) == 1)
		for (int col = 0; col < 4; col++)
			digest_bytes(&sum, stmt_blob(s, col));
	if (got < 0)
		return -1;
	digest_final(&sum, out);
	return 0;
}
