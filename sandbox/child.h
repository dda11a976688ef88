/* SPDX-License-Identifier: ISC */
#ifndef SANDBOX_CHILD_H
#define SANDBOX_CHILD_H

#include "sandbox/mounts.h"

/* What the first process of a sandbox starts with. */
struct child {
	const struct launch	*l;
	const struct ns_ids	*ids;
	struct mounts		*m;	/* opened already, if ids->foreign */
	int			 chan;
	int			 tether;
	int			 gate;	/* a byte lets the agent go; EOF ends it */
};

/* child_main(c): build the perimeter around this process, hold the agent at
 * its gate, and be the first process until the end. */
_Noreturn void child_main(const struct child *c);

#endif
