/* SPDX-License-Identifier: ISC */
#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "sandbox/changes_text.h"

enum {
	READ_BYTES	= 64 << 10,
	SNIFF_BYTES	= 8000		/* a NUL within: binary, as for git */
};

void
text_done(struct text *t)
{
	buf_done(&t->b);
	free(t->start);
	free(t->class);
	free(t->changed);
	t->start = NULL;
	t->class = NULL;
	t->changed = NULL;
}

int
text_open(int root, struct str path, int *fd, struct err *e)
{
	AUTO(fd) int dir = -1;
	struct stat st;

	if (changes_dir(root, path_parent(path), O_PATH, &dir, e))
		return -1;
	return look_open(dir, path_name(path), &st, fd, e);
}

/* Read it once: lines, digest, and the bytes if there is room for them. */
static int
read_content(int fd, const struct change_side *side, struct text *t,
    struct err *e)
{
	uint8_t got[SHA256_BYTES], last = '\n';
	AUTO(mem) uint8_t *chunk = malloc(READ_BYTES);
	struct sha256 s;
	size_t sniffed = 0, look;
	int64_t left = side->size;
	ssize_t n;

	if (chunk == NULL)
		return err_set(e, ERR_NOMEM, "read a file");
	t->big = side->size > TEXT_BYTES_MAX;
	sha256_init(&s);
	/* One that grew is read no further than where that shows. */
	while (left >= 0 && (n = read(fd, chunk, READ_BYTES)) != 0) {
		if (n < 0 && errno == EINTR)
			continue;
		if (n < 0)
			return err_set(e, ERR_SYS, "read a file");
		left -= n;
		sha256_update(&s, chunk, (size_t)n);
		look = SNIFF_BYTES - sniffed < (size_t)n ?
		    SNIFF_BYTES - sniffed : (size_t)n;
		t->binary |= memchr(chunk, '\0', look) != NULL;
		sniffed += look;
		for (ssize_t i = 0; i < n; i++)
			t->n += chunk[i] == '\n';
		last = chunk[n - 1];
		if (!t->big)
			buf_put(&t->b, chunk, (size_t)n);
	}
	t->n += last != '\n';
	sha256_final(&s, got);
	t->stale = memcmp(got, side->digest, sizeof(got)) != 0;
	if (t->n > TEXT_LINES_MAX)
		t->big = 1;
	/* A file that grew past the room is stale, not a failure. */
	return t->big || t->stale ? 0 : buf_ok(&t->b, "a file", e);
}

static int
split(struct text *t, struct err *e)
{
	size_t at = 0;
	const uint8_t *nl;

	if ((t->start = calloc(t->n + 1, sizeof(*t->start))) == NULL ||
	    (t->class = calloc(t->n + 1, sizeof(*t->class))) == NULL ||
	    (t->changed = calloc(t->n + 1, 1)) == NULL)
		return err_set(e, ERR_NOMEM, "compare");
	for (size_t i = 0; i < t->n; i++) {
		t->start[i] = at;
		nl = memchr(t->b.p + at, '\n', t->b.n - at);
		at = nl != NULL ? (size_t)(nl - t->b.p) + 1 : t->b.n;
	}
	t->start[t->n] = t->b.n;
	return 0;
}

int
text_load(int root, struct str path, const struct change_side *side,
    struct text *t, struct err *e)
{
	AUTO(fd) int fd = -1;

	buf_init(&t->b, TEXT_BYTES_MAX);
	if (side->type == CHANGE_TYPE_SYMLINK) {
		buf_put(&t->b, side->target.p, side->target.n);
		t->n = 1;
		for (size_t i = 0; i + 1 < side->target.n; i++)
			t->n += side->target.p[i] == '\n';
	} else if (side->type == CHANGE_TYPE_FILE) {
		if (text_open(root, path, &fd, e)) {
			if (e->code != ERR_STALE && e->sys != ENOENT &&
			    e->sys != ENOTDIR && e->sys != ELOOP)
				return -1;
			t->stale = 1;
		} else if (read_content(fd, side, t, e))
			return -1;
	}
	if (t->stale || t->big) {
		buf_done(&t->b);
		return 0;
	}
	return split(t, e);
}
