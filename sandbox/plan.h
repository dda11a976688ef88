/* SPDX-License-Identifier: ISC */
#ifndef SANDBOX_PLAN_H
#define SANDBOX_PLAN_H

#include "sandbox/tree.h"

/*
 * The part of the file tree that is the same in every session, as data: what
 * mounts_enter() makes and mounts_check() expects.
 */
struct plan_new {
	const char			*type;
	const char			*to;
	uint64_t			 attr;
	const struct tree_option	*options;
	size_t				 noptions;
};

extern const struct plan_new plan_new[];	/* private file systems */
extern const size_t plan_new_count;

enum { PLAN_COVERED = 4 };
extern const char *const plan_covered[PLAN_COVERED]; /* of /proc, read-only */

#define PLAN_HOME "/home/agent"

#endif
