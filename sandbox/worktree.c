/* SPDX-License-Identifier: ISC */
#include <fcntl.h>
#include <linux/openat2.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "base/fd.h"
#include "base/limits.h"
#include "sandbox/worktree.h"

enum { POINTER_MAX = PATH_BYTES_MAX + 64 };

/* The one line of a small file, without its end; -1 if there is none such. */
static int
read_line(const char *dir, const char *name, char out[POINTER_MAX])
{
	AUTO(fd) int fd = -1;
	AUTO(buf) struct buf b;
	struct err e;
	size_t n;

	buf_init(&b, POINTER_MAX - 1);
	if (fd_openat2(AT_FDCWD, dir, O_RDONLY | O_DIRECTORY, 0,
	    RESOLVE_NO_SYMLINKS, &fd, &e) || fd_file(fd, name, &b, &e))
		return -1;
	for (n = b.n; n > 0 && (b.p[n - 1] == '\n' || b.p[n - 1] == '\r'); n--)
		continue;
	if (n == 0 || memchr(b.p, '\0', n) != NULL ||
	    memchr(b.p, '\n', n) != NULL)
		return -1;
	memcpy(out, b.p, n);
	out[n] = '\0';
	return 0;
}

static int
is_dir(const char *dir, const char *name)
{
	char path[POINTER_MAX + 16];
	struct stat st;

	(void)snprintf(path, sizeof(path), "%s/%s", dir, name);
	return lstat(path, &st) == 0 && S_ISDIR(st.st_mode);
}

/* Cut the last part off; its name, or NULL if there is none. */
static char *
cut(char *path)
{
	char *slash = strrchr(path, '/');

	if (slash == NULL || slash == path || slash[1] == '\0')
		return NULL;
	*slash = '\0';
	return slash + 1;
}

int
worktree_common(const char *workspace, char **common, struct err *e)
{
	static const char key[] = "gitdir: ";
	const size_t nkey = sizeof(key) - 1, nws = strlen(workspace);
	char line[POINTER_MAX], back[POINTER_MAX], up[POINTER_MAX];
	char want[POINTER_MAX + 8], *dir = line + nkey, *own;
	const char *name;

	*common = NULL;
	/* WORKSPACE/.git says "gitdir: COMMON/worktrees/NAME" ... */
	if (read_line(workspace, ".git", line) != 0 ||
	    strncmp(line, key, nkey) != 0 || dir[0] != '/' ||
	    strstr(dir, "/../") != NULL)
		return 0;
	/* ... which says that the workspace is its own, and that COMMON is
	 * two up, no other place. */
	(void)snprintf(want, sizeof(want), "%s/.git", workspace);
	if (read_line(dir, "gitdir", back) != 0 || strcmp(back, want) != 0 ||
	    read_line(dir, "commondir", up) != 0 || strcmp(up, "../..") != 0)
		return 0;
	if (cut(dir) == NULL || (name = cut(dir)) == NULL ||
	    strcmp(name, "worktrees") != 0 ||
	    !is_dir(dir, "objects") || !is_dir(dir, "refs"))
		return 0;
	/* Below the workspace it is in sight already. */
	if (strncmp(dir, workspace, nws) == 0 && dir[nws] == '/')
		return 0;
	if ((own = strdup(dir)) == NULL)
		return err_set(e, ERR_NOMEM, "worktree");
	*common = own;
	return 0;
}
