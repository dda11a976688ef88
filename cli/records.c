/* SPDX-License-Identifier: ISC */
#include <string.h>

#include "base/num.h"
#include "cli/records.h"

enum { PAGE = 200, VALUE_MAX = 120 };

int
records_each(struct cli *c, const char *subject, int64_t from,
    record_see *see, void *cookie, struct err *e)
{
	for (;;) {
		AUTO(json) struct json *p = json_make_object(), *page = NULL;
		struct json *records;
		int64_t next;
		int rc = 0;

		if (subject != NULL)
			json_set_cstr(p, "subject", subject);
		json_set_int(p, "from", from);
		json_set_int(p, "limit", PAGE);
		if (cli_call(c, "record.list", TAKE(p), &page, e))
			return -1;
		records = json_get(page, "records");
		for (size_t i = 0; rc == 0 && i < json_len(records); i++)
			rc = see(cookie, json_at(records, i), e);
		if (rc != 0)
			return rc < 0 ? -1 : 0;
		next = reply_int(page, "next", from);
		if (json_len(records) == 0 || next <= from)
			return 0;
		from = next;
	}
}

/* What is there for machines, or stands in the line anyway. */
static int
dull(const char *name)
{
	static const char *const names[] = { "nonce", "body", "scope", "source",
		"plan", "plan_text", "session_digest", "binding", "binding_text",
		"argv_digest", "limits", "manifest", "manifest_blob", "pidns",
		"init_start", "supervisor_start", "ends_boot_us", "actor_name",
		"actor_pid", "actor_uid", "owner_uid", "link", "init_pid",
		"supervisor_pid", "signals", "incarnation", "mac_no",
		"reducer", "prev_size", "exposure", "session", "latest_us", "last_write_us", "prev_root",
		"prev_seal", "cert", "install_salt", "next_root", "genesis_sig",
		"recovery_pub", "log_pub", "pub", "enforced" };

	for (size_t i = 0; i < sizeof(names) / sizeof(names[0]); i++)
		if (strcmp(names[i], name) == 0)
			return 1;
	return 0;
}

static void
put_value(struct out *o, const char *name, const struct json *v)
{
	AUTO(buf) struct buf b;
	struct str s;
	int64_t n;
	size_t len = strlen(name);

	buf_init(&b, 1 << 16);
	if (json_text(v, &s) == 0) {
		out_foreign(o, s, VALUE_MAX);
	} else if (json_int(v, &n) == 0) {
		if (len > 3 && strcmp(name + len - 3, "_us") == 0 &&
		    strcmp(name, "duration_us") != 0) {
			char when[RFC3339_MAX];

			out_put(o, rfc3339_str(n, when));
		} else if (strcmp(name, "duration_us") == 0) {
			duration_put(&b, n);
			out_put(o, buf_cstr(&b));
		} else {
			out_putf(o, "%lld", (long long)n);
		}
	} else if (json_is_array(v)) {
		reply_command(&b, v);
		out_foreign(o, (struct str){ (const char *)b.p, b.n },
		    2 * VALUE_MAX);
	} else {
		out_put(o, "(sealed)");
	}
}

/* The others as a person says them: before, value, after. */
static const struct word {
	const char	*name, *before, *after;
} words[] = {
	{ "path", "in ", "" },		{ "mode", "", "" },
	{ "generation", "generation ", "" }, { "ends_us", "until ", "" },
	{ "command", "", "" },		{ "session_name", "named ", "" },
	{ "label", "named ", "" },	{ "ended_by", "", "" },
	{ "exit", "exit ", "" },	{ "duration_us", "after ", "" },
	{ "files", "", " changed" },	{ "added", "+", "" },
	{ "removed", "-", "" },		{ "use", "", " key" },
	{ "epoch", "epoch ", "" },	{ "version", "version ", "" },
	{ "reason", "reason: ", "" },	{ "change", "", "" },
	{ "code", "", "" },		{ "commit_no", "commit ", "" },
	{ "count", "", " in all" },	{ "cause", "because of record ", "" },
};

static void
put_word(struct cli *c, const char *name, const struct json *v, int64_t at_us)
{
	const struct word *w = NULL;
	AUTO(buf) struct buf b;
	int64_t n;

	for (size_t i = 0; i < sizeof(words) / sizeof(words[0]); i++)
		if (strcmp(words[i].name, name) == 0)
			w = &words[i];
	if (w != NULL)
		out_put(&c->out, w->before);
	else
		out_putf(&c->out, "%s ", name);
	buf_init(&b, 64);
	if (strcmp(name, "ends_us") == 0 && json_int(v, &n) == 0) {
		clock_put(&b, n, at_us, 0, c->utc);
		out_put(&c->out, buf_cstr(&b));
	} else {
		put_value(&c->out, name, v);
	}
	if (w != NULL)
		out_put(&c->out, w->after);
}

/* A first generation and three pipes are what everybody expects. */
static int
is_usual(const char *name, const struct json *v)
{
	int64_t n = -1;

	(void)!json_int(v, &n);
	return (strcmp(name, "generation") == 0 && n == 1) ||
	    (strcmp(name, "terminal") == 0 && n == 0);
}

void
record_fields(struct cli *c, const struct json *record)
{
	const struct json *fields = json_get(record, "fields"), *v;
	int64_t at_us = reply_time(record, "time");
	struct out *o = &c->out;
	const char *name, *sep = "  ";

	for (size_t i = 0; (name = json_key_at(fields, i)) != NULL; i++) {
		v = json_get(fields, name);
		if (c->wide) {
			out_style(o, STYLE_DIM);
			out_putf(o, " %s=", name);
			out_style(o, STYLE_PLAIN);
			put_value(o, name, v);
		} else if (!dull(name) && !is_usual(name, v)) {
			out_put(o, sep);
			put_word(c, name, v, at_us);
			sep = ", ";
		}
	}
}

void
record_line(struct cli *c, const struct json *record, int64_t now_us)
{
	AUTO(buf) struct buf when;
	struct out *o = &c->out;
	struct str subject = reply_str(record, "subject");
	struct str from = reply_str(record, "from");
	struct str to = reply_str(record, "to");

	buf_init(&when, 64);
	clock_put(&when, reply_time(record, "time"), now_us, 1, c->utc);
	out_putf(o, "%6lld  %s  ", (long long)reply_int(record, "index", -1),
	    buf_cstr(&when));
	out_style(o, STYLE_CYAN);
	out_foreign(o, subject.n > 0 ? subject : STR("-"), ID_TEXT_MAX);
	out_style(o, STYLE_PLAIN);
	out_put(o, " ");
	if (reply_bool(record, "refused")) {
		out_style(o, STYLE_RED);
		out_put(o, "refused ");
	} else {
		out_style(o, STYLE_BOLD);
	}
	out_foreign(o, reply_str(record, "event"), 32);
	out_style(o, STYLE_PLAIN);
	if (to.n > 0 && !str_eq(from, to) &&
	    !str_eq(to, reply_str(record, "event"))) {
		out_put(o, " -> ");
		out_foreign(o, to, 32);
	}
	if (c->wide) {
		out_put(o, " by ");
		out_foreign(o, reply_str(record, "actor"), 32);
	}
	record_fields(c, record);
	out_put(o, "\n");
}
