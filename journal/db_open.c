/* SPDX-License-Identifier: ISC */
/*
 * db_open.c - the one SQLite connection of a journal, and how it is set.
 *
 * Debian 12's SQLite loses committed rows when two connections checkpoint
 * (the WAL-reset bug), so there is one: locked before the first access, its
 * wal-index in our memory, no second process, no automatic checkpoint.
 */
#include <stdio.h>
#include <string.h>

#include "base/limits.h"

#include "journal/db_int.h"

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
	if (db_query(d, sql, NOVALS, &s, e) || (got = stmt_next(d, s, e)) < 0)
		return -1;
	if (got == 1 &&
	    strcmp((const char *)sqlite3_column_text((sqlite3_stmt *)(void *)s, 0), is) != 0)
		return err_set(e, ERR_CONFIG, "%s is %s, not %s", sql,
		    (const char *)sqlite3_column_text((sqlite3_stmt *)(void *)s, 0), is);
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
count_frames(void *cookie, sqlite3 *h, const char *name, int frames)
{
	struct db *d = cookie;

	(void)h;
	(void)name;
	d->wal_frames = frames;
	return SQLITE_OK;
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
		return db_fail(d, e, "file settings");
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
		return db_fail(d, e, path);
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
