/* SPDX-License-Identifier: ISC */
#ifndef SANDBOX_SPAWN_H
#define SANDBOX_SPAWN_H

#include <stdint.h>
#include <sys/types.h>

#include "base/auto.h"
#include "base/err.h"

/* The two sides of a job's standard input, output and error. */
struct stdio {
	int	in[3];		/* the job's */
	int	out[3];		/* ours: a terminal has only the first */
	size_t	nout;
	int	terminal;
};

/*
 * stdio_open(io, terminal, rows, cols, e): a terminal of this sandbox, or three
 * pipes.  Made inside, so that /dev/tty and /dev/stdout are the job's own.
 */
int stdio_open(struct stdio *io, int terminal, uint16_t rows, uint16_t cols,
    struct err *e) MUST_CHECK;
void stdio_close(struct stdio *io);

static inline void
auto_stdio(struct stdio *io)
{
	stdio_close(io);
}

#define STDIO_NONE \
	((struct stdio){ { -1, -1, -1 }, { -1, -1, -1 }, 0, 0 })

struct job {
	pid_t	 pid;
	unsigned id;
	int	 master;	/* of its terminal, or -1 */
	int	 report;	/* has a struct noexec if nothing was executed */
};

struct command {
	char *const	*argv;
	char *const	*env;
	const char	*cwd;
};

/* Run in the child when everything but exec is done; nonzero: do not exec. */
typedef int spawn_hold(void *arg);

/*
 * spawn(c, io, hold, arg, j, e): start ${c} in a session of its own.  Standard
 * descriptors are those of ${io}, nothing else is passed on.
 */
int spawn(const struct command *c, const struct stdio *io, spawn_hold *hold,
    void *arg, struct job *j, struct err *e) MUST_CHECK;

/* spawn_errno(j): why nothing was executed, or 0; when it has exited. */
int spawn_errno(const struct job *j);
void job_done(struct job *j);

#endif
