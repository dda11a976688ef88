/* SPDX-License-Identifier: ISC */
#ifndef SANDBOX_SECCOMP_H
#define SANDBOX_SECCOMP_H

#include "base/buf.h"

/*
 * The system call filter of the agent: allow, but for the table syscalls.def
 * and the arguments below.  A call of another ABI (i386, x32) kills.
 *
 *	clone	no flag that makes a namespace			EPERM
 *	socket	UNIX, INET, INET6, NETLINK protocol 0 only	EAFNOSUPPORT
 *	ioctl	no TIOCSTI, no TIOCLINUX			EPERM
 */
enum filter_verdict { FILTER_ALLOW, FILTER_EPERM, FILTER_ENOSYS, FILTER_ARGS };

enum { SYSCALL_LAST = 511 };	/* numbers the filter has an answer for */

/*
 * filter_build(prog, e): append the filter as BPF instructions to ${prog}: what
 * the build tool emit does, and a test, to compare.
 */
int filter_build(struct buf *prog, struct err *e) MUST_CHECK;

struct bytes filter_shipped(void);	/* what emit built */

/*
 * filter_load(prog, e): put this process and all it starts behind the filter.
 * There is no way back.  no_new_privs must be on.
 */
int filter_load(struct bytes prog, struct err *e) MUST_CHECK;

/* filter_verdict(nr, v): 0 and what the table says of a number, or -1. */
int filter_verdict(int nr, enum filter_verdict *v);

#endif
