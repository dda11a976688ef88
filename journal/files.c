/* SPDX-License-Identifier: ISC */
/*
 * files.c - the state directory before SQLite sees anything of it.
 *
 * Every file is synced and dropped from the page cache: our predecessor may
 * have seen EIO and died of it, and the cache would show us rows that are not
 * on disk (21 rows after a plain restart, 20 after this, as after a remount).
 * The directory has to be open for reading and synced by us: SQLite passes over
 * a directory that it cannot open, and then a power cut corrupts.
 */
#include <sys/file.h>
#include <sys/stat.h>

#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "base/fd.h"
#include "base/proc.h"
#include "base/text.h"

#include "journal/inside.h"

int
files_path(int dirfd, const char *name, char *out, size_t n, struct err *e)
{
	char link[64], dir[PATH_BYTES_MAX + 1];
	ssize_t len;

	(void)snprintf(link, sizeof(link), "/proc/self/fd/%d", dirfd);
	if ((len = readlink(link, dir, sizeof(dir) - 1)) < 0)
		return err_set(e, ERR_SYS, "%s", link);
	dir[len] = '\0';
	if ((size_t)snprintf(out, n, "%s/%s", dir, name) >= n)
		return err_set(e, ERR_TOOBIG, "path of the state directory");
	return 0;
}

int
files_private(int fd, struct err *e)
{
	struct stat st;

	if (fstat(fd, &st))
		return err_set(e, ERR_SYS, "the state directory");
	if (!S_ISDIR(st.st_mode) || st.st_uid != geteuid() ||
	    (st.st_mode & 077) != 0) {
		(void)err_set(e, ERR_CONFIG, "the state directory has owner %u"
		    " and mode %04o", (unsigned)st.st_uid,
		    (unsigned)(st.st_mode & 07777));
		return err_fix(e, "make it yours alone: chmod 700");
	}
	if (fsync(fd)) {
		(void)err_set(e, ERR_SYS, "fsync of the state directory");
		return err_why(e, "without it SQLite loses commits silently");
	}
	return 0;
}

/* The owner: pid, start time and boot, for a person who wonders. */
int
files_lock(struct journal *j, struct err *e)
{
	char boot[33], line[128];
	int64_t ticks;
	int n;

	j->lockfd = openat(j->homefd, "lock",
	    O_RDWR | O_CREAT | O_CLOEXEC | O_NOFOLLOW, 0600);
	if (j->lockfd < 0)
		return err_set(e, errno == ENOSPC ? ERR_JOURNAL : ERR_SYS,
		    "lock file");
	if (flock(j->lockfd, LOCK_EX | LOCK_NB))
		return errno == EWOULDBLOCK ?
		    err_say(e, ERR_LOCKED, "%s", err_text(ERR_LOCKED)) :
		    err_set(e, ERR_SYS, "lock file");
	if (proc_start_ticks(getpid(), &ticks, e))
		return -1;
	n = snprintf(line, sizeof(line), "%10d %20" PRId64 " %s\n",
	    (int)getpid(), ticks, hex_str(BYTES(j->boot_id), boot));
	/* Always as long: on a full disk it can be overwritten in place. */
	if (pwrite(j->lockfd, line, (size_t)n, 0) != n && errno != ENOSPC)
		return err_set(e, ERR_SYS, "lock file");
	return 0;
}

/* 1 and dropped from the cache, 0 if there is no such file. */
static int
settle_file(int dirfd, const char *name, struct err *e)
{
	AUTO(fd) int fd = openat(dirfd, name,
	    O_RDONLY | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC);

	if (fd < 0)
		return errno == ENOENT ? 0 : err_set(e, ERR_SYS, "%s", name);
	if (fdatasync(fd)) {
		(void)err_set(e, ERR_JOURNAL, "fdatasync of %s", name);
		return err_why(e, "%s", strerror(errno));
	}
	(void)posix_fadvise(fd, 0, 0, POSIX_FADV_DONTNEED);
	return 1;
}

int
files_settle(struct journal *j, struct found *f, struct err *e)
{
	AUTO(fd) int keys = -1;
	static const char *const names[] = { "log.key", "epoch.key",
	    "root.key", "recovery.key" };
	int wal;

	if ((f->db = settle_file(j->homefd, "journal.db", e)) < 0 ||
	    (wal = settle_file(j->homefd, "journal.db-wal", e)) < 0 ||
	    (f->head = settle_file(j->homefd, "head", e)) < 0)
		return -1;
	keys = openat(j->homefd, "keys",
	    O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
	f->keys = keys >= 0;
	for (size_t i = 0; f->keys && i < 4; i++)
		if (settle_file(keys, names[i], e) < 0)
			return -1;
	return 0;
}
