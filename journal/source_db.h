/* SPDX-License-Identifier: ISC */
#ifndef JOURNAL_SOURCE_DB_H
#define JOURNAL_SOURCE_DB_H

#include "journal/source.h"

/*
 * source_db: the database and head file of a state directory that nothing else
 * has open, best a copy of one.  Only read.  LOCKED if gloved has it; CORRUPT
 * if it is no such database.
 *
 * Beside what a log says of itself, the head file has to agree with its end,
 * and the columns, tiles and derived tables with its records.
 */
struct source_db;
int source_db_open(const char *path, struct source_db **d, struct source *s,
    struct err *e) MUST_CHECK;
void source_db_close(struct source_db *d);	/* NULL is fine */
static inline void auto_source_db(struct source_db **d) { source_db_close(*d); }


#endif
