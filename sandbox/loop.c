/* SPDX-License-Identifier: ISC */
/*
 * loop.c - a supervisor waits: for gloved, the first process, clients, output
 * and three clocks' worth of deadlines.
 */
#include <errno.h>
#include <signal.h>
#include <string.h>
#include <sys/timerfd.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/log.h"
#include "sandbox/supervisor_impl.h"

enum { POLL_MAX = 8 + ATTACHED_MAX + 3 * JOBS_MAX };

static int
shell_status(int status)
{
	return WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status);
}

static struct client *
client_of(struct supervisor *s, unsigned job)
{
	for (int i = 0; i < ATTACHED_MAX; i++)
		if (s->client[i].fd >= 0 && s->client[i].job == job)
			return &s->client[i];
	return NULL;
}

static void
job_started(struct supervisor *s, const struct init_msg *m, const int *fds,
    size_t n)
{
	struct client *c = client_of(s, m->job);
	struct flow *f = flow_new(s, m->job, fds, n);
	const uint8_t terminal = f != NULL && f->terminal;
	struct err e;

	if (c != NULL && f != NULL) {
		c->joined = 1;
		c->waiting = 0;
		client_say(c, ATTACH_WELCOME, bytes_of(&terminal, 1));
		return;
	}
	/* Whoever wanted it has left. */
	if (f != NULL)
		flow_done(f);
	if (box_signal(&s->box, m->job, SIGKILL, &e))
		log_event(LOG_LEVEL_WARN, "job_left", "err=%s", e.msg);
}

static void
job_over(struct supervisor *s, const struct init_msg *m)
{
	struct flow *f = flow_find(s, m->job);
	const int none = m->kind == INIT_NOEXEC;
	const int code = !none ? shell_status((int)m->a) :
	    (int)m->a == ENOENT ? 127 : 126;

	if (m->job != 0) {
		if (f != NULL) {
			f->over = 1;
			f->status = code;
		}
		return;
	}
	s->heard = 1;
	s->status = code;
	if (s->cause == 0)
		s->cause = !none ? CAUSE_EXITED : code == 127 ? CAUSE_NOCMD :
		    CAUSE_NOEXEC;
}

/* Everything the first process has said. */
static void
hear_box(struct supervisor *s)
{
	struct init_msg m;
	struct client *c;
	struct err e;
	int fds[3];
	size_t n = 3;

	for (; box_recv(&s->box, &m, fds, &n, &e) == 0; n = 3) {
		if (m.kind == INIT_STARTED)
			job_started(s, &m, fds, n);
		else if (m.kind == INIT_FAILED &&
		    (c = client_of(s, m.job)) != NULL)
			client_refuse(c, &m.err);
		else if (m.kind == INIT_EXITED || m.kind == INIT_NOEXEC)
			job_over(s, &m);
	}
}

/* The first process is gone, and with it everything: now it has ended. */
static void
box_ended(struct supervisor *s)
{
	hear_box(s);
	if (!s->heard)
		s->status = 128 + SIGKILL;
	if (s->cause == 0)
		s->cause = CAUSE_LOST;
	for (int i = 0; i < JOBS_MAX; i++)
		if (s->flow[i].used && !s->flow[i].over) {
			s->flow[i].over = 1;
			s->flow[i].status = 128 + SIGKILL;
		}
	box_done(&s->box);
	s->stage = ENDED;
	s->ended = clock_now();
	supervisor_end(s);
}

static int
due(int64_t deadline, int64_t now)
{
	return deadline != 0 && now >= deadline;
}

/* Until when the client that the session is tied to may come; 0: it need not. */
static int64_t
come_boot_us(const struct supervisor *s)
{
	return s->l->tied && !s->came && s->opened.boot_us != 0 ?
	    s->opened.boot_us + COME_US : 0;
}

/* How long the end waits: for a reader, or for one who may not come at all. */
static int64_t
linger_us(const struct supervisor *s)
{
	return s->came ? LINGER_US : COME_US;
}

