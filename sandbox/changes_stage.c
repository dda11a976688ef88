/* SPDX-License-Identifier: ISC */
/*
 * Everything that can fail for want of room, rights or truth happens here,
 * before the host directory changes: new content is copied and its digest
 * compared on the way, what will be replaced is kept, and both are on the
 * disk.  After this only names are exchanged.
 */
#include <sys/random.h>
#include <sys/xattr.h>

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <linux/limits.h>

#include "base/fd.h"
#include "base/text.h"
#include "faultinject/fi.h"

#include "sandbox/changes_work.h"

enum {
	COPY_BYTES	= 128 << 10,
	SYNC_EACH_MAX	= 1000	/* entries that are synced one by one */
};

static void
name_staging(struct work *w)
{
	char hex[2 * NONCE_BYTES + 1];

	(void)snprintf(w->staging, sizeof(w->staging), ".glove-%s",
	    hex_str(bytes_of(w->nonce, sizeof(w->nonce)), hex));
}

int
plan_load(struct work *w, struct err *e)
{
	const size_t n = w->a->m->n, head = NONCE_BYTES + SHA256_BYTES;
	uint8_t digest[SHA256_BYTES];
	AUTO(buf) struct buf b;

	buf_init(&b, head + n + 1);
	if (w->a->undo_dirfd < 0 && w->a->dry_run)
		return 0;
	if (fd_file(w->a->undo_dirfd, "plan", &b, e)) {
		if (e->sys != ENOENT)
			return err_wrap(e, "the undo directory");
		if (getrandom(w->nonce, sizeof(w->nonce), 0) !=
		    (ssize_t)sizeof(w->nonce))
			return err_set(e, ERR_SYS, "getrandom");
		name_staging(w);
		return 0;
	}
	if (manifest_digest(w->a->m, digest, e))
		return -1;
	if (b.n != head + n || memcmp(b.p + NONCE_BYTES, digest,
	    sizeof(digest)) != 0)
		return err_say(e, ERR_FORMAT,
		    "the undo directory belongs to another change");
	memcpy(w->nonce, b.p, sizeof(w->nonce));
	if (n != 0)
		memcpy(w->plan, b.p + head, n);
	w->begun = 1;
	name_staging(w);
	return 0;
}

int
plan_save(struct work *w, struct err *e)
{
	uint8_t digest[SHA256_BYTES];
	AUTO(buf) struct buf b;

	buf_init(&b, NONCE_BYTES + SHA256_BYTES + w->a->m->n);
	if (manifest_digest(w->a->m, digest, e))
		return -1;
	buf_put(&b, w->nonce, sizeof(w->nonce));
	buf_put(&b, digest, sizeof(digest));
	buf_put(&b, w->plan, w->a->m->n);
	if (buf_ok(&b, "the plan", e))
		return -1;
	return fd_replace(w->a->undo_dirfd, "plan", buf_bytes(&b), 0600, e);
}

/* The next piece of a file; zeros become a hole, as they may have been one. */
static int
put_piece(int to, const uint8_t *p, size_t n, struct err *e)
{
	if (p[0] != 0 || memcmp(p, p + 1, n - 1) != 0)
		return fd_write_all(to, p, n, e);
	if (lseek(to, (off_t)n, SEEK_CUR) < 0)
		return err_set(e, ERR_SYS, "seek");
	return 0;
}

/* ${from} into a new file; STALE if it is not what ${side} says. */
static int
copy(int from, int dirfd, const char *name, const struct change_side *side,
    int *out, struct err *e)
{
	AUTO(fd) int to = -1;
	AUTO(mem) uint8_t *chunk = malloc(COPY_BYTES);
	uint8_t got[SHA256_BYTES];
	struct sha256 s;
	int64_t left = side->size;
	ssize_t n;

	if (chunk == NULL)
		return err_set(e, ERR_NOMEM, "copy");
	to = openat(dirfd, name, O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW |
	    O_CLOEXEC, 0600);
	if (to < 0)
		return err_set(e, ERR_SYS, "a new file");
	sha256_init(&s);
	/* One that grew is read no further than where that shows. */
	while (left >= 0 && (n = read(from, chunk, COPY_BYTES)) != 0) {
		if (n < 0 && errno == EINTR)
			continue;
		if (n < 0)
			return err_set(e, ERR_SYS, "read");
		left -= n;
		sha256_update(&s, chunk, (size_t)n);
		if (put_piece(to, chunk, (size_t)n, e))
			return -1;
	}
	sha256_final(&s, got);
	if (memcmp(got, side->digest, sizeof(got)) != 0)
		return err_say(e, ERR_STALE,
		    "it is not what the manifest says it was");
	/* A hole at the end is not there until the size says so. */
	if (ftruncate(to, side->size) != 0 || fchmod(to, side->mode) != 0)
		return err_set(e, ERR_SYS, "a new file");
	/* Only on its way; it is waited for when all of them are. */
	(void)sync_file_range(to, 0, 0, SYNC_FILE_RANGE_WRITE);
	if (out != NULL)
		*out = TAKE_FD(to);
	return 0;
}

