/* SPDX-License-Identifier: ISC */
#ifndef SANDBOX_SUPERVISOR_H
#define SANDBOX_SUPERVISOR_H

#include "sandbox/launch.h"

/*
 * supervisor_run(l, channel, listener, e): one session, from its intent to
 * its end.
 *
 *	1. Nothing is built without the verified receipt of start_intent.
 *	2. Nothing of the agent runs before the verified receipt of gate_open
 *	   that answers our own nonce.
 *	3. Without gloved nothing new is granted; after the grace it ends.
 *	4. It has ended when the first process's pidfd says so, not earlier.
 *	5. Who is not there to hear of the end finds it in the file "outcome".
 *
 * Returns when nothing of the session is left and everybody has heard, or
 * cannot be told.
 */
int supervisor_run(const struct launch *l, int channel, int listener,
    struct err *e) MUST_CHECK;

/* worker_run(l, channel, e): one apply, undo or clean, then RESULT. */
int worker_run(const struct launch *l, int channel, struct err *e) MUST_CHECK;

#endif
