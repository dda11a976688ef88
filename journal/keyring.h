/* SPDX-License-Identifier: ISC */
#ifndef JOURNAL_KEYRING_H
#define JOURNAL_KEYRING_H

#include "journal/sign.h"
#include "lifecycle/machine.h"

/*
 * The keys of one installation, in <state>/keys/.  Secret halves live in
 * locked memory, here and nowhere else.
 *
 *	root.key recovery.key log.key	text, see glove-journal(5), "Key files"
 *	epoch.key			two preallocated 4 KiB slots, so that a
 *					full disk cannot stop a roll
 */
struct keyring;

/* keyring_create: makes root, recovery, next root, log and epoch 0 in an empty
 * ${keysfd}, mode 0600, durable. */
int keyring_create(int keysfd, struct keyring **k, struct err *e) MUST_CHECK;
/* keyring_open: root and recovery may be absent (moved offline). */
int keyring_open(int keysfd, struct keyring **k, struct err *e) MUST_CHECK;
void keyring_close(struct keyring *k);		/* wipes */
static inline void auto_keyring(struct keyring **k) { keyring_close(*k); }

int keyring_has(const struct keyring *k, enum key_use use);
const uint8_t *keyring_pub(const struct keyring *k, enum key_use use); /* NULL: absent */
uint32_t keyring_epoch(const struct keyring *k);
const uint8_t *keyring_install_salt(const struct keyring *k);	/* 32 bytes */
const uint8_t *keyring_next_root(const struct keyring *k);	/* SHA-256 of it, 32 bytes */
void keyring_install_id(const struct keyring *k, uint8_t out[16]);

void keyring_sign(const struct keyring *k, enum key_use use, const char *label,
    struct bytes msg, uint8_t sig[SIG_BYTES]);
void keyring_sign_note(const struct keyring *k, enum key_use use,
    struct str text, uint8_t sig[SIG_BYTES]);

/*
 * keyring_epoch_next: make the next epoch key in the free slot, durable, not
 * yet active; its public half in ${pub}.  keyring_epoch_activate: after the
 * commit that enrolled it, use it and erase the old.  At open the slot whose
 * public key ${active} (from the journal) names is used, the other erased.
 */
int keyring_epoch_next(struct keyring *k, uint8_t pub[PUB_BYTES], struct err *e) MUST_CHECK;
int keyring_epoch_activate(struct keyring *k, struct err *e) MUST_CHECK;
int keyring_epoch_settle(struct keyring *k, const uint8_t active[PUB_BYTES],
    struct err *e) MUST_CHECK;

#endif
