/* SPDX-License-Identifier: ISC */
#include <sys/mount.h>

#include "sandbox/plan.h"

#define COUNT(a)	(sizeof(a) / sizeof((a)[0]))
#define PRIVATE		(MOUNT_ATTR_NOSUID | MOUNT_ATTR_NODEV)

/* Memory that a session may fill with files; taken only as it is written. */
static const struct tree_option pts[] = {
	{ "ptmxmode", "0666" }, { "mode", "0620" }
};
static const struct tree_option shm[] = {
	{ "size", "1g" }, { "nr_inodes", "64k" }, { "mode", "1777" }
};
static const struct tree_option tmp[] = {
	{ "size", "4g" }, { "nr_inodes", "1m" }, { "mode", "1777" }
};
static const struct tree_option home[] = {
	{ "size", "2g" }, { "nr_inodes", "1m" }, { "mode", "0755" }
};

const struct plan_new plan_new[] = {
	{ "devpts", "/dev/pts", MOUNT_ATTR_NOSUID | MOUNT_ATTR_NOEXEC, pts,
	    COUNT(pts) },
	{ "tmpfs", "/dev/shm", PRIVATE, shm, COUNT(shm) },
	{ "tmpfs", "/tmp", PRIVATE, tmp, COUNT(tmp) },
	{ "tmpfs", PLAN_HOME, PRIVATE, home, COUNT(home) },
};
const size_t plan_new_count = COUNT(plan_new);

/* /proc/kcore, kmsg and the like ask for a capability; these do not. */
const char *const plan_covered[PLAN_COVERED] = {
	"/proc/sys", "/proc/sysrq-trigger", "/proc/irq", "/proc/bus"
};
