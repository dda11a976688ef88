/* SPDX-License-Identifier: ISC */
#ifndef JOURNAL_KEYSLOT_H
#define JOURNAL_KEYSLOT_H

#include "journal/sign.h"

/*
 * epoch.key, private to the keyring: two slots of 4096 bytes each.
 *
 *	 0  8 "GLVEPCH1"   8  4 epoch   12  4 zeros   16 32 public key
 *	48 32 SHA-256 of 0..47         80 32 seed     zeros
 *
 * A free slot is all zeros.  Slots are overwritten in place and never grow, so
 * a full disk cannot keep a key from being replaced or erased.
 */
enum { KEYSLOT_BYTES = 4096 };

struct keyslot {		/* in memory from sodium_malloc() */
	int		present;	/* a whole key is in it */
	int		dirty;		/* the slot on disk is not all zeros */
	uint32_t	epoch;
	uint8_t		pub[PUB_BYTES];
	uint8_t		sec[SEC_BYTES];
};

void keyslot_make(struct keyslot *s, uint32_t epoch);

/* keyslot_create: the file with two free slots, durable, mode 0600. */
int keyslot_create(int dir, struct err *e) MUST_CHECK;
/*
 * keyslot_write: slot ${i} becomes ${s} (free, if ${s} is not present),
 * durable.  ${page} is KEYSLOT_BYTES of locked memory to work in.
 */
int keyslot_write(int dir, int i, const struct keyslot *s, uint8_t *page,
    struct err *e) MUST_CHECK;
/* keyslot_read: both.  A torn slot is dirty and not present.  CONFIG as
 * keyfile_read(), and if the file is not there or has another size. */
int keyslot_read(int dir, struct keyslot s[2], uint8_t *page, struct err *e)
    MUST_CHECK;

#endif
