/* SPDX-License-Identifier: ISC */
#ifndef SANDBOX_BINDING_H
#define SANDBOX_BINDING_H

#include "sandbox/launch.h"

/*
 * binding_put(b, l, common, e): everything that was decided about what runs
 * and what it may touch, one line each, for the record of the gate: what was
 * really launched, as a digest where it is long or nobody's business.
 * ${common} as in worktree.h, or NULL.
 */
int binding_put(struct buf *b, const struct launch *l, const char *common,
    struct err *e) MUST_CHECK;

#endif
