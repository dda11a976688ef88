/* SPDX-License-Identifier: ISC */
/*
 * source_dir.c - reading an export directory.  Names are ours, never the
 * directory's; links are not followed; sizes are bounded by what may be in a
 * file.  Every file is either proved by the tree or listed in SHA256SUMS, and
 * there must be no others.
 */
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <linux/openat2.h>
#include <stdio.h>
#include <string.h>

#include "base/fd.h"
#include "base/limits.h"
#include "base/num.h"
#include "base/text.h"

#include "journal/receipt.h"
#include "journal/source_dir.h"

enum {
	ENTRIES_MAX = TILE_WIDTH * (2 + RECORD_MAX),
	VALUE_MAX = 1 << 20,		/* a disclosed value */
	LINE_MAX_BYTES = 4 << 20
};

/* What is not there is NOTFOUND: missing, not wrong. */
int
source_dir_load(struct source_dir *d, const char *name, size_t max,
    struct buf *b, struct err *e)
{
	b->max = max;
	buf_reset(b);
	if (fd_file(d->fd, name, b, e) == 0)
		return 0;
	if (e->code == ERR_SYS && e->sys == ENOENT)
		return err_say(e, ERR_NOTFOUND, "%s is missing", name);
	return -1;
}

static int
get_checkpoint(void *ctx, struct buf *note, struct err *e)
{
	struct source_dir *d = ctx;
	struct str text, rest;

	if (source_dir_load(d, "checkpoint", note->max, note, e))
		return -1;
	return checkpoint_parse((struct str){ (const char *)note->p, note->n },
	    &d->head, &text, &rest, e);
}

/* Bundle ${n} of records into memory. */
static int
load_entries(struct source_dir *d, uint64_t n, struct err *e)
{
	uint64_t left = d->head.size - n * TILE_WIDTH;
	unsigned width = left < TILE_WIDTH ? (unsigned)left : TILE_WIDTH;
	char path[TILE_PATH_MAX];

	if (source_dir_load(d, tile_path(TILE_ENTRIES, n, width, path),
	    ENTRIES_MAX, &d->entries, e))
		return -1;
	d->tiles++;
	d->cur = cur_of(buf_bytes(&d->entries));
	return 0;
}

static int
get_record(void *ctx, struct bytes *b, struct err *e)
{
	struct source_dir *d = ctx;
	unsigned at = (unsigned)(d->next % TILE_WIDTH);

	if (at == 0 && d->next != 0 && d->cur.n != 0)
		return err_say(e, ERR_FORMAT,
		    "something stands after record %" PRIu64, d->next - 1);
	if (d->next == d->head.size) {
		if (d->cur.n != 0)
			return err_say(e, ERR_FORMAT,
			    "something stands after the last record");
		return 0;
	}
	if (at == 0 && load_entries(d, d->next / TILE_WIDTH, e))
		return -1;
	*b = cur_take(&d->cur, cur_u16(&d->cur));
	if (d->cur.failed)
		return err_say(e, ERR_FORMAT,
		    "record %" PRIu64 " is cut short", d->next);
	d->next++;
	return 1;
}

static int
check_tile(void *ctx, const struct tile *t, struct err *e)
{
	struct source_dir *d = ctx;
	char path[TILE_PATH_MAX];

	if (source_dir_load(d, tile_path((int)t->level, t->n, t->width, path),
	    TILE_WIDTH * SHA256_BYTES, &d->scratch, e))
		return -1;
	d->tiles++;
	if (d->scratch.n != t->width * sizeof(*t->hash) ||
	    memcmp(d->scratch.p, t->hash, d->scratch.n) != 0)
		return err_say(e, ERR_CORRUPT,
		    "%s does not hold the hashes of the records", path);
	return 0;
}

static int
next_line(struct source_dir *d, struct lines *l, const char *name,
    struct str *line, struct err *e)
{
	if (l->name == NULL && lines_open(l, d->fd, name, LINE_MAX_BYTES, e))
		return -1;
	return lines_next(l, line, e);
}

static int
get_commit(void *ctx, struct commit_row *c, struct err *e)
{
	struct source_dir *d = ctx;
	struct str line;
	int more = next_line(d, &d->commits, "commits", &line, e);

	return more != 1 ? more : commit_line_parse(line, c, e) ? -1 : 1;
}

static int
get_sealed(void *ctx, struct sealed_row *s, struct err *e)
{
	struct source_dir *d = ctx;
	struct str line;
	int more = next_line(d, &d->sealed, "sealed.jsonl", &line, e);

	return more != 1 ? more : sealed_line_parse(line, &d->value, s, e) ?
	    -1 : 1;
}

