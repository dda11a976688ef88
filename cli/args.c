/* SPDX-License-Identifier: ISC */
/* args.c - one strict reading of a command line, by command.def. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/num.h"
#include "cli/args.h"

enum { DURATION_MAX_S = 366 * 86400, COUNT_MAX = 1000000000 };

static int
taken(const struct args *a, enum flag_code flag)
{
	return flag_doc(flag, COMMAND_ALL) != NULL || (a->command != NULL &&
	    flag_doc(flag, a->command->code) != NULL);
}

static const struct flag *
by_name(const char *name, size_t len)
{
	for (int f = FLAG_NONE + 1; f < FLAG_END; f++) {
		const struct flag *flag = flag_at((enum flag_code)f);

		if (strlen(flag->name) == len &&
		    memcmp(flag->name, name, len) == 0)
			return flag;
	}
	return NULL;
}

/* The same letter may stand for two flags, in different commands. */
static const struct flag *
by_letter(const struct args *a, char letter)
{
	for (int f = FLAG_NONE + 1; f < FLAG_END; f++)
		if (flag_at((enum flag_code)f)->letter == letter &&
		    taken(a, (enum flag_code)f))
			return flag_at((enum flag_code)f);
	return NULL;
}

static int
unknown(const struct args *a, const char *shown, const char *name,
    struct err *e)
{
	const char *words = a->command == NULL ? "" : a->command->words;
	const char *meant = flag_suggest(name,
	    a->command == NULL ? COMMAND_ALL : a->command->code);
	char see[64] = "see: glove help";

	if (a->command == NULL) {
		(void)err_say(e, ERR_USAGE, "there is no flag %s that stands"
		    " before a command", shown);
	} else {
		(void)err_say(e, ERR_USAGE, "%s: there is no flag %s", words,
		    shown);
		(void)snprintf(see, sizeof(see), "see: glove help %s", words);
	}
	if (by_name(name, strlen(name)) != NULL)
		(void)err_why(e, "other commands have it, this one has not");
	if (meant != NULL)
		return err_fix(e, "perhaps --%s was meant; %s", meant, see);
	return err_fix(e, "%s", see);
}

static int
is_choice(const char *choices, const char *value)
{
	size_t len = strlen(value);

	for (const char *p = choices; *p != '\0'; ) {
		size_t n = strcspn(p, "|");

		if (n == len && memcmp(p, value, n) == 0)
			return 1;
		p += n;
		p += *p == '|';
	}
	return 0;
}

static int
check(const struct flag *flag, const char *value, struct err *e)
{
	int64_t n;

	switch (flag->type) {
	case FLAG_DURATION:
		if (duration_parse(str_of(value), 0,
		    (int64_t)DURATION_MAX_S * 1000000, &n, e) == 0)
			return 0;
		(void)err_say(e, ERR_USAGE, "--%s: this is not a time: \"%s\"",
		    flag->name, value);
		return err_fix(e, "write it as 90s, 30m, 8h or 1h30m");
	case FLAG_COUNT:
		if (num_parse(str_of(value), 0, COUNT_MAX, &n, e) == 0)
			return 0;
		(void)err_say(e, ERR_USAGE, "--%s: this is not a number: \"%s\"",
		    flag->name, value);
		return err_fix(e, "a whole number from 0 to %d", COUNT_MAX);
	case FLAG_CHOICE:
		if (is_choice(flag->value, value))
			return 0;
		(void)err_say(e, ERR_USAGE, "--%s cannot be \"%s\"", flag->name,
		    value);
		return err_fix(e, "one of %s", flag->value);
	case FLAG_PATH:
		if (value[0] != '\0')
			return 0;
		return err_say(e, ERR_USAGE, "--%s: the path is empty",
		    flag->name);
	case FLAG_SWITCH:
	case FLAG_TEXT:
	case FLAG_LIST:
		return 0;
	}
	return 0;
}

static int
use(struct args *a, const struct flag *flag, const char *value, struct err *e)
{
	if (flag->type == FLAG_SWITCH && value != NULL)
		return err_say(e, ERR_USAGE, "--%s takes no value", flag->name);
	if (flag->type != FLAG_SWITCH && value == NULL) {
		(void)err_say(e, ERR_USAGE, "--%s needs a value", flag->name);
		return err_fix(e, "--%s %s", flag->name, flag->value);
	}
	if (value != NULL && check(flag, value, e))
		return -1;
	if (a->nuses == ARGS_FLAGS_MAX)
		return err_say(e, ERR_USAGE, "more than %d flags",
		    ARGS_FLAGS_MAX);
	a->uses[a->nuses].flag = flag->code;
	a->uses[a->nuses++].value = value;
	return 0;
}

