/* SPDX-License-Identifier: ISC */
#ifndef SANDBOX_BOX_H
#define SANDBOX_BOX_H

#include "base/proc.h"
#include "sandbox/init.h"

/*
 * A sandbox as its supervisor has it: the first process, held or running.
 * Whatever happens to the owner of this struct, the box ends: its descriptors
 * close, and the kernel sends the death signal.
 */
struct box {
	struct proc	 init;		/* the first process, on the host */
	int		 chan;		/* see init.h */
	int		 gate;
	int		 tether;	/* a byte, or no writer left: all ends */
	uint64_t	 pidns;		/* inode */
	uint64_t	 found;		/* bits of self.def */
	int		 abi;		/* of Landlock */
	int		 out[3];	/* of the agent: terminal, or three pipes */
	size_t		 nout;
};

#define BOX_NONE ((struct box){ .init = { 0, -1, 0 }, .chan = -1, .gate = -1, \
	.tether = -1, .out = { -1, -1, -1 } })

/*
 * box_open(l, x, e): build the sandbox of ${l} and hold the agent at
 * its gate.  Blocks for some milliseconds, at most BOX_TIMEOUT_MS.  On failure
 * nothing of it is left.
 */
enum { BOX_TIMEOUT_MS = 30000 };
int box_open(const struct launch *l, struct box *x, struct err *e) MUST_CHECK;

/* box_release(x, e): let the agent go.  Only after a verified receipt. */
int box_release(struct box *x, struct err *e) MUST_CHECK;

/* box_kill(x): SIGKILL to the first process; everything in it dies at once. */
void box_kill(struct box *x);

/* box_gone(x): 1 if no process of it is left. */
int box_gone(const struct box *x);

/* box_done(x): end it, see that it is empty, let go of everything. */
void box_done(struct box *x);

static inline void
auto_box(struct box *x)
{
	box_done(x);
}

/* box_recv(x, m, fds, nfds, e): what the first process has to say; AGAIN, or
 * PEER when it is gone.  *${nfds}: room, then how many came. */
int box_recv(struct box *x, struct init_msg *m, int *fds, size_t *nfds,
    struct err *e) MUST_CHECK;

int box_signal(struct box *x, unsigned job, int sig, struct err *e) MUST_CHECK;
int box_term(struct box *x, struct err *e) MUST_CHECK;	/* SIGTERM to all */

struct box_command {
	unsigned		 job;
	int			 terminal;
	uint16_t		 rows, cols;
	const char		*cwd;
	size_t			 argc;
	const char *const	*argv;
	size_t			 envc;
	const char *const	*env;
};
/* box_spawn(x, c, e): ask for a second command; STARTED or FAILED follows. */
int box_spawn(struct box *x, const struct box_command *c, struct err *e)
    MUST_CHECK;

#endif
