/* SPDX-License-Identifier: ISC */
/*
 * export.c - write the log as a directory of files.
 *
 * The records are read once: into bundles, into tiles, past the keys.  The
 * directory is made under another name, synced, and renamed.
 */
#include <errno.h>
#include <fcntl.h>
#include <ftw.h>
#include <inttypes.h>
#include <libgen.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>

#include "base/fd.h"
#include "base/limits.h"
#include "base/text.h"

#include "journal/export_int.h"
#include "journal/receipt.h"

enum { PROGRESS_EVERY = 4096, FOLDER_DEPTH_MAX = 10 };

/* ---- files -------------------------------------------------------------- */

/* Make the folders in front of the last name of ${path}. */
static int
folders(int dirfd, const char *path, struct err *e)
{
	char part[PATH_BYTES_MAX + 1];

	for (const char *slash = strchr(path, '/'); slash != NULL;
	    slash = strchr(slash + 1, '/')) {
		(void)snprintf(part, sizeof(part), "%.*s", (int)(slash - path),
		    path);
		if (mkdirat(dirfd, part, 0755) && errno != EEXIST)
			return err_set(e, ERR_SYS, "mkdir %s", part);
	}
	return 0;
}

int
export_create(struct export *x, const char *path, int *fd, struct err *e)
{
	const int flags = O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC;

	*fd = openat(x->dirfd, path, flags, 0644);
	if (*fd < 0 && errno == ENOENT) {
		if (folders(x->dirfd, path, e))
			return -1;
		*fd = openat(x->dirfd, path, flags, 0644);
	}
	return *fd < 0 ? err_set(e, ERR_SYS, "create %s", path) : 0;
}

int
export_file(struct export *x, const char *path, struct bytes data,
    struct err *e)
{
	AUTO(fd) int fd = -1;

	return export_create(x, path, &fd, e) ||
	    fd_write_all(fd, data.p, data.n, e) ? -1 : 0;
}

int
export_listed(struct export *x, const char *path, struct bytes data,
    struct err *e)
{
	uint8_t digest[SHA256_BYTES];

	sha256_of(data, digest);
	export_sum(x, path, digest);
	return export_file(x, path, data, e);
}

void
export_sum(struct export *x, const char *path,
    const uint8_t digest[SHA256_BYTES])
{
	hex_put(&x->sums, bytes_of(digest, SHA256_BYTES));
	buf_putf(&x->sums, "  %s\n", path);
}

int
export_stream_open(struct export *x, struct stream *s, const char *path,
    struct err *e)
{
	*s = (struct stream){ .fd = -1, .path = path };
	buf_init(&s->b, 8 << 20);
	sha256_init(&s->sum);
	return export_create(x, path, &s->fd, e);
}

int
export_stream_put(struct stream *s, int all, struct err *e)
{
	if (!all && s->b.n < 64 << 10)
		return 0;
	if (buf_ok(&s->b, s->path, e) ||
	    fd_write_all(s->fd, s->b.p, s->b.n, e))
		return -1;
	if (s->b.n != 0)
		sha256_update(&s->sum, s->b.p, s->b.n);
	buf_reset(&s->b);
	return 0;
}

/* ---- records ------------------------------------------------------------ */

static int
put_tile(void *ctx, const struct tile *t, struct err *e)
{
	char path[TILE_PATH_MAX];

	return export_file(ctx, tile_path((int)t->level, t->n, t->width, path),
	    bytes_of(t->hash, t->width * sizeof(*t->hash)), e);
}

/* The bundle that ends with record ${n} - 1. */
static int
put_entries(struct export *x, uint64_t n, struct err *e)
{
	unsigned width = (unsigned)(n % TILE_WIDTH);
	char path[TILE_PATH_MAX];

	if (buf_ok(&x->entries, "records", e) || export_file(x,
	    tile_path(TILE_ENTRIES, (n - 1) / TILE_WIDTH,
	    width == 0 ? TILE_WIDTH : width, path), buf_bytes(&x->entries), e))
		return -1;
	buf_reset(&x->entries);
	return 0;
}

