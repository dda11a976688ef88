/* SPDX-License-Identifier: ISC */
#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/prctl.h>
#include <termios.h>
#include <unistd.h>

#include "sandbox/spawn.h"

static int
open_terminal(struct stdio *io, uint16_t rows, uint16_t cols, struct err *e)
{
	struct winsize w = { .ws_row = rows, .ws_col = cols };
	AUTO(fd) int master = open("/dev/ptmx", O_RDWR | O_NOCTTY | O_CLOEXEC);
	int unlock = 0, slave;

	if (master < 0 || ioctl(master, TIOCSPTLCK, &unlock) != 0 ||
	    ioctl(master, TIOCSWINSZ, &w) != 0)
		return err_set(e, ERR_SYS, "new terminal");
	slave = ioctl(master, TIOCGPTPEER, O_RDWR | O_NOCTTY | O_CLOEXEC);
	if (slave < 0)
		return err_set(e, ERR_SYS, "new terminal");
	io->in[0] = slave;
	io->out[0] = TAKE_FD(master);
	io->nout = 1;
	io->terminal = 1;
	return 0;
}

static int
open_pipes(struct stdio *io, struct err *e)
{
	int p[2];

	for (int i = 0; i < 3; i++) {
		if (pipe2(p, O_CLOEXEC) != 0)
			return err_set(e, ERR_SYS, "pipe");
		io->in[i] = p[i == 0 ? 0 : 1];
		io->out[i] = p[i == 0 ? 1 : 0];
	}
	io->nout = 3;
	return 0;
}

int
stdio_open(struct stdio *io, int terminal, uint16_t rows, uint16_t cols,
    struct err *e)
{
	*io = STDIO_NONE;
	if ((terminal ? open_terminal(io, rows, cols, e) :
	    open_pipes(io, e)) == 0)
		return 0;
	stdio_close(io);
	return -1;
}

void
stdio_close(struct stdio *io)
{
	for (int i = 0; i < 3; i++) {
		auto_fd(&io->in[i]);
		auto_fd(&io->out[i]);
	}
	*io = STDIO_NONE;
}

/* As a program expects to find them, whatever the first process does. */
static void
plain_signals(void)
{
	struct sigaction dfl = { .sa_handler = SIG_DFL };
	sigset_t none;

	/* Nobody ignores a real-time signal. */
	for (int s = 1; s < SIGSYS + 1; s++)
		(void)sigaction(s, &dfl, NULL);
	(void)sigemptyset(&none);
	(void)sigprocmask(SIG_SETMASK, &none, NULL);
}

static _Noreturn void
child(const struct command *c, const struct stdio *io, spawn_hold *hold,
    void *arg, int report)
{
	int sys;

	plain_signals();
	(void)setsid();
	for (int i = 0; i < 3; i++)
		if (dup2(io->in[io->terminal ? 0 : i], i) < 0)
			_exit(126);
	if (io->terminal && ioctl(0, TIOCSCTTY, 0) != 0)
		_exit(126);
	if (hold != NULL && hold(arg) != 0)
		_exit(126);
	/* Only the report is left, and it goes with exec. */
	if (report != 3 && dup3(report, 3, O_CLOEXEC) < 0)
		_exit(126);
	(void)close_range(4, ~0u, 0);
	if (chdir(c->cwd) == 0) {
		environ = (char **)(uintptr_t)c->env;
		(void)execvpe(c->argv[0], c->argv, c->env);
	}
	sys = errno;
	if (write(3, &sys, sizeof(sys)) != (ssize_t)sizeof(sys))
		_exit(126);
	_exit(sys == ENOENT ? 127 : 126);
}

int
spawn(const struct command *c, const struct stdio *io, spawn_hold *hold,
    void *arg, struct job *j, struct err *e)
{
	int p[2], master = -1;
	pid_t pid;

	if (pipe2(p, O_CLOEXEC | O_NONBLOCK) != 0)
		return err_set(e, ERR_SYS, "pipe");
	if (io->terminal)
		master = fcntl(io->out[0], F_DUPFD_CLOEXEC, 3);
	if ((pid = fork()) == 0) {
		/* Low numbers are about to be overwritten. */
		int high = fcntl(p[1], F_DUPFD_CLOEXEC, 16);

		child(c, io, hold, arg, high);
	}
	(void)close(p[1]);
	if (pid < 0) {
		auto_fd(&master);
		(void)close(p[0]);
		return err_set(e, ERR_SYS, "fork");
	}
	j->pid = pid;
	j->master = master;
	j->report = p[0];
	return 0;
}

int
spawn_errno(const struct job *j)
{
	int sys = 0;

	if (read(j->report, &sys, sizeof(sys)) != (ssize_t)sizeof(sys))
		return 0;
	return sys;
}

void
job_done(struct job *j)
{
	auto_fd(&j->master);
	auto_fd(&j->report);
	*j = (struct job){ .master = -1, .report = -1 };
}
