/* SPDX-License-Identifier: ISC */
#include <sys/mount.h>
#include <sys/stat.h>
#include <sys/wait.h>

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <sched.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <cmocka.h>

#include "base/text.h"
#include "sandbox/changes_impl.h"
#include "tests/lib/staged.h"

enum { EXIT_NO_OVERLAY = 42, LIST_BYTES = 64 << 10 };

static int
sub(const struct staged *s, const char *name)
{
	int fd;

	assert_int_equal(0, mkdirat(s->top, name, 0755));
	fd = openat(s->top, name, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	assert_true(fd >= 0);
	return fd;
}

void
staged_open_at(struct staged *s, const char *base)
{
	(void)umask(022);
	(void)snprintf(s->dir, sizeof(s->dir), "%s/staged-XXXXXX", base);
	assert_non_null(mkdtemp(s->dir));
	s->top = open(s->dir, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	assert_true(s->top >= 0);
	s->lower = sub(s, "lower");
	s->upper = sub(s, "upper");
	s->undo = sub(s, "undo");
	(void)close(sub(s, "work"));
	(void)close(sub(s, "merged"));
}

void
staged_open(struct staged *s)
{
	staged_open_at(s, "/tmp");
}

static void
run(const char *const *argv)
{
	int status;
	pid_t pid = fork();

	assert_true(pid >= 0);
	if (pid == 0) {
		/* exec takes it without const, and changes nothing. */
		char *v[8] = { NULL };

		for (size_t i = 0; argv[i] != NULL && i < 7; i++)
			v[i] = strdup(argv[i]);
		execvp(v[0], v);
		_exit(127);
	}
	assert_int_equal(pid, waitpid(pid, &status, 0));
	assert_int_equal(0, status);
}

void
staged_close(struct staged *s)
{
	const char *open_up[] = { "chmod", "-R", "u+rwX", s->dir, NULL };
	const char *drop[] = { "rm", "-rf", s->dir, NULL };

	(void)close(s->lower);
	(void)close(s->upper);
	(void)close(s->undo);
	(void)close(s->top);
	run(open_up);
	run(drop);
}

static void
script_in(int dirfd, const char *script)
{
	if (fchdir(dirfd) != 0)
		_exit(3);
	(void)umask(022);
	(void)execl("/bin/sh", "sh", "-euc", script, (char *)NULL);
	_exit(4);
}

void
staged_host(const struct staged *s, const char *script)
{
	int status;
	pid_t pid = fork();

	assert_true(pid >= 0);
	if (pid == 0)
		script_in(s->lower, script);
	assert_int_equal(pid, waitpid(pid, &status, 0));
	assert_int_equal(0, status);
}

static int
put_file(const char *path, const char *text)
{
	int fd = open(path, O_WRONLY | O_CLOEXEC), ok;

	if (fd < 0)
		return -1;
	ok = write(fd, text, strlen(text)) == (ssize_t)strlen(text);
	(void)close(fd);
	return ok ? 0 : -1;
}

int
staged_enter(void)
{
	char map[64];
	unsigned uid = geteuid(), gid = getegid();

	if (uid == 0)
		return unshare(CLONE_NEWNS);
	if (unshare(CLONE_NEWUSER | CLONE_NEWNS) != 0 ||
	    put_file("/proc/self/setgroups", "deny") != 0)
		return -1;
	(void)snprintf(map, sizeof(map), "0 %u 1", uid);
	if (put_file("/proc/self/uid_map", map) != 0)
		return -1;
	(void)snprintf(map, sizeof(map), "0 %u 1", gid);
	return put_file("/proc/self/gid_map", map);
}

int
staged_session(const struct staged *s, const char *script)
{
	int status, fd;
	pid_t pid = fork();

	assert_true(pid >= 0);
	if (pid == 0) {
		(void)setenv("STAGED", s->dir, 1);
		if (staged_enter() != 0 || chdir(s->dir) != 0 ||
		    mount(NULL, "/", NULL, MS_REC | MS_PRIVATE, NULL) != 0 ||
		    mount("overlay", "merged", "overlay", 0, "userxattr,"
		    "lowerdir=lower,upperdir=upper,workdir=work") != 0)
			_exit(EXIT_NO_OVERLAY);
		fd = open("merged", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
		script_in(fd, script);
	}
	assert_int_equal(pid, waitpid(pid, &status, 0));
	assert_true(WIFEXITED(status));
	if (WEXITSTATUS(status) == EXIT_NO_OVERLAY) {
		print_message("SKIP: no overlay can be mounted here\n");
		return -1;
	}
	assert_int_equal(0, WEXITSTATUS(status));
	return 0;
}

struct manifest *
staged_scan(const struct staged *s, int64_t since_ns)
{
	struct changes_scan_options opts = { .since_ns = since_ns };
	struct manifest *m;
	struct err e;

	if (changes_scan(s->upper, s->lower, &opts, &m, &e) != 0)
		fail_msg("%s", e.msg);
	return m;
}

const char *
staged_list(const struct manifest *m)
{
	static const char *const names[] = {
#define CHANGE_NOTE(bit, NAME, effect, text) [bit] = #NAME,
#include "sandbox/changes.def"
	};
	static char text[LIST_BYTES];
	size_t n = 0;

	text[0] = '\0';
	for (size_t i = 0; i < m->n; i++) {
		const struct change *c = &m->v[i];
		const struct change_side *s =
		    c->after.type != CHANGE_TYPE_ABSENT ? &c->after : &c->before;

		n += (size_t)snprintf(text + n, sizeof(text) - n,
		    "%s %s %04o %s", change_kind_word(c->kind),
		    change_type_word(s->type), s->mode, c->path.p);
		if (s->target.n != 0)
			n += (size_t)snprintf(text + n, sizeof(text) - n,
			    " -> %s", s->target.p);
		for (size_t b = 0; b < sizeof(names) / sizeof(*names); b++)
			if ((c->notes >> b & 1) != 0)
				n += (size_t)snprintf(text + n,
				    sizeof(text) - n, " !%s", names[b]);
		n += (size_t)snprintf(text + n, sizeof(text) - n, "%s\n",
		    c->runs_later ? " later" : "");
		assert_true(n < sizeof(text));
	}
	return text;
}

static int
by_name(const struct dirent **a, const struct dirent **b)
{
	return strcmp((*a)->d_name, (*b)->d_name);
}

static int
not_dots(const struct dirent *d)
{
	return strcmp(d->d_name, ".") != 0 && strcmp(d->d_name, "..") != 0;
}

static void
put_tree(int dirfd, const char *path, struct buf *b)
{
	struct dirent **v = NULL;
	int n = scandirat(dirfd, ".", &v, not_dots, by_name), fd;

	assert_true(n >= 0);
	for (int i = 0; i < n; i++) {
		char sub[PATH_BYTES_MAX + 1];
		struct look l = { .room = NULL };
		struct err e;

		assert_int_equal(0, look_at(dirfd, v[i]->d_name, LOOK_DIGEST, &l,
		    &e));
		(void)snprintf(sub, sizeof(sub), "%s/%s", path, v[i]->d_name);
		buf_putf(b, "%s %04o %s %s ", change_type_word(l.side.type),
		    l.st.st_mode & 07777, sub, l.side.target.p);
		hex_put(b, BYTES(l.side.digest));
		buf_put_str(b, "\n");
		if (l.side.type == CHANGE_TYPE_DIR) {
			fd = openat(dirfd, v[i]->d_name, O_RDONLY |
			    O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
			assert_true(fd >= 0);
			put_tree(fd, sub, b);
			(void)close(fd);
		}
		free(v[i]);
	}
	free(v);
}

void
staged_tree(int dirfd, const char *name, struct buf *b)
{
	int fd = openat(dirfd, name, O_RDONLY | O_DIRECTORY | O_CLOEXEC);

	assert_true(fd >= 0);
	put_tree(fd, ".", b);
	(void)close(fd);
	assert_int_equal(0, b->failed);
}