/* ---- receipts, blobs ---------------------------------------------------- */

/* The next name in ${folder}; 0 at its end, or if there is no such folder. */
int
source_dir_name(struct source_dir *d, DIR **dir, const char *folder,
    const char **name, struct err *e)
{
	const struct dirent *entry;
	int fd;

	if (*dir == NULL) {
		if (fd_openat2(d->fd, folder, O_RDONLY | O_DIRECTORY, 0,
		    RESOLVE_NO_SYMLINKS, &fd, e))
			return e->sys == ENOENT ? 0 : -1;
		if ((*dir = fdopendir(fd)) == NULL) {
			(void)close(fd);
			return err_set(e, ERR_SYS, "%s", folder);
		}
	}
	do {
		errno = 0;
		if ((entry = readdir(*dir)) == NULL)
			return errno == 0 ? 0 : err_set(e, ERR_SYS, "%s", folder);
	} while (strcmp(entry->d_name, ".") == 0 ||
	    strcmp(entry->d_name, "..") == 0);
	*name = entry->d_name;
	return 1;
}

static int
get_receipt(void *ctx, struct buf *text, struct err *e)
{
	struct source_dir *d = ctx;
	char path[300];
	const char *name;
	int more = source_dir_name(d, &d->receipts, "receipts", &name, e);

	if (more != 1)
		return more;
	(void)snprintf(path, sizeof(path), "receipts/%s", name);
	return source_dir_load(d, path, RECEIPT_MAX, text, e) ? -1 : 1;
}

int
source_dir_hash(const struct source_dir *d, const char *path, uint8_t out[32],
    struct err *e)
{
	AUTO(fd) int fd = -1;
	uint8_t b[32 << 10];
	struct sha256 s;
	ssize_t n;

	if (fd_openat2(d->fd, path, O_RDONLY | O_NONBLOCK | O_NOCTTY, 0,
	    RESOLVE_NO_SYMLINKS, &fd, e))
		return e->sys == ENOENT ?
		    err_say(e, ERR_NOTFOUND, "%s is missing", path) : -1;
	sha256_init(&s);
	while ((n = read(fd, b, sizeof(b))) > 0)
		sha256_update(&s, b, (size_t)n);
	if (n < 0)
		return err_set(e, ERR_SYS, "read %s", path);
	sha256_final(&s, out);
	return 0;
}

static int
get_blob(void *ctx, uint8_t name[32], uint8_t digest[32], struct err *e)
{
	struct source_dir *d = ctx;
	char path[300];
	const char *text;
	int more = source_dir_name(d, &d->blobs, "blobs", &text, e);

	if (more != 1)
		return more;
	(void)snprintf(path, sizeof(path), "blobs/%s", text);
	if (hex_get(str_of(text), name, 32, e))
		return err_say(e, ERR_FORMAT, "%s is not named by a digest", path);
	return source_dir_hash(d, path, digest, e) ? -1 : 1;
}

int
source_dir_open(const char *path, struct source_dir **out, struct source *s,
    struct err *e)
{
	static const struct source_ops ops = {
		.checkpoint = get_checkpoint, .record = get_record,
		.commit = get_commit, .sealed = get_sealed,
		.receipt = get_receipt, .blob = get_blob, .tile = check_tile,
		.finish = source_dir_finish,
	};
	AUTO(source_dir) struct source_dir *d = calloc(1, sizeof(*d));

	if (d == NULL)
		return err_set(e, ERR_NOMEM, "%s", path);
	buf_init(&d->entries, ENTRIES_MAX);
	buf_init(&d->scratch, VALUE_MAX);
	buf_init(&d->value, VALUE_MAX);
	d->fd = open(path, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	if (d->fd < 0)
		return err_set(e, errno == ENOENT ? ERR_NOTFOUND : ERR_SYS,
		    "%s", path);
	*s = (struct source){ .ops = &ops, .ctx = d, .finish_says =
	    "keys.txt is what the records say, the other files are as they"
	    " were written" };
	*out = TAKE(d);
	return 0;
}

static void
dir_close(DIR *dir)
{
	if (dir != NULL)
		(void)closedir(dir);
}

void
source_dir_close(struct source_dir *d)
{
	if (d == NULL)
		return;
	auto_fd(&d->fd);
	lines_done(&d->commits);
	lines_done(&d->sealed);
	buf_done(&d->entries);
	buf_done(&d->scratch);
	buf_done(&d->value);
	dir_close(d->receipts);
	dir_close(d->blobs);
	dir_close(d->top);
	free(d);
}
