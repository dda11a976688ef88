/* SPDX-License-Identifier: ISC */
/* Messages with descriptors over sockets of the same machine. */
#include <errno.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/uio.h>

#include "base/fd.h"

/* Aligned as a struct cmsghdr must be. */
union control {
	struct cmsghdr	h;
	char		room[CMSG_SPACE(FD_PASS_MAX * sizeof(int))];
};

int
fd_pair(int sv[2], struct err *e)
{
	if (socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0, sv))
		return err_set(e, ERR_SYS, "socketpair");
	return 0;
}

/* What a failed send or receive means. */
static int
failed(struct err *e, const char *what)
{
	switch (errno) {
	case EAGAIN:
		return err_set(e, ERR_AGAIN, "%s", what);
	case EPIPE:
	case ECONNRESET:
	case ENOTCONN:
		return err_set(e, ERR_PEER, "%s", what);
	default:
		return err_set(e, ERR_SYS, "%s", what);
	}
}

int
fd_send(int sock, struct bytes data, const int *fds, size_t nfds, struct err *e)
{
	union control c = { 0 };
	struct iovec iov = { .iov_len = data.n };
	struct msghdr m = { .msg_iov = &iov, .msg_iovlen = 1 };
	ssize_t n;

	if (nfds > FD_PASS_MAX)
		return err_set(e, ERR_TOOBIG, "%zu descriptors", nfds);
	/* An empty message cannot be told from the end. */
	if (data.n == 0)
		return err_set(e, ERR_BUG, "send nothing");
	memcpy(&iov.iov_base, &data.p, sizeof(iov.iov_base));
	if (nfds != 0) {
		m.msg_control = &c;
		m.msg_controllen = CMSG_SPACE(nfds * sizeof(int));
		c.h.cmsg_level = SOL_SOCKET;
		c.h.cmsg_type = SCM_RIGHTS;
		c.h.cmsg_len = CMSG_LEN(nfds * sizeof(int));
		memcpy(CMSG_DATA(&c.h), fds, nfds * sizeof(int));
	}
	do
		n = sendmsg(sock, &m, MSG_NOSIGNAL);
	while (n < 0 && errno == EINTR);
	if (n < 0)
		return failed(e, "send");
	if ((size_t)n != data.n)
		return err_set(e, ERR_BUG, "send on a stream");
	return 0;
}

/* Every descriptor of ${m} into ${fds}, which has room; how many. */
static size_t
collect(struct msghdr *m, int *fds)
{
	size_t n = 0, k;

	for (struct cmsghdr *h = CMSG_FIRSTHDR(m); h != NULL;
	    h = CMSG_NXTHDR(m, h)) {
		if (h->cmsg_level != SOL_SOCKET || h->cmsg_type != SCM_RIGHTS)
			continue;
		k = (h->cmsg_len - CMSG_LEN(0)) / sizeof(int);
		memcpy(fds + n, CMSG_DATA(h), k * sizeof(int));
		n += k;
	}
	return n;
}

int
fd_recv(int sock, struct buf *b, int *fds, size_t *nfds, struct err *e)
{
	union control c = { 0 };
	size_t start = b->n, room = b->max - b->n, got;
	int came[sizeof(c) / sizeof(int)];
	struct iovec iov = { .iov_len = room };
	struct msghdr m = { .msg_iov = &iov, .msg_iovlen = 1,
	    .msg_control = &c, .msg_controllen = sizeof(c) };
	ssize_t n;

	if (room == 0)
		return err_set(e, ERR_TOOBIG, "receive");
	if ((iov.iov_base = buf_room(b, room)) == NULL)
		return buf_ok(b, "receive", e);
	do
		n = recvmsg(sock, &m, MSG_CMSG_CLOEXEC);
	while (n < 0 && errno == EINTR);
	b->n = start;
	if (n < 0)
		return failed(e, "receive");

	/*
	 * Whatever came is ours now, so it is closed on every path that does
	 * not hand it on.  What did not fit the kernel has already dropped.
	 */
	got = collect(&m, came);
	if (n == 0 || got > *nfds || m.msg_flags & (MSG_TRUNC | MSG_CTRUNC)) {
		for (size_t i = 0; i < got; i++)
			(void)close(came[i]);
		if (n == 0)
			return err_set(e, ERR_PEER, "receive");
		return err_set(e, ERR_FORMAT, m.msg_flags & MSG_TRUNC ?
		    "a message over %zu bytes" :
		    "a message with more than %zu descriptors",
		    m.msg_flags & MSG_TRUNC ? room : *nfds);
	}
	b->n = start + (size_t)n;
	if (got != 0)
		memcpy(fds, came, got * sizeof(int));
	*nfds = got;
	return 0;
}

int
fd_peer(int sock, struct peer *p, struct err *e)
{
	struct ucred u;
	socklen_t n = sizeof(u);

	if (getsockopt(sock, SOL_SOCKET, SO_PEERCRED, &u, &n))
		return err_set(e, ERR_SYS, "who is the peer");
	*p = (struct peer){ u.pid, u.uid, u.gid };
	return 0;
}
