/* SPDX-License-Identifier: ISC */
#include <string.h>
#include <unistd.h>

#include "base/fd.h"
#include "sandbox/channel.h"

enum { U64 = 8, HASH = 32, TEXT = 0, HEADER = 2 + 4 };

static const struct {
	const char	*name;
	size_t		 size;		/* 0: any */
} fields[CF_END] = {
#define CFIELD(tag, NAME, type, doc) [tag] = { #NAME, type },
#include "sandbox/channel.def"
};

void
channel_init(struct channel_msg *m, int type)
{
	*m = (struct channel_msg){ .type = type, .fd = -1 };
}

void
channel_set(struct channel_msg *m, int tag, struct bytes v)
{
	/* Even an empty value is there. */
	m->v[tag] = v.p != NULL ? v : (struct bytes){ m->num[tag], 0 };
}

void
channel_set_u64(struct channel_msg *m, int tag, uint64_t v)
{
	for (int i = 0; i < U64; i++)
		m->num[tag][i] = (uint8_t)(v >> (8 * (7 - i)));
	m->v[tag] = (struct bytes){ m->num[tag], U64 };
}

int
channel_get(const struct channel_msg *m, int tag, struct bytes *v,
    struct err *e)
{
	if (m->v[tag].p == NULL)
		return err_set(e, ERR_FORMAT, "message %d without %s", m->type,
		    fields[tag].name);
	*v = m->v[tag];
	return 0;
}

int
channel_u64(const struct channel_msg *m, int tag, uint64_t *v, struct err *e)
{
	struct bytes b;
	struct cur c;

	if (channel_get(m, tag, &b, e))
		return -1;
	c = cur_of(b);
	*v = cur_u64(&c);
	return 0;
}

int
channel_encode(const struct channel_msg *m, struct buf *b, struct err *e)
{
	buf_put_u16(b, (uint16_t)m->type);
	for (int tag = 1; tag < CF_END; tag++) {
		const struct bytes *v = &m->v[tag];

		if (v->p == NULL)
			continue;
		if (fields[tag].size != 0 && v->n != fields[tag].size)
			return err_set(e, ERR_BUG, "%s has %zu bytes",
			    fields[tag].name, v->n);
		buf_put_u16(b, (uint16_t)tag);
		buf_put_u32(b, (uint32_t)v->n);
		buf_put(b, v->p, v->n);
	}
	return buf_ok(b, "message", e);
}

int
channel_decode(struct bytes in, struct channel_msg *m, struct err *e)
{
	struct cur c = cur_of(in);
	struct channel_msg got;
	int last = 0;

	channel_init(&got, cur_u16(&c));
	if (c.failed || got.type <= MSG_NONE || got.type >= MSG_END)
		return err_set(e, ERR_FORMAT, "message %d", got.type);
	while (c.n != 0) {
		int tag = cur_u16(&c);
		size_t n = cur_u32(&c);
		struct bytes v = cur_take(&c, n);

		if (c.failed || tag <= last || tag >= CF_END ||
		    (fields[tag].size != 0 && n != fields[tag].size))
			return err_set(e, ERR_FORMAT,
			    "field %d of message %d", tag, got.type);
		channel_set(&got, tag, v);
		last = tag;
	}
	*m = got;
	return 0;
}

int
channel_send(int fd, const struct channel_msg *m, struct err *e)
{
	AUTO(buf) struct buf b;

	buf_init(&b, CHANNEL_MAX);
	if (channel_encode(m, &b, e))
		return -1;
	return fd_send(fd, buf_bytes(&b), &m->fd, m->fd >= 0 ? 1 : 0, e);
}

int
channel_recv(int fd, struct buf *b, struct channel_msg *m, struct err *e)
{
	int passed = -1;
	size_t n = 1;

	buf_reset(b);
	if (fd_recv(fd, b, &passed, &n, e))
		return -1;
	if (channel_decode(buf_bytes(b), m, e)) {
		if (n != 0)
			(void)close(passed);
		return -1;
	}
	m->fd = n != 0 ? passed : -1;
	return 0;
}
