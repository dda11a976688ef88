/* SPDX-License-Identifier: ISC */
/* Help and completions come from one table; nothing of it is left out. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>
#include <cmocka.h>

#include "cli/help.h"

static void
every_command_stands_in_the_help(void **state)
{
	struct out o;

	(void)state;
	out_init(&o, -1, OUT_COLOR_NEVER);
	help_all(&o);
	for (int i = COMMAND_ALL + 1; i < COMMAND_END; i++) {
		const struct command *cmd = command_at((enum command_code)i);
		char line[160];

		(void)snprintf(line, sizeof(line), "\n  %-16s %s\n", cmd->words,
		    cmd->doc);
		if (strstr(buf_cstr(&o.b), line) == NULL)
			fail_msg("%s", cmd->words);
	}
	out_done(&o);
}

static void
every_flag_stands_in_the_help_of_its_command(void **state)
{
	(void)state;
	for (int i = COMMAND_ALL + 1; i < COMMAND_END; i++) {
		struct out o;

		out_init(&o, -1, OUT_COLOR_NEVER);
		help_command(&o, command_at((enum command_code)i));
		for (int f = FLAG_NONE + 1; f < FLAG_END; f++) {
			const struct flag *flag = flag_at((enum flag_code)f);
			int taken = flag_doc(flag->code, (enum command_code)i) !=
			    NULL || flag_doc(flag->code, COMMAND_ALL) != NULL;
			char word[64];

			(void)snprintf(word, sizeof(word), "--%s%s", flag->name,
			    flag->type == FLAG_SWITCH ? "  " : " ");
			if (taken != (strstr(buf_cstr(&o.b), word) != NULL))
				fail_msg("%d %s", i, flag->name);
		}
		out_done(&o);
	}
}

static void
no_line_of_the_help_is_wider_than_a_terminal(void **state)
{
	(void)state;
	for (int i = COMMAND_ALL; i < COMMAND_END; i++) {
		struct out o;
		const char *p;

		out_init(&o, -1, OUT_COLOR_NEVER);
		if (i == COMMAND_ALL)
			help_all(&o);
		else
			help_command(&o, command_at((enum command_code)i));
		for (p = buf_cstr(&o.b); *p != '\0'; ) {
			size_t n = strcspn(p, "\n");

			if (n > 96)
				fail_msg("%.*s", (int)n, p);
			p += n;
			p += *p != '\0';
		}
		out_done(&o);
	}
}

static void
every_command_and_flag_stands_in_the_completions(void **state)
{
	static void (*const shells[])(struct out *) = { completion_bash,
	    completion_zsh, completion_fish };

	(void)state;
	for (size_t k = 0; k < 3; k++) {
		struct out o;

		out_init(&o, -1, OUT_COLOR_NEVER);
		shells[k](&o);
		for (int i = COMMAND_ALL + 1; i < COMMAND_END; i++) {
			const char *words = command_at((enum command_code)i)->words;
			const char *last = strrchr(words, ' ');

			if (strstr(buf_cstr(&o.b), last == NULL ? words :
			    last + 1) == NULL)
				fail_msg("%zu %s", k, words);
		}
		for (int f = FLAG_NONE + 1; f < FLAG_END; f++) {
			const char *name = flag_at((enum flag_code)f)->name;
			char word[64];

			(void)snprintf(word, sizeof(word), k == 2 ? "-l %s" :
			    "--%s", name);
			if (strstr(buf_cstr(&o.b), word) == NULL)
				fail_msg("%zu %s", k, name);
		}
		out_done(&o);
	}
}

static void
the_help_as_json_has_every_command_flag_and_exit_code(void **state)
{
	AUTO(json) struct json *j = help_json(NULL);
	struct json *commands = json_get(j, "commands");
	size_t rows = 0;
	const char *doc;
	int code;

	(void)state;
	assert_int_equal(COMMAND_END - 1, json_len(commands));
	for (size_t i = 0; i < json_len(commands); i++) {
		struct json *cmd = json_at(commands, i);
		size_t want = 0;

		for (int f = FLAG_NONE + 1; f < FLAG_END; f++)
			want += flag_doc((enum flag_code)f,
			    (enum command_code)(i + 1)) != NULL;
		assert_int_equal(want, json_len(json_get(cmd, "flags")));
	}
	while ((doc = exit_at(rows, &code)) != NULL) {
		char number[12];

		(void)snprintf(number, sizeof(number), "%d", code);
		assert_true(json_is_string(json_get(json_get(j, "exit_codes"),
		    number)));
		assert_true(doc[0] != '\0');
		rows++;
	}
}

static void
every_error_of_the_table_has_an_exit_code_that_is_explained(void **state)
{
	(void)state;
	for (int c = 1; c < ERR_CODE_END; c++) {
		int code, found = 0;

		if (strcmp(err_name(c), "BUG") == 0 && c != ERR_BUG)
			continue;
		for (size_t i = 0; exit_at(i, &code) != NULL; i++)
			found |= code == err_exit(c);
		if (!found)
			fail_msg("%s %d", err_name(c), err_exit(c));
	}
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(every_command_stands_in_the_help),
		cmocka_unit_test(every_flag_stands_in_the_help_of_its_command),
		cmocka_unit_test(no_line_of_the_help_is_wider_than_a_terminal),
		cmocka_unit_test(every_command_and_flag_stands_in_the_completions),
		cmocka_unit_test(the_help_as_json_has_every_command_flag_and_exit_code),
		cmocka_unit_test(every_error_of_the_table_has_an_exit_code_that_is_explained),
	};

	return cmocka_run_group_tests_name("help", tests, NULL, NULL);
}
