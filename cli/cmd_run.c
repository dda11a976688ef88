/* SPDX-License-Identifier: ISC */
/* glove run: the current directory as a staged copy, a command in its sandbox,
 * and afterwards what it did. */
#include <stdlib.h>
#include <string.h>

#include "cli/run.h"
#include "lifecycle/machine.h"

enum { RUN_FAILED = 125, EXTRA_MAX = 256 };

/* People are told; a script that pipes is not. */
static int
talks(const struct cli *c)
{
	return !c->quiet && (c->note.terminal || c->verbose);
}

/* It never came to run, or nobody knows: that is our failure, and is told. */
static int
no_sandbox(const struct run *r, const struct json *show, struct err *e)
{
	struct str why = reply_str(json_get(show, "error"), "message");

	(void)err_say(e, ERR_SANDBOX, "%s", cause_doc(r->end.cause));
	if (why.n > 0)
		(void)err_why(e, "%.*s", (int)why.n, why.p);
	return -1;
}

static int
detached(struct cli *c, const struct run *r)
{
	char id[ID_TEXT_MAX];

	if (c->json)
		run_json(c, r, NULL);
	else if (r->detach)
		out_putf(&c->out, "%s\n", r->id);
	else if (!c->quiet)
		out_putf(&c->note, "glove: left running; back with: glove attach"
		    " %s\n", ids_short(c, str_of(r->id), id));
	return 0;
}

/* Whoever pipes is told too when it did not end by itself. */
static void
cut_short(struct cli *c, const struct run *r)
{
	if (c->quiet || r->end.cause == CAUSE_EXITED ||
	    r->end.cause == CAUSE_FAILED || r->end.cause == CAUSE_LOST)
		return;
	out_put(&c->note, "glove: ");
	out_foreign(&c->note, str_of(r->argv[0]), 64);
	out_putf(&c->note, ": %s\n", cause_doc(r->end.cause));
}

/* How it ended, from gloved; from the next one if this one was ended. */
static int
ask_story(struct cli *c, const struct run *r, struct json **show, struct err *e)
{
	if (cli_call(c, "session.wait", cli_id(r->id), show, e) == 0)
		return 0;
	if (e->code != ERR_PEER)
		return -1;
	client_close(c->client);
	c->client = NULL;
	return cli_call(c, "session.wait", cli_id(r->id), show, e);
}

/* It is over: the rest of the story is with gloved. */
static int
finished(struct cli *c, const struct run *r, struct err *e)
{
	AUTO(json) struct json *show = NULL;
	struct err failed;
	int ours = r->end.cause == CAUSE_FAILED || r->end.cause == CAUSE_LOST;

	c->exit = run_exit(&r->end);
	if (r->end.how == PUMP_LEFT)
		return 0;
	if (!talks(c))
		cut_short(c, r);
	if (!talks(c) && !c->json && !ours)
		return 0;
	/* The command's own exit code counts, whatever gloved has to say. */
	if (ask_story(c, r, &show, &failed) && !c->quiet) {
		out_put(&c->note, "glove: what became of it is not known yet: ");
		out_foreign(&c->note, str_of(failed.msg), ERR_MSG_MAX);
		out_put(&c->note, "\n");
	}
	if (talks(c) && !ours) {
		run_summary(c, r, show);
	}
	if (c->json)
		run_json(c, r, show);
	return ours ? no_sandbox(r, show, e) : 0;
}

/* The supervisor went away without a word; gloved knows, or finds out. */
static int
ask_gloved(struct cli *c, struct run *r)
{
	AUTO(json) struct json *show = NULL;
	struct err ignore;
	struct str by;

	if (ask_story(c, r, &show, &ignore))
		return -1;
	by = reply_str(show, "ended_by");
	r->end = (struct pump_end){ .how = PUMP_EXIT, .cause = CAUSE_LOST,
	    .status = (int)reply_int(show, "exit", 0), .recorded = 1 };
	for (int i = 1; i < CAUSE_END; i++)
		if (str_eq(by, str_of(cause_word(i))))
			r->end.cause = i;
	return 0;
}

