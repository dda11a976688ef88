/* SPDX-License-Identifier: ISC */
/* gloved_clients.c - the descriptors of the control socket; what is said on
 * them is engine/control.c's business. */
#include <sys/epoll.h>
#include <sys/socket.h>
#include <sys/un.h>

#include <errno.h>
#include <fcntl.h>
#include <pwd.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/fd.h"
#include "base/log.h"
#include "engine/rpc.h"

#include "cli/gloved_int.h"

enum { BACKLOG = 128, READ_BYTES = 64 << 10, ACCEPTS = 32, ASKS_A_TURN = 128 };

static void
peer_close(struct peer_conn *p)
{
	struct peer_conn **at = &p->g->peers;

	while (*at != p)
		at = &(*at)->next;
	*at = p->next;
	p->source = sd_event_source_disable_unref(p->source);
	control_close(p->g->control, p->conn);
	(void)close(p->fd);
	free(p);
}

/* What is pending for one connection; 0 while it may go on. */
static int
peer_flush(struct peer_conn *p)
{
	struct control *c = p->g->control;
	struct bytes out;
	uint32_t events;
	ssize_t n;

	while ((out = control_out(c, p->conn)).n > 0) {
		n = send(p->fd, out.p, out.n, MSG_NOSIGNAL | MSG_DONTWAIT);
		if (n > 0)
			control_sent(c, p->conn, (size_t)n);
		else if (n < 0 && errno == EINTR)
			continue;
		else if (n < 0 && (errno == EAGAIN || errno == EWOULDBLOCK))
			break;
		else
			return -1;
	}
	if (control_over(c, p->conn))
		return -1;
	events = (control_reads(c, p->conn) ? EPOLLIN : 0) |
	    (out.n > 0 ? EPOLLOUT : 0);
	if (events != p->events) {
		p->events = events;
		(void)sd_event_source_set_io_events(p->source, events);
	}
	return 0;
}

void
clients_flush(struct gloved *g)
{
	for (struct peer_conn *p = g->peers, *next; p != NULL; p = next) {
		next = p->next;
		if (peer_flush(p))
			peer_close(p);
	}
}

static int
on_peer(sd_event_source *s, int fd, uint32_t events, void *ctx)
{
	static uint8_t room[READ_BYTES];
	struct peer_conn *p = ctx;
	struct gloved *g = p->g;
	ssize_t n = 0;

	(void)s;
	if (events & (EPOLLIN | EPOLLHUP | EPOLLERR)) {
		n = recv(fd, room, sizeof(room), MSG_DONTWAIT);
		if (n == 0 || (n < 0 && errno != EAGAIN && errno != EINTR)) {
			peer_close(p);
			loop_wake(g);
			return 0;
		}
	}
	if (n > 0)
		control_feed(g->control, p->conn, bytes_of(room, (size_t)n),
		    clock_now());
	/* Here, not in the turn: a descriptor that stays ready would be served
	 * again and again, and the turn, which comes after all, never. */
	if (events & EPOLLOUT && peer_flush(p)) {
		peer_close(p);
		loop_wake(g);
		return 0;
	}
	/* The turn flushes; a flood does not put it off for ever. */
	loop_wake(g);
	if (engine_pending(g->engine) >= ASKS_A_TURN)
		loop_turn(g);
	return 0;
}

/* Who it is, by the kernel's word; only this user and root are heard. */
static int
identify(int fd, struct principal *who, struct err *e)
{
	struct passwd pw, *found = NULL;
	char room[4096];
	struct peer peer;

	if (fd_peer(fd, &peer, e))
		return -1;
	if (peer.uid != geteuid() && peer.uid != 0)
		return err_say(e, ERR_DENIED, "user %u is not served", peer.uid);
	*who = (struct principal){ .uid = peer.uid, .gid = peer.gid,
	    .pid = peer.pid };
	if (getpwuid_r(peer.uid, &pw, room, sizeof(room), &found) == 0 &&
	    found != NULL)
		(void)snprintf(who->name, sizeof(who->name), "%s", pw.pw_name);
	return 0;
}

/* Why the door is shut in somebody's face, on one line. */
static void
turn_away(int fd, const struct err *err)
{
	AUTO(json) struct json *frame = rpc_error(NULL, RPC_OURS - err->code, err,
	    NULL);
	AUTO(buf) struct buf b;

	buf_init(&b, 4096);
	json_put(&b, frame);
	buf_put(&b, "\n", 1);
	if (!b.failed)
		(void)!send(fd, b.p, b.n, MSG_NOSIGNAL | MSG_DONTWAIT);
}

