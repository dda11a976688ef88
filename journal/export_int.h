/* SPDX-License-Identifier: ISC */
#ifndef JOURNAL_EXPORT_INT_H
#define JOURNAL_EXPORT_INT_H

#include "journal/export.h"
#include "journal/verify_int.h"

/* What the parts of the export share; nobody else includes this. */
struct chosen_blob {
	uint8_t	digest[SHA256_BYTES];
};

/* A record of the session: index, and where it stands in bytes. */
struct chosen {
	uint64_t	index;
	size_t		at, n;
};

enum { CHOSEN_BYTES_MAX = 256 << 20 };

struct export {
	const struct export_from *from;
	const struct export_opts *o;
	struct export_result	*r;
	int			 dirfd;
	struct checkpoint	 head;
	struct tilecut		*tree;
	struct buf		 entries, sums;
	struct verify		 keys;		/* only its key history */
	struct report		 keys_report;
	/* of the chosen session */
	struct id		 change;
	int			 has_change;
	struct chosen		*chosen;	/* its records, for receipts */
	size_t			 nchosen, capchosen;
	struct buf		 bytes;		/* of them */
	struct chosen_blob	*blob;
	size_t			 nblobs, capblobs;
};

/* A file that is written piece by piece. */
struct stream {
	int		 fd;
	const char	*path;
	struct buf	 b;
	struct sha256	 sum;
};

int export_create(struct export *x, const char *path, int *fd, struct err *e)
    MUST_CHECK;
int export_file(struct export *x, const char *path, struct bytes data,
    struct err *e) MUST_CHECK;
/* export_listed: with a line in SHA256SUMS. */
int export_listed(struct export *x, const char *path, struct bytes data,
    struct err *e) MUST_CHECK;
void export_sum(struct export *x, const char *path,
    const uint8_t digest[SHA256_BYTES]);
int export_stream_open(struct export *x, struct stream *s, const char *path,
    struct err *e) MUST_CHECK;
/* export_stream_put: write what waits in ${s->b}, if it is much or ${all}. */
int export_stream_put(struct stream *s, int all, struct err *e) MUST_CHECK;

static inline void
auto_stream(struct stream *s)
{
	auto_fd(&s->fd);
	buf_done(&s->b);
}

/* export_chosen.c: what belongs to the session, and what comes with it */
void export_keys_record(struct export *x, const struct record *r);
void export_keys_put(struct export *x, struct buf *b);
int export_chosen_record(struct export *x, const struct record *r,
    struct bytes bytes, struct err *e) MUST_CHECK;
int export_sealed(struct export *x, struct err *e) MUST_CHECK;
int export_receipts(struct export *x, struct str note, struct err *e)
    MUST_CHECK;
int export_objects(struct export *x, struct err *e) MUST_CHECK;
void export_chosen_done(struct export *x);

#endif
