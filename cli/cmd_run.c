/* SPDX-License-Identifier: ISC */
/* glove run: the current directory as a staged copy, a command in its sandbox,
 * and afterwards what it did. */
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/clock.h"
#include "base/num.h"
#include "cli/run.h"
#include "lifecycle/machine.h"

enum { RUN_FAILED = 125, EXTRA_MAX = 256 };

/* People are told; a script that pipes is not. */
static int
talks(const struct cli *c)
{
	return !c->quiet && (c->note.terminal || c->verbose);
}

static void
line_start(struct cli *c)
{
	out_style(&c->note, STYLE_DIM);
	out_put(&c->note, "glove: ");
	out_style(&c->note, STYLE_PLAIN);
}

static void
note_path(struct cli *c, const char *path)
{
	AUTO(buf) struct buf b;

	buf_init(&b, PATH_BYTES_MAX + 8);
	path_put(c, &b, str_of(path));
	out_foreign(&c->note, (struct str){ (const char *)b.p, b.n },
	    4 * PATH_BYTES_MAX);
}

static void
note_shown(struct cli *c, const struct run *r)
{
	out_put(&c->note, "shown  /usr and the like");
	for (size_t i = 0; i < r->shown.n; i++) {
		out_put(&c->note, " ");
		note_path(c, r->shown.v[i]);
	}
	out_put(&c->note, " (read-only)\n");
}

static void
header(struct cli *c, const struct run *r)
{
	AUTO(buf) struct buf when;
	char id[ID_TEXT_MAX];

	buf_init(&when, 128);
	duration_put(&when, r->ends_us - clock_now().real_us);
	line_start(c);
	out_putf(&c->note, "session %s   ", ids_short(c, str_of(r->id), id));
	note_path(c, r->path);
	out_put(&c->note, strcmp(r->mode, "ro") == 0 ? "   read-only\n" :
	    "   staged copy: nothing is written to it until you apply\n");
	line_start(c);
	out_put(&c->note, "hidden  everything else outside   ");
	note_shown(c, r);
	line_start(c);
	out_putf(&c->note, "network off   ends  in %s or when ", buf_cstr(&when));
	out_foreign(&c->note, str_of(r->argv[0]), 64);
	out_put(&c->note, " exits");
	out_put(&c->note, r->terminal ? "   Ctrl-] d detaches\n" : "\n");
}

static void
ended_how(struct cli *c, const struct run *r, const struct json *show)
{
	AUTO(buf) struct buf after;
	int64_t ms = reply_int(show, "duration_ms", -1);

	out_style(&c->note, STYLE_BOLD);
	out_foreign(&c->note, str_of(r->argv[0]), 64);
	out_style(&c->note, STYLE_PLAIN);
	if (r->end.cause == CAUSE_EXITED && r->end.status > 128)
		out_putf(&c->note, " was ended by signal %d",
		    r->end.status - 128);
	else if (r->end.cause == CAUSE_EXITED)
		out_putf(&c->note, " exited %d", r->end.status);
	else
		out_putf(&c->note, ": %s", cause_doc(r->end.cause));
	buf_init(&after, 64);
	if (ms >= 0) {
		duration_put(&after, ms * 1000);
		out_putf(&c->note, " after %s", buf_cstr(&after));
	}
	out_put(&c->note, ".");
}

static void
what_changed(struct cli *c, const struct run *r, const struct json *show)
{
	const struct json *changes = json_get(show, "changes");
	int64_t files = reply_int(changes, "files", 0);
	char id[ID_TEXT_MAX];

	if (files == 0) {
		out_put(&c->note, strcmp(r->mode, "ro") == 0 ? "\n" :
		    "   Nothing changed.\n");
		return;
	}
	(void)ids_short(c, str_of(r->id), id);
	out_putf(&c->note, "   %lld file%s changed, +%lld \u2212%lld,"
	    " not yet applied.\n", (long long)files, files == 1 ? "" : "s",
	    (long long)reply_int(changes, "added", 0),
	    (long long)reply_int(changes, "removed", 0));
	out_putf(&c->note, "  glove diff %-13s look        glove apply %-13s take"
	    " them\n  glove timeline %-9s what it did glove discard %-11s drop"
	    " them\n", id, id, id, id);
}

