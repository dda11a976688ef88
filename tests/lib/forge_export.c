/* SPDX-License-Identifier: ISC */
/* forge_export.c - what an export asks of a forged history. */
#include <stdlib.h>
#include <string.h>

#include "journal/export.h"
#include "journal/receipt.h"
#include "tests/lib/forge.h"

/* Slow and plain: the node is made from its leaves each time. */
static int
get_node(void *ctx, unsigned level, uint64_t n, struct hash *out, struct err *e)
{
	const struct forge *f = ctx;
	struct hash l, r;

	if (level == 0) {
		tree_leaf(forge_record(f, (size_t)n), out);
		return 0;
	}
	if (get_node(ctx, level - 1, 2 * n, &l, e) ||
	    get_node(ctx, level - 1, 2 * n + 1, &r, e))
		return -1;
	tree_node(&l, &r, out);
	return 0;
}

void
forge_receipt(const struct forge *f, uint64_t index, struct buf *text)
{
	struct forge copy = *f;
	struct tree_reader reader = { get_node, &copy };
	struct receipt r = { .index = index };
	struct err e;

	r.record = forge_record(f, (size_t)index);
	if (checkpoint_parse((struct str){ (const char *)f->note.p, f->note.n },
	    &r.checkpoint, &r.text, &r.sigs, &e) ||
	    tree_prove(&reader, index, f->n, r.proof, &r.nproof, &e))
		abort();
	receipt_put(text, &r);
}

static int
get_blob(void *ctx, const uint8_t digest[32],
    int (*visit)(void *vctx, struct bytes piece, struct err *e), void *vctx,
    struct err *e)
{
	struct bytes b = bytes_of_str(str_of(forge_blob));
	uint8_t has[SHA256_BYTES];

	(void)ctx;
	sha256_of(b, has);
	if (memcmp(has, digest, sizeof(has)) != 0)
		return err_set(e, ERR_NOTFOUND, "blob");
	return visit(vctx, (struct bytes){ b.p, 5 }, e) ||
	    visit(vctx, (struct bytes){ b.p + 5, b.n - 5 }, e) ? -1 : 0;
}

static int
get_sealed(void *ctx, int machine, const struct id *id,
    int (*visit)(void *vctx, const struct sealed_row *s, struct err *e),
    void *vctx, struct err *e)
{
	const struct forge_source *s = ctx;

	for (size_t i = 0; i < s->f->nsealed; i++) {
		const struct sealed_row *row = &s->f->sealed[i];
		struct record r;

		if (record_decode(forge_record(s->f, (size_t)row->index), &r, e))
			return -1;
		if ((id == NULL || (r.machine == machine &&
		    id_eq(&r.subject, id))) && visit(vctx, row, e))
			return -1;
	}
	return 0;
}

void
forge_from(struct forge_source *fs, const struct source *s,
    struct export_from *from)
{
	*from = (struct export_from){ .src = s, .ctx = fs,
	    .sealed = get_sealed, .blob = get_blob };
}
