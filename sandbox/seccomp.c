/* SPDX-License-Identifier: ISC */
/*
 * seccomp.c - the deny table as a BPF program.
 *
 * The kernel looks at 32 bits of an int argument and drops the rest, a filter
 * sees 64.  A comparison that is meant to refuse a value must therefore either
 * mask to 32 bits, or be of a kind that refuses a dirty upper half as well.
 */
#include <errno.h>
#include <sched.h>
#include <seccomp.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <sys/socket.h>
#include <unistd.h>

#include "sandbox/seccomp.h"

#define INT_IS(arg, v) \
	SCMP_CMP(arg, SCMP_CMP_MASKED_EQ, 0xffffffffu, (scmp_datum_t)(v))

enum { FILTER_BYTES_MAX = 64 << 10, NEWER_FIRST = 451 };

static const struct row {
	const char		*name;
	int			 nr;	/* -1: ask libseccomp */
	enum filter_verdict	 verdict;
} rows[] = {
#define CALL(name, verdict, why)	{ #name, -1, FILTER_##verdict },
#define NEWER(nr, name, verdict, why)	{ #name, nr, FILTER_##verdict },
#include "sandbox/syscalls.def"
};

/* Address families below the highest allowed one that are not. */
static const int families[] = {
	AF_UNSPEC, AF_AX25, AF_IPX, AF_APPLETALK, AF_NETROM, AF_BRIDGE,
	AF_ATMPVC, AF_X25, AF_ROSE, AF_DECnet, AF_NETBEUI, AF_SECURITY, AF_KEY
};

static const unsigned long namespaces[] = {
	CLONE_NEWNS, CLONE_NEWCGROUP, CLONE_NEWUTS, CLONE_NEWIPC,
	CLONE_NEWUSER, CLONE_NEWPID, CLONE_NEWNET
};

static int
number(const struct row *r)
{
	return r->nr >= 0 ? r->nr : seccomp_syscall_resolve_name(r->name);
}

int
filter_verdict(int nr, enum filter_verdict *v)
{
	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++)
		if (number(&rows[i]) == nr) {
			*v = rows[i].verdict;
			return 0;
		}
	return -1;
}

static uint32_t
action(enum filter_verdict v)
{
	return SCMP_ACT_ERRNO(v == FILTER_ENOSYS ? ENOSYS : EPERM);
}

static int
whole_calls(scmp_filter_ctx c)
{
	char known[SYSCALL_LAST + 1] = { 0 };
	int nr, r = 0;

	for (size_t i = 0; r == 0 && i < sizeof(rows) / sizeof(rows[0]); i++) {
		if ((nr = number(&rows[i])) < 0)
			continue;		/* not of this machine */
		if (nr <= SYSCALL_LAST)
			known[nr] = 1;
		if (rows[i].verdict == FILTER_EPERM ||
		    rows[i].verdict == FILTER_ENOSYS)
			r = seccomp_rule_add(c, action(rows[i].verdict), nr, 0);
	}
	/* What a newer kernel added is closed until somebody looked at it. */
	for (nr = NEWER_FIRST; r == 0 && nr <= SYSCALL_LAST; nr++)
		if (!known[nr])
			r = seccomp_rule_add(c, SCMP_ACT_ERRNO(ENOSYS), nr, 0);
	return r;
}

static int
arguments(scmp_filter_ctx c)
{
	const uint32_t eperm = SCMP_ACT_ERRNO(EPERM);
	const uint32_t family = SCMP_ACT_ERRNO(EAFNOSUPPORT);
	int r = 0;

	for (size_t i = 0; r == 0 &&
	    i < sizeof(namespaces) / sizeof(namespaces[0]); i++)
		r = seccomp_rule_add(c, eperm, SCMP_SYS(clone), 1,
		    SCMP_CMP(0, SCMP_CMP_MASKED_EQ, namespaces[i],
		    namespaces[i]));
	for (size_t i = 0; r == 0 &&
	    i < sizeof(families) / sizeof(families[0]); i++)
		r = seccomp_rule_add(c, family, SCMP_SYS(socket), 1,
		    INT_IS(0, families[i]));
	/* 64 bits: what has anything in its upper half is above as well. */
	if (r == 0)
		r = seccomp_rule_add(c, family, SCMP_SYS(socket), 1,
		    SCMP_CMP(0, SCMP_CMP_GT, AF_NETLINK, 0));
	if (r == 0)
		r = seccomp_rule_add(c, family, SCMP_SYS(socket), 2,
		    INT_IS(0, AF_NETLINK), SCMP_CMP(2, SCMP_CMP_NE, 0, 0));
	if (r == 0)
		r = seccomp_rule_add(c, eperm, SCMP_SYS(ioctl), 1,
		    INT_IS(1, TIOCSTI));
	if (r == 0)
		r = seccomp_rule_add(c, eperm, SCMP_SYS(ioctl), 1,
		    INT_IS(1, TIOCLINUX));
	return r;
}

static void
auto_filter(scmp_filter_ctx *c)
{
	if (*c != NULL)
		seccomp_release(*c);
}

int
filter_build(struct buf *prog, struct err *e)
{
	AUTO(filter) scmp_filter_ctx c = seccomp_init(SCMP_ACT_ALLOW);
	AUTO(fd) int fd = memfd_create("filter", MFD_CLOEXEC);
	uint8_t *at;
	off_t n;
	int r;

	if (c == NULL)
		return err_set(e, ERR_NOMEM, "system call filter");
	if (fd < 0)
		return err_set(e, ERR_SYS, "memfd_create");
	if ((r = seccomp_attr_set(c, SCMP_FLTATR_ACT_BADARCH,
	    SCMP_ACT_KILL_PROCESS)) != 0 ||
	    (r = seccomp_attr_set(c, SCMP_FLTATR_CTL_OPTIMIZE, 2)) != 0 ||
	    (r = whole_calls(c)) != 0 ||
	    (r = arguments(c)) != 0 ||
	    (r = seccomp_export_bpf(c, fd)) != 0) {
		errno = -r;
		return err_set(e, ERR_SYS, "system call filter");
	}
	n = lseek(fd, 0, SEEK_END);
	if (n <= 0 || n > FILTER_BYTES_MAX)
		return err_set(e, ERR_TOOBIG, "system call filter");
	if ((at = buf_room(prog, (size_t)n)) != NULL &&
	    pread(fd, at, (size_t)n, 0) != (ssize_t)n)
		return err_set(e, ERR_SYS, "system call filter");
	return buf_ok(prog, "system call filter", e);
}
