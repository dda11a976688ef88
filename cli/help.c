/* SPDX-License-Identifier: ISC */
/* help.c - the table of commands as text and JSON. */
#include <stdio.h>
#include <string.h>

#include "cli/help.h"

enum { HELP_WORD_COLUMNS = 24 };

/* "-q, --quiet" or "    --ttl TIME" */
static void
flag_words(struct out *o, const struct flag *f)
{
	char s[96];
	int n;

	if (f->letter != 0)
		n = snprintf(s, sizeof(s), "  -%c, --%s", f->letter, f->name);
	else
		n = snprintf(s, sizeof(s), "      --%s", f->name);
	if (f->type != FLAG_SWITCH)
		n += snprintf(s + n, sizeof(s) - (size_t)n, " %s", f->value);
	out_putf(o, "%-*s", HELP_WORD_COLUMNS + 4, s);
	if (n > HELP_WORD_COLUMNS + 3)
		out_putf(o, "\n%*s", HELP_WORD_COLUMNS + 4, "");
}

static void
flags_of(struct out *o, enum command_code command, const char *title)
{
	int any = 0;

	for (int i = FLAG_NONE + 1; i < FLAG_END; i++) {
		const char *doc = flag_doc((enum flag_code)i, command);

		if (doc == NULL)
			continue;
		if (!any++) {
			out_style(o, STYLE_BOLD);
			out_putf(o, "\n%s\n", title);
			out_style(o, STYLE_PLAIN);
		}
		flag_words(o, flag_at((enum flag_code)i));
		out_putf(o, "%s\n", doc);
	}
}

static void
help_group(struct out *o, enum group_code group)
{
	out_style(o, STYLE_BOLD);
	out_putf(o, "\n%s\n", group_title(group));
	out_style(o, STYLE_PLAIN);
	for (int i = COMMAND_ALL + 1; i < COMMAND_END; i++) {
		const struct command *cmd = command_at((enum command_code)i);

		if (cmd->group == group)
			out_putf(o, "  %-16s %s\n", cmd->words, cmd->doc);
	}
}

void
help_all(struct out *o)
{
	out_put(o, "glove runs a coding agent, or any command, in a sandbox and keeps a signed\n"
	    "record of it.  Begin with:  glove run -- COMMAND\n");
	for (int g = GROUP_NONE + 1; g < GROUP_END; g++)
		help_group(o, (enum group_code)g);
	flags_of(o, COMMAND_ALL, "Flags of every command");
	out_put(o, "\nIds are shown short; any beginning that is unique will do, and - is the last\n"
	    "session in this directory.  More: glove help COMMAND, glove(1).\n");
}

void
help_command(struct out *o, const struct command *cmd)
{
	out_putf(o, "usage: glove %s [FLAGS]%s%s\n\n%s.\n", cmd->words,
	    cmd->args[0] == '\0' ? "" : " ", cmd->args, cmd->doc);
	flags_of(o, cmd->code, "Flags");
	flags_of(o, COMMAND_ALL, "Flags of every command");
}

static const char *
type_word(enum flag_type type)
{
	switch (type) {
	case FLAG_SWITCH:	return "switch";
	case FLAG_TEXT:		return "text";
	case FLAG_LIST:		return "list";
	case FLAG_PATH:		return "path";
	case FLAG_DURATION:	return "duration";
	case FLAG_COUNT:	return "count";
	case FLAG_CHOICE:	return "choice";
	}
	return "text";
}

static struct json *
json_flags(enum command_code command)
{
	struct json *list = json_make_array();

	for (int i = FLAG_NONE + 1; i < FLAG_END; i++) {
		const struct flag *f = flag_at((enum flag_code)i);
		const char *doc = flag_doc((enum flag_code)i, command);
		char letter[2] = { f->letter, '\0' };
		struct json *j;

		if (doc == NULL)
			continue;
		j = json_make_object();
		json_set_cstr(j, "name", f->name);
		if (f->letter != 0)
			json_set_cstr(j, "letter", letter);
		json_set_cstr(j, "type", type_word(f->type));
		if (f->type != FLAG_SWITCH)
			json_set_cstr(j, "value", f->value);
		json_set_cstr(j, "help", doc);
		json_add(list, j);
	}
	return list;
}

static struct json *
json_command(const struct command *cmd)
{
	struct json *j = json_make_object();

	json_set_cstr(j, "name", cmd->words);
	json_set_cstr(j, "arguments", cmd->args);
	json_set_int(j, "min", cmd->min);
	if (cmd->max == MANY)
		json_set_null(j, "max");
	else
		json_set_int(j, "max", cmd->max);
	json_set_bool(j, "takes_command", cmd->verbatim != NEVER);
	json_set_cstr(j, "group", group_title(cmd->group));
	json_set_cstr(j, "help", cmd->doc);
	json_set(j, "flags", json_flags(cmd->code));
	return j;
}

struct json *
help_json(const struct command *only)
{
	struct json *j = json_make_object();
	struct json *commands = json_make_array(), *exits = json_make_object();
	const char *doc;
	int code;

	for (int i = COMMAND_ALL + 1; i < COMMAND_END; i++)
		if (only == NULL || (int)only->code == i)
			json_add(commands,
			    json_command(command_at((enum command_code)i)));
	for (size_t i = 0; (doc = exit_at(i, &code)) != NULL; i++) {
		char number[12];

		(void)snprintf(number, sizeof(number), "%d", code);
		json_set_cstr(exits, number, doc);
	}
	json_set_cstr(j, "schema", "glove.help/1");
	json_set_cstr(j, "version", GLOVE_VERSION);
	json_set(j, "commands", commands);
	json_set(j, "flags", json_flags(COMMAND_ALL));
	json_set(j, "exit_codes", exits);
	return j;
}
