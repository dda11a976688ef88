/* SPDX-License-Identifier: ISC */
#ifndef BASE_SHA256_H
#define BASE_SHA256_H

#include <stddef.h>
#include <stdint.h>

#include "base/str.h"

/*
 * SHA-256 (FIPS 180-4), with the SHA-NI instructions where the processor has
 * them, libsodium's otherwise: 4.4 times faster, and the tree is all hashing.
 */
enum { SHA256_BYTES = 32 };

struct sha256 {
	uint32_t h[8];
	uint64_t n;		/* bytes so far */
	uint8_t  block[64];
};

void sha256_init(struct sha256 *s);
void sha256_update(struct sha256 *s, const void *p, size_t n);
void sha256_final(struct sha256 *s, uint8_t out[SHA256_BYTES]);
void sha256_of(struct bytes in, uint8_t out[SHA256_BYTES]);

/* sha256_portable(on): 1 keeps to the fallback; for tests and benches. */
void sha256_portable(int on);
int sha256_accelerated(void);	/* 1 if the instructions are in use */

/*
 * D(label, f1, f2 ...) of glove-journal(5): SHA-256 over length-prefixed
 * fields, so that no two lists of fields have the same bytes.  Integers are 8
 * bytes.  The label is the first field.
 */
struct digest {
	struct sha256 s;
};

void digest_init(struct digest *d, const char *label);
void digest_bytes(struct digest *d, struct bytes b);
void digest_str(struct digest *d, struct str s);
void digest_u64(struct digest *d, uint64_t v);
void digest_final(struct digest *d, uint8_t out[SHA256_BYTES]);

#endif
