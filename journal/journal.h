/* SPDX-License-Identifier: ISC */
#ifndef JOURNAL_JOURNAL_H
#define JOURNAL_JOURNAL_H

#include "base/clock.h"
#include "journal/committed.h"
#include "journal/fold.h"
#include "journal/sign.h"
#include "lifecycle/machine.h"

/*
 * The journal: one writer, one connection, one process.
 *
 *	append -> footer -> root -> signature -> MAC -> COMMIT -> head file
 *
 * J1  what is acknowledged is durable, signed, and reproduces its root
 * J2  derived tables equal a replay of the records
 * J3  nothing in memory changes before COMMIT has returned
 * J4  after an error of COMMIT other than FULL nobody knows: close, open, look
 */
struct journal;
struct journal_txn;

/* What a start found; verdict.def has the sentence and the action of each. */
enum verdict {
#define VERDICT(code, NAME, action, doc) VERDICT_##NAME = (code),
#include "journal/verdict.def"
	VERDICT_END
};
const char *verdict_name(int verdict);
const char *verdict_doc(int verdict);
int verdict_opens(int verdict);		/* 1: the journal may be used */

struct journal_opts {
	int	homefd;		/* the state directory, open; stays the caller's */
	int	create;		/* 1: make a new one if there is none at all */
	int	read_only;	/* verify, never write: no lock, no head update */
	int	rebuild;	/* on STATE_DRIFT make the derived tables anew */
};

/*
 * journal_open(o, j, verdict, e): lock, look at head and files before SQLite
 * does, open, classify, settle what is safe to settle (CLEAN, CRASH_WINDOW,
 * NEW).  Fails with LOCKED, RECOVER (*${verdict} says which row), VERSION,
 * CORRUPT, CONFIG (modes, owners), JOURNAL (cannot be written), SYS, NOMEM.
 *
 * With read_only, for a copy that nothing else has open: keys are not needed,
 * and FORK, HEAD_LOST, HEAD_STALE, LOST_TAIL and MAC_BAD open all the same,
 * *${verdict} says so.  SQLite has to be able to write to the copy, but does not.
 */
int journal_open(const struct journal_opts *o, struct journal **j,
    enum verdict *verdict, struct err *e) MUST_CHECK;
void journal_close(struct journal *j);	/* NULL is fine; no open transaction */
static inline void auto_journal(struct journal **j) { journal_close(*j); }

const uint8_t *journal_install(const struct journal *j);	/* 16 bytes */
const char *journal_origin(const struct journal *j);
uint64_t journal_size(const struct journal *j);			/* records */
const uint8_t *journal_log_pub(const struct journal *j);
const uint8_t *journal_root_pub(const struct journal *j);
uint64_t journal_commits(const struct journal *j);
int journal_epoch_due(const struct journal *j);	/* 1: time to roll the epoch key */
/* journal_unclean(j): 1 if this start followed an unclean end. */
int journal_unclean(const struct journal *j);
/* journal_poisoned(j): after an UNKNOWN commit; only journal_close() is left. */
int journal_poisoned(const struct journal *j);
/* journal_room(j): 1 ordinary moves, 0 only removals (the disk is full). */
int journal_room(const struct journal *j);

/*
 * A transaction: one a turn of gloved's loop, a savepoint a transition.
 * Dropped instead of committed, it never happened.
 */
int journal_begin(struct journal *j, struct journal_txn **t, struct err *e) MUST_CHECK;
void journal_rollback(struct journal_txn *t);	/* NULL is fine */
static inline void auto_txn(struct journal_txn **t) { journal_rollback(*t); }

int journal_save(struct journal_txn *t, struct err *e) MUST_CHECK;
int journal_keep(struct journal_txn *t, struct err *e) MUST_CHECK;
/* journal_undo: back to the last journal_save().  An error means that the
 * whole transaction is gone (SQLITE_FULL): drop it, everybody hears JOURNAL. */
