/* SPDX-License-Identifier: ISC */
#ifndef SANDBOX_TREE_H
#define SANDBOX_TREE_H

#include <stdint.h>

#include "base/auto.h"
#include "base/err.h"

/* The mount system calls that the sandbox is built from. */

struct tree_option {
	const char	*key;
	const char	*value;		/* NULL: a flag */
};

/* tree_open(path, set, idmap, fd, e): a detached copy of what is at ${path}
 * and mounted below it, with MOUNT_ATTR_* ${set}; ${idmap} -1 or a user
 * namespace (ns_idmap).  Links are not followed. */
int tree_open(const char *path, uint64_t set, int idmap, int *fd,
    struct err *e) MUST_CHECK;

/* tree_new(type, set, options, n, fd, e): a new file system, mounted nowhere. */
int tree_new(const char *type, uint64_t set, const struct tree_option *options,
    size_t n, int *fd, struct err *e) MUST_CHECK;

/* tree_put(fd, to, e): mount it there.  ${fd} stays the caller's. */
int tree_put(int fd, const char *to, struct err *e) MUST_CHECK;

/* tree_set(path, set, e): add MOUNT_ATTR_* to what is mounted at ${path}. */
int tree_set(const char *path, uint64_t set, struct err *e) MUST_CHECK;

#endif
