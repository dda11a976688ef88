/* SPDX-License-Identifier: ISC */
/*
 * room.c - on a full disk, revoking and stopping still work.
 *
 * Three things are kept: a write-ahead log that is already as long as it will
 * be, free pages inside the database, and blocks behind them.  Against a
 * writer that takes every block we free, 400 of 400 terminal commits succeeded
 * with them and none without.  Only overwriting helps: a file that has to grow
 * meets the full disk, a checkpoint into pages that have blocks does not.
 *
 * Below the reserve ordinary moves are refused; what has the draft's removal
 * flag is not.  No promise on file systems that copy on write.
 */
#include <sys/stat.h>

#include <fcntl.h>

#include "journal/inside.h"

enum {
	ROOM_PAGES = 256,		/* what removals may count on */
	ROOM_FILL = DB_WAL_FRAMES,	/* what a top-up leaves: the log in one go */
	ROOM_IDLE = 512,		/* less than this is topped up when idle */
	ROOM_RETRY_US = 1000000
};

static int
free_pages(struct journal *j, int64_t *n, struct err *e)
{
	struct stmt *s;
	int got = db_first(j->db, SQL_FREE_PAGES, NOVALS, &s, e);

	if (got < 0)
		return -1;
	*n = got == 1 ? stmt_int(s, 0) : 0;
	if (got == 1)
		stmt_done(s);
	return 0;
}

static int
wal_bytes(struct journal *j, int64_t *n, struct err *e)
{
	struct stat st;

	if (fstatat(j->homefd, "journal.db-wal", &st, AT_SYMLINK_NOFOLLOW))
		return err_set(e, ERR_SYS, "journal.db-wal");
	*n = st.st_size;
	return 0;
}

static int
once(struct journal *j, unsigned sql, const struct val *v, size_t n,
    struct err *e)
{
	if (db_begin(j->db, e) == 0 && db_run(j->db, sql, v, n, e) == 0 &&
	    db_commit(j->db, e) == DB_COMMITTED)
		return 0;
	db_rollback(j->db);
	return -1;
}

/*
 * Fill and empty: the pages come from the end of the file and stay free in it,
 * and the same bytes have gone through the log, which keeps its length.  The
 * blocks come first: a log that cannot be checkpointed would be worse.
 */
static int
top_up(struct journal *j, struct err *e)
{
	int64_t wal;

	if ((db_wal_frames(j->db) > 0 && db_checkpoint(j->db, e)) ||
	    db_reserve(j->db, ROOM_FILL + 32, e) ||
	    once(j, SQL_ROOM_EMPTY, NOVALS, e))
		return -1;
	do {
		if (once(j, SQL_ROOM_FILL, VALS(VI(ROOM_FILL * DB_PAGE)), e) ||
		    once(j, SQL_ROOM_EMPTY, NOVALS, e) ||
		    wal_bytes(j, &wal, e))
			return -1;
	} while (wal < DB_WAL_BYTES);
	return db_checkpoint(j->db, e);
}

static int
at_least(struct journal *j, int64_t due, struct err *e)
{
	int64_t pages, wal;

	if (free_pages(j, &pages, e) || wal_bytes(j, &wal, e))
		return -1;
	if (pages >= due && wal >= DB_WAL_BYTES) {
		j->room = 1;
		return 0;
	}
	j->room = 0;
	j->room_tried_us = clock_now().boot_us;
	if (top_up(j, e)) {
		/* What there is may still be enough. */
		if (due > ROOM_PAGES && !journal_poisoned(j))
			return at_least(j, ROOM_PAGES, e);
		return -1;
	}
	j->room = 1;
	return 0;
}

int
room_make(struct journal *j, struct err *e)
{
	return at_least(j, ROOM_PAGES, e);
}

void
room_retry(struct journal *j)
{
	struct err e;

	if (!j->room && j->live && !j->in_txn && !journal_poisoned(j) &&
	    clock_now().boot_us - j->room_tried_us >= ROOM_RETRY_US)
		(void)!room_make(j, &e);
}

/* After a commit, which is acknowledged whatever happens here. */
void
room_after(struct journal *j)
{
	struct err e;
	int64_t pages;

	if (db_wal_frames(j->db) >= DB_WAL_FRAMES / 2 &&
	    db_checkpoint(j->db, &e))
		j->room = 0;
	if (j->room && (free_pages(j, &pages, &e) ||
	    (pages < ROOM_PAGES && room_make(j, &e))))
		j->room = 0;
}

int
journal_room(const struct journal *j)
{
	return j->room;
}

int
journal_idle(struct journal *j, struct err *e)
{
	struct err why;

	if (!j->live || journal_poisoned(j) || j->in_txn)
		return 0;
	if (db_wal_frames(j->db) > 0 && db_checkpoint(j->db, e))
		return -1;
	if (clock_now().boot_us - j->room_tried_us >= ROOM_RETRY_US)
		(void)!at_least(j, ROOM_IDLE, &why);	/* else only removals */
	return 0;
}
