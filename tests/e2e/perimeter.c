/* SPDX-License-Identifier: ISC */
/*
 * perimeter - run inside a sandbox: try everything in perimeter.def, say what
 * happened.  Exits 0 only if each attempt was refused as the table says.
 */
#include <arpa/inet.h>
#include <errno.h>
#include <fcntl.h>
#include <linux/capability.h>
#include <mqueue.h>
#include <net/if.h>
#include <sched.h>
#include <signal.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <grp.h>
#include <sys/ioctl.h>
#include <sys/mount.h>
#include <sys/prctl.h>
#include <sys/ptrace.h>
#include <sys/shm.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/sysmacros.h>
#include <sys/time.h>
#include <sys/uio.h>
#include <sys/un.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

static char bytes[256];
static struct iovec iov = { bytes, sizeof(bytes) };
static int passed, failed;

static const char *
host(const char *name)
{
	const char *v = getenv(name);

	if (v == NULL || *v == '\0') {
		fprintf(stderr, "perimeter: %s is not set\n", name);
		exit(2);
	}
	return v;
}

static int
fail_with(int err)
{
	errno = err;
	return -1;
}

static int
connect_to(int domain, int type, const void *addr, socklen_t n)
{
	int s = socket(domain, type | SOCK_CLOEXEC, 0), rc, saved;

	if (s == -1)
		return -1;
	rc = connect(s, addr, n);
	saved = errno;
	(void)close(s);
	errno = saved;
	return rc;
}

static int
connect_unix(const char *path)
{
	struct sockaddr_un a = { .sun_family = AF_UNIX };

	(void)snprintf(a.sun_path, sizeof(a.sun_path), "%s", path);
	return connect_to(AF_UNIX, SOCK_STREAM, &a, sizeof(a));
}

static int
connect_abstract(const char *name)
{
	struct sockaddr_un a = { .sun_family = AF_UNIX };

	(void)snprintf(a.sun_path + 1, sizeof(a.sun_path) - 1, "%s", name);
	return connect_to(AF_UNIX, SOCK_STREAM, &a, (socklen_t)
	    (offsetof(struct sockaddr_un, sun_path) + 1 + strlen(name)));
}

static int
connect_inet(const char *ip, int port, int type)
{
	struct sockaddr_in a = { .sin_family = AF_INET,
	    .sin_port = htons((uint16_t)port) };

	(void)inet_pton(AF_INET, ip, &a.sin_addr);
	return connect_to(AF_INET, type, &a, sizeof(a));
}

static int
connect_inet6(const char *ip, int port)
{
	struct sockaddr_in6 a = { .sin6_family = AF_INET6,
	    .sin6_port = htons((uint16_t)port) };

	(void)inet_pton(AF_INET6, ip, &a.sin6_addr);
	return connect_to(AF_INET6, SOCK_STREAM, &a, sizeof(a));
}

static int
host_port(void)
{
	return atoi(host("PORT"));
}

static key_t
host_key(void)
{
	return (key_t)strtol(host("SHMKEY"), NULL, 0);
}

/* A pid of the host that is no pid of ours. */
static pid_t
host_pid(void)
{
	return (pid_t)atoi(host("HOSTPID"));
}

static const char *
host_proc(void)
{
	static char path[64];

	(void)snprintf(path, sizeof(path), "/proc/%d", (int)host_pid());
	return path;
}

static int
getppid_of_init(void)
{
	char line[256];
	FILE *f = fopen("/proc/1/stat", "re");
	int ppid = -1;

	if (f == NULL || fgets(line, sizeof(line), f) == NULL)
		return 0;
	(void)fclose(f);
	if (sscanf(strrchr(line, ')') + 1, " %*c %d", &ppid) == 1 && ppid == 0)
		return fail_with(ESRCH);
	return 0;
}

/* The kernel drops a signal for which the first process has no handler, and
 * says nothing: what counts is that it is as alive as before. */
static int
outlives(pid_t pid, int sig)
{
	char path[64], line[256] = "";
	FILE *f;

	if (kill(pid, sig) != 0)
		return -1;
	(void)usleep(50000);
	(void)snprintf(path, sizeof(path), "/proc/%d/stat", (int)pid);
	if ((f = fopen(path, "re")) == NULL || fgets(line, sizeof(line), f) == NULL)
		return 0;
	(void)fclose(f);
	return strrchr(line, ')') != NULL && strchr("TtZX", strrchr(line, ')')[2])
	    == NULL ? fail_with(EPERM) : 0;
}

static int
steal_fd(pid_t pid)
{
	int p = (int)syscall(SYS_pidfd_open, pid, 0);

	return p == -1 ? -1 : (int)syscall(SYS_pidfd_getfd, p, 0, 0);
}

static int
clone_flags(unsigned long flags)
{
	pid_t pid = (pid_t)syscall(SYS_clone, flags | SIGCHLD, NULL, NULL, NULL, 0);

	if (pid == 0)
		_exit(0);
	if (pid > 0)
		(void)waitpid(pid, NULL, 0);
	return (int)pid;
}

