/* SPDX-License-Identifier: ISC */
/*
 * attach.c - what a client may say, see attach.def.  One that says anything out
 * of turn is told why and dropped, and hurts nobody else.
 */
#include <signal.h>
#include <stdlib.h>
#include <string.h>

#include "base/fd.h"
#include "sandbox/supervisor_impl.h"

/* Takes its payload apart; 0, or -1 with the reason to drop the client. */
typedef int handler(struct supervisor *s, struct client *c, struct cur *in,
    int *fd, struct err *e);

static int
constant_time_differs(const uint8_t *a, const uint8_t *b, size_t n)
{
	volatile uint8_t d = 0;

	for (size_t i = 0; i < n; i++)
		d = (uint8_t)(d | (a[i] ^ b[i]));
	return d != 0;
}

static void
join(struct supervisor *s, struct client *c, uint16_t rows, uint16_t cols)
{
	const struct flow *f = flow_find(s, c->job);
	const uint8_t terminal = f != NULL && f->terminal;

	c->joined = 1;
	client_say(c, ATTACH_WELCOME, bytes_of(&terminal, 1));
	if (f != NULL && !c->read_only)
		flow_resize(f, rows, cols);
	if (s->told)
		client_exit(c, s->cause, s->status, s->done);
}

static int
on_first(struct supervisor *s, struct client *c, struct cur *in, int *fd,
    struct err *e)
{
	uint8_t token[32];
	uint16_t rows, cols;

	(void)fd;
	cur_copy(in, token, sizeof(token));
	rows = cur_u16(in);
	cols = cur_u16(in);
	if (s->came || c->joined)
		return err_set(e, ERR_ILLEGAL, "the first client was here");
	if (in->failed || constant_time_differs(token, s->l->token,
	    sizeof(token)))
		return err_set(e, ERR_DENIED, "the session's token");
	s->came = c->first = 1;
	join(s, c, rows, cols);
	return 0;
}

static int
on_ask(struct supervisor *s, struct client *c, struct cur *in, int *fd,
    struct err *e)
{
	(void)s;
	(void)in;
	(void)fd;
	if (grants_nonce(c->nonce, e))
		return -1;
	c->asked = 1;
	client_say(c, ATTACH_CHALLENGE, BYTES(c->nonce));
	return 0;
}

/* A receipt that answers this client's question, which counts once. */
static int
granted(struct supervisor *s, struct client *c, struct bytes receipt, int event,
    struct committed **proof, struct err *e)
{
	const int asked = c->asked;

	c->asked = 0;
	if (!asked)
		return err_set(e, ERR_STALE, "no nonce was asked for");
	return grants_take(&s->grants,
	    (struct str){ (const char *)receipt.p, receipt.n },
	    MACHINE_SESSION, event, c->nonce, proof, e);
}

/* What is to run is what was recorded, word for word. */
static int
recorded(const struct committed *proof, const char *const *argv, size_t argc,
    struct err *e)
{
	uint8_t own[SHA256_BYTES];
	struct digest d;

	digest_init(&d, "glove/argv/1");
	for (size_t i = 0; i < argc; i++)
		digest_str(&d, str_of(argv[i]));
	digest_final(&d, own);
	if (!bytes_eq(record_field(committed_record(proof), FIELD_ARGV_DIGEST),
	    BYTES(own)))
		return err_say(e, ERR_ILLEGAL,
		    "the receipt is for another command");
	return 0;
}

static int
on_join(struct supervisor *s, struct client *c, struct cur *in, int *fd,
    struct err *e)
{
	AUTO(committed) struct committed *proof = NULL;
	const uint8_t read_only = cur_u8(in);
	const uint16_t rows = cur_u16(in), cols = cur_u16(in);

	(void)fd;
	if (in->failed || c->joined)
		return err_set(e, ERR_ILLEGAL, "join");
	if (granted(s, c, cur_take(in, in->n), SESSION_EV_attach,
	    &proof, e))
		return -1;
	c->read_only = read_only != 0;
	join(s, c, rows, cols);
	if (s->backlog.n > 0)
		client_say(c, ATTACH_OUTPUT, buf_bytes(&s->backlog));
	return 0;
}

static int
strings(struct cur *in, const char **v, size_t max, size_t *n, struct err *e)
{
	const uint32_t count = cur_u32(in);

	if (in->failed || count > max)
		return err_set(e, ERR_TOOBIG, "command");
	for (*n = 0; *n < count; (*n)++) {
		const uint8_t *end = in->n == 0 ? NULL :
		    memchr(in->p, '\0', in->n);

		if (end == NULL)
			return err_set(e, ERR_FORMAT, "command");
		v[*n] = (const char *)cur_take(in,
		    (size_t)(end - in->p) + 1).p;
	}
	return 0;
}

static int
on_exec(struct supervisor *s, struct client *c, struct cur *in, int *fd,
    struct err *e)
{
	AUTO(mem) const char **v = calloc(2 * ARGV_MAX, sizeof(*v));
	AUTO(committed) struct committed *proof = NULL;
	struct box_command cmd = { .cwd = s->l->cwd };
	struct bytes receipt;

