/* SPDX-License-Identifier: ISC */
/* daemon.c - talking to gloved: connect once, check whose journal it is, ask. */
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <termios.h>

#include "base/clock.h"
#include "base/fd.h"
#include "base/text.h"
#include "cli/cli.h"
#include "cli/start_daemon.h"
#include "journal/sign.h"
#include "lifecycle/machine.h"

enum { ANSWER_MS = 30000, INSTALL_BYTES = 16 };

int
cli_timeout_ms(const struct cli *c)
{
	return (int)(args_us(&c->args, FLAG_TIMEOUT,
	    (int64_t)ANSWER_MS * 1000) / 1000);
}

int
cli_home(struct cli *c, struct err *e)
{
	if (c->home.state[0] != '\0')
		return 0;
	return home_find(args_text(&c->args, FLAG_HOME, NULL),
	    args_text(&c->args, FLAG_SOCKET, NULL), &c->home, e);
}

int
cli_root_key(const struct cli *c, struct buf *b, struct err *e)
{
	const struct json *hello = client_hello(c->client);
	uint8_t install[INSTALL_BYTES], pub[PUB_BYTES];
	char name[ORIGIN_MAX];
	struct str id, root;

	if (json_get_str(hello, "install", &id, e) ||
	    json_get_str(hello, "root_key", &root, e) ||
	    hex_get(id, install, sizeof(install), e) ||
	    hex_get(root, pub, sizeof(pub), e))
		return err_wrap(e, "gloved's greeting");
	note_verifier_put(b, key_name_str(install, keyuse_word(KEYUSE_ROOT),
	    name), pub);
	return buf_ok(b, "root key", e);
}

static int
check_install(struct cli *c, struct err *e)
{
	AUTO(buf) struct buf root;
	struct err failed;
	int noted = 0;

	buf_init(&root, 256);
	if (cli_root_key(c, &root, e))
		return -1;
	if (installs_check(&c->home, reply_str(client_hello(c->client),
	    "install"), (struct str){ (const char *)root.p, root.n },
	    clock_now().real_us, &noted, &failed) == 0)
		return 0;
	if (failed.code == ERR_UNTRUSTED) {
		*e = failed;
		return -1;
	}
	/* Not being able to remember is no reason not to work. */
	if (!c->quiet) {
		out_put(&c->note, "glove: the root key cannot be remembered: ");
		out_foreign(&c->note, str_of(failed.msg), ERR_MSG_MAX);
		out_put(&c->note, "\n");
	}
	return 0;
}

int
cli_connect(struct cli *c, struct err *e)
{
	if (c->client != NULL)
		return 0;
	if (cli_home(c, e) ||
	    daemon_connect(c->home.state, c->home.socket, cli_timeout_ms(c),
	    &c->client, e))
		return -1;
	return check_install(c, e);
}

static int
call(struct cli *c, const char *method, struct json *params, int timeout_ms,
    struct json **result, struct err *e)
{
	AUTO(json) struct json *held = params;

	if (cli_connect(c, e))
		return -1;
	if (held != NULL && json_ok(held, method, e))
		return -1;
	return client_call(c->client, method, TAKE(held), timeout_ms, result, e);
}

int
cli_call(struct cli *c, const char *method, struct json *params,
    struct json **result, struct err *e)
{
	return call(c, method, params, cli_timeout_ms(c), result, e);
}

int
cli_wait(struct cli *c, const char *method, struct json *params,
    struct json **result, struct err *e)
{
	return call(c, method, params, args_has(&c->args, FLAG_TIMEOUT) ?
	    cli_timeout_ms(c) : -1, result, e);
}

struct json *
cli_id(const char *id)
{
	struct json *j = json_make_object();

	json_set_cstr(j, "id", id);
	return j;
}

struct json *
cli_write(const struct cli *c, const char *id)
{
	struct json *j = json_make_object();
	const char *reason = args_text(&c->args, FLAG_REASON, NULL);
	const char *request = args_text(&c->args, FLAG_REQUEST_ID, NULL);

	if (id != NULL)
		json_set_cstr(j, "id", id);
	if (reason != NULL)
		json_set_cstr(j, "reason", reason);
	if (request != NULL)
		json_set_cstr(j, "request_id", request);
	return j;
}

int
cli_one_request(const struct cli *c, struct err *e)
{
	if (c->args.n < 2 || !args_has(&c->args, FLAG_REQUEST_ID))
		return 0;
	return err_say(e, ERR_USAGE, "--request-id names one request:"
	    " give one id at a time");
}

/* One line from the terminal, of what is typed from now on. */
static int
answer(const char *question, char *line, int size, struct err *e)
{
	AUTO(fd) int tty = open("/dev/tty", O_RDWR | O_CLOEXEC);
	FILE *f;
	int got;

	if (tty < 0) {
		(void)err_say(e, ERR_UNASKED, "nobody can be asked: %s",
		    question);
		(void)err_why(e, "there is no terminal");
		return err_fix(e, "give the answer beforehand: --yes");
	}
	(void)tcflush(tty, TCIFLUSH);
	if (fd_write_all(tty, question, strlen(question), e) ||
	    fd_write_all(tty, " [y/N] ", 7, e))
		return -1;
	if ((f = fdopen(tty, "r")) == NULL)
		return err_set(e, ERR_SYS, "terminal");
	(void)TAKE_FD(tty);
	got = fgets(line, size, f) != NULL;
	(void)fclose(f);
	if (!got)
		line[0] = '\0';
	return 0;
}

int
cli_yes(struct cli *c, const char *question, struct err *e)
{
	char line[16];

	if (args_has(&c->args, FLAG_YES))
		return 0;
	if (c->no_input) {
		(void)err_say(e, ERR_UNASKED, "not asked: %s", question);
		(void)err_why(e, "--no-input was given");
		return err_fix(e, "give the answer beforehand: --yes");
	}
	if (out_flush(&c->out, e) || out_flush(&c->note, e) ||
	    answer(question, line, sizeof(line), e))
		return -1;
	if (strcmp(line, "y\n") == 0 || strcmp(line, "Y\n") == 0 ||
	    strcmp(line, "yes\n") == 0)
		return 0;
	return err_say(e, ERR_REFUSED, "nothing was done: the answer was no");
}
