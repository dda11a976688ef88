/* SPDX-License-Identifier: ISC */
/* Whatever the decoder accepts, the encoder must write again, byte for byte. */
#include <stdlib.h>

#include "sandbox/launch.h"

int LLVMFuzzerTestOneInput(const uint8_t *p, size_t n);

int
LLVMFuzzerTestOneInput(const uint8_t *p, size_t n)
{
	struct launch l;
	AUTO(buf) struct buf b;
	struct err e;

	buf_init(&b, 16 << 20);
	if (launch_decode(bytes_of(p, n), &l, &e) != 0)
		return 0;
	if (launch_encode(&l, &b, &e) != 0 ||
	    !bytes_eq(buf_bytes(&b), bytes_of(p, n)))
		abort();
	launch_done(&l);
	return 0;
}
