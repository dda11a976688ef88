/* SPDX-License-Identifier: ISC */
#ifndef JOURNAL_DB_INT_H
#define JOURNAL_DB_INT_H

/* What db.c and db_open.c share. */
#include <sqlite3.h>

#include "journal/db.h"

enum { SLOT_BEGIN = DB_SLOTS, SLOT_COMMIT, SLOT_ALL };

struct db {
	sqlite3		*h;
	struct stmt	*kept[SLOT_ALL];
	int		 wal_frames;
	int		 last;		/* primary result code of the last error */
	int		 broken;	/* 1: input or output failed once */
};

/* db_fail: what SQLite says, as an error; always -1. */
int db_fail(struct db *d, struct err *e, const char *doing);

#endif
