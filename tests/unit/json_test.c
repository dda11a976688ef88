/* SPDX-License-Identifier: ISC */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include "base/json.h"

#define COUNT(a) (sizeof(a) / sizeof((a)[0]))

static struct json *
parse(const char *text)
{
	struct json *j = NULL;
	struct err e;

	if (json_parse(str_of(text), &j, &e))
		fail_msg("%s: %s", text, e.msg);
	return j;
}

static void
assert_refused(struct str text, const char *because)
{
	struct json *j = NULL;
	struct err e = { 0 };

	if (json_parse(text, &j, &e) == 0)
		fail_msg("accepted: %.*s", (int)text.n, text.p);
	assert_null(j);
	assert_int_equal(e.code, ERR_FORMAT);
	if (strstr(e.msg, because) == NULL)
		fail_msg("%.*s: \"%s\", not \"%s\"", (int)text.n, text.p,
		    e.msg, because);
}

static void
assert_printed(const struct json *j, const char *want)
{
	AUTO(buf) struct buf b;

	buf_init(&b, 4096);
	json_put(&b, j);
	assert_false(b.failed);
	assert_string_equal(buf_cstr(&b), want);
}

static void
what_is_not_strict_json_is_refused(void **state)
{
	const struct {
		struct str	 text;
		const char	*because;
	} bad[] = {
		{ STR(""), "JSON" },
		{ STR("  "), "JSON" },
		{ STR("{"), "JSON" },
		{ STR("{}x"), "end of file expected" },
		{ STR("{} {}"), "end of file expected" },
		{ STR("{}\0"), "end of file expected" },
		{ STR("\0{}"), "JSON" },
		{ STR("7"), "JSON" },
		{ STR("\"a\""), "JSON" },
		{ STR("null"), "JSON" },
		{ STR("{\"a\":1,}"), "JSON" },
		{ STR("[1,]"), "JSON" },
		{ STR("{'a':1}"), "JSON" },
		{ STR("{a:1}"), "JSON" },
		{ STR("[01]"), "JSON" },
		{ STR("[+1]"), "JSON" },
		{ STR("[NaN]"), "JSON" },
		{ STR("[1] // no"), "JSON" },
		{ STR("{\"a\":1,\"a\":2}"), "duplicate" },
		{ STR("{\"a\":1,\"\\u0061\":2}"), "duplicate" },
		{ STR("[{\"b\":{\"a\":1,\"a\":1}}]"), "duplicate" },
		{ STR("[1.0]"), "not an integer" },
		{ STR("[1e3]"), "not an integer" },
		{ STR("{\"a\":{\"b\":[0.5]}}"), "not an integer" },
		{ STR("[9223372036854775808]"), "too big" },
		{ STR("[-9223372036854775809]"), "too big" },
		{ STR("[\"a\\u0000b\"]"), "\\\\u0000" },
		{ STR("{\"a\\u0000b\":1}"), "JSON" },
		{ STR("[\"a\0b\"]"), "control character" },
		{ STR("[\"a\nb\"]"), "JSON" },
		{ STR("[\"\xff\"]"), "unable to decode" },
		{ STR("[\"\xc0\xaf\"]"), "unable to decode" },
		{ STR("[\"\xed\xa0\x80\"]"), "unable to decode" },
		{ STR("[\"\\ud800\"]"), "JSON" },
		{ STR("\xef\xbb\xbf{}"), "JSON" },
	};

	(void)state;
	for (size_t i = 0; i < COUNT(bad); i++)
		assert_refused(bad[i].text, bad[i].because);
}

static void
the_error_shows_a_strangers_text_escaped(void **state)
{
	struct json *j = NULL;
	struct err e = { 0 };

	(void)state;
	assert_int_equal(json_parse(STR("{\"a\": \x1b[2J}"), &j, &e), -1);
	assert_null(strchr(e.msg, 0x1b));
	assert_int_equal(json_parse(STR("[\xe2\x80\xae]"), &j, &e), -1);
	assert_null(strstr(e.msg, "\xe2\x80\xae"));
}

/* ${n} arrays in each other, the innermost with a bracket in a string. */
static struct str
nested(char *to, size_t n)
{
	memset(to, '[', n);
	memcpy(to + n, "\"[\\\"{\"", 6);
	memset(to + n + 6, ']', n);
	return (struct str){ to, 2 * n + 6 };
}

static void
depth_is_bounded_and_brackets_in_strings_do_not_count(void **state)
{
	static char text[400000];
	AUTO(json) struct json *j = NULL;
	struct err e;

	(void)state;
	assert_int_equal(json_parse(nested(text, JSON_DEPTH_MAX), &j, &e), 0);
	assert_refused(nested(text, JSON_DEPTH_MAX + 1), "32 levels");
	assert_refused(nested(text, 190000), "32 levels");
}

