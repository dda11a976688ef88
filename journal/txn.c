/* SPDX-License-Identifier: ISC */
/* txn.c - a transaction: one a turn, a savepoint a move. */
#include <assert.h>
#include <string.h>

#include "faultinject/fi.h"

#include "journal/inside.h"

/* Only what belongs to the last transaction; the buffers keep their memory. */
static void
txn_reset(struct journal_txn *t, struct journal *j)
{
	t->j = j;
	t->now = clock_now();
	t->at = j->at;
	buf_reset(&t->bytes);
	t->nentry = t->checked = 0;
	t->base = j->at.size;
	t->broken = t->roll = t->own = 0;
	t->save.held = 0;
}

int
txn_open(struct journal *j, struct journal_txn **t, struct err *e)
{
	assert(!j->in_txn);
	if (journal_poisoned(j))
		return err_set(e, ERR_UNKNOWN, "the journal has to be opened"
		    " again");
	if (j->read_only)
		return err_set(e, ERR_UNSUPPORTED, "the journal was opened for"
		    " reading");
	if (FI(JOURNAL_BEGIN))
		return err_set(e, ERR_JOURNAL, "begin: injected");
	if (db_begin(j->db, e))
		return -1;
	j->in_txn = 1;
	txn_reset(&j->txn, j);
	*t = &j->txn;
	return 0;
}

/*
 * The first write of a process says that it serves, and whether the one before
 * it ended in order; a process that only reads leaves no trace.
 */
static int
announce(struct journal_txn *t, struct err *e)
{
	AUTO(fields) struct fields f;
	struct draft restart = { .machine = MACHINE_LOG,
	    .event = LOG_EV_restart, .actor = ACTOR_RECOVERY,
	    .expect_from = -1, .removal = 1 };
	struct draft up = { .machine = MACHINE_SERVICE,
	    .event = SERVICE_EV_start, .actor = ACTOR_SERVICE, .fields = &f,
	    .expect_from = -1, .removal = 1 };
	struct subject s;
	int found;

	fields_init(&f);
	fields_text(&f, FIELD_VERSION, STR(GLOVE_VERSION));
	memcpy(up.subject.b, t->j->install, ID_BYTES);
	if (derive_get(t->j->db, MACHINE_SERVICE, &up.subject, &s, &found, e))
		return -1;
	if (found && s.state == SERVICE_UP) {
		up.event = SERVICE_EV_restart;
		up.actor = ACTOR_RECOVERY;
	}
	if ((t->j->restart && append_own(t, &restart, e)) ||
	    append_own(t, &up, e))
		return -1;
	t->at.started = 1;
	return 0;
}

int
journal_begin(struct journal *j, struct journal_txn **out, struct err *e)
{
	AUTO(txn) struct journal_txn *t = NULL;

	room_retry(j);
	if (txn_open(j, &t, e) || (!t->at.started && announce(t, e)))
		return -1;
	*out = TAKE(t);
	return 0;
}

void
journal_rollback(struct journal_txn *t)
{
	if (t == NULL)
		return;
	/* SQLite may have rolled back already; either way it is over. */
	db_rollback(t->j->db);
	if (db_full(t->j->db))
		t->j->room = 0;
	t->j->in_txn = 0;
}

int
txn_alive(const struct journal_txn *t, struct err *e)
{
	if (t->broken || !db_in_txn(t->j->db))
		return err_set(e, ERR_JOURNAL, "the transaction failed before");
	return 0;
}

int
journal_save(struct journal_txn *t, struct err *e)
{
	assert(!t->save.held);
	if (txn_alive(t, e) || db_run(t->j->db, SQL_SAVE, NOVALS, e))
		return -1;
	t->save.at = t->at;
	t->save.nentry = t->nentry;
	t->save.nbytes = t->bytes.n;
	t->save.checked = t->checked;
	t->save.roll = t->roll;
	t->save.own = t->own;
	t->save.held = 1;
	return 0;
}

int
journal_keep(struct journal_txn *t, struct err *e)
{
	assert(t->save.held);
	if (txn_alive(t, e) || append_links(t, e) ||
	    db_run(t->j->db, SQL_KEEP, NOVALS, e))
		return -1;
	t->save.held = 0;
	return 0;
}

int
journal_undo(struct journal_txn *t, struct err *e)
{
	assert(t->save.held);
	t->save.held = 0;
	if (!db_in_txn(t->j->db))
		return err_set(e, ERR_JOURNAL, "the whole transaction is gone");
	if (db_run(t->j->db, SQL_UNDO, NOVALS, e) ||
	    db_run(t->j->db, SQL_KEEP, NOVALS, e)) {
		t->broken = 1;
		return -1;
	}
	t->at = t->save.at;
	t->nentry = t->save.nentry;
	t->bytes.n = t->save.nbytes;
	t->bytes.failed = 0;
	t->checked = t->save.checked;
	t->roll = t->save.roll;
	t->own = t->save.own;
	t->broken = 0;
	return 0;
}

uint64_t
journal_next(const struct journal_txn *t)
{
	return t->at.size;
}

uint64_t
journal_appended(const struct journal_txn *t)
{
	uint64_t n = 0;

	for (size_t i = 0; i < t->nentry; i++)
		n += !t->entry[i].ours;
	return n;
}
