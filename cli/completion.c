/* SPDX-License-Identifier: ISC */
/* completion.c - the table of commands as completions for three shells. */
#include <string.h>

#include "cli/help.h"

/* The flags of a command and of all, blank-separated. */
static void
flag_names(struct out *o, enum command_code command)
{
	for (int i = FLAG_NONE + 1; i < FLAG_END; i++)
		if (flag_doc((enum flag_code)i, command) != NULL ||
		    flag_doc((enum flag_code)i, COMMAND_ALL) != NULL)
			out_putf(o, " --%s", flag_at((enum flag_code)i)->name);
}

static void
choices(struct out *o, const char *value)
{
	for (; *value != '\0'; value++)
		out_putf(o, "%c", *value == '|' ? ' ' : *value);
}

/* First words of commands, each once; rows of one word stand together. */
static int
first_of(const struct command *cmd, size_t *len)
{
	const struct command *before = command_at((enum command_code)
	    (cmd->code - 1));

	*len = strcspn(cmd->words, " ");
	return before == NULL || strcspn(before->words, " ") != *len ||
	    memcmp(before->words, cmd->words, *len) != 0;
}

static void
bash_cases(struct out *o)
{
	out_put(o, "\tcase \"$prev\" in\n");
	for (int i = FLAG_NONE + 1; i < FLAG_END; i++) {
		const struct flag *f = flag_at((enum flag_code)i);

		if (f->type == FLAG_SWITCH)
			continue;
		out_putf(o, "\t--%s) ", f->name);
		if (f->type == FLAG_PATH) {
			out_put(o, "mapfile -t COMPREPLY < <(compgen -f -- \"$cur\")");
		} else if (f->type == FLAG_CHOICE) {
			out_put(o, "mapfile -t COMPREPLY < <(compgen -W '");
			choices(o, f->value);
			out_put(o, "' -- \"$cur\")");
		} else {
			out_put(o, "COMPREPLY=()");
		}
		out_put(o, "; return ;;\n");
	}
	out_put(o, "\tesac\n\tcase \"$words\" in\n");
	for (int i = COMMAND_ALL + 1; i < COMMAND_END; i++) {
		const struct command *cmd = command_at((enum command_code)i);

		out_putf(o, "\t'%s'|'%s '*) flags='", cmd->words, cmd->words);
		flag_names(o, cmd->code);
		out_put(o, "' ;;\n");
	}
	out_put(o, "\tesac\n");
}

static void
command_words(struct out *o, const char *sep)
{
	size_t len;

	for (int i = COMMAND_ALL + 1; i < COMMAND_END; i++) {
		const struct command *cmd = command_at((enum command_code)i);

		if (first_of(cmd, &len))
			out_putf(o, "%.*s%s", (int)len, cmd->words, sep);
	}
}

/* The second words after a first one: "ls show export pin". */
static void
bash_second_words(struct out *o)
{
	size_t len, at;

	for (int i = COMMAND_ALL + 1; i < COMMAND_END; i++) {
		const struct command *cmd = command_at((enum command_code)i);

		if (!first_of(cmd, &len) || cmd->words[len] == '\0')
			continue;
		out_putf(o, "\t%.*s) second='", (int)len, cmd->words);
		for (int k = i; k < COMMAND_END; k++) {
			const char *w = command_at((enum command_code)k)->words;

			at = strcspn(w, " ");
			if (at == len && memcmp(w, cmd->words, len) == 0)
				out_putf(o, "%s ", w + at + 1);
		}
		out_put(o, "' ;;\n");
	}
}

void
completion_bash(struct out *o)
{
	out_put(o, "# glove completion bash: source it, or put it into\n"
	    "# ~/.local/share/bash-completion/completions/glove\n"
	    "_glove() {\n"
	    "\tlocal cur=${COMP_WORDS[COMP_CWORD]} prev='' words='' flags='' second='' w\n"
	    "\tlocal i\n"
	    "\t[ \"$COMP_CWORD\" -gt 0 ] && prev=${COMP_WORDS[COMP_CWORD-1]}\n"
	    "\tfor ((i = 1; i < COMP_CWORD; i++)); do\n"
	    "\t\tw=${COMP_WORDS[i]}\n"
	    "\t\t[[ $w = -* ]] || words+=\"${words:+ }$w\"\n"
	    "\tdone\n"
	    "\tflags='");
	flag_names(o, COMMAND_ALL);
	out_put(o, "'\n");
	bash_cases(o);
	out_put(o, "\tif [[ $cur = -* ]]; then\n"
	    "\t\tmapfile -t COMPREPLY < <(compgen -W \"$flags\" -- \"$cur\")\n"
	    "\t\treturn\n\tfi\n"
	    "\tif [ -z \"$words\" ]; then\n"
	    "\t\tmapfile -t COMPREPLY < <(compgen -W '");
	command_words(o, " ");
	out_put(o, "' -- \"$cur\")\n\t\treturn\n\tfi\n\tcase \"$words\" in\n");
	bash_second_words(o);
	out_put(o, "\tesac\n"
	    "\tif [ -n \"$second\" ]; then\n"
	    "\t\tmapfile -t COMPREPLY < <(compgen -W \"$second\" -- \"$cur\")\n"
	    "\t\treturn\n\tfi\n"
	    "\tmapfile -t COMPREPLY < <(compgen -c -f -- \"$cur\")\n"
	    "}\n"
	    "complete -o filenames -F _glove glove\n");
}

/* For zsh and fish: text within single quotes. */
static void
quoted(struct out *o, const char *s, const char *quote)
{
	for (; *s != '\0'; s++)
		if (*s == '\'')
			out_put(o, quote);
		else
			out_putf(o, "%c", *s);
}

