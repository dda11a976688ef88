/* SPDX-License-Identifier: ISC */
/* glove show: one thing, whatever its id says it is. */
#include <stdio.h>
#include <string.h>

#include "base/clock.h"
#include "cli/records.h"
#include "lifecycle/machine.h"

enum { LABEL_COLUMNS = 12, VALUE_MAX = 8192 };

static void
label(struct cli *c, const char *name)
{
	out_style(&c->out, STYLE_DIM);
	out_putf(&c->out, "  %-*s", LABEL_COLUMNS, name);
	out_style(&c->out, STYLE_PLAIN);
}

static void
text_row(struct cli *c, const char *name, struct str s)
{
	if (s.n == 0)
		return;
	label(c, name);
	out_foreign(&c->out, s, VALUE_MAX);
	out_put(&c->out, "\n");
}

static void
time_row(struct cli *c, const struct json *o, const char *name, const char *key)
{
	AUTO(buf) struct buf b;
	int64_t us = reply_time(o, key);

	if (us == 0)
		return;
	buf_init(&b, 128);
	when_put(&b, us, clock_now().real_us, c->utc);
	text_row(c, name, (struct str){ (const char *)b.p, b.n });
}

/* Lines, as words in a row. */
static void
lines_row(struct cli *c, const char *name, struct str s)
{
	AUTO(buf) struct buf b;

	buf_init(&b, VALUE_MAX);
	for (size_t i = 0; i < s.n; i++)
		if (s.p[i] != '\n')
			buf_put(&b, &s.p[i], 1);
		else if (i + 1 < s.n)
			buf_put_str(&b, ", ");
	text_row(c, name, (struct str){ (const char *)b.p, b.n });
}

static void
list_row(struct cli *c, const struct json *o, const char *name, const char *key)
{
	AUTO(buf) struct buf b;

	buf_init(&b, 1 << 20);
	reply_command(&b, json_get(o, key));
	text_row(c, name, (struct str){ (const char *)b.p, b.n });
}

static void
number_row(struct cli *c, const struct json *o, const char *name,
    const char *key)
{
	int64_t n = reply_int(o, key, -1);

	if (n < 0)
		return;
	label(c, name);
	out_putf(&c->out, "%lld\n", (long long)n);
}

static void
title(struct cli *c, const struct json *o)
{
	out_style(&c->out, STYLE_BOLD);
	out_foreign(&c->out, reply_str(o, "id"), ID_TEXT_MAX);
	out_style(&c->out, STYLE_PLAIN);
	out_put(&c->out, "  ");
	out_foreign(&c->out, reply_str(o, "state"), 32);
	out_put(&c->out, "\n");
}

static void
changes_row(struct cli *c, const struct json *s)
{
	const struct json *changes = json_get(s, "changes");

	if (json_is_null(changes))
		return;
	label(c, "changes");
	out_putf(&c->out, "%lld files, +%lld -%lld, ",
	    (long long)reply_int(changes, "files", 0),
	    (long long)reply_int(changes, "added", 0),
	    (long long)reply_int(changes, "removed", 0));
	out_foreign(&c->out, reply_str(changes, "state"), 32);
	out_put(&c->out, "\n");
}

static void
session(struct cli *c, const struct json *s)
{
	const struct json *error = json_get(s, "error");

	text_row(c, "name", reply_str(s, "name"));
	list_row(c, s, "command", "command");
	text_row(c, "directory", reply_str(s, "path"));
	text_row(c, "mode", reply_str(s, "mode"));
	time_row(c, s, "started", "started_at");
	if (reply_str(s, "ended_at").n > 0)
		time_row(c, s, "ended", "ended_at");
	else
		time_row(c, s, "ends", "ends_at");
	text_row(c, "ended by", reply_str(s, "ended_by"));
	number_row(c, s, "exit", "exit");
	text_row(c, "error", reply_str(error, "message"));
	list_row(c, s, "exposures", "exposures");
	changes_row(c, s);
	number_row(c, s, "denials", "denials");
	lines_row(c, "enforced", reply_str(s, "enforced"));
	text_row(c, "binding", reply_str(s, "binding"));
	text_row(c, "plan", reply_str(s, "plan"));
}

static void
exposure(struct cli *c, const struct json *x)
{
	text_row(c, "name", reply_str(x, "name"));
	text_row(c, "directory", reply_str(x, "path"));
	text_row(c, "mode", reply_str(x, "mode"));
	number_row(c, x, "generation", "generation");
	time_row(c, x, "opened", "opened_at");
	time_row(c, x, "ends", "ends_at");
	time_row(c, x, "latest", "latest_at");
	list_row(c, x, "sessions", "sessions");
	text_row(c, "scope", reply_str(x, "scope"));
}

static void
change(struct cli *c, const struct json *x)
{
	text_row(c, "session", reply_str(x, "session"));
	text_row(c, "exposure", reply_str(x, "exposure"));
	text_row(c, "directory", reply_str(x, "path"));
	number_row(c, x, "files", "files");
	number_row(c, x, "added", "added");
	number_row(c, x, "removed", "removed");
	text_row(c, "manifest", reply_str(x, "manifest"));
}

static int
one_record(void *cookie, const struct json *r, struct err *e)
{
	struct cli *c = cookie;

	(void)e;
	if (c->json)
		out_json(&c->out, r);
	else
		record_line(c, r, clock_now().real_us);
	return 0;
}

int
cmd_show(struct cli *c, struct err *e)
{
	static const struct {
		enum id_kind	 kind;
		const char	*method;
		void		(*print)(struct cli *c, const struct json *o);
	} shows[] = {
		{ ID_SESSION, "session.show", session },
		{ ID_EXPOSURE, "exposure.show", exposure },
		{ ID_CHANGE, "change.show", change },
	};
	AUTO(json) struct json *o = NULL;
	char id[ID_TEXT_MAX];

	if (ids_resolve(c, c->args.v[0], ID_BIT(ID_SESSION) |
	    ID_BIT(ID_EXPOSURE) | ID_BIT(ID_CHANGE) | ID_BIT(ID_KEY) |
	    ID_BIT(ID_SERVICE), 0, id, e))
		return -1;
	for (size_t i = 0; i < sizeof(shows) / sizeof(shows[0]); i++) {
		if (shows[i].kind != ids_kind(str_of(id)) ||
		    args_has(&c->args, FLAG_RECORDS))
			continue;
		if (cli_call(c, shows[i].method, cli_id(id), &o, e))
			return -1;
		if (c->json) {
			out_json(&c->out, o);
		} else {
			title(c, o);
			shows[i].print(c, o);
		}
		return 0;
	}
	return records_each(c, id, 0, one_record, c, e);
}
