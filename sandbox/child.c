/* SPDX-License-Identifier: ISC */
#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/fd.h"
#include "sandbox/caps.h"
#include "sandbox/child.h"
#include "sandbox/init.h"
#include "sandbox/landlock.h"
#include "sandbox/net.h"
#include "sandbox/plan.h"
#include "sandbox/seccomp.h"
#include "sandbox/self.h"

enum { PROCESSES_MAX = 4096 };

static int
order(const void *a, const void *b)
{
	return *(const int *)a - *(const int *)b;
}

/* Of the supervisor's descriptors keep only what is ours: the rest would keep
 * gloved from seeing it die, and is nobody's business in here. */
static void
keep_only(const struct child *c)
{
	int keep[MOUNTS_MAX + 2 * LAYERS_MAX + 3], n = 0;
	unsigned from = 3;	/* init_loop() lets go of the first three */

	keep[n++] = c->chan;
	keep[n++] = c->tether;
	keep[n++] = c->gate;
	for (int i = 0; i < LAYERS_MAX; i++) {
		keep[n++] = c->m->layers[i].lower;
		keep[n++] = c->m->layers[i].state;
	}
	for (size_t i = 0; i < c->m->n; i++)
		keep[n++] = c->m->m[i].fd;
	qsort(keep, (size_t)n, sizeof(keep[0]), order);
	for (int i = 0; i < n; i++) {
		if (keep[i] < 3)
			continue;
		if ((unsigned)keep[i] > from)
			(void)close_range(from, (unsigned)keep[i] - 1, 0);
		from = (unsigned)keep[i] + 1;
	}
	(void)close_range(from, ~0u, 0);
}

static int
await_map(int chan, struct err *e)
{
	struct init_msg m;
	ssize_t n;

	do
		n = read(chan, &m, sizeof(m));
	while (n < 0 && errno == EINTR);
	if (n != (ssize_t)sizeof(m) || m.kind != INIT_MAPPED)
		return err_set(e, ERR_PEER, "supervisor");
	return 0;
}

static int
report_place(int chan, struct err *e)
{
	struct init_msg m = { .kind = INIT_PLACE };

	return ns_inode("pid", &m.a, e) || init_send(chan, &m, NULL, 0, e) ?
	    -1 : 0;
}

/* The first thing that needs a right in the new namespaces. */
static int
name_host(struct err *e)
{
	if (sethostname("glove", 5) == 0)
		return 0;
	if (errno != EPERM)
		return err_set(e, ERR_SYS, "sethostname");
	(void)err_say(e, ERR_SANDBOX,
	    "this system lets you make namespaces but gives no rights in them");
	(void)err_why(e, "AppArmor or a container takes them away");
	return err_fix(e, "as root: sysctl -w "
	    "kernel.apparmor_restrict_unprivileged_userns=0");
}

static int
limits(struct err *e)
{
	static const struct rlimit processes = { PROCESSES_MAX, PROCESSES_MAX };
	struct rlimit core;

	/* 1, not 0: a core_pattern that is a pipe runs a program on the host,
	 * and 1 is the only number that it heeds.  A hard limit of 0 cannot be
	 * raised, and then 0 is what there is. */
	if (getrlimit(RLIMIT_CORE, &core) != 0)
		return err_set(e, ERR_SYS, "getrlimit");
	if (core.rlim_max > 1)
		core.rlim_max = 1;
	core.rlim_cur = core.rlim_max;
	if (setrlimit(RLIMIT_CORE, &core) != 0 ||
	    setrlimit(RLIMIT_NPROC, &processes) != 0)
		return err_set(e, ERR_SYS, "setrlimit");
	return 0;
}

static int
writable(const struct mounts *m, int abi, struct err *e)
{
	const char *dirs[3 + LAYERS_MAX] = { "/tmp", "/dev/shm", PLAN_HOME };
	size_t n = 3;

	for (int i = 0; i < LAYERS_MAX; i++)
		if (m->layers[i].state >= 0)
			dirs[n++] = m->layers[i].to;
	return landlock_confine(abi, dirs, n, e);
}

static int
flag(int option, unsigned long value, const char *what, struct err *e)
{
	return prctl(option, value, 0, 0, 0) != 0 ?
	    err_set(e, ERR_SYS, "%s", what) : 0;
}

