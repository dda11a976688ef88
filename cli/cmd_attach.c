/* SPDX-License-Identifier: ISC */
/* glove attach, glove exec: join what runs; each is a record first, whose
 * receipt the supervisor wants to see. */
#include <stdio.h>
#include <string.h>

#include "base/text.h"
#include "cli/run.h"
#include "cli/term.h"
#include "sandbox/attach.h"

enum { NONCE_BYTES = 32, EXEC_FAILED = 125, NENV_MAX = 64 };

/* Connect to the supervisor and get its nonce. */
static int
meet(struct cli *c, const char *id, int *sock, char *nonce, struct err *e)
{
	AUTO(json) struct json *got = NULL;
	AUTO(mem) char *path = NULL;
	uint8_t bytes[NONCE_BYTES];
	struct str s;

	if (cli_call(c, "session.socket", cli_id(id), &got, e) ||
	    json_get_str(got, "socket", &s, e))
		return -1;
	if ((path = strndup(s.p, s.n)) == NULL)
		return err_set(e, ERR_NOMEM, "session");
	if (attach_open(path, sock, e) || attach_ask(*sock, bytes, e))
		return err_wrap(e, "%s", id);
	(void)hex_str(BYTES(bytes), nonce);
	return 0;
}

static void
put_size(struct buf *m)
{
	uint16_t rows, cols;

	term_size(0, &rows, &cols);
	buf_put_u16(m, rows);
	buf_put_u16(m, cols);
}

static int
session_id(struct cli *c, char id[ID_TEXT_MAX], struct err *e)
{
	return ids_resolve(c, c->args.n > 0 ? c->args.v[0] : "-",
	    ID_BIT(ID_SESSION), 0, id, e);
}

int
cmd_attach(struct cli *c, struct err *e)
{
	AUTO(json) struct json *params = NULL, *got = NULL;
	AUTO(fd) int sock = -1;
	AUTO(buf) struct buf m;
	struct pump_end end = { .how = PUMP_EXIT };
	struct pump p;
	char id[ID_TEXT_MAX], nonce[2 * NONCE_BYTES + 1];
	int read_only = args_has(&c->args, FLAG_READ_ONLY);
	struct str receipt;

	buf_init(&m, ATTACH_MAX);
	if (session_id(c, id, e) || meet(c, id, &sock, nonce, e))
		return -1;
	params = cli_write(c, id);
	json_set_cstr(params, "nonce", nonce);
	json_set_bool(params, "read_only", read_only);
	if (cli_call(c, "session.attach", TAKE(params), &got, e) ||
	    json_get_str(got, "receipt", &receipt, e))
		return -1;
	buf_put_u8(&m, ATTACH_JOIN);
	buf_put_u8(&m, (uint8_t)read_only);
	put_size(&m);
	buf_put(&m, receipt.p, receipt.n);
	if (attach_send(sock, &m, e))
		return -1;
	p = (struct pump){ .sock = sock, .terminal = isatty(0) && isatty(1),
	    .read_only = read_only, .redraw = 1, .quiet = c->quiet };
	if (pump_run(&p, &end, e))
		return -1;
	c->exit = run_exit(&end);
	if (end.how != PUMP_EXIT && !c->quiet)
		out_putf(&c->note, "glove: left running; back with: glove attach"
		    " %s\n", ids_short(c, str_of(id), nonce));
	return 0;
}

static void
put_strings(struct buf *m, size_t n, const char *const *v)
{
	buf_put_u32(m, (uint32_t)n);
	for (size_t i = 0; i < n; i++)
		buf_put(m, v[i], strlen(v[i]) + 1);
}

/* What `glove run` would give it, in that session's workspace. */
static int
put_env(struct cli *c, const char *id, struct buf *m, struct err *e)
{
	AUTO(json) struct json *list = NULL, *show = NULL;
	AUTO(shown) struct shown shown = { .n = 0 };
	AUTO(mem) char *workspace = NULL;
	const char *extra[NENV_MAX + 1], *v;
	struct str s;
	size_t n = 0, at = 0;

	while ((v = args_next(&c->args, FLAG_ENV, &at)) != NULL && n < NENV_MAX)
		extra[n++] = v;
	extra[n] = NULL;
	if (cli_call(c, "session.show", cli_id(id), &show, e) ||
	    tools_find(&c->home, getenv("PATH"), &shown, e))
		return -1;
	s = reply_str(show, "path");
	if ((workspace = strndup(s.p, s.n)) == NULL)
		return err_set(e, ERR_NOMEM, "environment");
	if (env_build(&shown, workspace, extra, &list, e))
		return -1;
	buf_put_u32(m, (uint32_t)json_len(list));
	for (size_t i = 0; i < json_len(list); i++)
		if (json_text(json_at(list, i), &s) == 0) {
			buf_put(m, s.p, s.n);
			buf_put_u8(m, 0);
		}
	return 0;
}

/* The record of the exec; its receipt goes to the supervisor. */
static int
exec_message(struct cli *c, const char *id, const char *nonce, int terminal,
    struct buf *m, struct err *e)
{
	AUTO(json) struct json *params = cli_write(c, id), *got = NULL;
	struct json *command = json_make_array();
	struct str receipt;

	for (size_t i = 1; i < c->args.n; i++)
		json_add_str(command, str_of(c->args.v[i]));
	json_set(params, "command", command);
	json_set_cstr(params, "nonce", nonce);
	if (cli_call(c, "session.exec", TAKE(params), &got, e) ||
	    json_get_str(got, "receipt", &receipt, e))
		return -1;
	buf_put_u8(m, ATTACH_EXEC);
	buf_put_u8(m, (uint8_t)terminal);
	put_size(m);
	buf_put_u32(m, (uint32_t)receipt.n);
	buf_put(m, receipt.p, receipt.n);
	put_strings(m, c->args.n - 1, c->args.v + 1);
	return put_env(c, id, m, e);
}

int
cmd_exec(struct cli *c, struct err *e)
{
	AUTO(fd) int sock = -1;
	AUTO(buf) struct buf m;
	struct pump_end end = { .how = PUMP_EXIT };
	struct pump p = { .terminal = isatty(0) && isatty(1), .quiet = c->quiet };
	char id[ID_TEXT_MAX], nonce[2 * NONCE_BYTES + 1];

	c->exit_failed = EXEC_FAILED;
	buf_init(&m, ATTACH_MAX);
	if (session_id(c, id, e) || meet(c, id, &sock, nonce, e) ||
	    exec_message(c, id, nonce, p.terminal, &m, e) ||
	    attach_send(sock, &m, e))
		return -1;
	p.sock = sock;
	if (pump_run(&p, &end, e))
		return -1;
	c->exit = run_exit(&end);
	return 0;
}
