/* SPDX-License-Identifier: ISC */
#ifndef SANDBOX_ETC_H
#define SANDBOX_ETC_H

#include "sandbox/launch.h"

/*
 * etc_write(l, e): inside the new root, the files of /etc that say who and
 * where the agent is.  Nothing in them is the host's, but for the git name and
 * address that ${l} gives.
 */
int etc_write(const struct launch *l, struct err *e) MUST_CHECK;

#endif