int journal_undo(struct journal_txn *t, struct err *e) MUST_CHECK;

/* One move on its way into the journal. */
struct draft {
	int		 machine;
	struct id	 subject;
	int		 event;
	enum actor	 actor;
	const uint8_t	*request;	/* 16 bytes, or NULL */
	const struct fields *fields;	/* or NULL */
	int		 refused;	/* 1: a refused attempt; needs CODE */
	int		 removal;	/* 1: may use the reserved room */
	int		 expect_from;	/* state the caller read; -1: any */
};

/*
 * journal_append(t, d, index, e): step the machine from the state the journal
 * has, append the record, derive.  *${index} (may be NULL) is its leaf index.
 * LINK may name the index that the next append will get: journal_next().
 * Fails with ILLEGAL, STALE (expect_from), JOURNAL (no room, disk), FORMAT.
 */
int journal_append(struct journal_txn *t, const struct draft *d,
    uint64_t *index, struct err *e) MUST_CHECK;
uint64_t journal_next(const struct journal_txn *t);
uint64_t journal_appended(const struct journal_txn *t);	/* in this transaction */

/*
 * journal_commit(t, proofs, n, e): make it durable; takes *${t} whatever
 * happens.  *${proofs} is an array of *${n} proofs, one an appended record
 * without the footer, in order; the caller frees each and the array.  Without
 * a record or a blob there is nothing to commit, and nothing is written.
 * JOURNAL: nothing of it is there.  UNKNOWN: nobody knows; the journal is
 * poisoned.
 */
int journal_commit(struct journal_txn **t, struct committed ***proofs,
    size_t *n, struct err *e) MUST_CHECK;

/* ---- facts: inside a transaction, or outside with t == NULL ------------- */

/* Positions in fact[]: SESSION_FACT_owner_uid ... */
#define FACT(column, type, field, doc) SESSION_FACT_##column,
enum session_fact {
#include "lifecycle/session.def"
	SESSION_FACT_END };
#define FACT(column, type, field, doc) EXPOSURE_FACT_##column,
enum exposure_fact {
#include "lifecycle/exposure.def"
	EXPOSURE_FACT_END };
#define FACT(column, type, field, doc) CHANGE_FACT_##column,
enum change_fact {
#include "lifecycle/change.def"
	CHANGE_FACT_END };
#define FACT(column, type, field, doc) KEY_FACT_##column,
enum key_fact {
#include "lifecycle/key.def"
	KEY_FACT_END };
#define FACT(column, type, field, doc) SERVICE_FACT_##column,
enum service_fact {
#include "lifecycle/service.def"
	SERVICE_FACT_END };

/* journal_subject: NOTFOUND if there is no such row. */
int journal_subject(struct journal *j, int machine, const struct id *id,
    struct subject *s, struct err *e) MUST_CHECK;

/*
 * journal_each(j, machine, state, newest_first, visit, ctx, e): the subjects in
 * a state (0: all).  ${visit} returns 0 to go on, 1 to stop, -1 with *e filled.
 */
typedef int journal_visit(void *ctx, const struct subject *s, struct err *e);
int journal_each(struct journal *j, int machine, int state, int newest_first,
    journal_visit *visit, void *ctx, struct err *e) MUST_CHECK;
/* journal_each_owed: the subjects of a machine that owe an effect. */
int journal_each_owed(struct journal *j, int machine, journal_visit *visit,
    void *ctx, struct err *e) MUST_CHECK;
/* journal_find: subjects whose id begins as ${p} says; up to ${max}. */
int journal_find(struct journal *j, const struct id_prefix *p, struct subject *s,
    size_t max, size_t *n, struct err *e) MUST_CHECK;

/* journal_owed(j, s, c, e): proof of the record that made ${s} owe. */
int journal_owed(struct journal *j, const struct subject *s,
    struct committed **c, struct err *e) MUST_CHECK;

