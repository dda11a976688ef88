/* SPDX-License-Identifier: ISC */
/*
 * landlock.c - the second opinion on files: what the mounts already refuse is
 * refused here as well, and two things only here: abstract sockets and signals.
 */
#include <errno.h>
#include <fcntl.h>
#include <stdint.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "sandbox/landlock.h"

/* The header of the build machine may be older than the kernel of the run. */
enum {
	EXECUTE = 1 << 0, WRITE_FILE = 1 << 1, READ_FILE = 1 << 2,
	READ_DIR = 1 << 3, MAKE_CHAR = 1 << 6, MAKE_BLOCK = 1 << 11,
	TRUNCATE = 1 << 14, IOCTL_DEV = 1 << 15
};
enum { SCOPE_ABSTRACT = 1 << 0, SCOPE_SIGNAL = 1 << 1 };
enum { RULE_PATH_BENEATH = 1, CREATE_RULESET_VERSION = 1 };

struct ruleset {
	uint64_t	fs;
	uint64_t	net;
	uint64_t	scoped;
};

struct beneath {
	uint64_t	allowed;
	int32_t		parent;
} __attribute__((packed));

static const struct level {
	uint64_t	fs;
	uint64_t	scoped;
	size_t		size;		/* of struct ruleset, as of then */
} levels[] = {
	{ 0, 0, 0 },
	{ 0x1fff, 0, 8 },
	{ 0x3fff, 0, 8 },		/* rename across directories */
	{ 0x7fff, 0, 8 },		/* truncate */
	{ 0x7fff, 0, 16 },		/* TCP: not ours, there is no route */
	{ 0xffff, 0, 16 },		/* ioctl on devices */
	{ 0xffff, SCOPE_ABSTRACT | SCOPE_SIGNAL, 24 },
};

enum { ABI_NEWEST = sizeof(levels) / sizeof(levels[0]) - 1 };

int
landlock_abi(void)
{
	long abi = syscall(SYS_landlock_create_ruleset, NULL, 0,
	    CREATE_RULESET_VERSION);

	if (abi <= 0)
		return 0;
	return abi > ABI_NEWEST ? ABI_NEWEST : (int)abi;
}

static int
allow(int rules, const char *path, uint64_t rights, uint64_t handled,
    struct err *e)
{
	AUTO(fd) int fd = open(path, O_PATH | O_CLOEXEC);
	struct beneath b = { .parent = fd };
	struct stat st;

	if (fd < 0 || fstat(fd, &st) != 0)
		return err_set(e, ERR_SYS, "landlock: %s", path);
	b.allowed = rights & handled;
	if (!S_ISDIR(st.st_mode))
		b.allowed &= EXECUTE | WRITE_FILE | READ_FILE | TRUNCATE |
		    IOCTL_DEV;
	if (syscall(SYS_landlock_add_rule, rules, RULE_PATH_BENEATH, &b,
	    0) != 0)
		return err_set(e, ERR_SYS, "landlock: rule for %s", path);
	return 0;
}

int
landlock_confine(int abi, const char *const *writable, size_t n, struct err *e)
{
	const uint64_t look = EXECUTE | READ_FILE | READ_DIR;
	const uint64_t device = WRITE_FILE | TRUNCATE | IOCTL_DEV;
	const struct level *l = &levels[abi];
	const uint64_t own = l->fs & ~(uint64_t)(MAKE_CHAR | MAKE_BLOCK);
	struct ruleset set = { .fs = l->fs, .scoped = l->scoped };
	AUTO(fd) int rules = -1;

	if (abi == 0)
		return 0;
	rules = (int)syscall(SYS_landlock_create_ruleset, &set, l->size, 0);
	if (rules < 0)
		return err_set(e, ERR_SYS, "landlock");
	if (allow(rules, "/", look, l->fs, e) ||
	    allow(rules, "/dev", look | device, l->fs, e) ||
	    allow(rules, "/proc", look | device, l->fs, e))
		return -1;
	for (size_t i = 0; i < n; i++)
		if (allow(rules, writable[i], own, l->fs, e))
			return -1;
	if (syscall(SYS_landlock_restrict_self, rules, 0) != 0)
		return err_set(e, ERR_SYS, "landlock");
	return 0;
}