/* The order of confinement.  Each line says why it stands where it stands. */
static int
confine(const struct child *c, int abi, struct err *e)
{
	/* First: from here on the supervisor may die at any moment. */
	if (flag(PR_SET_PDEATHSIG, SIGKILL, "death signal", e))
		return -1;
	/* Before anything that could hand a descriptor of the host on. */
	keep_only(c);
	/* The parent writes the maps, and can only while we are dumpable. */
	if (await_map(c->chan, e))
		return -1;
	/* Before the first file is made: all of them are to be the agent's. */
	if (ns_become(c->ids, e))
		return -1;
	/* Again: a change of identity clears it. */
	if (flag(PR_SET_PDEATHSIG, SIGKILL, "death signal", e))
		return -1;
	/* While our /proc is the host's and readable: see dumpable, below. */
	if (report_place(c->chan, e))
		return -1;
	/* Both need capabilities of our own namespaces, which go below. */
	if (name_host(e) || net_loopback(e))
		return -1;
	/* Trees can be taken only in the namespace they are mounted in. */
	(void)umask(022);
	if (!c->ids->foreign && mounts_open(c->m, c->l, c->ids, e))
		return -1;
	if (mounts_enter(c->m, c->l, e) || limits(e))
		return -1;
	/* Nothing more to mount: no capability from here on. */
	if (caps_drop(e))
		return -1;
	/* Hides our memory, descriptors and environment from the agent; late,
	 * because it also hides us from our own /proc and from the parent. */
	if (flag(PR_SET_DUMPABLE, 0, "not dumpable", e))
		return -1;
	/* Both filters below demand it, and nothing may undo it. */
	if (flag(PR_SET_NO_NEW_PRIVS, 1, "no_new_privs", e))
		return -1;
	/* Opens files and calls landlock_*, so the mounts are done. */
	if (writable(c->m, abi, e))
		return -1;
	/* Last: it refuses much of what stands above. */
	return filter_load(filter_shipped(), e);
}

static _Noreturn void
give_up(int chan, const struct err *why)
{
	const struct init_msg m = { .kind = INIT_FAILED, .err = *why };
	struct err e;

	/* Unheard, the end of this process says it as well. */
	_exit(init_send(chan, &m, NULL, 0, &e) ? 2 : 1);
}

struct held {
	const struct child	*c;
	const struct stdio	*io;
	int			 abi;
};

/* The agent's process, everything done but exec: measure, report, wait. */
static int
hold(void *arg)
{
	const struct held *h = arg;
	struct init_msg m = { .kind = INIT_READY };
	char go;
	ssize_t n;

	if (self_test(h->c->m, h->c->l, h->abi, &m.a, &m.err))
		give_up(h->c->chan, &m.err);
	m.b = (uint64_t)h->abi;
	if (init_send(h->c->chan, &m, h->io->out, h->io->nout, &m.err))
		return -1;
	/* Nothing that could keep the gate or the channel open but this. */
	(void)close(h->c->chan);
	(void)close(h->c->tether);
	do
		n = read(h->c->gate, &go, 1);
	while (n < 0 && errno == EINTR);
	return n == 1 ? 0 : -1;
}

static int
start(const struct child *c, struct job *agent, struct err *e)
{
	AUTO(stdio) struct stdio io = STDIO_NONE;
	const int abi = landlock_abi();
	struct held h = { c, &io, abi };
	const struct command cmd = {
		(char *const *)(uintptr_t)c->l->argv,
		(char *const *)(uintptr_t)c->l->env, c->l->cwd
	};

	if (confine(c, abi, e) ||
	    stdio_open(&io, c->l->terminal, c->l->rows, c->l->cols, e) ||
	    spawn(&cmd, &io, hold, &h, agent, e))
		return -1;
	return 0;
}

_Noreturn void
child_main(const struct child *c)
{
	struct init in = { .chan = c->chan, .tether = c->tether };
	struct err e;

	if (start(c, &in.agent, &e))
		give_up(c->chan, &e);
	mounts_done(c->m);
	(void)close(c->gate);
	init_loop(&in);
}
