/* SPDX-License-Identifier: ISC */
/*
 * The pump against a supervisor that a script plays: the test is the supervisor,
 * a child runs the pump with pipes for its standard descriptors.
 */
#include <fcntl.h>
#include <poll.h>
#include <setjmp.h>
#include <signal.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <cmocka.h>

#include "cli/pump.h"
#include "lifecycle/machine.h"
#include "sandbox/attach.h"

struct play {
	int	sock;		/* of the supervisor */
	int	in, out, err;	/* the other ends of 0, 1, 2 of the pump */
	pid_t	pid;
};

enum { WAIT_MS = 5000, CHILD_DETACHED = 70, CHILD_LEFT = 71, CHILD_ERROR = 80 };

static const char welcome[] = { ATTACH_WELCOME, 0 };

/* The child: exit code is the status, or how it ended otherwise. */
static void
child(int sock, const struct pump *with)
{
	struct pump p = *with;
	struct pump_end end;
	struct err e;

	p.sock = sock;
	if (pump_run(&p, &end, &e))
		_exit(CHILD_ERROR + e.code);
	_exit(end.how == PUMP_DETACHED ? CHILD_DETACHED :
	    end.how == PUMP_LEFT ? CHILD_LEFT : end.status);
}

static void
start(struct play *p, const struct pump *with)
{
	int sv[2], in[2], out[2], er[2];

	assert_int_equal(0, socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0,
	    sv));
	assert_int_equal(0, pipe2(in, O_CLOEXEC));
	assert_int_equal(0, pipe2(out, O_CLOEXEC));
	assert_int_equal(0, pipe2(er, O_CLOEXEC));
	p->pid = fork();
	assert_true(p->pid >= 0);
	if (p->pid == 0) {
		(void)signal(SIGPIPE, SIG_IGN);
		(void)dup2(in[0], 0);
		(void)dup2(out[1], 1);
		(void)dup2(er[1], 2);
		(void)close(in[1]);
		(void)close(sv[0]);
		(void)close(out[0]);
		child(sv[1], with);
	}
	(void)close(sv[1]);
	(void)close(in[0]);
	(void)close(out[1]);
	(void)close(er[1]);
	*p = (struct play){ sv[0], in[1], out[0], er[0], p->pid };
	assert_int_equal(sizeof(welcome), send(p->sock, welcome, sizeof(welcome),
	    MSG_NOSIGNAL));
}

static int
finish(struct play *p)
{
	int status;

	assert_int_equal(p->pid, waitpid(p->pid, &status, 0));
	(void)close(p->sock);
	if (p->in >= 0)
		(void)close(p->in);
	if (p->out >= 0)
		(void)close(p->out);
	(void)close(p->err);
	return WIFEXITED(status) ? WEXITSTATUS(status) : -1;
}

static void
say(const struct play *p, const void *message, size_t n)
{
	assert_int_equal(n, send(p->sock, message, n, MSG_NOSIGNAL));
}

/* The next message of the pump: its code; the rest in ${b}. */
static int
hear(const struct play *p, char *b, size_t size)
{
	struct pollfd fd = { .fd = p->sock, .events = POLLIN };
	ssize_t n;

	assert_int_equal(1, poll(&fd, 1, WAIT_MS));
	n = recv(p->sock, b, size - 1, 0);
	if (n <= 0)
		return -1;
	b[n] = '\0';
	return (unsigned char)b[0];
}

static void
read_text(int fd, char *b, size_t n)
{
	size_t got = 0;

	while (got < n) {
		ssize_t k = read(fd, b + got, n - got);

		assert_true(k > 0);
		got += (size_t)k;
	}
	b[n] = '\0';
}

static const struct pump plain = { .terminal = 0 };
static const char exit_7[] = { ATTACH_EXIT, CAUSE_EXITED, 0, 7, 1 };

static void
output_errors_and_the_exit_code_come_out(void **state)
{
	static const char out[] = "\042out", err[] = "\043err";
	struct play p;
	char b[64];

	(void)state;
	assert_int_equal(ATTACH_OUTPUT, out[0]);
	assert_int_equal(ATTACH_ERRORS, err[0]);
	start(&p, &plain);
	say(&p, out, 4);
	say(&p, err, 4);
	say(&p, exit_7, sizeof(exit_7));
	read_text(p.out, b, 3);
	assert_string_equal("out", b);
	read_text(p.err, b, 3);
	assert_string_equal("err", b);
	assert_int_equal(7, finish(&p));
}

static void
input_goes_in_and_its_end_is_told(void **state)
{
	struct play p;
	char b[64];

	(void)state;
	start(&p, &plain);
	assert_int_equal(5, write(p.in, "hello", 5));
	assert_int_equal(ATTACH_INPUT, hear(&p, b, sizeof(b)));
	assert_string_equal("hello", b + 1);
	(void)close(p.in);
	p.in = -1;
	assert_int_equal(ATTACH_EOF, hear(&p, b, sizeof(b)));
	say(&p, exit_7, sizeof(exit_7));
	assert_int_equal(7, finish(&p));
}

static void
signals_are_passed_on(void **state)
{
	struct play p;
	char b[64];

	(void)state;
	start(&p, &plain);
	assert_int_equal(1, write(p.in, "x", 1));
	assert_int_equal(ATTACH_INPUT, hear(&p, b, sizeof(b)));
	assert_int_equal(0, kill(p.pid, SIGINT));
	assert_int_equal(ATTACH_SIGNAL, hear(&p, b, sizeof(b)));
	assert_int_equal(SIGINT, b[1]);
	assert_int_equal(0, kill(p.pid, SIGTERM));
	assert_int_equal(ATTACH_SIGNAL, hear(&p, b, sizeof(b)));
	assert_int_equal(SIGTERM, b[1]);
	/* The second time it is meant for us. */
	assert_int_equal(0, kill(p.pid, SIGTERM));
	assert_int_equal(CHILD_LEFT, finish(&p));
}

