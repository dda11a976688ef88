/* SPDX-License-Identifier: ISC */
/* What decodes encodes to the same bytes, and what does not says why. */
#include <stdlib.h>
#include <string.h>

#include "journal/record.h"

int LLVMFuzzerTestOneInput(const uint8_t *p, size_t n);

int
LLVMFuzzerTestOneInput(const uint8_t *p, size_t n)
{
	AUTO(buf) struct buf again;
	struct record r;
	struct err e;

	buf_init(&again, RECORD_MAX);
	e.code = ERR_OK;
	if (record_decode(bytes_of(p, n), &r, &e)) {
		if (e.code != ERR_FORMAT && e.code != ERR_VERSION &&
		    e.code != ERR_TOOBIG)
			abort();
		return 0;
	}
	if (record_encode(&r, &again, &e) ||
	    !bytes_eq(bytes_of(p, n), buf_bytes(&again)))
		abort();
	return 0;
}
