/* SPDX-License-Identifier: ISC */
/*
 * verify_extras.c - what comes with a log: receipts, blobs, disclosed values.
 *
 * Receipts and names of blobs are read first and met while the records go by;
 * disclosed values come in the order of the records.
 */
#include <inttypes.h>
#include <string.h>

#include "journal/receipt.h"
#include "journal/verify_int.h"

/* Room for one more in an array that doubles; NULL without. */
static void *
more_room(void *p, size_t n, size_t *cap, size_t size, size_t max)
{
	size_t bigger = *cap == 0 ? 64 : *cap * 2;

	if (n < *cap)
		return p;
	if (n >= max || (p = realloc(p, bigger * size)) == NULL)
		return NULL;
	*cap = bigger;
	return p;
}

/* A receipt by itself: record, proof and root belong together. */
static int
receipt_read(struct verify *v, struct str text, struct buf *scratch,
    struct receipt_row *row, struct err *e)
{
	struct receipt r;
	struct hash leaf;
	size_t n;

	(void)v;
	if (receipt_parse(text, scratch, &r, e))
		return -1;
	tree_leaf(r.record, &leaf);
	if (tree_check_inclusion(&leaf, r.index, r.checkpoint.size, r.proof,
	    r.nproof, &r.checkpoint.root, e))
		return -1;
	n = r.text.n + r.sigs.n;
	row->checkpoint = r.checkpoint;
	if ((row->note = malloc(n + 1)) == NULL)
		return err_set(e, ERR_NOMEM, "receipt");
	memcpy(row->note, r.text.p, r.text.n);
	if (r.sigs.n != 0)
		memcpy(row->note + r.text.n, r.sigs.p, r.sigs.n);
	row->text = (struct str){ row->note, r.text.n };
	row->sigs = (struct str){ row->note + r.text.n, r.sigs.n };
	return 0;
}

static int
by_size(const void *a, const void *b)
{
	uint64_t x = ((const struct receipt_row *)a)->checkpoint.size;
	uint64_t y = ((const struct receipt_row *)b)->checkpoint.size;

	return x < y ? -1 : x > y;
}

static void
read_receipts(struct verify *v)
{
	struct extras *x = &v->extras;
	AUTO(buf) struct buf text, scratch;
	struct receipt_row *p;
	struct err e;
	int more;

	buf_init(&text, RECEIPT_MAX);
	buf_init(&scratch, RECORD_MAX);
	while ((more = v->src->ops->receipt(v->src->ctx, &text, &e)) == 1) {
		p = more_room(x->receipt, x->nreceipts, &x->capreceipts,
		    sizeof(*p), RECEIPTS_MAX);
		if (p == NULL) {
			(void)err_set(&e, ERR_NOMEM, "receipts");
			check_source(v, CHECK_RECEIPTS, &e);
			return;
		}
		x->receipt = p;
		if (receipt_read(v, (struct str){ (const char *)text.p,
		    text.n }, &scratch, &p[x->nreceipts], &e))
			check_fail(v, CHECK_RECEIPTS, "%s", e.msg);
		else
			x->nreceipts++;
		buf_reset(&text);
	}
	if (more < 0)
		check_source(v, CHECK_RECEIPTS, &e);
	if (x->nreceipts != 0)
		qsort(x->receipt, x->nreceipts, sizeof(*x->receipt), by_size);
}

static int
by_name(const void *a, const void *b)
{
	return memcmp(((const struct blob_row *)a)->name,
	    ((const struct blob_row *)b)->name, 32);
}

static void
read_blobs(struct verify *v)
{
	struct extras *x = &v->extras;
	struct blob_row *p;
	uint8_t name[32], digest[32];
	struct err e;
	int more;

	while ((more = v->src->ops->blob(v->src->ctx, name, digest, &e)) == 1) {
		if (memcmp(name, digest, sizeof(name)) != 0)
			check_fail(v, CHECK_BLOBS,
			    "the bytes of a stored object are not those that"
			    " its name says");
		p = more_room(x->blob, x->nblobs, &x->capblobs, sizeof(*p),
		    BLOBS_MAX);
		if (p == NULL) {
			(void)err_set(&e, ERR_NOMEM, "blobs");
			check_source(v, CHECK_BLOBS, &e);
			return;
		}
		x->blob = p;
		p[x->nblobs].named = 0;
		memcpy(p[x->nblobs++].name, name, sizeof(name));
	}
	if (more < 0)
		check_source(v, CHECK_BLOBS, &e);
	if (x->nblobs != 0)
		qsort(x->blob, x->nblobs, sizeof(*x->blob), by_name);
}

static void
next_sealed(struct verify *v)
{
	struct extras *x = &v->extras;
	struct sealed_row was = x->sealed;
	int first = !x->have_sealed;
	struct err e;
	int more = v->src->ops->sealed(v->src->ctx, &x->sealed, &e);

	x->have_sealed = more == 1;
	if (more < 0)
		check_source(v, CHECK_SEALED, &e);
	else if (more == 1 && !first && (x->sealed.index < was.index ||
	    (x->sealed.index == was.index && x->sealed.tag <= was.tag)))
		check_fail(v, CHECK_SEALED,
		    "the disclosed values are not in their order");
}

