/* SPDX-License-Identifier: ISC */
#include <stdlib.h>
#include <string.h>

#include "engine/control.h"
#include "engine/rpc.h"

struct conn {
	uint64_t	 number;
	struct principal who;
	struct buf	 in;		/* the line that is being read */
	struct buf	 out;
	size_t		 asks;		/* not yet answered */
	int64_t		 since_us;	/* boot clock: partial frame, or no hello */
	int		 greeted;
	int		 ending;	/* close when out is empty */
	int		 dead;		/* close now */
};

struct control {
	struct control_ops ops;
	struct conn	*slot[CLIENT_MAX];
	size_t		 nconns;
	uint64_t	 last;		/* a number is one of these and a slot */
	struct now	 now;		/* as of the last call that said it */
};

int
control_new(const struct control_ops *ops, struct control **out, struct err *e)
{
	struct control *c = calloc(1, sizeof(*c));

	if (c == NULL)
		return err_set(e, ERR_NOMEM, "control socket");
	c->ops = *ops;
	*out = c;
	return 0;
}

static void
conn_free(struct conn *k)
{
	buf_done(&k->in);
	buf_done(&k->out);
	free(k);
}

void
control_free(struct control *c)
{
	if (c == NULL)
		return;
	for (size_t i = 0; i < CLIENT_MAX; i++)
		if (c->slot[i] != NULL)
			conn_free(c->slot[i]);
	free(c);
}

static struct conn *
find(const struct control *c, uint64_t number)
{
	struct conn *k = c->slot[number % CLIENT_MAX];

	return k != NULL && k->number == number ? k : NULL;
}

int
control_open(struct control *c, struct principal who, struct now now,
    uint64_t *conn, struct err *e)
{
	struct conn *k;
	size_t at = 0;

	if (c->nconns >= CLIENT_MAX)
		return err_say(e, ERR_LIMIT, "%d programs talk to gloved already",
		    CLIENT_MAX);
	if ((k = calloc(1, sizeof(*k))) == NULL)
		return err_set(e, ERR_NOMEM, "connection");
	buf_init(&k->in, FRAME_MAX + 1);
	buf_init(&k->out, CLIENT_OUT_MAX);
	k->who = who;
	k->since_us = now.boot_us;
	while (c->slot[at] != NULL)
		at++;
	k->number = ++c->last * CLIENT_MAX + at;
	c->slot[at] = k;
	c->nconns++;
	*conn = k->number;
	return 0;
}

void
control_close(struct control *c, uint64_t conn)
{
	struct conn *k = find(c, conn);

	if (k == NULL)
		return;
	c->slot[conn % CLIENT_MAX] = NULL;
	c->nconns--;
	conn_free(k);
	c->ops.gone(c->ops.cookie, conn);
}

/* The peer hears why, gets FRAME_TIMEOUT_MS to read it, and is closed. */
static void
end(const struct control *c, struct conn *k)
{
	k->ending = 1;
	k->since_us = c->now.boot_us;
}

/* One frame out.  Whoever does not read what it asked for is cut. */
static void
send_frame(struct conn *k, const struct json *frame)
{
	AUTO(buf) struct buf b;
	struct err e;

	if (k->dead)
		return;
	buf_init(&b, FRAME_MAX);
	json_put(&b, frame);
	buf_put(&b, "\n", 1);
	if (buf_ok(&b, "frame", &e)) {
		k->dead = 1;
		return;
	}
	buf_put(&k->out, b.p, b.n);
	if (k->out.failed)
		k->dead = 1;
}

/* Takes ${more}. */
static void
send_error(struct conn *k, const struct json *id, int rpc, const struct err *err,
    struct json *more)
{
	AUTO(json) struct json *frame = rpc_error(id, rpc, err, more);

	send_frame(k, frame);
}

static int
is_hello(const struct request *r)
{
	return strcmp(r->method, "hello") == 0;
}

