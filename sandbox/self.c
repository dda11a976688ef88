/* SPDX-License-Identifier: ISC */
#include <arpa/inet.h>
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <sched.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mount.h>
#include <sys/prctl.h>
#include <sys/ptrace.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "sandbox/caps.h"
#include "sandbox/self.h"

/* What the tests look at. */
struct self {
	const struct mounts	*m;
	const struct launch	*l;
	int			 abi;
	struct err		*e;	/* says more than the row, or ERR_OK */
};

static int
test_identity(struct self *s)
{
	uid_t r, ef, sv;
	gid_t gr, ge, gs;

	(void)s;
	return getresuid(&r, &ef, &sv) == 0 && getresgid(&gr, &ge, &gs) == 0 &&
	    r == NS_AGENT_ID && ef == r && sv == r &&
	    gr == NS_AGENT_ID && ge == gr && gs == gr;
}

static int
test_no_caps(struct self *s)
{
	(void)s;
	return !caps_any();
}

static int
test_no_new_privs(struct self *s)
{
	(void)s;
	return prctl(PR_GET_NO_NEW_PRIVS, 0, 0, 0, 0) == 1;
}

static int
test_filter(struct self *s)
{
	(void)s;
	return prctl(PR_GET_SECCOMP, 0, 0, 0, 0) == 2;
}

static int
test_no_mount(struct self *s)
{
	(void)s;
	return mount("none", "/tmp", "tmpfs", 0, NULL) != 0 && errno == EPERM &&
	    fsopen("tmpfs", 0) < 0 && errno == EPERM &&
	    umount2("/tmp", MNT_DETACH) != 0 && errno == EPERM;
}

static int
test_no_namespace(struct self *s)
{
	(void)s;
	return unshare(CLONE_NEWUSER) != 0 && errno == EPERM &&
	    syscall(SYS_clone3, NULL, 0) < 0 && errno == ENOSYS;
}

static int
cannot_write(const char *path)
{
	AUTO(fd) int fd = open(path, O_WRONLY | O_CLOEXEC);

	return fd < 0 && (errno == EROFS || errno == EACCES || errno == EPERM);
}

static int
test_kernel_sealed(struct self *s)
{
	(void)s;
	return cannot_write("/proc/sys/kernel/core_pattern") &&
	    cannot_write("/proc/sys/user/max_user_namespaces") &&
	    access("/sys/kernel", F_OK) != 0;
}

static int
test_root_sealed(struct self *s)
{
	AUTO(fd) int fd = open("/.self", O_WRONLY | O_CREAT | O_CLOEXEC, 0600);

	(void)s;
	return fd < 0 && (errno == EROFS || errno == EACCES) &&
	    mkdir("/usr/.self", 0700) != 0 &&
	    (errno == EROFS || errno == EACCES);
}

static int
test_mounts_planned(struct self *s)
{
	return mounts_check(s->m, s->l, s->e) == 0;
}

static int
test_init_hidden(struct self *s)
{
	AUTO(fd) int fd = open("/proc/1/environ", O_RDONLY | O_CLOEXEC);
	AUTO(fd) int mem = open("/proc/1/mem", O_RDWR | O_CLOEXEC);

	(void)s;
	return fd < 0 && mem < 0 && getppid() == 1 &&
	    ptrace(PTRACE_ATTACH, 1, NULL, NULL) < 0 && errno == EPERM &&
	    access("/proc/1/fd/0", F_OK) != 0;
}

static int
test_no_route(struct self *s)
{
	AUTO(fd) int fd = socket(AF_INET, SOCK_DGRAM | SOCK_CLOEXEC, 0);
	struct sockaddr_in a = {
		.sin_family = AF_INET, .sin_port = htons(53)
	};

	(void)s;
	a.sin_addr.s_addr = htonl(0x01010101);
	return fd >= 0 && connect(fd, (const struct sockaddr *)&a,
	    sizeof(a)) != 0 && errno == ENETUNREACH;
}

static int
test_no_vsock(struct self *s)
{
	const long dirty = 1L << 32 | AF_VSOCK;

	(void)s;
	return syscall(SYS_socket, (long)AF_VSOCK, SOCK_STREAM, 0) < 0 &&
	    errno == EAFNOSUPPORT &&
	    syscall(SYS_socket, dirty, SOCK_STREAM, 0) < 0 &&
	    errno == EAFNOSUPPORT;
}

static int
test_alone(struct self *s)
{
	DIR *d = opendir("/proc");
	const struct dirent *x;
	long pid;
	int n = 0;

	(void)s;
	if (d == NULL)
		return 0;
	while ((x = readdir(d)) != NULL)
		if ((pid = strtol(x->d_name, NULL, 10)) > 0)
			n += pid == 1 || pid == getpid() ? 1 : 100;
	(void)closedir(d);
	return n == 2;
}

static int
test_no_keyring(struct self *s)
{
	(void)s;
	return syscall(SYS_keyctl, 0, 0, 0) < 0 && errno == EPERM;
}

/* Without Landlock the answer would be EPERM. */
static int
test_landlock(struct self *s)
{
	return s->abi > 0 && mknod("/tmp/.self", S_IFBLK | 0600, 0) != 0 &&
	    errno == EACCES;
}

static const struct check {
	const char	*name;
	int		 must;
	const char	*doc;
	int		(*holds)(struct self *);
} checks[SELF_END] = {
#define MUST 1
#define MAY 0
#define CHECK(bit, name, need, doc) [bit] = { #name, need, doc, test_##name },
#include "sandbox/self.def"
#undef MUST
#undef MAY
};

int
self_test(const struct mounts *m, const struct launch *l, int abi,
    uint64_t *found, struct err *e)
{
	struct err more = { .code = ERR_OK };
	struct self s = { m, l, abi, &more };
	uint64_t bits = 0;

	for (int i = 0; i < SELF_END; i++) {
		if (checks[i].holds(&s))
			bits |= (uint64_t)1 << i;
		else if (checks[i].must) {
			(void)err_say(e, ERR_SANDBOX, "the sandbox does not "
			    "hold: not true that %s", checks[i].doc);
			return more.code != ERR_OK ?
			    err_why(e, "%s", more.msg) : -1;
		}
	}
	*found = bits;
	return 0;
}

void
self_put(struct buf *b, uint64_t found, int abi)
{
	buf_putf(b, "landlock-abi %d\n", abi);
	for (int i = 0; i < SELF_END; i++)
		buf_putf(b, "%s%s\n", found >> i & 1 ? "" : "! ",
		    checks[i].name);
}
