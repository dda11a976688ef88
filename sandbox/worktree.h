/* SPDX-License-Identifier: ISC */
#ifndef SANDBOX_WORKTREE_H
#define SANDBOX_WORKTREE_H

#include "base/auto.h"
#include "base/err.h"

/*
 * worktree_common(workspace, common, e): if ${workspace} is a linked git
 * worktree (gitrepository-layout(5)), the repository it belongs to: an absolute
 * path, the caller's to free; else NULL.
 *
 * The files that say so may have been written by an agent, so they are
 * believed only if the repository points back at the workspace: nobody can
 * have another directory shown by planting a .git file.
 */
int worktree_common(const char *workspace, char **common, struct err *e)
    MUST_CHECK;

#endif
