/* SPDX-License-Identifier: ISC */
#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/fd.h"
#include "sandbox/box.h"
#include "sandbox/child.h"

struct pair {
	int	ours;
	int	theirs;
};

static void
auto_pair(struct pair *p)
{
	auto_fd(&p->ours);
	auto_fd(&p->theirs);
}

#define PAIR_NONE ((struct pair){ -1, -1 })

static int
open_pairs(struct pair *chan, struct pair *gate, struct pair *tether,
    struct err *e)
{
	int p[2];

	if (fd_pair(p, e))
		return -1;
	*chan = (struct pair){ p[0], p[1] };
	if (pipe2(p, O_CLOEXEC) != 0)
		return err_set(e, ERR_SYS, "pipe");
	*gate = (struct pair){ p[1], p[0] };
	if (pipe2(p, O_CLOEXEC) != 0)
		return err_set(e, ERR_SYS, "pipe");
	*tether = (struct pair){ p[1], p[0] };
	return 0;
}

int
box_recv(struct box *x, struct init_msg *m, int *fds, size_t *nfds,
    struct err *e)
{
	AUTO(buf) struct buf b;

	buf_init(&b, sizeof(*m));
	if (fd_recv(x->chan, &b, fds, nfds, e))
		return -1;
	if (b.n != sizeof(*m)) {
		for (size_t i = 0; i < *nfds; i++)
			(void)close(fds[i]);
		return err_set(e, ERR_FORMAT, "message of the sandbox");
	}
	memcpy(m, b.p, sizeof(*m));
	return 0;
}

/* Until the agent is held, or it is said why not. */
static int
await_held(struct box *x, struct err *e)
{
	struct init_msg m;
	struct pollfd p = { .fd = x->chan, .events = POLLIN };
	int fds[3];
	size_t n;
	int r;

	for (;;) {
		do
			r = poll(&p, 1, BOX_TIMEOUT_MS);
		while (r < 0 && errno == EINTR);
		if (r <= 0)
			return err_set(e, ERR_TIMEOUT, "building the sandbox");
		n = 3;
		if (box_recv(x, &m, fds, &n, e)) {
			if (e->code == ERR_PEER)
				return err_say(e, ERR_SANDBOX,
				    "the sandbox died while it was built");
			return -1;
		}
		if (m.kind == INIT_PLACE)
			x->pidns = m.a;
		else if (m.kind == INIT_FAILED) {
			*e = m.err;
			/* Whatever call it was: there is no sandbox. */
			if (e->code == ERR_SYS)
				e->code = ERR_SANDBOX;
			return -1;
		} else if (m.kind == INIT_READY)
			break;
	}
	memcpy(x->out, fds, n * sizeof(fds[0]));
	x->nout = n;
	x->found = m.a;
	x->abi = (int)m.b;
	return 0;
}

int
box_open(const struct launch *l, struct box *x, struct err *e)
{
	const struct ns_ids ids = ns_ids();
	const struct init_msg mapped = { .kind = INIT_MAPPED };
	AUTO(pair) struct pair chan = PAIR_NONE;
	AUTO(pair) struct pair gate = PAIR_NONE;
	AUTO(pair) struct pair tether = PAIR_NONE;
	AUTO(mounts) struct mounts m;
	AUTO(box) struct box b = BOX_NONE;
	struct child c = { .l = l, .ids = &ids, .m = &m };

	mounts_init(&m);
	if (open_pairs(&chan, &gate, &tether, e))
		return -1;
	if (ids.foreign && mounts_open(&m, l, &ids, e))
		return -1;
	c.chan = chan.theirs;
	c.tether = tether.theirs;
	c.gate = gate.theirs;
	if (ns_clone(&b.init.pid, &b.init.pidfd, e))
		return -1;
	if (b.init.pid == 0)
		child_main(&c);
	b.chan = TAKE_FD(chan.ours);
	b.gate = TAKE_FD(gate.ours);
	b.tether = TAKE_FD(tether.ours);
	auto_fd(&chan.theirs);
	chan.theirs = -1;
	if (proc_start_ticks(b.init.pid, &b.init.start_ticks, e) ||
	    ns_map(b.init.pid, &ids, e) ||
	    init_send(b.chan, &mapped, NULL, 0, e) ||
	    await_held(&b, e) ||
	    fd_nonblock(b.chan, 1, e))
		return -1;
	*x = b;
	b = BOX_NONE;
	return 0;
}

int
box_release(struct box *x, struct err *e)
{
	if (write(x->gate, "g", 1) != 1)
		return err_set(e, ERR_SYS, "gate");
	auto_fd(&x->gate);
	x->gate = -1;
	return 0;
}

void
box_kill(struct box *x)
{
	if (x->init.pidfd >= 0)
		(void)syscall(SYS_pidfd_send_signal, x->init.pidfd, SIGKILL,
		    NULL, 0);
}

int
box_gone(const struct box *x)
{
	struct pollfd p = { .fd = x->init.pidfd, .events = POLLIN };

	return x->init.pidfd < 0 || poll(&p, 1, 0) > 0;
}

void
box_done(struct box *x)
{
	if (x->init.pidfd >= 0) {
		box_kill(x);
		/* It ends only when everything in it has. */
		while (waitid(P_PIDFD, (id_t)x->init.pidfd, &(siginfo_t){ 0 },
		    WEXITED) != 0 && errno == EINTR)
			continue;
	}
	proc_done(&x->init);
	auto_fd(&x->chan);
	auto_fd(&x->gate);
	auto_fd(&x->tether);
	for (int i = 0; i < 3; i++)
		auto_fd(&x->out[i]);
	*x = BOX_NONE;
}

int
box_signal(struct box *x, unsigned job, int sig, struct err *e)
{
	const struct init_msg m = {
		.kind = INIT_SIGNAL, .job = job, .a = (uint64_t)sig
	};

	return init_send(x->chan, &m, NULL, 0, e);
}

int
box_term(struct box *x, struct err *e)
{
	const struct init_msg m = { .kind = INIT_TERM };

	return init_send(x->chan, &m, NULL, 0, e);
}

int
box_spawn(struct box *x, const struct box_command *c, struct err *e)
{
	const struct init_msg m = {
		.kind = INIT_SPAWN, .job = c->job,
		.a = (uint64_t)c->terminal, .b = c->argc,
		.rows = c->rows, .cols = c->cols
	};
	AUTO(buf) struct buf b;

	buf_init(&b, sizeof(m) + SPAWN_BYTES_MAX);
	buf_put(&b, &m, sizeof(m));
	buf_put(&b, c->cwd, strlen(c->cwd) + 1);
	for (size_t i = 0; i < c->argc; i++)
		buf_put(&b, c->argv[i], strlen(c->argv[i]) + 1);
	for (size_t i = 0; i < c->envc; i++)
		buf_put(&b, c->env[i], strlen(c->env[i]) + 1);
	if (buf_ok(&b, "command", e))
		return -1;
	return fd_send(x->chan, buf_bytes(&b), NULL, 0, e);
}
