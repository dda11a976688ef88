/* SPDX-License-Identifier: ISC */
/* sql.c - the schema and the kept statements. */
#include <stdio.h>
#include <string.h>

#include "journal/derive.h"
#include "journal/sql.h"

/* By lines: C promises no literal longer than 4095 characters. */
static const char *const schema[] = {
#include "derived.h"
#include "schema.h"
};

enum { SCHEMA_MAX = 256 << 10 };

int
sql_create(struct db *d, struct err *e)
{
	AUTO(buf) struct buf b;
	struct err why;

	buf_init(&b, SCHEMA_MAX);
	buf_putf(&b, "BEGIN IMMEDIATE; PRAGMA application_id=%d;"
	    " PRAGMA user_version=%d;\n", DB_APPLICATION, DB_SCHEMA);
	for (size_t i = 0; i < sizeof(schema) / sizeof(schema[0]); i++)
		buf_put_str(&b, schema[i]);
	buf_put_str(&b, "COMMIT");
	if (buf_ok(&b, "schema", e))
		return -1;
	if (db_script(d, buf_cstr(&b), e) == 0)
		return 0;
	/* The sentence is not the whole script. */
	why = *e;
	(void)err_set(e, (enum err_code)why.code, "make the tables of journal.db");
	return err_why(e, "%s", why.why);
}

int
sql_check(struct db *d, struct err *e)
{
	AUTO(db) struct db *own = NULL;
	struct db_opts o = { .memory = 1 };
	uint8_t is[32], due[32];
	int64_t app, version;

	if (db_number(d, "PRAGMA application_id", &app, e) ||
	    db_number(d, "PRAGMA user_version", &version, e))
		return -1;
	if (app != DB_APPLICATION)
		return err_set(e, ERR_CORRUPT, "journal.db is not a journal");
	if (version < DB_SCHEMA)
		return err_set(e, ERR_CORRUPT, "journal.db has schema %d",
		    (int)version);
	if (version > DB_SCHEMA)
		return err_set(e, ERR_VERSION, "journal.db has schema %d",
		    (int)version);
	if (db_open("", &o, &own, e) || sql_create(own, e) ||
	    db_schema_digest(own, due, e) || db_schema_digest(d, is, e))
		return -1;
	if (memcmp(is, due, sizeof(is)) != 0)
		return err_set(e, ERR_CORRUPT, "the tables of journal.db are"
		    " not those of this program");
	return 0;
}

int
sql_keep(struct db *d, struct err *e)
{
	static const struct { unsigned slot; const char *text; } all[] = {
#define SQL(NAME, text) { SQL_##NAME, text },
#include "journal/sql.def"
	};

	for (size_t i = 0; i < sizeof(all) / sizeof(all[0]); i++)
		if (db_keep(d, all[i].slot, all[i].text, e))
			return -1;
	return derive_keep(d, e);
}
