/* SPDX-License-Identifier: ISC */
#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/pidfd.h>

#include "base/clock.h"
#include "base/fd.h"
#include "base/num.h"
#include "base/proc.h"

static int
none(struct err *e, pid_t pid)
{
	return err_say(e, ERR_NOTFOUND, "there is no process %d", (int)pid);
}

/* Field ${want} (from 1) of a line of /proc/PID/stat. */
static struct str
stat_field(struct str line, int want)
{
	struct str f = { NULL, 0 };
	const char *at, *end = line.p + line.n;

	/* The second field is a name of the process's choice: ") R 1 (". */
	if ((at = memrchr(line.p, ')', line.n)) == NULL)
		return f;
	for (int i = 2; i < want && at != NULL; i++) {
		at = memchr(at, ' ', (size_t)(end - at));
		if (at != NULL)
			at++;
	}
	if (at == NULL)
		return f;
	f.p = at;
	while (at < end && *at >= '0' && *at <= '9')
		at++;
	f.n = (size_t)(at - f.p);
	return f;
}

int
proc_start_ticks(pid_t pid, int64_t *ticks, struct err *e)
{
	AUTO(buf) struct buf b;
	char path[32];

	buf_init(&b, 4096);
	if (pid <= 0)
		return none(e, pid);
	(void)snprintf(path, sizeof(path), "/proc/%d/stat", (int)pid);
	if (fd_file(AT_FDCWD, path, &b, e)) {
		if (e->sys == ENOENT || e->sys == ESRCH)
			return none(e, pid);
		return -1;
	}
	if (num_parse(stat_field((struct str){ (const char *)b.p, b.n }, 22),
	    0, INT64_MAX, ticks, e))
		return err_wrap(e, "%s", path);
	return 0;
}

int
proc_open(pid_t pid, struct proc *p, struct err *e)
{
	AUTO(proc) struct proc made = PROC_NONE;

	if (pid <= 0)
		return none(e, pid);
	made.pid = pid;
	if ((made.pidfd = pidfd_open(pid, 0)) < 0) {
		/* EINVAL: a thread, but not the first of its process. */
		if (errno == ESRCH || errno == EINVAL)
			return none(e, pid);
		return err_set(e, ERR_SYS, "pidfd_open %d", (int)pid);
	}
	if (proc_start_ticks(pid, &made.start_ticks, e))
		return -1;
	/* If it is still there, the ticks we read by number were its own. */
	if (pidfd_send_signal(made.pidfd, 0, NULL, 0) && errno == ESRCH)
		return none(e, pid);
	*p = made;
	made.pidfd = -1;
	return 0;
}

int
proc_open_same(pid_t pid, int64_t start_ticks, struct proc *p, struct err *e)
{
	AUTO(proc) struct proc made = PROC_NONE;

	if (proc_open(pid, &made, e))
		return -1;
	if (made.start_ticks != start_ticks)
		return err_say(e, ERR_NOTFOUND, "process %d is another one now",
		    (int)pid);
	*p = made;
	made.pidfd = -1;
	return 0;
}

void
proc_done(struct proc *p)
{
	if (p->pidfd >= 0)
		(void)close(p->pidfd);
	*p = PROC_NONE;
}

int
proc_signal(const struct proc *p, int sig, struct err *e)
{
	if (p->pidfd < 0)
		return none(e, p->pid);
	if (pidfd_send_signal(p->pidfd, sig, NULL, 0) == 0)
		return 0;
	if (errno == ESRCH)
		return none(e, p->pid);
	return err_set(e, ERR_SYS, "signal %d to process %d", sig, (int)p->pid);
}

int
proc_gone(const struct proc *p, int timeout_ms)
{
	struct pollfd f = { .fd = p->pidfd, .events = POLLIN };
	int64_t end = clock_now().boot_us + (int64_t)timeout_ms * 1000;
	int64_t left = timeout_ms;
	int n;

	if (p->pidfd < 0)
		return 1;
	while ((n = poll(&f, 1, (int)left)) < 0 && errno == EINTR) {
		if (timeout_ms < 0)
			continue;
		left = (end - clock_now().boot_us) / 1000;
		if (left < 0)
			left = 0;
	}
	return n > 0;
}
