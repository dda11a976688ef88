/* SPDX-License-Identifier: ISC */
#ifndef JOURNAL_LINES_H
#define JOURNAL_LINES_H

#include "base/buf.h"
#include "base/sha256.h"

/* A text file line by line, and the digest of all that was read of it. */
struct lines {
	const char	*name;		/* NULL: not opened yet */
	int		 fd;		/* -1: none */
	int		 whole;		/* read to its end */
	struct sha256	 sum;
	struct buf	 b;
	size_t		 at;		/* of the next line in b */
};

/* lines_open(l, dirfd, name, max, e): NOTFOUND if there is no such file. */
int lines_open(struct lines *l, int dirfd, const char *name, size_t max,
    struct err *e) MUST_CHECK;
void lines_done(struct lines *l);

/* lines_next: 1 and a line without its LF, borrowed until the next call; 0 at
 * the end; -1: TOOBIG, FORMAT if the last line has no LF. */
int lines_next(struct lines *l, struct str *line, struct err *e) MUST_CHECK;

#endif