static void
set_receipt(struct cli *c, struct json *j, const struct json *show)
{
	int64_t record = reply_int(show, "record", -1);
	char id[ID_TEXT_MAX];
	struct err ignore;

	if (record < 0 || receipt_id(c, record, id, &ignore))
		return;
	json_set_int(j, "record", record);
	json_set_cstr(j, "receipt", id);
}

static void
print_json(struct cli *c, const struct run *r, const struct json *show)
{
	AUTO(json) struct json *j = json_make_object();
	int64_t ms = reply_int(show, "duration_ms", -1);

	json_set_cstr(j, "schema", "glove.run/1");
	json_set_cstr(j, "session", r->id);
	if (r->detach || r->end.how == PUMP_DETACHED) {
		json_set_null(j, "exit");
		json_set_null(j, "ended_by");
		json_set_time(j, "ends_at", r->ends_us);
		out_json(&c->out, j);
		return;
	}
	json_set_int(j, "exit", run_exit(&r->end));
	json_set_cstr(j, "ended_by", cause_word(r->end.cause));
	if (ms >= 0) {
		json_set_int(j, "duration_s", ms / 1000);
		json_set_int(j, "duration_ms", ms);
	}
	if (json_get(show, "changes") != NULL)
		json_set(j, "changes", json_clone(json_get(show, "changes")));
	if (json_get(show, "denials") != NULL)
		json_set(j, "denials", json_clone(json_get(show, "denials")));
	set_receipt(c, j, show);
	out_json(&c->out, j);
}

static int
detached(struct cli *c, const struct run *r)
{
	char id[ID_TEXT_MAX];

	if (c->json)
		print_json(c, r, NULL);
	else if (r->detach)
		out_putf(&c->out, "%s\n", r->id);
	else if (!c->quiet)
		out_putf(&c->note, "glove: left running; back with: glove attach"
		    " %s\n", ids_short(c, str_of(r->id), id));
	return 0;
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
	if (cli_call(c, "session.wait", cli_id(r->id), &show, &failed) &&
	    !c->quiet) {
		out_put(&c->note, "glove: what became of it is not known yet: ");
		out_foreign(&c->note, str_of(failed.msg), ERR_MSG_MAX);
		out_put(&c->note, "\n");
	}
	if (talks(c) && !ours) {
		ended_how(c, r, show);
		what_changed(c, r, show);
	}
	if (c->json)
		print_json(c, r, show);
	return ours ? no_sandbox(r, show, e) : 0;
}

/* The supervisor went away without a word; gloved knows, or finds out. */
static int
ask_gloved(struct cli *c, struct run *r)
{
	AUTO(json) struct json *show = NULL;
	struct err ignore;
	struct str by;

	if (cli_call(c, "session.wait", cli_id(r->id), &show, &ignore))
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
		return 0;
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
	out_put(&c->out, "would run ");
	for (size_t i = 0; i < r->argc; i++) {
		out_foreign(&c->out, str_of(r->argv[i]), 4096);
		out_put(&c->out, i + 1 < r->argc ? " " : "\n");
	}
	out_putf(&c->out, "would show %s: ", strcmp(r->mode, "ro") == 0 ?
	    "read-only" : "a staged copy of");
	out_foreign(&c->out, str_of(r->path), 4 * PATH_BYTES_MAX);
	out_put(&c->out, "\n");
	for (size_t i = 0; i < r->shown.n; i++) {
		out_put(&c->out, "would show read-only: ");
		out_foreign(&c->out, str_of(r->shown.v[i]), 4 * PATH_BYTES_MAX);
		out_put(&c->out, "\n");
	}
	out_put(&c->out, "nothing was changed\n");
	return 0;
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
		header(c, &r);
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
