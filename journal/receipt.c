/* SPDX-License-Identifier: ISC */
/*
 * receipt.c - a proof that crosses a process boundary (C2SP tlog-proof):
 *
 *	c2sp.org/tlog-proof@v1
 *	extra <base64 of the record>
 *	index <number>
 *	<base64 hash>			none or more, from the leaf up
 *
 *	<checkpoint: origin, size, root, empty line, signature lines>
 *
 * The record is believed for one reason only: its leaf hash leads to the root
 * that the pinned log key signed.  This file must not need SQLite or sign.c.
 */
#include <string.h>

#include "base/num.h"
#include "base/text.h"

#include "journal/committed_impl.h"
#include "journal/receipt.h"

static const char title[] = "c2sp.org/tlog-proof@v1";

/* Is ${l} "${word} something"?  Then *${value} is something. */
static int
keyword(struct str l, struct str word, struct str *value)
{
	if (l.n <= word.n || memcmp(l.p, word.p, word.n) != 0 ||
	    l.p[word.n] != ' ')
		return -1;
	*value = (struct str){ l.p + word.n + 1, l.n - word.n - 1 };
	return 0;
}

static int
parse_proof(struct str *s, struct receipt *r, struct err *e)
{
	struct str l;

	for (r->nproof = 0;; r->nproof++) {
		if (note_line(s, &l))
			return err_say(e, ERR_FORMAT, "a receipt is cut short");
		if (l.n == 0)
			return 0;
		if (r->nproof == PROOF_MAX)
			return err_say(e, ERR_FORMAT,
			    "the proof of a receipt is longer than any can be");
		if (hash_parse(l, &r->proof[r->nproof], e))
			return err_wrap(e, "receipt");
	}
}

int
receipt_parse(struct str text, struct buf *scratch, struct receipt *out,
    struct err *e)
{
	struct str s = text, first, extra, index, value;
	struct receipt r;
	int64_t n;

	if (text.n > RECEIPT_MAX)
		return err_set(e, ERR_TOOBIG, "a receipt");
	if (note_line(&s, &first) || !str_eq(first, str_of(title)))
		return err_say(e, ERR_FORMAT, "this is not a receipt: it should"
		    " begin with %s", title);
	buf_reset(scratch);
	if (note_line(&s, &extra) || keyword(extra, STR("extra"), &value) ||
	    base64_get(value, scratch, e) || scratch->n > RECORD_MAX)
		return err_say(e, ERR_FORMAT,
		    "the second line of a receipt should hold its record");
	if (note_line(&s, &index) || keyword(index, STR("index"), &value) ||
	    num_parse(value, 0, INT64_MAX, &n, e))
		return err_say(e, ERR_FORMAT,
		    "the third line of a receipt should be its index");
	if (parse_proof(&s, &r, e) ||
	    checkpoint_parse(s, &r.checkpoint, &r.text, &r.sigs, e))
		return -1;
	r.index = (uint64_t)n;
	r.record = buf_bytes(scratch);
	*out = r;
	return 0;
}

void
receipt_put(struct buf *b, const struct receipt *r)
{
	buf_putf(b, "%s\nextra ", title);
	base64_put(b, r->record);
	buf_putf(b, "\nindex %llu\n", (unsigned long long)r->index);
	for (size_t i = 0; i < r->nproof; i++) {
		base64_put(b, BYTES(r->proof[i].b));
		buf_put_u8(b, '\n');
	}
	buf_put_u8(b, '\n');
	checkpoint_text(&r->checkpoint, b);
	buf_put_u8(b, '\n');
	buf_put(b, r->sigs.p, r->sigs.n);
}

