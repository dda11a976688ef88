/* SPDX-License-Identifier: ISC */
/*
 * export_chosen.c - what comes with the records of an export: disclosed
 * values, stored objects, receipts.  Of one session and its changes, or, for
 * the whole log, every value and object.
 */
#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "base/fd.h"
#include "base/text.h"

#include "journal/export_int.h"
#include "journal/receipt.h"

enum { DISCLOSED_MAX = 256 << 20 };

void
export_keys_record(struct export *x, const struct record *r)
{
	struct verify *v = &x->keys;

	if (r->index == 0) {
		v->r = &x->keys_report;
		v->keys.active = v->keys.signer = SIZE_MAX;
		memcpy(v->install, r->install, sizeof(v->install));
	}
	keys_record(v, r);
}

void
export_keys_put(struct export *x, struct buf *b)
{
	keys_put(b, &x->keys.keys, x->keys.install);
}

/* Room for one more of ${size} bytes. */
static int
room(void **p, size_t n, size_t *cap, size_t size, struct err *e)
{
	size_t bigger = *cap == 0 ? 64 : *cap * 2;
	void *q;

	if (n < *cap)
		return 0;
	if ((q = realloc(*p, bigger * size)) == NULL)
		return err_set(e, ERR_NOMEM, "export");
	*p = q;
	*cap = bigger;
	return 0;
}

/* Is the record of the chosen session, or of what that session changed? */
static int
chosen(struct export *x, const struct record *r)
{
	struct bytes ses = record_field(r, FIELD_SESSION_ID);

	if (r->machine == MACHINE_SESSION)
		return id_eq(&r->subject, x->o->session);
	if (r->machine != MACHINE_CHANGE)
		return 0;
	if (r->event == CHANGE_EV_stage && ses.n == ID_BYTES &&
	    memcmp(ses.p, x->o->session->b, ID_BYTES) == 0) {
		x->change = r->subject;
		x->has_change = 1;
	}
	return x->has_change && id_eq(&r->subject, &x->change);
}

int
export_chosen_record(struct export *x, const struct record *r,
    struct bytes bytes, struct err *e)
{
	struct bytes blob = record_field(r, FIELD_MANIFEST_BLOB);
	void *p;

	if (x->o->session != NULL) {
		if (!chosen(x, r))
			return 0;
		p = x->chosen;
		if (room(&p, x->nchosen, &x->capchosen, sizeof(*x->chosen), e))
			return -1;
		x->chosen = p;
		x->chosen[x->nchosen++] = (struct chosen){ r->index,
		    x->bytes.n, bytes.n };
		buf_put(&x->bytes, bytes.p, bytes.n);
		if (buf_ok(&x->bytes, "the records of the session", e))
			return -1;
	}
	if (blob.n != SHA256_BYTES)
		return 0;
	p = x->blob;
	if (room(&p, x->nblobs, &x->capblobs, sizeof(*x->blob), e))
		return -1;
	x->blob = p;
	memcpy(x->blob[x->nblobs++].digest, blob.p, SHA256_BYTES);
	return 0;
}

/* ---- disclosed values --------------------------------------------------- */

struct line {
	uint64_t	index;
	int		tag;
	size_t		at, n;		/* in text */
};

struct sealed_out {
	struct export	*x;
	struct stream	*s;		/* in their order already: straight out */
	struct buf	 text;
	struct line	*line;
	size_t		 n, cap;
};

static int
visit_sealed(void *ctx, const struct sealed_row *row, struct err *e)
{
	struct sealed_out *o = ctx;
	struct line l = { row->index, row->tag, o->text.n, 0 };
	void *p = o->line;

	if (row->index >= o->x->head.size)
		return 0;	/* it came after the checkpoint */
	o->x->r->sealed++;
	if (o->s != NULL) {
		sealed_line_put(&o->s->b, row);
		return export_stream_put(o->s, 0, e);
	}
	sealed_line_put(&o->text, row);
	l.n = o->text.n - l.at;
	if (buf_ok(&o->text, "disclosed values", e) ||
	    room(&p, o->n, &o->cap, sizeof(*o->line), e))
		return -1;
	o->line = p;
	o->line[o->n++] = l;
	return 0;
}

static int
by_index(const void *a, const void *b)
{
	const struct line *x = a, *y = b;

	if (x->index != y->index)
		return x->index < y->index ? -1 : 1;
	return x->tag < y->tag ? -1 : x->tag > y->tag;
}

/* Those of a few subjects are put in order here. */
static int
sealed_of_session(struct sealed_out *o, struct stream *s, struct err *e)
{
	const struct export_from *from = o->x->from;

	if (from->sealed(from->ctx, MACHINE_SESSION, o->x->o->session,
	    visit_sealed, o, e) || (o->x->has_change && from->sealed(from->ctx,
	    MACHINE_CHANGE, &o->x->change, visit_sealed, o, e)))
		return -1;
	if (o->n != 0)
		qsort(o->line, o->n, sizeof(*o->line), by_index);
	for (size_t i = 0; i < o->n; i++) {
		buf_put(&s->b, o->text.p + o->line[i].at, o->line[i].n);
		if (export_stream_put(s, 0, e))
			return -1;
	}
	return 0;
}

