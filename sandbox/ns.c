/* SPDX-License-Identifier: ISC */
#include <errno.h>
#include <fcntl.h>
#include <grp.h>
#include <linux/sched.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include "sandbox/ns.h"

/* The first number that systemd's table of ranges leaves to nobody. */
enum { AGENT_KUID = 1879048192 };

struct ns_ids
ns_ids(void)
{
	struct ns_ids own = { .uid = geteuid(), .gid = getegid() };

	if (own.uid == 0)
		return (struct ns_ids){ AGENT_KUID, AGENT_KUID, 1 };
	return own;
}

int
ns_clone(pid_t *pid, int *pidfd, struct err *e)
{
	int fd = -1;
	struct clone_args a = {
		.flags = CLONE_NEWUSER | CLONE_NEWNS | CLONE_NEWPID |
		    CLONE_NEWNET | CLONE_NEWIPC | CLONE_NEWUTS |
		    CLONE_NEWCGROUP | CLONE_PIDFD,
		.pidfd = (uint64_t)(uintptr_t)&fd,
		.exit_signal = SIGCHLD
	};
	long r = syscall(SYS_clone3, &a, sizeof(a));

	if (r < 0) {
		int sys = errno;

		err_say_at(e, ERR_SANDBOX, __FILE__, __LINE__,
		    "this kernel does not let you make namespaces: %s",
		    strerror(sys));
		if (sys == ENOSYS)
			return err_fix(e, "in a container: let it use clone3 "
			    "and user namespaces");
		if (sys == EPERM || sys == ENOSPC || sys == EUSERS)
			return err_fix(e, "as root: sysctl -w "
			    "kernel.unprivileged_userns_clone=1 "
			    "user.max_user_namespaces=10000");
		return -1;
	}
	*pid = (pid_t)r;
	*pidfd = fd;
	return 0;
}

static int
put(pid_t pid, const char *name, const char *text, struct err *e)
{
	char path[64];
	ssize_t n;

	(void)snprintf(path, sizeof(path), "/proc/%d/%s", (int)pid, name);
	AUTO(fd) int fd = open(path, O_WRONLY | O_CLOEXEC);
	if (fd < 0)
		return err_set(e, ERR_SYS, "%s", path);
	/* One write or nothing: the kernel takes a map only as a whole. */
	n = write(fd, text, strlen(text));
	if (n < 0 || (size_t)n != strlen(text))
		return err_set(e, ERR_SYS, "%s", path);
	return 0;
}

static int
put_map(pid_t pid, const char *name, unsigned inside, unsigned outside,
    struct err *e)
{
	char line[64];

	(void)snprintf(line, sizeof(line), "%u %u 1\n", inside, outside);
	return put(pid, name, line, e);
}

int
ns_map(pid_t pid, const struct ns_ids *ids, struct err *e)
{
	/* An ordinary user may map a group only if groups cannot be dropped;
	 * root leaves it open, so that the child drops root's. */
	if (!ids->foreign && put(pid, "setgroups", "deny", e))
		return -1;
	if (put_map(pid, "uid_map", NS_AGENT_ID, ids->uid, e) ||
	    put_map(pid, "gid_map", NS_AGENT_ID, ids->gid, e))
		return -1;
	return 0;
}

int
ns_become(const struct ns_ids *ids, struct err *e)
{
	if (ids->foreign && setgroups(0, NULL) != 0)
		return err_set(e, ERR_SYS, "setgroups");
	if (setresgid(NS_AGENT_ID, NS_AGENT_ID, NS_AGENT_ID) != 0 ||
	    setresuid(NS_AGENT_ID, NS_AGENT_ID, NS_AGENT_ID) != 0)
		return err_set(e, ERR_SYS, "setresuid");
	return 0;
}

int
ns_forbid(struct err *e)
{
	static const char *const kinds[] = {
		"user", "pid", "net", "ipc", "uts", "mnt", "cgroup", "time"
	};
	char path[64];

	for (size_t i = 0; i < sizeof(kinds) / sizeof(kinds[0]); i++) {
		(void)snprintf(path, sizeof(path),
		    "/proc/sys/user/max_%s_namespaces", kinds[i]);
		AUTO(fd) int fd = open(path, O_WRONLY | O_CLOEXEC);
		if (fd < 0 && errno == ENOENT)
			continue;	/* a kernel without that kind */
		if (fd < 0 || write(fd, "0", 1) != 1)
			return err_set(e, ERR_SYS, "%s", path);
	}
	return 0;
}

int
ns_idmap(uid_t disk_uid, gid_t disk_gid, const struct ns_ids *ids, int *fd,
    struct err *e)
{
	struct clone_args a = {
		.flags = CLONE_NEWUSER, .exit_signal = SIGCHLD
	};
	pid_t pid = (pid_t)syscall(SYS_clone3, &a, sizeof(a));
	char path[64];
	int r, ns = -1;

	if (pid < 0)
		return err_set(e, ERR_SYS, "user namespace for a mapped mount");
	if (pid == 0) {
		/* Only its namespace is wanted; it goes when we do. */
		(void)prctl(PR_SET_PDEATHSIG, SIGKILL);
		for (;;)
			(void)pause();
	}
	r = put_map(pid, "uid_map", disk_uid, ids->uid, e) ||
	    put_map(pid, "gid_map", disk_gid, ids->gid, e);
	if (!r) {
		(void)snprintf(path, sizeof(path), "/proc/%d/ns/user",
		    (int)pid);
		if ((ns = open(path, O_RDONLY | O_CLOEXEC)) < 0)
			r = err_set(e, ERR_SYS, "%s", path);
	}
	(void)kill(pid, SIGKILL);
	(void)waitpid(pid, NULL, 0);
	if (r)
		return -1;
	*fd = ns;
	return 0;
}

int
ns_inode(const char *name, uint64_t *ino, struct err *e)
{
	char path[64];
	struct stat st;

	(void)snprintf(path, sizeof(path), "/proc/self/ns/%s", name);
	if (stat(path, &st) != 0)
		return err_set(e, ERR_SYS, "%s", path);
	*ino = st.st_ino;
	return 0;
}
