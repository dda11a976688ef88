/* SPDX-License-Identifier: ISC */
/* glove apply, discard, undo: what becomes of staged changes. */
#include <stdio.h>
#include <string.h>

#include "cli/staged.h"

enum { QUESTION_MAX = 512, PATH_SHOWN = 512, LISTED_MAX = 50 };

/*
 * What stands in the way, before anything is recorded: gloved looks again.
 */
static int
look(struct cli *c, const struct staged *st, int back, struct err *e)
{
	AUTO(changes_result) struct changes_result r = { .nconflict = 0 };
	AUTO(fd) int undo = staged_undo(c, st);
	struct changes_apply a = {
		.upper_dirfd = st->upper, .lower_dirfd = st->lower,
		.undo_dirfd = undo, .m = st->m,
		.paths = { st->paths, st->npaths }, .dry_run = 1,
	};

	if ((back ? changes_undo(&a, NULL, &r, e) :
	    changes_apply(&a, NULL, &r, e)) == 0)
		return 0;
	if (e->code != ERR_CONFLICT)
		return -1;
	if (!c->json)
		for (size_t i = 0; i < r.nconflict && i < LISTED_MAX; i++) {
			out_put(&c->note, "  conflict  ");
			out_foreign(&c->note, r.conflict[i].c->path, PATH_SHOWN);
			out_putf(&c->note, ": %s\n", r.conflict[i].why);
		}
	(void)err_say(e, ERR_CONFLICT, "%zu path%s changed on the host %s;"
	    " nothing was touched", r.nconflict, r.nconflict == 1 ? "" : "s",
	    back ? "after the apply" : "too");
	if (back)
		return err_fix(e, "make %s as the apply had left %s: glove diff"
		    " %s", r.nconflict == 1 ? "it" : "them",
		    r.nconflict == 1 ? "it" : "them", st->session);
	return err_fix(e, "look: glove diff %s; take others: glove apply %s"
	    " PATH...", st->session, st->session);
}

/* What a person should know before saying yes. */
static void
warn(struct cli *c, const struct staged *st)
{
	struct change_paths chosen = { st->paths, st->npaths };

	if (c->quiet || c->json)
		return;
	for (size_t i = 0; i < st->m->n; i++) {
		const struct change *ch = &st->m->v[i];
		const char *text;
		unsigned at = 0;

		if (!change_selected(&chosen, ch) ||
		    (!ch->runs_later && ch->notes == 0))
			continue;
		out_style(&c->note, STYLE_YELLOW);
		out_put(&c->note, change_refused(ch) ? "  left out  " :
		    "  mind      ");
		out_style(&c->note, STYLE_PLAIN);
		out_foreign(&c->note, ch->path, PATH_SHOWN);
		if (ch->runs_later)
			out_put(&c->note, ": this machine may run it by itself");
		while ((text = change_note_next(ch->notes, &at)) != NULL)
			out_putf(&c->note, ": %s", text);
		out_put(&c->note, "\n");
	}
}

static int
consent(struct cli *c, const struct staged *st, const char *verb, struct err *e)
{
	AUTO(buf) struct buf path;
	char question[QUESTION_MAX];
	size_t n = st->npaths;

	buf_init(&path, 4 * PATH_SHOWN);
	path_put(c, &path, str_of(st->path));
	if (n > 0)
		(void)snprintf(question, sizeof(question), "%s %zu chosen path%s"
		    " of %zu changes %s?", verb, n, n == 1 ? "" : "s",
		    st->m->n, buf_cstr(&path));
	else
		(void)snprintf(question, sizeof(question), "%s %zu change%s %s?",
		    verb, st->m->n, st->m->n == 1 ? "" : "s", buf_cstr(&path));
	return cli_yes(c, question, e);
}

/* The answer of gloved to apply and undo, and the exit code that goes with it. */
static int
outcome(struct cli *c, const struct json *r, const char *verb, struct err *e)
{
	struct str how = reply_str(r, "outcome");
	struct json *conflicts = json_get(r, "conflicts");
	struct str id = reply_str(r, "id"), session = reply_str(r, "session");
	struct str path;

	if (c->json)
		out_json(&c->out, r);
	if (str_eq(how, STR("whole"))) {
		if (!c->json && !c->quiet)
			out_putf(&c->out, "%s %lld file%s; back with:"
			    " glove undo %.*s\n", verb,
			    (long long)reply_int(r, "files", 0),
			    reply_int(r, "files", 0) == 1 ? "" : "s",
			    (int)session.n, session.p);
		return 0;
	}
	if (str_eq(how, STR("conflict"))) {
		for (size_t i = 0; i < json_len(conflicts) && !c->json; i++)
			if (json_text(json_at(conflicts, i), &path) == 0) {
				out_put(&c->note, "  conflict  ");
				out_foreign(&c->note, path, PATH_SHOWN);
				out_put(&c->note, "\n");
			}
		return err_say(e, ERR_CONFLICT, "the host changed the same files"
		    " meanwhile; nothing was touched");
	}
	(void)err_say(e, ERR_PENDING, "%.*s stopped half way; each file is whole",
	    (int)id.n, id.p);
	return err_fix(e, "go on: glove apply --continue %.*s; or go back:"
	    " glove undo %.*s", (int)session.n, session.p, (int)session.n,
	    session.p);
}