static int
setns_of(const char *path)
{
	int fd = open(path, O_RDONLY | O_CLOEXEC);

	return fd == -1 ? -1 : setns(fd, 0);
}

static int
gain_caps(void)
{
	struct __user_cap_header_struct h = {
	    .version = _LINUX_CAPABILITY_VERSION_3 };
	struct __user_cap_data_struct d[2] = {
	    { .effective = 1u << CAP_SYS_ADMIN, .permitted = 1u << CAP_SYS_ADMIN },
	    { .effective = 0 } };

	return (int)syscall(SYS_capset, &h, d);
}

static int
any_capability(void)
{
	struct __user_cap_header_struct h = {
	    .version = _LINUX_CAPABILITY_VERSION_3 };
	struct __user_cap_data_struct d[2] = { { .effective = 0 }, { .effective = 0 } };

	if (syscall(SYS_capget, &h, d) != 0 || d[0].permitted | d[1].permitted |
	    d[0].effective | d[1].effective | d[0].inheritable | d[1].inheritable)
		return 0;
	return prctl(PR_CAPBSET_READ, CAP_SYS_ADMIN) == 0 ? fail_with(EPERM) : 0;
}

static int
no_new_privs(void)
{
	return prctl(PR_GET_NO_NEW_PRIVS, 0, 0, 0, 0) == 1 ? fail_with(EPERM) : 0;
}

static int
foreign_descriptor(void)
{
	for (int fd = 3; fd < 65536; fd++)
		if (fcntl(fd, F_GETFD) != -1)
			return 0;
	return fail_with(EBADF);
}

static int
if_up(const char *name)
{
	struct ifreq r = { .ifr_flags = IFF_UP };
	int s = socket(AF_INET, SOCK_DGRAM | SOCK_CLOEXEC, 0);

	(void)snprintf(r.ifr_name, sizeof(r.ifr_name), "%s", name);
	return ioctl(s, SIOCSIFFLAGS, &r);
}

static int
if_addr(const char *name, uint32_t addr)
{
	struct sockaddr_in a = { .sin_family = AF_INET,
	    .sin_addr.s_addr = htonl(addr) };
	struct ifreq r = { .ifr_flags = 0 };
	int s = socket(AF_INET, SOCK_DGRAM | SOCK_CLOEXEC, 0);

	(void)snprintf(r.ifr_name, sizeof(r.ifr_name), "%s", name);
	memcpy(&r.ifr_addr, &a, sizeof(a));
	return ioctl(s, SIOCSIFADDR, &r);
}

static int
mq_open_ro(const char *name)
{
	return (int)mq_open(name, O_RDONLY);
}

static int
ioctl_on_pty(unsigned long request, const char *arg)
{
	int fd = posix_openpt(O_RDWR | O_NOCTTY);

	if (fd == -1)
		return 0;
	return ioctl(fd, request, arg);
}

static void
int80(void)
{
#ifdef __x86_64__
	long r;

	__asm__ volatile("int $0x80" : "=a"(r) : "a"(20L) : "memory");
#else
	(void)raise(SIGSYS);
#endif
}

static void
say(int ok, const char *what, const char *got)
{
	printf("%-4s %s: %s\n", ok ? "ok" : "HOLE", what, got);
	if (ok)
		passed++;
	else
		failed++;
}

static void
judge(const char *what, long rc, int got, const int *want)
{
	if (rc >= 0) {
		say(0, what, "it worked");
		return;
	}
	for (; *want != 0; want++)
		if (*want == got) {
			say(1, what, strerrorname_np(got));
			return;
		}
	say(0, what, strerrorname_np(got));
}

static void
dies(const char *what, void (*run)(void), int sig, int other)
{
	int status = 0;
	pid_t pid;

	(void)fflush(stdout);
	if ((pid = fork()) == 0) {
		run();
		_exit(0);
	}
	if (pid < 0 || waitpid(pid, &status, 0) != pid)
		say(0, what, "no child");
	else
		say(WIFSIGNALED(status) && (WTERMSIG(status) == sig ||
		    WTERMSIG(status) == other), what,
		    WIFSIGNALED(status) ? strsignal(WTERMSIG(status)) : "it lived");
}

static int round_of;	/* which DIES row */

static void
one_death(void)
{
	int n = 0;

#define TRY(what, expr, ...)
#define DIES(what, expr, sig, other) if (n++ == round_of) { expr; return; }
#include "perimeter.def"
	(void)n;
}

int
main(void)
{
	(void)setvbuf(stdout, NULL, _IOLBF, 0);
#define TRY(what, expr, ...) {							\
	long rc_;								\
	int got_;								\
	errno = 0; rc_ = (long)(expr); got_ = errno;				\
	judge(what, rc_, got_, (const int []){ __VA_ARGS__, 0 }); }
#define DIES(what, expr, sig, other) dies(what, one_death, sig, other); round_of++;
#include "perimeter.def"
	printf("%d passed, %d failed, 0 skipped\n", passed, failed);
	return failed == 0 ? 0 : 1;
}
