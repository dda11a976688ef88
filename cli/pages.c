/* SPDX-License-Identifier: ISC */
/*
 * pages - print what the tables say, as mdoc, for the pages *.in:
 *	pages commands | exits | errors | fields | requests | messages | attach |
 *	    verdicts | causes | checks | answers | changes | runs-later
 * Runs during the build; nothing installs it.
 */
#include <stdio.h>
#include <string.h>

#include "base/err.h"

/* A sentence of a table may begin with a dot or a quote: not in mdoc. */
static void
line(const char *s)
{
	if (*s == '.' || *s == '\'')
		fputs("\\&", stdout);
	for (; *s != '\0'; s++)
		fputs(*s == '\\' ? "\\e" : (char [2]){ *s, '\0' }, stdout);
	putchar('\n');
}

static void
item(const char *name, const char *more)
{
	printf(".It Cm %s%s%s\n", name, more[0] != '\0' ? " Pq " : "", more);
}

static void
errors(void)
{
	char more[32];

	puts(".Bl -tag -width Ds");
#define ERR(code, NAME, wire, exit, text, fix)					\
	snprintf(more, sizeof(more), "exit %d", exit);				\
	item(wire, more); line(text); puts(".br"); line("Do: " fix ".");
#include "base/err.def"
	puts(".El");
}

static void
fields(void)
{
	puts(".Bl -tag -width Ds");
#define FIELD(tag, NAME, name, type, seal, doc)					\
	item(name, #tag ", " #type ", " #seal); line(doc);
#include "journal/field.def"
	puts(".El");
}

static void
requests(void)
{
	puts(".Bl -tag -width Ds");
#define REQUEST(code, method, handler, who, flags, params, result, doc)	\
	item(method, #who ", " #flags); line(doc);				\
	puts(".Pp\nTakes:"); line(params[0] != '\0' ? params : "nothing");	\
	puts(".Pp\nGives:"); line(result);
#include "engine/control.def"
	puts(".El");
}

static void
messages(void)
{
	puts(".Bl -tag -width Ds");
#define MESSAGE(code, NAME, direction, doc) item(#NAME, #code ", " #direction); line(doc);
#include "sandbox/channel.def"
	puts(".El\n.Pp\nFields:\n.Bl -tag -width Ds");
#define CFIELD(tag, NAME, type, doc) item(#NAME, #tag ", " #type); line(doc);
#include "sandbox/channel.def"
	puts(".El");
}

static void
attach(void)
{
	puts(".Bl -tag -width Ds");
#define ATTACH(code, NAME, direction, doc) item(#NAME, #code ", " #direction); line(doc);
#include "sandbox/attach.def"
	puts(".El");
}

static void
verdicts(void)
{
	puts(".Bl -tag -width Ds");
#define VERDICT(code, NAME, action, doc) item(#NAME, #action); line(doc);
#include "journal/verdict.def"
	puts(".El");
}

static void
checks(void)
{
	puts(".Bl -tag -width completeness");
#define CHECK(code, NAME, word, doc) item(word, ""); line(doc "?");
#include "journal/check.def"
	puts(".El");
}

static void
changes(void)
{
	puts(".Bl -tag -width Ds -compact");
#define CHANGE_KIND(code, NAME, word, letter) printf(".It Cm " word " Pq kind " #code "\n");
#include "sandbox/changes.def"
#define CHANGE_TYPE(code, NAME, word) printf(".It Cm " word " Pq type " #code "\n");
#include "sandbox/changes.def"
	puts(".El\n.Ss Notes\n.Bl -tag -width Ds -compact");
#define CHANGE_NOTE(bit, NAME, effect, doc) item(#NAME, "bit " #bit ", " #effect); line(doc ".");
#include "sandbox/changes.def"
	puts(".El");
}

static void
answers(void)
{
	puts(".Bl -tag -width Ds");
#define ANSWER(code, NAME, words, exit, doc) item(words, "exit " #exit); line(doc);
#include "journal/answer.def"
	puts(".El");
}

static void
runs_later(void)
{
	puts(".Bl -tag -width Ds -compact");
#define RUNS_LATER(pattern, doc)						\
	fputs(".It Pa ", stdout); line(pattern); line(doc);
#include "sandbox/runs_later.def"
	puts(".El");
}

static void
causes(void)
{
	puts(".Bl -tag -width Ds");
#define CAUSE(code, NAME, word, exit, doc)					\
	item(word, exit == 0 ? "the child's own code" : "exit " #exit); line(doc);
#include "lifecycle/cause.def"
	puts(".El");
}

enum {
#define COMMAND(NAME, words, function, group, args, min, max, verbatim, doc) \
	COMMAND_##NAME,
#include "cli/command.def"
	COMMAND_ALL
};

static void flags(int of);

static void
flag_item(const char *of)
{
#define FLAG(NAME, name, letter, value, type)					\
	if (strcmp(of, #NAME) == 0) {						\
		char short_[] = { letter, '\0' };				\
		printf(".It %s%s%sFl -%s%s%s\n", letter != 0 ? "Fl " : "",	\
		    short_, letter != 0 ? " , " : "", name,				\
		    value[0] != '\0' ? " Ar " : "", value);			\
	}
#include "cli/command.def"
}

static void
group(const char *of)
{
	puts(".Bl -tag -width Ds");
#define COMMAND(NAME, words, function, group, args, min, max, verbatim, doc) \
	if (strcmp(of, #group) == 0) {						\
		printf(".It Cm %s%s%s\n", words, args[0] != '\0' ?		\
		    " Ar " : "", args);						\
		line(doc "."); flags(COMMAND_##NAME);				\
	}
#include "cli/command.def"
	puts(".El");
}

/* The flags of one command, in the order of the table. */
static void
flags(int of)
{
	int n = 0;

#define TAKES(command, flag, doc)						\
	if (COMMAND_##command == of) {						\
		if (n++ == 0) puts(".Bl -tag -width Ds");			\
		flag_item(#flag); line(doc ".");				\
	}
#include "cli/command.def"
	if (n > 0)
		puts(".El");
}

static void
commands(void)
{
#define GROUP(NAME, title) puts(".Ss " title); group(#NAME);
#include "cli/command.def"
	puts(".Ss Flags of every command");
	flags(COMMAND_ALL);
}

static void
exits(void)
{
	puts(".Bl -tag -width Ds");
#define EXIT(code, doc) puts(".It " #code); line(doc ".");
#include "cli/command.def"
	puts(".El");
}

int
main(int argc, char *argv[])
{
	static const struct {
		const char	*name;
		void		(*run)(void);
	} outs[] = { { "commands", commands }, { "exits", exits },
	    { "errors", errors }, { "fields", fields },
	    { "requests", requests }, { "messages", messages },
	    { "attach", attach }, { "verdicts", verdicts },
	    { "causes", causes }, { "checks", checks },
	    { "answers", answers }, { "changes", changes },
	    { "runs-later", runs_later } };

	for (size_t i = 0; argc == 2 && i < sizeof(outs) / sizeof(outs[0]); i++)
		if (strcmp(argv[1], outs[i].name) == 0) {
			outs[i].run();
			return fflush(stdout) == 0 ? 0 : 74;
		}
	fprintf(stderr, "usage: pages commands | exits | errors | fields | requests | messages |"
	    " attach | verdicts | causes | checks | answers | changes |"
	    " runs-later\n");
	return 2;
}