static void
what_is_printed_is_what_was_read_in_the_same_order(void **state)
{
	static const char *const texts[] = {
		"{}", "[]", "[[],{}]",
		"{\"z\":1,\"a\":2,\"m\":{\"y\":[],\"b\":null}}",
		"[9223372036854775807,-9223372036854775808,0]",
		"[true,false,null,\"\",\"\\\"\\\\\\n\\t\\u0001\"]",
		"[\"\xc3\xa4\xe2\x82\xac\xf0\x9f\xa7\xa4\"]",
	};

	(void)state;
	for (size_t i = 0; i < COUNT(texts); i++) {
		AUTO(json) struct json *j = parse(texts[i]);
		AUTO(json) struct json *copy = json_clone(j);

		assert_printed(j, texts[i]);
		assert_printed(copy, texts[i]);
	}
}

static void
a_printed_line_is_harmless_on_a_terminal(void **state)
{
	static const char want[] =
	    "[\"\\u007f\",\"a\\u009bb\",\"\\u202e\",\"\\u200b\","
	    "\"\\udb40\\udc01\",\"\xc3\xa4\"]";
	AUTO(json) struct json *j = parse("[\"\x7f\",\"a\xc2\x9b" "b\","
	    "\"\xe2\x80\xae\",\"\xe2\x80\x8b\",\"\xf3\xa0\x80\x81\","
	    "\"\xc3\xa4\"]");
	AUTO(json) struct json *again = parse(want);
	struct str s, t;

	(void)state;
	assert_printed(j, want);
	/* ... and says the same to a parser. */
	for (size_t i = 0; i < json_len(j); i++) {
		assert_int_equal(json_text(json_at(j, i), &s), 0);
		assert_int_equal(json_text(json_at(again, i), &t), 0);
		assert_true(str_eq(s, t));
	}
}

static void
pretty_printing_keeps_the_value_and_its_lines(void **state)
{
	AUTO(json) struct json *j = parse("{\"a\":[1]}");
	AUTO(buf) struct buf b;

	(void)state;
	buf_init(&b, 100);
	json_put_pretty(&b, j);
	assert_string_equal(buf_cstr(&b), "{\n  \"a\": [\n    1\n  ]\n}");
}

static void
getters_name_what_is_missing_or_of_another_type(void **state)
{
	AUTO(json) struct json *j = parse("{\"s\":\"x\",\"n\":5,\"b\":true,"
	    "\"z\":null}");
	struct err e;
	struct str s;
	int64_t n;
	int v;

	(void)state;
	assert_int_equal(json_get_str(j, "s", &s, &e), 0);
	assert_true(str_eq(s, STR("x")));
	assert_int_equal(json_get_int(j, "n", 5, 5, &n, &e), 0);
	assert_int_equal(n, 5);
	assert_int_equal(json_get_bool(j, "b", &v, &e), 0);
	assert_int_equal(v, 1);

	assert_int_equal(json_get_str(j, "n", &s, &e), -1);
	assert_string_equal(e.msg, "\"n\" is not a string");
	assert_int_equal(json_get_int(j, "s", 0, 9, &n, &e), -1);
	assert_string_equal(e.msg, "\"s\" is not an integer");
	assert_int_equal(json_get_int(j, "b", 0, 9, &n, &e), -1);
	assert_int_equal(json_get_bool(j, "n", &v, &e), -1);
	assert_string_equal(e.msg, "\"n\" is neither true nor false");
	assert_int_equal(json_get_str(j, "none", &s, &e), -1);
	assert_string_equal(e.msg, "\"none\" is missing");
	assert_int_equal(json_get_int(j, "z", 0, 9, &n, &e), -1);
	assert_int_equal(e.code, ERR_FORMAT);
	assert_int_equal(json_get_int(j, "n", 6, 9, &n, &e), -1);
	assert_string_equal(e.msg, "\"n\" is 5, not between 6 and 9");
	assert_int_equal(json_get_int(j, "n", 0, 4, &n, &e), -1);
	/* Not an object at all. */
	assert_int_equal(json_get_str(json_get(j, "s"), "a", &s, &e), -1);
	assert_int_equal(json_get_str(NULL, "a", &s, &e), -1);
}

static void
optional_getters_leave_the_output_alone(void **state)
{
	AUTO(json) struct json *j = parse("{\"z\":null,\"w\":[]}");
	struct str s = STR("kept");
	struct err e;
	int64_t n = 7;
	int v = 3;

	(void)state;
	assert_int_equal(json_opt_str(j, "z", &s, &e), 0);
	assert_int_equal(json_opt_str(j, "none", &s, &e), 0);
	assert_int_equal(json_opt_int(j, "z", 0, 1, &n, &e), 0);
	assert_int_equal(json_opt_bool(j, "z", &v, &e), 0);
	assert_true(str_eq(s, STR("kept")));
	assert_int_equal(n, 7);
	assert_int_equal(v, 3);
	/* ... but another type is still wrong. */
	assert_int_equal(json_opt_str(j, "w", &s, &e), -1);
	assert_int_equal(json_opt_int(j, "w", 0, 1, &n, &e), -1);
	assert_int_equal(json_opt_bool(j, "w", &v, &e), -1);
}

