/* SPDX-License-Identifier: ISC */
#ifndef ENGINE_CLIENT_H
#define ENGINE_CLIENT_H

#include "base/json.h"

/*
 * The client's end of the control socket: blocking, one request at a time.
 * Requests and their fields: control.def, glove-control(7).
 */
struct client;

/*
 * client_connect(path, timeout_ms, c, e): connect and say hello.  UNREACHABLE
 * if nobody listens.
 */
int client_connect(const char *path, int timeout_ms, struct client **c,
    struct err *e) MUST_CHECK;
void client_close(struct client *c);
static inline void auto_client(struct client **c) { client_close(*c); }

/* client_hello(c): the result of hello; borrowed. */
const struct json *client_hello(const struct client *c);

/*
 * client_call(c, method, params, result, e): takes ${params} (NULL: none)
 * whatever happens; *${result} is the caller's.  An error of the other side
 * comes back as the same enum err_code with its sentence, why and fix;
 * ${c} stays usable.  client_error_data() is then its data object, or NULL.
 * ${timeout_ms} -1: wait for ever (SIGINT still interrupts: AGAIN).
 */
int client_call(struct client *c, const char *method, struct json *params,
    int timeout_ms, struct json **result, struct err *e) MUST_CHECK;
const struct json *client_error_data(const struct client *c);

/* client_next(c, timeout_ms, note, e): the next notification; TIMEOUT, PEER. */
int client_next(struct client *c, int timeout_ms, struct json **note,
    struct err *e) MUST_CHECK;
int client_fd(const struct client *c);	/* to poll on */

#endif
