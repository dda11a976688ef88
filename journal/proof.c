/* SPDX-License-Identifier: ISC */
/* proof.c - what leaves the journal: receipts and checkpoints. */
#include <inttypes.h>

#include "journal/committed_impl.h"
#include "journal/inside.h"
#include "journal/receipt.h"

enum { SIGS_MAX = 4096 };

/*
 * The newest checkpoint and its two signature lines: that of the epoch key,
 * made with the commit, and that of the log key, made now, because only what
 * leaves bears it.
 */
static int
newest(struct journal *j, struct checkpoint *c, struct buf *text,
    struct buf *sigs, struct err *e)
{
	struct journal_commit row;
	uint8_t sig[SIG_BYTES];

	if (j->keys == NULL || !keyring_has(j->keys, KEYUSE_LOG))
		return err_set(e, ERR_UNSUPPORTED, "the log key is not here");
	if (commit_load(j, j->head.commit_no, &row, e))
		return -1;
	memcpy(c->origin, j->origin, sizeof(c->origin));
	c->size = j->head.size;
	c->root = j->head.root;
	checkpoint_text(c, text);
	if (buf_ok(text, "checkpoint", e))
		return -1;
	keyring_sign_note(j->keys, KEYUSE_LOG,
	    (struct str){ (const char *)text->p, text->n }, sig);
	note_sig_put(sigs, j->origin, row.pub, j->head.sig);
	note_sig_put(sigs, j->origin, j->log_pub, sig);
	return buf_ok(sigs, "signatures", e);
}

int
journal_checkpoint(struct journal *j, struct buf *b, struct err *e)
{
	AUTO(buf) struct buf text, sigs;
	struct checkpoint c;

	buf_init(&text, SIGS_MAX);
	buf_init(&sigs, SIGS_MAX);
	if (newest(j, &c, &text, &sigs, e))
		return -1;
	buf_put(b, text.p, text.n);
	buf_put_str(b, "\n");
	buf_put(b, sigs.p, sigs.n);
	return buf_ok(b, "checkpoint", e);
}

int
journal_receipt(struct journal *j, uint64_t index, struct buf *b, struct err *e)
{
	AUTO(buf) struct buf record, text, sigs;
	struct tiles_ctx ctx = { &j->tiles, j->db };
	struct tree_reader reader = tiles_reader(&ctx);
	struct receipt r = { .index = index };

	buf_init(&record, RECORD_MAX);
	buf_init(&text, SIGS_MAX);
	buf_init(&sigs, SIGS_MAX);
	if (index >= j->at.size)
		return err_set(e, ERR_NOTFOUND, "record %" PRIu64, index);
	if (journal_record(j, index, &record, e) ||
	    tree_prove(&reader, index, j->at.size, r.proof, &r.nproof, e) ||
	    newest(j, &r.checkpoint, &text, &sigs, e))
		return -1;
	r.record = buf_bytes(&record);
	r.text = (struct str){ (const char *)text.p, text.n };
	r.sigs = (struct str){ (const char *)sigs.p, sigs.n };
	receipt_put(b, &r);
	return buf_ok(b, "receipt", e);
}
