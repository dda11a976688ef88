/* SPDX-License-Identifier: ISC */
#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <limits.h>
#include <linux/openat2.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "base/fd.h"
#include "base/id.h"

enum { CHUNK = 64 << 10 };	/* bytes of one read(2) */

int
fd_read_all(int fd, struct buf *b, struct err *e)
{
	for (;;) {
		size_t left = b->max - b->n, want = left < CHUNK ? left : CHUNK;
		uint8_t probe, *at = &probe;
		ssize_t n;

		/* When it is full, one more byte tells whether it is too big. */
		if (want != 0 && (at = buf_room(b, want)) == NULL)
			return buf_ok(b, "read", e);
		do
			n = read(fd, at, want != 0 ? want : 1);
		while (n < 0 && errno == EINTR);
		b->n -= want - (n > 0 && want != 0 ? (size_t)n : 0);
		if (n < 0)
			return err_set(e, ERR_SYS, "read");
		if (n == 0)
			return 0;
		if (want == 0)
			return err_set(e, ERR_TOOBIG, "more than %zu bytes",
			    b->max);
	}
}

int
fd_write_all(int fd, const void *p, size_t n, struct err *e)
{
	const uint8_t *at = p;
	ssize_t k;

	for (; n != 0; at += k, n -= (size_t)k) {
		if ((k = write(fd, at, n)) >= 0)
			continue;
		if (errno != EINTR)
			return err_set(e, ERR_SYS, "write");
		k = 0;
	}
	return 0;
}

int
fd_pread_full(int fd, void *p, size_t n, int64_t off, struct err *e)
{
	uint8_t *at = p;
	ssize_t k;

	for (; n != 0; at += k, off += k, n -= (size_t)k) {
		k = pread(fd, at, n, (off_t)off);
		if (k == 0)
			return err_set(e, ERR_FORMAT, "the file ends at %"
			    PRId64 ", %zu bytes short", off, n);
		if (k < 0 && errno != EINTR)
			return err_set(e, ERR_SYS, "read at %" PRId64, off);
		if (k < 0)
			k = 0;
	}
	return 0;
}

int
fd_pwrite_full(int fd, const void *p, size_t n, int64_t off, struct err *e)
{
	const uint8_t *at = p;
	ssize_t k;

	for (; n != 0; at += k, off += k, n -= (size_t)k) {
		if ((k = pwrite(fd, at, n, (off_t)off)) >= 0)
			continue;
		if (errno != EINTR)
			return err_set(e, ERR_SYS, "write at %" PRId64, off);
		k = 0;
	}
	return 0;
}

int
fd_openat2(int dirfd, const char *path, int flags, mode_t mode,
    uint64_t resolve, int *fd, struct err *e)
{
	struct open_how how = {
		.flags = (uint64_t)(unsigned)flags | O_CLOEXEC,
		.mode = flags & (O_CREAT | O_TMPFILE) & ~O_DIRECTORY ? mode : 0,
		.resolve = resolve,
	};
	long k;

	/* EAGAIN: a rename raced with "..", which a second try settles. */
	for (int tries = 0; tries < 16; tries++) {
		k = syscall(SYS_openat2, dirfd, path, &how, sizeof(how));
		if (k >= 0 || (errno != EINTR && errno != EAGAIN))
			break;
	}
	if (k < 0)
		return err_set(e, ERR_SYS, "open %s", path);
	*fd = (int)k;
	return 0;
}

int
fd_file(int dirfd, const char *name, struct buf *b, struct err *e)
{
	AUTO(fd) int fd = -1;
	struct stat st;

	/* O_NONBLOCK: a FIFO of that name must not hold us up. */
	if (fd_openat2(dirfd, name, O_RDONLY | O_NONBLOCK | O_NOCTTY, 0,
	    RESOLVE_NO_SYMLINKS, &fd, e))
		return -1;
	if (fstat(fd, &st))
		return err_set(e, ERR_SYS, "stat %s", name);
	if (!S_ISREG(st.st_mode))
		return err_say(e, ERR_FORMAT, "%s is not a regular file", name);
	if (fd_read_all(fd, b, e))
		return err_wrap(e, "%s", name);
	return 0;
}

static int
sync_dir(int dirfd, struct err *e)
{
	AUTO(fd) int fd = openat(dirfd, ".", O_RDONLY | O_DIRECTORY | O_CLOEXEC);

	if (fd < 0 || fsync(fd))
		return err_set(e, ERR_SYS, "fsync of the directory");
	return 0;
}

