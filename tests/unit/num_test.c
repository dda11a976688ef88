/* SPDX-License-Identifier: ISC */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include "base/num.h"

#define COUNT(a) (sizeof(a) / sizeof((a)[0]))

typedef int (*parse_fn)(struct str, int64_t, int64_t, int64_t *, struct err *);

static void
assert_taken(parse_fn parse, const char *text, int64_t want)
{
	struct err e = { 0 };
	int64_t got = -77;

	if (parse(str_of(text), INT64_MIN, INT64_MAX, &got, &e))
		fail_msg("%s: %s", text, e.msg);
	assert_int_equal(got, want);
}

static void
assert_refused(parse_fn parse, struct str text)
{
	struct err e = { 0 };
	int64_t got = -77;

	if (parse(text, INT64_MIN, INT64_MAX, &got, &e) == 0)
		fail_msg("taken: %.*s", (int)text.n, text.p);
	assert_int_equal(e.code, ERR_FORMAT);
	assert_int_equal(got, -77);
}

static void
numbers_are_taken_up_to_the_ends_of_64_bits(void **state)
{
	(void)state;
	assert_taken(num_parse, "0", 0);
	assert_taken(num_parse, "-1", -1);
	assert_taken(num_parse, "9223372036854775807", INT64_MAX);
	assert_taken(num_parse, "-9223372036854775807", -INT64_MAX);
}

static void
what_only_looks_like_a_number_is_refused(void **state)
{
	const struct str bad[] = { STR(""), STR("-"), STR("+1"), STR(" 1"),
		STR("1 "), STR("01"), STR("00"), STR("-0"), STR("--1"),
		STR("1.0"), STR("1e3"), STR("0x10"), STR("1\0"), STR("a"),
		STR("9223372036854775808"), STR("18446744073709551617"),
		STR("99999999999999999999999"), STR("1,000"), STR("\xd9\xa1") };

	(void)state;
	for (size_t i = 0; i < COUNT(bad); i++)
		assert_refused(num_parse, bad[i]);
}

static void
a_number_out_of_bounds_names_the_bounds(void **state)
{
	struct err e;
	int64_t n = 5;

	(void)state;
	assert_int_equal(num_parse(STR("1"), 1, 9, &n, &e), 0);
	assert_int_equal(num_parse(STR("9"), 1, 9, &n, &e), 0);
	assert_int_equal(num_parse(STR("0"), 1, 9, &n, &e), -1);
	assert_int_equal(e.code, ERR_USAGE);
	assert_int_equal(num_parse(STR("10"), 1, 9, &n, &e), -1);
	assert_string_equal(e.msg, "10 is not between 1 and 9");
	assert_int_equal(n, 9);
}

static void
what_a_person_typed_is_shown_escaped(void **state)
{
	struct err e;
	int64_t n;

	(void)state;
	assert_int_equal(num_parse(STR("\x1b[2J"), 0, 9, &n, &e), -1);
	assert_string_equal(e.msg, "\"\\x1b[2J\" is not a number");
}

static void
sizes_are_powers_of_1024(void **state)
{
	const struct str bad[] = { STR(""), STR("M"), STR("1MB"), STR("1 M"),
		STR("1.5G"), STR("-1"), STR("01M"), STR("1E"), STR("1B"),
		STR("1\0"), STR("1+"), STR("9007199254740992K"),
		STR("8388608T"), STR("1\x0b") };
	struct err e;
	int64_t n;

	(void)state;
	assert_taken(size_parse, "0", 0);
	assert_taken(size_parse, "4096", 4096);
	assert_taken(size_parse, "64K", 65536);
	assert_taken(size_parse, "64m", 67108864);
	assert_taken(size_parse, "1G", 1073741824);
	assert_taken(size_parse, "2T", INT64_C(2199023255552));
	assert_taken(size_parse, "1P", INT64_C(1125899906842624));
	assert_taken(size_parse, "8191P", INT64_C(8191) << 50);
	for (size_t i = 0; i < COUNT(bad); i++)
		assert_refused(size_parse, bad[i]);
	assert_int_equal(size_parse(STR("2G"), 1 << 20, 1 << 30, &n, &e), -1);
	assert_int_equal(e.code, ERR_USAGE);
	assert_string_equal(e.msg, "2G is not between 1 MiB and 1 GiB");
}

