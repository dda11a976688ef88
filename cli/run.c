/* SPDX-License-Identifier: ISC */
/* run.c - start a session and be its first client. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/limits.h"
#include "base/text.h"
#include "cli/run.h"
#include "cli/term.h"
#include "journal/receipt.h"
#include "lifecycle/machine.h"
#include "sandbox/attach.h"

enum { TOKEN_BYTES = 32, GIT_VALUE_MAX = 256 };

void
run_done(struct run *r)
{
	if (r->sock >= 0)
		(void)close(r->sock);
	r->sock = -1;
	shown_done(&r->shown);
}

static void
set_git(struct json *p)
{
	AUTO(buf) struct buf name, email;

	buf_init(&name, GIT_VALUE_MAX);
	buf_init(&email, GIT_VALUE_MAX);
	git_identity(&name, &email);
	if (name.n > 0)
		json_set_str(p, "git_name",
		    (struct str){ (const char *)name.p, name.n });
	if (email.n > 0)
		json_set_str(p, "git_email",
		    (struct str){ (const char *)email.p, email.n });
}

static struct json *
words(const char *const *v, size_t n)
{
	struct json *list = json_make_array();

	for (size_t i = 0; i < n; i++)
		json_add_str(list, str_of(v[i]));
	return list;
}

static int
params(struct cli *c, const struct run *r, struct json **out, struct err *e)
{
	AUTO(json) struct json *p = cli_write(c, NULL);
	struct json *env = NULL;
	uint16_t rows, cols;

	if (env_build(&r->shown, r->path, r->env, &env, e))
		return -1;
	json_set(p, "env", env);
	json_set(p, "command", words(r->argv, r->argc));
	json_set_cstr(p, "cwd", r->cwd);
	json_set_cstr(p, "path", r->path);
	json_set_cstr(p, "mode", r->mode);
	if (r->exposure[0] != '\0')
		json_set_cstr(p, "exposure", r->exposure);
	json_set(p, "ro", words((const char *const *)r->shown.v, r->shown.n));
	json_set_bool(p, "terminal", r->terminal);
	term_size(0, &rows, &cols);
	json_set_int(p, "rows", rows);
	json_set_int(p, "cols", cols);
	if (r->name != NULL)
		json_set_cstr(p, "name", r->name);
	if (r->ttl_s > 0)
		json_set_int(p, "ttl_s", r->ttl_s);
	json_set_bool(p, "detach", r->detach);
	set_git(p);
	*out = TAKE(p);
	return 0;
}

/* The first word to the supervisor: the token, and how large the terminal is. */
static int
introduce(int sock, struct str token, struct err *e)
{
	AUTO(buf) struct buf m;
	uint8_t bytes[TOKEN_BYTES];
	uint16_t rows, cols;

	if (hex_get(token, bytes, sizeof(bytes), e))
		return err_wrap(e, "gloved's token");
	term_size(0, &rows, &cols);
	buf_init(&m, 64);
	buf_put_u8(&m, ATTACH_FIRST);
	buf_put(&m, bytes, sizeof(bytes));
	buf_put_u16(&m, rows);
	buf_put_u16(&m, cols);
	return attach_send(sock, &m, e);
}

int
run_start(struct cli *c, struct run *r, struct err *e)
{
	AUTO(json) struct json *p = NULL, *got = NULL;
	AUTO(mem) char *path = NULL;
	struct str id, socket, token;

	if (params(c, r, &p, e) ||
	    cli_call(c, "session.start", TAKE(p), &got, e) ||
	    json_get_str(got, "session", &id, e) ||
	    json_get_str(got, "socket", &socket, e) ||
	    json_get_str(got, "token", &token, e))
		return -1;
	(void)snprintf(r->id, sizeof(r->id), "%.*s", (int)id.n, id.p);
	r->ends_us = reply_time(got, "ends_at");
	if (r->detach)
		return 0;
	if ((path = strndup(socket.p, socket.n)) == NULL)
		return err_set(e, ERR_NOMEM, "session");
	if (attach_open(path, &r->sock, e))
		return -1;
	return introduce(r->sock, token, e);
}

int
run_exit(const struct pump_end *end)
{
	int code = cause_exit(end->cause);

	if (end->how == PUMP_LEFT)
		return 128 + end->signal;
	if (end->how == PUMP_DETACHED)
		return 0;
	return code != 0 ? code : end->status;
}

int
receipt_id(struct cli *c, int64_t record, char out[ID_TEXT_MAX], struct err *e)
{
	AUTO(json) struct json *p = json_make_object(), *got = NULL;
	AUTO(buf) struct buf scratch;
	struct receipt r;
	struct hash leaf;
	struct str text;
	struct id id;

	buf_init(&scratch, RECORD_MAX);
	json_set_int(p, "record", record);
	if (cli_call(c, "receipt.get", TAKE(p), &got, e) ||
	    json_get_str(got, "receipt", &text, e) ||
	    receipt_parse(text, &scratch, &r, e))
		return -1;
	tree_leaf(r.record, &leaf);
	memcpy(id.b, &leaf, ID_BYTES);
	(void)id_str(ID_RECEIPT, &id, out);
	return 0;
}
