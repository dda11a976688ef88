/* SPDX-License-Identifier: ISC */
/* tools.c - directories of tools on PATH that an agent may read. */
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "cli/surroundings.h"

static const char *const credentials[] = {
#define CREDENTIAL(name) name,
#include "cli/tools.def"
};

static const struct {
	const char	*on_path;
	const char	*shown;
} tools[] = {
#define TOOL(on_path, shown) { on_path, shown },
#include "cli/tools.def"
};

#define COUNT(a) (sizeof(a) / sizeof((a)[0]))

/* 1 if ${path} is ${dir} or lies below it. */
static int
below(const char *path, const char *dir)
{
	size_t n = strlen(dir);

	return strncmp(path, dir, n) == 0 &&
	    (path[n] == '\0' || path[n] == '/');
}

void
shown_done(struct shown *s)
{
	for (size_t i = 0; i < s->n; i++)
		free(s->v[i]);
	s->n = 0;
}

int
shown_has(const struct shown *s, const char *path)
{
	for (size_t i = 0; i < s->n; i++)
		if (below(path, s->v[i]))
			return 1;
	return 0;
}

int
shown_add(struct shown *s, const char *path, struct err *e)
{
	AUTO(mem) char *real = realpath(path, NULL);
	size_t kept = 0;

	if (real == NULL)
		return err_set(e, ERR_SYS, "%s", path);
	if (shown_has(s, real))
		return 0;
	/* What lies below it is shown with it. */
	for (size_t i = 0; i < s->n; i++)
		if (below(s->v[i], real))
			free(s->v[i]);
		else
			s->v[kept++] = s->v[i];
	s->n = kept;
	if (s->n == SHOWN_MAX)
		return err_say(e, ERR_LIMIT, "more than %d directories to show",
		    SHOWN_MAX);
	s->v[s->n++] = TAKE(real);
	return 0;
}

int
tools_safe(const char *dir)
{
	AUTO(fd) int fd = open(dir, O_PATH | O_DIRECTORY | O_CLOEXEC);

	if (fd < 0)
		return 0;
	for (size_t i = 0; i < COUNT(credentials); i++)
		if (faccessat(fd, credentials[i], F_OK, AT_SYMLINK_NOFOLLOW) == 0)
			return 0;
	return 1;
}

/* Is one entry of the search path ${list} at or below ${dir}? */
static int
on_path(const char *list, const char *dir)
{
	while (list != NULL && *list != '\0') {
		size_t n = strcspn(list, ":");
		char entry[PATH_BYTES_MAX + 1];

		if (n <= PATH_BYTES_MAX) {
			memcpy(entry, list, n);
			entry[n] = '\0';
			if (below(entry, dir))
				return 1;
		}
		list += n;
		list += *list == ':';
	}
	return 0;
}

static int
is_dir(const char *path)
{
	struct stat st;

	return stat(path, &st) == 0 && S_ISDIR(st.st_mode);
}

/*
 * What a link in ~/.local/bin leads to, if it lies in the home directory: for
 * ENV/bin/TOOL the whole ENV, else the directory it is in; never the home
 * directory itself or one of its top directories.
 */
static int
show_target(const struct home *h, const char *target, struct shown *s,
    struct err *e)
{
	char dir[PATH_BYTES_MAX + 1];
	size_t home = strlen(h->user);
	char *slash;

	if (!below(target, h->user) || shown_has(s, target) ||
	    (size_t)snprintf(dir, sizeof(dir), "%s", target) >= sizeof(dir) ||
	    (slash = strrchr(dir, '/')) == NULL)
		return 0;
	*slash = '\0';
	if ((slash = strrchr(dir, '/')) != NULL && strcmp(slash, "/bin") == 0)
		*slash = '\0';
	if (strlen(dir) <= home + 1 || strchr(dir + home + 1, '/') == NULL)
		return 0;
	if (!is_dir(dir) || !tools_safe(dir))
		return 0;
	return shown_add(s, dir, e);
}

static int
follow_links(const struct home *h, const char *bin, struct shown *s,
    struct err *e)
{
	DIR *d = opendir(bin);
	const struct dirent *entry;
	int rc = 0;

	while (d != NULL && rc == 0 && (entry = readdir(d)) != NULL) {
		char path[PATH_BYTES_MAX + 1];
		AUTO(mem) char *real = NULL;
		struct stat st;

		if (fstatat(dirfd(d), entry->d_name, &st,
		    AT_SYMLINK_NOFOLLOW) != 0 || !S_ISLNK(st.st_mode) ||
		    (size_t)snprintf(path, sizeof(path), "%s/%s", bin,
		    entry->d_name) >= sizeof(path))
			continue;
		/* A dangling link needs nothing. */
		if ((real = realpath(path, NULL)) != NULL)
			rc = show_target(h, real, s, e);
	}
	if (d != NULL)
		(void)closedir(d);
	return rc;
}

int
tools_find(const struct home *h, const char *path, struct shown *s,
    struct err *e)
{
	const char *home = getenv("HOME");

	if (h->user[0] == '\0' || strcmp(h->user, "/") == 0)
		return 0;
	for (size_t i = 0; i < COUNT(tools); i++) {
		char at[PATH_BYTES_MAX + 1], shown[PATH_BYTES_MAX + 1];

		if ((size_t)snprintf(at, sizeof(at), "%s/%s", home != NULL ?
		    home : h->user, tools[i].on_path) >= sizeof(at) ||
		    (size_t)snprintf(shown, sizeof(shown), "%s/%s", h->user,
		    tools[i].shown) >= sizeof(shown))
			continue;
		if (!on_path(path, at) || !is_dir(shown) || !tools_safe(shown))
			continue;
		if (shown_add(s, shown, e))
			return -1;
		if (strcmp(tools[i].shown, ".local/bin") == 0 &&
		    follow_links(h, shown, s, e))
			return -1;
	}
	return 0;
}
