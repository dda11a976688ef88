/* SPDX-License-Identifier: ISC */
#ifndef SANDBOX_CHANGES_WORK_H
#define SANDBOX_CHANGES_WORK_H

#include "sandbox/changes_impl.h"

/*
 * Apply and undo are one engine.  It brings the host directory from one side
 * of each change to the other: apply from before to after, with the content
 * from the upper layer; undo from after to before, with the content from the
 * undo directory.
 *
 *	changes_check.c	what is there, and is it what it should be
 *	changes_stage.c	new content and undo copies, away from where they go
 *	changes_place.c	one entry into its place
 *	changes_apply.c	the order of it all
 *
 * The undo directory holds "plan": a nonce of 16 bytes, the manifest's digest,
 * and a byte an entry (1: it was to be done, so it is ours to undo); and the
 * file that an entry replaced, under the entry's number.  The staging directory is at the top of the host
 * directory, 0700, ".glove-" and the nonce in hex; it holds what is on its
 * way under the same numbers, and never outlives a call that returns.
 */

enum { NONCE_BYTES = 16, WORK_NAME_MAX = 64 };

struct ident {
	dev_t	dev;
	ino_t	ino;
	int64_t	size, mtime_ns;		/* of a directory: 0 */
};

enum entry_state {
	ENTRY_OUT,		/* not chosen, or never applied */
	ENTRY_DONE,		/* the host already is as it is to be */
	ENTRY_TODO,
	ENTRY_MODE_ONLY		/* a directory is there; its mode is not */
};

struct entry {
	uint8_t		state;		/* enum entry_state */
	uint8_t		gone;		/* between: removed, not yet replaced */
	mode_t		mode;		/* of what is there */
	struct ident	seen;		/* of what is there */
};

struct work {
	const struct changes_apply *a;
	struct changes_result *r;
	int		 undo;		/* 1: from after to before */
	struct entry	*entry;		/* one for each of a->m */
	uint8_t		*plan;		/* the same, as in the undo directory */
	int		 begun;		/* there was a plan */
	size_t		 todo;
	int		 touched;	/* the host directory, by us */
	char		 staging[WORK_NAME_MAX];
	int		 staging_fd;
	dev_t		 top_dev;
	uint8_t		 nonce[NONCE_BYTES];
	int		 parent_fd;	/* of parent; a cache of one */
	struct str	 parent;
	int		 parent_errno;	/* why there is none */
	struct look	 look;
};

static inline const struct change *
work_change(const struct work *w, size_t i)
{
	return &w->a->m->v[i];
}

static inline const struct change_side *
work_from(const struct work *w, size_t i)
{
	return w->undo ? &work_change(w, i)->after : &work_change(w, i)->before;
}

static inline const struct change_side *
work_to(const struct work *w, size_t i)
{
	return w->undo ? &work_change(w, i)->before : &work_change(w, i)->after;
}

static inline int
work_is_dir(const struct change_side *s)
{
	return s->type == CHANGE_TYPE_DIR;
}

/* work_name(i, out): the number of an entry as a file name. */
char *work_name(size_t i, char out[WORK_NAME_MAX]);

/* work_parent(w, path): the directory that holds ${path}, O_PATH, borrowed
 * until the next call; -1 if there is none, and w->parent_errno says why. */
int work_parent(struct work *w, struct str path);
void work_forget_parent(struct work *w);

/* work_conflict(w, i, why, e): one more; fails only without memory. */
int work_conflict(struct work *w, size_t i, const char *why, struct err *e)
    MUST_CHECK;

/* work_same(w, i, st): is it still what was looked at? */
int work_same(const struct work *w, size_t i, const struct stat *st);

/*
 * work_check(w, e): choose the entries and look at the host; fills in w->entry
 * and the conflicts.  Writes nothing.
 */
int work_check(struct work *w, struct err *e) MUST_CHECK;

/* work_ask(w, i, e): the caller's step(); REVOKED if it says stop. */
int work_ask(struct work *w, size_t i, struct err *e) MUST_CHECK;

/* work_sync(w, e): what was placed, to the disk. */
int work_sync(struct work *w, struct err *e) MUST_CHECK;

/* plan_load, plan_save: the plan in the undo directory; none is no failure. */
int plan_load(struct work *w, struct err *e) MUST_CHECK;
int plan_save(struct work *w, struct err *e) MUST_CHECK;

/* stage_all(w, e): everything that is to be placed, and what it replaces. */
int stage_all(struct work *w, struct err *e) MUST_CHECK;

/* place_* (w, i, e): entry ${i} into its place; each is whole or not there. */
int place_dir(struct work *w, size_t i, struct err *e) MUST_CHECK;
int place_content(struct work *w, size_t i, struct err *e) MUST_CHECK;
int place_nothing(struct work *w, size_t i, struct err *e) MUST_CHECK;
/* place_mode(w, i, mode, e): the mode of what is there. */
int place_mode(struct work *w, size_t i, mode_t mode, struct err *e) MUST_CHECK;

/* changes_work(a, undo, r, e): all of it; the ticket has been looked at. */
int changes_work(const struct changes_apply *a, int undo,
    struct changes_result *r, struct err *e) MUST_CHECK;

#endif
