/* SPDX-License-Identifier: ISC */
#ifndef SANDBOX_OVERLAY_H
#define SANDBOX_OVERLAY_H

#include "base/auto.h"
#include "base/err.h"

/*
 * The workspace, and whatever else of a user is shown, is always an overlay
 * over the host's directory: over a plain read-only mount, connect(2) to a
 * socket of the host in it and writing to a FIFO of the host still work; an
 * overlay has its own inodes for both.  It costs the same for no file and for
 * a hundred thousand.
 *
 * overlay_put(lower, state, to, e): inside the new root, mount it at ${to}.
 *	lower	the host's directory, a detached tree
 *	state	a detached tree with the directories upper and work, which take
 *		what is written; -1: nothing can be written
 *
 * SANDBOX, with the reason, if the kernel will not have it.
 */
int overlay_put(int lower, int state, const char *to, struct err *e) MUST_CHECK;

#endif
