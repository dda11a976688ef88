/* SPDX-License-Identifier: ISC */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include <fcntl.h>
#include <sys/ioctl.h>

#include "base/buf.h"
#include "base/clock.h"
#include "base/progress.h"

/* A terminal, and a clock that stands still. */
struct screen {
	int		master;
	int		tty;
	struct now	now;
	char		text[4096];
};

static int
make_screen(void **state)
{
	static struct screen s;

	s = (struct screen){ .master = -1, .tty = -1 };
	s.master = posix_openpt(O_RDWR | O_NOCTTY | O_NONBLOCK | O_CLOEXEC);
	if (s.master < 0 || grantpt(s.master) || unlockpt(s.master))
		return -1;
	s.tty = open(ptsname(s.master), O_RDWR | O_NOCTTY | O_CLOEXEC);
	if (s.tty < 0 || setenv("TERM", "xterm", 1))
		return -1;
	clock_fake(&s.now);
	*state = &s;
	return 0;
}

static int
drop_screen(void **state)
{
	struct screen *s = *state;

	clock_fake(NULL);
	(void)close(s->tty);
	(void)close(s->master);
	return 0;
}

/* What has come to the terminal since the last time. */
static const char *
seen(struct screen *s)
{
	ssize_t n = read(s->master, s->text, sizeof(s->text) - 1);

	s->text[n > 0 ? n : 0] = '\0';
	return s->text;
}

static void
short_work_shows_nothing(void **state)
{
	struct screen *s = *state;
	struct progress p;

	progress_init(&p, s->tty, "verify", "records", 100);
	s->now.boot_us = 499999;
	progress_at(&p, 99);
	progress_done(&p);
	assert_string_equal(seen(s), "");
}

static void
long_work_is_shown_now_and_then_and_wiped_away(void **state)
{
	struct screen *s = *state;
	struct progress p;

	progress_init(&p, s->tty, "verify", "records", 318000);
	s->now.boot_us = 500000;
	progress_at(&p, 120000);
	assert_string_equal(seen(s),
	    "\rverify: 120000 of 318000 records, 37 %\033[K");
	s->now.boot_us = 599999;
	progress_at(&p, 130000);
	assert_string_equal(seen(s), "");
	s->now.boot_us = 4000000;
	progress_at(&p, 159000);
	assert_string_equal(seen(s),
	    "\rverify: 159000 of 318000 records, 50 %, 5s left\033[K");
	progress_done(&p);
	assert_string_equal(seen(s), "\r\033[K");
	/* It is over. */
	s->now.boot_us = 9000000;
	progress_at(&p, 318000);
	progress_done(&p);
	assert_string_equal(seen(s), "");
}

static void
an_unknown_total_and_bytes_are_shown_as_such(void **state)
{
	struct screen *s = *state;
	struct progress p;

	progress_init(&p, s->tty, "apply", "files", 0);
	s->now.boot_us = 5000000;
	progress_at(&p, 7);
	assert_string_equal(seen(s), "\rapply: 7 files\033[K");
	progress_init(&p, s->tty, "export", NULL, 64 << 20);
	s->now.boot_us = 5600000;
	progress_at(&p, 16 << 20);
	assert_string_equal(seen(s), "\rexport: 16 MiB of 64 MiB, 25 %\033[K");
	/* More than was expected is no reason to lie. */
	s->now.boot_us = 5800000;
	progress_at(&p, 65 << 20);
	assert_string_equal(seen(s), "\rexport: 65 MiB of 64 MiB\033[K");
}

static void
the_line_never_wraps(void **state)
{
	const struct winsize narrow = { .ws_row = 24, .ws_col = 12 };
	struct screen *s = *state;
	struct progress p;

	assert_int_equal(ioctl(s->tty, TIOCSWINSZ, &narrow), 0);
	progress_init(&p, s->tty, "verify", "records", 100);
	s->now.boot_us = 500000;
	progress_at(&p, 50);
	/* One column stays free: some terminals wrap on the last. */
	assert_string_equal(seen(s), "\rverify: 50 \033[K");
}

static void
only_a_terminal_that_can_wipe_gets_a_line(void **state)
{
	struct screen *s = *state;
	struct progress p;
	int fds[2];
	char c;

	assert_int_equal(pipe2(fds, O_CLOEXEC | O_NONBLOCK), 0);
	progress_init(&p, fds[1], "verify", "records", 100);
	s->now.boot_us = 5000000;
	progress_at(&p, 50);
	progress_done(&p);
	assert_int_equal(read(fds[0], &c, 1), -1);
	(void)close(fds[0]);
	(void)close(fds[1]);

	assert_int_equal(setenv("TERM", "dumb", 1), 0);
	progress_init(&p, s->tty, "verify", "records", 100);
	s->now.boot_us = 50000000;
	progress_at(&p, 50);
	progress_done(&p);
	assert_string_equal(seen(s), "");

	progress_init(&p, -1, "verify", "records", 100);
	progress_at(&p, 50);
	progress_done(&p);
	progress_at(NULL, 50);
}

#define OUR(test) \
	cmocka_unit_test_setup_teardown(test, make_screen, drop_screen)

int
main(void)
{
	const struct CMUnitTest tests[] = {
		OUR(short_work_shows_nothing),
		OUR(long_work_is_shown_now_and_then_and_wiped_away),
		OUR(an_unknown_total_and_bytes_are_shown_as_such),
		OUR(the_line_never_wraps),
		OUR(only_a_terminal_that_can_wipe_gets_a_line),
	};

	return cmocka_run_group_tests_name("progress", tests, NULL, NULL);
}
