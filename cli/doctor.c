/* SPDX-License-Identifier: ISC */
/*
 * doctor.c - the kernel's abilities, found out by using them.  What changes a
 * process is tried in a child, which says how it went by its exit code: 0, or
 * an errno.
 */
#include <errno.h>
#include <fcntl.h>
#include <linux/seccomp.h>
#include <sched.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mount.h>
#include <sys/prctl.h>
#include <sys/stat.h>
#include <sys/statvfs.h>
#include <sys/syscall.h>
#include <sys/wait.h>

#include "base/fd.h"
#include "base/num.h"
#include "base/proc.h"
#include "cli/doctor.h"

enum { DISK_MIN = 64 << 20 };

static int
failed(struct finding *f, int errnum, const char *what)
{
	(void)snprintf(f->says, sizeof(f->says), "%.120s: %s", what,
	    strerror(errnum));
	return 0;
}

/* ${body} in a child; its errno, or 0. */
static int
in_child(int (*body)(void))
{
	pid_t pid = fork();
	int status;

	if (pid < 0)
		return errno;
	if (pid == 0)
		_exit(body());
	while (waitpid(pid, &status, 0) < 0)
		if (errno != EINTR)
			return errno;
	return WIFEXITED(status) ? WEXITSTATUS(status) : EIO;
}

static int
write_file(const char *path, const char *text)
{
	AUTO(fd) int fd = open(path, O_WRONLY | O_CLOEXEC);
	struct err ignore;

	return fd < 0 || fd_write_all(fd, text, strlen(text), &ignore) ? -1 : 0;
}

/* Become the only user of a user namespace of our own. */
static int
own_user(int more)
{
	char uid[64], gid[64];

	(void)snprintf(uid, sizeof(uid), "0 %d 1", (int)geteuid());
	(void)snprintf(gid, sizeof(gid), "0 %d 1", (int)getegid());
	if (unshare(CLONE_NEWUSER | more) != 0)
		return errno;
	/* An old kernel has no setgroups file. */
	(void)!write_file("/proc/self/setgroups", "deny");
	if (write_file("/proc/self/uid_map", uid) ||
	    write_file("/proc/self/gid_map", gid))
		return errno;
	return 0;
}

static int
child_userns(void)
{
	return own_user(0);
}

static int
child_spaces(void)
{
	return own_user(CLONE_NEWNS | CLONE_NEWPID | CLONE_NEWNET | CLONE_NEWIPC |
	    CLONE_NEWUTS | CLONE_NEWCGROUP);
}

static int
mount_proc(void)
{
	return mount("proc", "/proc", "proc", MS_NOSUID | MS_NODEV | MS_NOEXEC,
	    NULL) == 0 ? 0 : errno;
}

static int
child_proc(void)
{
	int rc = own_user(CLONE_NEWNS | CLONE_NEWPID);

	if (rc != 0)
		return rc;
	if (mount(NULL, "/", NULL, MS_REC | MS_PRIVATE, NULL) != 0)
		return errno;
	/* The first child is the init of the new PID namespace. */
	return in_child(mount_proc);
}

static int
child_overlay(void)
{
	int rc = own_user(CLONE_NEWNS);

	if (rc != 0)
		return rc;
	/* On a file system of our own, so that nothing is left. */
	if (mount(NULL, "/", NULL, MS_REC | MS_PRIVATE, NULL) != 0 ||
	    mount("doctor", "/tmp", "tmpfs", 0, "size=1m") != 0 ||
	    mkdir("/tmp/lower", 0700) != 0 || mkdir("/tmp/upper", 0700) != 0 ||
	    mkdir("/tmp/work", 0700) != 0 || mkdir("/tmp/merged", 0700) != 0 ||
	    mount("doctor", "/tmp/merged", "overlay", 0, "userxattr,"
	    "lowerdir=/tmp/lower,upperdir=/tmp/upper,workdir=/tmp/work") != 0 ||
	    mkdir("/tmp/merged/x", 0700) != 0 ||
	    access("/tmp/upper/x", F_OK) != 0)
		return errno;
	return 0;
}

static int
try_child(struct finding *f, int (*body)(void), const char *good)
{
	int rc = in_child(body);

	if (rc != 0)
		return failed(f, rc, "refused");
	(void)snprintf(f->says, sizeof(f->says), "%s", good);
	return 1;
}

/* The directory itself, or the nearest one above it that is there. */
static void
nearest(const char *path, char *to)
{
	struct stat st;
	char *slash;

	(void)snprintf(to, PATH_BYTES_MAX + 1, "%s", path);
	while (stat(to, &st) != 0 && (slash = strrchr(to, '/')) != NULL &&
	    slash != to)
		*slash = '\0';
}