int
export_sealed(struct export *x, struct err *e)
{
	const struct export_from *from = x->from;
	AUTO(stream) struct stream s;
	struct sealed_out o = { .x = x };
	uint8_t digest[SHA256_BYTES];
	int failed;

	if (export_stream_open(x, &s, "sealed.jsonl", e))
		return -1;
	buf_init(&o.text, DISCLOSED_MAX);
	if (x->o->session != NULL) {
		failed = sealed_of_session(&o, &s, e);
	} else {
		o.s = &s;
		failed = from->sealed(from->ctx, MACHINE_LOG, NULL,
		    visit_sealed, &o, e);
	}
	free(o.line);
	buf_done(&o.text);
	if (failed || export_stream_put(&s, 1, e))
		return -1;
	sha256_final(&s.sum, digest);
	export_sum(x, "sealed.jsonl", digest);
	return 0;
}

/* ---- objects and receipts ----------------------------------------------- */

static int
visit_piece(void *ctx, struct bytes piece, struct err *e)
{
	struct stream *s = ctx;

	buf_put(&s->b, piece.p, piece.n);
	return export_stream_put(s, 0, e);
}

static int
by_digest(const void *a, const void *b)
{
	return memcmp(a, b, SHA256_BYTES);
}

static int
object(struct export *x, const uint8_t digest[SHA256_BYTES], struct err *e)
{
	AUTO(stream) struct stream s;
	char hex[2 * SHA256_BYTES + 1], path[96];
	uint8_t got[SHA256_BYTES];

	(void)snprintf(path, sizeof(path), "blobs/%s",
	    hex_str(bytes_of(digest, SHA256_BYTES), hex));
	if (export_stream_open(x, &s, path, e) ||
	    x->from->blob(x->from->ctx, digest, visit_piece, &s, e) ||
	    export_stream_put(&s, 1, e))
		return err_wrap(e, "%s", path);
	sha256_final(&s.sum, got);
	if (memcmp(got, digest, sizeof(got)) != 0)
		return err_set(e, ERR_CORRUPT, "%s", path);
	x->r->blobs++;
	return 0;
}

/* A node of the tree, out of the tiles that have been written. */
static int
read_node(void *ctx, unsigned level, uint64_t n, struct hash *out,
    struct err *e)
{
	struct export *x = ctx;
	const unsigned l = level / 8, count = 1u << level % 8;
	const uint64_t at = n << level % 8, all = x->head.size >> (8 * l);
	const unsigned width = at / TILE_WIDTH == all / TILE_WIDTH ?
	    (unsigned)(all % TILE_WIDTH) : TILE_WIDTH;
	AUTO(buf) struct buf b;
	struct tree_edge edge = { .size = 0 };
	char path[TILE_PATH_MAX];
	struct hash h;

	buf_init(&b, TILE_WIDTH * sizeof(h));
	if (fd_file(x->dirfd, tile_path((int)l, at / TILE_WIDTH, width, path),
	    &b, e))
		return -1;
	if (b.n != width * sizeof(h) || at % TILE_WIDTH + count > width)
		return err_set(e, ERR_BUG, "%s", path);
	for (unsigned i = 0; i < count; i++) {
		memcpy(&h, b.p + (at % TILE_WIDTH + i) * sizeof(h), sizeof(h));
		tree_append(&edge, &h);
	}
	tree_root(&edge, out);
	return 0;
}

static int
receipt(struct export *x, uint64_t index, struct bytes record, struct str note,
    struct err *e)
{
	struct tree_reader reader = { read_node, x };
	struct receipt r = { .index = index, .record = record };
	AUTO(buf) struct buf text;
	char path[64];

	buf_init(&text, RECEIPT_MAX);
	(void)snprintf(path, sizeof(path), "receipts/%" PRIu64, index);
	if (checkpoint_parse(note, &r.checkpoint, &r.text, &r.sigs, e) ||
	    tree_prove(&reader, index, x->head.size, r.proof, &r.nproof, e))
		return -1;
	receipt_put(&text, &r);
	if (buf_ok(&text, path, e) ||
	    export_file(x, path, buf_bytes(&text), e))
		return err_wrap(e, "%s", path);
	x->r->receipts++;
	return 0;
}

int
export_receipts(struct export *x, struct str note, struct err *e)
{
	for (size_t i = 0; i < x->nchosen; i++) {
		const struct chosen *c = &x->chosen[i];

		if (receipt(x, c->index, bytes_of(x->bytes.p + c->at, c->n),
		    note, e))
			return -1;
	}
	return 0;
}

int
export_objects(struct export *x, struct err *e)
{
	if (x->nblobs != 0)
		qsort(x->blob, x->nblobs, sizeof(*x->blob), by_digest);
	for (size_t i = 0; i < x->nblobs; i++)
		if ((i == 0 || memcmp(&x->blob[i - 1], &x->blob[i],
		    sizeof(*x->blob)) != 0) &&
		    object(x, x->blob[i].digest, e))
			return -1;
	return 0;
}

void
export_chosen_done(struct export *x)
{
	keys_done(&x->keys.keys);
	free(x->chosen);
	buf_done(&x->bytes);
	free(x->blob);
}
