/* SPDX-License-Identifier: ISC */
/* gitname.c - who git says that the owner is. */
#include <fcntl.h>
#include <signal.h>
#include <spawn.h>
#include <string.h>
#include <sys/wait.h>

#include "base/fd.h"
#include "cli/surroundings.h"

extern char **environ;

/* git reads its configuration and prints one value; no hook, no pager. */
static int
spawn_git(const char *key, int out, pid_t *pid)
{
	char git[] = "git", config[] = "config", get[] = "--get";
	char *argv[] = { git, config, get, NULL, NULL };
	AUTO(mem) char *copy = strdup(key);
	posix_spawn_file_actions_t fa;
	posix_spawnattr_t attr;
	sigset_t reset;
	int rc;

	if (copy == NULL || posix_spawn_file_actions_init(&fa) != 0)
		return -1;
	if (posix_spawnattr_init(&attr) != 0) {
		(void)posix_spawn_file_actions_destroy(&fa);
		return -1;
	}
	argv[3] = copy;
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

void
git_value(const char *key, struct buf *b)
{
	AUTO(fd) int in = -1;
	int p[2], status;
	struct err ignore;
	pid_t pid;

	buf_reset(b);
	if (pipe2(p, O_CLOEXEC) != 0)
		return;
	in = p[0];
	if (spawn_git(key, p[1], &pid)) {
		(void)close(p[1]);
		return;
	}
	(void)close(p[1]);
	if (fd_read_all(in, b, &ignore))
		buf_reset(b);
	while (waitpid(pid, &status, 0) < 0)
		continue;
	if (!WIFEXITED(status) || WEXITSTATUS(status) != 0)
		buf_reset(b);
	while (b->n > 0 && b->p[b->n - 1] == '\n')
		b->n--;
	if (b->n > 0 && memchr(b->p, '\n', b->n) != NULL)
		buf_reset(b);
}
