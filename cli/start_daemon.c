/* SPDX-License-Identifier: ISC */
/* start_daemon.c - the private gloved, started by whoever needs it first. */
#include <sys/file.h>
#include <sys/stat.h>
#include <sys/wait.h>

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "base/clock.h"
#include "base/limits.h"

#include "cli/start_daemon.h"

enum {
	ROOM = PATH_BYTES_MAX + 64,
	LOG_MAX = 1 << 20,		/* bytes, then it begins anew */
	LINE_ROOM = 2048,
	PAUSE_NS = 20000000
};

static int
left_ms(int64_t deadline_us)
{
	int64_t left = (deadline_us - clock_now().boot_us) / 1000;

	return left < 0 ? 0 : left > INT32_MAX ? INT32_MAX : (int)left;
}

static void
pause_a_little(void)
{
	const struct timespec t = { 0, PAUSE_NS };

	(void)nanosleep(&t, NULL);
}

/* Every missing directory on the way to ${path}, each 0700. */
static int
make_dirs(const char *path, struct err *e)
{
	char part[ROOM];
	size_t n = strlen(path);

	if (n == 0 || path[0] != '/' || n >= sizeof(part))
		return err_say(e, ERR_CONFIG, "%s is not an absolute path", path);
	for (size_t i = 1; i <= n; i++) {
		if (path[i] != '/' && path[i] != '\0')
			continue;
		memcpy(part, path, i);
		part[i] = '\0';
		(void)mkdir(part, 0700);
	}
	if (access(path, W_OK | X_OK)) {
		(void)err_say(e, ERR_CONFIG, "the state directory %s cannot be used: %s",
		    path, strerror(errno));
		return err_fix(e, "mend it, or give another one: --home DIR");
	}
	return 0;
}

/* Held while one of us starts gloved; the others wait here, then connect. */
static int
lock_start(const char *home, int64_t deadline, int *out, struct err *e)
{
	AUTO(fd) int fd = -1;
	char path[ROOM];

	(void)snprintf(path, sizeof(path), "%s/start.lock", home);
	fd = open(path, O_RDWR | O_CREAT | O_CLOEXEC | O_NOFOLLOW, 0600);
	if (fd < 0)
		return err_set(e, errno == EROFS || errno == EACCES ? ERR_CONFIG :
		    ERR_SYS, "%s", path);
	while (flock(fd, LOCK_EX | LOCK_NB)) {
		if (errno != EWOULDBLOCK && errno != EINTR)
			return err_set(e, ERR_SYS, "%s", path);
		if (left_ms(deadline) == 0)
			return err_set(e, ERR_TIMEOUT, "start of gloved");
		pause_a_little();
	}
	*out = TAKE_FD(fd);
	return 0;
}

/* Beside this program, or where it is installed. */
static int
find_gloved(char out[ROOM], struct err *e)
{
	char self[ROOM];
	ssize_t n = readlink("/proc/self/exe", self, sizeof(self) - 1);

	if (n <= 0)
		return err_set(e, ERR_SYS, "/proc/self/exe");
	self[n] = '\0';
	*strrchr(self, '/') = '\0';
	(void)snprintf(out, ROOM, "%.4000s/gloved", self);
	if (access(out, X_OK) == 0)
		return 0;
	(void)snprintf(out, ROOM, "%.4000s/../libexec/glove/gloved", self);
	if (access(out, X_OK) == 0)
		return 0;
	(void)err_say(e, ERR_CONFIG, "gloved is not installed beside %s", self);
	return err_fix(e, "install Glove again: make install");
}

static int
open_log(const char *home, struct err *e)
{
	char path[ROOM], old[ROOM + 4];
	struct stat st;
	int fd;

	(void)snprintf(path, sizeof(path), "%s/gloved.log", home);
	(void)snprintf(old, sizeof(old), "%s.1", path);
	if (lstat(path, &st) == 0 && st.st_size > LOG_MAX)
		(void)rename(path, old);
	fd = open(path, O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC | O_NOFOLLOW, 0600);
	if (fd < 0)
		(void)err_set(e, errno == EROFS || errno == EACCES ? ERR_CONFIG :
		    ERR_SYS, "%s", path);
	return fd;
}

/* In the grandchild: a session of its own, three descriptors and the pipe. */
static void
become_gloved(const char *program, const char *home, const char *socket, int log,
    int ready)
{
	const struct sigaction dfl = { .sa_handler = SIG_DFL };
	char number[16];
	int null, keep;
	sigset_t none;

	(void)setsid();
	(void)sigemptyset(&none);
	for (int s = 1; s < NSIG; s++)
		(void)sigaction(s, &dfl, NULL);
	(void)sigprocmask(SIG_SETMASK, &none, NULL);
	if ((null = open("/dev/null", O_RDWR)) < 0 || chdir("/") ||
	    (log = fcntl(log, F_DUPFD, 16)) < 0 ||
	    (keep = fcntl(ready, F_DUPFD, 16)) < 0 ||
	    dup2(null, 0) < 0 || dup2(null, 1) < 0 || dup2(log, 2) < 0 ||
	    dup2(keep, 3) < 0 || close_range(4, ~0U, 0))
		_exit(127);
	(void)snprintf(number, sizeof(number), "%d", 3);
	(void)execl(program, "gloved", "--home", home, "--socket", socket,
	    "--ready-fd", number, (char *)NULL);
	_exit(127);
}

