/* SPDX-License-Identifier: ISC */
/*
 * db - the one SQLite connection of a journal.
 *
 * Debian 12's SQLite loses committed rows when two connections checkpoint
 * (the WAL-reset bug), so there is one: locked before the first access, its
 * wal-index in our memory, no second process, no automatic checkpoint.
 */
#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include <sqlite3.h>

#include "base/limits.h"
#include "base/sha256.h"

#include "journal/db.h"

enum { SLOT_BEGIN = DB_SLOTS, SLOT_COMMIT, SLOT_ALL };

struct db {
	sqlite3		*h;
	struct stmt	*kept[SLOT_ALL];
	int		 wal_frames;
	int		 last;		/* primary result code of the last error */
	int		 broken;	/* 1: input or output failed once */
};

/* A struct stmt is SQLite's under another name; nothing looks inside it. */
static sqlite3_stmt *
raw(struct stmt *s)
{
	return (sqlite3_stmt *)(void *)s;
}

static int
fail(struct db *d, struct err *e, const char *doing)
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
		return fail(d, e, sql);
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
			return fail(d, e, sqlite3_sql(raw(s)));
	}
	return 0;
}

static int
step(struct db *d, struct stmt *s, struct err *e)
{
	int rc = sqlite3_step(raw(s));

	if (rc == SQLITE_ROW)
		return 1;
	return rc == SQLITE_DONE ? 0 : fail(d, e, sqlite3_sql(raw(s)));
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
		return fail(d, e, sql);
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

static int
count_frames(void *cookie, sqlite3 *h, const char *name, int frames)
{
	struct db *d = cookie;

	(void)h;
	(void)name;
	d->wal_frames = frames;
	return SQLITE_OK;
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
		return fail(d, e, "checkpoint of the write-ahead log");
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
	return err_set(e, ERR_JOURNAL, "%" PRId64 " more pages of %d bytes",
	    pages, DB_PAGE);
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

/* ---- open --------------------------------------------------------------- */

/* What is set is read back: a typing mistake in a pragma is not an error. */
static const struct pragma {
	const char	*name, *set, *is;
	int		 writes;	/* 1: not on a read-only connection */
} pragmas[] = {
	{ "locking_mode", "EXCLUSIVE", "exclusive", 0 },
	{ "page_size", "4096", "4096", 1 },
	{ "auto_vacuum", "0", "0", 1 },
	{ "journal_mode", "WAL", "wal", 1 },
	{ "journal_mode", NULL, "wal", 0 },
	{ "synchronous", "FULL", "2", 0 },
	{ "wal_autocheckpoint", "0", "0", 0 },
	{ "journal_size_limit", NULL, NULL, 1 },
	{ "mmap_size", "0", "0", 0 },
	{ "cache_size", "-2048", "-2048", 0 },
	{ "temp_store", "MEMORY", "2", 0 },
	{ "secure_delete", "0", "0", 0 },
	{ "trusted_schema", "0", "0", 0 },
	{ "cell_size_check", "1", "1", 0 },
	{ "foreign_keys", "1", "1", 0 },
	{ "recursive_triggers", "1", "1", 0 },
};

static int
pragma_set(struct db *d, const struct pragma *p, const char *set,
    const char *is, struct err *e)
{
	AUTO(stmt) struct stmt *s = NULL;
	char sql[80];
	int got;

	if (set != NULL) {
		(void)snprintf(sql, sizeof(sql), "PRAGMA %s=%s", p->name, set);
		if (db_script(d, sql, e))
			return -1;
	}
	(void)snprintf(sql, sizeof(sql), "PRAGMA %s", p->name);
	if (db_query(d, sql, NOVALS, &s, e) || (got = step(d, s, e)) < 0)
		return -1;
	if (got == 1 &&
	    strcmp((const char *)sqlite3_column_text(raw(s), 0), is) != 0)
		return err_set(e, ERR_CONFIG, "%s is %s, not %s", sql,
		    (const char *)sqlite3_column_text(raw(s), 0), is);
	return 0;
}

static int
pragmas_set(struct db *d, const struct db_opts *o, struct err *e)
{
	char limit[16];

	(void)snprintf(limit, sizeof(limit), "%d", DB_WAL_BYTES);
	for (size_t i = 0; i < sizeof(pragmas) / sizeof(pragmas[0]); i++) {
		const struct pragma *p = &pragmas[i];

		if (p->writes && o->read_only)
			continue;
		if (pragma_set(d, p, p->is == NULL ? limit : p->set,
		    p->is == NULL ? limit : p->is, e))
			return -1;
	}
	return o->read_only ? db_script(d, "PRAGMA query_only=1", e) : 0;
}

static int
configure(struct db *d, const struct db_opts *o, struct err *e)
{
	static const struct { int op, on; } config[] = {
		{ SQLITE_DBCONFIG_DEFENSIVE, 1 },
		{ SQLITE_DBCONFIG_TRUSTED_SCHEMA, 0 },
		{ SQLITE_DBCONFIG_WRITABLE_SCHEMA, 0 },
		{ SQLITE_DBCONFIG_DQS_DML, 0 },
		{ SQLITE_DBCONFIG_DQS_DDL, 0 },
		{ SQLITE_DBCONFIG_ENABLE_VIEW, 0 },
		{ SQLITE_DBCONFIG_ENABLE_TRIGGER, 1 },
		{ SQLITE_DBCONFIG_ENABLE_LOAD_EXTENSION, 0 },
		{ SQLITE_DBCONFIG_NO_CKPT_ON_CLOSE, 1 },
	};
	int on = 1, chunk = DB_CHUNK, is;

	for (size_t i = 0; i < sizeof(config) / sizeof(config[0]); i++)
		if (sqlite3_db_config(d->h, config[i].op, config[i].on, &is) !=
		    SQLITE_OK || is != config[i].on)
			return err_set(e, ERR_CONFIG, "SQLite setting %d",
			    config[i].op);
	(void)sqlite3_limit(d->h, SQLITE_LIMIT_LENGTH, BLOB_MAX + (1 << 20));
	(void)sqlite3_limit(d->h, SQLITE_LIMIT_ATTACHED, 0);
	(void)sqlite3_limit(d->h, SQLITE_LIMIT_SQL_LENGTH, 100000);
	(void)sqlite3_extended_result_codes(d->h, 1);
	if (o->memory)
		return 0;
	if (pragmas_set(d, o, e))
		return -1;
	if (sqlite3_file_control(d->h, NULL, SQLITE_FCNTL_PERSIST_WAL, &on) !=
	    SQLITE_OK || (!o->read_only && sqlite3_file_control(d->h, NULL,
	    SQLITE_FCNTL_CHUNK_SIZE, &chunk) != SQLITE_OK))
		return fail(d, e, "file settings");
	(void)sqlite3_wal_hook(d->h, count_frames, d);
	if (db_keep(d, SLOT_BEGIN, "BEGIN IMMEDIATE", e) ||
	    db_keep(d, SLOT_COMMIT, "COMMIT", e))
		return -1;
	return 0;
}

int
db_open(const char *path, const struct db_opts *o, struct db **out,
    struct err *e)
{
	AUTO(db) struct db *d = NULL;
	int flags = SQLITE_OPEN_READWRITE | SQLITE_OPEN_NOMUTEX |
	    SQLITE_OPEN_PRIVATECACHE | SQLITE_OPEN_NOFOLLOW;

	if ((d = calloc(1, sizeof(*d))) == NULL)
		return err_set(e, ERR_NOMEM, "%s", path);
	if (o->create)
		flags |= SQLITE_OPEN_CREATE;
	if (sqlite3_open_v2(o->memory ? ":memory:" : path, &d->h, flags, NULL) != SQLITE_OK) {
		if (d->h == NULL)
			return err_set(e, ERR_NOMEM, "%s", path);
		return fail(d, e, path);
	}
	if (configure(d, o, e))
		return err_wrap(e, "%s", path);
	*out = TAKE(d);
	return 0;
}

void
db_close(struct db *d)
{
	if (d == NULL)
		return;
	for (size_t i = 0; i < SLOT_ALL; i++)
		stmt_free(d->kept[i]);
	(void)sqlite3_close(d->h);
	free(d);
}
