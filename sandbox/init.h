/* SPDX-License-Identifier: ISC */
#ifndef SANDBOX_INIT_H
#define SANDBOX_INIT_H

#include "sandbox/launch.h"
#include "sandbox/spawn.h"

/*
 * What the supervisor and the first process of a sandbox say to each other on
 * a SOCK_SEQPACKET pair.  Both are the same program, forked, so the messages
 * are structs.
 *
 *	down	MAPPED	your ids are mapped, go on
 *		SPAWN	job, a: terminal, rows and cols; then argv and env as
 *			strings ended by NUL, argc in b
 *		SIGNAL	job, a: signal, to its foreground
 *		TERM	SIGTERM to all but the first process
 *	up	PLACE	a: inode of the PID namespace
 *		READY	a: bits of self.def, b: Landlock ABI; descriptors of job 0
 *		FAILED	err: it could not be built, or a job could not be made
 *		STARTED	job; its descriptors
 *		EXITED	job, a: wait status
 *		NOEXEC	job, a: errno: nothing was executed
 *
 * Descriptors of a job: the terminal's master side, or the ends of three pipes.
 */
enum init_kind {
	INIT_MAPPED = 1, INIT_SPAWN, INIT_SIGNAL, INIT_TERM,
	INIT_PLACE, INIT_READY, INIT_FAILED, INIT_STARTED, INIT_EXITED,
	INIT_NOEXEC
};

struct init_msg {
	enum init_kind	kind;
	unsigned	job;		/* 0: the agent itself */
	uint64_t	a, b;
	uint16_t	rows, cols;
	struct err	err;
};

enum { JOBS_MAX = 32, SPAWN_BYTES_MAX = 128 << 10 };

int init_send(int chan, const struct init_msg *m, const int *fds, size_t nfds,
    struct err *e) MUST_CHECK;

/* What the loop is given when everything is confined. */
struct init {
	int		 chan;
	int		 tether;	/* anything readable here ends it all */
	struct job	 agent;
};

/*
 * init_loop(in): be the first process: reap what is left over, start what the
 * supervisor asks for, and end, with everything, when the agent ends or the
 * supervisor or the tether goes.
 */
_Noreturn void init_loop(const struct init *in);

#endif