/* --name, --name=value, --name value; *${i} moves over what was used. */
static int
long_flag(struct args *a, int argc, char *const *argv, int *i, struct err *e)
{
	const char *name = argv[*i] + 2;
	const char *value = strchr(name, '=');
	size_t len = value == NULL ? strlen(name) : (size_t)(value - name);
	const struct flag *flag = by_name(name, len);

	if (flag == NULL || !taken(a, flag->code)) {
		char bare[64] = "";

		if (len < sizeof(bare)) {
			memcpy(bare, name, len);
			bare[len] = '\0';
		}
		return unknown(a, argv[*i], bare, e);
	}
	if (value != NULL)
		value++;
	else if (flag->type != FLAG_SWITCH && *i + 1 < argc)
		value = argv[++*i];
	return use(a, flag, value, e);
}

/* -q, -qv, -oDIR, -o DIR */
static int
letters(struct args *a, int argc, char *const *argv, int *i, struct err *e)
{
	for (const char *p = argv[*i] + 1; *p != '\0'; p++) {
		const struct flag *flag = by_letter(a, *p);
		char shown[3] = { '-', *p, '\0' };

		if (flag == NULL)
			return unknown(a, shown, "", e);
		if (flag->type == FLAG_SWITCH) {
			if (use(a, flag, NULL, e))
				return -1;
			continue;
		}
		if (p[1] != '\0')
			return use(a, flag, p + 1, e);
		return use(a, flag, *i + 1 < argc ? argv[++*i] : NULL, e);
	}
	return 0;
}

static int
no_command(const char *word, struct err *e)
{
	const char *meant = command_suggest(word);

	(void)err_say(e, ERR_USAGE, "there is no command \"%s\"", word);
	if (meant != NULL)
		return err_fix(e, "perhaps: glove %s", meant);
	return err_fix(e, "see: glove help; to run it in a sandbox: glove run %s",
	    word);
}

static int
count(const struct args *a, struct err *e)
{
	const struct command *cmd = a->command;

	if (args_has(a, FLAG_HELP))
		return 0;
	if (a->n < (size_t)cmd->min)
		(void)err_say(e, ERR_USAGE, "%s: something is missing",
		    cmd->words);
	else if (cmd->max != MANY && a->n > (size_t)cmd->max)
		(void)err_say(e, ERR_USAGE, "%s: \"%s\" is one too many",
		    cmd->words, a->v[cmd->max]);
	else
		return 0;
	return err_fix(e, "glove %s %s", cmd->words, cmd->args);
}

int
args_parse(int argc, char *const *argv, struct args *a, struct err *e)
{
	int flags_over = 0, used;

	memset(a, 0, sizeof(*a));
	if ((a->v = calloc((size_t)argc + 1, sizeof(*a->v))) == NULL)
		return err_set(e, ERR_NOMEM, "command line");
	for (int i = 0; i < argc; i++) {
		if (!flags_over && strcmp(argv[i], "--") == 0) {
			flags_over = 1;
		} else if (!flags_over && strncmp(argv[i], "--", 2) == 0) {
			if (long_flag(a, argc, argv, &i, e))
				return -1;
		} else if (!flags_over && argv[i][0] == '-' &&
		    argv[i][1] != '\0') {
			if (letters(a, argc, argv, &i, e))
				return -1;
		} else if (a->command == NULL) {
			a->command = command_find(argc - i, argv + i, &used);
			if (a->command == NULL)
				return no_command(argv[i], e);
			i += used - 1;
		} else {
			a->v[a->n++] = argv[i];
		}
		/* From here on it is another program's command line. */
		if (a->command != NULL && a->command->verbatim != NEVER &&
		    a->n > (size_t)a->command->verbatim)
			flags_over = 1;
	}
	return a->command == NULL ? 0 : count(a, e);
}

void
args_done(struct args *a)
{
	free(a->v);
	a->v = NULL;
	a->n = 0;
}

int
args_has(const struct args *a, enum flag_code flag)
{
	for (size_t i = 0; i < a->nuses; i++)
		if (a->uses[i].flag == flag)
			return 1;
	return 0;
}

const char *
args_text(const struct args *a, enum flag_code flag, const char *otherwise)
{
	for (size_t i = a->nuses; i > 0; i--)
		if (a->uses[i - 1].flag == flag)
			return a->uses[i - 1].value;
	return otherwise;
}

int64_t
args_us(const struct args *a, enum flag_code flag, int64_t otherwise)
{
	const char *value = args_text(a, flag, NULL);
	struct err e;
	int64_t us;

	/* It was checked when it was read. */
	if (value == NULL || duration_parse(str_of(value), 0,
	    (int64_t)DURATION_MAX_S * 1000000, &us, &e))
		return otherwise;
	return us;
}

int64_t
args_count(const struct args *a, enum flag_code flag, int64_t otherwise)
{
	const char *value = args_text(a, flag, NULL);
	struct err e;
	int64_t n;

	if (value == NULL || num_parse(str_of(value), 0, COUNT_MAX, &n, &e))
		return otherwise;
	return n;
}

const char *
args_next(const struct args *a, enum flag_code flag, size_t *at)
{
	while (*at < a->nuses) {
		size_t i = (*at)++;

		if (a->uses[i].flag == flag)
			return a->uses[i].value;
	}
	return NULL;
}