static int
put_record(struct export *x, uint64_t index, struct bytes b, struct err *e)
{
	struct record r;
	struct hash leaf;

	if (record_decode(b, &r, e))
		return err_wrap(e, "record %" PRIu64, index);
	buf_put_u16(&x->entries, (uint16_t)b.n);
	buf_put(&x->entries, b.p, b.n);
	tree_leaf(b, &leaf);
	if (tilecut_append(x->tree, &leaf, e) ||
	    ((index + 1) % TILE_WIDTH == 0 && put_entries(x, index + 1, e)))
		return -1;
	export_keys_record(x, &r);
	return export_chosen_record(x, &r, b, e);
}

static int
records(struct export *x, struct err *e)
{
	const struct source *s = x->from->src;
	struct bytes b;
	uint64_t n = 0;
	int more = 1;

	while (n < x->head.size &&
	    (more = s->ops->record(s->ctx, &b, e)) == 1) {
		if (put_record(x, n, b, e))
			return -1;
		if (++n % PROGRESS_EVERY == 0 && x->o->progress != NULL)
			x->o->progress(x->o->progress_ctx, n, x->head.size);
	}
	if (more < 0)
		return -1;
	if (n != x->head.size)
		return err_set(e, ERR_CORRUPT, "%" PRIu64 " of %" PRIu64
		    " records are there", n, x->head.size);
	if (n % TILE_WIDTH != 0 && put_entries(x, n, e))
		return -1;
	if (x->keys.wrong)
		return err_set(e, ERR_CORRUPT, "%s",
		    x->keys_report.line[CHECK_SIGNATURE].text);
	x->r->records = n;
	return tilecut_finish(x->tree, e);
}

/* What leaves here must be what was signed. */
static int
same_root(const struct export *x, struct err *e)
{
	struct hash root;

	tree_root(&x->tree->edge, &root);
	if (memcmp(root.b, x->head.root.b, sizeof(root.b)) != 0)
		return err_set(e, ERR_CORRUPT,
		    "the records do not reproduce the root of the checkpoint");
	return 0;
}

static int
commits(struct export *x, struct err *e)
{
	const struct source *s = x->from->src;
	AUTO(stream) struct stream out;
	struct commit_row c = { .size = 0 };
	uint8_t digest[SHA256_BYTES];
	int more;

	if (export_stream_open(x, &out, "commits", e))
		return -1;
	while (c.size < x->head.size) {
		if ((more = s->ops->commit(s->ctx, &c, e)) < 0)
			return -1;
		if (more == 0 || c.size > x->head.size)
			return err_set(e, ERR_CORRUPT,
			    "the commits do not end where the checkpoint does");
		commit_line_put(&out.b, &c);
		x->r->commits++;
		if (export_stream_put(&out, 0, e))
			return -1;
	}
	if (export_stream_put(&out, 1, e))
		return -1;
	sha256_final(&out.sum, digest);
	export_sum(x, "commits", digest);
	return 0;
}

static int
fill(struct export *x, struct err *e)
{
	AUTO(buf) struct buf note, text;
	struct str t, rest;

	buf_init(&note, 64 << 10);
	buf_init(&text, SIZE_MAX / 2);
	if (x->from->src->ops->checkpoint(x->from->src->ctx, &note, e) ||
	    checkpoint_parse((struct str){ (const char *)note.p, note.n },
	    &x->head, &t, &rest, e) || records(x, e) || same_root(x, e) ||
	    commits(x, e) || export_sealed(x, e))
		return -1;
	export_keys_put(x, &text);
	if (buf_ok(&text, "keys.txt", e) ||
	    export_listed(x, "keys.txt", buf_bytes(&text), e))
		return -1;
	buf_reset(&text);
	export_readme(&text, &x->head);
	if (buf_ok(&text, "README.txt", e) ||
	    export_listed(x, "README.txt", buf_bytes(&text), e) ||
	    buf_ok(&x->sums, "SHA256SUMS", e) ||
	    export_file(x, "SHA256SUMS", buf_bytes(&x->sums), e) ||
	    export_objects(x, e) || export_receipts(x,
	    (struct str){ (const char *)note.p, note.n }, e))
		return -1;
	return export_file(x, "checkpoint", buf_bytes(&note), e);
}

