/* SPDX-License-Identifier: ISC */
#ifndef SANDBOX_CHANNEL_H
#define SANDBOX_CHANNEL_H

#include "base/buf.h"
#include "base/limits.h"

/* The runtime channel, see channel.def and glove-control(7). */
enum message { MSG_NONE,
#define MESSAGE(code, NAME, direction, doc) MSG_##NAME = (code),
#include "sandbox/channel.def"
	MSG_END
};
enum cfield { CF_NONE,
#define CFIELD(tag, NAME, type, doc) CF_##NAME = (tag),
#include "sandbox/channel.def"
	CF_END
};

/* A message being read or written.  Values borrow. */
struct channel_msg {
	int		type;			/* enum message */
	struct bytes	v[CF_END];		/* p == NULL: not there */
	uint8_t		num[CF_END][8];		/* room for channel_set_u64() */
	int		fd;			/* one descriptor, or -1; the reader owns it */
};

void channel_init(struct channel_msg *m, int type);
void channel_set_u64(struct channel_msg *m, int tag, uint64_t v);
void channel_set(struct channel_msg *m, int tag, struct bytes v);
/* channel_u64: 0 and *${v}, or FORMAT naming the field if it is not there. */
int channel_u64(const struct channel_msg *m, int tag, uint64_t *v, struct err *e)
    MUST_CHECK;
int channel_get(const struct channel_msg *m, int tag, struct bytes *v,
    struct err *e) MUST_CHECK;

/* The bytes of a message, as they are sent and as recovery finds them in the
 * file "outcome" of a session's directory.  Strict; FORMAT. */
int channel_encode(const struct channel_msg *m, struct buf *b, struct err *e)
    MUST_CHECK;
int channel_decode(struct bytes in, struct channel_msg *m, struct err *e)
    MUST_CHECK;

/* channel_send: PEER if the other side is gone. */
int channel_send(int fd, const struct channel_msg *m, struct err *e) MUST_CHECK;
/* channel_recv: one message into ${b} (reset first), strict; AGAIN, PEER, FORMAT. */
int channel_recv(int fd, struct buf *b, struct channel_msg *m, struct err *e)
    MUST_CHECK;

#endif
