/* SPDX-License-Identifier: ISC */
#ifndef JOURNAL_RECEIPT_H
#define JOURNAL_RECEIPT_H

#include "journal/committed.h"
#include "journal/sign.h"

/*
 * A receipt: record, inclusion proof, checkpoint signed by epoch key and log
 * key: a C2SP tlog-proof.  It verifies alone, offline, with the log's public
 * key.  Layout: glove-journal(5), "Receipts".
 */
enum { RECEIPT_MAX = 128 << 10 };	/* bytes of text */

struct receipt {
	struct bytes	  record;	/* borrowed from the parser's buffer */
	uint64_t	  index;
	struct hash	  proof[PROOF_MAX];
	size_t		  nproof;
	struct checkpoint checkpoint;
	struct str	  text;		/* the signed text of the checkpoint */
	struct str	  sigs;		/* signature lines, each with its LF */
};

/*
 * receipt_parse(text, scratch, r, e): strict, only the form: nothing is
 * verified.  *${r} borrows from ${text} and from ${scratch}, which it empties
 * and which must allow RECORD_MAX bytes.
 */
int receipt_parse(struct str text, struct buf *scratch, struct receipt *r,
    struct err *e) MUST_CHECK;
/* receipt_put: what receipt_parse() reads; the text is made from checkpoint. */
void receipt_put(struct buf *b, const struct receipt *r);

/*
 * What the receiver of a grant insists on.  Each item has a test that fails
 * without it.  A zero member is not checked, except log_pub and origin; a
 * refused attempt is never the event that was asked for.
 */
struct receipt_want {
	uint8_t		log_pub[PUB_BYTES];	/* pinned */
	char		origin[ORIGIN_MAX];	/* of the pinned install */
	int		machine;
	int		event;
	struct id	subject;
	int		check_nonce;
	uint8_t		nonce[32];		/* that the receiver sent */
	uint8_t		boot_id[16];		/* of this boot */
	uint64_t	after;			/* index must be greater */
	uint64_t	min_size;		/* of the checkpoint: never less */
	uint64_t	min_generation;		/* of the lease */
};

/*
 * receipt_verify(text, want, c, e): parse, check the tree, the log key's
 * signature and every item of ${want}.  On success *${c} is proof and the
 * caller's, and *${size} is the checkpoint's size, for the next min_size.
 * SIGNATURE, FORMAT, STALE (a nonce, boot or size that is old) or ILLEGAL (not
 * what was asked for).
 */
int receipt_verify(struct str text, const struct receipt_want *want,
    struct committed **c, uint64_t *size, struct err *e) MUST_CHECK;

#endif