/*
 * What the host's file had besides content and mode stays with its name as far
 * as the system lets us: the group, the owner's attributes, the access list.
 */
static void
inherit(struct work *w, size_t i, int to)
{
	AUTO(fd) int from = -1;
	AUTO(mem) char *names = NULL;
	AUTO(mem) char *value = NULL;
	struct str path = work_change(w, i)->path;
	int dir = work_parent(w, path);
	struct stat st;
	struct err e;
	ssize_t n, v;

	if (dir < 0 || look_open(dir, path_name(path), &st, &from, &e))
		return;
	(void)!fchown(to, (uid_t)-1, st.st_gid);
	if ((n = flistxattr(from, NULL, 0)) <= 0 ||
	    (names = malloc(XATTR_LIST_MAX + 1)) == NULL ||
	    (value = malloc(XATTR_SIZE_MAX)) == NULL ||
	    (n = flistxattr(from, names, XATTR_LIST_MAX)) <= 0)
		return;
	names[n] = '\0';
	for (const char *p = names; p < names + n; p += strlen(p) + 1) {
		if ((strncmp(p, "user.", 5) != 0 ||
		    strncmp(p, "user.overlay.", 13) == 0) &&
		    strcmp(p, "system.posix_acl_access") != 0)
			continue;
		if ((v = fgetxattr(from, p, value, XATTR_SIZE_MAX)) >= 0)
			(void)fsetxattr(to, p, value, (size_t)v, 0);
	}
	/* The access list came with the old mode. */
	(void)fchmod(to, work_to(w, i)->mode);
}

/* New content from the upper layer. */
static int
stage_new(struct work *w, size_t i, const char *name, struct err *e)
{
	AUTO(fd) int dir = -1, from = -1, to = -1;
	struct str path = work_change(w, i)->path;
	struct stat st;

	if (changes_dir(w->a->upper_dirfd, path_parent(path), O_PATH, &dir, e) ||
	    look_open(dir, path_name(path), &st, &from, e)) {
		if (e->sys != ENOENT && e->sys != ENOTDIR && e->sys != ELOOP)
			return -1;
		return err_say(e, ERR_STALE, "it is gone from the session's layer");
	}
	if (copy(from, w->staging_fd, name, work_to(w, i), &to, e))
		return -1;
	if (work_from(w, i)->type == CHANGE_TYPE_FILE)
		inherit(w, i, to);
	return 0;
}

/* Old content from the undo directory: the very file, if that is possible. */
static int
stage_old(struct work *w, size_t i, const char *name, struct err *e)
{
	AUTO(fd) int from = -1;
	int undo = w->a->undo_dirfd;
	struct stat st;

	if (look_at(undo, name, LOOK_DIGEST, &w->look, e))
		return -1;
	if (w->look.side.type != CHANGE_TYPE_FILE ||
	    memcmp(w->look.side.digest, work_to(w, i)->digest,
	    SHA256_BYTES) != 0)
		return err_say(e, ERR_STALE, "its undo copy is %s",
		    w->look.side.type == CHANGE_TYPE_ABSENT ? "missing" :
		    "not what it was");
	if (w->look.side.mode == work_to(w, i)->mode &&
	    linkat(undo, name, w->staging_fd, name, 0) == 0)
		return 0;
	if (look_open(undo, name, &st, &from, e))
		return -1;
	return copy(from, w->staging_fd, name, work_to(w, i), NULL, e);
}

/* What entry ${i} replaces, into the undo directory. */
static int
keep(struct work *w, size_t i, const char *name, struct err *e)
{
	AUTO(fd) int from = -1;
	struct str path = work_change(w, i)->path;
	int dir = work_parent(w, path), undo = w->a->undo_dirfd;
	struct stat st;

	if (dir < 0)
		return err_say(e, ERR_CONFLICT, "its directory has just gone");
	if (unlinkat(undo, name, 0) != 0 && errno != ENOENT)
		return err_set(e, ERR_SYS, "an old undo copy");
	if (look_open(dir, path_name(path), &st, &from, e))
		return -1;
	if (!work_same(w, i, &st))
		return err_say(e, ERR_CONFLICT,
		    "the host changed it just now");
	/* With another name the content could change under our copy. */
	if (st.st_nlink == 1 && linkat(dir, path_name(path), undo, name, 0) == 0)
		return 0;
	return copy(from, undo, name, work_from(w, i), NULL, e);
}

