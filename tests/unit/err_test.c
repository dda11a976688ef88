/* SPDX-License-Identifier: ISC */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include <errno.h>

#include "base/err.h"

/* Generated: a new row is tested on the day it is added. */
static const int codes[] = {
#define ERR(code, NAME, wire, exit, text, fix) ERR_##NAME,
#include "base/err.def"
};
#define COUNT (sizeof(codes) / sizeof(codes[0]))

static void
every_row_is_whole_and_found_by_its_wire_name(void **state)
{
	(void)state;
	for (size_t i = 0; i < COUNT; i++) {
		struct err e;

		(void)err_say(&e, (enum err_code)codes[i], "x");
		assert_true(err_name(codes[i])[0] != '\0');
		assert_true(err_text(codes[i])[0] != '\0');
		assert_true(err_do(&e)[0] != '\0');
		assert_in_range(err_exit(codes[i]), 1, 125);
		assert_int_equal(err_from_wire(err_wire(codes[i])), codes[i]);
		assert_string_equal(e.msg, "x");
	}
}

static void
no_two_rows_share_a_code_or_a_wire_name(void **state)
{
	(void)state;
	for (size_t i = 0; i < COUNT; i++)
		for (size_t k = 0; k < i; k++) {
			assert_int_not_equal(codes[i], codes[k]);
			assert_string_not_equal(err_wire(codes[i]),
			    err_wire(codes[k]));
		}
}

static void
any_integer_has_a_name(void **state)
{
	static const int odd[] = { -1, ERR_CODE_END, 1000000, INT32_MIN };

	(void)state;
	for (size_t i = 0; i < sizeof(odd) / sizeof(odd[0]); i++) {
		assert_string_equal(err_name(odd[i]), "BUG");
		assert_int_equal(err_exit(odd[i]), 70);
	}
	assert_string_equal(err_name(ERR_OK), "OK");
	assert_int_equal(err_exit(ERR_OK), 0);
	assert_int_equal(err_from_wire("no.such"), ERR_BUG);
}

static void
a_system_error_says_what_the_system_said(void **state)
{
	struct err e;

	(void)state;
	errno = ENOENT;
	assert_int_equal(err_set(&e, ERR_SYS, "open %s", "x"), -1);
	assert_string_equal(e.msg, "open x: No such file or directory");
	assert_int_equal(e.sys, ENOENT);
	assert_int_equal(errno, ENOENT);
	assert_non_null(strstr(e.file, "err_test.c"));
	/* Every other kind says what its row says. */
	assert_int_equal(err_set(&e, ERR_NOMEM, "commit"), -1);
	assert_string_equal(e.msg, "commit: out of memory");
	assert_int_equal(e.sys, 0);
}

static void
context_goes_in_front_and_keeps_the_rest(void **state)
{
	struct err e;

	(void)state;
	errno = EACCES;
	(void)err_set(&e, ERR_SYS, "open f");
	(void)err_why(&e, "because");
	(void)err_fix(&e, "do this");
	assert_int_equal(err_wrap(&e, "session %d", 7), -1);
	assert_string_equal(e.msg, "session 7: open f: Permission denied");
	assert_int_equal(e.code, ERR_SYS);
	assert_int_equal(e.sys, EACCES);
	assert_string_equal(e.why, "because");
	assert_string_equal(err_do(&e), "do this");
	/* The next error begins afresh. */
	(void)err_set(&e, ERR_LIMIT, "x");
	assert_string_equal(e.why, "");
	assert_string_not_equal(err_do(&e), "do this");
}

static void
an_endless_message_is_cut(void **state)
{
	char lots[3 * ERR_MSG_MAX];
	struct err e;

	(void)state;
	memset(lots, 'x', sizeof(lots) - 1);
	lots[sizeof(lots) - 1] = '\0';
	(void)err_set(&e, ERR_LIMIT, "%s", lots);
	(void)err_wrap(&e, "%s", lots);
	(void)err_why(&e, "%s", lots);
	(void)err_fix(&e, "%s", lots);
	assert_int_equal(strlen(e.msg), ERR_MSG_MAX - 1);
	assert_int_equal(strlen(e.why), ERR_WHY_MAX - 1);
	assert_int_equal(strlen(e.fix), ERR_FIX_MAX - 1);
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(every_row_is_whole_and_found_by_its_wire_name),
		cmocka_unit_test(no_two_rows_share_a_code_or_a_wire_name),
		cmocka_unit_test(any_integer_has_a_name),
		cmocka_unit_test(a_system_error_says_what_the_system_said),
		cmocka_unit_test(context_goes_in_front_and_keeps_the_rest),
		cmocka_unit_test(an_endless_message_is_cut),
	};

	return cmocka_run_group_tests_name("err", tests, NULL, NULL);
}
