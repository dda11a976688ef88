/* SPDX-License-Identifier: ISC */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include <fcntl.h>
#include <sys/socket.h>
#include <sys/stat.h>

#include "base/fd.h"

struct ends {
	int	sv[2];
	int	open;		/* descriptors, both ends among them */
};

static int
open_fds(void)
{
	int n = 0;

	for (int fd = 0; fd < 256; fd++)
		n += fcntl(fd, F_GETFD) >= 0;
	return n;
}

static int
make_pair(void **state)
{
	static struct ends s;
	struct err e;

	if (fd_pair(s.sv, &e))
		return -1;
	s.open = open_fds();
	*state = &s;
	return 0;
}

static int
drop_pair(void **state)
{
	struct ends *s = *state;

	for (int i = 0; i < 2; i++)
		if (s->sv[i] >= 0)
			(void)close(s->sv[i]);
	return 0;
}

static int
same_file(int a, int b)
{
	struct stat x, y;

	return fstat(a, &x) == 0 && fstat(b, &y) == 0 &&
	    x.st_dev == y.st_dev && x.st_ino == y.st_ino;
}

static void
a_message_arrives_with_its_descriptors(void **state)
{
	struct ends *s = *state;
	int fds[FD_PASS_MAX], sent[2] = { s->sv[0], 2 };
	size_t n = FD_PASS_MAX;
	AUTO(buf) struct buf b;
	struct err e;

	buf_init(&b, 100);
	buf_put_str(&b, "before ");
	assert_int_equal(fd_send(s->sv[0], bytes_of("hello", 5), sent, 2, &e),
	    0);
	assert_int_equal(fd_recv(s->sv[1], &b, fds, &n, &e), 0);
	assert_string_equal(buf_cstr(&b), "before hello");
	assert_int_equal(n, 2);
	assert_true(same_file(fds[0], s->sv[0]));
	assert_true(same_file(fds[1], 2));
	for (size_t i = 0; i < n; i++) {
		assert_int_equal(fcntl(fds[i], F_GETFD), FD_CLOEXEC);
		(void)close(fds[i]);
	}
	assert_int_equal(open_fds(), s->open);
}

static void
messages_keep_their_bounds(void **state)
{
	struct ends *s = *state;
	AUTO(buf) struct buf b;
	struct err e;
	size_t n;

	buf_init(&b, 100);
	assert_int_equal(fd_send(s->sv[0], bytes_of("one", 3), NULL, 0, &e), 0);
	assert_int_equal(fd_send(s->sv[0], bytes_of("two", 3), NULL, 0, &e), 0);
	n = 0;
	assert_int_equal(fd_recv(s->sv[1], &b, NULL, &n, &e), 0);
	assert_string_equal(buf_cstr(&b), "one");
}

static void
more_descriptors_than_welcome_are_refused_and_closed(void **state)
{
	struct ends *s = *state;
	int fds[FD_PASS_MAX], sent[FD_PASS_MAX];
	AUTO(buf) struct buf b;
	struct err e;

	for (int i = 0; i < FD_PASS_MAX; i++)
		sent[i] = 2;
	buf_init(&b, 100);
	for (size_t welcome = 0; welcome < FD_PASS_MAX; welcome++) {
		size_t n = welcome;

		assert_int_equal(fd_send(s->sv[0], bytes_of("x", 1), sent,
		    welcome + 1, &e), 0);
		assert_int_equal(fd_recv(s->sv[1], &b, fds, &n, &e), -1);
		assert_int_equal(e.code, ERR_FORMAT);
		assert_int_equal(n, welcome);
		assert_int_equal(b.n, 0);
		assert_int_equal(open_fds(), s->open);
	}
	/* All that may come at once may come. */
	{
		size_t n = FD_PASS_MAX;

		assert_int_equal(fd_send(s->sv[0], bytes_of("x", 1), sent,
		    FD_PASS_MAX, &e), 0);
		assert_int_equal(fd_recv(s->sv[1], &b, fds, &n, &e), 0);
		assert_int_equal(n, FD_PASS_MAX);
		while (n > 0)
			(void)close(fds[--n]);
	}
}

/* As a hostile peer would: ${n} descriptors, in messages of our own making. */
static void
send_many(int sock, size_t n)
{
	union {
		struct cmsghdr	h;
		char		room[CMSG_SPACE(200 * sizeof(int))];
	} c = { 0 };
	char x = 'x';
	struct iovec iov = { &x, 1 };
	struct msghdr m = { .msg_iov = &iov, .msg_iovlen = 1,
	    .msg_control = &c,
	    .msg_controllen = CMSG_SPACE(n * sizeof(int)) };
	int two = 2;

	c.h.cmsg_level = SOL_SOCKET;
	c.h.cmsg_type = SCM_RIGHTS;
	c.h.cmsg_len = CMSG_LEN(n * sizeof(int));
	for (size_t i = 0; i < n; i++)
		memcpy(CMSG_DATA(&c.h) + i * sizeof(int), &two, sizeof(int));
	assert_int_equal(sendmsg(sock, &m, 0), 1);
}

