/* SPDX-License-Identifier: ISC */
/*
 * Removing a tree that an agent shaped: as deep as it liked, of any modes.  A
 * directory that is not empty is moved up to the top before it is emptied, so
 * depth costs no descriptors, no stack and no long paths.
 */
#include <sys/stat.h>

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "base/fd.h"

#include "sandbox/changes_impl.h"

enum { NUMBER_MAX = 40 };

struct discard {
	int		top;
	uint64_t	next;		/* a number for what is moved up */
	struct err	*e;
};

/* Open ${name}, a directory, whatever its mode; -1 with errno. */
static int
open_any(int dirfd, const char *name)
{
	AUTO(fd) int at = -1;
	char path[NUMBER_MAX];
	struct err e;
	struct stat st;
	int fd;

	if (fd_openat2(dirfd, name, O_PATH | O_DIRECTORY | O_NOFOLLOW, 0,
	    CHANGES_RESOLVE, &at, &e)) {
		errno = e.sys != 0 ? e.sys : EIO;
		return -1;
	}
	(void)snprintf(path, sizeof(path), "/proc/self/fd/%d", at);
	/* It cannot be emptied, nor moved, without all three. */
	if (fstat(at, &st) == 0 && (st.st_mode & 0700) != 0700)
		(void)chmod(path, 0700);
	fd = open(path, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	return fd;
}

/* ${name} in ${dir} is a directory: away with it, or up to the top. */
static int
move_up(struct discard *d, int dir, const char *name)
{
	char number[NUMBER_MAX];
	int fd;

	if (unlinkat(dir, name, AT_REMOVEDIR) == 0 || errno == ENOENT)
		return 0;
	if ((fd = open_any(dir, name)) < 0)
		return err_set(d->e, ERR_SYS, "open a directory to remove");
	(void)close(fd);
	for (;;) {
		(void)snprintf(number, sizeof(number), ".gone-%llu",
		    (unsigned long long)d->next++);
		if (renameat2(dir, name, d->top, number, RENAME_NOREPLACE) == 0)
			return 0;
		/* An agent may have used that name. */
		if (errno != EEXIST)
			return err_set(d->e, ERR_SYS,
			    "move a directory to remove");
	}
}

/*
 * Remove what is in ${fd}.  A directory in it is given to ${sub}; *${seen} is
 * how many names there were.
 */
static int
empty(struct discard *d, int fd,
    int (*sub)(struct discard *, int, const char *), size_t *seen)
{
	struct dirent *ent;
	DIR *dir;
	int own, rc = 0;

	*seen = 0;
	if ((own = openat(fd, ".", O_RDONLY | O_DIRECTORY | O_CLOEXEC)) < 0)
		return err_set(d->e, ERR_SYS, "open a directory to remove");
	if ((dir = fdopendir(own)) == NULL) {
		(void)close(own);
		return err_set(d->e, ERR_SYS, "read a directory to remove");
	}
	while (rc == 0 && (ent = readdir(dir)) != NULL) {
		if (strcmp(ent->d_name, ".") == 0 ||
		    strcmp(ent->d_name, "..") == 0)
			continue;
		++*seen;
		if (unlinkat(fd, ent->d_name, 0) == 0 || errno == ENOENT)
			continue;
		rc = errno == EISDIR ? sub(d, fd, ent->d_name) :
		    err_set(d->e, ERR_SYS, "remove a file");
	}
	(void)closedir(dir);
	return rc;
}

/* A directory at the top: what it holds goes or moves up, then it goes. */
static int
drop(struct discard *d, int top, const char *name)
{
	AUTO(fd) int fd = -1;
	size_t seen;

	if (unlinkat(top, name, AT_REMOVEDIR) == 0 || errno == ENOENT)
		return 0;
	if ((fd = open_any(top, name)) < 0)
		return err_set(d->e, ERR_SYS, "open a directory to remove");
	if (empty(d, fd, move_up, &seen))
		return -1;
	if (unlinkat(top, name, AT_REMOVEDIR) != 0)
		return err_set(d->e, ERR_SYS, "remove a directory");
	return 0;
}

int
changes_discard(int dirfd, const char *name, struct err *e)
{
	AUTO(fd) int top = -1;
	struct discard d = { .top = -1, .next = 0, .e = e };
	size_t seen;

	if (unlinkat(dirfd, name, AT_REMOVEDIR) == 0 || errno == ENOENT)
		return 0;
	if (errno == ENOTDIR) {
		if (unlinkat(dirfd, name, 0) == 0)
			return 0;
		return err_set(e, ERR_SYS, "remove %s", name);
	}
	if ((d.top = top = open_any(dirfd, name)) < 0)
		return err_set(e, ERR_SYS, "open %s, to remove it", name);
	/* What moved up comes with the next round. */
	do
		if (empty(&d, top, drop, &seen))
			return err_wrap(e, "%s", name);
	while (seen != 0);
	if (unlinkat(dirfd, name, AT_REMOVEDIR) != 0)
		return err_set(e, ERR_SYS, "remove %s", name);
	return 0;
}
