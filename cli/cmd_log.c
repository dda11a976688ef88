/* SPDX-License-Identifier: ISC */
/* glove log: the records of the journal, and with -f those to come. */
#include <string.h>

#include "base/clock.h"
#include "base/num.h"
#include "cli/records.h"

enum { LOG_USUAL = 50 };

struct log {
	struct cli	*c;
	const char	*kind;		/* only this machine or event; or NULL */
	int64_t		 since_us;
	int64_t		 now_us;
	int64_t		 next;		/* the index after the last one seen */
};

static int
wanted(const struct log *l, const struct json *r)
{
	struct str machine = reply_str(r, "machine"), event = reply_str(r, "event");

	if (reply_time(r, "time") < l->since_us)
		return 0;
	/* There is one behind every commit: for machines, or on demand. */
	if (l->kind == NULL && !l->c->json && !l->c->verbose &&
	    str_eq(event, STR("commit_footer")))
		return 0;
	return l->kind == NULL || str_eq(machine, str_of(l->kind)) ||
	    str_eq(event, str_of(l->kind)) || (strcmp(l->kind, "refused") == 0 &&
	    reply_bool(r, "refused"));
}

static int
show(void *cookie, const struct json *r, struct err *e)
{
	struct log *l = cookie;

	int64_t index = reply_int(r, "index", -1);

	(void)e;
	if (index < l->next)
		return 0;
	l->next = index + 1;
	if (!wanted(l, r))
		return 0;
	if (l->c->json)
		out_json(&l->c->out, r);
	else
		record_line(l->c, r, l->now_us);
	return 0;
}

static int
since(const struct args *a, int64_t now_us, int64_t *us, struct err *e)
{
	const char *text = args_text(a, FLAG_SINCE, NULL);
	int64_t ago;

	*us = 0;
	if (text == NULL)
		return 0;
	if (rfc3339_parse(str_of(text), us, e) == 0)
		return 0;
	if (duration_parse(str_of(text), 0, now_us, &ago, e) == 0) {
		*us = now_us - ago;
		return 0;
	}
	(void)err_say(e, ERR_USAGE, "--since: this is not a time: \"%s\"", text);
	return err_fix(e, "30m, 2d or 2026-12-01T10:29:03.120Z");
}

/* Where the last ${n} records begin; of one subject all are shown. */
static int
start_at(struct cli *c, int64_t n, int64_t *from, struct err *e)
{
	AUTO(json) struct json *status = NULL;
	int64_t records;

	if (cli_call(c, "daemon.status", NULL, &status, e))
		return -1;
	records = reply_int(status, "records", 0);
	*from = records > n ? records - n : 0;
	return 0;
}

static int
follow(struct cli *c, struct log *l, const char *subject, struct err *e)
{
	AUTO(json) struct json *p = json_make_object(), *got = NULL;

	json_set_int(p, "from", l->next);
	if (subject != NULL)
		json_set_cstr(p, "subject", subject);
	/* What came between the last page and the subscription comes first. */
	if (cli_call(c, "journal.follow", TAKE(p), &got, e) ||
	    records_each(c, subject, l->next, show, l, e))
		return -1;
	for (;;) {
		AUTO(json) struct json *note = NULL;

		if (out_flush(&c->out, e))
			return -1;
		if (client_next(c->client, -1, &note, e))
			return -1;
		l->now_us = clock_now().real_us;
		if (str_eq(reply_str(note, "method"), STR("record")) &&
		    show(l, json_get(note, "params"), e))
			return -1;
	}
}

int
cmd_log(struct cli *c, struct err *e)
{
	const struct args *a = &c->args;
	struct log l = { .c = c, .kind = args_text(a, FLAG_KIND, NULL),
	    .now_us = clock_now().real_us };
	char id[ID_TEXT_MAX];
	const char *subject = NULL;
	int64_t from = 0;

	if (since(a, l.now_us, &l.since_us, e))
		return -1;
	if (a->n > 0) {
		if (ids_resolve(c, a->v[0], ID_BIT(ID_SESSION) |
		    ID_BIT(ID_EXPOSURE) | ID_BIT(ID_CHANGE) | ID_BIT(ID_KEY) |
		    ID_BIT(ID_SERVICE), 0, id, e))
			return -1;
		subject = id;
	} else if (!args_has(a, FLAG_ALL) && !args_has(a, FLAG_SINCE)) {
		if (start_at(c, args_count(a, FLAG_LINES, LOG_USUAL), &from, e))
			return -1;
	}
	l.next = from;
	if (records_each(c, subject, from, show, &l, e))
		return -1;
	return args_has(a, FLAG_FOLLOW) ? follow(c, &l, subject, e) : 0;
}