static int
try_state(const struct home *h, struct finding *f)
{
	char at[PATH_BYTES_MAX + 1];
	struct stat st;

	nearest(h->state, at);
	if (stat(at, &st) != 0 || access(at, W_OK | X_OK) != 0)
		return failed(f, errno, at);
	if (strcmp(at, h->state) == 0 &&
	    (st.st_uid != geteuid() || (st.st_mode & 0077) != 0)) {
		(void)snprintf(f->says, sizeof(f->says), "%.150s: owner %d,"
		    " mode %03o", at, (int)st.st_uid,
		    (unsigned)(st.st_mode & 0777));
		return 0;
	}
	(void)snprintf(f->says, sizeof(f->says), "%.190s", h->state);
	return 1;
}

static int
try_disk(const struct home *h, struct finding *f)
{
	char at[PATH_BYTES_MAX + 1];
	AUTO(buf) struct buf b;
	struct statvfs v;
	uint64_t room;

	nearest(h->state, at);
	if (statvfs(at, &v) != 0)
		return failed(f, errno, at);
	room = (uint64_t)v.f_bavail * v.f_frsize;
	buf_init(&b, 64);
	size_put(&b, room > INT64_MAX ? INT64_MAX : (int64_t)room);
	(void)snprintf(f->says, sizeof(f->says), "%s free%s", buf_cstr(&b),
	    (v.f_flag & ST_RDONLY) != 0 ? ", mounted read-only" : "");
	return room >= DISK_MIN && (v.f_flag & ST_RDONLY) == 0;
}

static int
try_userns(const struct home *h, struct finding *f)
{
	(void)h;
	return try_child(f, child_userns, geteuid() == 0 ? "made one, as root" :
	    "made one, as an ordinary user");
}

static int
try_spaces(const struct home *h, struct finding *f)
{
	(void)h;
	return try_child(f, child_spaces, "mount, PID, network, IPC, UTS, cgroup");
}

static int
try_proc(const struct home *h, struct finding *f)
{
	(void)h;
	return try_child(f, child_proc, "mounted in a PID namespace");
}

static int
try_overlay(const struct home *h, struct finding *f)
{
	(void)h;
	return try_child(f, child_overlay, "mounted, written to");
}

static int
try_seccomp(const struct home *h, struct finding *f)
{
	uint32_t action = SECCOMP_RET_KILL_PROCESS;

	(void)h;
	if (syscall(SYS_seccomp, SECCOMP_GET_ACTION_AVAIL, 0, &action) != 0)
		return failed(f, errno, "filters");
	(void)snprintf(f->says, sizeof(f->says), "filters that kill");
	return 1;
}

static int
try_landlock(const struct home *h, struct finding *f)
{
	/* LANDLOCK_CREATE_RULESET_VERSION */
	long abi = syscall(SYS_landlock_create_ruleset, NULL, 0, 1);

	(void)h;
	if (abi < 0)
		return failed(f, errno, "not there");
	(void)snprintf(f->says, sizeof(f->says), "ABI %ld", abi);
	return 1;
}

static int
try_pty(const struct home *h, struct finding *f)
{
	AUTO(fd) int fd = posix_openpt(O_RDWR | O_NOCTTY | O_CLOEXEC);

	(void)h;
	if (fd < 0 || grantpt(fd) != 0 || unlockpt(fd) != 0)
		return failed(f, errno, "none can be made");
	(void)snprintf(f->says, sizeof(f->says), "made one");
	return 1;
}

static int
try_pidfd(const struct home *h, struct finding *f)
{
	AUTO(proc) struct proc p = PROC_NONE;
	struct err e;

	(void)h;
	if (proc_open(getpid(), &p, &e)) {
		(void)snprintf(f->says, sizeof(f->says), "%.190s", e.msg);
		return 0;
	}
	(void)snprintf(f->says, sizeof(f->says), "there");
	return 1;
}

int
doctor_try(size_t i, const struct home *h, struct finding *f)
{
	static const struct {
		const char	*name, *what, *fix;
		enum doctor_need need;
		int		(*try)(const struct home *h, struct finding *f);
	} checks[] = {
#define CHECK(name, what, need, fix) { #name, what, fix, DOCTOR_##need, try_##name },
#include "cli/doctor.def"
	};

	if (i >= sizeof(checks) / sizeof(checks[0]))
		return 0;
	memset(f, 0, sizeof(*f));
	f->name = checks[i].name;
	f->what = checks[i].what;
	f->fix = checks[i].fix;
	f->need = checks[i].need;
	f->ok = checks[i].try(h, f);
	return 1;
}
