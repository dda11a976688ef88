/* SPDX-License-Identifier: ISC */
/* glove.c - the program of people: read the command line, do the one thing,
 * say what went wrong in one voice, exit with a number that means something. */
#include <fcntl.h>
#include <locale.h>
#include <signal.h>
#include <string.h>

#include "cli/cli.h"

/*
 * A closed standard descriptor would be given to the next file that is opened.
 * Reading from what we put there gives the end, writing to it fails.
 */
static void
hold_standard(void)
{
	for (int fd = 0; fd <= 2; fd++)
		if (fcntl(fd, F_GETFD) < 0 &&
		    open("/dev/null", O_RDONLY) != fd)
			_exit(71);
}

static int
says_json(int argc, char *const *argv)
{
	for (int i = 1; i < argc && strcmp(argv[i], "--") != 0; i++)
		if (strcmp(argv[i], "--json") == 0)
			return 1;
	return 0;
}

static enum out_color
color_of(const struct args *a)
{
	const char *word = args_text(a, FLAG_COLOR, "auto");

	return strcmp(word, "always") == 0 ? OUT_COLOR_ALWAYS :
	    strcmp(word, "never") == 0 ? OUT_COLOR_NEVER : OUT_COLOR_AUTO;
}

static int
dispatch(struct cli *c, struct err *e)
{
	if (args_has(&c->args, FLAG_VERSION))
		return cmd_version(c, e);
	if (args_has(&c->args, FLAG_HELP) || c->args.command == NULL)
		return cmd_help(c, e);
	return c->args.command->run(c, e);
}

/* The reader went away: end as every other program does. */
static void
die_of_sigpipe(void)
{
	(void)signal(SIGPIPE, SIG_DFL);
	(void)raise(SIGPIPE);
}

static int
finish(struct cli *c, int rc, struct err *e)
{
	struct err flush;
	int code = c->exit;

	if (out_flush(&c->out, &flush)) {
		if (flush.code == ERR_PEER)
			die_of_sigpipe();
		if (rc == 0)
			*e = flush;
		rc = -1;
	}
	if (rc != 0) {
		code = c->exit_failed != 0 && e->code != ERR_USAGE ?
		    c->exit_failed : err_exit(e->code);
		out_error(&c->note, c->json, e, code, c->client == NULL ? NULL :
		    client_error_data(c->client));
	}
	(void)!out_flush(&c->note, &flush);
	return code;
}

int
main(int argc, char *argv[])
{
	struct cli c;
	struct err e;
	int rc, code;

	memset(&c, 0, sizeof(c));
	hold_standard();
	(void)signal(SIGPIPE, SIG_IGN);
	/* We wait for our children, whatever our parent does with its own. */
	(void)signal(SIGCHLD, SIG_DFL);
	if (setlocale(LC_CTYPE, "C.UTF-8") == NULL)
		(void)setlocale(LC_CTYPE, "");
	rc = args_parse(argc - 1, argv + 1, &c.args, &e);
	c.json = rc == 0 ? args_has(&c.args, FLAG_JSON) : says_json(argc, argv);
	c.quiet = args_has(&c.args, FLAG_QUIET);
	c.verbose = args_has(&c.args, FLAG_VERBOSE);
	c.wide = args_has(&c.args, FLAG_WIDE);
	c.utc = args_has(&c.args, FLAG_UTC);
	c.no_input = args_has(&c.args, FLAG_NO_INPUT);
	out_init(&c.out, 1, color_of(&c.args));
	out_init(&c.note, 2, color_of(&c.args));
	if (rc == 0)
		rc = dispatch(&c, &e);
	code = finish(&c, rc, &e);
	client_close(c.client);
	json_free(c.steps);
	out_done(&c.out);
	out_done(&c.note);
	args_done(&c.args);
	return code;
}