static void
check_deadlines(struct supervisor *s, struct now now)
{
	if (s->stage < STOPPING && due(come_boot_us(s), now.boot_us))
		supervisor_stop(s, CAUSE_CLIENT, s->l->grace_us);
	if (s->stage < STOPPING && (due(s->ends_real_us, now.real_us) ||
	    due(s->ends_boot_us, now.boot_us)))
		supervisor_stop(s, CAUSE_EXPIRED, s->l->grace_us);
	if (s->stage < STOPPING && due(s->orphan_boot_us, now.boot_us))
		supervisor_stop(s, CAUSE_LOST, s->l->grace_us);
	if (s->stage == STOPPING && due(s->kill_boot_us, now.boot_us)) {
		s->signals |= 2;
		s->kill_boot_us = 0;
		box_kill(&s->box);
	}
}

static void
sooner(int64_t *least, int64_t deadline, int64_t now)
{
	if (deadline > now && (*least == 0 || deadline < *least))
		*least = deadline;
}

static void
set_alarm(struct alarm *a, int64_t at_us, int flags)
{
	const struct itimerspec t = {
		.it_value = { at_us / 1000000, at_us % 1000000 * 1000 }
	};

	if (a->at_us == at_us)
		return;
	a->at_us = at_us;
	(void)timerfd_settime(a->fd, TFD_TIMER_ABSTIME | flags, &t, NULL);
}

static void
set_alarms(struct supervisor *s, struct now now)
{
	int64_t boot = 0;

	sooner(&boot, s->kill_boot_us, now.boot_us);
	sooner(&boot, s->orphan_boot_us, now.boot_us);
	if (s->stage < STOPPING) {
		sooner(&boot, s->ends_boot_us, now.boot_us);
		sooner(&boot, come_boot_us(s), now.boot_us);
	}
	if (s->stage == ENDED) {
		sooner(&boot, s->ended.boot_us + TOLD_US, now.boot_us);
		sooner(&boot, s->ended.boot_us + linger_us(s), now.boot_us);
		sooner(&boot, s->ended.boot_us + s->l->orphan_grace_us,
		    now.boot_us);
	}
	set_alarm(&s->boot, boot, 0);
	/* A clock that is set forward must wake us as well. */
	set_alarm(&s->real, s->stage < STOPPING ? s->ends_real_us : 0,
	    TFD_TIMER_CANCEL_ON_SET);
}

/* A second command that is over, and all of its output read: what it left in
 * the background may hold the output open. */
static void
finish_jobs(struct supervisor *s)
{
	for (int i = 0; i < JOBS_MAX; i++) {
		struct flow *f = &s->flow[i];
		struct client *c;

		if (!f->used || f->job == 0 || !f->over || !flow_rest(s, f))
			continue;
		if ((c = client_of(s, f->job)) != NULL)
			client_exit(c, CAUSE_EXITED, f->status, 1);
		flow_done(f);
	}
}

static void
tell_clients(struct supervisor *s, struct now now)
{
	const int64_t since = now.boot_us - s->ended.boot_us;
	const struct flow *f = flow_find(s, 0);

	if (s->stage != ENDED || s->told ||
	    !(s->done || s->channel < 0 || since >= TOLD_US) ||
	    !(f == NULL || flow_drained(f) || since >= linger_us(s)))
		return;
	s->told = 1;
	for (int i = 0; i < ATTACHED_MAX; i++) {
		struct client *c = &s->client[i];

		if (c->fd < 0 || !c->joined)
			continue;
		supervisor_notices(s, c);
		client_exit(c, s->cause, s->status, s->done);
	}
}

