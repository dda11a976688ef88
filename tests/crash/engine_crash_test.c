/* SPDX-License-Identifier: ISC */
/*
 * End gloved, or fail its calls, at every seam and at every time it is passed
 * during a life of sessions, work and a revocation; let the next one recover;
 * and look at journal and world:
 *
 *	nothing happened in the world that the journal did not order
 *	everything that the journal ordered has happened, or is settled
 *	nothing runs that the journal does not know, or on a lease that is gone
 *	what was answered is there; recovering once more changes nothing
 */
#include <sys/mman.h>
#include <sys/wait.h>

#include <fcntl.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
#include <cmocka.h>

#include "faultinject/fi.h"
#include "recovery/recover.h"
#include "tests/lib/paper.h"

enum { ME = 1000, HITS_MAX = 200, TOLD_MAX = 8, STRIDE = 7 };

/* Memory that the child's death does not reach. */
struct shared {
	struct paper	p;
	struct id	told[TOLD_MAX];	/* sessions whose start was answered */
	size_t		ntold;
	int		done;		/* the child came to its end */
};

/* ---- a life -------------------------------------------------------------- */

/* A turn as gloved makes it: one that fails is its end. */
static void
turn(struct paper *p)
{
	struct err e;

	do {
		if (engine_turn(p->en, p->now, &e))
			_exit(0);
	} while (engine_pending(p->en) > 0);
}

static void
hear(struct paper *p, const struct news *n)
{
	struct err e;

	/* A journal that cannot take it now is told once more. */
	for (int i = 0; i < 2; i++) {
		if (engine_news(p->en, n, p->now, &e) == 0) {
			turn(p);
			return;
		}
		turn(p);
	}
}

static int
start(struct shared *sh, struct id *id)
{
	struct paper *p = &sh->p;
	int64_t n = paper_ask(p, ME, "session.start", "{'command':['true'],"
	    "'cwd':'/srv/app','path':'/srv/app','mode':'staged','terminal':false}");
	struct paper_answer *a;
	struct str text;
	struct err e;

	turn(p);
	a = paper_answered(p, n);
	if (a == NULL || a->err.code != ERR_OK ||
	    json_get_str(a->result, "session", &text, &e) ||
	    id_parse(ID_SESSION, text, id, &e))
		return -1;
	sh->told[sh->ntold++] = *id;
	return 0;
}

static void
ready(struct paper *p, const struct id *id)
{
	struct news n = { .kind = NEWS_READY, .subject = *id, .init_pid = 4711,
	    .init_start = 1, .supervisor_pid = 4710, .binding = STR("argv x\n"),
	    .enforced = STR("seccomp") };

	memset(n.nonce, 0x5a, sizeof(n.nonce));
	hear(p, &n);
}

static void
ended(struct paper *p, const struct id *id, int cause)
{
	static const uint8_t manifest[] = "GLVM";
	struct news n = { .kind = NEWS_ENDED, .subject = *id, .cause = cause,
	    .has_change = 1, .files = 1, .manifest = BYTES(manifest) };

	for (size_t i = 0; i < p->nbox; i++)
		if (id_eq(&p->box[i].session, id))
			p->box[i].state = PAPER_GONE;
	hear(p, &n);
}

static int
subject(struct paper *p, int machine, const struct id *id, struct subject *s)
{
	struct err e;

	return journal_subject(p->j, machine, id, s, &e);
}

static void
work(struct paper *p, const struct id *session, const char *method, int result)
{
	struct news n = { .kind = NEWS_RESULT, .code = result, .files = 1 };
	struct subject s;
	char text[ID_TEXT_MAX];

	(void)paper_ask(p, ME, method, "{'id':'%s'}", id_str(ID_SESSION, session, text));
	turn(p);
	if (subject(p, MACHINE_SESSION, session, &s) ||
	    !s.fact[SESSION_FACT_change].present)
		return;
	memcpy(n.subject.b, s.fact[SESSION_FACT_change].b, ID_BYTES);
	hear(p, &n);
}

static void
take_back(struct paper *p, const struct id *session)
{
	struct subject s;
	struct id x;
	char text[ID_TEXT_MAX];

	if (subject(p, MACHINE_SESSION, session, &s))
		return;
	memcpy(x.b, s.fact[SESSION_FACT_exposure].b, ID_BYTES);
	(void)paper_ask(p, ME, "exposure.revoke", "{'id':'%s'}",
	    id_str(ID_EXPOSURE, &x, text));
	turn(p);
}

