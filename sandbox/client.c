/* SPDX-License-Identifier: ISC */
/*
 * client.c - who looks at a session: coming, being told, going.  Only the owner
 * is heard; what they may say is attach.c.
 */
#include <signal.h>
#include <sys/socket.h>
#include <unistd.h>

#include "base/fd.h"
#include "sandbox/supervisor_impl.h"

short
client_wants(struct supervisor *s, const struct client *c)
{
	const struct flow *f = c->joined ? flow_find(s, c->job) : NULL;
	short ev = 0;

	if (c->out.n > 0)
		ev |= POLLOUT;
	/* What its job cannot take yet stays in the client's socket. */
	if (!c->leaving && !c->waiting && (f == NULL ||
	    f->input.n + ATTACH_DATA_MAX <= INPUT_MAX))
		ev |= POLLIN;
	return ev;
}

/* What is queued, as far as the socket takes it. */
static int
flush_out(struct client *c, struct err *e)
{
	while (c->out.n > 0) {
		struct cur in = cur_of(buf_bytes(&c->out));
		const size_t n = cur_u32(&in);

		if (fd_send(c->fd, cur_take(&in, n), NULL, 0, e))
			return e->code == ERR_AGAIN ? 0 : -1;
		buf_drop(&c->out, 4 + n);
	}
	return 0;
}

void
client_say(struct client *c, int code, struct bytes b)
{
	struct err e;

	buf_put_u32(&c->out, (uint32_t)(1 + b.n));
	buf_put_u8(&c->out, (uint8_t)code);
	buf_put(&c->out, b.p, b.n);
	/* One that has fallen too far behind, or is gone, is not waited for. */
	if (c->out.failed || flush_out(c, &e)) {
		buf_reset(&c->out);
		c->broken = 1;
	}
}

void
client_exit(struct client *c, int cause, int status, int recorded)
{
	const uint8_t b[] = {
		(uint8_t)cause, (uint8_t)(status >> 8), (uint8_t)status,
		(uint8_t)recorded
	};

	client_say(c, ATTACH_EXIT, BYTES(b));
	c->leaving = 1;
}

void
client_refuse(struct client *c, const struct err *e)
{
	AUTO(buf) struct buf b;

	buf_init(&b, 2 + ERR_MSG_MAX);
	buf_put_u16(&b, (uint16_t)e->code);
	buf_put_str(&b, e->msg);
	client_say(c, ATTACH_REFUSED, buf_bytes(&b));
	c->leaving = 1;
}

void
client_drop(struct supervisor *s, struct client *c)
{
	const int lost = c->first && !c->leaving && s->l->tied;
	struct flow *f = c->joined ? flow_find(s, c->job) : NULL;

	(void)close(c->fd);
	buf_done(&c->out);
	/* A second command belongs to the one who asked for it. */
	if (f != NULL && f->job != 0) {
		struct err e;

		if (box_signal(&s->box, f->job, SIGHUP, &e) == 0)
			flow_done(f);
	}
	*c = (struct client){ .fd = -1 };
	if (lost)
		supervisor_stop(s, CAUSE_CLIENT, s->l->grace_us);
}

void
client_accept(struct supervisor *s)
{
	AUTO(fd) int fd = accept4(s->listener, NULL, NULL,
	    SOCK_CLOEXEC | SOCK_NONBLOCK);
	struct peer p;
	struct err e;

	if (fd < 0 || fd_peer(fd, &p, &e) ||
	    (p.uid != geteuid() && p.uid != 0))
		return;
	for (int i = 0; i < ATTACHED_MAX; i++) {
		struct client *c = &s->client[i];

		if (c->fd >= 0)
			continue;
		*c = (struct client){ .fd = TAKE_FD(fd) };
		buf_init(&c->out, CLIENT_OUT_MAX);
		return;
	}
}

void
client_serve(struct supervisor *s, struct client *c, short events)
{
	struct err e;

	if (events & POLLOUT && flush_out(c, &e)) {
		client_drop(s, c);
		return;
	}
	if (events & (POLLIN | POLLHUP | POLLERR) && client_hear(s, c, &e)) {
		if (e.code == ERR_AGAIN)
			return;
		if (e.code == ERR_PEER || e.code == ERR_SYS) {
			client_drop(s, c);
			return;
		}
		client_refuse(c, &e);
	}
}
