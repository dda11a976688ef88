/* SPDX-License-Identifier: ISC */
/* What parses is written as the same text; nothing verifies without the key. */
#include <stdlib.h>
#include <string.h>

#include "journal/receipt.h"

int LLVMFuzzerTestOneInput(const uint8_t *p, size_t n);

int
LLVMFuzzerTestOneInput(const uint8_t *p, size_t n)
{
	const struct str text = { (const char *)p, n };
	struct receipt_want want = { .machine = 0 };
	struct committed *c = NULL;
	AUTO(buf) struct buf scratch, again;
	struct receipt r;
	struct err e;
	uint64_t size;

	buf_init(&scratch, RECORD_MAX);
	buf_init(&again, RECEIPT_MAX);
	if (receipt_parse(text, &scratch, &r, &e))
		return 0;
	receipt_put(&again, &r);
	if (again.n != n || memcmp(again.p, p, n) != 0)
		abort();
	/* Any key but the log's; the origin is the receipt's own. */
	memset(want.log_pub, 0x42, sizeof(want.log_pub));
	memcpy(want.origin, r.checkpoint.origin, sizeof(want.origin));
	if (receipt_verify(text, &want, &c, &size, &e) == 0)
		abort();
	return 0;
}
