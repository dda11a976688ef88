/* SPDX-License-Identifier: ISC */
#include <locale.h>
#include <setjmp.h>
#include <signal.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>
#include <cmocka.h>

#include "cli/out.h"

/* What the stream holds so far, as a string. */
static const char *
text(struct out *o)
{
	return buf_cstr(&o->b);
}

static void
start(struct out *o, enum out_color color)
{
	out_init(o, -1, color);
	o->columns = 0;
}

static void
what_a_stranger_wrote_cannot_reach_the_terminal(void **state)
{
	struct out o;
	static const char evil[] = "a\033]52;c;x\a\r\n\xe2\x80\xae" "b\xff";

	(void)state;
	start(&o, OUT_COLOR_NEVER);
	out_foreign(&o, str_of(evil), 200);
	for (const char *p = text(&o); *p != '\0'; p++)
		assert_true(*p >= ' ' && *p < 0x7f);
	assert_null(strstr(text(&o), "\xe2\x80\xae"));
	out_done(&o);
}

static void
a_table_is_aligned_and_its_cells_are_escaped(void **state)
{
	static const char *const heads[] = { "ID", "WHAT", NULL };
	AUTO(table) struct table t;
	struct out o;
	struct err e;

	(void)state;
	start(&o, OUT_COLOR_NEVER);
	table_init(&t, &o, 0, heads);
	table_cell(&t, STYLE_PLAIN, STR("ses_9hv4"));
	table_cell(&t, STYLE_PLAIN, STR("vim\033[2J"));
	table_cell(&t, STYLE_PLAIN, STR("\xe4\xb8\xad\xe6\x96\x87"));
	table_cell(&t, STYLE_PLAIN, STR("x"));
	assert_int_equal(0, table_end(&t, &e));
	assert_string_equal("ID        WHAT\n"
	    "ses_9hv4  vim\\x1b[2J\n"
	    "\xe4\xb8\xad\xe6\x96\x87      x\n", text(&o));
	out_done(&o);
}

static void
the_last_column_is_cut_to_the_terminal(void **state)
{
	static const char *const heads[] = { "A", "B", NULL };
	AUTO(table) struct table t;
	struct out o;
	struct err e;

	(void)state;
	start(&o, OUT_COLOR_NEVER);
	o.columns = 10;
	table_init(&t, &o, 0, heads);
	table_cell(&t, STYLE_PLAIN, STR("1"));
	table_cell(&t, STYLE_PLAIN, STR("0123456789"));
	assert_int_equal(0, table_end(&t, &e));
	assert_string_equal("A  B\n1  012345\xe2\x80\xa6\n", text(&o));
	out_done(&o);
}

static void
a_ragged_table_is_a_fault_and_is_said(void **state)
{
	static const char *const heads[] = { "A", "B", NULL };
	AUTO(table) struct table t;
	struct out o;
	struct err e;

	(void)state;
	start(&o, OUT_COLOR_NEVER);
	table_init(&t, &o, 0, heads);
	table_cell(&t, STYLE_PLAIN, STR("1"));
	assert_int_equal(-1, table_end(&t, &e));
	assert_int_equal(ERR_BUG, e.code);
	out_done(&o);
}

static void
an_error_says_what_why_and_what_to_do(void **state)
{
	struct out o;
	struct err e;

	(void)state;
	start(&o, OUT_COLOR_NEVER);
	(void)err_say(&e, ERR_EXPIRED, "cannot start \\x1b[2J\033 it");
	(void)err_why(&e, "the lease ended");
	(void)err_fix(&e, "glove expose ~/app");
	out_error(&o, 0, &e, 4, NULL);
	assert_string_equal("glove: cannot start \\x1b[2J\\x1b it\n"
	    "  why:  the lease ended\n"
	    "  do:   glove expose ~/app\n", text(&o));
	out_done(&o);
}

