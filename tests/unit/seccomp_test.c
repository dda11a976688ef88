/* SPDX-License-Identifier: ISC */
/*
 * The system call filter, number by number: what the table says is what the
 * kernel answers, and the table has an answer for everything.
 */
#include <errno.h>
#include <sched.h>
#include <setjmp.h>
#include <signal.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cmocka.h>
#include <seccomp.h>

#include "sandbox/seccomp.h"

enum { NEWER_FIRST = 451, NOT_CONFINED = 77 };

/* How a child ends that does ${what} behind the filter; as wait(2). */
static int
behind(void **state, int (*what)(void *arg), void *arg)
{
	const struct buf *prog = *state;
	struct err e;
	pid_t pid;
	int status;

	if ((pid = fork()) == 0) {
		(void)signal(SIGSEGV, SIG_DFL);	/* cmocka has its own */
		if (prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) != 0 ||
		    filter_load(buf_bytes(prog), &e))
			_exit(NOT_CONFINED);
		_exit(what(arg));
	}
	assert_int_equal(waitpid(pid, &status, 0), pid);
	return status;
}

static int
answer(int nr)
{
	errno = 0;
	return syscall(nr, -1L, -1L, -1L, -1L, -1L, -1L) < 0 ? errno : 0;
}

static int
call(void *arg)
{
	return answer(*(const int *)arg);
}

static void
every_call_that_is_refused_is_refused(void **state)
{
	enum filter_verdict v;
	int refused = 0;

	for (int nr = 0; nr <= SYSCALL_LAST; nr++) {
		const int want = filter_verdict(nr, &v) != 0 ?
		    (nr >= NEWER_FIRST ? ENOSYS : 0) :
		    v == FILTER_EPERM ? EPERM : v == FILTER_ENOSYS ? ENOSYS : 0;
		int status, i = nr;

		if (want == 0)
			continue;
		status = behind(state, call, &i);
		if (!WIFEXITED(status) || WEXITSTATUS(status) != want)
			fail_msg("call %d: status %x, wanted %d", nr, status,
			    want);
		refused++;
	}
	assert_true(refused > 80);
}

static void
what_is_shipped_is_what_the_table_says(void **state)
{
	const struct buf *prog = *state;

	assert_true(bytes_eq(buf_bytes(prog), filter_shipped()));
}

static void
every_call_that_the_library_knows_is_in_the_table(void **state)
{
	enum filter_verdict v;

	(void)state;
	for (int nr = 0; nr <= SYSCALL_LAST; nr++) {
		char *name = seccomp_syscall_resolve_num_arch(SCMP_ARCH_NATIVE,
		    nr);

		if (name != NULL && filter_verdict(nr, &v) != 0)
			fail_msg("%s (%d) is not in syscalls.def", name, nr);
		free(name);
	}
}

/* If this fails, the kernel is newer than the table: somebody has to look. */
static void
every_call_that_this_kernel_has_is_in_the_table(void **state)
{
	enum filter_verdict v;

	(void)state;
	for (int nr = NEWER_FIRST; nr <= SYSCALL_LAST; nr++)
		if (filter_verdict(nr, &v) != 0 && answer(nr) != ENOSYS)
			fail_msg("call %d is not in syscalls.def", nr);
}

static int
family(void *arg)
{
	const long *a = arg;
	const long fd = syscall(SYS_socket, a[0], a[1], a[2]);

	return fd >= 0 ? 0 : errno;
}

static void
only_four_address_families_are_to_be_had(void **state)
{
	for (long f = 0; f < 64; f++) {
		long clean[] = { f, SOCK_DGRAM, 0 };
		long dirty[] = { f | 1L << 32, SOCK_DGRAM, 0 };
		const int good = f == AF_UNIX || f == AF_INET ||
		    f == AF_INET6 || f == AF_NETLINK;
		int got = WEXITSTATUS(behind(state, family, clean));

		if (good != (got != EAFNOSUPPORT))
			fail_msg("family %ld: %d", f, got);
		if (!good)
			assert_int_equal(WEXITSTATUS(behind(state, family, dirty)),
			    EAFNOSUPPORT);
	}
	for (long p = 1; p < 32; p++) {
		long a[] = { AF_NETLINK, SOCK_RAW, p };

		assert_int_equal(WEXITSTATUS(behind(state, family, a)), EAFNOSUPPORT);
	}
}

static int
namespaces(void *arg)
{
	const long r = syscall(SYS_clone, *(const long *)arg | SIGCHLD, 0, 0, 0,
	    0);

	if (r == 0)
		_exit(0);
	return r > 0 ? 0 : errno;
}

static void
clone_makes_processes_and_no_namespaces(void **state)
{
	static long flags[] = {
		CLONE_NEWUSER, CLONE_NEWNS, CLONE_NEWPID, CLONE_NEWNET,
		CLONE_NEWIPC, CLONE_NEWUTS, CLONE_NEWCGROUP,
		CLONE_NEWUSER | CLONE_NEWNS
	};
	long none = 0;

	for (size_t i = 0; i < sizeof(flags) / sizeof(flags[0]); i++)
		assert_int_equal(WEXITSTATUS(behind(state, namespaces, &flags[i])),
		    EPERM);
	assert_int_equal(WEXITSTATUS(behind(state, namespaces, &none)), 0);
}

static int
control(void *arg)
{
	return syscall(SYS_ioctl, 0L, *(const long *)arg, 0L) == 0 ? 0 : errno;
}

static void
nothing_is_typed_into_a_terminal(void **state)
{
	long cmds[] = { TIOCSTI, TIOCSTI | 1L << 32, TIOCLINUX,
	    TIOCLINUX | 1L << 40 };

	for (size_t i = 0; i < sizeof(cmds) / sizeof(cmds[0]); i++)
		assert_int_equal(WEXITSTATUS(behind(state, control, &cmds[i])), EPERM);
}

#ifdef __x86_64__
static int
x32(void *arg)
{
	(void)arg;
	(void)syscall(0x40000000 | SYS_getpid);
	return 0;
}

static int
i386(void *arg)
{
	long nr = 20;		/* getpid there */

	(void)arg;
	__asm__ volatile("int $0x80" : "+a"(nr) : : "memory");
	return 0;
}

static void
calls_of_another_abi_kill(void **state)
{
	int status;

	status = behind(state, x32, NULL);
	assert_true(WIFSIGNALED(status) && WTERMSIG(status) == SIGSYS);
	/* A kernel without that ABI answers with SIGSEGV. */
	status = behind(state, i386, NULL);
	assert_true(WIFSIGNALED(status) && (WTERMSIG(status) == SIGSYS ||
	    WTERMSIG(status) == SIGSEGV));
}
#endif

static int
build(void **state)
{
	static struct buf prog;
	struct err e;

	buf_init(&prog, 64 << 10);
	*state = &prog;
	return filter_build(&prog, &e);
}

static int
drop(void **state)
{
	buf_done(*state);
	return 0;
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(every_call_that_is_refused_is_refused),
		cmocka_unit_test(what_is_shipped_is_what_the_table_says),
		cmocka_unit_test(
		    every_call_that_the_library_knows_is_in_the_table),
		cmocka_unit_test(
		    every_call_that_this_kernel_has_is_in_the_table),
		cmocka_unit_test(only_four_address_families_are_to_be_had),
		cmocka_unit_test(clone_makes_processes_and_no_namespaces),
		cmocka_unit_test(nothing_is_typed_into_a_terminal),
#ifdef __x86_64__
		cmocka_unit_test(calls_of_another_abi_kill),
#endif
	};

	return cmocka_run_group_tests_name("seccomp", tests, build, drop);
}
