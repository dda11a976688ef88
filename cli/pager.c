/* SPDX-License-Identifier: ISC */
#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <spawn.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "cli/pager.h"

extern char **environ;

static int
installed(const char *name)
{
	const char *p = getenv("PATH");
	char path[4096];

	while (p != NULL && *p != '\0') {
		size_t n = strcspn(p, ":");

		if ((size_t)snprintf(path, sizeof(path), "%.*s/%s", (int)n, p,
		    name) < sizeof(path) && access(path, X_OK) == 0)
			return 1;
		p += n;
		p += *p == ':';
	}
	return 0;
}

static const char *
wanted(void)
{
	const char *p = getenv("GLOVE_PAGER");

	if (p == NULL)
		p = getenv("PAGER");
	if (p == NULL)
		return installed("less") ? "less" : NULL;
	return p[0] == '\0' || strcmp(p, "cat") == 0 ? NULL : p;
}

static int
spawn(const char *command, int in, pid_t *pid)
{
	char sh[] = "sh", flag[] = "-c";
	char *copy = strdup(command);
	char *argv[] = { sh, flag, copy, NULL };
	posix_spawn_file_actions_t fa;
	posix_spawnattr_t attr;
	sigset_t reset;
	int rc = -1;

	if (copy == NULL)
		return -1;
	(void)sigemptyset(&reset);
	(void)sigaddset(&reset, SIGPIPE);
	if (posix_spawn_file_actions_init(&fa) == 0) {
		if (posix_spawnattr_init(&attr) == 0) {
			if (posix_spawn_file_actions_adddup2(&fa, in, 0) == 0 &&
			    posix_spawnattr_setsigdefault(&attr, &reset) == 0 &&
			    posix_spawnattr_setflags(&attr,
			    POSIX_SPAWN_SETSIGDEF) == 0 &&
			    posix_spawn(pid, "/bin/sh", &fa, &attr, argv,
			    environ) == 0)
				rc = 0;
			(void)posix_spawnattr_destroy(&attr);
		}
		(void)posix_spawn_file_actions_destroy(&fa);
	}
	free(copy);
	return rc;
}

int
pager_open(int *fd, pid_t *pid)
{
	const char *command = wanted();
	int p[2];

	*pid = 0;
	*fd = -1;
	if (command == NULL || pipe2(p, O_CLOEXEC) != 0)
		return -1;
	/* Short texts need no pager, colours pass, the screen stays. */
	(void)setenv("LESS", "FRX", 0);
	if (spawn(command, p[0], pid) != 0) {
		(void)close(p[0]);
		(void)close(p[1]);
		*pid = 0;
		return -1;
	}
	(void)close(p[0]);
	*fd = p[1];
	/* Ctrl-C is for the pager. */
	(void)signal(SIGINT, SIG_IGN);
	return 0;
}

void
pager_close(int fd, pid_t pid)
{
	int status;

	if (fd >= 0)
		(void)close(fd);
	if (pid <= 0)
		return;
	while (waitpid(pid, &status, 0) < 0 && errno == EINTR)
		continue;
	(void)signal(SIGINT, SIG_DFL);
}
