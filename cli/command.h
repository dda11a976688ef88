/* SPDX-License-Identifier: ISC */
#ifndef CLI_COMMAND_H
#define CLI_COMMAND_H

#include <stddef.h>

#include "base/err.h"

struct cli;

/* The rows of command.def, as data. */
enum command_code { COMMAND_ALL,
#define COMMAND(NAME, words, function, group, args, min, max, verbatim, doc) \
	COMMAND_##NAME,
#include "cli/command.def"
	COMMAND_END
};

enum flag_code { FLAG_NONE,
#define FLAG(NAME, name, letter, value, type) FLAG_##NAME,
#include "cli/command.def"
	FLAG_END
};

enum group_code { GROUP_NONE,
#define GROUP(NAME, title) GROUP_##NAME,
#include "cli/command.def"
	GROUP_END
};

enum flag_type { FLAG_SWITCH, FLAG_TEXT, FLAG_LIST, FLAG_PATH, FLAG_DURATION,
	FLAG_COUNT, FLAG_CHOICE };

enum { MANY = -1, NEVER = -1 };

struct command {
	enum command_code code;
	const char	*words;		/* "run", "key ls" */
	int		(*run)(struct cli *c, struct err *e);
	enum group_code	 group;
	const char	*args;
	int		 min, max;	/* arguments; max MANY: no bound */
	int		 verbatim;	/* arguments before a foreign command line */
	const char	*doc;
};

struct flag {
	enum flag_code	 code;
	const char	*name;
	char		 letter;	/* or 0 */
	const char	*value;		/* "" for a SWITCH */
	enum flag_type	 type;
};

const struct command *command_at(enum command_code code); /* NULL for ALL */
const struct flag *flag_at(enum flag_code code);
const char *group_title(enum group_code group);

/* flag_doc(flag, command): what it does there, or NULL if it is not taken;
 * COMMAND_ALL: the flags of every command. */
const char *flag_doc(enum flag_code flag, enum command_code command);

/* exit_at(i, code): the i-th row of the exit codes, or NULL at the end. */
const char *exit_at(size_t i, int *code);

/*
 * command_find(argc, argv, used): the command that the first words name, and
 * how many words that took.  NULL if there is none.
 */
const struct command *command_find(int argc, char *const *argv, int *used);

/* What was perhaps meant by ${word}, or NULL. */
const char *command_suggest(const char *word);
const char *flag_suggest(const char *name, enum command_code command);
/* text_distance(a, b): edits, a swap of two neighbours counts as one. */
int text_distance(const char *a, const char *b);

/* The functions, each in cmd_NAME.c: 0, or -1 with ${e}. */
#define COMMAND(NAME, words, function, group, args, min, max, verbatim, doc) \
	int function(struct cli *c, struct err *e);
#include "cli/command.def"

#endif