static void
an_unknown_key_is_named_and_escaped(void **state)
{
	static const char *const keys[] = { "a", "b", NULL };
	AUTO(json) struct json *good = parse("{\"b\":1,\"a\":1}");
	AUTO(json) struct json *bad = parse("{\"a\":1,\"\\u001b[c\":2}");
	AUTO(json) struct json *array = parse("[]");
	struct err e;

	(void)state;
	assert_int_equal(json_known(good, keys, &e), 0);
	assert_int_equal(json_known(bad, keys, &e), -1);
	assert_string_equal(e.msg, "\"\\x1b[c\" is not known here");
	assert_int_equal(json_known(array, keys, &e), -1);
}

static void
keys_and_items_are_found_by_number(void **state)
{
	AUTO(json) struct json *j = parse("{\"z\":[3,4],\"a\":0}");
	int64_t n = 0;

	(void)state;
	assert_string_equal(json_key_at(j, 0), "z");
	assert_string_equal(json_key_at(j, 1), "a");
	assert_null(json_key_at(j, 2));
	assert_int_equal(json_len(json_get(j, "z")), 2);
	assert_int_equal(json_int(json_at(json_get(j, "z"), 1), &n), 0);
	assert_int_equal(n, 4);
	assert_null(json_at(json_get(j, "z"), 2));
	assert_int_equal(json_int(json_get(j, "z"), &n), -1);
	assert_true(json_is_null(json_get(j, "none")));
	assert_true(json_is_array(json_get(j, "z")));
	assert_false(json_is_object(NULL));
	assert_true(json_is_int(json_get(j, "a")));
}

static void
every_kind_of_value_can_be_built(void **state)
{
	static const uint8_t raw[] = { 0x00, 0xff };
	AUTO(json) struct json *o = json_make_object();
	struct json *a = json_make_array();
	struct err e;

	(void)state;
	json_set_str(o, "s", STR("a\0\xff\xc3\xa4"));
	json_set_cstr(o, "c", NULL);
	json_set_int(o, "i", INT64_MIN);
	json_set_bool(o, "b", 7);
	json_set_null(o, "n");
	json_set_hex(o, "h", BYTES(raw));
	json_set_time(o, "t", 1);
	json_add_str(a, STR(""));
	json_add(a, json_make_object());
	json_set(o, "a", a);
	assert_int_equal(json_ok(o, "test", &e), 0);
	assert_printed(o, "{\"s\":\"a\\\\x00\\\\xff\xc3\xa4\",\"c\":null,"
	    "\"i\":-9223372036854775808,\"b\":true,\"n\":null,\"h\":\"00ff\","
	    "\"t\":\"1970-01-01T00:00:00.000Z\",\"a\":[\"\",{}]}");
}

static void
a_container_that_failed_cannot_pass_for_whole(void **state)
{
	AUTO(json) struct json *o = json_make_object();
	struct json *inner = json_make_object();
	AUTO(buf) struct buf b;
	struct err e;

	(void)state;
	buf_init(&b, 100);
	json_set_int(inner, "kept", 1);
	json_set(o, "inner", inner);
	/* As without memory: a value that could not be made. */
	json_set(inner, "lost", NULL);
	json_set_int(inner, "after", 1);
	assert_int_equal(json_ok(o, "reply", &e), -1);
	assert_int_equal(e.code, ERR_NOMEM);
	json_put(&b, o);
	assert_int_equal(b.failed, ERR_NOMEM);
	assert_null(json_clone(o));
	/* A target that could not be made takes, and frees, what it gets. */
	json_set_int(NULL, "x", 1);
	json_add_str(NULL, STR("x"));
	assert_int_equal(json_ok(NULL, "reply", &e), -1);
}

static void
a_buffer_that_is_too_small_says_so(void **state)
{
	AUTO(json) struct json *j = parse("{\"a\":\"0123456789\"}");
	AUTO(buf) struct buf b;

	(void)state;
	buf_init(&b, 10);
	json_put(&b, j);
	assert_int_equal(b.failed, ERR_TOOBIG);
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(what_is_not_strict_json_is_refused),
		cmocka_unit_test(the_error_shows_a_strangers_text_escaped),
		cmocka_unit_test(
		    depth_is_bounded_and_brackets_in_strings_do_not_count),
		cmocka_unit_test(
		    what_is_printed_is_what_was_read_in_the_same_order),
		cmocka_unit_test(a_printed_line_is_harmless_on_a_terminal),
		cmocka_unit_test(pretty_printing_keeps_the_value_and_its_lines),
		cmocka_unit_test(
		    getters_name_what_is_missing_or_of_another_type),
		cmocka_unit_test(optional_getters_leave_the_output_alone),
		cmocka_unit_test(an_unknown_key_is_named_and_escaped),
		cmocka_unit_test(keys_and_items_are_found_by_number),
		cmocka_unit_test(every_kind_of_value_can_be_built),
		cmocka_unit_test(a_container_that_failed_cannot_pass_for_whole),
		cmocka_unit_test(a_buffer_that_is_too_small_says_so),
	};

	return cmocka_run_group_tests_name("json", tests, NULL, NULL);
}
