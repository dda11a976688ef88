/* SPDX-License-Identifier: ISC */
/* Cut anywhere, the filter lets the same through, and no clipboard command. */
#include <stdlib.h>
#include <string.h>

#include "sandbox/osc.h"

int LLVMFuzzerTestOneInput(const uint8_t *p, size_t n);

int
LLVMFuzzerTestOneInput(const uint8_t *p, size_t n)
{
	struct osc whole = { .state = OSC_TEXT }, cut = { .state = OSC_TEXT };
	AUTO(buf) struct buf a, b;
	size_t at = n > 0 ? p[0] % n : 0;

	buf_init(&a, 16 << 20);
	buf_init(&b, 16 << 20);
	osc_filter(&whole, bytes_of(p, n), &a);
	osc_filter(&cut, bytes_of(p, at), &b);
	osc_filter(&cut, bytes_of(p + at, n - at), &b);
	if (a.n > n || !bytes_eq(buf_bytes(&a), buf_bytes(&b)))
		abort();
	for (size_t i = 0; i + 5 <= a.n; i++)
		if (memcmp(a.p + i, "\033]52;", 5) == 0)
			abort();
	return 0;
}
