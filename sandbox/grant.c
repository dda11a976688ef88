/* SPDX-License-Identifier: ISC */
#include <stdio.h>
#include <string.h>
#include <sys/random.h>

#include "base/clock.h"
#include "sandbox/grant.h"

int
grants_init(struct grants *g, const struct launch *l, struct err *e)
{
	*g = (struct grants){ .l = l };
	return clock_boot_id(g->boot_id, e);
}

int
grants_take(struct grants *g, struct str text, int machine, int event,
    const uint8_t nonce[32], struct committed **c, struct err *e)
{
	struct receipt_want want = {
		.machine = machine, .event = event, .subject = g->l->subject,
		.min_size = g->size
	};
	struct committed *proof;
	uint64_t size;

	memcpy(want.log_pub, g->l->log_pub, sizeof(want.log_pub));
	(void)snprintf(want.origin, sizeof(want.origin), "%s", g->l->origin);
	memcpy(want.boot_id, g->boot_id, sizeof(want.boot_id));
	if (nonce != NULL) {
		want.check_nonce = 1;
		memcpy(want.nonce, nonce, sizeof(want.nonce));
		want.after = g->index;
	}
	if (receipt_verify(text, &want, &proof, &size, e))
		return -1;
	g->index = committed_index(proof);
	g->size = size;
	*c = proof;
	return 0;
}

int
grants_nonce(uint8_t out[32], struct err *e)
{
	if (getrandom(out, 32, 0) != 32)
		return err_set(e, ERR_SYS, "getrandom");
	return 0;
}