static void
durations_go_from_long_to_short_units(void **state)
{
	const struct str bad[] = { STR(""), STR("90"), STR("h"), STR("1h30"),
		STR("30m1h"), STR("1h1h"), STR("1H"), STR("1 h"), STR("1h 3m"),
		STR("-1h"), STR("1.5h"), STR("01h"), STR("1w"), STR("1us"),
		STR("106751992d"), STR("106751991d1440m900000s"),
		STR("1h\0"), STR("9223372036854775807ms") };
	struct err e;
	int64_t n;

	(void)state;
	assert_taken(duration_parse, "0s", 0);
	assert_taken(duration_parse, "500ms", 500000);
	assert_taken(duration_parse, "90s", 90000000);
	assert_taken(duration_parse, "30m", INT64_C(1800000000));
	assert_taken(duration_parse, "8h", INT64_C(28800000000));
	assert_taken(duration_parse, "2d", INT64_C(172800000000));
	assert_taken(duration_parse, "1h30m", INT64_C(5400000000));
	assert_taken(duration_parse, "1d2h3m4s5ms", INT64_C(93784005000));
	assert_taken(duration_parse, "106751991d", INT64_C(9223372022400000000));
	for (size_t i = 0; i < COUNT(bad); i++)
		assert_refused(duration_parse, bad[i]);
	assert_int_equal(duration_parse(STR("2d"), INT64_C(60000000),
	    INT64_C(86400000000), &n, &e), -1);
	assert_int_equal(e.code, ERR_USAGE);
	assert_string_equal(e.msg, "2d is not between 1m and 1d");
}

static void
durations_are_shown_in_two_units_at_most(void **state)
{
	static const struct {
		int64_t		 us;
		const char	*want;
	} t[] = {
		{ 0, "0s" }, { 1, "1us" }, { 999, "999us" }, { 1000, "1ms" },
		{ 99999, "99ms" }, { 100000, "0.1s" }, { 340000, "0.3s" },
		{ 1000000, "1s" }, { 2590000, "2.5s" }, { 9999999, "9.9s" },
		{ 10000000, "10s" }, { 59999999, "59s" }, { 60000000, "1m" },
		{ 842000000, "14m 2s" }, { INT64_C(3600000000), "1h" },
		{ INT64_C(3661000000), "1h 1m" },
		{ INT64_C(3601000000), "1h" },
		{ INT64_C(28800000000), "8h" },
		{ INT64_C(183600000000), "2d 3h" },
		{ -842000000, "-14m 2s" },
		{ INT64_MIN, "-106751991d 4h" },
	};

	(void)state;
	for (size_t i = 0; i < COUNT(t); i++) {
		AUTO(buf) struct buf b;

		buf_init(&b, 100);
		duration_put(&b, t[i].us);
		assert_string_equal(buf_cstr(&b), t[i].want);
	}
}

static void
sizes_are_shown_for_people(void **state)
{
	static const struct {
		int64_t		 n;
		const char	*want;
	} t[] = {
		{ 0, "0 B" }, { 1023, "1023 B" }, { 1024, "1 KiB" },
		{ 1536, "1.5 KiB" }, { 12 << 20, "12 MiB" },
		{ (12 << 20) + (1 << 19), "12 MiB" },
		{ INT64_C(1) << 40, "1 TiB" }, { INT64_MAX, "7.9 EiB" },
		{ -2048, "-2 KiB" }, { INT64_MIN, "-8 EiB" },
	};

	(void)state;
	for (size_t i = 0; i < COUNT(t); i++) {
		AUTO(buf) struct buf b;

		buf_init(&b, 100);
		size_put(&b, t[i].n);
		assert_string_equal(buf_cstr(&b), t[i].want);
	}
}

