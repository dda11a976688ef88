/* SPDX-License-Identifier: ISC */
/*
 * flow.c - bytes between the jobs of a session and whoever looks at them.
 *
 * A driving client that is slow makes the agent wait; one that only looks is
 * dropped instead (client.c).  Before the first client has come, nothing is
 * read, so that nothing is lost.
 */
#include <errno.h>
#include <string.h>
#include <sys/ioctl.h>
#include <termios.h>
#include <unistd.h>

#include "base/fd.h"
#include "sandbox/supervisor_impl.h"

struct flow *
flow_new(struct supervisor *s, unsigned job, const int *fds, size_t n)
{
	struct flow *f = NULL;
	struct err e;

	for (int i = 0; i < JOBS_MAX && f == NULL; i++)
		if (!s->flow[i].used)
			f = &s->flow[i];
	if (f == NULL || (n != 1 && n != 3)) {
		for (size_t i = 0; i < n; i++)
			(void)close(fds[i]);
		return NULL;
	}
	*f = (struct flow){
		.used = 1, .job = job, .terminal = n == 1,
		.out = { -1, -1, -1 }
	};
	for (size_t i = 0; i < n; i++) {
		f->out[i] = fds[i];
		if (fd_nonblock(fds[i], 1, &e))
			f->over = 1;
	}
	buf_init(&f->input, INPUT_MAX);
	return f;
}

static void
shut(int *fd)
{
	auto_fd(fd);
	*fd = -1;
}

void
flow_done(struct flow *f)
{
	for (int i = 0; i < 3; i++)
		shut(&f->out[i]);
	buf_done(&f->input);
	f->used = 0;
}

struct flow *
flow_find(struct supervisor *s, unsigned job)
{
	for (int i = 0; i < JOBS_MAX; i++)
		if (s->flow[i].used && s->flow[i].job == job)
			return &s->flow[i];
	return NULL;
}

int
flow_drained(const struct flow *f)
{
	return f->terminal ? f->out[0] < 0 : f->out[1] < 0 && f->out[2] < 0;
}

/* May its output be read now? */
static int
wanted(const struct supervisor *s, const struct flow *f)
{
	if (f->job == 0 && s->l->wait_client && !s->came)
		return 0;
	for (int i = 0; i < ATTACHED_MAX; i++) {
		const struct client *c = &s->client[i];

		if (c->fd >= 0 && c->joined && c->job == f->job &&
		    !c->read_only && c->out.n > BEHIND_MAX)
			return 0;
	}
	return 1;
}

size_t
flow_poll(struct supervisor *s, struct pollfd *p, size_t room)
{
	size_t n = 0;

	for (int i = 0; i < JOBS_MAX; i++) {
		const struct flow *f = &s->flow[i];
		const int read = f->used && wanted(s, f);

		for (int k = 0; f->used && k < 3 && n < room; k++) {
			short ev = 0;

			if (f->out[k] < 0)
				continue;
			if (read && (f->terminal || k > 0))
				ev |= POLLIN;
			if (k == 0 && f->input.n > 0)
				ev |= POLLOUT;
			if (ev != 0)
				p[n++] = (struct pollfd){ f->out[k], ev, 0 };
		}
	}
	return n;
}

static void
show(struct supervisor *s, const struct flow *f, int code, struct bytes b)
{
	if (b.n == 0)
		return;
	for (int i = 0; i < ATTACHED_MAX; i++) {
		struct client *c = &s->client[i];

		if (c->fd >= 0 && c->joined && c->job == f->job)
			client_say(c, code, b);
	}
	if (f->job != 0)
		return;
	if (b.n > s->backlog.max - s->backlog.n)
		buf_drop(&s->backlog, b.n - (s->backlog.max - s->backlog.n));
	buf_put(&s->backlog, b.p, b.n);
}

/* 1: there may be more; 0: not now, or never again. */
static int
take_output(struct supervisor *s, struct flow *f, int k)
{
	uint8_t b[ATTACH_DATA_MAX - sizeof(f->osc.hold)];
	ssize_t n = read(f->out[k], b, sizeof(b));

	if (n < 0 && errno == EINTR)
		return 1;
	if (n < 0 && errno == EAGAIN)
		return 0;
	/* A terminal that nobody has open any more answers EIO. */
	if (n <= 0) {
		shut(&f->out[k]);
		return 0;
	}
	if (!f->terminal) {
		show(s, f, k == 2 ? ATTACH_ERRORS : ATTACH_OUTPUT,
		    bytes_of(b, (size_t)n));
		return 1;
	}
	buf_reset(&s->screen);
	osc_filter(&f->osc, bytes_of(b, (size_t)n), &s->screen);
	show(s, f, ATTACH_OUTPUT, buf_bytes(&s->screen));
	return 1;
}

int
flow_rest(struct supervisor *s, struct flow *f)
{
	for (int k = f->terminal ? 0 : 1; k < (f->terminal ? 1 : 3); k++)
		do
			if (!wanted(s, f))
				return 0;
		while (f->out[k] >= 0 && take_output(s, f, k));
	return 1;
}

static void
give_input(struct flow *f)
{
	ssize_t n;

	if (f->out[0] < 0) {
		buf_reset(&f->input);
		return;
	}
	while (f->input.n > 0) {
		n = write(f->out[0], f->input.p, f->input.n);
		if (n < 0 && errno == EINTR)
			continue;
		if (n < 0 && errno == EAGAIN)
			return;
		if (n < 0) {
			/* It closed its input: what was meant for it is moot. */
			buf_reset(&f->input);
			if (!f->terminal)
				shut(&f->out[0]);
			return;
		}
		buf_drop(&f->input, (size_t)n);
	}
	if (f->eof && !f->terminal)
		shut(&f->out[0]);
}

void
flow_input(struct flow *f, struct bytes b)
{
	buf_put(&f->input, b.p, b.n);
	give_input(f);
}

void
flow_resize(const struct flow *f, uint16_t rows, uint16_t cols)
{
	struct winsize w = { .ws_row = rows, .ws_col = cols };

	/* The kernel tells the foreground by SIGWINCH. */
	if (f->terminal && f->out[0] >= 0 && rows != 0 && cols != 0)
		(void)ioctl(f->out[0], TIOCSWINSZ, &w);
}

void
flow_serve(struct supervisor *s, const struct pollfd *p, size_t n)
{
	for (size_t i = 0; i < n; i++)
		for (int j = 0; p[i].revents != 0 && j < JOBS_MAX; j++) {
			struct flow *f = &s->flow[j];

			for (int k = 0; f->used && k < 3; k++) {
				if (f->out[k] != p[i].fd)
					continue;
				if (p[i].revents & (POLLOUT | POLLERR) &&
				    k == 0)
					give_input(f);
				if (f->out[k] >= 0 && p[i].events & POLLIN)
					(void)take_output(s, f, k);
				j = JOBS_MAX;	/* found */
				break;
			}
		}
}
