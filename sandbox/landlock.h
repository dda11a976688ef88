/* SPDX-License-Identifier: ISC */
#ifndef SANDBOX_LANDLOCK_H
#define SANDBOX_LANDLOCK_H

#include <stddef.h>

#include "base/auto.h"
#include "base/err.h"

/* landlock_abi(): the newest ABI of this kernel that we know, 0 for none. */
int landlock_abi(void);

/*
 * landlock_confine(abi, writable, n, e): one ruleset of level ${abi}: reading
 * and executing everywhere, writing below the ${n} directories in ${writable}
 * and to devices and /proc files only; with ABI 6 no abstract socket and no
 * signal to the outside.  All that is started from here is in the same domain,
 * so that gdb and strace work among them.  Nothing for ${abi} 0.
 */
int landlock_confine(int abi, const char *const *writable, size_t n,
    struct err *e) MUST_CHECK;

#endif