static int
admit(struct gloved *g, int fd, struct err *e)
{
	AUTO(fd) int own = fd;
	struct principal who;
	struct peer_conn *p;
	int rc;

	if (identify(own, &who, e))
		return -1;
	if ((p = calloc(1, sizeof(*p))) == NULL)
		return err_set(e, ERR_NOMEM, "connection");
	if (control_open(g->control, who, clock_now(), &p->conn, e)) {
		turn_away(own, e);
		free(p);
		return -1;
	}
	p->g = g;
	p->events = EPOLLIN;
	rc = sd_event_add_io(g->loop, &p->source, own, EPOLLIN, on_peer, p);
	if (rc < 0) {
		control_close(g->control, p->conn);
		free(p);
		errno = -rc;
		return err_set(e, ERR_SYS, "event loop");
	}
	p->fd = TAKE_FD(own);
	p->next = g->peers;
	g->peers = p;
	return 0;
}

void
clients_hear(struct gloved *g)
{
	if (!g->deaf || g->listener == NULL)
		return;
	g->deaf = 0;
	(void)sd_event_source_set_enabled(g->listener, SD_EVENT_ON);
}

/* No descriptor is left: who waits at the door waits until one is. */
static void
go_deaf(struct gloved *g)
{
	log_event(LOG_LEVEL_WARN, "no_descriptors", "clients=%zu",
	    control_count(g->control));
	g->deaf = 1;
	(void)sd_event_source_set_enabled(g->listener, SD_EVENT_OFF);
}

static int
on_listener(sd_event_source *s, int fd, uint32_t events, void *ctx)
{
	struct gloved *g = ctx;
	struct err e;
	int conn;

	(void)s;
	(void)events;
	for (int i = 0; i < ACCEPTS; i++) {
		conn = accept4(fd, NULL, NULL, SOCK_CLOEXEC | SOCK_NONBLOCK);
		if (conn < 0) {
			if (errno == EMFILE || errno == ENFILE)
				go_deaf(g);
			break;
		}
		if (admit(g, conn, &e))
			log_event(LOG_LEVEL_WARN, "not_admitted", "err=%s: %s",
			    err_name(e.code), e.msg);
	}
	loop_wake(g);
	return 0;
}

/* A path may be longer than sun_path: its directory is named by descriptor. */
static int
bind_at(int fd, const char *path, struct err *e)
{
	struct sockaddr_un sun = { .sun_family = AF_UNIX };
	AUTO(fd) int dir = -1;
	const char *slash = strrchr(path, '/');
	char parent[DIR_ROOM];

	(void)snprintf(parent, sizeof(parent), "%.*s", (int)(slash - path), path);
	if ((dir = open(parent, O_PATH | O_DIRECTORY | O_CLOEXEC)) < 0)
		return err_set(e, ERR_SYS, "%s", parent);
	if (snprintf(sun.sun_path, sizeof(sun.sun_path), "/proc/self/fd/%d/%s", dir,
	    slash + 1) >= (int)sizeof(sun.sun_path))
		return err_say(e, ERR_CONFIG, "%s is too long a name", slash + 1);
	/* Whoever listened there is gone: the journal's lock is ours. */
	(void)unlinkat(dir, slash + 1, 0);
	if (bind(fd, (const struct sockaddr *)&sun, sizeof(sun)) ||
	    listen(fd, BACKLOG))
		return err_set(e, ERR_SYS, "%s", path);
	return 0;
}

int
clients_listen(struct gloved *g, struct err *e)
{
	AUTO(fd) int fd = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
	int rc;

	if (fd < 0)
		return err_set(e, ERR_SYS, "socket");
	if (bind_at(fd, g->opt.socket, e))
		return -1;
	rc = sd_event_add_io(g->loop, &g->listener, fd, EPOLLIN, on_listener, g);
	if (rc < 0) {
		errno = -rc;
		return err_set(e, ERR_SYS, "event loop");
	}
	g->listenfd = TAKE_FD(fd);
	return 0;
}

void
clients_close(struct gloved *g)
{
	g->listener = sd_event_source_disable_unref(g->listener);
	if (g->listenfd >= 0) {
		(void)unlink(g->opt.socket);
		(void)close(TAKE_FD(g->listenfd));
		/* While a supervisor listens in there it is not empty. */
		(void)rmdir(g->attach_dir);
	}
	while (g->peers != NULL) {
		(void)peer_flush(g->peers);
		peer_close(g->peers);
	}
}
