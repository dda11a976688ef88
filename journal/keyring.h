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
 *	root-next.key			the root key after this one; GENESIS
 *					commits to its hash
 *	epoch.key			two preallocated 4 KiB slots, so that a
 *					full disk cannot stop a roll
 *
 * Directory and files must be this user's and nobody else's to read (CONFIG).
 * Names of keys: log and epoch bear the origin glove/ID/0, the others
 * glove/ID/root and glove/ID/recovery.
 */
struct keyring;

/* keyring_create: makes root, recovery, next root, log and epoch 0 in an empty
 * ${keysfd} (CONFIG otherwise), mode 0600, durable. */
int keyring_create(int keysfd, struct keyring **k, struct err *e) MUST_CHECK;
/* keyring_open: root and recovery may be absent (moved offline).  CONFIG if a
 * file is missing, damaged, readable to others or of another installation. */
int keyring_open(int keysfd, struct keyring **k, struct err *e) MUST_CHECK;
void keyring_close(struct keyring *k);		/* wipes */
static inline void auto_keyring(struct keyring **k) { keyring_close(*k); }

int keyring_has(const struct keyring *k, enum key_use use);
const uint8_t *keyring_pub(const struct keyring *k, enum key_use use); /* NULL: absent */
uint32_t keyring_epoch(const struct keyring *k);
/* 32 bytes each, next_root is a SHA-256; NULL once root.key was moved away. */
const uint8_t *keyring_install_salt(const struct keyring *k);
const uint8_t *keyring_next_root(const struct keyring *k);
void keyring_install_id(const struct keyring *k, uint8_t out[16]);

/* The key must be there: keyring_has(). */
void keyring_sign(const struct keyring *k, enum key_use use, const char *label,
    struct bytes msg, uint8_t sig[SIG_BYTES]);
void keyring_sign_note(const struct keyring *k, enum key_use use,
    struct str text, uint8_t sig[SIG_BYTES]);

/*
 * keyring_epoch_next: make the next epoch key in the free slot, durable, not
 * yet active; its public half in ${pub}.  A key that was made before and never
 * activated is overwritten.  keyring_epoch_activate: after the commit that
 * enrolled it, use it and erase the old; if the erasing fails, the new one is
 * in use all the same and settle at the next start erases.
 * keyring_epoch_settle: at open, the slot whose public key ${active} (from the
 * journal) names is used, the other erased; nothing is written if there is
 * nothing to erase.  Until then, if both slots hold a key, there is no epoch
 * key.  UNTRUSTED if neither slot holds the key that the journal names.
 */
int keyring_epoch_next(struct keyring *k, uint8_t pub[PUB_BYTES], struct err *e) MUST_CHECK;
int keyring_epoch_activate(struct keyring *k, struct err *e) MUST_CHECK;
int keyring_epoch_settle(struct keyring *k, const uint8_t active[PUB_BYTES],
    struct err *e) MUST_CHECK;

#endif
