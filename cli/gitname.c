/* SPDX-License-Identifier: ISC */
/* gitname.c - who git says that the owner is. */
#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <spawn.h>
#include <string.h>
#include <sys/wait.h>

#include "base/fd.h"
#include "cli/surroundings.h"

extern char **environ;

enum { GIT_OUTPUT_MAX = 4096 };

/* git reads its configuration and prints two values; no hook, no pager.  One
 * git for both: starting it costs as much as half a sandbox. */
static int
spawn_git(int out, pid_t *pid)
{
	char git[] = "git", config[] = "config", null[] = "--null";
	char get[] = "--get-regexp", which[] = "^user\\.(name|email)$";
	char *argv[] = { git, config, null, get, which, NULL };
	posix_spawn_file_actions_t fa;
	posix_spawnattr_t attr;
	sigset_t reset;
	int rc;

	if (posix_spawn_file_actions_init(&fa) != 0)
		return -1;
	if (posix_spawnattr_init(&attr) != 0) {
		(void)posix_spawn_file_actions_destroy(&fa);
		return -1;
	}
	(void)sigemptyset(&reset);
	(void)sigaddset(&reset, SIGPIPE);
	rc = posix_spawn_file_actions_addopen(&fa, 0, "/dev/null", O_RDONLY, 0) ||
	    posix_spawn_file_actions_adddup2(&fa, out, 1) ||
	    posix_spawn_file_actions_addopen(&fa, 2, "/dev/null", O_WRONLY, 0) ||
	    posix_spawnattr_setsigdefault(&attr, &reset) ||
	    posix_spawnattr_setflags(&attr, POSIX_SPAWN_SETSIGDEF) ||
	    posix_spawnp(pid, "git", &fa, &attr, argv, environ);
	(void)posix_spawnattr_destroy(&attr);
	(void)posix_spawn_file_actions_destroy(&fa);
	return rc ? -1 : 0;
}

/* Take "user.KEY\nVALUE" apart; of several the last one counts. */
static void
take(struct str entry, struct str key, struct buf *value)
{
	if (entry.n <= key.n || memcmp(entry.p, key.p, key.n) != 0 ||
	    memchr(entry.p + key.n, '\n', entry.n - key.n) != NULL)
		return;
	buf_reset(value);
	buf_put(value, entry.p + key.n, entry.n - key.n);
	if (value->failed)
		buf_reset(value);
}

void
git_identity(struct buf *name, struct buf *email)
{
	AUTO(fd) int in = -1;
	AUTO(buf) struct buf b;
	int p[2], status;
	struct err ignore;
	pid_t pid;

	buf_init(&b, GIT_OUTPUT_MAX);
	buf_reset(name);
	buf_reset(email);
	if (pipe2(p, O_CLOEXEC) != 0)
		return;
	in = p[0];
	if (spawn_git(p[1], &pid)) {
		(void)close(p[1]);
		return;
	}
	(void)close(p[1]);
	if (fd_read_all(in, &b, &ignore))
		buf_reset(&b);
	while (waitpid(pid, &status, 0) < 0)
		if (errno != EINTR)
			return;
	if (!WIFEXITED(status) || WEXITSTATUS(status) != 0)
		return;
	for (struct cur c = cur_of(buf_bytes(&b)); c.n > 0;) {
		const uint8_t *end = memchr(c.p, '\0', c.n);
		const struct bytes v = cur_take(&c, end == NULL ? c.n :
		    (size_t)(end - c.p));
		const struct str entry = { (const char *)v.p, v.n };

		take(entry, STR("user.name\n"), name);
		take(entry, STR("user.email\n"), email);
		if (end != NULL)
			(void)cur_u8(&c);
	}
}
