/* SPDX-License-Identifier: ISC */
/* Escaped text is bounded, valid UTF-8, and holds nothing unseen. */
#include <stdlib.h>

#include "base/text.h"

int LLVMFuzzerTestOneInput(const uint8_t *p, size_t n);

int
LLVMFuzzerTestOneInput(const uint8_t *p, size_t n)
{
	size_t max = n != 0 ? p[0] * 2u : 0, k;
	AUTO(buf) struct buf b;
	struct str out;
	uint32_t cp;

	buf_init(&b, 1024);
	escape_put(&b, (struct str){ (const char *)p, n }, max);
	if (b.failed || b.n > max)
		abort();
	out = (struct str){ (const char *)b.p, b.n };
	for (; out.n != 0; out.p += k, out.n -= k)
		if ((k = utf8_next(out, &cp)) == 0 || utf8_unseen(cp))
			abort();
	return 0;
}
