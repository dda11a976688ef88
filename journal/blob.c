/* SPDX-License-Identifier: ISC */
/* blob.c - larger payloads by the digest of their bytes, each one zstd frame. */
#include <stdlib.h>

#include <zstd.h>

#include "journal/inside.h"

enum { LEVEL = 3 };

int
journal_blob_put(struct journal_txn *t, struct bytes data, uint8_t digest[32],
    struct err *e)
{
	AUTO(mem) uint8_t *frame = NULL;
	size_t cap, n;
	struct stmt *s;
	uint8_t sum[SHA256_BYTES];
	int got;

	if (data.n > BLOB_MAX)
		return err_set(e, ERR_TOOBIG, "blob of %zu bytes", data.n);
	if (txn_alive(t, e))
		return -1;
	if (!t->j->room)
		return err_set(e, ERR_JOURNAL, "blob of %zu bytes", data.n);
	sha256_of(data, sum);
	got = db_first(t->j->db, SQL_BLOB_HAS, VALS(VB(sum, sizeof(sum))), &s, e);
	if (got < 0)
		return -1;
	if (got == 1) {
		stmt_done(s);
		memcpy(digest, sum, sizeof(sum));
		return 0;
	}
	cap = ZSTD_compressBound(data.n);
	if ((frame = malloc(cap)) == NULL)
		return err_set(e, ERR_NOMEM, "blob of %zu bytes", data.n);
	n = ZSTD_compress(frame, cap, data.p, data.n, LEVEL);
	if (ZSTD_isError(n))
		return err_set(e, ERR_NOMEM, "blob: %s", ZSTD_getErrorName(n));
	if (db_run(t->j->db, SQL_BLOB_PUT, VALS(VB(sum, sizeof(sum)),
	    VI(data.n), VB(frame, n)), e)) {
		t->broken = 1;
		return -1;
	}
	t->own = 1;
	memcpy(digest, sum, sizeof(sum));
	return 0;
}

/* The size is capped before anything is unpacked, and the digest decides. */
static int
unpack(struct bytes frame, int64_t size, const uint8_t digest[32],
    struct buf *b, struct err *e)
{
	size_t before = b->n, n;
	uint8_t sum[SHA256_BYTES];
	uint8_t *to;

	if (size < 0 || size > BLOB_MAX)
		return err_set(e, ERR_CORRUPT, "blob says it has %lld bytes",
		    (long long)size);
	if ((to = buf_room(b, (size_t)size)) == NULL)
		return buf_ok(b, "blob", e);
	n = ZSTD_decompress(to, (size_t)size, frame.p, frame.n);
	sha256_of(bytes_of(to, (size_t)size), sum);
	if (ZSTD_isError(n) || n != (size_t)size ||
	    memcmp(sum, digest, sizeof(sum)) != 0) {
		b->n = before;
		return err_set(e, ERR_CORRUPT, "blob");
	}
	return 0;
}

int
journal_blob_get(struct journal *j, const uint8_t digest[32], struct buf *b,
    struct err *e)
{
	AUTO(row) struct stmt *s = NULL;
	int got;

	got = db_first(j->db, SQL_BLOB_GET, VALS(VB(digest, 32)), &s, e);
	if (got != 1)
		return got < 0 ? -1 : err_set(e, ERR_NOTFOUND, "blob");
	return unpack(stmt_blob(s, 1), stmt_int(s, 0), digest, b, e);
}
