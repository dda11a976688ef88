/* SPDX-License-Identifier: ISC */
#include <errno.h>
#include <fcntl.h>
#include <linux/openat2.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mount.h>
#include <sys/stat.h>
#include <sys/sysmacros.h>
#include <unistd.h>

#include "base/fd.h"
#include "sandbox/mounts.h"
#include "sandbox/tree.h"
#include "sandbox/worktree.h"

#define SHOWN_ATTR	(MOUNT_ATTR_RDONLY | MOUNT_ATTR_NOSUID | MOUNT_ATTR_NODEV)
#define LAYER_ATTR	(MOUNT_ATTR_NOSUID | MOUNT_ATTR_NODEV)
#define DEVICE_ATTR	(MOUNT_ATTR_NOSUID | MOUNT_ATTR_NOEXEC)

enum { FILE_COPY_MAX = 512 << 10 };	/* bytes; above, it is a mount */

enum row_kind { ROW_SYSTEM, ROW_DEVICE, ROW_SETTING };

static const struct row {
	enum row_kind	 kind;
	const char	*path;
	unsigned	 major, minor;
} rows[] = {
#define SYSTEM(path)			{ ROW_SYSTEM, path, 0, 0 },
#define DEVICE(path, major, minor)	{ ROW_DEVICE, path, major, minor },
#define SETTING(path)			{ ROW_SETTING, path, 0, 0 },
#include "sandbox/mounts.def"
};

void
mounts_init(struct mounts *m)
{
	*m = (struct mounts){ .n = 0 };
	for (int i = 0; i < LAYERS_MAX; i++)
		m->layers[i] = (struct layers){ NULL, -1, -1 };
}

void
mounts_done(struct mounts *m)
{
	for (size_t i = 0; i < m->n; i++) {
		auto_fd(&m->m[i].fd);
		free(m->m[i].text);
	}
	for (int i = 0; i < LAYERS_MAX; i++) {
		auto_fd(&m->layers[i].lower);
		auto_fd(&m->layers[i].state);
	}
	free(m->common);
	mounts_init(m);
}

static int
add(struct mounts *m, enum mount_kind kind, const char *to, int fd, char *text,
    struct err *e)
{
	if (m->n == MOUNTS_MAX) {
		auto_fd(&fd);
		free(text);
		return err_set(e, ERR_LIMIT, "more than %d trees", MOUNTS_MAX);
	}
	m->m[m->n++] = (struct mount){ kind, fd, to, text };
	return 0;
}

static int
add_tree(struct mounts *m, enum mount_kind kind, const char *path,
    uint64_t attr, struct err *e)
{
	int fd;

	if (tree_open(path, attr, -1, &fd, e))
		return -1;
	return add(m, kind, path, fd, NULL, e);
}

static int
add_link(struct mounts *m, const char *path, struct err *e)
{
	char text[PATH_BYTES_MAX + 1];
	ssize_t n = readlink(path, text, sizeof(text) - 1);
	char *own;

	if (n < 0)
		return err_set(e, ERR_SYS, "%s", path);
	if ((own = strndup(text, (size_t)n)) == NULL)
		return err_set(e, ERR_NOMEM, "%s", path);
	return add(m, MOUNT_LINK, path, -1, own, e);
}

static int
add_row(struct mounts *m, const struct row *r, struct err *e)
{
	struct stat st;
	int fd;

	if (lstat(r->path, &st) != 0)
		return errno == ENOENT || errno == EACCES ? 0 :
		    err_set(e, ERR_SYS, "%s", r->path);
	if (S_ISLNK(st.st_mode))
		return add_link(m, r->path, e);
	if (r->kind == ROW_DEVICE) {
		/* A container may have put something else there. */
		if (!S_ISCHR(st.st_mode) || major(st.st_rdev) != r->major ||
		    minor(st.st_rdev) != r->minor)
			return err_say(e, ERR_SANDBOX,
			    "%s is not the device it should be", r->path);
		return add_tree(m, MOUNT_DEVICE, r->path, DEVICE_ATTR, e);
	}
	if (S_ISDIR(st.st_mode))
		return add_tree(m, MOUNT_SHOWN, r->path, SHOWN_ATTR, e);
	if (!S_ISREG(st.st_mode))
		return 0;
	/* Copying a small file is cheaper than mounting it. */
	if (st.st_size > FILE_COPY_MAX)
		return add_tree(m, MOUNT_SHOWN, r->path, SHOWN_ATTR, e);
	if ((fd = open(r->path, O_RDONLY | O_CLOEXEC | O_NOFOLLOW)) < 0)
		return errno == EACCES ? 0 : err_set(e, ERR_SYS, "%s", r->path);
	return add(m, MOUNT_FILE, r->path, fd, NULL, e);
}

