/* SPDX-License-Identifier: ISC */
#include <errno.h>
#include <fcntl.h>
#include <linux/openat2.h>
#include <string.h>
#include <sys/mount.h>
#include <unistd.h>

#include "base/fd.h"
#include "sandbox/tree.h"

int
tree_open(const char *path, uint64_t set, int idmap, int *fd, struct err *e)
{
	AUTO(fd) int at = -1;
	AUTO(fd) int t = -1;
	struct mount_attr a = { .attr_set = set };

	if (fd_openat2(AT_FDCWD, path, O_PATH, 0, RESOLVE_NO_SYMLINKS, &at, e))
		return err_wrap(e, "show");
	if ((t = open_tree(at, "", OPEN_TREE_CLONE | OPEN_TREE_CLOEXEC |
	    AT_RECURSIVE | AT_EMPTY_PATH)) < 0)
		return err_set(e, ERR_SYS, "show %s", path);
	if (idmap >= 0) {
		a.attr_set |= MOUNT_ATTR_IDMAP;
		a.userns_fd = (unsigned)idmap;
	}
	if (mount_setattr(t, "", AT_EMPTY_PATH | AT_RECURSIVE, &a,
	    sizeof(a)) != 0) {
		if (idmap >= 0 && errno == EINVAL) {
			(void)err_say(e, ERR_SANDBOX, "the file system of %s "
			    "cannot show files under another owner", path);
			return err_fix(e, "run glove as the ordinary user who "
			    "owns the files");
		}
		return err_set(e, ERR_SYS, "show %s", path);
	}
	*fd = TAKE_FD(t);
	return 0;
}

/* Why a file system would not be made, in its own words where it has some. */
static int
refused(int fs, const char *type, struct err *e)
{
	int sys = errno;
	char why[ERR_WHY_MAX];
	ssize_t n = read(fs, why, sizeof(why) - 1);

	errno = sys;
	(void)err_set(e, ERR_SYS, "new %s", type);
	if (n > 0) {
		why[n] = '\0';
		why[strcspn(why, "\n")] = '\0';
		return err_why(e, "%s", why);
	}
	return -1;
}

int
tree_new(const char *type, uint64_t set, const struct tree_option *options,
    size_t n, int *fd, struct err *e)
{
	AUTO(fd) int fs = fsopen(type, FSOPEN_CLOEXEC);
	int t;

	if (fs < 0)
		return err_set(e, ERR_SYS, "new %s", type);
	for (size_t i = 0; i < n; i++)
		if (fsconfig(fs, options[i].value != NULL ?
		    FSCONFIG_SET_STRING : FSCONFIG_SET_FLAG, options[i].key,
		    options[i].value, 0) != 0)
			return refused(fs, type, e);
	if (fsconfig(fs, FSCONFIG_CMD_CREATE, NULL, NULL, 0) != 0)
		return refused(fs, type, e);
	if ((t = fsmount(fs, FSMOUNT_CLOEXEC, (unsigned)set)) < 0)
		return refused(fs, type, e);
	*fd = t;
	return 0;
}

int
tree_put(int fd, const char *to, struct err *e)
{
	if (move_mount(fd, "", AT_FDCWD, to, MOVE_MOUNT_F_EMPTY_PATH) != 0)
		return err_set(e, ERR_SYS, "mount at %s", to);
	return 0;
}

int
tree_set(const char *path, uint64_t set, struct err *e)
{
	struct mount_attr a = { .attr_set = set };

	if (mount_setattr(AT_FDCWD, path, 0, &a, sizeof(a)) != 0)
		return err_set(e, ERR_SYS, "set attributes of %s", path);
	return 0;
}
