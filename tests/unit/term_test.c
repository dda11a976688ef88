/* SPDX-License-Identifier: ISC */
#include <fcntl.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <cmocka.h>

#include "cli/term.h"

static const char *
undone_by(const char *output, struct buf *b)
{
	struct term t = TERM_NONE;

	/* Byte by byte: sequences may be cut anywhere. */
	for (size_t i = 0; output[i] != '\0'; i++)
		term_watch(&t, bytes_of(output + i, 1));
	buf_reset(b);
	term_reset(&t, b);
	return b->n == 0 ? "" : buf_cstr(b);
}

static void
what_a_program_switched_on_is_switched_off(void **state)
{
	AUTO(buf) struct buf b;

	(void)state;
	buf_init(&b, 512);
	assert_string_equal("", undone_by("plain text\n", &b));
	assert_string_equal("\033[?1049l\033[0m",
	    undone_by("\033[?1049h text", &b));
	assert_string_equal("", undone_by("\033[?1049h\033[?1049l", &b));
	assert_string_equal("\033[?25h\033[0m", undone_by("\033[?25l", &b));
	assert_string_equal("\033[?1000l\033[?1006l\033[0m",
	    undone_by("\033[?1000;1006h", &b));
	assert_string_equal("\033>\033[0m", undone_by("\033=", &b));
	assert_string_equal("", undone_by("\033[?2004h\033c", &b));
}

static void
rubbish_in_the_output_does_no_harm(void **state)
{
	AUTO(buf) struct buf b;

	(void)state;
	buf_init(&b, 512);
	assert_string_equal("", undone_by("\033[?99999999999999999999h", &b));
	assert_string_equal("", undone_by(
	    "\033[?1;2;3;4;5;6;7;8;9;10;11;12;13;14l\033[?\033[?;;;;h", &b));
}

static void
the_terminal_is_raw_and_then_as_it_was(void **state)
{
	AUTO(fd) int master = posix_openpt(O_RDWR | O_NOCTTY | O_CLOEXEC);
	AUTO(fd) int tty = -1;
	struct termios before, during, after;
	struct term t = TERM_NONE;
	struct err e;

	(void)state;
	assert_true(master >= 0);
	assert_int_equal(0, grantpt(master));
	assert_int_equal(0, unlockpt(master));
	tty = open(ptsname(master), O_RDWR | O_NOCTTY | O_CLOEXEC);
	assert_true(tty >= 0);
	assert_int_equal(0, tcgetattr(tty, &before));
	assert_int_equal(0, term_take(&t, tty, &e));
	assert_int_equal(0, tcgetattr(tty, &during));
	assert_int_equal(0, during.c_lflag & (tcflag_t)(ISIG | ICANON | ECHO));
	term_give(&t);
	term_give(&t);
	assert_int_equal(0, tcgetattr(tty, &after));
	assert_int_equal(before.c_lflag, after.c_lflag);
	assert_int_equal(before.c_iflag, after.c_iflag);
	assert_int_equal(before.c_oflag, after.c_oflag);
}

static void
what_is_not_a_terminal_is_not_taken(void **state)
{
	AUTO(fd) int fd = open("/dev/null", O_RDWR | O_CLOEXEC);
	struct term t = TERM_NONE;
	struct err e;
	uint16_t rows, cols;

	(void)state;
	assert_int_equal(-1, term_take(&t, fd, &e));
	assert_int_equal(-1, t.fd);
	term_size(fd, &rows, &cols);
	assert_int_equal(24, rows);
	assert_int_equal(80, cols);
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(what_a_program_switched_on_is_switched_off),
		cmocka_unit_test(rubbish_in_the_output_does_no_harm),
		cmocka_unit_test(the_terminal_is_raw_and_then_as_it_was),
		cmocka_unit_test(what_is_not_a_terminal_is_not_taken),
	};

	return cmocka_run_group_tests_name("term", tests, NULL, NULL);
}