/* 1 if the answer is too large for a frame. */
static int
too_big(const struct json *result)
{
	AUTO(buf) struct buf b;
	struct err e;

	buf_init(&b, FRAME_MAX - 1024);
	json_put(&b, result);
	return buf_ok(&b, "answer", &e) != 0;
}

static void
answer_to(const struct control *c, struct conn *k, struct ask *a)
{
	AUTO(json) struct json *frame = NULL;

	k->asks--;
	if (a->err.code != ERR_OK && is_hello(a->req))
		end(c, k);
	if (a->id == NULL)
		return;
	if (a->err.code == ERR_OK && a->result != NULL && too_big(a->result))
		(void)err_say(&a->err, ERR_TOOBIG, "the answer is larger than %d bytes",
		    FRAME_MAX);
	if (a->err.code != ERR_OK) {
		send_error(k, a->id, RPC_OURS - a->err.code, &a->err, TAKE(a->data));
		return;
	}
	frame = rpc_frame(a->id);
	if (a->result == NULL)
		json_set_null(frame, "result");
	else
		json_set(frame, "result", TAKE(a->result));
	send_frame(k, frame);
}

void
control_answer(struct control *c, struct ask *a)
{
	struct conn *k = find(c, a->conn);

	if (k != NULL)
		answer_to(c, k, a);
	ask_free(a);
}

void
control_note(struct control *c, uint64_t conn, const char *method,
    struct json *params)
{
	AUTO(json) struct json *frame = json_make_object();
	struct conn *k = find(c, conn);

	json_set_cstr(frame, "jsonrpc", "2.0");
	json_set_cstr(frame, "method", method);
	json_set(frame, "params", params);
	if (k != NULL)
		send_frame(k, frame);
}

/* Find the row and see that the request fits it; the JSON-RPC code if not. */
static int
check_request(const struct json *frame, const struct conn *k,
    const struct request **req, struct err *e)
{
	struct str method;

	if (rpc_envelope(frame, &method, e))
		return RPC_REQUEST;
	if ((*req = request_find(method)) == NULL) {
		(void)err_say(e, ERR_UNSUPPORTED, "there is no request \"%.*s\"",
		    (int)(method.n < 64 ? method.n : 64), method.p);
		return RPC_METHOD;
	}
	if (!k->greeted && !is_hello(*req)) {
		(void)err_say(e, ERR_DENIED, "the first request is hello");
		return RPC_OURS - ERR_DENIED;
	}
	if (request_check(*req, json_get(frame, "params"), e))
		return RPC_PARAMS;
	if (k->asks >= CLIENT_ASKS_MAX) {
		(void)err_say(e, ERR_LIMIT, "%d requests wait for their answer already",
		    CLIENT_ASKS_MAX);
		return RPC_OURS - ERR_LIMIT;
	}
	return 0;
}

/* Only what was sent with an id is answered, errors too. */
static void
refuse(const struct control *c, struct conn *k, const struct json *frame, int rpc,
    const struct err *e)
{
	const struct json *id = json_get(frame, "id");

	if (id != NULL || rpc == RPC_REQUEST)
		send_error(k, json_is_string(id) || json_is_int(id) ? id : NULL, rpc,
		    e, NULL);
	if (!k->greeted)
		end(c, k);
}

static void
line(struct control *c, struct conn *k, struct str text)
{
	AUTO(json) struct json *frame = NULL;
	AUTO(ask) struct ask *a = NULL;
	const struct request *req = NULL;
	const struct json *v;
	struct err e;
	int rpc;

	if (json_parse(text, &frame, &e)) {
		send_error(k, NULL, RPC_PARSE, &e, NULL);
		end(c, k);
		return;
	}
	if ((rpc = check_request(frame, k, &req, &e)) != 0) {
		refuse(c, k, frame, rpc, &e);
		return;
	}
	if ((a = ask_new(k->number, k->who, &e)) == NULL) {
		k->dead = 1;
		return;
	}
	a->req = req;
	if ((v = json_get(frame, "id")) != NULL)
		a->id = json_clone(v);
	if ((v = json_get(frame, "params")) != NULL)
		a->params = json_clone(v);
	k->asks++;
	k->greeted = 1;
	c->ops.ask(c->ops.cookie, TAKE(a));
}

