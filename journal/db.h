/* SPDX-License-Identifier: ISC */
#ifndef JOURNAL_DB_H
#define JOURNAL_DB_H

#include "base/auto.h"
#include "base/buf.h"
#include "base/err.h"

/*
 * SQLite, as the journal wants it; only db.c and db_open.c see its header.
 *
 * One connection, locked exclusively, write-ahead log, one fdatasync a COMMIT,
 * checkpoints only when we say so.  What errors mean for the world:
 *
 *	JOURNAL	the disk is full or cannot be written; the statement, and when
 *		db_in_txn() says 0 the whole transaction, never happened
 *	CORRUPT	the file is not what SQLite wrote, or a constraint was broken
 */
struct db;
struct stmt;

enum {
	DB_PAGE = 4096,
	DB_SLOTS = 96,
	DB_WAL_FRAMES = 1024,		/* the WAL is kept this long */
	DB_WAL_BYTES = 32 + DB_WAL_FRAMES * (DB_PAGE + 24),
	DB_CHUNK = 1 << 20,		/* the file grows by this */
	DB_APPLICATION = 0x474c5631,	/* "GLV1" */
	DB_SCHEMA = 1			/* user_version */
};

struct db_opts {
	int	 create;
	int	 read_only;	/* nothing is ever written, not even a checkpoint */
	int	 memory;	/* no file at all; for comparing schemas */
};

/* db_open(path, o, d, e): LOCKED if another process has it, CORRUPT if it is
 * not a database of ours. */
int db_open(const char *path, const struct db_opts *o, struct db **d,
    struct err *e) MUST_CHECK;
void db_close(struct db *d);	/* no checkpoint, the WAL stays; NULL is fine */
static inline void auto_db(struct db **d) { db_close(*d); }

/* db_script(d, sql, e): one or more statements without results. */
int db_script(struct db *d, const char *sql, struct err *e) MUST_CHECK;
/* db_number(d, sql, v, e): the integer that ${sql} asks for; 0 if no row. */
int db_number(struct db *d, const char *sql, int64_t *v, struct err *e) MUST_CHECK;

/* What goes into a ?. */
struct val {
	enum { VAL_NULL, VAL_INT, VAL_BLOB } type;
	int64_t		i;
	struct bytes	b;	/* borrowed until the statement is reset */
};
#define VI(x)	((struct val){ VAL_INT, (int64_t)(x), { NULL, 0 } })
#define VB(p, n) ((struct val){ VAL_BLOB, 0, { (p), (n) } })
#define VNULL	((struct val){ VAL_NULL, 0, { NULL, 0 } })
#define VBYTES(bytes) ((struct val){ VAL_BLOB, 0, (bytes) })
#define VALS(...) (const struct val[]){ __VA_ARGS__ }, \
	sizeof((const struct val[]){ __VA_ARGS__ }) / sizeof(struct val)
#define NOVALS	NULL, 0

/* db_keep(d, slot, sql, e): prepare once, run often. */
int db_keep(struct db *d, unsigned slot, const char *sql, struct err *e) MUST_CHECK;
/* db_run(d, slot, v, n, e): a kept statement that gives no rows. */
int db_run(struct db *d, unsigned slot, const struct val *v, size_t n,
    struct err *e) MUST_CHECK;
/*
 * db_first(d, slot, v, n, s, e): its first row, 1 in return; 0 if there is
 * none, -1 on failure.  After 1 the caller ends with stmt_done(), and has to
 * before the slot is used again.
 */
int db_first(struct db *d, unsigned slot, const struct val *v, size_t n,
    struct stmt **s, struct err *e) MUST_CHECK;

/* db_query(d, sql, v, n, s, e): a statement of its own, before its first row. */
int db_query(struct db *d, const char *sql, const struct val *v, size_t n,
    struct stmt **s, struct err *e) MUST_CHECK;
/* stmt_next: 1 a row, 0 the end, -1. */
int stmt_next(struct db *d, struct stmt *s, struct err *e) MUST_CHECK;
void stmt_done(struct stmt *s);		/* of db_first(): reset; NULL is fine */
void stmt_free(struct stmt *s);		/* of db_query(); NULL is fine */
static inline void auto_stmt(struct stmt **s) { stmt_free(*s); }
static inline void auto_row(struct stmt **s) { stmt_done(*s); }

int stmt_null(struct stmt *s, int col);
int64_t stmt_int(struct stmt *s, int col);
struct bytes stmt_blob(struct stmt *s, int col); /* borrowed until the next row */
/* stmt_copy(s, col, to, n): exactly ${n} bytes; CORRUPT otherwise. */
int stmt_copy(struct stmt *s, int col, void *to, size_t n, struct err *e) MUST_CHECK;

int db_begin(struct db *d, struct err *e) MUST_CHECK;
void db_rollback(struct db *d);		/* also when there is nothing to do */
int db_in_txn(struct db *d);		/* 0 also after SQLite rolled back by itself */

/* What a COMMIT came to. */
enum db_commit { DB_COMMITTED, DB_REFUSED, DB_UNKNOWN };
/* db_commit(d, e): REFUSED is a definite no and the transaction is gone. */
enum db_commit db_commit(struct db *d, struct err *e) MUST_CHECK;

int db_wal_frames(const struct db *d);	/* in use, as of the last COMMIT */
/* db_checkpoint(d, e): all of the WAL into the database; the next COMMIT
 * begins at its start again. */
int db_checkpoint(struct db *d, struct err *e) MUST_CHECK;

/* db_reserve(d, pages, e): blocks on disk for ${pages} more pages. */
int db_reserve(struct db *d, int64_t pages, struct err *e) MUST_CHECK;

/* db_schema_digest(d, out, e): of the text of the schema that ${d} has. */
int db_schema_digest(struct db *d, uint8_t out[32], struct err *e) MUST_CHECK;

/* db_broken(d): 1 once reading or writing has failed: from then on the page
 * cache may show what is not on disk; only db_close() is left. */
int db_broken(const struct db *d);
/* db_full(d): 1 if something since db_begin() failed for want of space. */
int db_full(const struct db *d);
/* db_damaged(d): 1 if the last failure was that the file is no database. */
int db_damaged(const struct db *d);

#endif
