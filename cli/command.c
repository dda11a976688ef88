/* SPDX-License-Identifier: ISC */
/* command.c - the tables of command.def, and what was meant by a slip. */
#include <string.h>

#include "cli/command.h"

static const struct command commands[COMMAND_END] = {
#define COMMAND(NAME, words, function, group, args, min, max, verbatim, doc) \
	[COMMAND_##NAME] = { COMMAND_##NAME, words, function, GROUP_##group,	\
	    args, min, max, verbatim, doc },
#include "cli/command.def"
};

static const struct flag flags[FLAG_END] = {
#define FLAG(NAME, name, letter, value, type) \
	[FLAG_##NAME] = { FLAG_##NAME, name, letter, value, FLAG_##type },
#include "cli/command.def"
};

static const char *const groups[GROUP_END] = {
#define GROUP(NAME, title) [GROUP_##NAME] = title,
#include "cli/command.def"
};

static const struct {
	enum command_code command;
	enum flag_code	 flag;
	const char	*doc;
} takes[] = {
#define TAKES(command, flag, doc) { COMMAND_##command, FLAG_##flag, doc },
#include "cli/command.def"
};

static const struct {
	int		 code;
	const char	*doc;
} exits[] = {
#define EXIT(code, doc) { code, doc },
#include "cli/command.def"
};

#define COUNT(a) (sizeof(a) / sizeof((a)[0]))

const struct command *
command_at(enum command_code code)
{
	return code > COMMAND_ALL && code < COMMAND_END ? &commands[code] : NULL;
}

const struct flag *
flag_at(enum flag_code code)
{
	return code > FLAG_NONE && code < FLAG_END ? &flags[code] : NULL;
}

const char *
group_title(enum group_code group)
{
	return group > GROUP_NONE && group < GROUP_END ? groups[group] : "";
}

const char *
flag_doc(enum flag_code flag, enum command_code command)
{
	for (size_t i = 0; i < COUNT(takes); i++)
		if (takes[i].flag == flag && takes[i].command == command)
			return takes[i].doc;
	return NULL;
}

const char *
exit_at(size_t i, int *code)
{
	if (i >= COUNT(exits))
		return NULL;
	*code = exits[i].code;
	return exits[i].doc;
}

/* How many of the words in argv are the words of this command: all or 0. */
static int
named(const struct command *cmd, int argc, char *const *argv)
{
	const char *p = cmd->words;
	int n = 0;

	while (*p != '\0') {
		size_t len = strcspn(p, " ");

		if (n == argc || strlen(argv[n]) != len ||
		    memcmp(argv[n], p, len) != 0)
			return 0;
		n++;
		p += len;
		p += *p == ' ';
	}
	return n;
}

const struct command *
command_find(int argc, char *const *argv, int *used)
{
	for (int i = COMMAND_ALL + 1; i < COMMAND_END; i++) {
		int n = named(&commands[i], argc, argv);

		if (n > 0) {
			*used = n;
			return &commands[i];
		}
	}
	return NULL;
}

static int
least(int a, int b, int c)
{
	int m = a < b ? a : b;

	return m < c ? m : c;
}

int
text_distance(const char *a, const char *b)
{
	enum { MAX = 32 };
	int d[MAX + 1][MAX + 1];
	size_t n = strlen(a), m = strlen(b);

	if (n > MAX || m > MAX)
		return MAX + 1;
	for (size_t i = 0; i <= n; i++)
		for (size_t k = 0; k <= m; k++) {
			if (i == 0 || k == 0) {
				d[i][k] = (int)(i + k);
				continue;
			}
			d[i][k] = least(d[i - 1][k] + 1, d[i][k - 1] + 1,
			    d[i - 1][k - 1] + (a[i - 1] != b[k - 1]));
			if (i > 1 && k > 1 && a[i - 1] == b[k - 2] &&
			    a[i - 2] == b[k - 1] && d[i][k] > d[i - 2][k - 2] + 1)
				d[i][k] = d[i - 2][k - 2] + 1;
		}
	return d[n][m];
}

/* Closer than ${best}, or one the beginning of the other. */
static int
closer(const char *typed, const char *word, int *best)
{
	int d = text_distance(typed, word);

	if (strlen(typed) >= 2 && strncmp(typed, word, strlen(typed)) == 0)
		d = 1;
	if (d > 2 || d >= *best || d >= (int)strlen(word))
		return 0;
	*best = d;
	return 1;
}

const char *
command_suggest(const char *word)
{
	const char *found = NULL;
	int best = 3;

	for (int i = COMMAND_ALL + 1; i < COMMAND_END; i++) {
		char first[32];
		size_t len = strcspn(commands[i].words, " ");

		/* "key" alone: its first command shows what there is. */
		if (strlen(word) == len &&
		    memcmp(word, commands[i].words, len) == 0)
			return commands[i].words;
		if (len >= sizeof(first))
			continue;
		memcpy(first, commands[i].words, len);
		first[len] = '\0';
		if (closer(word, first, &best))
			found = commands[i].words;
	}
	return found;
}

const char *
flag_suggest(const char *name, enum command_code command)
{
	const char *found = NULL;
	int best = 3;

	for (int f = FLAG_NONE + 1; f < FLAG_END; f++)
		if ((flag_doc((enum flag_code)f, command) != NULL ||
		    flag_doc((enum flag_code)f, COMMAND_ALL) != NULL) &&
		    closer(name, flags[f].name, &best))
			found = flags[f].name;
	return found;
}
