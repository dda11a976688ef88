/* SPDX-License-Identifier: ISC */
/* gloved_home.c - the directories that gloved works in, and its programs. */
#include <sys/stat.h>

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "base/fd.h"
#include "base/sha256.h"
#include "base/text.h"

#include "cli/gloved_int.h"

enum { SOCKET_NAME_ROOM = 20, SUN_ROOM = 108 };

/* Ours, a directory, and nobody else may write to it. */
static int
check_dir(const char *path, int mode, struct err *e)
{
	struct stat st;

	if (lstat(path, &st))
		return err_set(e, ERR_SYS, "%s", path);
	if (!S_ISDIR(st.st_mode))
		return err_say(e, ERR_CONFIG, "%s is not a directory", path);
	if (st.st_uid != geteuid()) {
		(void)err_say(e, ERR_CONFIG, "%s belongs to user %u", path, st.st_uid);
		return err_fix(e, "give another one: --home DIR");
	}
	if (st.st_mode & 077 & (unsigned)mode) {
		(void)err_say(e, ERR_CONFIG, "%s is open to others (mode %04o)", path,
		    st.st_mode & 07777);
		return err_fix(e, "chmod 700 %s", path);
	}
	return 0;
}

/* Every missing directory on the way, each 0700. */
int
dir_make(const char *path, struct err *e)
{
	char part[DIR_ROOM];
	size_t n = strlen(path);

	if (n == 0 || path[0] != '/' || n >= sizeof(part))
		return err_say(e, ERR_CONFIG, "%s is not an absolute path", path);
	for (size_t i = 1; i <= n; i++) {
		if (path[i] != '/' && path[i] != '\0')
			continue;
		memcpy(part, path, i);
		part[i] = '\0';
		if (mkdir(part, 0700) && errno != EEXIST && errno != EROFS &&
		    errno != EACCES && errno != EISDIR)
			return err_set(e, ERR_SYS, "cannot make %s", part);
	}
	if (access(path, F_OK))
		return err_set(e, ERR_SYS, "cannot make %s", path);
	return 0;
}

int
home_prepare(struct gloved *g, struct err *e)
{
	if (dir_make(g->opt.home, e) || check_dir(g->opt.home, 077, e)) {
		/* What stands in the way of the state directory is its fault. */
		e->code = e->code == ERR_SYS ? ERR_CONFIG : e->code;
		return -1;
	}
	return fd_openat2(AT_FDCWD, g->opt.home, O_RDONLY | O_DIRECTORY, 0, 0,
	    &g->homefd, e);
}

/*
 * Supervisors listen beside the control socket.  If that is too long for a
 * socket address, in a directory of /tmp with a name that the next gloved of
 * this state directory finds again.
 */
int
attach_dir_prepare(struct gloved *g, struct err *e)
{
	const char *slash = strrchr(g->opt.socket, '/');
	uint8_t digest[SHA256_BYTES];
	char hex[2 * SHA256_BYTES + 1];
	int n;

	n = snprintf(g->attach_dir, sizeof(g->attach_dir), "%.*s/s",
	    (int)(slash - g->opt.socket), g->opt.socket);
	if (n < 0 || n + SOCKET_NAME_ROOM >= SUN_ROOM) {
		sha256_of(bytes_of_str(str_of(g->opt.home)), digest);
		(void)snprintf(g->attach_dir, sizeof(g->attach_dir),
		    "/tmp/glove-%u-%.16s", geteuid(), hex_str(BYTES(digest), hex));
	}
	if (mkdir(g->attach_dir, 0700) && errno != EEXIST)
		return err_set(e, ERR_SYS, "%s", g->attach_dir);
	return check_dir(g->attach_dir, 077, e);
}

/*
 * Beside this program, or where it is installed.  If it is in neither place,
 * starting a session says so; everything else works without it.
 */
int
program_find(const char *name, char out[DIR_ROOM], struct err *e)
{
	char self[DIR_ROOM], beside[DIR_ROOM];
	ssize_t n = readlink("/proc/self/exe", self, sizeof(self) - 1);

	if (n <= 0)
		return err_set(e, ERR_SYS, "/proc/self/exe");
	self[n] = '\0';
	*strrchr(self, '/') = '\0';
	(void)snprintf(beside, sizeof(beside), "%.4000s/%s", self, name);
	(void)snprintf(out, DIR_ROOM, "%.4000s/../libexec/glove/%s", self, name);
	if (access(beside, X_OK) == 0 || access(out, X_OK) != 0)
		memcpy(out, beside, sizeof(beside));
	return 0;
}