/* What gloved says of its start: "ok", or an error in four fields. */
static int
take_verdict(char *line, struct err *e)
{
	char *field[4], *rest = line;

	line[strcspn(line, "\n")] = '\0';
	if (strcmp(line, "ok") == 0)
		return 0;
	for (int i = 0; i < 4; i++)
		if ((field[i] = strsep(&rest, "\t")) == NULL)
			return err_say(e, ERR_UNREACHABLE,
			    "gloved ended before it could serve");
	(void)err_say(e, (enum err_code)err_from_wire(field[0]), "%s", field[1]);
	if (field[2][0] != '\0')
		(void)err_why(e, "%s", field[2]);
	if (field[3][0] != '\0')
		(void)err_fix(e, "%s", field[3]);
	return -1;
}

static int
await_ready(int fd, int64_t deadline, struct err *e)
{
	char line[LINE_ROOM];
	size_t n = 0;
	ssize_t k;

	for (;;) {
		struct pollfd p = { .fd = fd, .events = POLLIN, .revents = 0 };
		int rc = poll(&p, 1, left_ms(deadline));

		if (rc < 0 && errno == EINTR)
			return err_set(e, ERR_AGAIN, "interrupted");
		if (rc <= 0)
			return err_set(e, ERR_TIMEOUT, "start of gloved");
		k = read(fd, line + n, sizeof(line) - 1 - n);
		if (k > 0)
			n += (size_t)k;
		line[n] = '\0';
		if (k <= 0 || n == sizeof(line) - 1 || strchr(line, '\n') != NULL)
			return take_verdict(line, e);
	}
}

static int
start_gloved(const char *home, const char *socket, int64_t deadline, struct err *e)
{
	AUTO(fd) int log = -1;
	AUTO(fd) int mine = -1;
	AUTO(fd) int theirs = -1;
	char program[ROOM];
	int ready[2], status;
	pid_t pid;

	if (find_gloved(program, e) || (log = open_log(home, e)) < 0)
		return -1;
	if (pipe2(ready, O_CLOEXEC))
		return err_set(e, ERR_SYS, "pipe");
	mine = ready[0];
	theirs = ready[1];
	if ((pid = fork()) < 0)
		return err_set(e, ERR_SYS, "fork");
	if (pid == 0) {
		/* Twice, so that it is nobody's child and nobody's zombie. */
		if ((pid = fork()) == 0)
			become_gloved(program, home, socket, log, theirs);
		_exit(pid < 0);
	}
	while (waitpid(pid, &status, 0) < 0 && errno == EINTR)
		;
	(void)close(TAKE_FD(theirs));
	if (await_ready(mine, deadline, e) == 0)
		return 0;
	/* Nothing is cut or accepted by itself: the ways that a person has. */
	if (e->code == ERR_RECOVER && e->fix[0] == '\0')
		(void)err_fix(e, "look: glove verify %s; to begin a new journal"
		    " and keep this one: mv that directory away", home);
	return -1;
}

/* One that is about to leave, or one that is not yet there: look again. */
static int
is_passing(int code)
{
	return code == ERR_UNREACHABLE || code == ERR_PEER || code == ERR_LOCKED;
}

static int
start_once(const char *home, const char *socket, int64_t deadline,
    struct client **c, struct err *e)
{
	AUTO(fd) int lock = -1;

	if (make_dirs(home, e) || lock_start(home, deadline, &lock, e))
		return -1;
	/* Whoever held the lock may have started it. */
	if (client_connect(socket, left_ms(deadline), c, e) == 0)
		return 0;
	if (!is_passing(e->code))
		return -1;
	if (start_gloved(home, socket, deadline, e))
		return -1;
	return client_connect(socket, left_ms(deadline), c, e);
}

int
daemon_connect(const char *home, const char *socket, int timeout_ms,
    struct client **c, struct err *e)
{
	int64_t deadline = timeout_ms < 0 ? INT64_MAX / 2 :
	    clock_now().boot_us + (int64_t)timeout_ms * 1000;

	if (client_connect(socket, left_ms(deadline), c, e) == 0)
		return 0;
	while (is_passing(e->code)) {
		if (start_once(home, socket, deadline, c, e) == 0)
			return 0;
		if (left_ms(deadline) == 0)
			break;
		if (is_passing(e->code))
			pause_a_little();
	}
	return -1;
}