/* A path that somebody asked to have shown. */
static int
add_asked(struct mounts *m, const char *path, struct err *e)
{
	struct stat st;

	if (lstat(path, &st) != 0)
		return err_set(e, ERR_SYS, "%s", path);
	if (S_ISDIR(st.st_mode))
		return add_tree(m, MOUNT_LAYER, path, LAYER_ATTR, e);
	if (S_ISREG(st.st_mode))
		return add_tree(m, MOUNT_SHOWN, path, SHOWN_ATTR, e);
	return err_say(e, ERR_SANDBOX,
	    "%s is neither a directory nor a file", path);
}

/* Whose files are shown under the agent's name; most often one owner's. */
struct owner {
	uid_t	uid;
	gid_t	gid;
	int	map;		/* ns_idmap(), or -1 */
};

static int
map_owner(const char *path, const struct ns_ids *ids, struct owner *o,
    struct err *e)
{
	struct stat st;

	if (lstat(path, &st) != 0)
		return err_set(e, ERR_SYS, "%s", path);
	if (o->map >= 0 && o->uid == st.st_uid && o->gid == st.st_gid)
		return 0;
	auto_fd(&o->map);
	*o = (struct owner){ st.st_uid, st.st_gid, -1 };
	return ns_idmap(o->uid, o->gid, ids, &o->map, e);
}

/* A layer of the workspace, under the agent's name if it is another's. */
static int
open_layer(const char *path, const struct ns_ids *ids, struct owner *o,
    int *fd, struct stat *st, struct err *e)
{
	AUTO(fd) int t = -1;

	if (ids->foreign && map_owner(path, ids, o, e))
		return -1;
	if (tree_open(path, LAYER_ATTR, o->map, &t, e))
		return -1;
	if (fstat(t, st) != 0)
		return err_set(e, ERR_SYS, "%s", path);
	if (!S_ISDIR(st->st_mode))
		return err_say(e, ERR_SANDBOX, "%s is not a directory", path);
	*fd = TAKE_FD(t);
	return 0;
}

/* ${state} with upper and work in it; the root of the overlay is the upper
 * one's, so it gets the mode of the host's. */
static int
make_state(const char *state, mode_t mode, struct err *e)
{
	static const char *const names[] = { "upper", "work" };
	AUTO(fd) int dir = -1;

	if (mkdir(state, 0700) != 0 && errno != EEXIST)
		return err_set(e, ERR_SYS, "%s", state);
	if (fd_openat2(AT_FDCWD, state, O_RDONLY | O_DIRECTORY, 0,
	    RESOLVE_NO_SYMLINKS, &dir, e))
		return -1;
	for (int i = 0; i < 2; i++)
		if (mkdirat(dir, names[i], 0700) != 0 && errno != EEXIST)
			return err_set(e, ERR_SYS, "%s/%s", state, names[i]);
	if (fchmodat(dir, names[0], mode & 0777, 0) != 0)
		return err_set(e, ERR_SYS, "%s/upper", state);
	return 0;
}

static int
open_layers(struct layers *y, const char *to, const char *state,
    const struct ns_ids *ids, struct stat *st, struct err *e)
{
	struct owner o = { .map = -1 };
	struct stat own;
	int r = open_layer(to, ids, &o, &y->lower, st, e);

	y->to = to;
	if (r == 0 && state != NULL)
		r = make_state(state, st->st_mode, e) ||
		    open_layer(state, ids, &o, &y->state, &own, e) ? -1 : 0;
	auto_fd(&o.map);
	return r;
}

int
mounts_open(struct mounts *m, const struct launch *l, const struct ns_ids *ids,
    struct err *e)
{
	const int staged = l->mode == MODE_STAGED;
	char git[PATH_BYTES_MAX + 1];
	struct stat st;

	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++)
		if (add_row(m, &rows[i], e))
			return -1;
	for (size_t i = 0; i < l->nro; i++)
		if (add_asked(m, l->ro[i], e))
			return err_wrap(e, "read-only path");
	if (open_layers(&m->layers[0], l->workspace, staged ? l->state : NULL,
	    ids, &st, e))
		return err_wrap(e, "workspace");
	/* The path may have come to mean another directory since consent. */
	if (st.st_dev != l->workspace_dev || st.st_ino != l->workspace_ino)
		return err_say(e, ERR_STALE,
		    "%s is no longer the directory that was exposed",
		    l->workspace);
	if (worktree_common(l->workspace, &m->common, e))
		return -1;
	if (m->common == NULL)
		return 0;
	(void)snprintf(git, sizeof(git), "%s/" MOUNTS_COMMON, l->state);
	if (open_layers(&m->layers[1], m->common, staged ? git : NULL, ids,
	    &st, e))
		return err_wrap(e, "repository of the worktree");
	return 0;
}
