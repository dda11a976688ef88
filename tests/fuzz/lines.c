/* SPDX-License-Identifier: ISC */
/* A line of an export that is accepted is written again as the same bytes. */
#include <stdlib.h>
#include <string.h>

#include "journal/source.h"

int LLVMFuzzerTestOneInput(const uint8_t *p, size_t n);

static void
same(struct str line, const struct buf *b)
{
	if (b->failed || b->n != line.n + 1 || b->p[line.n] != '\n' ||
	    memcmp(b->p, line.p, line.n) != 0)
		abort();
}

int
LLVMFuzzerTestOneInput(const uint8_t *p, size_t n)
{
	struct str line = { (const char *)p, n };
	AUTO(buf) struct buf value, again;
	struct commit_row c;
	struct sealed_row s;
	struct err e;

	buf_init(&value, 1 << 20);
	buf_init(&again, 4 << 20);
	if (n == 0 || memchr(p, '\n', n) != NULL)
		return 0;
	if (commit_line_parse(line, &c, &e) == 0) {
		commit_line_put(&again, &c);
		same(line, &again);
	}
	buf_reset(&again);
	if (sealed_line_parse(line, &value, &s, &e) == 0) {
		sealed_line_put(&again, &s);
		same(line, &again);
	}
	return 0;
}
