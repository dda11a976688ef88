/* SPDX-License-Identifier: ISC */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

#include <cmocka.h>

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <linux/openat2.h>
#include <sys/mman.h>
#include <sys/socket.h>
#include <sys/stat.h>

#include "base/fd.h"

/* A directory of its own for each test, and a descriptor of it. */
struct place {
	char	path[32];
	int	fd;
};

static int
make_place(void **state)
{
	static struct place p;

	(void)snprintf(p.path, sizeof(p.path), "/tmp/fd_test.XXXXXX");
	assert_non_null(mkdtemp(p.path));
	p.fd = open(p.path, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	assert_true(p.fd >= 0);
	*state = &p;
	return 0;
}

static int
drop_place(void **state)
{
	static const char *const names[] = { "f", "link", "fifo", "dir/in",
		"dir", "out" };
	struct place *p = *state;

	for (size_t i = 0; i < sizeof(names) / sizeof(names[0]); i++)
		if (unlinkat(p->fd, names[i], 0))
			(void)unlinkat(p->fd, names[i], AT_REMOVEDIR);
	(void)close(p->fd);
	/* Fails, and the test with it, if something else was left. */
	return rmdir(p->path);
}

static void
put_file(const struct place *p, const char *name, const char *text)
{
	AUTO(fd) int fd = openat(p->fd, name,
	    O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0644);
	struct err e;

	assert_true(fd >= 0);
	assert_int_equal(fd_write_all(fd, text, strlen(text), &e), 0);
}

static int
open_fds(void)
{
	int n = 0;

	for (int fd = 0; fd < 256; fd++)
		n += fcntl(fd, F_GETFD) >= 0;
	return n;
}

static void
a_file_is_read_whole_or_not_at_all(void **state)
{
	struct place *p = *state;
	AUTO(buf) struct buf b;
	struct err e;

	put_file(p, "f", "0123456789");
	buf_init(&b, 10);
	assert_int_equal(fd_file(p->fd, "f", &b, &e), 0);
	assert_string_equal(buf_cstr(&b), "0123456789");
	buf_done(&b);
	buf_init(&b, 9);
	assert_int_equal(fd_file(p->fd, "f", &b, &e), -1);
	assert_int_equal(e.code, ERR_TOOBIG);
	buf_done(&b);
	buf_init(&b, 0);
	put_file(p, "f", "");
	assert_int_equal(fd_file(p->fd, "f", &b, &e), 0);
	assert_int_equal(b.n, 0);
}

static void
what_is_read_goes_behind_what_is_there(void **state)
{
	struct place *p = *state;
	AUTO(buf) struct buf b;
	struct err e;

	put_file(p, "f", "world");
	buf_init(&b, 100);
	buf_put_str(&b, "hello ");
	assert_int_equal(fd_file(p->fd, "f", &b, &e), 0);
	assert_string_equal(buf_cstr(&b), "hello world");
}

static void
a_file_longer_than_one_read_comes_whole(void **state)
{
	enum { LONG = 200000 };
	struct place *p = *state;
	AUTO(buf) struct buf in;
	AUTO(buf) struct buf out;
	struct err e;

	buf_init(&in, LONG);
	buf_init(&out, 1 << 20);
	for (size_t i = 0; i < LONG / 4; i++)
		buf_put_u32(&in, (uint32_t)i * 2654435761u);
	assert_int_equal(fd_replace(p->fd, "f", buf_bytes(&in), 0600, &e), 0);
	assert_int_equal(fd_file(p->fd, "f", &out, &e), 0);
	assert_true(bytes_eq(buf_bytes(&in), buf_bytes(&out)));
}

static void
only_regular_files_are_read_and_no_link_is_followed(void **state)
{
	struct place *p = *state;
	AUTO(buf) struct buf b;
	struct err e;

	buf_init(&b, 100);
	put_file(p, "f", "x");
	assert_int_equal(symlinkat("f", p->fd, "link"), 0);
	assert_int_equal(fd_file(p->fd, "link", &b, &e), -1);
	assert_int_equal(e.sys, ELOOP);
	/* Nobody ever writes to it; we are not held up. */
	assert_int_equal(mkfifoat(p->fd, "fifo", 0600), 0);
	assert_int_equal(fd_file(p->fd, "fifo", &b, &e), -1);
	assert_int_equal(e.code, ERR_FORMAT);
	assert_int_equal(fd_file(p->fd, ".", &b, &e), -1);
	assert_int_equal(fd_file(p->fd, "none", &b, &e), -1);
	assert_int_equal(e.sys, ENOENT);
	assert_int_equal(b.n, 0);
}

static void
openat2_stays_beneath_and_closes_on_exec(void **state)
{
	struct place *p = *state;
	AUTO(fd) int fd = -1;
	struct err e;

	put_file(p, "f", "x");
	assert_int_equal(fd_openat2(p->fd, "f", O_RDONLY, 0,
	    RESOLVE_BENEATH, &fd, &e), 0);
	assert_int_equal(fcntl(fd, F_GETFD) & FD_CLOEXEC, FD_CLOEXEC);
	(void)close(fd);
	fd = -1;
	assert_int_equal(fd_openat2(p->fd, "../../etc/passwd", O_RDONLY, 0,
	    RESOLVE_BENEATH, &fd, &e), -1);
	assert_int_equal(e.sys, EXDEV);
	assert_int_equal(fd, -1);
	assert_int_equal(fd_openat2(p->fd, "out", O_WRONLY | O_CREAT | O_EXCL,
	    0640, RESOLVE_BENEATH, &fd, &e), 0);
}

static void
positions_are_read_and_written_whole(void **state)
{
	struct place *p = *state;
	AUTO(fd) int fd = -1;
	struct err e;
	char got[4];

	put_file(p, "f", "0123456789");
	assert_int_equal(fd_openat2(p->fd, "f", O_RDWR, 0, 0, &fd, &e), 0);
	assert_int_equal(fd_pwrite_full(fd, "ab", 2, 4, &e), 0);
	assert_int_equal(fd_pread_full(fd, got, 4, 3, &e), 0);
	assert_memory_equal(got, "3ab6", 4);
	assert_int_equal(fd_pread_full(fd, got, 4, 6, &e), 0);
	assert_int_equal(fd_pread_full(fd, got, 4, 7, &e), -1);
	assert_int_equal(e.code, ERR_FORMAT);
}

static void
a_replaced_file_is_new_with_the_mode_asked_for(void **state)
{
	struct place *p = *state;
	AUTO(fd) int old = -1;
	mode_t mask = umask(077);
	struct stat st;
	struct err e;
	char got[3];

	put_file(p, "f", "old");
	assert_int_equal(fd_openat2(p->fd, "f", O_RDONLY, 0, 0, &old, &e), 0);
	assert_int_equal(fd_replace(p->fd, "f", bytes_of("new!", 4), 0644, &e),
	    0);
	(void)umask(mask);
	assert_int_equal(fstatat(p->fd, "f", &st, 0), 0);
	assert_int_equal(st.st_size, 4);
	assert_int_equal(st.st_mode & 07777, 0644);
	/* Whoever had it open still sees the old one. */
	assert_int_equal(fd_pread_full(old, got, 3, 0, &e), 0);
	assert_memory_equal(got, "old", 3);
}

static void
a_link_is_replaced_and_what_it_points_at_is_not(void **state)
{
	struct place *p = *state;
	AUTO(buf) struct buf b;
	struct err e;

	buf_init(&b, 100);
	put_file(p, "f", "kept");
	assert_int_equal(symlinkat("f", p->fd, "link"), 0);
	assert_int_equal(fd_replace(p->fd, "link", bytes_of("x", 1), 0600, &e),
	    0);
	assert_int_equal(fd_file(p->fd, "f", &b, &e), 0);
	assert_string_equal(buf_cstr(&b), "kept");
}

static void
a_replacement_that_fails_leaves_nothing_behind(void **state)
{
	struct place *p = *state;
	struct err e;

	assert_int_equal(mkdirat(p->fd, "dir", 0700), 0);
	put_file(p, "dir/in", "x");
	assert_int_equal(fd_replace(p->fd, "dir", bytes_of("x", 1), 0600, &e),
	    -1);
	assert_int_equal(fd_replace(p->fd, "a/b", bytes_of("x", 1), 0600, &e),
	    -1);
	assert_int_equal(e.code, ERR_BUG);
	/* drop_place() fails if there is a temporary file. */
}

static void
a_directory_is_made_once_and_checked_each_time(void **state)
{
	struct place *p = *state;
	struct stat st;
	struct err e;
	int fd = -1;

	for (int i = 0; i < 2; i++) {
		assert_int_equal(fd_mkdir_open(p->fd, "dir", 0700, &fd, &e), 0);
		assert_int_equal(fstat(fd, &st), 0);
		assert_true(S_ISDIR(st.st_mode));
		assert_int_equal(st.st_mode & 07777, 0700);
		(void)close(fd);
		fd = -1;
	}
	assert_int_equal(fchmodat(p->fd, "dir", 0770, 0), 0);
	assert_int_equal(fd_mkdir_open(p->fd, "dir", 0700, &fd, &e), -1);
	assert_int_equal(e.code, ERR_CONFIG);
	assert_string_equal(e.fix, "chmod go-w dir");
	put_file(p, "f", "x");
	assert_int_equal(fd_mkdir_open(p->fd, "f", 0700, &fd, &e), -1);
	assert_int_equal(e.code, ERR_CONFIG);
	assert_int_equal(symlinkat("/tmp", p->fd, "link"), 0);
	assert_int_equal(fd_mkdir_open(p->fd, "link", 0700, &fd, &e), -1);
	assert_int_equal(e.code, ERR_CONFIG);
	assert_int_equal(fd, -1);
}

static void
another_users_directory_is_refused(void **state)
{
	struct place *p = *state;
	struct err e;
	int fd = -1;

	if (geteuid() != 0)
		skip();
	assert_int_equal(mkdirat(p->fd, "dir", 0700), 0);
	assert_int_equal(fchownat(p->fd, "dir", 65534, 65534, 0), 0);
	assert_int_equal(fd_mkdir_open(p->fd, "dir", 0700, &fd, &e), -1);
	assert_int_equal(e.code, ERR_CONFIG);
}

static void
a_memory_file_cannot_be_changed_any_more(void **state)
{
	AUTO(fd) int fd = -1;
	AUTO(buf) struct buf b;
	struct err e;

	(void)state;
	buf_init(&b, 100);
	assert_int_equal(fd_memfd("t", bytes_of("sealed", 6), &fd, &e), 0);
	assert_int_equal(fd_read_all(fd, &b, &e), 0);
	assert_string_equal(buf_cstr(&b), "sealed");
	assert_int_equal(fd_pwrite_full(fd, "x", 1, 0, &e), -1);
	assert_int_equal(e.sys, EPERM);
	assert_int_equal(ftruncate(fd, 0), -1);
	assert_ptr_equal(mmap(NULL, 6, PROT_READ | PROT_WRITE, MAP_SHARED, fd,
	    0), MAP_FAILED);
}

static void
a_full_pipe_is_an_error_when_not_waiting(void **state)
{
	static const char lots[1 << 20];
	struct err e;
	int p[2];

	(void)state;
	assert_int_equal(pipe2(p, O_CLOEXEC), 0);
	assert_int_equal(fd_nonblock(p[1], 1, &e), 0);
	assert_int_equal(fd_write_all(p[1], lots, sizeof(lots), &e), -1);
	assert_int_equal(e.sys, EAGAIN);
	assert_int_equal(fd_nonblock(p[1], 0, &e), 0);
	assert_int_equal(fcntl(p[1], F_GETFL) & O_NONBLOCK, 0);
	(void)close(p[0]);
	(void)close(p[1]);
}

#define OUR(test) \
	cmocka_unit_test_setup_teardown(test, make_place, drop_place)

int
main(void)
{
	const struct CMUnitTest tests[] = {
		OUR(a_file_is_read_whole_or_not_at_all),
		OUR(what_is_read_goes_behind_what_is_there),
		OUR(a_file_longer_than_one_read_comes_whole),
		OUR(only_regular_files_are_read_and_no_link_is_followed),
		OUR(openat2_stays_beneath_and_closes_on_exec),
		OUR(positions_are_read_and_written_whole),
		OUR(a_replaced_file_is_new_with_the_mode_asked_for),
		OUR(a_link_is_replaced_and_what_it_points_at_is_not),
		OUR(a_replacement_that_fails_leaves_nothing_behind),
		OUR(a_directory_is_made_once_and_checked_each_time),
		OUR(another_users_directory_is_refused),
		cmocka_unit_test(a_memory_file_cannot_be_changed_any_more),
		cmocka_unit_test(a_full_pipe_is_an_error_when_not_waiting),
	};
	int before = open_fds();
	int failed = cmocka_run_group_tests_name("fd", tests, NULL, NULL);

	/* No test, passed or failed, may leak a descriptor unnoticed. */
	return failed != 0 || open_fds() != before;
}
