/* SPDX-License-Identifier: ISC */
#ifndef BASE_PROC_H
#define BASE_PROC_H

#include <sys/types.h>
#include <stdint.h>

#include "base/err.h"
#include "base/auto.h"

/*
 * A process that may be signalled without hitting a stranger.  Signals go
 * through the pidfd; (pid, start_ticks, boot id) is what a journal keeps.
 */
struct proc {
	pid_t	pid;		/* > 0, or 0 for none; for display */
	int	pidfd;		/* what we signal and wait on; -1 for none */
	int64_t	start_ticks;	/* /proc/PID/stat field 22 */
};

#define PROC_NONE ((struct proc){ .pid = 0, .pidfd = -1, .start_ticks = 0 })

/* proc_open(pid, p, e): NOTFOUND if there is no such process. */
int proc_open(pid_t pid, struct proc *p, struct err *e) MUST_CHECK;
/* proc_open_same(pid, ticks, p, e): NOTFOUND also if ${pid} is now another. */
int proc_open_same(pid_t pid, int64_t start_ticks, struct proc *p, struct err *e)
    MUST_CHECK;
void proc_done(struct proc *p);	/* closes the pidfd; the process lives on */
int proc_signal(const struct proc *p, int sig, struct err *e) MUST_CHECK;
/* proc_gone(p, timeout_ms): 1 if it ended within the time (0: now, -1: ever). */
int proc_gone(const struct proc *p, int timeout_ms);
int proc_start_ticks(pid_t pid, int64_t *ticks, struct err *e) MUST_CHECK;

static inline void
auto_proc(struct proc *p)
{
	proc_done(p);
}

#endif
