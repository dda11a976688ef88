/* SPDX-License-Identifier: ISC */
/* source_dir_finish.c - what is left of an export once its records are read. */
#include <fcntl.h>
#include <inttypes.h>
#include <linux/openat2.h>
#include <string.h>

#include "base/fd.h"
#include "base/text.h"

#include "journal/source_dir.h"

enum { KEYS_TEXT_MAX = 64 << 20, SUMS_MAX = 4096, TILE_DEPTH = 8 };

static int
check_sums(struct source_dir *d, struct err *e)
{
	static const char *const listed[] = { EXPORT_LISTED };
	AUTO(buf) struct buf want;
	uint8_t digest[32];

	buf_init(&want, SUMS_MAX);
	for (size_t i = 0; i < sizeof(listed) / sizeof(listed[0]); i++) {
		struct lines *l = i == 0 ? &d->commits : &d->sealed;

		/* The first two were read as the records went by. */
		if (i < 2 && l->whole)
			sha256_final(&l->sum, digest);
		else if (source_dir_hash(d, listed[i], digest, e))
			return -1;
		hex_put(&want, BYTES(digest));
		buf_putf(&want, "  %s\n", listed[i]);
	}
	if (buf_ok(&want, "SHA256SUMS", e) ||
	    source_dir_load(d, "SHA256SUMS", SUMS_MAX, &d->scratch, e))
		return -1;
	if (!bytes_eq(buf_bytes(&want), buf_bytes(&d->scratch)))
		return err_say(e, ERR_CORRUPT, "one of the files in SHA256SUMS"
		    " is not as it was written");
	return 0;
}

/* Count the files below ${fd}, which it closes. */
static int
count(int fd, int depth, uint64_t *n, struct err *e)
{
	DIR *dir = fdopendir(fd);
	const struct dirent *entry;
	int failed = 0;

	if (dir == NULL) {
		(void)close(fd);
		return err_set(e, ERR_SYS, "tile");
	}
	while (!failed && (entry = readdir(dir)) != NULL) {
		int sub;

		if (strcmp(entry->d_name, ".") == 0 ||
		    strcmp(entry->d_name, "..") == 0)
			continue;
		sub = openat(dirfd(dir), entry->d_name, O_RDONLY | O_DIRECTORY |
		    O_NOFOLLOW | O_CLOEXEC);
		if (sub < 0)
			++*n;
		else if (depth == 0)
			failed = close(sub) | err_say(e, ERR_FORMAT,
			    "the folder tile is too deep");
		else
			failed = count(sub, depth - 1, n, e);
	}
	(void)closedir(dir);
	return failed ? -1 : 0;
}

/* Nothing lies around that no check has looked at. */
static int
no_others(struct source_dir *d, struct err *e)
{
	static const char *const known[] = { EXPORT_LISTED, "checkpoint",
	    "tile", "blobs", "receipts", "SHA256SUMS" };
	const char *name;
	uint64_t n = 0;
	int more, fd;
	size_t i;

	while ((more = source_dir_name(d, &d->top, ".", &name, e)) == 1) {
		for (i = 0; i < sizeof(known) / sizeof(known[0]); i++)
			if (strcmp(known[i], name) == 0)
				break;
		if (i == sizeof(known) / sizeof(known[0]))
			return err_say(e, ERR_FORMAT,
			    "%s is not a file of an export", name);
	}
	if (more < 0)
		return -1;
	if (fd_openat2(d->fd, "tile", O_RDONLY | O_DIRECTORY, 0,
	    RESOLVE_NO_SYMLINKS, &fd, e) || count(fd, TILE_DEPTH, &n, e))
		return -1;
	if (n != d->tiles && d->next == d->head.size)
		return err_say(e, ERR_FORMAT, "there are %" PRIu64 " files in"
		    " the folder tile, and %" PRIu64 " belong there", n, d->tiles);
	return 0;
}

int
source_dir_finish(void *ctx, struct str keys, struct err *e)
{
	struct source_dir *d = ctx;

	if (source_dir_load(d, "keys.txt", KEYS_TEXT_MAX, &d->scratch, e))
		return -1;
	if (d->next == d->head.size && !bytes_eq(bytes_of_str(keys),
	    buf_bytes(&d->scratch)))
		return err_say(e, ERR_CORRUPT,
		    "keys.txt is not the key history of the records");
	return check_sums(d, e) || no_others(d, e) ? -1 : 0;
}