void
extras_begin(struct verify *v)
{
	if (v->src->ops->receipt != NULL)
		read_receipts(v);
	if (v->src->ops->blob != NULL)
		read_blobs(v);
	if (v->src->ops->sealed != NULL)
		next_sealed(v);
}

static void
disclosed(struct verify *v, const struct record *r)
{
	struct extras *x = &v->extras;
	const struct field_info *info = field_info(x->sealed.tag);
	uint8_t digest[SHA256_BYTES];

	sealed_digest(x->sealed.tag, x->sealed.salt, x->sealed.value, digest);
	x->ndisclosed++;
	if (info == NULL || !info->sealed || !bytes_eq(BYTES(digest),
	    record_field(r, x->sealed.tag)))
		check_fail(v, CHECK_SEALED, "the disclosed %s of record %" PRIu64
		    " is not what was recorded",
		    info == NULL ? "value" : info->name, r->index);
}

void
extras_record(struct verify *v, const struct record *r)
{
	struct extras *x = &v->extras;
	struct bytes blob = record_field(r, FIELD_MANIFEST_BLOB);

	for (size_t i = 0; i < r->nfields; i++)
		x->nsealed += (uint64_t)field_info(r->field[i].tag)->sealed;
	while (x->have_sealed && x->sealed.index <= r->index) {
		if (x->sealed.index == r->index)
			disclosed(v, r);
		else
			check_fail(v, CHECK_SEALED, "a value of record %" PRIu64
			    " comes too late", x->sealed.index);
		next_sealed(v);
	}
	if (blob.n == 32 && x->nblobs != 0) {
		struct blob_row key = { .named = 0 }, *b;

		memcpy(key.name, blob.p, sizeof(key.name));
		b = bsearch(&key, x->blob, x->nblobs, sizeof(key), by_name);
		if (b != NULL)
			b->named = 1;
	}
}

void
extras_commit(struct verify *v, uint64_t size, const struct hash *root,
    const struct key_span *signer)
{
	struct extras *x = &v->extras;
	struct err e;

	for (; x->next < x->nreceipts &&
	    x->receipt[x->next].checkpoint.size <= size; x->next++) {
		const struct receipt_row *p = &x->receipt[x->next];

		/* Proof and root are right; is the root ours, and signed? */
		if (p->checkpoint.size != size ||
		    strcmp(p->checkpoint.origin, v->origin) != 0 ||
		    memcmp(p->checkpoint.root.b, root->b, sizeof(root->b)) != 0)
			check_fail(v, CHECK_RECEIPTS,
			    "a receipt is of another history");
		else if (signer == NULL || note_check(p->text, p->sigs,
		    v->origin, v->keys.log_pub, &e) || note_check(p->text,
		    p->sigs, v->origin, signer->pub, &e))
			check_fail(v, CHECK_RECEIPTS,
			    "the checkpoint of a receipt is not signed");
	}
}

void
extras_end(struct verify *v)
{
	struct extras *x = &v->extras;
	size_t unnamed = 0;
	const int whole = v->tree->edge.size >= v->head.size;

	if (x->next < x->nreceipts && whole)
		check_fail(v, CHECK_RECEIPTS, "a receipt is of %" PRIu64
		    " records, more than there are",
		    x->receipt[x->next].checkpoint.size);
	if (x->have_sealed && whole && !v->src->live)
		check_fail(v, CHECK_SEALED, "a value of record %" PRIu64
		    " is disclosed, which there is not", x->sealed.index);
	for (size_t i = 0; i < x->nblobs; i++)
		unnamed += !x->blob[i].named;
	if (unnamed != 0 && whole)
		check_fail(v, CHECK_BLOBS,
		    "%zu stored objects are named by no record", unnamed);
	if (x->nreceipts == 0)
		check_skip(v, CHECK_RECEIPTS, "none came with it");
	else
		check_pass(v, CHECK_RECEIPTS, "%zu of %zu match their records",
		    x->nreceipts, x->nreceipts);
	if (x->ndisclosed == 0)
		check_skip(v, CHECK_SEALED, "no value of %" PRIu64
		    " sealed ones was disclosed", x->nsealed);
	else
		check_pass(v, CHECK_SEALED, "%" PRIu64 " of %" PRIu64
		    " sealed values disclosed, each is what was recorded",
		    x->ndisclosed, x->nsealed);
	if (x->nblobs == 0)
		check_skip(v, CHECK_BLOBS, "none came with it");
	else
		check_pass(v, CHECK_BLOBS,
		    "%zu of %zu are what the records name", x->nblobs,
		    x->nblobs);
}

void
extras_done(struct extras *x)
{
	for (size_t i = 0; i < x->nreceipts; i++)
		free(x->receipt[i].note);
	free(x->receipt);
	free(x->blob);
}
