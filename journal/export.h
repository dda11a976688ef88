/* SPDX-License-Identifier: ISC */
#ifndef JOURNAL_EXPORT_H
#define JOURNAL_EXPORT_H

#include "journal/source.h"

/*
 * An export: the whole log as a directory of files that any web server can
 * carry and anybody can check, after C2SP tlog-tiles.
 *
 *	checkpoint		the signed note
 *	tile/L/N		256 hashes of level L (fewer: tile/L/N.p/W)
 *	tile/entries/N		256 records, each behind its length in two bytes
 *	commits			a line a commit, see commit_line_put()
 *	keys.txt		key history, see keys_put()
 *	sealed.jsonl		what was disclosed, see sealed_line_put()
 *	blobs/SHA256		stored objects
 *	receipts/INDEX		receipts
 *	README.txt		what it is, how to check it without Glove
 *	SHA256SUMS		of commits, keys.txt, sealed.jsonl, README.txt
 */

/* What an export takes beside the records. */
struct export_from {
	const struct source	*src;	/* checkpoint, record, commit */
	void			*ctx;
	/* sealed: what is behind the sealed fields of one subject's records, or
	 * of all (id NULL), ascending; to ${visit}, which returns 0 or -1. */
	int (*sealed)(void *ctx, int machine, const struct id *id,
	    int (*visit)(void *vctx, const struct sealed_row *s, struct err *e),
	    void *vctx, struct err *e);
	/* blob: piece by piece to ${visit}; NOTFOUND if it is not stored. */
	int (*blob)(void *ctx, const uint8_t digest[32],
	    int (*visit)(void *vctx, struct bytes piece, struct err *e),
	    void *vctx, struct err *e);
};

struct export_opts {
	const struct id	*session;	/* NULL: the whole log */
	void (*progress)(void *ctx, uint64_t done, uint64_t total);
	void		*progress_ctx;
};

struct export_result {
	uint64_t	records, commits, sealed, blobs, receipts;
};

/*
 * export_write(path, from, o, r, e): make the directory ${path}, which must not
 * be there, or be empty (CONFLICT).  It is built beside it and renamed, so that
 * it is there whole or not at all.
 *
 * All records are in it, or the tree could not be checked; of a session's
 * export only the sealed values, objects and receipts of that session and its
 * changes, of the whole log's all sealed values and objects, and no receipts.
 */
int export_write(const char *path, const struct export_from *from,
    const struct export_opts *o, struct export_result *r, struct err *e)
    MUST_CHECK;

/* export_readme: the text of README.txt. */
void export_readme(struct buf *b, const struct checkpoint *c);

#endif
