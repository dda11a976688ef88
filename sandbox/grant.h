/* SPDX-License-Identifier: ISC */
#ifndef SANDBOX_GRANT_H
#define SANDBOX_GRANT_H

#include "sandbox/launch.h"

/*
 * What this runtime has been granted so far.  A grant that is not in a
 * verified receipt does not exist; a later one must stand later in the log.
 */
struct grants {
	const struct launch	*l;
	uint8_t			 boot_id[16];
	uint64_t		 index;		/* of the last one */
	uint64_t		 size;		/* of its checkpoint */
};

int grants_init(struct grants *g, const struct launch *l, struct err *e)
    MUST_CHECK;

/*
 * grants_take(g, text, machine, event, nonce, c, e): verify that ${text} is
 * the receipt of that event of our subject, of this boot, and, if ${nonce} is
 * not NULL, that it answers it.  *${c} is the proof, the caller's.  As
 * receipt_verify() fails.
 */
int grants_take(struct grants *g, struct str text, int machine, int event,
    const uint8_t nonce[32], struct committed **c, struct err *e) MUST_CHECK;

/* grants_nonce(out): 32 bytes nobody can guess. */
int grants_nonce(uint8_t out[32], struct err *e) MUST_CHECK;

#endif