static int
stage_entry(struct work *w, size_t i, struct err *e)
{
	const struct change *c = work_change(w, i);
	const struct change_side *from = work_from(w, i), *to = work_to(w, i);
	char name[WORK_NAME_MAX];

	if (c->kind == CHANGE_KIND_MODE)
		return 0;
	(void)work_name(i, name);
	if (!w->undo && from->type == CHANGE_TYPE_FILE && !w->entry[i].gone &&
	    keep(w, i, name, e))
		return -1;
	if (to->type == CHANGE_TYPE_SYMLINK &&
	    symlinkat(to->target.p, w->staging_fd, name) != 0)
		return err_set(e, ERR_SYS, "a new link");
	if (to->type != CHANGE_TYPE_FILE)
		return 0;
	return w->undo ? stage_old(w, i, name, e) : stage_new(w, i, name, e);
}

static int
sync_name(int dirfd, const char *name, int flags, struct err *e)
{
	AUTO(fd) int fd = openat(dirfd, name,
	    O_RDONLY | O_NOFOLLOW | O_CLOEXEC | flags);

	if (fd < 0 || fsync(fd) != 0)
		return err_set(e, ERR_SYS, "sync");
	return 0;
}

static int
sync_all(int dirfd, struct err *e)
{
	AUTO(fd) int fd = openat(dirfd, ".", O_RDONLY | O_DIRECTORY | O_CLOEXEC);

	if (fd < 0 || syncfs(fd) != 0)
		return err_set(e, ERR_SYS, "sync");
	return 0;
}

/*
 * All that was staged and kept, to the disk.  Some are synced by name: the
 * first makes the file system commit what it has, the others then cost little,
 * and syncfs(2) would wait for everybody's data.  For many that is cheaper.
 */
static int
sync_staged(struct work *w, struct err *e)
{
	char name[WORK_NAME_MAX];

	if (w->todo > SYNC_EACH_MAX)
		return sync_all(w->staging_fd, e) ||
		    sync_all(w->a->undo_dirfd, e) ? -1 : 0;
	for (size_t i = 0; i < w->a->m->n; i++) {
		const struct change_side *from = work_from(w, i);

		if (w->entry[i].state != ENTRY_TODO ||
		    work_change(w, i)->kind == CHANGE_KIND_MODE)
			continue;
		(void)work_name(i, name);
		if (work_to(w, i)->type == CHANGE_TYPE_FILE &&
		    sync_name(w->staging_fd, name, 0, e))
			return -1;
		if (!w->undo && from->type == CHANGE_TYPE_FILE &&
		    sync_name(w->a->undo_dirfd, name, 0, e))
			return -1;
	}
	return sync_name(w->staging_fd, ".", O_DIRECTORY, e) ||
	    sync_name(w->a->undo_dirfd, ".", O_DIRECTORY, e) ? -1 : 0;
}

int
stage_all(struct work *w, struct err *e)
{
	int lower = w->a->lower_dirfd;

	if (mkdirat(lower, w->staging, 0700) != 0)
		return err_set(e, ERR_SYS,
		    "a staging directory in the host directory");
	if (fd_openat2(lower, w->staging, O_RDONLY | O_DIRECTORY | O_NOFOLLOW,
	    0, CHANGES_RESOLVE, &w->staging_fd, e))
		return -1;
	for (size_t i = 0; i < w->a->m->n; i++) {
		if (w->entry[i].state != ENTRY_TODO)
			continue;
		if (work_ask(w, i, e))
			return -1;
		if (stage_entry(w, i, e))
			return err_wrap(e, "%.200s", work_change(w, i)->path.p);
		if (FI(APPLY_STAGED))
			return err_set(e, ERR_SYS, "staged: injected");
	}
	if (sync_staged(w, e))
		return -1;
	if (FI(APPLY_SYNCED))
		return err_set(e, ERR_SYS, "synced: injected");
	return 0;
}

int
work_sync(struct work *w, struct err *e)
{
	const struct manifest *m = w->a->m;
	struct str last = { NULL, 0 }, dir;
	AUTO(fd) int fd = -1;

	if (w->todo > SYNC_EACH_MAX)
		return sync_all(w->a->lower_dirfd, e);
	for (size_t i = 0; i < m->n; i++) {
		dir = path_parent(m->v[i].path);
		if (w->entry[i].state == ENTRY_OUT ||
		    (last.p != NULL && str_eq(last, dir)))
			continue;
		last = dir;
		/* Gone with its entries: the one above it is in the list. */
		if (changes_dir(w->a->lower_dirfd, dir, O_RDONLY, &fd, e)) {
			if (e->sys == ENOENT || e->sys == ENOTDIR ||
			    e->sys == EACCES)
				continue;
			return -1;
		}
		if (fsync(fd) != 0)
			return err_set(e, ERR_SYS, "sync");
		(void)close(TAKE_FD(fd));
	}
	return 0;
}