static void
an_error_as_json_is_one_object_with_code_and_exit(void **state)
{
	AUTO(json) struct json *j = NULL;
	struct out o;
	struct err e, e2;
	struct str s;
	int64_t n;

	(void)state;
	start(&o, OUT_COLOR_NEVER);
	(void)err_say(&e, ERR_EXPIRED, "it ended\n\033");
	out_error(&o, 1, &e, 4, NULL);
	assert_ptr_equal(strchr(text(&o), '\n') + 1, text(&o) + o.b.n);
	assert_int_equal(0, json_parse((struct str){ text(&o), o.b.n - 1 }, &j, &e2));
	assert_int_equal(0, json_get_str(j, "schema", &s, &e2));
	assert_true(str_eq(s, STR("glove.error/1")));
	assert_int_equal(0, json_get_str(j, "code", &s, &e2));
	assert_true(str_eq(s, STR("lease.expired")));
	assert_int_equal(0, json_get_int(j, "exit", 0, 255, &n, &e2));
	assert_int_equal(4, n);
	assert_int_equal(1, json_len(json_get(j, "fix")));
	out_done(&o);
}

static void
colours_are_a_choice(void **state)
{
	struct out o;

	(void)state;
	assert_int_equal(0, setenv("NO_COLOR", "1", 1));
	start(&o, OUT_COLOR_AUTO);
	assert_false(o.color);
	out_done(&o);
	start(&o, OUT_COLOR_ALWAYS);
	assert_true(o.color);
	out_done(&o);
	assert_int_equal(0, unsetenv("NO_COLOR"));
	assert_int_equal(0, setenv("CLICOLOR_FORCE", "1", 1));
	start(&o, OUT_COLOR_AUTO);
	assert_true(o.color);
	out_done(&o);
	start(&o, OUT_COLOR_NEVER);
	assert_false(o.color);
	out_done(&o);
	assert_int_equal(0, unsetenv("CLICOLOR_FORCE"));
	start(&o, OUT_COLOR_AUTO);
	assert_false(o.color);
	out_done(&o);
}

static void
a_reader_that_left_is_told_apart_from_a_full_disk(void **state)
{
	struct out o;
	struct err e;
	int p[2];

	(void)state;
	(void)signal(SIGPIPE, SIG_IGN);
	assert_int_equal(0, pipe(p));
	assert_int_equal(0, close(p[0]));
	out_init(&o, p[1], OUT_COLOR_NEVER);
	out_put(&o, "x");
	assert_int_equal(-1, out_flush(&o, &e));
	assert_int_equal(ERR_PEER, e.code);
	out_done(&o);
	assert_int_equal(0, close(p[1]));
}

static void
times_are_relative_and_by_the_clock(void **state)
{
	const int64_t now = 1764585743000000;	/* 2025-12-01T10:42:23Z */
	AUTO(buf) struct buf b;

	(void)state;
	buf_init(&b, 200);
	when_put(&b, now - 720400000, now, 1);
	assert_string_equal("12m ago (10:30Z)", buf_cstr(&b));
	buf_reset(&b);
	when_put(&b, now + 8 * 3600000000, now, 1);
	assert_string_equal("in 8h (18:42Z)", buf_cstr(&b));
	buf_reset(&b);
	clock_put(&b, now - 86400000000, now, 1, 1);
	assert_string_equal("2025-11-30 10:42:23Z", buf_cstr(&b));
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(what_a_stranger_wrote_cannot_reach_the_terminal),
		cmocka_unit_test(a_table_is_aligned_and_its_cells_are_escaped),
		cmocka_unit_test(the_last_column_is_cut_to_the_terminal),
		cmocka_unit_test(a_ragged_table_is_a_fault_and_is_said),
		cmocka_unit_test(an_error_says_what_why_and_what_to_do),
		cmocka_unit_test(an_error_as_json_is_one_object_with_code_and_exit),
		cmocka_unit_test(colours_are_a_choice),
		cmocka_unit_test(a_reader_that_left_is_told_apart_from_a_full_disk),
		cmocka_unit_test(times_are_relative_and_by_the_clock),
	};

	assert_non_null(setlocale(LC_CTYPE, "C.UTF-8"));
	return cmocka_run_group_tests_name("out", tests, NULL, NULL);
}