static int
check_expected(struct cli *c, const struct staged *st, struct err *e)
{
	const char *want = args_text(&c->args, FLAG_EXPECT, NULL);
	struct str is = reply_str(st->show, "manifest");

	if (want == NULL || (strlen(want) >= 8 && strlen(want) <= is.n &&
	    memcmp(want, is.p, strlen(want)) == 0))
		return 0;
	return err_say(e, ERR_STALE, "the changes are %.*s, not %s", (int)is.n,
	    is.p, want);
}

static int
dry_run(struct cli *c, const struct staged *st)
{
	struct change_paths chosen = { st->paths, st->npaths };

	for (size_t i = 0; i < st->m->n; i++) {
		const struct change *ch = &st->m->v[i];

		if (!change_selected(&chosen, ch))
			continue;
		would(c, change_refused(ch) ? "leave out" :
		    change_kind_word(ch->kind), ch->path);
	}
	return would_end(c);
}

int
cmd_apply(struct cli *c, struct err *e)
{
	AUTO(staged) struct staged st = { .upper = -1, .lower = -1 };
	AUTO(json) struct json *p = NULL, *r = NULL;
	const struct args *a = &c->args;
	int resume = args_has(a, FLAG_CONTINUE);

	if (staged_open(c, a->v[0], 1, &st, e) ||
	    staged_choose(&st, a->n - 1, a->v + 1, e) ||
	    check_expected(c, &st, e))
		return -1;
	if (!resume && look(c, &st, 0, e))
		return -1;
	if (args_has(a, FLAG_DRY_RUN))
		return dry_run(c, &st);
	warn(c, &st);
	if (consent(c, &st, "Write", e))
		return -1;
	p = cli_write(c, st.id);
	json_set_str(p, "manifest", reply_str(st.show, "manifest"));
	if (resume)
		json_set_bool(p, "resume", 1);
	if (st.npaths > 0) {
		struct json *paths = json_make_array();

		for (size_t i = 0; i < st.npaths; i++)
			json_add_str(paths, st.paths[i]);
		json_set(p, "paths", paths);
	}
	if (cli_wait(c, "change.apply", TAKE(p), &r, e))
		return -1;
	return outcome(c, r, "applied", e);
}

int
cmd_undo(struct cli *c, struct err *e)
{
	AUTO(staged) struct staged st = { .upper = -1, .lower = -1 };
	AUTO(json) struct json *r = NULL;
	char question[QUESTION_MAX];

	if (staged_open(c, c->args.v[0], 1, &st, e) || look(c, &st, 1, e))
		return -1;
	(void)snprintf(question, sizeof(question), "Put the files that %s"
	    " changed back as they were?", st.session);
	if (cli_yes(c, question, e) ||
	    cli_wait(c, "change.undo", cli_write(c, st.id), &r, e))
		return -1;
	if (str_eq(reply_str(r, "state"), STR("undone"))) {
		if (c->json)
			out_json(&c->out, r);
		else if (!c->quiet)
			out_put(&c->out, "undone; the directory is as it was"
			    " before the apply\n");
		return 0;
	}
	return outcome(c, r, "undone", e);
}

int
cmd_discard(struct cli *c, struct err *e)
{
	AUTO(json) struct json *r = NULL;
	char id[ID_TEXT_MAX];

	if (staged_id(c, c->args.v[0], 1, id, e))
		return -1;
	if (args_has(&c->args, FLAG_DRY_RUN)) {
		would(c, "discard the changes of", str_of(id));
		return would_end(c);
	}
	if (cli_wait(c, "change.discard", cli_write(c, id), &r, e))
		return -1;
	if (c->json)
		out_json(&c->out, r);
	else if (!c->quiet)
		out_putf(&c->out, "discarded %lld changed file%s\n",
		    (long long)reply_int(r, "files", 0),
		    reply_int(r, "files", 0) == 1 ? "" : "s");
	return 0;
}
