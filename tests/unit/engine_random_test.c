/* SPDX-License-Identifier: ISC */
/*
 * engine_random_test.c - random schedules of people, supervisors, clocks and
 * crashes, made from a seed, against what must hold after every turn:
 *
 *	no order without its durable record, and none twice for a launch
 *	no agent runs unless its session does, nor on a lease that is closed
 *	a lease is closed only when nothing is left on it
 *	a renewal never succeeds after a revocation
 *
 * GLOVE_SEED=N repeats one, GLOVE_ROUNDS=N says how many.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <cmocka.h>

#include "tests/lib/paper.h"

enum { STEPS = 60, KNOWN_MAX = 24, US = 1000000 };

struct run {
	struct paper	*p;
	uint64_t	 seed;
	struct id	 session[KNOWN_MAX];
	size_t		 n;
};

/* xorshift64: the same schedule on every machine. */
static uint64_t
draw(struct run *r, uint64_t below)
{
	r->seed ^= r->seed << 13;
	r->seed ^= r->seed >> 7;
	r->seed ^= r->seed << 17;
	return r->seed % below;
}

static const struct id *
some_session(struct run *r)
{
	return r->n == 0 ? NULL : &r->session[draw(r, r->n)];
}

/* ---- steps --------------------------------------------------------------- */

static void
forget_answers(struct paper *p)
{
	for (size_t i = 0; i < p->nanswer; i++) {
		json_free(p->answer[i].result);
		json_free(p->answer[i].data);
	}
	p->nanswer = 0;
}

static void
turn(struct run *r)
{
	paper_turn(r->p);
	forget_answers(r->p);
}

/* On a lease of its own, or on one that another session has. */
static void
start(struct run *r, const struct id *other)
{
	struct paper *p = r->p;
	const char *open = "{'command':['true'],'cwd':'/','path':'/srv/app',"
	    "'mode':'staged','terminal':false,'ttl_s':600";
	size_t boxes = p->nbox;
	struct id x;

	if (r->n == KNOWN_MAX)
		return;
	if (other != NULL) {
		x = paper_lease(p, other);
		(void)paper_ask(p, PAPER_ME, "session.start", "%s,'exposure':'%s'}",
		    open, paper_text(MACHINE_EXPOSURE, &x));
	} else
		(void)paper_ask(p, PAPER_ME, "session.start", "%s}", open);
	if (draw(r, 2) == 0)
		return;		/* more comes in the same turn */
	turn(r);
	if (p->nbox > boxes)
		r->session[r->n++] = p->box[p->nbox - 1].session;
}

static void
take_back(struct run *r, const struct id *session)
{
	struct id x = paper_lease(r->p, session);

	(void)paper_ask(r->p, PAPER_ME, "exposure.revoke", "{'id':'%s','wait':false}",
	    paper_text(MACHINE_EXPOSURE, &x));
}

/* Nobody is let through a gate whose lease is over, though no tick has said so. */
static void
gate_keeps_time(struct run *r, const struct id *session)
{
	struct id x = paper_lease(r->p, session);
	struct subject s;
	struct err e;

	if (paper_box(r->p, session)->state != PAPER_RUNS)
		return;
	assert_int_equal(0, journal_subject(r->p->j, MACHINE_EXPOSURE, &x, &s, &e));
	assert_true(s.fact[EXPOSURE_FACT_ends_us].i > r->p->now.real_us);
}

/* One that the world has asked for is said by it, if it still can. */
static void
supervisor_says(struct run *r, const struct id *session)
{
	struct paper_box *b = paper_box(r->p, session);

	switch (b->state) {
	case PAPER_HELD:
		if (draw(r, 4) == 0)
			(void)paper_failed(r->p, session);
		else
			(void)paper_ready(r->p, session);
		gate_keeps_time(r, session);
		break;
	case PAPER_RUNS:
	case PAPER_STOPS:
		(void)paper_ended(r->p, session, CAUSE_EXITED, draw(r, 2) == 0);
		break;
	default:
		break;
	}
	forget_answers(r->p);
}

static void
work(struct run *r, const struct id *session)
{
	static const char *const methods[] = { "change.apply", "change.undo",
	    "change.discard" };
	struct id change;

	if (paper_fact_id(r->p, MACHINE_SESSION, session, SESSION_FACT_change, &change))
		return;
	if (draw(r, 2) == 0) {
		(void)paper_ask(r->p, PAPER_ME, methods[draw(r, 3)], "{'id':'%s'}",
		    paper_text(MACHINE_CHANGE, &change));
		return;
	}
	(void)paper_result(r->p, &change, (int)draw(r, 3));
	forget_answers(r->p);
}

static void
crash(struct run *r)
{
	/* What was asked in a turn that never came to its commit is gone. */
	paper_down(r->p);
	r->p->deaf = draw(r, 3) == 0;
	paper_up(r->p);
	r->p->deaf = 0;
}

