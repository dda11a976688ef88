/* SPDX-License-Identifier: ISC */
/* pump_attach.c - the attach socket, before the pump runs. */
#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <stdio.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/un.h>

#include "base/limits.h"
#include "cli/pump.h"
#include "cli/pump_refused.h"
#include "sandbox/attach.h"

enum { ATTACH_WAIT_MS = 10000, NONCE_BYTES = 32 };

/* A path may be longer than sun_path: name its directory by descriptor. */
static int
address(const char *path, struct sockaddr_un *sun, int *dir)
{
	char parent[PATH_BYTES_MAX + 1];
	const char *slash = strrchr(path, '/');

	memset(sun, 0, sizeof(*sun));
	sun->sun_family = AF_UNIX;
	if (strlen(path) < sizeof(sun->sun_path)) {
		memcpy(sun->sun_path, path, strlen(path) + 1);
		return 0;
	}
	if (slash == NULL || (size_t)(slash - path) >= sizeof(parent)) {
		errno = ENAMETOOLONG;
		return -1;
	}
	memcpy(parent, path, (size_t)(slash - path));
	parent[slash - path] = '\0';
	if ((*dir = open(parent, O_PATH | O_DIRECTORY | O_CLOEXEC)) < 0)
		return -1;
	if (snprintf(sun->sun_path, sizeof(sun->sun_path), "/proc/self/fd/%d/%s",
	    *dir, slash + 1) >= (int)sizeof(sun->sun_path)) {
		errno = ENAMETOOLONG;
		return -1;
	}
	return 0;
}

int
attach_open(const char *path, int *out, struct err *e)
{
	AUTO(fd) int fd = socket(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0);
	AUTO(fd) int dir = -1;
	struct sockaddr_un sun;

	if (fd < 0)
		return err_set(e, ERR_SYS, "socket");
	if (address(path, &sun, &dir) ||
	    connect(fd, (const struct sockaddr *)&sun, sizeof(sun)) != 0) {
		if (errno == ENOENT || errno == ECONNREFUSED)
			return err_say(e, ERR_PEER, "the session is over");
		return err_set(e, ERR_SYS, "%s", path);
	}
	*out = TAKE_FD(fd);
	return 0;
}

int
attach_send(int fd, const struct buf *message, struct err *e)
{
	if (buf_ok(message, "message to the session", e))
		return -1;
	while (send(fd, message->p, message->n, MSG_NOSIGNAL) < 0) {
		if (errno == EPIPE || errno == ECONNRESET)
			return err_say(e, ERR_PEER, "the session is over");
		if (errno == EMSGSIZE)
			return err_set(e, ERR_TOOBIG, "message to the session");
		if (errno != EINTR)
			return err_set(e, ERR_SYS, "message to the session");
	}
	return 0;
}

int
attach_ask(int fd, uint8_t nonce[NONCE_BYTES], struct err *e)
{
	struct pollfd p = { .fd = fd, .events = POLLIN };
	uint8_t ask = ATTACH_ASK, got[2048];
	AUTO(buf) struct buf message;
	ssize_t n;

	buf_init(&message, 1);
	buf_put_u8(&message, ask);
	if (attach_send(fd, &message, e))
		return -1;
	if (poll(&p, 1, ATTACH_WAIT_MS) <= 0)
		return err_set(e, ERR_TIMEOUT, "the session's supervisor");
	n = recv(fd, got, sizeof(got), 0);
	if (n > 0 && got[0] == ATTACH_REFUSED)
		return pump_refused(bytes_of(got, (size_t)n), e);
	if (n <= 0)
		return err_say(e, ERR_PEER, "the session is over");
	if (n != 1 + NONCE_BYTES || got[0] != ATTACH_CHALLENGE)
		return err_set(e, ERR_FORMAT, "the session's supervisor");
	memcpy(nonce, got + 1, NONCE_BYTES);
	return 0;
}

int
pump_refused(struct bytes message, struct err *e)
{
	struct cur c = cur_of(message);
	struct bytes text;
	int code;

	(void)cur_u8(&c);
	code = cur_u16(&c);
	text = cur_take(&c, c.n);
	if (c.failed || code <= 0 || code >= ERR_CODE_END)
		return err_set(e, ERR_FORMAT, "the session's supervisor");
	return err_say(e, (enum err_code)code, "%.*s", (int)text.n,
	    (const char *)text.p);
}
