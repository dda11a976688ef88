/* SPDX-License-Identifier: ISC */
#ifndef TESTS_LIB_PAPER_H
#define TESTS_LIB_PAPER_H

#include "engine/engine.h"

/*
 * A world of paper for the engine: sandboxes are rows, and every order is
 * written down.  With ${log} it outlives a crash of the process: one line an
 * order, synced, as "kind index".
 */
enum paper_state { PAPER_NONE, PAPER_HELD, PAPER_RUNS, PAPER_STOPS, PAPER_GONE };

enum { PAPER_MAX = 64, PAPER_ORDERS = 4096 };

struct paper_box {
	struct id		session;
	enum paper_state	state;
	int			told_done;
};

struct paper_order {
	enum order_kind	kind;
	struct id	subject;
	uint64_t	index;		/* of the record that ordered it */
	int64_t		grace_us;
	int		cause;
};

struct paper_answer {
	int64_t		 id;
	struct json	*result;
	struct err	 err;
	struct json	*data;
};

struct paper {
	char		 dir[64];
	int		 homefd;
	struct journal	*j;
	struct engine	*en;
	struct now	 now;
	enum verdict	 verdict;
	uint8_t		 boot_id[16];

	struct paper_box   box[PAPER_MAX];
	size_t		 nbox;
	struct paper_order order[PAPER_ORDERS];
	size_t		 norder;
	struct paper_answer answer[PAPER_MAX];
	size_t		 nanswer;
	size_t		 nnotes;
	uint64_t	 dev, ino;	/* what look() finds */
	int		 refuse_build;	/* run(BUILD) fails */
	int		 deaf;		/* find(): nobody answers */
	int		 log;		/* descriptor, or -1 */
	int64_t		 last_id;
};

/* paper_open(p): a fresh home, and a gloved in it; asserts.  paper_home: the
 * home alone.  paper_try_up: an error instead of a failed test. */
void paper_home(struct paper *p);
int paper_try_up(struct paper *p, struct err *e) MUST_CHECK;
void paper_open(struct paper *p);
void paper_close(struct paper *p);	/* and removes the home */
/* paper_down, paper_up: gloved dies and comes back; the boxes live on. */
void paper_down(struct paper *p);
void paper_up(struct paper *p);

/* paper_ask(p, uid, method, params): a request; its number.  ${params} is JSON
 * with ' for ", printf-like. */
int64_t paper_ask(struct paper *p, uid_t uid, const char *method,
    const char *params, ...) __attribute__((format(printf, 4, 5)));
/* paper_turn(p): a turn, and as many more as it asks for. */
void paper_turn(struct paper *p);
/* paper_tick(p, us): time passes, on both clocks. */
void paper_tick(struct paper *p, int64_t us);
/* paper_answered(p, id): its answer, or NULL if there is none yet. */
struct paper_answer *paper_answered(struct paper *p, int64_t id);

/* paper_start(p, uid): session.start and a turn; the session's id. */
struct id paper_start(struct paper *p, uid_t uid);
struct paper_box *paper_box(struct paper *p, const struct id *session);
/* What a supervisor says; ERR_OK or the code of the refusal. */
int paper_ready(struct paper *p, const struct id *session);
int paper_ended(struct paper *p, const struct id *session, int cause, int change);
int paper_failed(struct paper *p, const struct id *session);
int paper_result(struct paper *p, const struct id *change, int result);
/* paper_state(p, machine, id): as the journal has it. */
int paper_state(struct paper *p, int machine, const struct id *id);
int paper_fact_id(struct paper *p, int machine, const struct id *id, int fact,
    struct id *out);
size_t paper_orders(const struct paper *p, enum order_kind kind,
    const struct id *subject);

/* ---- paper_say.c --------------------------------------------------------- */

enum { PAPER_ME = 1000, PAPER_OTHER = 1001 };

/* paper_text(machine, id): an id as text; four at a time. */
char *paper_text(int machine, const struct id *id);
struct id paper_lease(struct paper *p, const struct id *session);
/* paper_ok(p, n): the result of request ${n}, which succeeded; paper_code: how
 * it failed; paper_get: a text of an object, one at a time. */
struct json *paper_ok(struct paper *p, int64_t n);
int paper_code(struct paper *p, int64_t n);
const char *paper_get(const struct json *o, const char *key);
/* paper_running: a session past its gate; paper_staged: the change of one that
 * has ended. */
struct id paper_running(struct paper *p);
struct id paper_staged(struct paper *p);

#define SESSION(p, id)	paper_state((p), MACHINE_SESSION, &(id))
#define EXPOSURE(p, id)	paper_state((p), MACHINE_EXPOSURE, &(id))
#define CHANGE(p, id)	paper_state((p), MACHINE_CHANGE, &(id))

#endif
