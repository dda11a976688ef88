/* SPDX-License-Identifier: ISC */
#ifndef SANDBOX_CHANGES_IMPL_H
#define SANDBOX_CHANGES_IMPL_H

#include <sys/stat.h>

#include <linux/openat2.h>

#include "base/limits.h"
#include "sandbox/changes.h"

/* What the files of changes_*.c share among themselves. */

/* Every path is resolved like this: below, without links, on one mount. */
#define CHANGES_RESOLVE \
	(RESOLVE_BENEATH | RESOLVE_NO_SYMLINKS | RESOLVE_NO_XDEV)

/* manifest_new(e): empty; NULL without memory. */
struct manifest *manifest_new(struct err *e);
/* manifest_str(m, s, out, e): a copy of ${s} that lives as long as ${m}. */
int manifest_str(struct manifest *m, struct str s, struct str *out,
    struct err *e) MUST_CHECK;
/* manifest_add(m, c, e): a copy of ${c} and its strings at the end. */
int manifest_add(struct manifest *m, const struct change *c, struct err *e)
    MUST_CHECK;
void manifest_sort(struct manifest *m);
/* manifest_find(m, path): by binary search; NULL if it is not there. */
struct change *manifest_find(const struct manifest *m, struct str path);

/* path_cmp(a, b): the order of a manifest. */
int path_cmp(struct str a, struct str b);
/* path_below(path, top): 1 if ${path} is ${top} or below it. */
int path_below(struct str path, struct str top);
/* path_valid(path): relative, no empty, "." or ".." component, no NUL. */
int path_valid(struct str path);
/* path_parent(path): "" for a top-level name. */
struct str path_parent(struct str path);
/* path_name(path): the last component; has the NUL of ${path} behind it. */
const char *path_name(struct str path);

/* change_kind_of(before, after): an enum change_kind; 0 if both are absent. */
int change_kind_of(const struct change_side *before,
    const struct change_side *after);
int change_side_eq(const struct change_side *a, const struct change_side *b);
int change_clashes(const struct change *c);	/* a note says CLASHES */
/* change_runs_later(path, type): by runs_later.def. */
int change_runs_later(struct str path, int type);

enum {				/* what look_at() is to find out besides */
	LOOK_DIGEST	= 1,	/* of a file's content */
	LOOK_XATTR	= 2	/* and the marks of the overlay */
};

/* One name, looked at once, through one descriptor. */
struct look {
	struct change_side side;	/* target: in target_buf */
	struct stat	st;		/* of what is there; else zeros */
	uint32_t	notes;		/* UNREADABLE, PLANTED, SETID, HUGE */
	uint8_t		whiteout;	/* marks of the overlay */
	uint8_t		opaque;
	uint8_t		xattr[SHA256_BYTES];	/* over all others; 0: none */
	char		target_buf[PATH_BYTES_MAX + 1];
	/* In: how many bytes may be read, which it counts down; over that the
	 * note is HUGE and there is no digest.  NULL: as many as there are. */
	int64_t		*room;
};

/*
 * look_at(dirfd, name, want, l, e): what is at ${name}; nothing there is
 * type ABSENT and success.  Never opens anything but a regular file.
 */
int look_at(int dirfd, const char *name, unsigned want, struct look *l,
    struct err *e) MUST_CHECK;

/* look_open(dirfd, name, st, fd, e): a regular file for reading; anything
 * else that is there now is STALE. */
int look_open(int dirfd, const char *name, struct stat *st, int *fd,
    struct err *e) MUST_CHECK;

/* changes_dir(root, path, flags, fd, e): open the directory ${path} ("" is
 * ${root} itself) below ${root}. */
int changes_dir(int root, struct str path, int flags, int *fd, struct err *e)
    MUST_CHECK;

#endif
