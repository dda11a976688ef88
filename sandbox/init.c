/* SPDX-License-Identifier: ISC */
/*
 * init.c - the first process of a sandbox, when everything is confined.
 *
 * Invariants:
 *	1. When it ends, everything ends: the kernel kills the namespace.
 *	2. It ends when the agent ends, when its supervisor goes (channel at its
 *	   end; the death signal says the same), or on anything at the tether.
 *	3. No signal from inside reaches it: it has no handler, and the kernel
 *	   drops what the first process has no handler for.
 */
#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/signalfd.h>
#include <sys/wait.h>
#include <termios.h>
#include <unistd.h>

#include "base/fd.h"
#include "sandbox/init.h"
#include "sandbox/plan.h"

struct loop {
	int		 chan;
	struct job	 job[JOBS_MAX];
};

int
init_send(int chan, const struct init_msg *m, const int *fds, size_t nfds,
    struct err *e)
{
	return fd_send(chan, bytes_of(m, sizeof(*m)), fds, nfds, e);
}

static struct job *
find(struct loop *l, unsigned id)
{
	for (int i = 0; i < JOBS_MAX; i++)
		if (l->job[i].pid != 0 && l->job[i].id == id)
			return &l->job[i];
	return NULL;
}

static void
tell(struct loop *l, const struct init_msg *m, const int *fds, size_t nfds)
{
	struct err e;

	/* Nobody there to hear: then nobody is there to run for. */
	if (init_send(l->chan, m, fds, nfds, &e))
		_exit(1);
}

/* Strings ended by NUL, ${argc} of them, then the environment. */
static int
split(char *p, size_t n, size_t argc, char **list, size_t max, struct err *e)
{
	size_t i = 0;

	if (n == 0 || p[n - 1] != '\0' || argc == 0)
		return err_set(e, ERR_FORMAT, "command");
	for (char *s = p; s < p + n; s += strlen(s) + 1) {
		if (i == argc)
			list[i++] = NULL;
		if (i + 2 > max)
			return err_set(e, ERR_TOOBIG, "command");
		list[i++] = s;
	}
	if (i < argc)
		return err_set(e, ERR_FORMAT, "command");
	if (i == argc)
		list[i++] = NULL;
	list[i] = NULL;
	return 0;
}

static int
start_job(struct loop *l, const struct init_msg *m, char *strings, size_t n,
    struct err *e)
{
	AUTO(stdio) struct stdio io = STDIO_NONE;
	AUTO(mem) char **list = calloc(2 * ARGV_MAX, sizeof(*list));
	struct command c = { .cwd = strings };
	struct init_msg up = { .kind = INIT_STARTED, .job = m->job };
	struct job *j = NULL;
	size_t skip = strnlen(strings, n) + 1;

	for (int i = 0; i < JOBS_MAX; i++)
		if (l->job[i].pid == 0)
			j = &l->job[i];
	if (j == NULL)
		return err_set(e, ERR_LIMIT, "commands at once: %d", JOBS_MAX);
	if (list == NULL)
		return err_set(e, ERR_NOMEM, "command");
	if (skip >= n)
		return err_set(e, ERR_FORMAT, "command");
	if (split(strings + skip, n - skip, m->b, list, 2 * ARGV_MAX, e))
		return -1;
	c.argv = list;
	c.env = list + m->b + 1;
	if (stdio_open(&io, m->a != 0, m->rows, m->cols, e) ||
	    spawn(&c, &io, NULL, NULL, j, e))
		return -1;
	j->id = m->job;
	tell(l, &up, io.out, io.nout);
	return 0;
}

static void
signal_job(const struct job *j, int sig)
{
	pid_t group = 0;

	/* Whoever has the terminal, or the whole of the job. */
	if (j->master < 0 || ioctl(j->master, TIOCGPGRP, &group) != 0 ||
	    group <= 1)
		group = j->pid;
	(void)kill(-group, sig);
}

static void
heed(struct loop *l)
{
	struct {
		struct init_msg	m;
		char		strings[SPAWN_BYTES_MAX];
	} *in = calloc(1, sizeof(*in));
	struct init_msg up = { .kind = INIT_FAILED };
	const struct job *j;
	ssize_t n;

	if (in == NULL)
		_exit(1);
	n = read(l->chan, in, sizeof(*in));
	if (n < (ssize_t)sizeof(in->m)) {
		if (n < 0 && (errno == EINTR || errno == EAGAIN)) {
			free(in);
			return;
		}
		_exit(1);	/* the supervisor is gone: invariant 2 */
	}
	j = find(l, in->m.job);
	if (in->m.kind == INIT_TERM) {
		(void)kill(-1, SIGTERM);
		(void)kill(-1, SIGCONT);
	} else if (in->m.kind == INIT_SIGNAL && j != NULL)
		signal_job(j, (int)in->m.a);
	else if (in->m.kind == INIT_SPAWN && start_job(l, &in->m, in->strings,
	    (size_t)n - sizeof(in->m), &up.err)) {
		up.job = in->m.job;
		tell(l, &up, NULL, 0);
	}
	free(in);
}

static void
reap(struct loop *l)
{
	struct init_msg up;
	struct job *j;
	pid_t pid;
	int status, sys;

	while ((pid = waitpid(-1, &status, WNOHANG)) > 0) {
		for (j = l->job; j < l->job + JOBS_MAX && j->pid != pid; j++)
			continue;
		if (j == l->job + JOBS_MAX)
			continue;	/* an orphan that was left to us */
		sys = spawn_errno(j);
		up = (struct init_msg){
			.kind = sys != 0 ? INIT_NOEXEC : INIT_EXITED,
			.job = j->id,
			.a = (uint64_t)(sys != 0 ? sys : status)
		};
		tell(l, &up, NULL, 0);
		if (j->id == 0)
			_exit(0);	/* the agent ended: invariant 1 */
		job_done(j);
	}
}

/* Our own standard descriptors are still the host's. */
static void
forget_host(void)
{
	int null = open("/dev/null", O_RDWR | O_CLOEXEC);

	for (int i = 0; null >= 0 && i < 3; i++)
		if (i != null)
			(void)dup2(null, i);
	if (null > 2)
		(void)close(null);
}

_Noreturn void
init_loop(const struct init *in)
{
	struct loop l = { .chan = in->chan };
	sigset_t chld;
	int sfd;

	l.job[0] = in->agent;
	forget_host();
	(void)sigemptyset(&chld);
	(void)sigaddset(&chld, SIGCHLD);
	if (sigprocmask(SIG_SETMASK, &chld, NULL) != 0 ||
	    (sfd = signalfd(-1, &chld, SFD_CLOEXEC | SFD_NONBLOCK)) < 0)
		_exit(1);
	/* One may have ended before the mask was set. */
	reap(&l);
	for (;;) {
		struct signalfd_siginfo si;
		struct pollfd p[] = {
			{ in->tether, POLLIN, 0 }, { in->chan, POLLIN, 0 },
			{ sfd, POLLIN, 0 }
		};

		if (poll(p, 3, -1) < 0 && errno != EINTR)
			_exit(1);
		if (p[0].revents != 0)
			_exit(0);
		if (p[2].revents != 0) {
			while (read(sfd, &si, sizeof(si)) > 0)
				continue;
			reap(&l);
		}
		if (p[1].revents != 0)
			heed(&l);
	}
}
