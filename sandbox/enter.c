/* SPDX-License-Identifier: ISC */
/*
 * enter.c - the second half of mounts.h: an empty root, and into it.
 *
 * From the moment the old root is let go, every path means the new one, so
 * that no link in a directory of the agent can lead anything here astray.
 */
#include <errno.h>
#include <fcntl.h>
#include <linux/openat2.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mount.h>
#include <sys/sendfile.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "base/fd.h"
#include "sandbox/etc.h"
#include "sandbox/mounts.h"
#include "sandbox/overlay.h"
#include "sandbox/plan.h"
#include "sandbox/tree.h"

/* Any directory of the machine will do: what is mounted on it is seen by
 * nobody but this process, and only until pivot_root(2). */
#define DOORSTEP	"/tmp"

#define ROOT_ATTR	(MOUNT_ATTR_NOSUID | MOUNT_ATTR_NODEV)

/* Make ${path} and what leads to it, through no link. */
static int
make_dirs(const char *path, struct err *e)
{
	char part[PATH_BYTES_MAX + 1];
	AUTO(fd) int fd = -1;

	if (strlen(path) > PATH_BYTES_MAX)
		return err_set(e, ERR_TOOBIG, "%s", path);
	strcpy(part, path);
	for (char *s = part + 1; (s = strchr(s, '/')) != NULL; *s++ = '/') {
		*s = '\0';
		(void)mkdir(part, 0755);
	}
	(void)mkdir(part, 0755);
	if (fd_openat2(AT_FDCWD, path, O_PATH | O_DIRECTORY, 0,
	    RESOLVE_NO_SYMLINKS, &fd, e))
		return err_wrap(e, "place for %s", path);
	return 0;
}

/* Make what leads to ${path}, and at its place a file, empty or of ${from}. */
static int
make_file(const char *path, int from, struct err *e)
{
	char dir[PATH_BYTES_MAX + 1];
	AUTO(fd) int fd = -1;
	ssize_t n;

	(void)snprintf(dir, sizeof(dir), "%s", path);
	*strrchr(dir, '/') = '\0';
	if (dir[0] != '\0' && make_dirs(dir, e))
		return -1;
	fd = open(path, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC | O_NOFOLLOW,
	    0644);
	if (fd < 0)
		return errno == EEXIST && from < 0 ? 0 :
		    err_set(e, ERR_SYS, "%s", path);
	if (from < 0)
		return 0;
	while ((n = sendfile(fd, from, NULL, 1 << 20)) > 0)
		continue;
	return n < 0 ? err_set(e, ERR_SYS, "%s", path) : 0;
}

static int
step_in(struct err *e)
{
	static const struct tree_option opt[] = {
		{ "size", "16m" }, { "nr_inodes", "16k" }, { "mode", "0755" }
	};
	AUTO(fd) int root = -1;

	if (tree_new("tmpfs", ROOT_ATTR, opt, 3, &root, e) ||
	    tree_put(root, DOORSTEP, e))
		return err_wrap(e, "new root");
	/* The old root comes to lie on top of the new one, at ".": names are
	 * looked up in the new root already, proc is still in sight. */
	if (fchdir(root) != 0 || syscall(SYS_pivot_root, ".", ".") != 0)
		return err_set(e, ERR_SYS, "pivot_root");
	return 0;
}

static int
leave_old(struct err *e)
{
	if (umount2(".", MNT_DETACH) != 0 || chdir("/") != 0)
		return err_set(e, ERR_SYS, "let go of the old root");
	return 0;
}

/* A new proc is only to be had while a whole old one can be seen. */
static int
put_proc(struct err *e)
{
	AUTO(fd) int fd = -1;

	if (tree_new("proc", ROOT_ATTR | MOUNT_ATTR_NOEXEC, NULL, 0, &fd, e)) {
		if (e->sys != EPERM)
			return -1;
		(void)err_say(e, ERR_SANDBOX, "a new /proc cannot be mounted");
		(void)err_why(e, "parts of /proc are hidden here, as in a "
		    "container, and the kernel keeps them hidden");
		return err_fix(e, "run the container with an unmasked /proc, "
		    "or run glove on the machine itself");
	}
	return make_dirs("/proc", e) || tree_put(fd, "/proc", e) ? -1 : 0;
}