static void
times_are_rfc_3339_in_utc(void **state)
{
	static const struct {
		int64_t		 us;
		const char	*want;
	} t[] = {
		{ 0, "1970-01-01T00:00:00.000Z" },
		{ INT64_C(1796120943120000), "2026-12-01T10:29:03.120Z" },
		{ INT64_C(951782400000000), "2000-02-29T00:00:00.000Z" },
		{ INT64_C(-1000), "1969-12-31T23:59:59.999Z" },
		{ INT64_C(-62167219200000000), "0000-01-01T00:00:00.000Z" },
		{ INT64_C(253402300799999000), "9999-12-31T23:59:59.999Z" },
	};
	char text[RFC3339_MAX];
	struct err e;
	int64_t us;

	(void)state;
	for (size_t i = 0; i < COUNT(t); i++) {
		assert_string_equal(rfc3339_str(t[i].us, text), t[i].want);
		assert_int_equal(rfc3339_parse(str_of(text), &us, &e), 0);
		assert_int_equal(us, t[i].us);
	}
	/* Microseconds are cut downwards, years beyond four digits clamped. */
	assert_string_equal(rfc3339_str(1999, text), "1970-01-01T00:00:00.001Z");
	assert_string_equal(rfc3339_str(-1, text), "1969-12-31T23:59:59.999Z");
	assert_string_equal(rfc3339_str(INT64_MAX, text),
	    "9999-12-31T23:59:59.999Z");
	assert_string_equal(rfc3339_str(INT64_MIN, text),
	    "0000-01-01T00:00:00.000Z");
}

static void
any_other_time_is_refused(void **state)
{
	const struct str bad[] = {
		STR(""), STR("2026-12-01"), STR("2026-12-01T10:29:03Z"),
		STR("2026-12-01T10:29:03.1200Z"),
		STR("2026-12-01t10:29:03.120Z"),
		STR("2026-12-01 10:29:03.120Z"),
		STR("2026-12-01T10:29:03.120z"),
		STR("2026-12-01T10:29:03,120Z"),
		STR("2026-13-01T10:29:03.120Z"),
		STR("2026-00-01T10:29:03.120Z"),
		STR("2026-12-00T10:29:03.120Z"),
		STR("2026-02-29T10:29:03.120Z"),
		STR("2026-12-01T24:00:00.000Z"),
		STR("2026-12-01T10:60:03.120Z"),
		STR("2026-12-31T23:59:60.000Z"),
		STR("2026-12-01T10:29:03.12\0Z"),
		STR("+026-12-01T10:29:03.120Z"),
	};

	(void)state;
	for (size_t i = 0; i < COUNT(bad); i++) {
		struct err e = { 0 };
		int64_t us = -77;

		if (rfc3339_parse(bad[i], &us, &e) == 0)
			fail_msg("taken: %.*s", (int)bad[i].n, bad[i].p);
		assert_int_equal(e.code, ERR_FORMAT);
		assert_int_equal(us, -77);
	}
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(numbers_are_taken_up_to_the_ends_of_64_bits),
		cmocka_unit_test(what_only_looks_like_a_number_is_refused),
		cmocka_unit_test(a_number_out_of_bounds_names_the_bounds),
		cmocka_unit_test(what_a_person_typed_is_shown_escaped),
		cmocka_unit_test(sizes_are_powers_of_1024),
		cmocka_unit_test(durations_go_from_long_to_short_units),
		cmocka_unit_test(durations_are_shown_in_two_units_at_most),
		cmocka_unit_test(sizes_are_shown_for_people),
		cmocka_unit_test(times_are_rfc_3339_in_utc),
		cmocka_unit_test(any_other_time_is_refused),
	};

	return cmocka_run_group_tests_name("num", tests, NULL, NULL);
}
