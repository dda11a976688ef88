/* SPDX-License-Identifier: ISC */
#ifndef ENGINE_WORLD_H
#define ENGINE_WORLD_H

#include "base/clock.h"
#include "base/limits.h"
#include "journal/committed.h"
#include "lifecycle/machine.h"

/*
 * What the engine asks of the world, and what it hears from it.  The engine
 * has no descriptor, no process and no clock; cli/effects.c implements this
 * with glove-sandbox, the tests with a world of paper.
 */

/* A directory as it is right now. */
struct place {
	char		path[PATH_BYTES_MAX + 1];	/* absolute, no links */
	uint64_t	dev, ino, mount;
	uint64_t	uid;		/* of its owner */
};

/* Everything about a launch that the journal does not need to keep. */
struct start {
	struct id	 session, exposure;
	enum mode	 mode;
	char		*text;		/* what the pointers below point into */
	const char	*path;		/* host directory */
	uint64_t	 dev, ino;
	const char	*cwd;
	size_t		 argc, envc, nro;
	const char	**argv, **env, **ro;
	const char	*git_name, *git_email;	/* NULL: none */
	int		 terminal, detach;
	uint16_t	 rows, cols;
	uint8_t		 token[32];
	int64_t		 ends_real_us, ends_boot_us;
	uid_t		 uid;
};
void start_free(struct start *s);	/* NULL is fine */
static inline void auto_start(struct start **s) { start_free(*s); }

enum order_kind {
	ORDER_NONE,
	ORDER_BUILD,	/* start_intent: build the sandbox, hold the agent */
	ORDER_GATE,	/* gate_open: hand over the receipt */
	ORDER_STOP,	/* stop, expire, revoke, refuse: end it */
	ORDER_ADOPT,	/* adopt: hand over the receipt, take its channel */
	ORDER_APPLY,	/* apply, resume: write to the host directory */
	ORDER_UNDO,
	ORDER_CLEAN,	/* discard: remove the staged files */
	ORDER_HALT,	/* exposure revoked: a worker on it stops between files */
	ORDER_DONE	/* an outcome is durable: the runtime may leave */
};

/* An order and its particulars.  Everything borrows for the time of the call. */
struct order {
	enum order_kind	 kind;
	struct id	 session;
	struct id	 change;	/* APPLY, UNDO, CLEAN, and DONE of them */
	const char	*receipt;	/* BUILD, GATE, ADOPT, APPLY, UNDO, CLEAN */
	const struct start *start;	/* BUILD */
	int64_t		 grace_us;	/* STOP */
	int		 cause;		/* STOP: enum end_cause */
	int		 worker;	/* DONE, HALT: of the change, not the session */
	/* APPLY, UNDO, CLEAN */
	enum mode	 mode;
	const char	*path;
	uint64_t	 dev, ino;
	struct bytes	 manifest;
	size_t		 npaths;	/* 0: all */
	const char	*const *paths;
};

/* A supervisor that a start looks for. */
enum found_kind {
	FOUND_ALIVE,
	FOUND_OUTCOME,
	FOUND_NOTHING,
	FOUND_DYING	/* it was told to end and has not yet: that will be news */
};

struct identity {
	uint64_t	init_pid, init_start;	/* 0: none was ever recorded */
	uint64_t	supervisor_pid, supervisor_start;
	int		this_boot;	/* 0: nothing of it can be alive */
};

/* What a runtime says.  Bounded, typed, and not believed about anything else. */
enum news_kind {
	NEWS_READY,	/* held at the gate */
	NEWS_ENDED,	/* nothing of it is left */
	NEWS_FAILED,	/* it could not be built */
	NEWS_LOST,	/* the supervisor is gone without a word, and so is the agent */
	NEWS_RESULT,	/* of a worker */
	NEWS_WORKER_LOST
};

enum work_result { WORK_WHOLE, WORK_PARTIAL, WORK_CONFLICT };

struct news {
	enum news_kind	 kind;
	struct id	 subject;	/* session, or change for a worker */
	/* READY */
	uint8_t		 nonce[32];
	uint64_t	 init_pid, init_start, pidns;
	uint64_t	 supervisor_pid, supervisor_start;
	struct str	 binding;	/* sorted lines */
	struct str	 enforced;
	/* ENDED */
	int		 cause;
	uint64_t	 status, last_write_us, duration_us, signals;
	int		 has_change;
	uint64_t	 files, added, removed;		/* files: RESULT too */
	uint8_t		 digest[32];
	struct bytes	 manifest;
	/* FAILED, RESULT */
	int		 code;		/* enum err_code, or enum work_result */
	struct str	 text;
};

struct found {
	enum found_kind	 kind;
	uint8_t		 nonce[32];	/* ALIVE: of the supervisor, for adopt */
	struct news	 outcome;	/* OUTCOME; borrows until the next call */
};

struct effect_ops {
	void	*cookie;

	/*
	 * run(cookie, c, o, e): the only door to the world.  ${c} is the proof
	 * that ${o} was ordered.  Safe to repeat with the same proof.
	 */
	int	(*run)(void *cookie, const struct committed *c,
		    const struct order *o, struct err *e);

	/* look(cookie, path, p, e): where is this, really?  Changes nothing. */
	int	(*look)(void *cookie, const char *path, struct place *p,
		    struct err *e);

	/*
	 * find(cookie, session, who, f, e): at a start: is its supervisor
	 * there, did it leave its outcome, or is there nothing?  What still
	 * runs of it without a supervisor is ended first: a removal needs no
	 * proof.  Signals nothing whose identity does not match.
	 */
	int	(*find)(void *cookie, const struct id *session,
		    const struct identity *who, struct found *f, struct err *e);
};

#endif
