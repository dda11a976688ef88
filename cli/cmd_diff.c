/* SPDX-License-Identifier: ISC */
/* glove diff: what a session changed, against the directory as it is now. */
#include <string.h>

#include "base/fd.h"
#include "cli/pager.h"
#include "cli/staged.h"

/* The text goes to the pager, or gathers in the output. */
struct sink {
	struct cli	*c;
	int		 fd;		/* of the pager, or -1 */
	int		 left;		/* the pager was closed */
};

static int
put(void *cookie, struct bytes b, struct err *e)
{
	struct sink *s = cookie;

	if (s->fd < 0) {
		buf_put(&s->c->out.b, b.p, b.n);
		out_put(&s->c->out, "");
		return s->c->out.failed == 0 ? 0 : out_flush(&s->c->out, e);
	}
	if (fd_write_all(s->fd, b.p, b.n, e)) {
		s->left = 1;
		return -1;
	}
	return 0;
}

static struct json *
one_change(const struct change *ch)
{
	struct json *j = json_make_object(), *notes = json_make_array();
	const char *text;
	unsigned at = 0;

	json_set_str(j, "path", ch->path);
	json_set_cstr(j, "kind", change_kind_word(ch->kind));
	json_set_cstr(j, "before", change_type_word(ch->before.type));
	json_set_cstr(j, "after", change_type_word(ch->after.type));
	json_set_bool(j, "runs_later", ch->runs_later);
	json_set_bool(j, "refused", change_refused(ch));
	while ((text = change_note_next(ch->notes, &at)) != NULL)
		json_add_str(notes, str_of(text));
	json_set(j, "notes", notes);
	return j;
}

static void
print_json(struct cli *c, const struct staged *st, const struct changes_sum *sum)
{
	struct change_paths chosen = { st->paths, st->npaths };
	AUTO(json) struct json *j = json_make_object();
	struct json *list = json_make_array();

	json_set_cstr(j, "schema", "glove.diff/1");
	json_set_cstr(j, "session", st->session);
	json_set_cstr(j, "change", st->id[0] == '\0' ? NULL : st->id);
	json_set_cstr(j, "state", NULL);
	if (st->show != NULL)
		json_set_str(j, "state", reply_str(st->show, "state"));
	json_set_cstr(j, "path", st->path);
	json_set_int(j, "files", sum->files);
	json_set_int(j, "added", sum->added);
	json_set_int(j, "removed", sum->removed);
	for (size_t i = 0; i < st->m->n; i++)
		if (change_selected(&chosen, &st->m->v[i]))
			json_add(list, one_change(&st->m->v[i]));
	json_set(j, "changes", list);
	out_json(&c->out, j);
}

static int
diff(struct cli *c, const struct staged *st, struct err *e)
{
	const struct args *a = &c->args;
	struct sink s = { .c = c, .fd = -1 };
	AUTO(fd) int undo = staged_undo(c, st);
	struct changes_diff_options o = {
		.form = args_has(a, FLAG_STAT) ? CHANGES_STAT :
		    args_has(a, FLAG_NAME_ONLY) ? CHANGES_NAMES : CHANGES_PATCH,
		.paths = { st->paths, st->npaths },
		.color = c->out.color,
		.terminal = c->out.terminal,
		.width = c->out.columns,
		.put = c->json ? NULL : put,
		.cookie = &s,
		.undo_dirfd = undo,
	};
	struct changes_sum sum;
	pid_t pager = 0;
	int rc;

	if (c->out.terminal && !c->json && !c->no_input)
		(void)pager_open(&s.fd, &pager);
	rc = changes_diff(st->upper, st->lower, st->m, &o, &sum, e);
	pager_close(s.fd, pager);
	/* Whoever quits the pager has seen enough. */
	if (rc != 0 && s.left)
		return 0;
	if (rc != 0)
		return -1;
	if (c->json)
		print_json(c, st, &sum);
	if (args_has(a, FLAG_EXIT_CODE) && sum.files + sum.refused > 0)
		c->exit = 1;
	return 0;
}

int
cmd_diff(struct cli *c, struct err *e)
{
	AUTO(staged) struct staged st = { .upper = -1, .lower = -1 };
	const struct args *a = &c->args;

	if (staged_open(c, a->n > 0 ? a->v[0] : "-", 0, &st, e) ||
	    staged_choose(&st, a->n > 0 ? a->n - 1 : 0, a->v + 1, e))
		return -1;
	if (st.show == NULL && !c->quiet && !c->json)
		out_put(&c->note, "glove: it still runs; this is what it has"
		    " written so far\n");
	if (out_flush(&c->note, e))
		return -1;
	return diff(c, &st, e);
}
