/* SPDX-License-Identifier: ISC */
/* glove ps: sessions. */
#include <string.h>

#include "base/num.h"
#include "cli/cli.h"

enum { COMMAND_MAX = 8192 };

static enum style
style_of(struct str state)
{
	if (str_eq(state, STR("running")))
		return STYLE_GREEN;
	if (str_eq(state, STR("ended")) || str_eq(state, STR("refused")))
		return STYLE_DIM;
	return STYLE_YELLOW;
}

static void
cell_end(struct table *t, const struct cli *c, const struct json *s,
    int64_t now_us)
{
	AUTO(buf) struct buf b;
	struct str by = reply_str(s, "ended_by");
	int64_t code = reply_int(s, "exit", -1);

	buf_init(&b, 256);
	if (by.n > 0) {
		buf_put(&b, by.p, by.n);
		if (code >= 0 && str_eq(by, STR("exited")))
			buf_putf(&b, " %lld", (long long)code);
	} else {
		when_put(&b, reply_time(s, "ends_at"), now_us, c->utc);
	}
	table_cell(t, STYLE_PLAIN, (struct str){ (const char *)b.p, b.n });
}

static void
cell_changes(struct table *t, const struct json *s)
{
	const struct json *changes = json_get(s, "changes");
	struct str state = reply_str(changes, "state");
	int64_t files = reply_int(changes, "files", 0);

	if (files == 0)
		table_cell(t, STYLE_DIM, STR("-"));
	else
		table_cellf(t, STYLE_PLAIN, "%lld %.*s", (long long)files,
		    (int)state.n, state.p);
}

static void
row(struct cli *c, struct table *t, const struct json *s, int64_t now_us)
{
	AUTO(buf) struct buf text;
	struct str state = reply_str(s, "state"), name = reply_str(s, "name");
	char id[ID_TEXT_MAX];

	buf_init(&text, COMMAND_MAX);
	table_cell(t, STYLE_BOLD, str_of(ids_short(c, reply_str(s, "id"), id)));
	table_cell(t, style_of(state), state);
	table_cell(t, STYLE_PLAIN, reply_str(s, "mode"));
	when_put(&text, reply_time(s, "started_at"), now_us, c->utc);
	table_cell(t, STYLE_PLAIN, (struct str){ (const char *)text.p, text.n });
	cell_end(t, c, s, now_us);
	cell_changes(t, s);
	buf_reset(&text);
	path_put(c, &text, reply_str(s, "path"));
	table_cell(t, STYLE_PLAIN, (struct str){ (const char *)text.p, text.n });
	buf_reset(&text);
	if (name.n > 0) {
		buf_put(&text, name.p, name.n);
		buf_put_str(&text, ": ");
	}
	reply_command(&text, json_get(s, "command"));
	table_cell(t, STYLE_PLAIN, (struct str){ (const char *)text.p, text.n });
}

int
cmd_ps(struct cli *c, struct err *e)
{
	static const char *const heads[] = { "SESSION", "STATE", "MODE",
	    "STARTED", "ENDS", "CHANGES", "DIRECTORY", "COMMAND", NULL };
	AUTO(json) struct json *params = json_make_object(), *list = NULL;
	AUTO(table) struct table t;
	const char *state = args_text(&c->args, FLAG_STATE, NULL);
	struct json *sessions;

	table_init(&t, &c->out, c->wide, heads);
	if (args_has(&c->args, FLAG_ALL) || state != NULL)
		json_set_bool(params, "all", 1);
	if (state != NULL)
		json_set_cstr(params, "state", state);
	if (cli_call(c, "session.list", TAKE(params), &list, e))
		return -1;
	if (c->json) {
		out_json(&c->out, list);
		return 0;
	}
	sessions = json_get(list, "sessions");
	for (size_t i = 0; i < json_len(sessions); i++)
		row(c, &t, json_at(sessions, i), reply_time(list, "now"));
	if (json_len(sessions) > 0)
		return table_end(&t, e);
	if (!c->quiet)
		out_put(&c->note, args_has(&c->args, FLAG_ALL) ?
		    "no sessions\n" : "no sessions run; glove ps --all lists"
		    " those that have ended\n");
	return 0;
}
