/* SPDX-License-Identifier: ISC */
/*
 * Looking at one name of a tree that somebody else filled.  The name is opened
 * once, with O_PATH, which opens nothing; everything else goes through that
 * descriptor, so a name that is exchanged meanwhile cannot make us open a FIFO
 * or a device, or mix two files into one answer.
 */
#include <sys/xattr.h>

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include <linux/limits.h>

#include "base/fd.h"

#include "sandbox/changes_impl.h"

enum {
	READ_BYTES	= 128 << 10,
	FD_PATH_MAX	= 32
};

static char *
fd_path(int fd, char out[FD_PATH_MAX])
{
	(void)snprintf(out, FD_PATH_MAX, "/proc/self/fd/%d", fd);
	return out;
}

int
changes_dir(int root, struct str path, int flags, int *fd, struct err *e)
{
	char name[PATH_BYTES_MAX + 1];

	if (path.n > PATH_BYTES_MAX)
		return err_set(e, ERR_TOOBIG, "a path of the workspace");
	if (path.n == 0)
		return fd_openat2(root, ".", flags | O_DIRECTORY | O_NOFOLLOW, 0,
		    CHANGES_RESOLVE, fd, e);
	memcpy(name, path.p, path.n);
	name[path.n] = '\0';
	return fd_openat2(root, name, flags | O_DIRECTORY | O_NOFOLLOW, 0,
	    CHANGES_RESOLVE, fd, e);
}

int
look_open(int dirfd, const char *name, struct stat *st, int *out, struct err *e)
{
	AUTO(fd) int at = -1, fd = -1;
	char path[FD_PATH_MAX];

	if ((at = openat(dirfd, name, O_PATH | O_NOFOLLOW | O_CLOEXEC)) < 0 ||
	    fstat(at, st) != 0)
		return err_set(e, errno == ENOENT ? ERR_STALE : ERR_SYS,
		    "open a file");
	if (!S_ISREG(st->st_mode))
		return err_say(e, ERR_STALE, "it is no longer a regular file");
	if ((fd = open(fd_path(at, path), O_RDONLY | O_CLOEXEC)) < 0)
		return err_set(e, ERR_SYS, "open a file");
	*out = TAKE_FD(fd);
	return 0;
}

/* SHA-256 of what ${at}, an O_PATH descriptor of a file, holds. */
static int
look_content(int at, struct look *l, struct err *e)
{
	AUTO(fd) int fd = -1;
	AUTO(mem) uint8_t *chunk = NULL;
	char path[FD_PATH_MAX];
	struct sha256 s;
	ssize_t n;

	if (l->room != NULL && l->st.st_size > *l->room) {
		l->notes |= CHANGE_NOTE_HUGE;
		return 0;
	}
	if ((fd = open(fd_path(at, path), O_RDONLY | O_CLOEXEC)) < 0) {
		if (errno != EACCES && errno != EPERM)
			return err_set(e, ERR_SYS, "open a file");
		l->notes |= CHANGE_NOTE_UNREADABLE;
		return 0;
	}
	if ((chunk = malloc(READ_BYTES)) == NULL)
		return err_set(e, ERR_NOMEM, "read a file");
	sha256_init(&s);
	l->side.size = 0;
	while ((n = read(fd, chunk, READ_BYTES)) != 0) {
		if (n < 0 && errno == EINTR)
			continue;
		if (n < 0)
			return err_set(e, ERR_SYS, "read a file");
		sha256_update(&s, chunk, (size_t)n);
		l->side.size += n;
		/* It grows while we read. */
		if (l->room != NULL && (*l->room -= n) < 0) {
			*l->room = 0;
			l->notes |= CHANGE_NOTE_HUGE;
			return 0;
		}
	}
	sha256_final(&s, l->side.digest);
	return 0;
}

/* The overlay's own marks; what it does not write itself was planted. */
static void
look_mark(struct look *l, const char *mark, const char *value, ssize_t n)
{
	static const char *const own[] = {
		"origin", "impure", "nlink", "upper", "uuid", "protattr",
	};

	if (strcmp(mark, "opaque") == 0 && l->side.type == CHANGE_TYPE_DIR) {
		/* "x": only says that xattr whiteouts lie inside. */
		l->opaque = n == 1 && value[0] == 'y';
		return;
	}
	if (strcmp(mark, "whiteout") == 0 && l->side.type == CHANGE_TYPE_FILE &&
	    l->st.st_size == 0) {
		l->whiteout = 1;
		return;
	}
	for (size_t i = 0; i < sizeof(own) / sizeof(*own); i++)
		if (strcmp(mark, own[i]) == 0)
			return;
	l->notes |= CHANGE_NOTE_PLANTED;
}