/* Where it was started, and what may be asked for instead. */
static int
where(struct cli *c, struct run *r, char **cwd, char **path, struct err *e)
{
	const char *given = args_text(&c->args, FLAG_EXPOSE, NULL);
	AUTO(json) struct json *lease = NULL;
	struct str at;

	if ((*cwd = getcwd(NULL, 0)) == NULL)
		return err_set(e, ERR_SYS, "current directory");
	r->path = r->cwd = *cwd;
	if (given == NULL)
		return home_spared(&c->home, *cwd, e);
	if (ids_resolve(c, given, ID_BIT(ID_EXPOSURE), 0, r->exposure, e) ||
	    cli_call(c, "exposure.show", cli_id(r->exposure), &lease, e) ||
	    json_get_str(lease, "path", &at, e))
		return -1;
	if ((*path = strndup(at.p, at.n)) == NULL)
		return err_set(e, ERR_NOMEM, "path");
	r->path = *path;
	if (strncmp(*cwd, *path, at.n) != 0 || ((*cwd)[at.n] != '/' &&
	    (*cwd)[at.n] != '\0'))
		r->cwd = *path;
	return 0;
}

static int
ask_for(struct cli *c, struct run *r, const char **extra, struct err *e)
{
	const struct args *a = &c->args;
	const char *v;
	size_t at = 0, n = 0;

	r->argc = a->n;
	r->argv = a->v;
	r->name = args_text(a, FLAG_NAME, NULL);
	r->ttl_s = args_us(a, FLAG_TTL, 0) / 1000000;
	r->detach = args_has(a, FLAG_DETACH);
	r->terminal = r->detach ? 0 : isatty(0) && isatty(1);
	if (strcmp(r->mode, "direct") == 0) {
		(void)err_say(e, ERR_UNSUPPORTED, "--mode direct is not in this"
		    " version: it needs a person's approval");
		return err_fix(e, "use the staged mode, then look and take:"
		    " glove diff -, glove apply -");
	}
	if (mode_parse(r->mode) == MODE_NONE) {
		(void)err_say(e, ERR_USAGE, "there is no mode \"%s\"", r->mode);
		return err_fix(e, "staged or ro");
	}
	if (tools_find(&c->home, getenv("PATH"), &r->shown, e))
		return -1;
	while ((v = args_next(a, FLAG_RO, &at)) != NULL)
		if (shown_add(&r->shown, v, e))
			return err_wrap(e, "--ro");
	at = 0;
	while ((v = args_next(a, FLAG_ENV, &at)) != NULL && n < EXTRA_MAX)
		extra[n++] = v;
	extra[n] = NULL;
	r->env = extra;
	return 0;
}

static int
dry_run(struct cli *c, const struct run *r)
{
	AUTO(buf) struct buf line;

	buf_init(&line, ARGV_BYTES_MAX);
	for (size_t i = 0; i < r->argc; i++)
		buf_putf(&line, "%s%s", i == 0 ? "" : " ", r->argv[i]);
	would(c, "run", (struct str){ (const char *)line.p, line.n });
	would(c, strcmp(r->mode, "ro") == 0 ? "show read-only" : "stage",
	    str_of(r->path));
	for (size_t i = 0; i < r->shown.n; i++)
		would(c, "show read-only", str_of(r->shown.v[i]));
	return would_end(c);
}

int
cmd_run(struct cli *c, struct err *e)
{
	AUTO(run) struct run r = { .sock = -1 };
	AUTO(mem) char *cwd = NULL;
	AUTO(mem) char *path = NULL;
	const char *extra[EXTRA_MAX + 1];
	struct pump p;

	c->exit_failed = RUN_FAILED;
	r.mode = args_text(&c->args, FLAG_MODE, "staged");
	if (cli_home(c, e) || ask_for(c, &r, extra, e) ||
	    where(c, &r, &cwd, &path, e))
		return -1;
	if (args_has(&c->args, FLAG_DRY_RUN))
		return dry_run(c, &r);
	if (run_start(c, &r, e))
		return -1;
	if (talks(c)) {
		run_header(c, &r);
		if (out_flush(&c->note, e))
			return -1;
	}
	if (r.detach)
		return detached(c, &r);
	p = (struct pump){ .sock = r.sock, .terminal = r.terminal,
	    .quiet = c->quiet };
	if (pump_run(&p, &r.end, e) && (e->code != ERR_PEER ||
	    ask_gloved(c, &r)))
		return -1;
	if (r.end.how == PUMP_DETACHED)
		return detached(c, &r);
	return finished(c, &r, e);
}
