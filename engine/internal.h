/* SPDX-License-Identifier: ISC */
#ifndef ENGINE_INTERNAL_H
#define ENGINE_INTERNAL_H

/* What the files of engine/ share; nobody else includes this. */

#include "engine/engine.h"
#include "engine/handlers.h"
#include "journal/receipt.h"

enum { BUCKETS_MAX = 64, OUTCOMES_MAX = 64 };

/* What ends, or keeps gloved here: one a live subject. */
struct lease {
	int		machine;
	struct id	id;
	int64_t		real_us, boot_us;	/* INT64_MAX: no end */
	int		live;			/* 1: work or a session, not a mere lease */
};

/* Refusals of one principal: how many more are recorded singly. */
struct bucket {
	uid_t		uid;
	int		used;
	int64_t		milli;		/* thousandths of a refusal */
	int64_t		at_us;		/* boot clock */
	uint64_t	suppressed;
};

/* How a worker's job ended, for whoever asked for it. */
struct outcome {
	struct id	change;
	int		set, result;
	uint64_t	done;
	char		text[1025];
};

/* An order that could not be carried out, until it has been dealt with. */
struct failure {
	int		machine;
	struct id	id;
	enum order_kind	kind;
	struct err	err;
};

/* The grace of a stop that is not the usual one, until the turn is over. */
struct grace {
	struct id	session;
	int64_t		us;
};

struct follower {
	uint64_t	conn;
	struct principal who;
	int		all;
	struct id	subject;
};

/* What the first client of a session shows to its supervisor. */
struct token {
	struct id	session;
	uint8_t		token[32];
};

#define LIST(type) struct { type *v; size_t n, cap; }

/*
 * list_add(l, e): room for one more element at the end, zeroed; NULL with *e
 * filled if there is no memory.
 */
void *list_grow(void *v, size_t n, size_t *cap, size_t size, struct err *e);
#define list_add(l, e)	__extension__({					\
	void *grown_ = list_grow((l)->v, (l)->n, &(l)->cap,			\
	    sizeof((l)->v[0]), (e));						\
	if (grown_ != NULL)							\
		(l)->v = grown_;						\
	grown_ == NULL ? NULL : &(l)->v[(l)->n++]; })

struct engine {
	struct engine_opts	 o;
	char			*home, *attach_dir;
	struct journal		*j;
	struct now		 now;
	struct now		 born;
	int			 leaving;

	/* this turn; gone when it is over */
	struct journal_txn	*txn;
	struct err		 broken;	/* why the transaction is lost; OK */
	struct ask		*asks, **asks_end;
	size_t			 nasks;
	LIST(struct grace)	 graces;
	LIST(struct subject)	 again;		/* ordered once more, after it */

	/* from turn to turn */
	struct ask		*waits;		/* until their subject has settled */
	LIST(struct lease)	 leases;
	LIST(struct failure)	 failures;
	LIST(struct follower)	 followers;
	struct bucket		 buckets[BUCKETS_MAX];
	struct outcome		 outcomes[OUTCOMES_MAX];
	size_t			 outcome;	/* the next to be overwritten */
	int64_t			 summary_us;	/* boot clock of the last summary */
	LIST(struct token)	 tokens;	/* of live sessions */
};

/* ---- appending: append.c ------------------------------------------------- */

/* Who moves, and how. */
struct move {
	int		 machine;
	struct id	 subject;
	int		 event;
	enum actor	 actor;
	struct ask	*ask;		/* NULL: not a request's */
	struct fields	*fields;	/* NULL: none but those of the ask */
};

int turn_open(struct engine *en, struct err *e) MUST_CHECK;
/* turn_append: who asked and why are added to the fields; notes a->index. */
int turn_append(struct engine *en, const struct move *m, uint64_t *index,
    struct err *e) MUST_CHECK;
/* turn_try(en): a savepoint; turn_keep, turn_drop end it. */
int turn_try(struct engine *en, struct err *e) MUST_CHECK;
int turn_keep(struct engine *en, struct err *e) MUST_CHECK;
void turn_drop(struct engine *en);
/* turn_again(en, s, e): what ${s} owes is ordered once more after the commit. */
int turn_again(struct engine *en, const struct subject *s, struct err *e)
    MUST_CHECK;
int turn_grace(struct engine *en, const struct id *session, int64_t us,
    struct err *e) MUST_CHECK;

/* ---- facts: facts.c ------------------------------------------------------ */

struct subjects {
	struct subject	*v;
	size_t		 n, cap;
};
static inline void auto_subjects(struct subjects *l) { free(l->v); }

/* facts_in: the subjects of a machine in one state, as this turn sees them. */
int facts_in(struct engine *en, int machine, int state, struct subjects *out,
    struct err *e) MUST_CHECK;
/* facts_on: sessions (work: changes being written) that stand on a lease now. */
int facts_on(struct engine *en, const struct id *exposure, struct subjects *out,
    struct err *e) MUST_CHECK;
int facts_work_on(struct engine *en, const struct id *exposure,
    struct subjects *out, struct err *e) MUST_CHECK;
int fact_id(const struct subject *s, int fact, struct id *id);	/* 0 if there */
int64_t fact_int(const struct subject *s, int fact, int64_t otherwise);

/* fact_record(en, s, event, index, b, e): the last record of ${s} of one event
 * (a refusal does not count); NOTFOUND. */
int fact_record(struct engine *en, const struct subject *s, int event,
    uint64_t *index, struct buf *b, struct err *e) MUST_CHECK;