/* The new file, whole and on disk, under ${tmp}. */
static int
write_new(int dirfd, const char *tmp, struct bytes data, mode_t mode,
    struct err *e)
{
	AUTO(fd) int fd = openat(dirfd, tmp,
	    O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, 0600);

	if (fd < 0)
		return err_set(e, ERR_SYS, "create %s", tmp);
	if (fd_write_all(fd, data.p, data.n, e))
		return -1;
	if (fchmod(fd, mode))	/* not what umask makes of it */
		return err_set(e, ERR_SYS, "chmod");
	if (fdatasync(fd))
		return err_set(e, ERR_SYS, "fdatasync");
	return 0;
}

int
fd_replace(int dirfd, const char *name, struct bytes data, mode_t mode,
    struct err *e)
{
	char tmp[NAME_MAX + 1], unique[ID_TEXT_MAX];
	struct id id;
	int n;

	id_random(&id);
	n = snprintf(tmp, sizeof(tmp), ".%.200s.%s", name,
	    id_str(ID_NONE, &id, unique));
	if (n < 0 || (size_t)n >= sizeof(tmp) || strchr(name, '/') != NULL)
		return err_set(e, ERR_BUG, "%s is not a name", name);
	if (write_new(dirfd, tmp, data, mode, e))
		goto undo_tmp;
	if (renameat(dirfd, tmp, dirfd, name)) {
		(void)err_set(e, ERR_SYS, "rename");
		goto undo_tmp;
	}
	if (sync_dir(dirfd, e))
		return err_wrap(e, "write %s", name);
	return 0;
undo_tmp:
	(void)unlinkat(dirfd, tmp, 0);
	return err_wrap(e, "write %s", name);
}

int
fd_mkdir_open(int dirfd, const char *name, mode_t mode, int *fd, struct err *e)
{
	AUTO(fd) int made = -1;
	struct stat st;
	int fresh = mkdirat(dirfd, name, mode) == 0;

	if (!fresh && errno != EEXIST)
		return err_set(e, ERR_SYS, "mkdir %s", name);
	made = openat(dirfd, name,
	    O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
	if (made < 0 && (errno == ENOTDIR || errno == ELOOP))
		return err_say(e, ERR_CONFIG, "%s is not a directory", name);
	if (made < 0 || fstat(made, &st))
		return err_set(e, ERR_SYS, "open %s", name);
	if (st.st_uid != geteuid()) {
		(void)err_say(e, ERR_CONFIG, "%s belongs to user %u, not to %u",
		    name, st.st_uid, geteuid());
		return err_fix(e, "use another directory, or: chown %u %s",
		    geteuid(), name);
	}
	if (st.st_mode & (S_IWGRP | S_IWOTH)) {
		(void)err_say(e, ERR_CONFIG, "others may write to %s (mode %o)",
		    name, st.st_mode & 07777u);
		return err_fix(e, "chmod go-w %s", name);
	}
	if (fresh && sync_dir(made, e))
		return err_wrap(e, "%s", name);
	*fd = TAKE_FD(made);
	return 0;
}

int
fd_memfd(const char *name, struct bytes data, int *fd, struct err *e)
{
	AUTO(fd) int made = -1;
	unsigned flags = MFD_CLOEXEC | MFD_ALLOW_SEALING;

#ifdef MFD_NOEXEC_SEAL
	made = memfd_create(name, flags | MFD_NOEXEC_SEAL);
#endif
	if (made < 0 && (made = memfd_create(name, flags)) < 0)
		return err_set(e, ERR_SYS, "memfd_create");
	if (fd_pwrite_full(made, data.p, data.n, 0, e))
		return -1;
	if (fcntl(made, F_ADD_SEALS,
	    F_SEAL_SEAL | F_SEAL_SHRINK | F_SEAL_GROW | F_SEAL_WRITE))
		return err_set(e, ERR_SYS, "seal");
	*fd = TAKE_FD(made);
	return 0;
}

int
fd_nonblock(int fd, int on, struct err *e)
{
	int flags = fcntl(fd, F_GETFL);

	if (flags < 0 || fcntl(fd, F_SETFL,
	    on ? flags | O_NONBLOCK : flags & ~O_NONBLOCK))
		return err_set(e, ERR_SYS, "fcntl");
	return 0;
}
