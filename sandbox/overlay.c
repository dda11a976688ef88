/* SPDX-License-Identifier: ISC */
#include <errno.h>
#include <stdlib.h>
#include <sys/mount.h>
#include <sys/stat.h>
#include <unistd.h>

#include "sandbox/overlay.h"
#include "sandbox/tree.h"

#define OVERLAY_ATTR	(MOUNT_ATTR_NOSUID | MOUNT_ATTR_NODEV)
#define LOWER		"/.lower"
#define STATE		"/.state"

/* Layers are named by path, so they stand somewhere while the overlay is made.
 * The names are ours: mountinfo shows the agent no path of the host. */
static int
put_layer(int fd, const char *at, struct err *e)
{
	if (mkdir(at, 0700) != 0)
		return err_set(e, ERR_SYS, "%s", at);
	return tree_put(fd, at, e);
}

static int
drop_layer(const char *at, struct err *e)
{
	if (umount2(at, MNT_DETACH) != 0 || rmdir(at) != 0)
		return err_set(e, ERR_SYS, "%s", at);
	return 0;
}

/* An overlay that cannot be written needs a second layer: an empty one. */
static int
put_empty(const char *at, struct err *e)
{
	static const struct tree_option tiny[] = {
		{ "size", "4k" }, { "nr_inodes", "2" }, { "mode", "0755" }
	};
	AUTO(fd) int fd = -1;

	if (tree_new("tmpfs", OVERLAY_ATTR, tiny, 3, &fd, e))
		return -1;
	return put_layer(fd, at, e);
}

static int
make(int staged, int *fd, struct err *e)
{
	static const struct tree_option rw[] = {
		{ "userxattr", NULL }, { "lowerdir", LOWER },
		{ "upperdir", STATE "/upper" }, { "workdir", STATE "/work" }
	};
	static const struct tree_option ro[] = {
		{ "userxattr", NULL }, { "lowerdir", LOWER ":" STATE }
	};

	const uint64_t attr = staged ? OVERLAY_ATTR :
	    OVERLAY_ATTR | MOUNT_ATTR_RDONLY;

	if (tree_new("overlay", attr, staged ? rw : ro, staged ? 4 : 2,
	    fd, e) == 0)
		return 0;
	if (e->sys == EINVAL && e->why[0] == '\0')
		(void)err_why(e, "something is mounted below it, or its file "
		    "system cannot be the lower layer of an overlay");
	e->code = ERR_SANDBOX;
	return -1;
}

int
overlay_put(int lower, int state, const char *to, struct err *e)
{
	AUTO(fd) int fd = -1;

	if (put_layer(lower, LOWER, e) ||
	    (state >= 0 ? put_layer(state, STATE, e) : put_empty(STATE, e)) ||
	    make(state >= 0, &fd, e) ||
	    tree_put(fd, to, e) ||
	    drop_layer(LOWER, e) ||
	    drop_layer(STATE, e))
		return err_wrap(e, "%s", to);
	return 0;
}