static int
put_shown(const struct mount *m, struct err *e)
{
	struct stat st;

	switch (m->kind) {
	case MOUNT_LINK:
		if (symlink(m->text, m->to) != 0 && errno != EEXIST)
			return err_set(e, ERR_SYS, "%s", m->to);
		return 0;
	case MOUNT_FILE:
		return make_file(m->to, m->fd, e);
	case MOUNT_LAYER:
		return make_dirs(m->to, e) ||
		    overlay_put(m->fd, -1, m->to, e) ? -1 : 0;
	case MOUNT_DEVICE:
	case MOUNT_SHOWN:
		break;
	}
	if (fstat(m->fd, &st) != 0)
		return err_set(e, ERR_SYS, "%s", m->to);
	if ((S_ISDIR(st.st_mode) ? make_dirs(m->to, e) :
	    make_file(m->to, -1, e)))
		return -1;
	return tree_put(m->fd, m->to, e);
}

static int
put_planned(struct err *e)
{
	for (size_t i = 0; i < plan_new_count; i++) {
		const struct plan_new *p = &plan_new[i];
		AUTO(fd) int fd = -1;

		if (tree_new(p->type, p->attr, p->options, p->noptions, &fd,
		    e) || make_dirs(p->to, e) || tree_put(fd, p->to, e))
			return -1;
	}
	return 0;
}

static int
put_links(struct err *e)
{
	static const char *const links[][2] = {
		{ "pts/ptmx", "/dev/ptmx" },
		{ "/proc/self/fd", "/dev/fd" },
		{ "/proc/self/fd/0", "/dev/stdin" },
		{ "/proc/self/fd/1", "/dev/stdout" },
		{ "/proc/self/fd/2", "/dev/stderr" },
		{ "/proc/self/mounts", "/etc/mtab" },
		{ "../tmp", "/var/tmp" },
	};

	if (make_dirs("/run", e) || make_dirs("/var", e) || make_dirs("/etc", e))
		return -1;
	for (size_t i = 0; i < sizeof(links) / sizeof(links[0]); i++)
		if (symlink(links[i][0], links[i][1]) != 0)
			return err_set(e, ERR_SYS, "%s", links[i][1]);
	return 0;
}

/* The limits on namespaces stand where the agent must not write; and with them
 * no tree can be taken any more, since that makes a namespace too. */
static int
seal_proc(struct err *e)
{
	const uint64_t attr = MOUNT_ATTR_RDONLY | MOUNT_ATTR_NOSUID |
	    MOUNT_ATTR_NODEV | MOUNT_ATTR_NOEXEC;
	int fd[PLAN_COVERED], r = 0;

	for (int i = 0; i < PLAN_COVERED; i++) {
		fd[i] = -1;
		if (r == 0 && access(plan_covered[i], F_OK) == 0)
			r = tree_open(plan_covered[i], attr, -1, &fd[i], e);
	}
	if (r == 0)
		r = ns_forbid(e);
	for (int i = 0; i < PLAN_COVERED; i++) {
		if (r == 0 && fd[i] >= 0)
			r = tree_put(fd[i], plan_covered[i], e);
		auto_fd(&fd[i]);
	}
	return r;
}

int
mounts_enter(struct mounts *m, const struct launch *l, struct err *e)
{
	if (step_in(e) || put_proc(e) || leave_old(e) || put_planned(e))
		return -1;
	for (size_t i = 0; i < m->n; i++)
		if (put_shown(&m->m[i], e))
			return -1;
	if (put_links(e) || etc_write(l, e))
		return -1;
	/* The workspace may lie below /tmp, the home, or a tree that is
	 * shown, so it comes after all of them. */
	for (int i = 0; i < LAYERS_MAX; i++) {
		const struct layers *y = &m->layers[i];

		if (y->to != NULL && (make_dirs(y->to, e) ||
		    overlay_put(y->lower, y->state, y->to, e)))
			return -1;
	}
	return seal_proc(e) || tree_set("/", MOUNT_ATTR_RDONLY, e) ? -1 : 0;
}