static void
live(struct shared *sh)
{
	struct paper *p = &sh->p;
	struct id a, b, c;
	char text[ID_TEXT_MAX];
	struct err e;

	if (paper_try_up(p, &e))
		_exit(0);
	if (start(sh, &a) == 0) {
		ready(p, &a);
		ended(p, &a, CAUSE_EXITED);
		work(p, &a, "change.apply", WORK_WHOLE);
		work(p, &a, "change.undo", WORK_PARTIAL);
	}
	if (start(sh, &b) == 0) {
		ready(p, &b);
		(void)paper_ask(p, ME, "session.stop", "{'id':'%s'}",
		    id_str(ID_SESSION, &b, text));
		turn(p);
		ended(p, &b, CAUSE_STOPPED);
		work(p, &b, "change.discard", WORK_WHOLE);
	}
	if (start(sh, &c) == 0) {
		ready(p, &c);
		take_back(p, &c);
		ended(p, &c, CAUSE_REVOKED);
	}
	/* And one that runs on. */
	if (start(sh, &c) == 0)
		ready(p, &c);
	sh->done = 1;
	_exit(0);
}

/* ---- what is left -------------------------------------------------------- */

/* What a record of the journal orders, said a second time and by name. */
static enum order_kind
ordered(const struct record *r)
{
	static const struct { int machine, event; enum order_kind kind; } rows[] = {
		{ MACHINE_SESSION, SESSION_EV_start_intent, ORDER_BUILD },
		{ MACHINE_SESSION, SESSION_EV_gate_open, ORDER_GATE },
		{ MACHINE_SESSION, SESSION_EV_stop, ORDER_STOP },
		{ MACHINE_SESSION, SESSION_EV_revoke, ORDER_STOP },
		{ MACHINE_SESSION, SESSION_EV_refuse, ORDER_STOP },
		{ MACHINE_SESSION, SESSION_EV_adopt, ORDER_ADOPT },
		{ MACHINE_SESSION, SESSION_EV_ended, ORDER_DONE },
		{ MACHINE_CHANGE, CHANGE_EV_apply, ORDER_APPLY },
		{ MACHINE_CHANGE, CHANGE_EV_undo, ORDER_UNDO },
		{ MACHINE_CHANGE, CHANGE_EV_discard, ORDER_CLEAN },
		{ MACHINE_CHANGE, CHANGE_EV_applied, ORDER_DONE },
		{ MACHINE_CHANGE, CHANGE_EV_interrupted, ORDER_DONE },
		{ MACHINE_CHANGE, CHANGE_EV_undone, ORDER_DONE },
		{ MACHINE_CHANGE, CHANGE_EV_cleaned, ORDER_DONE },
	};

	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++)
		if (rows[i].machine == r->machine && rows[i].event == r->event &&
		    !(r->flags & RECORD_REFUSED))
			return rows[i].kind;
	return ORDER_NONE;
}

static void
nothing_happened_unordered(struct paper *p)
{
	AUTO(buf) struct buf b;
	struct record r;
	struct err e;

	buf_init(&b, RECORD_MAX);
	for (size_t i = 0; i < p->norder; i++) {
		buf_reset(&b);
		assert_int_equal(0, journal_record(p->j, p->order[i].index, &b, &e));
		assert_int_equal(0, record_decode(buf_bytes(&b), &r, &e));
		assert_int_equal(p->order[i].kind, ordered(&r));
		assert_true(id_eq(&p->order[i].subject, &r.subject));
	}
}

static int
happened(const struct paper *p, enum order_kind kind, uint64_t index)
{
	for (size_t i = 0; i < p->norder; i++)
		if (p->order[i].kind == kind && p->order[i].index == index)
			return 1;
	return 0;
}

/* What is still owed has been ordered, and by this gloved if need be. */
static int
is_settled(void *ctx, const struct subject *s, struct err *e)
{
	struct paper *p = ctx;
	struct committed *c;
	uint64_t index;

	assert_int_equal(0, journal_owed(p->j, s, &c, e));
	index = committed_index(c);
	committed_free(c);
	switch (s->owed) {
	case EFFECT_RELEASE:
		assert_int_equal(SESSION_RUNNING, s->state);
		assert_true(happened(p, ORDER_GATE, index));
		assert_int_equal(PAPER_RUNS, paper_box(p, &s->id)->state);
		break;
	case EFFECT_KILL:
		assert_true(happened(p, ORDER_STOP, index));
		break;
	case EFFECT_CLEAN:
		assert_true(happened(p, ORDER_CLEAN, index));
		break;
	case EFFECT_CLOSE:
		/* Something on it is still being ended. */
		break;
	default:
		fail_msg("still owed: %s", effect_name(s->owed));
	}
	return 0;
}