static void
step(struct run *r)
{
	uint64_t what = draw(r, 21);
	const struct id *s = some_session(r);
	struct id x;

	if (s == NULL || what < 3) {
		start(r, what < 1 ? s : NULL);
		return;
	}
	if (what < 9)
		supervisor_says(r, s);
	else if (what < 11)
		(void)paper_ask(r->p, PAPER_ME, "session.stop",
		    "{'id':'%s','wait':false}", paper_text(MACHINE_SESSION, s));
	else if (what < 12)
		take_back(r, s);
	else if (what < 14) {
		x = paper_lease(r->p, s);
		(void)paper_ask(r->p, PAPER_ME, "exposure.renew",
		    "{'id':'%s','ttl_s':300}", paper_text(MACHINE_EXPOSURE, &x));
	} else if (what < 17)
		work(r, s);
	else if (what < 18) {
		paper_tick(r->p, (int64_t)draw(r, 200) * US);
		forget_answers(r->p);
	} else if (what < 19)
		crash(r);
	else
		r->p->now.real_us += (int64_t)draw(r, 700) * US;
	if (draw(r, 3) != 0)
		turn(r);
}

/* ---- what must hold ------------------------------------------------------ */

static void
orders_have_records(struct paper *p)
{
	AUTO(buf) struct buf b;
	struct record rec;
	struct err e;

	buf_init(&b, RECORD_MAX);
	for (size_t i = 0; i < p->norder; i++) {
		const struct paper_order *o = &p->order[i];

		buf_reset(&b);
		assert_int_equal(0, journal_record(p->j, o->index, &b, &e));
		assert_int_equal(0, record_decode(buf_bytes(&b), &rec, &e));
		assert_true(id_eq(&o->subject, &rec.subject));
		assert_false(rec.flags & RECORD_REFUSED);
		if (o->kind == ORDER_BUILD || o->kind == ORDER_GATE ||
		    o->kind == ORDER_APPLY || o->kind == ORDER_UNDO)
			for (size_t k = 0; k < i; k++)
				assert_false(p->order[k].kind == o->kind &&
				    p->order[k].index == o->index);
	}
	p->norder = 0;
}

static void
agents_run_by_the_journal(struct paper *p)
{
	struct id x;
	int s, e;

	for (size_t i = 0; i < p->nbox; i++) {
		const struct paper_box *b = &p->box[i];

		if (b->state != PAPER_HELD && b->state != PAPER_RUNS &&
		    b->state != PAPER_STOPS)
			continue;
		s = SESSION(p, b->session);
		x = paper_lease(p, &b->session);
		e = EXPOSURE(p, x);
		if (b->state == PAPER_RUNS)
			assert_int_equal(SESSION_RUNNING, s);
		if (b->state == PAPER_HELD)
			assert_true(s == SESSION_STARTING);
		/* After its receipt nothing of a lease is left (E4). */
		if (b->state == PAPER_RUNS)
			assert_true(e == EXPOSURE_ACTIVE);
		if (e == EXPOSURE_REVOKED || e == EXPOSURE_EXPIRED)
			assert_true(s == SESSION_REFUSED || s == SESSION_ENDED);
	}
}

/* In the records themselves: no renew after a revoke, no gate after either. */
struct order_of_events {
	struct id	revoked[KNOWN_MAX * 2];
	size_t		n;
};

static int
in_order(void *ctx, uint64_t index, struct bytes b, struct err *e)
{
	struct order_of_events *o = ctx;
	struct record r;

	(void)index;
	if (record_decode(b, &r, e))
		return -1;
	if (r.machine != MACHINE_EXPOSURE || (r.flags & RECORD_REFUSED))
		return 0;
	for (size_t i = 0; i < o->n; i++)
		if (id_eq(&o->revoked[i], &r.subject))
			assert_int_not_equal(EXPOSURE_EV_renew, r.event);
	if ((r.event == EXPOSURE_EV_revoke || r.event == EXPOSURE_EV_expire) &&
	    o->n < KNOWN_MAX * 2)
		o->revoked[o->n++] = r.subject;
	return 0;
}

static void
one_schedule(uint64_t seed)
{
	struct paper *p = malloc(sizeof(*p));
	struct run r = { .p = p, .seed = seed * 0x9e3779b97f4a7c15 + 1 };
	struct order_of_events o = { .n = 0 };
	struct err e;

	assert_non_null(p);
	paper_open(p);
	for (int i = 0; i < STEPS; i++) {
		step(&r);
		turn(&r);
		orders_have_records(p);
		agents_run_by_the_journal(p);
	}
	assert_int_equal(0, journal_history(p->j, MACHINE_LOG, NULL, 0, in_order, &o, &e));
	if (journal_check_derived(p->j, &e))
		fail_msg("%s", e.msg);
	paper_close(p);
	free(p);
}

static void
any_schedule_keeps_the_invariants(void **state)
{
	const char *seed = getenv("GLOVE_SEED"), *rounds = getenv("GLOVE_ROUNDS");
	uint64_t first = seed != NULL ? strtoull(seed, NULL, 10) : 1;
	uint64_t n = rounds != NULL ? strtoull(rounds, NULL, 10) :
	    seed != NULL ? 1 : 12;

	(void)state;
	for (uint64_t i = 0; i < n; i++) {
		print_message("seed %llu\n", (unsigned long long)(first + i));
		one_schedule(first + i);
	}
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(any_schedule_keeps_the_invariants),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
