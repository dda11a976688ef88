/* SPDX-License-Identifier: ISC */
/* glove daemon status, glove daemon stop: the private gloved. */
#include "base/num.h"
#include "cli/cli.h"

/* Only one that already runs: asking how it is must not start it. */
static int
find(struct cli *c, struct err *e)
{
	if (cli_home(c, e))
		return -1;
	if (client_connect(c->home.socket, cli_timeout_ms(c), &c->client, e) == 0)
		return 0;
	if (e->code != ERR_UNREACHABLE)
		return -1;
	return err_fix(e, "nothing is wrong: any command that needs one starts it");
}

/* It closes the connection when it goes. */
static int
see_it_go(struct cli *c, struct err *e)
{
	for (;;) {
		AUTO(json) struct json *note = NULL;

		if (client_next(c->client, cli_timeout_ms(c), &note, e) == 0)
			continue;
		if (e->code == ERR_PEER)
			return 0;
		(void)err_say(e, ERR_PENDING, "gloved was told to leave and has"
		    " not done so yet");
		return -1;
	}
}

int
cmd_daemon_status(struct cli *c, struct err *e)
{
	AUTO(json) struct json *s = NULL;
	AUTO(buf) struct buf size;

	if (find(c, e))
		return -1;
	if (cli_call(c, "daemon.status", NULL, &s, e))
		return -1;
	if (c->json) {
		out_json(&c->out, s);
		return 0;
	}
	buf_init(&size, 64);
	size_put(&size, reply_int(s, "journal_bytes", 0));
	out_putf(&c->out, "gloved %lld, version ",
	    (long long)reply_int(s, "pid", 0));
	out_foreign(&c->out, reply_str(s, "version"), 64);
	out_putf(&c->out, "\n  sessions  %lld\n  clients   %lld\n"
	    "  journal   %lld records in %lld commits, %s%s\n  start     ",
	    (long long)reply_int(s, "sessions", 0),
	    (long long)reply_int(s, "clients", 0),
	    (long long)reply_int(s, "records", 0),
	    (long long)reply_int(s, "commits", 0), buf_cstr(&size),
	    reply_bool(s, "room") ? "" : ", no room is reserved for removals");
	out_foreign(&c->out, reply_str(s, "verdict"), 64);
	out_put(&c->out, "\n  state     ");
	out_foreign(&c->out, str_of(c->home.state), 4 * PATH_BYTES_MAX);
	out_put(&c->out, "\n  socket    ");
	out_foreign(&c->out, str_of(c->home.socket), 4 * PATH_BYTES_MAX);
	out_put(&c->out, "\n");
	if (reply_bool(s, "root_key_here"))
		out_put(&c->out, "  keys      root key still on this machine\n");
	return 0;
}

/*
 * --now: every session first.  When the journal cannot be written they are
 * left to their supervisors, which end them without a gloved.
 */
static int
end_sessions(struct cli *c, struct err *e)
{
	AUTO(json) struct json *list = NULL;
	struct json *sessions;

	if (cli_call(c, "session.list", NULL, &list, e))
		return -1;
	sessions = json_get(list, "sessions");
	for (size_t i = 0; i < json_len(sessions); i++) {
		AUTO(json) struct json *got = NULL, *p = cli_write(c, NULL);

		json_set_str(p, "id", reply_str(json_at(sessions, i), "id"));
		json_set_bool(p, "now", 1);
		if (cli_wait(c, "session.stop", TAKE(p), &got, e) &&
		    e->code != ERR_JOURNAL)
			return -1;
	}
	return 0;
}

int
cmd_daemon_stop(struct cli *c, struct err *e)
{
	AUTO(json) struct json *got = NULL;
	int64_t sessions;

	if (find(c, e)) {
		/* What is to be is so already. */
		if (e->code != ERR_UNREACHABLE)
			return -1;
		if (!c->quiet)
			out_put(&c->note, "no gloved runs\n");
		return 0;
	}
	if (args_has(&c->args, FLAG_DRY_RUN)) {
		would(c, "stop", STR("gloved"));
		return would_end(c);
	}
	if (args_has(&c->args, FLAG_NOW) && end_sessions(c, e))
		return -1;
	if (cli_call(c, "daemon.stop", cli_write(c, NULL), &got, e) ||
	    see_it_go(c, e))
		return -1;
	sessions = reply_int(got, "sessions", 0);
	if (c->json)
		out_json(&c->out, got);
	else if (sessions > 0 && !c->quiet)
		out_putf(&c->out, "gloved leaves; %lld session%s run%s on for a"
		    " while\n", (long long)sessions, sessions == 1 ? "" : "s",
		    sessions == 1 ? "s" : "");
	return 0;
}