/* fact_text: a sealed text of a record, NUL-terminated in ${b}. */
int fact_text(struct engine *en, uint64_t index, int tag, struct buf *b,
    struct err *e) MUST_CHECK;
/* facts_place: where an exposure leads, as it was recorded. */
int facts_place(struct engine *en, const struct subject *exposure,
    struct place *p, struct err *e) MUST_CHECK;

/* facts_mine(en, a, machine, kind, e): the subject that params.id names, if it
 * is the caller's (or ADMIN's, for a removal); then a->subject is set. */
int facts_mine(struct engine *en, struct ask *a, int machine, struct subject *s,
    struct err *e) MUST_CHECK;
int is_admin(const struct engine *en, const struct ask *a);
/* facts_owner(en, s, uid, e): who owns a subject of any machine. */
int facts_owner(struct engine *en, const struct subject *s, int64_t *uid,
    struct err *e) MUST_CHECK;
/* lease_open: 0 if an exposure is active and not over by either clock. */
int lease_open(const struct engine *en, const struct subject *exposure,
    struct err *e) MUST_CHECK;

/* A lease to be opened. */
struct new_lease {
	struct id		 id;
	const struct place	*place;
	enum mode		 mode;
	const char		*label;
	int64_t			 ttl_us, max_us;
};
int exposure_append(struct engine *en, struct ask *a, const struct new_lease *l,
    uint64_t *index, struct err *e) MUST_CHECK;
/* start_gather(en, a, s, e): the parameters of session.start into ${s}. */
int start_gather(struct engine *en, const struct ask *a, struct start *s,
    struct err *e) MUST_CHECK;
/* param_mode: a mode of this version, from params.mode. */
int param_mode(const struct ask *a, enum mode *mode, struct err *e) MUST_CHECK;

/* ---- rules: rules.c ------------------------------------------------------ */

/*
 * session_end(en, id, event, by, actor, cause, e): stop, expire or revoke one.
 * ${by}: the index of the record that brought it about, UINT64_MAX: none.
 */
int session_end(struct engine *en, const struct id *session, int event,
    uint64_t by, struct ask *a, struct err *e) MUST_CHECK;
/* exposure_end(en, id, event, a, grace_us, e): revoke or expire a lease, and
 * with it whatever stands on it, in one commit. */
int exposure_end(struct engine *en, const struct id *exposure, int event,
    struct ask *a, int64_t grace_us, struct err *e) MUST_CHECK;
/* exposure_settle: if it is closing and nothing is left on it, it is closed. */
int exposure_settle(struct engine *en, const struct id *exposure, struct err *e)
    MUST_CHECK;
/* settled(en, machine, id): 1 if nothing more is on its way for it. */
int settled(struct engine *en, int machine, const struct id *id);
/* is_started: 1 once a session is past its gate, one way or the other. */
int is_started(struct engine *en, const struct id *session);

/* ---- orders, answers, leases, refusals ----------------------------------- */

/* orders_run(en, c): carry out what ${c} orders, if anything; what cannot be
 * is noted in ${en}->failures. */
void orders_run(struct engine *en, const struct committed *c);
void failure_note(struct engine *en, int machine, const struct id *id,
    enum order_kind kind, const struct err *err);

/* news_worker_lost(en, s, actor, e): a worker that died tells nothing. */
int news_worker_lost(struct engine *en, const struct subject *s, enum actor actor,
    struct err *e) MUST_CHECK;
/* failures_settle(en, e): record what could not be carried out. */
int failures_settle(struct engine *en, struct err *e) MUST_CHECK;

int leases_load(struct engine *en, struct err *e) MUST_CHECK;
int leases_follow(struct engine *en, int machine, const struct id *id,
    struct err *e) MUST_CHECK;

void refusal_record(struct engine *en, struct ask *a);
int refusal_summary(struct engine *en, struct err *e) MUST_CHECK;

struct outcome *outcome_of(struct engine *en, const struct id *change, int make);
const struct token *token_of(const struct engine *en, const struct id *session);

/* ---- answers: show.c, record_json.c -------------------------------------- */

int show_session(struct engine *en, const struct subject *s, int whole,
    struct json *o, struct err *e) MUST_CHECK;
int show_exposure(struct engine *en, const struct subject *s, struct json *o,
    struct err *e) MUST_CHECK;
int show_change(struct engine *en, const struct subject *s, struct json *o,
    struct err *e) MUST_CHECK;
/* param_grace: SIGTERM to SIGKILL, -1: as usual.  param_wait: a->waits. */
int param_grace(const struct ask *a, int64_t *us, struct err *e) MUST_CHECK;
int param_wait(struct ask *a, struct err *e) MUST_CHECK;
ask_handler finish_session, finish_exposure, finish_change, finish_start,
    finish_receipt;
/* again(en, a, index, e): answer a repeated request from its first record. */
int request_again(struct engine *en, struct ask *a, uint64_t index, struct err *e)
    MUST_CHECK;

/* record_json(en, bytes, uid, o, e): one object of glove.records/1. */
int record_json(struct engine *en, struct bytes b, const struct ask *a,
    struct json *o, struct err *e) MUST_CHECK;

void set_id(struct json *o, const char *key, int machine, const struct id *id);
int param_id(const struct ask *a, const char *key, int machine, struct id *id,
    struct err *e) MUST_CHECK;
/* param_text: "" if absent; NUL-terminated copy, at most n - 1 bytes. */
int param_text(const struct ask *a, const char *key, char *out, size_t n,
    struct err *e) MUST_CHECK;

#endif
