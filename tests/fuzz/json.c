/* SPDX-License-Identifier: ISC */
/* What the parser takes, the printers write so that it is taken as the same. */
#include <stdlib.h>

#include "base/json.h"

int LLVMFuzzerTestOneInput(const uint8_t *p, size_t n);

static void
again(void (*print)(struct buf *, const struct json *), const struct json *j,
    struct buf *line)
{
	AUTO(json) struct json *k = NULL;
	AUTO(buf) struct buf b;
	struct err e;

	buf_init(&b, 64 << 20);
	print(&b, j);
	if (b.failed ||
	    json_parse((struct str){ (const char *)b.p, b.n }, &k, &e))
		abort();
	buf_reset(line);
	json_put(line, k);
}

int
LLVMFuzzerTestOneInput(const uint8_t *p, size_t n)
{
	AUTO(json) struct json *j = NULL;
	AUTO(buf) struct buf one;
	AUTO(buf) struct buf two;
	struct err e;

	buf_init(&one, 64 << 20);
	buf_init(&two, 64 << 20);
	if (json_parse((struct str){ (const char *)p, n }, &j, &e))
		return 0;
	again(json_put, j, &one);
	again(json_put_pretty, j, &two);
	if (one.failed || !bytes_eq(buf_bytes(&one), buf_bytes(&two)))
		abort();
	return 0;
}