static void
zsh_flags(struct out *o, enum command_code command)
{
	for (int i = FLAG_NONE + 1; i < FLAG_END; i++) {
		const struct flag *f = flag_at((enum flag_code)i);
		const char *doc = flag_doc((enum flag_code)i, command);

		if (doc == NULL)
			continue;
		out_putf(o, " '%s--%s%s[", f->type == FLAG_LIST ? "*" : "",
		    f->name, f->type == FLAG_SWITCH ? "" : "=");
		quoted(o, doc, "'\\''");
		out_put(o, "]");
		if (f->type == FLAG_PATH) {
			out_putf(o, ":%s:_files", f->value);
		} else if (f->type == FLAG_CHOICE) {
			out_put(o, ":value:(");
			choices(o, f->value);
			out_put(o, ")");
		} else if (f->type != FLAG_SWITCH) {
			out_putf(o, ":%s: ", f->value);
		}
		out_put(o, "'");
	}
}

void
completion_zsh(struct out *o)
{
	out_put(o, "#compdef glove\n"
	    "# glove completion zsh: put it as _glove into a directory of $fpath\n"
	    "_glove() {\n"
	    "\tlocal -a commands\n\tlocal name=''\n\tcommands=(\n");
	for (int i = COMMAND_ALL + 1; i < COMMAND_END; i++) {
		const struct command *cmd = command_at((enum command_code)i);

		out_putf(o, "\t\t'%s:", cmd->words);
		quoted(o, cmd->doc, "'\\''");
		out_put(o, "'\n");
	}
	out_put(o, "\t)\n\tif (( CURRENT == 2 )); then\n"
	    "\t\t_describe command commands\n\t\treturn\n\tfi\n"
	    "\tname=\"${words[2]}\"\n\tcase \"${words[2]} ${words[3]}\" in\n");
	for (int i = COMMAND_ALL + 1; i < COMMAND_END; i++) {
		const struct command *cmd = command_at((enum command_code)i);

		if (strchr(cmd->words, ' ') != NULL)
			out_putf(o, "\t'%s') name='%s' ;;\n", cmd->words,
			    cmd->words);
	}
	out_put(o, "\tesac\n\tcase \"$name\" in\n");
	for (int i = COMMAND_ALL + 1; i < COMMAND_END; i++) {
		const struct command *cmd = command_at((enum command_code)i);

		out_putf(o, "\t'%s') _arguments", cmd->words);
		zsh_flags(o, cmd->code);
		zsh_flags(o, COMMAND_ALL);
		out_put(o, " '*:argument:_files' ;;\n");
	}
	out_put(o, "\tesac\n}\n_glove \"$@\"\n");
}

static void
fish_flag(struct out *o, const struct flag *f, const char *doc,
    const char *words)
{
	out_put(o, "complete -c glove");
	if (words != NULL)
		out_putf(o, " -n '__glove_is %s'", words);
	out_putf(o, " -l %s", f->name);
	if (f->letter != 0)
		out_putf(o, " -s %c", f->letter);
	if (f->type == FLAG_CHOICE) {
		out_put(o, " -x -a '");
		choices(o, f->value);
		out_put(o, "'");
	} else if (f->type == FLAG_PATH) {
		out_put(o, " -r -F");
	} else if (f->type != FLAG_SWITCH) {
		out_put(o, " -x");
	}
	out_put(o, " -d '");
	quoted(o, doc, "\\'");
	out_put(o, "'\n");
}

void
completion_fish(struct out *o)
{
	out_put(o, "# glove completion fish > ~/.config/fish/completions/glove.fish\n"
	    "function __glove_is\n"
	    "\tset -l words (string match -v -- '-*' (commandline -opc)[2..])\n"
	    "\ttest (count $words) -ge (count $argv); or return 1\n"
	    "\ttest \"$words[1..(count $argv)]\" = \"$argv\"\n"
	    "end\n"
	    "function __glove_none\n"
	    "\ttest (count (string match -v -- '-*' (commandline -opc)[2..])) -eq 0\n"
	    "end\n");
	for (int i = COMMAND_ALL + 1; i < COMMAND_END; i++) {
		const struct command *cmd = command_at((enum command_code)i);
		size_t len = strcspn(cmd->words, " ");

		out_putf(o, "complete -c glove -n '%s%.*s' -f -a '%s' -d '",
		    cmd->words[len] == '\0' ? "__glove_none" : "__glove_is ",
		    cmd->words[len] == '\0' ? 0 : (int)len, cmd->words,
		    cmd->words + (cmd->words[len] == '\0' ? 0 : len + 1));
		quoted(o, cmd->doc, "\\'");
		out_put(o, "'\n");
		if (cmd->words[len] != '\0' && first_of(cmd, &len))
			out_putf(o, "complete -c glove -n '__glove_none' -f -a '%.*s'\n",
			    (int)len, cmd->words);
		for (int f = FLAG_NONE + 1; f < FLAG_END; f++) {
			const char *doc = flag_doc((enum flag_code)f, cmd->code);

			if (doc != NULL)
				fish_flag(o, flag_at((enum flag_code)f), doc,
				    cmd->words);
		}
	}
	for (int f = FLAG_NONE + 1; f < FLAG_END; f++)
		if (flag_doc((enum flag_code)f, COMMAND_ALL) != NULL)
			fish_flag(o, flag_at((enum flag_code)f), flag_doc(
			    (enum flag_code)f, COMMAND_ALL), NULL);
}
