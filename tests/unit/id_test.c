/* SPDX-License-Identifier: ISC */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include "base/id.h"

#define COUNT(a) (sizeof(a) / sizeof((a)[0]))

static const struct id zeros = { { 0 } };

static void
ids_of_every_kind_come_back(void **state)
{
	char text[ID_TEXT_MAX];
	struct id id, back;
	struct err e;

	(void)state;
	for (int k = ID_NONE; k < ID_KIND_END; k++) {
		size_t n = strlen(id_prefix((enum id_kind)k));

		assert_int_equal(n, k == ID_NONE ? 0 : 4);
		for (int i = 0; i < 200; i++) {
			id_random(&id);
			(void)id_str((enum id_kind)k, &id, text);
			assert_int_equal(strlen(text), n + ID_CHARS);
			if (id_parse((enum id_kind)k, str_of(text), &back, &e))
				fail_msg("%s: %s", text, e.msg);
			assert_true(id_eq(&id, &back));
		}
	}
}

static void
the_text_is_crockfords_base32_with_the_first_bit_first(void **state)
{
	/* 0x00443214c7: the digits 0 1 2 3 4 5 6 7 */
	const struct id id = { { 0x00, 0x44, 0x32, 0x14, 0xc7,
		0xff, 0xff, 0xff, 0xff, 0xfe } };
	char text[ID_TEXT_MAX];

	(void)state;
	assert_string_equal(id_str(ID_SESSION, &id, text),
	    "ses_01234567zzzzzzzy");
	assert_string_equal(id_str(ID_NONE, &zeros, text), "0000000000000000");
}

static void
random_ids_do_not_repeat(void **state)
{
	struct id seen[64];

	(void)state;
	for (size_t i = 0; i < COUNT(seen); i++) {
		id_random(&seen[i]);
		for (size_t k = 0; k < i; k++)
			assert_false(id_eq(&seen[i], &seen[k]));
	}
}

static void
a_whole_id_is_taken_in_one_spelling_only(void **state)
{
	const struct str bad[] = {
		STR(""), STR("ses_"), STR("ses_000000000000000"),
		STR("ses_00000000000000000"), STR("exp_0000000000000000"),
		STR("SES_0000000000000000"), STR("ses-0000000000000000"),
		STR("0000000000000000"), STR("ses_000000000000000O"),
		STR("ses_000000000000000l"), STR("ses_000000000000000u"),
		STR("ses_000000000000000A"), STR("ses_000000000000000\0"),
		STR("ses_ 000000000000000"),
	};
	struct id id = { { 1 } };
	struct err e;

	(void)state;
	for (size_t i = 0; i < COUNT(bad); i++) {
		assert_int_equal(id_parse(ID_SESSION, bad[i], &id, &e), -1);
		assert_int_equal(e.code, ERR_FORMAT);
		assert_int_equal(id.b[0], 1);
	}
}

static int
matches(const char *typed, enum id_kind kind, const struct id *id)
{
	struct id_prefix p;
	struct err e;

	if (id_prefix_parse(str_of(typed), &p, &e))
		fail_msg("%s: %s", typed, e.msg);
	return id_prefix_match(&p, kind, id);
}

static void
a_prefix_matches_as_a_person_types_it(void **state)
{
	struct id id;
	struct err e;

	(void)state;
	assert_int_equal(id_parse(ID_SESSION, STR("ses_10abv4k2m8x0qrt3"),
	    &id, &e), 0);
	assert_true(matches("ses_10ab", ID_SESSION, &id));
	assert_true(matches("1", ID_SESSION, &id));
	assert_true(matches("10abv4k2m8x0qrt3", ID_SESSION, &id));
	assert_true(matches("ses_10abv4k2m8x0qrt3", ID_SESSION, &id));
	/* Crockford's: I, L, O and capitals */
	assert_true(matches("IOAB", ID_SESSION, &id));
	assert_true(matches("lo", ID_SESSION, &id));
	assert_true(matches("SES_L0aB", ID_SESSION, &id));

	assert_false(matches("ses_10ac", ID_SESSION, &id));
	assert_false(matches("exp_10ab", ID_SESSION, &id));
	assert_false(matches("10abv4k2m8x0qrt4", ID_SESSION, &id));
	assert_true(matches("10ab", ID_EXPOSURE, &id));
}

static void
what_is_no_prefix_is_refused_with_what_to_do(void **state)
{
	const struct str bad[] = {
		STR(""), STR("ses_"), STR("foo_12"), STR("12u"), STR("1 2"),
		STR("12345678901234567"), STR("ses_12345678901234567"),
		STR("ses_ses_1"), STR("1\0"), STR("\xc3\xa4"), STR("*"),
		STR("\x1b[m"),
	};
	struct id_prefix p = { .nchars = 9 };
	struct err e;

	(void)state;
	for (size_t i = 0; i < COUNT(bad); i++) {
		assert_int_equal(id_prefix_parse(bad[i], &p, &e), -1);
		assert_int_equal(e.code, ERR_FORMAT);
		assert_null(strchr(e.msg, 0x1b));
		assert_true(e.fix[0] != '\0');
		assert_int_equal(p.nchars, 9);
	}
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(ids_of_every_kind_come_back),
		cmocka_unit_test(
		    the_text_is_crockfords_base32_with_the_first_bit_first),
		cmocka_unit_test(random_ids_do_not_repeat),
		cmocka_unit_test(a_whole_id_is_taken_in_one_spelling_only),
		cmocka_unit_test(a_prefix_matches_as_a_person_types_it),
		cmocka_unit_test(what_is_no_prefix_is_refused_with_what_to_do),
	};

	return cmocka_run_group_tests_name("id", tests, NULL, NULL);
}
