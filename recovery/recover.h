/* SPDX-License-Identifier: ISC */
#ifndef RECOVERY_RECOVER_H
#define RECOVERY_RECOVER_H

#include "engine/engine.h"

/*
 * recover(en, now, e): settle what the last run of gloved left owed, before
 * anybody is served.  effect.def says how each is settled:
 *
 *	SPAWN		ended as lost: a gate that is not open is never opened here
 *	RELEASE, KILL	the supervisor is adopted, or left its outcome, or is gone
 *	CLOSE		gone on with
 *	APPLY, UNDO	interrupted: going on is a person's decision
 *	CLEAN		done again
 *
 * Running it twice changes nothing the second time.
 */
int recover(struct engine *en, struct now now, struct err *e) MUST_CHECK;

#endif
