/* SPDX-License-Identifier: ISC */
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <stdio.h>
#include <string.h>
#include <time.h>

#include "base/clock.h"
#include "base/fd.h"
#include "base/limits.h"

#include "engine/client.h"

enum { NOTES_MAX = 1024 };	/* notifications that nobody fetched */

struct client {
	int		 fd;
	int64_t		 last_id;
	struct buf	 in;
	struct json	*hello;
	struct json	*data;		/* of the last error */
	struct json	*notes;		/* an array */
	size_t		 note;		/* the next to hand out */
};

/* A path may be longer than sun_path: name its directory by descriptor. */
static int
connect_path(int fd, const char *path)
{
	struct sockaddr_un sun = { .sun_family = AF_UNIX };
	AUTO(fd) int dir = -1;
	const char *slash = strrchr(path, '/');
	char parent[PATH_BYTES_MAX + 1];

	if (strlen(path) < sizeof(sun.sun_path)) {
		memcpy(sun.sun_path, path, strlen(path) + 1);
		return connect(fd, (const struct sockaddr *)&sun, sizeof(sun));
	}
	if (slash == NULL || (size_t)(slash - path) >= sizeof(parent)) {
		errno = ENAMETOOLONG;
		return -1;
	}
	memcpy(parent, path, (size_t)(slash - path));
	parent[slash - path] = '\0';
	if ((dir = open(parent, O_PATH | O_DIRECTORY | O_CLOEXEC)) < 0)
		return -1;
	if (snprintf(sun.sun_path, sizeof(sun.sun_path), "/proc/self/fd/%d/%s", dir,
	    slash + 1) >= (int)sizeof(sun.sun_path)) {
		errno = ENAMETOOLONG;
		return -1;
	}
	return connect(fd, (const struct sockaddr *)&sun, sizeof(sun));
}

static int64_t
deadline_of(int timeout_ms)
{
	return timeout_ms < 0 ? INT64_MAX :
	    clock_now().boot_us + (int64_t)timeout_ms * 1000;
}

/* Wait for ${events}; TIMEOUT at ${deadline}, AGAIN if a signal came. */
static int
await(const struct client *c, short events, int64_t deadline, struct err *e)
{
	struct pollfd p = { .fd = c->fd, .events = events, .revents = 0 };
	int64_t left;
	int n, ms = -1;

	if (deadline != INT64_MAX) {
		left = (deadline - clock_now().boot_us + 999) / 1000;
		ms = left <= 0 ? 0 : left > 3600000 ? 3600000 : (int)left;
	}
	n = poll(&p, 1, ms);
	if (n > 0)
		return 0;
	if (n == 0)
		return err_set(e, ERR_TIMEOUT, "gloved has not answered");
	if (errno == EINTR)
		return err_set(e, ERR_AGAIN, "interrupted");
	return err_set(e, ERR_SYS, "poll");
}

static int
send_line(struct client *c, const struct json *frame, int64_t deadline,
    struct err *e)
{
	AUTO(buf) struct buf b;
	ssize_t n;

	buf_init(&b, FRAME_MAX);
	json_put(&b, frame);
	buf_put(&b, "\n", 1);
	if (buf_ok(&b, "request", e))
		return -1;
	while (b.n > 0) {
		n = send(c->fd, b.p, b.n, MSG_NOSIGNAL | MSG_DONTWAIT);
		if (n >= 0)
			buf_drop(&b, (size_t)n);
		else if (errno == EAGAIN || errno == EWOULDBLOCK) {
			if (await(c, POLLOUT, deadline, e))
				return -1;
		} else if (errno != EINTR)
			return err_set(e, ERR_PEER, "gloved");
	}
	return 0;
}

/* One frame of ${c}->in, or NULL if there is no whole line yet. */
static int
take_line(struct client *c, struct json **frame, struct err *e)
{
	const uint8_t *nl = c->in.n > 0 ? memchr(c->in.p, '\n', c->in.n) : NULL;
	size_t n;

	*frame = NULL;
	if (nl == NULL)
		return 0;
	n = (size_t)(nl - c->in.p);
	if (json_parse((struct str){ (const char *)c->in.p, n }, frame, e))
		return err_wrap(e, "gloved's answer");
	buf_drop(&c->in, n + 1);
	return 0;
}

static int
next_frame(struct client *c, int64_t deadline, struct json **frame, struct err *e)
{
	uint8_t *room, chunk[16384];
	ssize_t n;

	for (;;) {
		if (take_line(c, frame, e))
			return -1;
		if (*frame != NULL)
			return 0;
		if (await(c, POLLIN, deadline, e))
			return -1;
		n = recv(c->fd, chunk, sizeof(chunk), MSG_DONTWAIT);
		if (n == 0)
			return err_set(e, ERR_PEER, "gloved");
		if (n < 0 && errno != EAGAIN && errno != EWOULDBLOCK && errno != EINTR)
			return err_set(e, ERR_PEER, "gloved");
		if (n <= 0)
			continue;
		if ((room = buf_room(&c->in, (size_t)n)) != NULL)
			memcpy(room, chunk, (size_t)n);
		if (buf_ok(&c->in, "gloved's answer", e))
			return -1;
	}
}