/* Does the pinned log say that ${r} is in it?  And is ${d} of that log? */
static int
authentic(const struct receipt *r, const struct record *d,
    const struct receipt_want *want, struct err *e)
{
	char own[ORIGIN_MAX];
	struct hash leaf;
	size_t n;

	if (note_check(r->text, r->sigs, want->origin, want->log_pub, e))
		return err_wrap(e, "receipt");
	if (strcmp(r->checkpoint.origin, want->origin) != 0)
		return err_say(e, ERR_ILLEGAL,
		    "the receipt is of another log: %s", r->checkpoint.origin);
	tree_leaf(r->record, &leaf);
	if (tree_check_inclusion(&leaf, r->index, r->checkpoint.size, r->proof,
	    r->nproof, &r->checkpoint.root, e))
		return err_wrap(e, "receipt");
	if (d->index != r->index)
		return err_say(e, ERR_SIGNATURE,
		    "the record of the receipt says that it is another one");
	/* The origin is glove/install/incarnation. */
	n = strlen(origin_str(d->install, 0, own)) - 1;
	if (strncmp(own, want->origin, n) != 0)
		return err_say(e, ERR_ILLEGAL,
		    "the record of the receipt is of another installation");
	return 0;
}

/* Is it what was asked for? */
static int
asked(const struct record *d, const struct receipt_want *want, struct err *e)
{
	static const struct id none;

	if (want->machine != 0 && d->machine != want->machine)
		return err_say(e, ERR_ILLEGAL,
		    "the receipt is for another machine: %u", d->machine);
	if (want->event != 0 && d->event != want->event)
		return err_say(e, ERR_ILLEGAL,
		    "the receipt is for another event: %u", d->event);
	if (want->event != 0 && d->flags & RECORD_REFUSED)
		return err_say(e, ERR_ILLEGAL,
		    "the receipt is for an attempt that was refused");
	if (!id_eq(&want->subject, &none) && !id_eq(&d->subject, &want->subject))
		return err_say(e, ERR_ILLEGAL,
		    "the receipt is for another subject");
	return 0;
}

/* Is it of now, and not one that was kept from before? */
static int
fresh(const struct receipt *r, const struct record *d,
    const struct receipt_want *want, struct err *e)
{
	static const uint8_t none[16];
	uint64_t generation;

	if (want->check_nonce && !bytes_eq(record_field(d, FIELD_NONCE),
	    BYTES(want->nonce)))
		return err_say(e, ERR_STALE,
		    "the receipt does not carry the nonce that was sent");
	if (memcmp(want->boot_id, none, sizeof(none)) != 0 &&
	    memcmp(want->boot_id, d->boot_id, sizeof(none)) != 0)
		return err_say(e, ERR_STALE,
		    "the receipt is from another boot of this machine");
	if (want->after != 0 && d->index <= want->after)
		return err_say(e, ERR_STALE, "the receipt is for record %llu,"
		    " which is not after %llu", (unsigned long long)d->index,
		    (unsigned long long)want->after);
	if (r->checkpoint.size < want->min_size)
		return err_say(e, ERR_STALE,
		    "the receipt is from a smaller log than was seen before");
	if (want->min_generation == 0)
		return 0;
	if (record_u64(d, FIELD_GENERATION, &generation))
		return err_say(e, ERR_ILLEGAL,
		    "the receipt is not for a lease: it has no generation");
	if (generation < want->min_generation)
		return err_say(e, ERR_STALE,
		    "the receipt is for an earlier generation of the lease");
	return 0;
}

int
receipt_verify(struct str text, const struct receipt_want *want,
    struct committed **c, uint64_t *size, struct err *e)
{
	AUTO(committed) struct committed *proof = NULL;
	AUTO(buf) struct buf scratch;
	struct receipt r;

	buf_init(&scratch, RECORD_MAX);
	if (receipt_parse(text, &scratch, &r, e) ||
	    committed_new(r.record, &proof, e) ||
	    authentic(&r, &proof->record, want, e) ||
	    asked(&proof->record, want, e) ||
	    fresh(&r, &proof->record, want, e))
		return -1;
	*size = r.checkpoint.size;
	*c = TAKE(proof);
	return 0;
}
