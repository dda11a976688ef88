/* SPDX-License-Identifier: ISC */
#ifndef JOURNAL_SQL_H
#define JOURNAL_SQL_H

#include "lifecycle/machine.h"
#include "journal/db.h"

/* The slots of kept statements: those of sql.def, then four a machine. */
enum sql {
#define SQL(NAME, text) SQL_##NAME,
#include "journal/sql.def"
	SQL_DERIVED
};

enum derived_sql { DERIVED_GET, DERIVED_PUT, DERIVED_SET, DERIVED_SQL_END };

_Static_assert(SQL_DERIVED + MACHINE_END * DERIVED_SQL_END <= DB_SLOTS,
    "DB_SLOTS is too small");

static inline unsigned
derived_slot(int machine, enum derived_sql what)
{
	return (unsigned)SQL_DERIVED +
	    (unsigned)machine * DERIVED_SQL_END + (unsigned)what;
}

/* sql_keep(d, e): prepare all of them. */
int sql_keep(struct db *d, struct err *e) MUST_CHECK;
/* sql_create(d, e): the schema, in a transaction of its own. */
int sql_create(struct db *d, struct err *e) MUST_CHECK;
/* sql_check(d, e): VERSION if the schema is not the one of this program. */
int sql_check(struct db *d, struct err *e) MUST_CHECK;

#endif
