/* SPDX-License-Identifier: ISC */
/*
 * effects_spawn.c - start a glove-sandbox with exactly the descriptors that
 * sandbox/launch.h lists, an empty environment and nothing else of ours.
 */
#include <sys/prctl.h>
#include <sys/wait.h>

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <string.h>
#include <unistd.h>

#include "base/fd.h"

#include "cli/world_int.h"

/* Descriptors of the child, in the order of their numbers; -1 ends the list. */
enum { CHILD_FDS = LAUNCH_FD_ATTACH + 1, ABOVE_ALL = 64 };

static void
reset_signals(void)
{
	struct sigaction dfl = { .sa_handler = SIG_DFL };
	sigset_t none;

	(void)sigemptyset(&none);
	for (int s = 1; s < NSIG; s++)
		(void)sigaction(s, &dfl, NULL);
	(void)sigprocmask(SIG_SETMASK, &none, NULL);
}

/*
 * Between fork and exec: only system calls.  First every descriptor goes above
 * all that will be used, so that none is overwritten before it is moved.
 */
static int
child(const struct world *w, const int fds[CHILD_FDS], int n, int report)
{
	static char name[] = "glove-sandbox";
	char *argv[] = { name, NULL }, *envp[] = { NULL };
	int high[CHILD_FDS], err;

	reset_signals();
	(void)setsid();
	for (int i = 0; i < n; i++)
		if ((high[i] = fcntl(fds[i], F_DUPFD_CLOEXEC, ABOVE_ALL)) < 0)
			goto fail;
	if ((report = fcntl(report, F_DUPFD_CLOEXEC, ABOVE_ALL)) < 0)
		goto fail;
	for (int i = 0; i < n; i++)
		if (dup2(high[i], i) < 0)
			goto fail;
	if (close_range((unsigned)n, ABOVE_ALL - 1, 0) ||
	    close_range(ABOVE_ALL, ~0U, CLOSE_RANGE_CLOEXEC) || chdir("/") ||
	    setrlimit(RLIMIT_NOFILE, &w->o.nofile))
		goto fail;
	(void)execve(w->sandbox, argv, envp);
fail:
	err = errno;
	(void)!write(report, &err, sizeof(err));
	return 127;
}

/* What the child could not do; the pipe closes when exec has succeeded. */
static int
exec_result(int fd, const char *path, struct err *e)
{
	int err = 0;
	ssize_t n;

	do
		n = read(fd, &err, sizeof(err));
	while (n < 0 && errno == EINTR);
	if (n == 0)
		return 0;
	errno = n == (ssize_t)sizeof(err) ? err : EIO;
	return err_say(e, ERR_SANDBOX, "%s cannot be started: %s", path,
	    strerror(errno));
}

static int
start(const struct world *w, const int fds[CHILD_FDS], int n, pid_t *pid,
    struct err *e)
{
	AUTO(fd) int read_end = -1;
	AUTO(fd) int write_end = -1;
	int report[2];

	if (pipe2(report, O_CLOEXEC))
		return err_set(e, ERR_SYS, "pipe");
	read_end = report[0];
	write_end = report[1];
	*pid = fork();
	if (*pid < 0)
		return err_set(e, ERR_SYS, "fork");
	if (*pid == 0)
		_exit(child(w, fds, n, write_end));
	(void)close(TAKE_FD(write_end));
	return exec_result(read_end, w->sandbox, e);
}

int
runtime_start(struct world *w, const struct launch *l, int attach_fd,
    struct runtime *rt, struct err *e)
{
	AUTO(buf) struct buf policy;
	AUTO(fd) int null = open("/dev/null", O_RDWR | O_CLOEXEC);
	AUTO(fd) int memfd = -1;
	AUTO(fd) int mine = -1;
	AUTO(fd) int theirs = -1;
	int pair[2], n = attach_fd < 0 ? LAUNCH_FD_ATTACH : CHILD_FDS;
	pid_t pid;

	buf_init(&policy, 2 * BLOB_MAX);
	if (null < 0)
		return err_set(e, ERR_SYS, "/dev/null");
	if (launch_encode(l, &policy, e) ||
	    fd_memfd("glove-launch", buf_bytes(&policy), &memfd, e) ||
	    fd_pair(pair, e))
		return -1;
	mine = pair[0];
	theirs = pair[1];
	if (fd_nonblock(mine, 1, e))
		return -1;
	const int fds[CHILD_FDS] = { null, null, 2, memfd, theirs, attach_fd };

	if (start(w, fds, n, &pid, e))
		return -1;
	/* It may be gone already; its channel tells. */
	if (proc_open(pid, &rt->supervisor, e) && e->code != ERR_NOTFOUND)
		return -1;
	rt->channel = TAKE_FD(mine);
	return runtime_listen(rt, e);
}
