/* SPDX-License-Identifier: ISC */
/* A whole history of a stranger, as an entry bundle: never VALID under a key
 * that we trust, never a crash, always a report. */
#include <stdlib.h>
#include <string.h>

#include "journal/verify.h"

int LLVMFuzzerTestOneInput(const uint8_t *p, size_t n);

struct history {
	struct cur	c;
	uint64_t	n;
	struct commit_row row;
};

static int
get_checkpoint(void *ctx, struct buf *note, struct err *e)
{
	struct history *h = ctx;
	struct checkpoint c = { .size = h->n };

	memcpy(c.origin, "glove/0/0", 10);
	checkpoint_text(&c, note);
	buf_put_u8(note, '\n');
	return buf_ok(note, "note", e);
}

static int
get_record(void *ctx, struct bytes *b, struct err *e)
{
	struct history *h = ctx;

	(void)e;
	if (h->c.n == 0)
		return 0;
	*b = cur_take(&h->c, cur_u16(&h->c));
	return !h->c.failed;
}

static int
get_commit(void *ctx, struct commit_row *c, struct err *e)
{
	struct history *h = ctx;

	(void)e;
	*c = h->row;
	h->row.no++;
	return 1;
}

int
LLVMFuzzerTestOneInput(const uint8_t *p, size_t n)
{
	static const struct source_ops ops = { .checkpoint = get_checkpoint,
	    .record = get_record, .commit = get_commit };
	struct history h = { .c = cur_of(bytes_of(p, n)) };
	struct source s = { .ops = &ops, .ctx = &h };
	struct verify_opts o = { .all_signatures = 1 };
	struct report r;
	struct cur c = h.c;

	/* As many as there are, so that the end is reached, too. */
	while (c.n != 0 && !c.failed) {
		(void)cur_take(&c, cur_u16(&c));
		h.n += !c.failed;
	}
	verify_run(&s, &o, &r);
	if (answer_exit((int)r.answer) == 0)
		abort();
	return 0;
}
