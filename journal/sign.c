/* SPDX-License-Identifier: ISC */
/* sign.c - making signatures.  Only gloved links this. */
#include <assert.h>
#include <string.h>

#include <sodium.h>

#include "journal/sign.h"

void
sig_make(const char *label, struct bytes msg, const uint8_t sec[SEC_BYTES],
    uint8_t sig[SIG_BYTES])
{
	uint8_t m[SIG_MSG_MAX];
	size_t n = strlen(label) + 1;

	/* A longer message is our own mistake: nobody could check it. */
	assert(n <= SIG_LABEL_MAX && msg.n <= RECORD_MAX);
	memcpy(m, label, n);
	memcpy(m + n, msg.p, msg.n);
	(void)crypto_sign_detached(sig, NULL, m, n + msg.n, sec);
}

void
note_sign(struct str text, const uint8_t sec[SEC_BYTES], uint8_t sig[SIG_BYTES])
{
	(void)crypto_sign_detached(sig, NULL, (const uint8_t *)text.p, text.n,
	    sec);
}
