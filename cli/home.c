/* SPDX-License-Identifier: ISC */
/* home.c - the directories of this user, by the XDG rules. */
#include <sys/stat.h>

#include <pwd.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "cli/home.h"

static int
join(char *to, const char *what, const char *dir, const char *rest,
    struct err *e)
{
	if ((size_t)snprintf(to, PATH_BYTES_MAX + 1, "%s%s", dir, rest) >
	    PATH_BYTES_MAX)
		return err_say(e, ERR_CONFIG, "the path of the %s is too long",
		    what);
	return 0;
}

/* The XDG rule: a value that is not absolute counts as not set. */
static const char *
absolute(const char *name)
{
	const char *v = getenv(name);

	return v != NULL && v[0] == '/' ? v : NULL;
}

static const char *
passwd_home(void)
{
	const struct passwd *pw = getpwuid(getuid());

	return pw != NULL && pw->pw_dir != NULL && pw->pw_dir[0] == '/' ?
	    pw->pw_dir : NULL;
}

/* Empty if there is none; it need not exist: nothing below it is found then. */
static int
user_home(char *to, struct err *e)
{
	const char *dir = absolute("HOME");
	AUTO(mem) char *real = NULL;

	if (dir == NULL && (dir = passwd_home()) == NULL)
		return 0;
	real = realpath(dir, NULL);
	return join(to, "home directory", real != NULL ? real : dir, "", e);
}

static int
homeless(struct err *e)
{
	(void)err_say(e, ERR_CONFIG, "user %d has no home directory",
	    (int)getuid());
	(void)err_why(e, "HOME is not set to an absolute path");
	return err_fix(e, "set HOME, or say where to keep things: --home DIR");
}

/*
 * The runtime directory belongs to the user's one usual state directory; any
 * other has its socket within itself, so that two can never be taken for one
 * another.
 */
static int
socket_of(struct home *h, const char *usual, struct err *e)
{
	const char *run = absolute("XDG_RUNTIME_DIR");
	struct stat st;

	if (run != NULL && usual != NULL && strcmp(h->state, usual) == 0 &&
	    stat(run, &st) == 0 && S_ISDIR(st.st_mode) &&
	    st.st_uid == getuid())
		return join(h->socket, "socket", run, "/glove/gloved.sock", e);
	return join(h->socket, "socket", h->state, "/run/gloved.sock", e);
}

static int
state_of(struct home *h, const char *flag, struct err *e)
{
	const char *xdg = absolute("XDG_STATE_HOME");
	AUTO(mem) char *cwd = NULL;

	if (flag != NULL && flag[0] == '/')
		return join(h->state, "state directory", flag, "", e);
	if (flag != NULL) {
		char rest[PATH_BYTES_MAX + 1];

		if ((cwd = getcwd(NULL, 0)) == NULL)
			return err_set(e, ERR_SYS, "current directory");
		return join(rest, "state directory", "/", flag, e) ||
		    join(h->state, "state directory", cwd, rest, e) ? -1 : 0;
	}
	if (xdg != NULL)
		return join(h->state, "state directory", xdg, "/glove", e);
	if (h->user[0] == '\0')
		return homeless(e);
	return join(h->state, "state directory", h->user,
	    "/.local/state/glove", e);
}

int
home_find(const char *state, const char *socket, struct home *h, struct err *e)
{
	const char *config = absolute("XDG_CONFIG_HOME");
	const char *pw = passwd_home();
	char usual[PATH_BYTES_MAX + 1] = "";

	memset(h, 0, sizeof(*h));
	if (user_home(h->user, e))
		return -1;
	if (state_of(h, state, e))
		return -1;
	if (pw != NULL && join(usual, "state directory", pw,
	    "/.local/state/glove", e))
		return -1;
	if (config != NULL ?
	    join(h->config, "configuration", config, "/glove", e) :
	    h->user[0] != '\0' ?
	    join(h->config, "configuration", h->user, "/.config/glove", e) :
	    join(h->config, "configuration", h->state, "/config", e))
		return -1;
	if (socket != NULL)
		return join(h->socket, "socket", socket, "", e);
	return socket_of(h, pw == NULL ? NULL : usual, e);
}

int
home_spared(const struct home *h, const char *path, struct err *e)
{
	if (strcmp(path, h->user) != 0)
		return 0;
	(void)err_say(e, ERR_DENIED, "%s is not exposed", path);
	(void)err_why(e, "it is a whole home directory");
	return err_fix(e, "change to the directory of one project");
}
