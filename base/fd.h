/* SPDX-License-Identifier: ISC */
#ifndef BASE_FD_H
#define BASE_FD_H

#include <sys/types.h>

#include "base/buf.h"

/* Everything here is close-on-exec, restarts on EINTR, and never follows a
 * symbolic link unless it says so. */

/* fd_read_all(fd, b, e): to the end of file, at most what ${b} allows. */
int fd_read_all(int fd, struct buf *b, struct err *e) MUST_CHECK;
int fd_write_all(int fd, const void *p, size_t n, struct err *e) MUST_CHECK;
int fd_pread_full(int fd, void *p, size_t n, int64_t off, struct err *e)
    MUST_CHECK;	/* FORMAT if the file is shorter */
int fd_pwrite_full(int fd, const void *p, size_t n, int64_t off, struct err *e)
    MUST_CHECK;

/*
 * fd_openat2(dirfd, path, flags, mode, resolve, fd, e): openat2(2) with
 * O_CLOEXEC; ${resolve} as RESOLVE_BENEATH | RESOLVE_NO_SYMLINKS ...
 */
int fd_openat2(int dirfd, const char *path, int flags, mode_t mode,
    uint64_t resolve, int *fd, struct err *e) MUST_CHECK;

/* fd_file(dirfd, name, max, b, e): the whole of a regular file, no links. */
int fd_file(int dirfd, const char *name, struct buf *b, struct err *e)
    MUST_CHECK;

/*
 * fd_replace(dirfd, name, bytes, mode, e): a whole new file under a temporary
 * name, fdatasync, rename over ${name}, fsync the directory.
 */
int fd_replace(int dirfd, const char *name, struct bytes data, mode_t mode,
    struct err *e) MUST_CHECK;

/* fd_mkdir_open(dirfd, name, mode, fd, e): make it if it is not there, open
 * it, and insist that it is a directory of this user without group or other
 * write permission (CONFIG otherwise). */
int fd_mkdir_open(int dirfd, const char *name, mode_t mode, int *fd,
    struct err *e) MUST_CHECK;

/* fd_memfd(name, data, fd, e): a sealed memory file, offset 0. */
int fd_memfd(const char *name, struct bytes data, int *fd, struct err *e)
    MUST_CHECK;

/* fd_pair(sv, e): a SOCK_SEQPACKET pair. */
int fd_pair(int sv[2], struct err *e) MUST_CHECK;

enum { FD_PASS_MAX = 16 };
/* fd_send(sock, data, fds, nfds, e): one message with descriptors. */
int fd_send(int sock, struct bytes data, const int *fds, size_t nfds,
    struct err *e) MUST_CHECK;
/*
 * fd_recv(sock, b, fds, nfds, e): one message into the room that ${b} has
 * left below its max.  *${nfds}: in, how many are welcome; out, how many came.
 * More than welcome, or a truncated message, is FORMAT and every descriptor is
 * closed.  PEER at end of file, AGAIN if it would block.
 */
int fd_recv(int sock, struct buf *b, int *fds, size_t *nfds, struct err *e)
    MUST_CHECK;

/* fd_nonblock(fd, on, e) */
int fd_nonblock(int fd, int on, struct err *e) MUST_CHECK;

struct peer {
	pid_t	pid;
	uid_t	uid;
	gid_t	gid;
};
int fd_peer(int sock, struct peer *p, struct err *e) MUST_CHECK; /* SO_PEERCRED */

#endif
