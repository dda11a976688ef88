/* SPDX-License-Identifier: ISC */
#ifndef JOURNAL_SOURCE_DIR_H
#define JOURNAL_SOURCE_DIR_H

#include <dirent.h>

#include "journal/lines.h"
#include "journal/tilecut.h"

/* An export directory that is being read; private to source_dir*.c. */
struct source_dir {
	int		 fd;
	struct checkpoint head;
	struct buf	 entries, scratch, value;
	struct cur	 cur;		/* in entries */
	uint64_t	 next;		/* record */
	uint64_t	 tiles;		/* files that were read below tile/ */
	struct lines	 commits, sealed;
	DIR		*receipts, *blobs, *top;
};

/* The files that only SHA256SUMS vouches for, in its order. */
#define EXPORT_LISTED "commits", "sealed.jsonl", "keys.txt", "README.txt"

/* source_dir_load: the whole of a file; NOTFOUND if it is not there. */
int source_dir_load(struct source_dir *d, const char *name, size_t max,
    struct buf *b, struct err *e) MUST_CHECK;
/* source_dir_hash: SHA-256 of a file of any size. */
int source_dir_hash(const struct source_dir *d, const char *name,
    uint8_t out[32], struct err *e) MUST_CHECK;
/* source_dir_name: the next name in ${folder}: 1, or 0 at its end or if there
 * is no such folder. */
int source_dir_name(struct source_dir *d, DIR **dir, const char *folder,
    const char **name, struct err *e) MUST_CHECK;
/* source_dir_finish: keys.txt, SHA256SUMS, and nothing else lies around. */
int source_dir_finish(void *ctx, struct str keys, struct err *e) MUST_CHECK;

#endif
