/* SPDX-License-Identifier: ISC */
#ifndef SANDBOX_MOUNTS_H
#define SANDBOX_MOUNTS_H

#include "sandbox/launch.h"
#include "sandbox/ns.h"

/*
 * The file tree of the agent, in two steps, because a tree of the machine can
 * only be taken where it is mounted and only be put where nothing else of the
 * machine is left:
 *
 *	mounts_open()	takes a private copy of every tree that is shown.
 *			An ordinary user's child does it in its own namespace;
 *			for root the parent does, before it clones, since only
 *			there may trees be shown under another owner.
 *	mounts_enter()	makes an empty root, goes there, lets go of the old one
 *			and puts everything in its place.
 *
 * Nothing is made on the machine's own file systems, not even a mount point.
 */
enum { MOUNTS_MAX = 64 + LAUNCH_RO_MAX };

enum mount_kind {
	MOUNT_SHOWN,		/* of the system, read-only */
	MOUNT_LAYER,		/* of a user, read-only: as overlay.h says */
	MOUNT_DEVICE,
	MOUNT_LINK,		/* a symbolic link: only its text */
	MOUNT_FILE		/* a small file: only its bytes */
};

struct mount {
	enum mount_kind	 kind;
	int		 fd;		/* the tree, or the file */
	const char	*to;		/* absolute path inside */
	char		*text;		/* of a link */
};

/* What can be written, or would be if it were not read-only: an overlay. */
struct layers {
	const char	*to;		/* NULL: not used */
	int		 lower;		/* the host's tree */
	int		 state;		/* has upper and work; -1: read-only */
};

/* In the session's directory: what git wrote to that repository. */
#define MOUNTS_COMMON "git"

enum { LAYERS_MAX = 2 };	/* the workspace, and its repository elsewhere */

struct mounts {
	size_t		 n;
	struct mount	 m[MOUNTS_MAX];
	struct layers	 layers[LAYERS_MAX];
	char		*common;	/* see worktree.h */
};

void mounts_init(struct mounts *m);
void mounts_done(struct mounts *m);

static inline void
auto_mounts(struct mounts *m)
{
	mounts_done(m);
}

/*
 * mounts_open(m, l, ids, e): SANDBOX, naming the path, if one that ${l} asks
 * for cannot be shown; STALE if the workspace is no longer the directory that
 * consent was given for.
 */
int mounts_open(struct mounts *m, const struct launch *l,
    const struct ns_ids *ids, struct err *e) MUST_CHECK;

/* mounts_enter(m, l, e): after it, nothing of the machine is reachable but
 * what was opened, and the working directory is "/". */
int mounts_enter(struct mounts *m, const struct launch *l, struct err *e)
    MUST_CHECK;

/*
 * mounts_check(m, l, e): read back what the kernel says is mounted: nothing
 * that is not in the plan, and everything read-only that should be.
 */
int mounts_check(const struct mounts *m, const struct launch *l, struct err *e)
    MUST_CHECK;

#endif