/* Whole lines of ${k}->in; what is left is the start of the next. */
static void
lines(struct control *c, uint64_t number)
{
	struct conn *k;
	size_t used = 0;
	const uint8_t *nl;

	/* A handler may answer, and so end, any connection: look again. */
	while ((k = find(c, number)) != NULL && !k->ending && !k->dead) {
		if (used == k->in.n ||
		    (nl = memchr(k->in.p + used, '\n', k->in.n - used)) == NULL)
			break;
		line(c, k, (struct str){ (const char *)k->in.p + used,
		    (size_t)(nl - (k->in.p + used)) });
		if (find(c, number) != NULL)
			used = (size_t)(nl - k->in.p) + 1;
	}
	if (k != NULL)
		buf_drop(&k->in, used);
}

void
control_feed(struct control *c, uint64_t conn, struct bytes in, struct now now)
{
	struct conn *k = find(c, conn);
	struct err e;
	size_t had, n;

	c->now = now;
	while (k != NULL && in.n > 0 && !k->ending && !k->dead) {
		had = k->in.n;
		n = FRAME_MAX + 1 - had;
		n = in.n < n ? in.n : n;
		buf_put(&k->in, in.p, n);
		in.p += n;
		in.n -= n;
		lines(c, conn);
		if ((k = find(c, conn)) == NULL)
			return;
		if (k->in.failed)
			k->dead = 1;
		if (k->in.n == FRAME_MAX + 1) {
			(void)err_say(&e, ERR_TOOBIG, "a frame is at most %d bytes",
			    FRAME_MAX);
			send_error(k, NULL, RPC_REQUEST, &e, NULL);
			end(c, k);
		}
		/* The time of a partial frame runs from its first byte. */
		if (k->in.n == 0 || had == 0 || k->in.n < had + n)
			k->since_us = now.boot_us;
	}
}

struct bytes
control_out(const struct control *c, uint64_t conn)
{
	const struct conn *k = find(c, conn);

	return k == NULL ? (struct bytes){ NULL, 0 } : buf_bytes(&k->out);
}

void
control_sent(struct control *c, uint64_t conn, size_t n)
{
	struct conn *k = find(c, conn);

	if (k != NULL)
		buf_drop(&k->out, n);
}

int
control_over(const struct control *c, uint64_t conn)
{
	const struct conn *k = find(c, conn);

	return k == NULL || k->dead || (k->ending && k->out.n == 0 && k->asks == 0);
}

int
control_reads(const struct control *c, uint64_t conn)
{
	const struct conn *k = find(c, conn);

	return k != NULL && !k->ending && !k->dead;
}

int64_t
control_sweep(struct control *c, struct now now)
{
	int64_t next = INT64_MAX, due;

	c->now = now;
	for (size_t i = 0; i < CLIENT_MAX; i++) {
		struct conn *k = c->slot[i];

		if (k == NULL || k->dead)
			continue;
		if (k->greeted && k->in.n == 0 && !k->ending)
			continue;
		due = k->since_us + (int64_t)FRAME_TIMEOUT_MS * 1000;
		if (due <= now.boot_us)
			k->dead = 1;
		else if (due < next)
			next = due;
	}
	return next;
}

void
control_each(struct control *c, void (*visit)(void *ctx, uint64_t conn), void *ctx)
{
	for (size_t i = 0; i < CLIENT_MAX; i++)
		if (c->slot[i] != NULL)
			visit(ctx, c->slot[i]->number);
}

size_t
control_count(const struct control *c)
{
	return c->nconns;
}