	(void)fd;
	if (v == NULL)
		return err_set(e, ERR_NOMEM, "command");
	if (c->joined || s->stage != RUNNING)
		return err_set(e, ERR_ILLEGAL, "exec");
	cmd.terminal = cur_u8(in) != 0;
	cmd.rows = cur_u16(in);
	cmd.cols = cur_u16(in);
	receipt = cur_take(in, cur_u32(in));
	cmd.argv = v;
	cmd.env = v + ARGV_MAX;
	if (strings(in, v, ARGV_MAX, &cmd.argc, e) ||
	    strings(in, v + ARGV_MAX, ARGV_MAX, &cmd.envc, e))
		return -1;
	if (in->n != 0 || cmd.argc == 0)
		return err_set(e, ERR_FORMAT, "command");
	if (granted(s, c, receipt, SESSION_EV_exec, &proof, e) ||
	    recorded(proof, cmd.argv, cmd.argc, e))
		return -1;
	cmd.job = ++s->next_job;
	if (box_spawn(&s->box, &cmd, e))
		return -1;
	/* It joins when the job has started. */
	c->job = cmd.job;
	c->waiting = 1;
	return 0;
}

static int
driven(struct supervisor *s, const struct client *c, struct flow **f,
    struct err *e)
{
	if (!c->joined || c->read_only)
		return err_set(e, ERR_DENIED, "this client only looks");
	*f = flow_find(s, c->job);
	return 0;
}

static int
on_input(struct supervisor *s, struct client *c, struct cur *in, int *fd,
    struct err *e)
{
	struct flow *f;

	(void)fd;
	if (in->n > ATTACH_DATA_MAX)
		return err_set(e, ERR_TOOBIG, "input");
	if (driven(s, c, &f, e))
		return -1;
	if (f != NULL && !f->eof)
		flow_input(f, cur_take(in, in->n));
	return 0;
}

static int
on_eof(struct supervisor *s, struct client *c, struct cur *in, int *fd,
    struct err *e)
{
	static const uint8_t eot = 4;
	struct flow *f;

	(void)in;
	(void)fd;
	if (driven(s, c, &f, e))
		return -1;
	if (f == NULL)
		return 0;
	f->eof = !f->terminal;
	flow_input(f, bytes_of(&eot, f->terminal ? 1 : 0));
	return 0;
}

static int
on_resize(struct supervisor *s, struct client *c, struct cur *in, int *fd,
    struct err *e)
{
	const uint16_t rows = cur_u16(in), cols = cur_u16(in);
	struct flow *f;

	(void)fd;
	if (driven(s, c, &f, e))
		return -1;
	if (f != NULL)
		flow_resize(f, rows, cols);
	return 0;
}

static int
on_signal(struct supervisor *s, struct client *c, struct cur *in, int *fd,
    struct err *e)
{
	const int sig = cur_u8(in);
	struct flow *f;

	(void)fd;
	if (sig != SIGHUP && sig != SIGINT && sig != SIGQUIT && sig != SIGTERM)
		return err_set(e, ERR_FORMAT, "signal %d", sig);
	if (driven(s, c, &f, e))
		return -1;
	return f != NULL && s->stage < ENDED ?
	    box_signal(&s->box, f->job, sig, e) : 0;
}

static int
on_detach(struct supervisor *s, struct client *c, struct cur *in, int *fd,
    struct err *e)
{
	(void)s;
	(void)in;
	(void)fd;
	(void)e;
	c->leaving = 1;
	return 0;
}

static int
on_halt(struct supervisor *s, struct client *c, struct cur *in, int *fd,
    struct err *e)
{
	const int at_once = cur_u8(in) != 0;

	(void)fd;
	(void)e;
	c->joined = 1;		/* and hears of the end */
	c->read_only = 1;
	supervisor_stop(s, CAUSE_STOPPED, at_once ? 0 : s->l->grace_us);
	return 0;
}

static int
on_adopt(struct supervisor *s, struct client *c, struct cur *in, int *fd,
    struct err *e)
{
	AUTO(committed) struct committed *proof = NULL;

	if (*fd < 0)
		return err_set(e, ERR_FORMAT, "adoption without a channel");
	if (granted(s, c, cur_take(in, in->n), SESSION_EV_adopt, &proof, e))
		return -1;
	c->leaving = 1;
	return supervisor_adopt(s, TAKE_FD(*fd), e);
}

static handler *const handlers[ATTACH_END] = {
	[ATTACH_FIRST] = on_first, [ATTACH_ASK] = on_ask,
	[ATTACH_JOIN] = on_join, [ATTACH_EXEC] = on_exec,
	[ATTACH_INPUT] = on_input, [ATTACH_EOF] = on_eof,
	[ATTACH_RESIZE] = on_resize, [ATTACH_SIGNAL] = on_signal,
	[ATTACH_DETACH] = on_detach, [ATTACH_HALT] = on_halt,
	[ATTACH_ADOPT] = on_adopt
};

int
client_hear(struct supervisor *s, struct client *c, struct err *e)
{
	AUTO(buf) struct buf b;
	AUTO(fd) int fd = -1;
	size_t n = 1;
	struct cur in;
	int code;

	buf_init(&b, ATTACH_MAX);
	if (fd_recv(c->fd, &b, &fd, &n, e))
		return -1;
	in = cur_of(buf_bytes(&b));
	code = cur_u8(&in);
	if (code >= ATTACH_END || handlers[code] == NULL)
		return err_set(e, ERR_FORMAT, "message %d", code);
	return handlers[code](s, c, &in, &fd, e);
}
