/* SPDX-License-Identifier: ISC */
#ifndef ENGINE_ENGINE_H
#define ENGINE_ENGINE_H

#include "engine/ask.h"
#include "engine/world.h"
#include "journal/journal.h"

/*
 * The engine: requests, news and deadlines in; records, orders and answers out.
 *
 *	engine_ask, engine_news, engine_tick ...	validate and append
 *	engine_turn					commit once, then act
 *
 * E1  nothing is ordered and nothing answered before its record is durable
 * E2  a request that fails leaves nothing behind but the record of its refusal
 * E3  no agent is let through its gate unless its lease is active in the same
 *     transaction that records the gate
 * E4  a lease is closed only when no session that stands on it is left
 * E5  nothing in memory changes before the commit
 */
struct engine;

struct engine_opts {
	struct journal		*journal;	/* stays the caller's */
	struct effect_ops	 ops;
	uid_t			 uid;		/* that gloved runs as */
	pid_t			 pid;
	const char		*home;		/* absolute, the state directory */
	const char		*attach_dir;	/* where supervisors listen */
	enum verdict		 verdict;	/* of journal_open() */
	int64_t			 idle_exit_s;
	uint8_t			 boot_id[16];

	/* answers; each takes what it is given */
	void	*cookie;
	void	(*answer)(void *cookie, struct ask *a);
	void	(*note)(void *cookie, uint64_t conn, const char *method,
		    struct json *params);
	size_t	(*clients)(void *cookie);
	int64_t	(*journal_bytes)(void *cookie);
	int	(*root_key_here)(void *cookie);
};

int engine_new(const struct engine_opts *o, struct now now, struct engine **en,
    struct err *e) MUST_CHECK;
void engine_free(struct engine *en);
static inline void auto_engine(struct engine **en) { engine_free(*en); }

/* engine_ask(en, a, now): a request; takes ${a}.  Answered by engine_turn(). */
void engine_ask(struct engine *en, struct ask *a, struct now now);
/* engine_gone(en, conn): nobody waits on that connection any more. */
void engine_gone(struct engine *en, uint64_t conn);

/*
 * engine_news(en, n, now, e): what a runtime said.  STALE if it does not fit
 * the state of its subject (it is then told to stop, if it still runs).
 */
int engine_news(struct engine *en, const struct news *n, struct now now,
    struct err *e) MUST_CHECK;

/* engine_tick(en, now, e): what is over by either clock. */
int engine_tick(struct engine *en, struct now now, struct err *e) MUST_CHECK;
/* engine_due(en, now): microseconds until engine_tick() has work; INT64_MAX: none. */
int64_t engine_due(const struct engine *en, struct now now);

/* engine_pending(en): requests and records that wait for engine_turn(). */
size_t engine_pending(const struct engine *en);

/*
 * engine_turn(en, now, e): commit what has been collected, then run the orders,
 * then answer.  Fails only if the engine cannot go on (UNKNOWN): exit, and let
 * the next start look.
 */
int engine_turn(struct engine *en, struct now now, struct err *e) MUST_CHECK;

/* engine_live(en): sessions that have not ended, and work in progress. */
size_t engine_live(const struct engine *en);
/* engine_leaving(en): 1 after daemon.stop. */
int engine_leaving(const struct engine *en);

/* ---- for recovery/ ------------------------------------------------------ */

/* engine_adopt(en, session, nonce, now, e): record that a supervisor was found. */
int engine_adopt(struct engine *en, const struct id *session,
    const uint8_t nonce[32], struct now now, struct err *e) MUST_CHECK;
/* engine_again(en, s, now, e): what ${s} owes, once more, with its proof. */
int engine_again(struct engine *en, const struct subject *s, struct now now,
    struct err *e) MUST_CHECK;
/* engine_interrupt(en, change, now, e): an apply or undo that a crash cut short. */
int engine_interrupt(struct engine *en, const struct id *change, struct now now,
    struct err *e) MUST_CHECK;
/* engine_close(en, exposure, now, e): go on with a closing lease. */
int engine_close(struct engine *en, const struct id *exposure, struct now now,
    struct err *e) MUST_CHECK;
struct journal *engine_journal(const struct engine *en);
const struct effect_ops *engine_ops(const struct engine *en);
/* engine_identity(en, s, who, e): what the journal knows of a session's processes. */
int engine_identity(struct engine *en, const struct subject *s,
    struct identity *who, struct err *e) MUST_CHECK;

/* engine_attach_path(en, session, out, n): where its supervisor listens. */
void engine_attach_path(const struct engine *en, const struct id *session,
    char *out, size_t n);

#endif
