/* SPDX-License-Identifier: ISC */
#ifndef JOURNAL_KEYFILE_H
#define JOURNAL_KEYFILE_H

#include "journal/sign.h"
#include "lifecycle/machine.h"

/*
 * One key on disk, private to the keyring:
 *
 *	glove-key/1
 *	use root
 *	alg ed25519
 *	pub <name+id+base64>		what a pin is
 *	salt <base64>			of the install id; root.key alone
 *	next <base64>			SHA-256 of the next root key; root.key alone
 *	sec <base64>			the 32-byte seed (RFC 8032, private key)
 *
 * in that order and nothing else.  A struct keyfile holds a secret: it belongs
 * in memory from sodium_malloc().
 */
struct keyfile {
	char	name[ORIGIN_MAX];
	uint8_t	pub[PUB_BYTES];
	uint8_t	sec[SEC_BYTES];
	int	anchored;		/* salt and next are there */
	uint8_t	salt[32];
	uint8_t	next[32];
};

/* keyfile_make: a new pair; name, salt and next are the caller's to fill. */
void keyfile_make(struct keyfile *k);
/* keyfile_write: durable, mode 0600, replacing what was there. */
int keyfile_write(int dir, const char *file, enum key_use use,
    const struct keyfile *k, struct err *e) MUST_CHECK;
/*
 * keyfile_read: NOTFOUND if there is no such file; CONFIG if it is not a plain
 * file of this user with mode 0600, or not a key for ${use}, or if public and
 * secret half do not belong together.
 */
int keyfile_read(int dir, const char *file, enum key_use use,
    struct keyfile *k, struct err *e) MUST_CHECK;

/* keyfile_owned(fd, name, e): a plain file, ours, nobody else can read it. */
int keyfile_owned(int fd, const char *name, struct err *e) MUST_CHECK;

#endif