/* Labels that the host gives by itself say nothing about the agent. */
static int
is_label(const char *name)
{
	return strcmp(name, "security.selinux") == 0 ||
	    strcmp(name, "security.ima") == 0 ||
	    strcmp(name, "security.evm") == 0;
}

static int
look_xattr(int at, struct look *l, struct err *e)
{
	static const char overlay[] = "user.overlay.";
	AUTO(mem) char *names = NULL;
	AUTO(mem) char *value = NULL;
	char path[FD_PATH_MAX];
	uint8_t one[SHA256_BYTES];
	struct digest d;
	ssize_t n, v;

	(void)fd_path(at, path);
	if ((n = listxattr(path, NULL, 0)) == 0)
		return 0;
	if (n < 0)
		return errno == ENOTSUP ? 0 :
		    err_set(e, ERR_SYS, "list attributes");
	if ((names = malloc(XATTR_LIST_MAX + 1)) == NULL ||
	    (value = malloc(XATTR_SIZE_MAX)) == NULL)
		return err_set(e, ERR_NOMEM, "attributes");
	if ((n = listxattr(path, names, XATTR_LIST_MAX)) < 0)
		return err_set(e, ERR_SYS, "list attributes");
	names[n] = '\0';
	for (const char *p = names; p < names + n; p += strlen(p) + 1) {
		v = getxattr(path, p, value, XATTR_SIZE_MAX);
		if (strncmp(p, overlay, sizeof(overlay) - 1) == 0) {
			look_mark(l, p + sizeof(overlay) - 1, value, v);
			continue;
		}
		if (is_label(p))
			continue;
		/* The order is the file system's: add them up instead. */
		digest_init(&d, "xattr");
		digest_str(&d, str_of(p));
		digest_bytes(&d, bytes_of(value, v > 0 ? (size_t)v : 0));
		digest_final(&d, one);
		for (size_t i = 0; i < sizeof(one); i++)
			l->xattr[i] ^= one[i];
	}
	return 0;
}

static int
look_link(int at, struct look *l, struct err *e)
{
	ssize_t n = readlinkat(at, "", l->target_buf, sizeof(l->target_buf));

	if (n < 0)
		return err_set(e, ERR_SYS, "read a link");
	if (n == 0 || (size_t)n >= sizeof(l->target_buf))
		return err_set(e, ERR_TOOBIG, "the target of a link");
	l->target_buf[n] = '\0';
	l->side.target = (struct str){ l->target_buf, (size_t)n };
	return 0;
}

static uint8_t
type_of(mode_t mode)
{
	switch (mode & S_IFMT) {
	case S_IFREG:	return CHANGE_TYPE_FILE;
	case S_IFDIR:	return CHANGE_TYPE_DIR;
	case S_IFLNK:	return CHANGE_TYPE_SYMLINK;
	case S_IFIFO:	return CHANGE_TYPE_FIFO;
	case S_IFSOCK:	return CHANGE_TYPE_SOCKET;
	default:	return CHANGE_TYPE_DEVICE;
	}
}

int
look_at(int dirfd, const char *name, unsigned want, struct look *l,
    struct err *e)
{
	AUTO(fd) int at = -1;
	struct change_side *s = &l->side;

	memset(l, 0, offsetof(struct look, target_buf));
	s->target = STR("");
	if ((at = openat(dirfd, name, O_PATH | O_NOFOLLOW | O_CLOEXEC)) < 0)
		return errno == ENOENT ? 0 : err_set(e, ERR_SYS, "look");
	if (fstat(at, &l->st) != 0)
		return err_set(e, ERR_SYS, "stat");
	s->type = type_of(l->st.st_mode);
	if (s->type == CHANGE_TYPE_FILE) {
		s->mode = (uint16_t)(l->st.st_mode & 0777);
		s->size = l->st.st_size;
		if ((l->st.st_mode & (S_ISUID | S_ISGID)) != 0)
			l->notes |= CHANGE_NOTE_SETID;
	} else if (s->type == CHANGE_TYPE_DIR)
		s->mode = (uint16_t)(l->st.st_mode & 01777);
	else if (s->type == CHANGE_TYPE_DEVICE && S_ISCHR(l->st.st_mode) &&
	    l->st.st_rdev == 0)
		l->whiteout = 1;

	if (s->type == CHANGE_TYPE_SYMLINK)
		return look_link(at, l, e);
	if ((want & LOOK_XATTR) != 0 &&
	    (s->type == CHANGE_TYPE_FILE || s->type == CHANGE_TYPE_DIR) &&
	    look_xattr(at, l, e))
		return -1;
	if ((want & LOOK_DIGEST) != 0 && s->type == CHANGE_TYPE_FILE &&
	    !l->whiteout)
		return look_content(at, l, e);
	return 0;
}