static void
nothing_is_said_to_one_that_does_not_listen_yet(void **state)
{
	struct pollfd fd = { .events = POLLIN };
	int sv[2];
	pid_t pid;
	char b[8];

	(void)state;
	assert_int_equal(0, socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0,
	    sv));
	if ((pid = fork()) == 0) {
		(void)close(0);
		(void)open("/dev/null", O_RDONLY);
		(void)close(sv[0]);
		child(sv[1], &plain);
	}
	(void)close(sv[1]);
	fd.fd = sv[0];
	assert_int_equal(0, poll(&fd, 1, 200));
	assert_int_equal(2, send(sv[0], welcome, 2, MSG_NOSIGNAL));
	assert_int_equal(1, poll(&fd, 1, WAIT_MS));
	assert_int_equal(1, recv(sv[0], b, sizeof(b), 0));
	assert_int_equal(ATTACH_EOF, b[0]);
	(void)close(sv[0]);
	assert_int_equal(pid, waitpid(pid, NULL, 0));
}

static void
a_supervisor_that_vanishes_is_an_error(void **state)
{
	struct play p;

	(void)state;
	start(&p, &plain);
	(void)shutdown(p.sock, SHUT_RDWR);
	assert_int_equal(CHILD_ERROR + ERR_PEER, finish(&p));
}

static void
a_refusal_is_the_error_it_names(void **state)
{
	static const char refused[] = { ATTACH_REFUSED, 0, ERR_DENIED, 'n', 'o' };
	struct play p;

	(void)state;
	start(&p, &plain);
	say(&p, refused, sizeof(refused));
	assert_int_equal(CHILD_ERROR + ERR_DENIED, finish(&p));
}

static void
rubbish_from_the_supervisor_is_refused(void **state)
{
	static const char codes[] = { 0, 5, 99 };
	static const char half[] = { ATTACH_EXIT, 1 };
	struct play p;

	(void)state;
	for (size_t i = 0; i < sizeof(codes); i++) {
		start(&p, &plain);
		say(&p, &codes[i], 1);
		assert_int_equal(CHILD_ERROR + ERR_FORMAT, finish(&p));
	}
	start(&p, &plain);
	say(&p, half, sizeof(half));
	assert_int_equal(CHILD_ERROR + ERR_FORMAT, finish(&p));
}

static void
a_notice_cannot_carry_escapes(void **state)
{
	static const char notice[] = "\044denied \033[2J";
	struct play p;
	char b[64];

	(void)state;
	assert_int_equal(ATTACH_NOTICE, notice[0]);
	start(&p, &plain);
	say(&p, notice, sizeof(notice) - 1);
	say(&p, exit_7, sizeof(exit_7));
	read_text(p.err, b, 22);
	assert_string_equal("glove: denied \\x1b[2J\n", b);
	assert_int_equal(7, finish(&p));
}

static void
a_reader_that_left_ends_it(void **state)
{
	static const char out[] = "\042out";
	struct play p;

	(void)state;
	start(&p, &plain);
	(void)close(p.out);
	p.out = -1;
	say(&p, out, 4);
	assert_int_equal(CHILD_LEFT, finish(&p));
}

static void
a_reader_that_does_not_read_stops_the_reading(void **state)
{
	static char big[1 + ATTACH_DATA_MAX];
	struct play p;
	int sent = 0;
	size_t got = 0;
	char b[65536];

	(void)state;
	big[0] = ATTACH_OUTPUT;
	start(&p, &plain);
	/* Far more than pipe and socket hold; then nothing more is taken. */
	while (sent < 1000) {
		struct pollfd fd = { .fd = p.sock, .events = POLLOUT };

		if (poll(&fd, 1, 200) != 1)
			break;
		say(&p, big, sizeof(big));
		sent++;
	}
	assert_true(sent < 1000);
	/* A signal is still acted on. */
	assert_int_equal(0, kill(p.pid, SIGINT));
	assert_int_equal(ATTACH_SIGNAL, hear(&p, b, sizeof(b)));
	/* Nothing was lost meanwhile. */
	while (got < (size_t)sent * ATTACH_DATA_MAX) {
		ssize_t n = read(p.out, b, sizeof(b));

		assert_true(n > 0);
		got += (size_t)n;
	}
	say(&p, exit_7, sizeof(exit_7));
	assert_int_equal(7, finish(&p));
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(output_errors_and_the_exit_code_come_out),
		cmocka_unit_test(input_goes_in_and_its_end_is_told),
		cmocka_unit_test(signals_are_passed_on),
		cmocka_unit_test(nothing_is_said_to_one_that_does_not_listen_yet),
		cmocka_unit_test(a_supervisor_that_vanishes_is_an_error),
		cmocka_unit_test(a_refusal_is_the_error_it_names),
		cmocka_unit_test(rubbish_from_the_supervisor_is_refused),
		cmocka_unit_test(a_notice_cannot_carry_escapes),
		cmocka_unit_test(a_reader_that_left_ends_it),
		cmocka_unit_test(a_reader_that_does_not_read_stops_the_reading),
	};

	return cmocka_run_group_tests_name("pump", tests, NULL, NULL);
}