static void
everything_ordered_is_settled(struct paper *p)
{
	static const int machines[] = { MACHINE_SESSION, MACHINE_EXPOSURE, MACHINE_CHANGE };
	struct err e;

	for (size_t i = 0; i < 3; i++)
		assert_int_equal(0, journal_each_owed(p->j, machines[i], is_settled, p, &e));
}

static void
nothing_runs_that_should_not(struct paper *p)
{
	struct subject s, x;
	struct id id;

	for (size_t i = 0; i < p->nbox; i++) {
		const struct paper_box *b = &p->box[i];

		assert_int_not_equal(PAPER_HELD, b->state);
		if (b->state != PAPER_RUNS)
			continue;
		assert_int_equal(0, subject(p, MACHINE_SESSION, &b->session, &s));
		assert_int_equal(SESSION_RUNNING, s.state);
		memcpy(id.b, s.fact[SESSION_FACT_exposure].b, ID_BYTES);
		assert_int_equal(0, subject(p, MACHINE_EXPOSURE, &id, &x));
		assert_int_equal(EXPOSURE_ACTIVE, x.state);
	}
}

static void
judge(struct shared *sh)
{
	struct paper *p = &sh->p;
	struct subject s;
	uint64_t size;
	struct err e;

	nothing_happened_unordered(p);
	everything_ordered_is_settled(p);
	nothing_runs_that_should_not(p);
	for (size_t i = 0; i < sh->ntold; i++)
		assert_int_equal(0, subject(p, MACHINE_SESSION, &sh->told[i], &s));
	assert_int_equal(0, journal_check_derived(p->j, &e));
	size = journal_size(p->j);
	assert_int_equal(0, recover(p->en, p->now, &e));
	for (size_t i = 0; i < p->nbox; i++)
		if (p->box[i].state == PAPER_RUNS || p->box[i].state == PAPER_STOPS)
			return;		/* adopted once more */
	assert_true(size == journal_size(p->j));
}

/* 1 if the child died of it. */
static int
survives(enum fi_point point, enum fi_mode mode, int countdown)
{
	struct shared *sh = mmap(NULL, sizeof(*sh), PROT_READ | PROT_WRITE,
	    MAP_SHARED | MAP_ANONYMOUS, -1, 0);
	int status;
	pid_t pid;

	assert_ptr_not_equal(MAP_FAILED, sh);
	paper_home(&sh->p);
	assert_true((pid = fork()) >= 0);
	if (pid == 0) {
		fi_arm(point, mode, countdown);
		live(sh);
	}
	assert_int_equal(pid, waitpid(pid, &status, 0));
	if (!WIFEXITED(status))
		fail_msg("%s %d: signal %d", fi_name(point), countdown, WTERMSIG(status));
	assert_true(WEXITSTATUS(status) == 0 || WEXITSTATUS(status) == FI_CRASH_STATUS);
	sh->p.en = NULL;
	sh->p.j = NULL;
	sh->p.nanswer = 0;
	paper_up(&sh->p);
	judge(sh);
	paper_close(&sh->p);
	assert_int_equal(0, munmap(sh, sizeof(*sh)));
	return WEXITSTATUS(status) == FI_CRASH_STATUS;
}

/*
 * The seams of the journal have a test of their own, so here one time in
 * ${STRIDE} that they are passed is enough; those of the engine every time.
 */
static int
sweep(enum fi_point point, int stride)
{
	int at = 0, n = 0;

	while (survives(point, FI_CRASH, at)) {
		(void)survives(point, FI_FAIL, at);
		at += stride;
		n += 2;
		assert_true(at < HITS_MAX);
	}
	if (n < 4)
		fail_msg("%s was met %d times", fi_name(point), n);
	return n;
}

static void
every_fault_at_every_step_is_survived(void **state)
{
	int n = 0, stride = getenv("GLOVE_LONG") != NULL ? 1 : STRIDE;

	(void)state;
	n += sweep(FI_ENGINE_REPLY, 1) + sweep(FI_ENGINE_EFFECT, 1);
	for (int p = FI_JOURNAL_BEGIN; p <= FI_JOURNAL_HEAD; p++)
		n += sweep((enum fi_point)p, stride);
	print_message("%d faults survived\n", n);
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(every_fault_at_every_step_is_survived),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
