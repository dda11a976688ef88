/* SPDX-License-Identifier: ISC */
/* Whatever the decoder accepts, the encoder must write again, byte for byte. */
#include <stdlib.h>

#include "sandbox/channel.h"

int LLVMFuzzerTestOneInput(const uint8_t *p, size_t n);

int
LLVMFuzzerTestOneInput(const uint8_t *p, size_t n)
{
	struct channel_msg m;
	AUTO(buf) struct buf b;
	struct err e;

	buf_init(&b, 16 << 20);
	if (channel_decode(bytes_of(p, n), &m, &e) != 0)
		return 0;
	if (channel_encode(&m, &b, &e) != 0 ||
	    !bytes_eq(buf_bytes(&b), bytes_of(p, n)))
		abort();
	return 0;
}
