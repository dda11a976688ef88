/* SPDX-License-Identifier: ISC */
#ifndef ENGINE_CONTROL_H
#define ENGINE_CONTROL_H

#include "base/limits.h"
#include "engine/ask.h"

/*
 * The server's end of the control socket, without the socket: bytes in, bytes
 * out, one JSON-RPC 2.0 object a line.  Whoever owns the descriptors
 * (cli/gloved.c) feeds what it read and writes what is pending.
 *
 * C1  what one connection sends changes nothing for another
 * C2  nothing grows without a bound: FRAME_MAX in, CLIENT_OUT_MAX out,
 *     CLIENT_ASKS_MAX unanswered, CLIENT_MAX connections
 * C3  nothing is dispatched before hello, nor after a broken frame
 */
struct control;

struct control_ops {
	void	*cookie;
	/* a request that fits its row; takes ${a} */
	void	(*ask)(void *cookie, struct ask *a);
	/* nobody waits for answers to this connection any more */
	void	(*gone)(void *cookie, uint64_t conn);
};

int control_new(const struct control_ops *ops, struct control **c, struct err *e)
    MUST_CHECK;
void control_free(struct control *c);
static inline void auto_control(struct control **c) { control_free(*c); }

/* control_open(c, who, now, conn, e): a new connection; LIMIT if there are too many. */
int control_open(struct control *c, struct principal who, struct now now,
    uint64_t *conn, struct err *e) MUST_CHECK;
void control_close(struct control *c, uint64_t conn);

/* control_feed(c, conn, in, now): bytes that came. */
void control_feed(struct control *c, uint64_t conn, struct bytes in,
    struct now now);
/* control_out(c, conn): what is to be written; control_sent: what was. */
struct bytes control_out(const struct control *c, uint64_t conn);
void control_sent(struct control *c, uint64_t conn, size_t n);
/*
 * control_over(c, conn): 1 if the connection is to be closed now: it broke a
 * rule and has heard so, or does not read.
 */
int control_over(const struct control *c, uint64_t conn);
/* control_reads(c, conn): 0 while nothing more is to be read from it. */
int control_reads(const struct control *c, uint64_t conn);

/*
 * control_sweep(c, now): end connections that let half a frame lie, or never
 * said hello.  Returns when to call again (boot clock), INT64_MAX for never.
 */
int64_t control_sweep(struct control *c, struct now now);

/* control_answer(c, a): send the answer and free ${a}. */
void control_answer(struct control *c, struct ask *a);
/* control_note(c, conn, method, params): a notification; takes ${params}. */
void control_note(struct control *c, uint64_t conn, const char *method,
    struct json *params);

/* control_each(c, visit, ctx): every open connection. */
void control_each(struct control *c, void (*visit)(void *ctx, uint64_t conn),
    void *ctx);
size_t control_count(const struct control *c);

#endif
