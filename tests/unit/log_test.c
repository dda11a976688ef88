/* SPDX-License-Identifier: ISC */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include <errno.h>
#include <fcntl.h>

#include "base/clock.h"
#include "base/fd.h"
#include "base/log.h"

static int saved = -1, end = -1;

/* From here on descriptor 2 is a pipe. */
static void
catch(void)
{
	int p[2];

	assert_int_equal(pipe2(p, O_CLOEXEC), 0);
	end = p[0];
	saved = fcntl(2, F_DUPFD_CLOEXEC, 3);
	assert_int_equal(dup2(p[1], 2), 2);
	(void)close(p[1]);
}

/* What was written since; descriptor 2 is itself again. */
static void
caught(struct buf *b)
{
	struct err e;
	int failed;

	assert_int_equal(dup2(saved, 2), 2);
	(void)close(saved);
	failed = fd_read_all(end, b, &e);
	(void)close(end);
	assert_int_equal(failed, 0);
}

static void
an_event_is_one_line_of_keys_and_values(void **state)
{
	const struct now set = { 0, 0 };
	AUTO(buf) struct buf b;

	(void)state;
	buf_init(&b, 10000);
	log_init("test", LOG_LEVEL_INFO);
	clock_fake(&set);
	catch();
	errno = EPERM;
	log_event(LOG_LEVEL_WARN, "effect_failed", "session=%d err=%s", 7, "X");
	assert_int_equal(errno, EPERM);
	log_event(LOG_LEVEL_INFO, "bare", "%s", "");
	caught(&b);
	clock_fake(NULL);
	assert_string_equal(buf_cstr(&b),
	    "time=1970-01-01T00:00:00.000Z program=test level=warn "
	    "event=effect_failed session=7 err=X\n"
	    "time=1970-01-01T00:00:00.000Z program=test level=info "
	    "event=bare\n");
}

static void
what_is_less_important_is_left_out(void **state)
{
	AUTO(buf) struct buf b;

	(void)state;
	buf_init(&b, 10000);
	log_init("test", LOG_LEVEL_WARN);
	catch();
	log_event(LOG_LEVEL_INFO, "no", "%s", "");
	log_event(LOG_LEVEL_DEBUG, "no", "%s", "");
	log_event(LOG_LEVEL_ERROR, "yes", "%s", "");
	caught(&b);
	assert_non_null(strstr(buf_cstr(&b), "event=yes\n"));
	assert_null(strstr(buf_cstr(&b), "event=no"));
}

static void
hostile_text_stays_in_its_line_and_is_bounded(void **state)
{
	static char lots[100000];
	AUTO(buf) struct buf b;

	(void)state;
	buf_init(&b, 10000);
	memset(lots, 0x1b, sizeof(lots) - 1);
	log_init("test", LOG_LEVEL_INFO);
	catch();
	log_event(LOG_LEVEL_INFO, "e", "name=%s", "a\nlevel=error \x1b[2J");
	log_event(LOG_LEVEL_INFO, "e", "name=%s", lots);
	caught(&b);
	assert_in_range(b.n, 100, 4500);
	assert_non_null(strstr(buf_cstr(&b),
	    "name=a\\x0alevel=error \\x1b[2J\n"));
	assert_null(strchr(buf_cstr(&b), 0x1b));
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(an_event_is_one_line_of_keys_and_values),
		cmocka_unit_test(what_is_less_important_is_left_out),
		cmocka_unit_test(hostile_text_stays_in_its_line_and_is_bounded),
	};

	return cmocka_run_group_tests_name("log", tests, NULL, NULL);
}
