/* SPDX-License-Identifier: ISC */
#ifndef TESTS_LIB_STAGED_H
#define TESTS_LIB_STAGED_H

#include "base/buf.h"
#include "sandbox/changes.h"

/*
 * A workspace as a staged session has it: a host directory, the layers of a
 * real overlay over it, and a place for undo copies; all below one temporary
 * directory.  Failures fail the running test.
 */
struct staged {
	char	dir[64];
	int	top, lower, upper, undo;
};

void staged_open(struct staged *s);		/* in /tmp */
void staged_open_at(struct staged *s, const char *base);
void staged_close(struct staged *s);	/* removes it all */

/* staged_host(s, script): run it by sh(1) in the host directory. */
void staged_host(const struct staged *s, const char *script);

/*
 * staged_session(s, script): mount the overlay, as root or in a user namespace
 * of its own, and run ${script} in it.  -1: this machine allows neither, and
 * the test is to be skipped; anything else that fails, fails it.  $STAGED is
 * the directory that holds the layers, for what is to be kept.
 */
int staged_session(const struct staged *s, const char *script);

/* staged_enter(): this process, a child, gets a mount namespace of its own, and
 * a user namespace if it needs one; -1 where that is not allowed. */
int staged_enter(void);

/* staged_scan(s, since): the manifest of what was done. */
struct manifest *staged_scan(const struct staged *s, int64_t since_ns);

/*
 * staged_list(m): one line an entry, "create file 0644 path", links with
 * " -> target", notes by name behind "!", "later" where it runs later.  In
 * a static buffer.
 */
const char *staged_list(const struct manifest *m);

/*
 * staged_tree(dirfd, name, b): types, modes, targets and digests of all that is
 * below, a line each, sorted; two trees are equal when these texts are.
 */
void staged_tree(int dirfd, const char *name, struct buf *b);

#endif