/* journal_record(j, index, b, e): append its bytes to ${b}. */
int journal_record(struct journal *j, uint64_t index, struct buf *b,
    struct err *e) MUST_CHECK;
/* journal_sealed(j, index, tag, salt, b, e): the value behind a sealed field;
 * NOTFOUND if it was withheld.  ${salt} may be NULL. */
int journal_sealed(struct journal *j, uint64_t index, int tag, uint8_t salt[32],
    struct buf *b, struct err *e) MUST_CHECK;
/*
 * journal_history(j, machine, id, from, visit, ctx, e): the records of one
 * subject (id NULL: all records with index >= from), in order.
 */
typedef int journal_record_visit(void *ctx, uint64_t index, struct bytes b,
    struct err *e);
int journal_history(struct journal *j, int machine, const struct id *id,
    uint64_t from, journal_record_visit *visit, void *ctx, struct err *e) MUST_CHECK;

/* journal_receipt(j, index, b, e): its receipt (a tlog-proof) under the newest
 * checkpoint, signed by epoch and log key. */
int journal_receipt(struct journal *j, uint64_t index, struct buf *b,
    struct err *e) MUST_CHECK;
/* journal_checkpoint(j, b, e): the newest signed note, both signatures. */
int journal_checkpoint(struct journal *j, struct buf *b, struct err *e) MUST_CHECK;

/* ---- idempotency -------------------------------------------------------- */

/*
 * journal_request_seen(j, request, body, index, e): 0 and the first record of
 * the request that had this id; NOTFOUND if it is new; ILLEGAL if the id was
 * used with another body.
 */
int journal_request_seen(struct journal *j, const uint8_t request[16],
    const uint8_t body[32], uint64_t *index, struct err *e) MUST_CHECK;
int journal_request_note(struct journal_txn *t, const uint8_t request[16],
    const uint8_t body[32], uint64_t index, struct err *e) MUST_CHECK;

/* ---- blobs, by SHA-256 of the uncompressed bytes ------------------------ */
int journal_blob_put(struct journal_txn *t, struct bytes data, uint8_t digest[32],
    struct err *e) MUST_CHECK;
int journal_blob_get(struct journal *j, const uint8_t digest[32], struct buf *b,
    struct err *e) MUST_CHECK;

/* ---- for verification ---------------------------------------------------- */

struct journal_commit {
	uint64_t	no;
	uint64_t	size;		/* records up to and with this commit */
	struct hash	root;
	uint8_t		mac[MAC_BYTES];
	uint32_t	epoch;
	uint8_t		pub[PUB_BYTES];	/* of that epoch, as the key table has it */
	uint8_t		sig[SIG_BYTES];	/* by that key over the checkpoint */
};
/* journal_commit_row(j, no, c, e): NOTFOUND beyond the last. */
int journal_commit_row(struct journal *j, uint64_t no, struct journal_commit *c,
    struct err *e) MUST_CHECK;
/* journal_commit_of(j, index, no, e): the commit that a record came with. */
int journal_commit_of(struct journal *j, uint64_t index, uint64_t *no,
    struct err *e) MUST_CHECK;
/* journal_check_derived(j, e): replay everything and compare (J2); CORRUPT
 * names the subject that differs.  O(records). */
int journal_check_derived(struct journal *j, struct err *e) MUST_CHECK;

/* ---- upkeep -------------------------------------------------------------- */

/* journal_stop(j, e): the orderly end: a SERVICE stop record, if this process
 * has written anything; then journal_close(). */
int journal_stop(struct journal *j, struct err *e) MUST_CHECK;
/* journal_idle(j, e): checkpoint the WAL; called when nothing else is to do. */
int journal_idle(struct journal *j, struct err *e) MUST_CHECK;
/* journal_epoch_roll(t, e): enrol the next epoch key, retire the old. */
int journal_epoch_roll(struct journal_txn *t, struct err *e) MUST_CHECK;

#endif
