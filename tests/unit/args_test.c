/* SPDX-License-Identifier: ISC */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>
#include <cmocka.h>

#include "cli/args.h"

/* A line of words, read; the words live as long as ${text}. */
static int
read_line(char *text, struct args *a, struct err *e)
{
	char *argv[32];
	int argc = 0;

	for (char *w = strtok(text, " "); w != NULL; w = strtok(NULL, " "))
		argv[argc++] = w;
	return args_parse(argc, argv, a, e);
}

#define LINE(name, text) char name[] = text

static void
every_command_is_found_by_its_words(void **state)
{
	(void)state;
	for (int i = COMMAND_ALL + 1; i < COMMAND_END; i++) {
		const struct command *cmd = command_at((enum command_code)i);
		char text[64], *argv[3];
		int argc = 0, used = 0;

		(void)snprintf(text, sizeof(text), "%s", cmd->words);
		for (char *w = strtok(text, " "); w != NULL;
		    w = strtok(NULL, " "))
			argv[argc++] = w;
		assert_ptr_equal(cmd, command_find(argc, argv, &used));
		assert_int_equal(argc, used);
	}
}

static void
every_flag_of_every_command_is_read(void **state)
{
	(void)state;
	for (int i = COMMAND_ALL + 1; i < COMMAND_END; i++)
		for (int f = FLAG_NONE + 1; f < FLAG_END; f++) {
			const struct command *cmd = command_at((enum command_code)i);
			const struct flag *flag = flag_at((enum flag_code)f);
			char text[128], word[64];
			AUTO(args) struct args a;
			struct err e;
			int taken = flag_doc(flag->code, cmd->code) != NULL ||
			    flag_doc(flag->code, COMMAND_ALL) != NULL;

			(void)snprintf(word, sizeof(word), "%s",
			    flag->type == FLAG_DURATION ? "3m" :
			    flag->type == FLAG_COUNT ? "3" : flag->value);
			if (flag->type == FLAG_CHOICE)
				word[strcspn(word, "|")] = '\0';
			(void)snprintf(text, sizeof(text), "%s --help --%s%s%s",
			    cmd->words, flag->name, word[0] == '\0' ? "" : "=",
			    word);
			assert_int_equal(taken, read_line(text, &a, &e) == 0);
			assert_int_equal(taken, args_has(&a, flag->code));
		}
}

static void
letters_are_unique_within_a_command(void **state)
{
	(void)state;
	for (int i = COMMAND_ALL + 1; i < COMMAND_END; i++) {
		char seen[256] = { 0 };

		for (int f = FLAG_NONE + 1; f < FLAG_END; f++) {
			const struct flag *flag = flag_at((enum flag_code)f);

			if (flag->letter == 0 ||
			    (flag_doc(flag->code, (enum command_code)i) == NULL &&
			    flag_doc(flag->code, COMMAND_ALL) == NULL))
				continue;
			assert_int_equal(0, seen[(unsigned char)flag->letter]++);
		}
	}
}

static void
an_unknown_flag_is_wrong_use_and_names_what_was_meant(void **state)
{
	AUTO(args) struct args a;
	struct err e;
	LINE(line, "version --jsn");

	(void)state;
	assert_int_equal(-1, read_line(line, &a, &e));
	assert_int_equal(ERR_USAGE, e.code);
	assert_int_equal(2, err_exit(e.code));
	assert_non_null(strstr(e.fix, "--json"));
}

static void
an_unknown_command_is_wrong_use_and_names_what_was_meant(void **state)
{
	AUTO(args) struct args a;
	struct err e;
	LINE(line, "hepl");

	(void)state;
	assert_int_equal(-1, read_line(line, &a, &e));
	assert_int_equal(ERR_USAGE, e.code);
	assert_non_null(strstr(e.fix, "glove help"));
}

static void
a_value_comes_behind_an_equals_sign_or_in_the_next_word(void **state)
{
	AUTO(args) struct args a, b;
	struct err e;
	LINE(one, "version --home=/x=y");
	LINE(two, "--home /x=y version");

	(void)state;
	assert_int_equal(0, read_line(one, &a, &e));
	assert_string_equal("/x=y", args_text(&a, FLAG_HOME, ""));
	assert_int_equal(0, read_line(two, &b, &e));
	assert_string_equal("/x=y", args_text(&b, FLAG_HOME, ""));
	assert_int_equal(COMMAND_VERSION, b.command->code);
}

static void
letters_may_stand_together(void **state)
{
	AUTO(args) struct args a;
	struct err e;
	LINE(line, "version -qv");

	(void)state;
	assert_int_equal(0, read_line(line, &a, &e));
	assert_true(args_has(&a, FLAG_QUIET));
	assert_true(args_has(&a, FLAG_VERBOSE));
}

static void
values_are_checked_when_they_are_read(void **state)
{
	static const char *const lines[] = {
		"version --timeout=5", "version --timeout=soon",
		"version --color=pink", "version --json=yes", "version --home",
		"version --home=", "version x", "completion", "help a b c",
	};

	(void)state;
	for (size_t i = 0; i < sizeof(lines) / sizeof(lines[0]); i++) {
		AUTO(args) struct args a;
		struct err e;
		char text[64];

		(void)snprintf(text, sizeof(text), "%s", lines[i]);
		if (read_line(text, &a, &e) == 0)
			fail_msg("%s", lines[i]);
		assert_int_equal(ERR_USAGE, e.code);
	}
}

static void
two_dashes_end_the_flags(void **state)
{
	AUTO(args) struct args a;
	struct err e;
	LINE(line, "help -- --json");

	(void)state;
	assert_int_equal(0, read_line(line, &a, &e));
	assert_false(args_has(&a, FLAG_JSON));
	assert_int_equal(1, a.n);
	assert_string_equal("--json", a.v[0]);
}

static void
too_many_flags_are_refused(void **state)
{
	char *argv[ARGS_FLAGS_MAX + 2];
	char version[] = "version", quiet[] = "-q";
	AUTO(args) struct args a;
	struct err e;

	(void)state;
	argv[0] = version;
	for (int i = 1; i < ARGS_FLAGS_MAX + 2; i++)
		argv[i] = quiet;
	assert_int_equal(-1, args_parse(ARGS_FLAGS_MAX + 2, argv, &a, &e));
	assert_int_equal(ERR_USAGE, e.code);
}

static void
distances_count_edits_and_swaps(void **state)
{
	(void)state;
	assert_int_equal(0, text_distance("run", "run"));
	assert_int_equal(1, text_distance("run", "ru"));
	assert_int_equal(1, text_distance("run", "urn"));
	assert_int_equal(3, text_distance("", "run"));
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(every_command_is_found_by_its_words),
		cmocka_unit_test(every_flag_of_every_command_is_read),
		cmocka_unit_test(letters_are_unique_within_a_command),
		cmocka_unit_test(an_unknown_flag_is_wrong_use_and_names_what_was_meant),
		cmocka_unit_test(an_unknown_command_is_wrong_use_and_names_what_was_meant),
		cmocka_unit_test(a_value_comes_behind_an_equals_sign_or_in_the_next_word),
		cmocka_unit_test(letters_may_stand_together),
		cmocka_unit_test(values_are_checked_when_they_are_read),
		cmocka_unit_test(two_dashes_end_the_flags),
		cmocka_unit_test(too_many_flags_are_refused),
		cmocka_unit_test(distances_count_edits_and_swaps),
	};

	return cmocka_run_group_tests_name("args", tests, NULL, NULL);
}