/* An error object of the other side as an error of ours. */
static int
take_error(struct client *c, const struct json *error, struct err *e)
{
	const struct json *data = json_get(error, "data");
	struct str msg = STR("gloved gave no reason"), code = STR(""), why = STR(""), fix;
	char wire[64];
	struct err ignore;

	(void)!json_opt_str(error, "message", &msg, &ignore);
	(void)!json_opt_str(data, "code", &code, &ignore);
	(void)!json_opt_str(data, "why", &why, &ignore);
	(void)snprintf(wire, sizeof(wire), "%.*s", (int)code.n, code.p);
	(void)err_say(e, (enum err_code)err_from_wire(wire), "%.*s", (int)msg.n, msg.p);
	if (why.n > 0)
		(void)err_why(e, "%.*s", (int)why.n, why.p);
	if (json_text(json_at(json_get(data, "fix"), 0), &fix) == 0)
		(void)err_fix(e, "%.*s", (int)fix.n, fix.p);
	json_free(c->data);
	c->data = data == NULL ? NULL : json_clone(data);
	return -1;
}

/* A frame that is not the awaited answer: a notification is kept for later. */
static int
keep_note(struct client *c, struct json *frame, struct err *e)
{
	if (json_get(frame, "method") == NULL || json_get(frame, "id") != NULL)
		return 0;
	if (json_len(c->notes) - c->note >= NOTES_MAX)
		return err_set(e, ERR_LIMIT, "notifications that nobody reads");
	json_add(c->notes, json_clone(frame));
	return 0;
}

static int
await_answer(struct client *c, int64_t id, int64_t deadline, struct json **result,
    struct err *e)
{
	for (;;) {
		AUTO(json) struct json *frame = NULL;
		const struct json *error;
		int64_t got;

		if (next_frame(c, deadline, &frame, e))
			return -1;
		error = json_get(frame, "error");
		if (json_int(json_get(frame, "id"), &got) || got != id) {
			/* An error without an id is about the connection itself. */
			if (error != NULL && json_is_null(json_get(frame, "id")))
				return take_error(c, error, e);
			if (keep_note(c, frame, e))
				return -1;
			continue;
		}
		if (error != NULL)
			return take_error(c, error, e);
		*result = json_clone(json_get(frame, "result"));
		if (*result == NULL)
			return err_set(e, ERR_NOMEM, "answer");
		return 0;
	}
}

int
client_call(struct client *c, const char *method, struct json *params,
    int timeout_ms, struct json **result, struct err *e)
{
	AUTO(json) struct json *frame = json_make_object();
	int64_t deadline = deadline_of(timeout_ms);

	json_free(c->data);
	c->data = NULL;
	json_set_cstr(frame, "jsonrpc", "2.0");
	json_set_int(frame, "id", ++c->last_id);
	json_set_cstr(frame, "method", method);
	if (params != NULL)
		json_set(frame, "params", params);
	if (frame == NULL)
		return err_set(e, ERR_NOMEM, "request");
	if (send_line(c, frame, deadline, e))
		return -1;
	return await_answer(c, c->last_id, deadline, result, e);
}

int
client_next(struct client *c, int timeout_ms, struct json **note, struct err *e)
{
	int64_t deadline = deadline_of(timeout_ms);
	struct json *empty;

	while (c->note == json_len(c->notes)) {
		AUTO(json) struct json *frame = NULL;

		/* Everything was handed out: begin a new list. */
		if ((empty = json_make_array()) == NULL)
			return err_set(e, ERR_NOMEM, "notification");
		json_free(c->notes);
		c->notes = empty;
		c->note = 0;
		if (next_frame(c, deadline, &frame, e) || keep_note(c, frame, e))
			return -1;
	}
	if ((*note = json_clone(json_at(c->notes, c->note))) == NULL)
		return err_set(e, ERR_NOMEM, "notification");
	c->note++;
	return 0;
}

static int
greet(struct client *c, int timeout_ms, struct err *e)
{
	struct json *params = json_make_object();

	json_set_cstr(params, "schema", "glove.control/1");
	json_set_cstr(params, "client", "glove " GLOVE_VERSION);
	return client_call(c, "hello", params, timeout_ms, &c->hello, e);
}

int
client_connect(const char *path, int timeout_ms, struct client **out, struct err *e)
{
	AUTO(client) struct client *c = calloc(1, sizeof(*c));

	if (c == NULL)
		return err_set(e, ERR_NOMEM, "client");
	buf_init(&c->in, 2 * FRAME_MAX);
	c->notes = json_make_array();
	c->fd = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);
	if (c->fd < 0)
		return err_set(e, ERR_SYS, "socket");
	if (connect_path(c->fd, path))
		return err_say(e, ERR_UNREACHABLE, "no gloved listens on %s: %s", path,
		    strerror(errno));
	if (greet(c, timeout_ms, e))
		return -1;
	*out = TAKE(c);
	return 0;
}

void
client_close(struct client *c)
{
	if (c == NULL)
		return;
	if (c->fd >= 0)
		(void)close(c->fd);
	buf_done(&c->in);
	json_free(c->hello);
	json_free(c->data);
	json_free(c->notes);
	free(c);
}

const struct json *
client_hello(const struct client *c)
{
	return c->hello;
}

const struct json *
client_error_data(const struct client *c)
{
	return c->data;
}

int
client_fd(const struct client *c)
{
	return c->fd;
}