/* ---- all of it or nothing ----------------------------------------------- */

static int
drop_one(const char *path, const struct stat *st, int type, struct FTW *ftw)
{
	(void)st;
	(void)type;
	(void)ftw;
	return remove(path);
}

static int
whole(struct export *x, const char *tmp, const char *path, struct err *e)
{
	AUTO(fd) int parent = -1;
	char copy[PATH_BYTES_MAX + 1];

	if (fill(x, e))
		return -1;
	if (syncfs(x->dirfd))
		return err_set(e, ERR_SYS, "sync %s", tmp);
	if (rename(tmp, path))
		return errno == ENOTEMPTY || errno == EEXIST || errno == ENOTDIR ?
		    err_say(e, ERR_CONFLICT, "%s is there already", path) :
		    err_set(e, ERR_SYS, "rename to %s", path);
	(void)snprintf(copy, sizeof(copy), "%s", path);
	parent = open(dirname(copy), O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	if (parent < 0 || fsync(parent))
		return err_set(e, ERR_SYS, "sync the folder of %s", path);
	return 0;
}

/* Before an hour's work: could the rename succeed? */
static int
free_place(const char *path, struct err *e)
{
	struct stat st;

	if (lstat(path, &st))
		return errno == ENOENT ? 0 : err_set(e, ERR_SYS, "%s", path);
	if (S_ISDIR(st.st_mode) && rmdir(path) == 0) {
		if (mkdir(path, st.st_mode & 07777))
			return err_set(e, ERR_SYS, "%s", path);
		return 0;
	}
	(void)err_say(e, ERR_CONFLICT, "%s is there already", path);
	return err_fix(e, "name a directory that is not there, or is empty");
}

int
export_write(const char *path, const struct export_from *from,
    const struct export_opts *o, struct export_result *r, struct err *e)
{
	struct export_result result = { .records = 0 };
	struct export x = { .from = from, .o = o, .r = &result, .dirfd = -1 };
	char tmp[PATH_BYTES_MAX + 1], clean[PATH_BYTES_MAX + 1];
	size_t n = strlen(path);
	int failed = 1;

	while (n > 1 && path[n - 1] == '/')
		n--;
	if (snprintf(clean, sizeof(clean), "%.*s", (int)n, path) >=
	    (int)sizeof(clean) || snprintf(tmp, sizeof(tmp), "%s.new.XXXXXX",
	    clean) >= (int)sizeof(tmp))
		return err_set(e, ERR_TOOBIG, "%s", path);
	if (free_place(clean, e))
		return -1;
	if (mkdtemp(tmp) == NULL)
		return err_set(e, ERR_SYS, "%s", tmp);
	buf_init(&x.entries, TILE_WIDTH * (2 + RECORD_MAX));
	buf_init(&x.sums, 4096);
	buf_init(&x.bytes, CHOSEN_BYTES_MAX);
	x.dirfd = open(tmp, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
	x.tree = calloc(1, sizeof(*x.tree));
	if (x.dirfd < 0) {
		(void)err_set(e, ERR_SYS, "%s", tmp);
	} else if (x.tree == NULL) {
		(void)err_set(e, ERR_NOMEM, "export");
	} else {
		x.tree->out = put_tile;
		x.tree->ctx = &x;
		failed = whole(&x, tmp, clean, e);
	}
	if (failed)
		(void)nftw(tmp, drop_one, 16, FTW_DEPTH | FTW_PHYS | FTW_MOUNT);
	else
		*r = result;
	export_chosen_done(&x);
	buf_done(&x.entries);
	buf_done(&x.sums);
	auto_fd(&x.dirfd);
	free(x.tree);
	return failed ? -1 : 0;
}
