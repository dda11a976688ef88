/* SPDX-License-Identifier: ISC */
/* glove stop: SIGTERM, a while, SIGKILL.  It never asks, and works also when
 * the journal cannot be written: then the supervisor itself is told. */
#include <string.h>

#include "cli/run.h"
#include "sandbox/attach.h"

static struct json *
params(const struct cli *c, const char *id)
{
	struct json *p = cli_write(c, id);
	const struct args *a = &c->args;

	if (args_has(a, FLAG_GRACE))
		json_set_int(p, "grace_s", args_us(a, FLAG_GRACE, 0) / 1000000);
	if (args_has(a, FLAG_NOW))
		json_set_bool(p, "now", 1);
	if (args_has(a, FLAG_NO_WAIT))
		json_set_bool(p, "wait", 0);
	return p;
}

/* Removal does not wait for a journal: ask the supervisor, by right of owner. */
static int
halt(struct cli *c, const char *id, struct err *e)
{
	AUTO(json) struct json *got = NULL;
	AUTO(mem) char *path = NULL;
	AUTO(fd) int sock = -1;
	AUTO(buf) struct buf m;
	struct str s;

	if (cli_call(c, "session.socket", cli_id(id), &got, e) ||
	    json_get_str(got, "socket", &s, e))
		return -1;
	if ((path = strndup(s.p, s.n)) == NULL)
		return err_set(e, ERR_NOMEM, "session");
	buf_init(&m, 8);
	buf_put_u8(&m, ATTACH_HALT);
	buf_put_u8(&m, (uint8_t)args_has(&c->args, FLAG_NOW));
	if (attach_open(path, &sock, e) || attach_send(sock, &m, e))
		return -1;
	(void)err_say(e, ERR_PENDING, "%s was stopped; that is not recorded yet",
	    id);
	return err_fix(e, "glove show %s tells when it is", id);
}

static void
tell(struct cli *c, const char *id, const struct json *show)
{
	struct str state = reply_str(show, "state");
	struct str by = reply_str(show, "ended_by");
	char text[ID_TEXT_MAX];

	if (c->json) {
		out_json(&c->out, show);
		return;
	}
	if (c->quiet)
		return;
	out_putf(&c->out, "%s ", ids_short(c, str_of(id), text));
	out_foreign(&c->out, state, 32);
	if (by.n > 0) {
		out_put(&c->out, " (");
		out_foreign(&c->out, by, 32);
		out_put(&c->out, ")");
	}
	out_put(&c->out, "\n");
}

static int
stop(struct cli *c, const char *typed, struct err *e)
{
	AUTO(json) struct json *show = NULL;
	char id[ID_TEXT_MAX];

	if (ids_resolve(c, typed, ID_BIT(ID_SESSION), 1, id, e))
		return -1;
	if (args_has(&c->args, FLAG_DRY_RUN)) {
		would(c, "stop", str_of(id));
		return 0;
	}
	if (cli_wait(c, "session.stop", params(c, id), &show, e))
		return e->code == ERR_JOURNAL ? halt(c, id, e) : -1;
	tell(c, id, show);
	return 0;
}

int
cmd_stop(struct cli *c, struct err *e)
{
	if (cli_one_request(c, e))
		return -1;
	for (size_t i = 0; i < c->args.n; i++)
		if (stop(c, c->args.v[i], e))
			return -1;
	return args_has(&c->args, FLAG_DRY_RUN) ? would_end(c) : 0;
}