static void
far_too_many_descriptors_leave_none_behind(void **state)
{
	static const size_t many[] = { FD_PASS_MAX + 1, FD_PASS_MAX + 2, 200 };
	struct ends *s = *state;
	int fds[FD_PASS_MAX];
	AUTO(buf) struct buf b;
	struct err e;

	buf_init(&b, 100);
	for (size_t i = 0; i < sizeof(many) / sizeof(many[0]); i++) {
		size_t n = FD_PASS_MAX;

		send_many(s->sv[0], many[i]);
		assert_int_equal(fd_recv(s->sv[1], &b, fds, &n, &e), -1);
		assert_int_equal(e.code, ERR_FORMAT);
		assert_int_equal(open_fds(), s->open);
	}
}

static void
a_message_that_does_not_fit_is_refused_whole(void **state)
{
	struct ends *s = *state;
	int fds[FD_PASS_MAX], two = 2;
	size_t n = FD_PASS_MAX;
	AUTO(buf) struct buf b;
	struct err e;

	buf_init(&b, 8);
	buf_put_str(&b, "1234");
	assert_int_equal(fd_send(s->sv[0], bytes_of("fits", 4), NULL, 0, &e),
	    0);
	assert_int_equal(fd_send(s->sv[0], bytes_of("12345", 5), &two, 1, &e),
	    0);
	assert_int_equal(fd_recv(s->sv[1], &b, fds, &n, &e), 0);
	buf_drop(&b, 4);
	n = FD_PASS_MAX;
	assert_int_equal(fd_recv(s->sv[1], &b, fds, &n, &e), -1);
	assert_int_equal(e.code, ERR_FORMAT);
	assert_string_equal(buf_cstr(&b), "fits");
	assert_int_equal(open_fds(), s->open);
	/* No room at all: the message stays where it is. */
	buf_put_str(&b, "5678");
	assert_int_equal(fd_recv(s->sv[1], &b, fds, &n, &e), -1);
	assert_int_equal(e.code, ERR_TOOBIG);
}

static void
what_cannot_be_sent_is_refused(void **state)
{
	struct ends *s = *state;
	int fds[FD_PASS_MAX + 1] = { 0 };
	struct err e;

	assert_int_equal(fd_send(s->sv[0], bytes_of("x", 1), fds,
	    FD_PASS_MAX + 1, &e), -1);
	assert_int_equal(e.code, ERR_TOOBIG);
	assert_int_equal(fd_send(s->sv[0], bytes_of("", 0), NULL, 0, &e), -1);
	assert_int_equal(e.code, ERR_BUG);
}

static void
the_end_of_the_peer_is_told_apart_from_nothing_yet(void **state)
{
	struct ends *s = *state;
	AUTO(buf) struct buf b;
	struct err e;
	size_t n = 0;

	buf_init(&b, 100);
	assert_int_equal(fd_nonblock(s->sv[1], 1, &e), 0);
	assert_int_equal(fd_recv(s->sv[1], &b, NULL, &n, &e), -1);
	assert_int_equal(e.code, ERR_AGAIN);
	(void)close(s->sv[0]);
	s->sv[0] = -1;
	assert_int_equal(fd_recv(s->sv[1], &b, NULL, &n, &e), -1);
	assert_int_equal(e.code, ERR_PEER);
	/* No SIGPIPE: we are still here. */
	assert_int_equal(fd_send(s->sv[1], bytes_of("x", 1), NULL, 0, &e), -1);
	assert_int_equal(e.code, ERR_PEER);
}

static void
a_peer_that_does_not_read_is_told_apart_too(void **state)
{
	static const char lots[4096];
	struct ends *s = *state;
	struct err e;
	int i;

	assert_int_equal(fd_nonblock(s->sv[0], 1, &e), 0);
	for (i = 0; i < 10000; i++)
		if (fd_send(s->sv[0], bytes_of(lots, sizeof(lots)), NULL, 0,
		    &e))
			break;
	assert_in_range(i, 1, 9999);
	assert_int_equal(e.code, ERR_AGAIN);
}

static void
the_kernel_says_who_the_peer_is(void **state)
{
	struct ends *s = *state;
	struct peer p;
	struct err e;

	assert_int_equal(fd_peer(s->sv[0], &p, &e), 0);
	assert_int_equal(p.pid, getpid());
	assert_int_equal(p.uid, geteuid());
	assert_int_equal(p.gid, getegid());
}

#define OUR(test) cmocka_unit_test_setup_teardown(test, make_pair, drop_pair)

int
main(void)
{
	const struct CMUnitTest tests[] = {
		OUR(a_message_arrives_with_its_descriptors),
		OUR(messages_keep_their_bounds),
		OUR(more_descriptors_than_welcome_are_refused_and_closed),
		OUR(far_too_many_descriptors_leave_none_behind),
		OUR(a_message_that_does_not_fit_is_refused_whole),
		OUR(what_cannot_be_sent_is_refused),
		OUR(the_end_of_the_peer_is_told_apart_from_nothing_yet),
		OUR(a_peer_that_does_not_read_is_told_apart_too),
		OUR(the_kernel_says_who_the_peer_is),
	};

	return cmocka_run_group_tests_name("fd_pass", tests, NULL, NULL);
}
