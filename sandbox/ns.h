/* SPDX-License-Identifier: ISC */
#ifndef SANDBOX_NS_H
#define SANDBOX_NS_H

#include <stdint.h>
#include <sys/types.h>

#include "base/auto.h"
#include "base/err.h"

/*
 * Who the agent is.  Inside it is always user and group 1000.  Outside it is
 * the caller, unless that is root: the agent is never kuid 0, which could open
 * files of the kernel that only ask for that number.
 */
enum { NS_AGENT_ID = 1000 };

struct ns_ids {
	uid_t	uid;	/* outside */
	gid_t	gid;
	int	foreign; /* 1: not the caller's own; files need mapped mounts */
};

struct ns_ids ns_ids(void);

/*
 * ns_clone(pid, pidfd, e): fork into new user, mount, PID, network, IPC, UTS
 * and cgroup namespaces.  In the child *${pid} is 0 and nothing is mapped yet.
 */
int ns_clone(pid_t *pid, int *pidfd, struct err *e) MUST_CHECK;

/* ns_map(pid, ids, e): the parent gives the child its identity.  The child
 * must still be dumpable and must wait for it. */
int ns_map(pid_t pid, const struct ns_ids *ids, struct err *e) MUST_CHECK;

/* ns_become(ids, e): the child takes on its identity. */
int ns_become(const struct ns_ids *ids, struct err *e) MUST_CHECK;

/* ns_forbid(e): no further namespace for anyone in ours.  Needs /proc. */
int ns_forbid(struct err *e) MUST_CHECK;

/*
 * ns_idmap(disk_uid, disk_gid, ids, fd, e): a user namespace in which what
 * ${disk_uid} owns belongs to ${ids}, for mount_setattr(2).  Root only.
 */
int ns_idmap(uid_t disk_uid, gid_t disk_gid, const struct ns_ids *ids, int *fd,
    struct err *e) MUST_CHECK;

/* ns_inode(name, ino, e): of /proc/self/ns/${name}: the namespace's number. */
int ns_inode(const char *name, uint64_t *ino, struct err *e) MUST_CHECK;

#endif