/* Is there nobody left to hear, or no time left to wait for them? */
static int
finished(struct supervisor *s, struct now now)
{
	const int64_t since = now.boot_us - s->ended.boot_us;
	int listening = !s->told;

	if (s->stage != ENDED)
		return 0;
	for (int i = 0; i < ATTACHED_MAX; i++)
		listening |= s->client[i].fd >= 0;
	if (listening && since < linger_us(s))
		return 0;
	if (s->done || (s->channel < 0 && due(s->orphan_boot_us, now.boot_us)))
		return 1;
	if (since < s->l->orphan_grace_us)
		return 0;
	/* It is there and does not answer; then on paper. */
	if (s->channel >= 0) {
		auto_fd(&s->channel);
		s->channel = -1;
		supervisor_end(s);
	}
	return 1;
}

static void
sweep_clients(struct supervisor *s)
{
	for (int i = 0; i < ATTACHED_MAX; i++) {
		struct client *c = &s->client[i];

		if (c->fd >= 0 && (c->broken || (c->leaving && c->out.n == 0)))
			client_drop(s, c);
	}
}

struct polled {
	struct pollfd	p[POLL_MAX];
	struct client	*who[POLL_MAX];
	size_t		 n;
	size_t		 clients;	/* where they begin */
	size_t		 flows;
};

enum { P_BOOT, P_REAL, P_LISTEN, P_CHANNEL, P_CHAN, P_INIT, P_FIXED };

static void
gather(struct supervisor *s, struct polled *q)
{
	const int live = s->stage != ENDED;

	q->p[P_BOOT] = (struct pollfd){ s->boot.fd, POLLIN, 0 };
	q->p[P_REAL] = (struct pollfd){ s->real.fd, POLLIN, 0 };
	q->p[P_LISTEN] = (struct pollfd){ s->listener, POLLIN, 0 };
	q->p[P_CHANNEL] = (struct pollfd){ s->channel, POLLIN, 0 };
	q->p[P_CHAN] = (struct pollfd){ live ? s->box.chan : -1, POLLIN, 0 };
	q->p[P_INIT] = (struct pollfd){ live ? s->box.init.pidfd : -1, POLLIN,
	    0 };
	q->n = q->clients = P_FIXED;
	for (int i = 0; i < ATTACHED_MAX; i++) {
		struct client *c = &s->client[i];

		if (c->fd < 0)
			continue;
		q->who[q->n] = c;
		q->p[q->n++] = (struct pollfd){ c->fd, client_wants(s, c), 0 };
	}
	q->flows = q->n;
	q->n += flow_poll(s, q->p + q->n, POLL_MAX - q->n);
}

/* Rung, or ECANCELED since the clock was set: either way it is set anew. */
static void
hear_alarm(struct alarm *a, const struct pollfd *p)
{
	uint64_t ticks;

	if (p->revents != 0 && (read(a->fd, &ticks, sizeof(ticks)) > 0 ||
	    errno == ECANCELED))
		a->at_us = -1;
}

static void
serve(struct supervisor *s, struct polled *q)
{
	hear_alarm(&s->boot, &q->p[P_BOOT]);
	hear_alarm(&s->real, &q->p[P_REAL]);
	/* Output before the end, so that it is not cut. */
	flow_serve(s, q->p + q->flows, q->n - q->flows);
	if (q->p[P_CHAN].revents != 0)
		hear_box(s);
	if (q->p[P_CHANNEL].revents != 0)
		supervisor_hear(s);
	for (size_t i = q->clients; i < q->flows; i++)
		if (q->p[i].revents != 0 && q->who[i]->fd == q->p[i].fd)
			client_serve(s, q->who[i], q->p[i].revents);
	if (q->p[P_LISTEN].revents != 0)
		client_accept(s);
	if (s->stage != ENDED && box_gone(&s->box))
		box_ended(s);
}

int
supervisor_loop(struct supervisor *s, struct err *e)
{
	struct polled q;

	for (;;) {
		const struct now now = clock_now();

		check_deadlines(s, now);
		finish_jobs(s);
		tell_clients(s, now);
		sweep_clients(s);
		if (finished(s, now))
			return 0;
		set_alarms(s, now);
		gather(s, &q);
		if (poll(q.p, q.n, -1) < 0 && errno != EINTR)
			return err_set(e, ERR_SYS, "poll");
		serve(s, &q);
	}
}
