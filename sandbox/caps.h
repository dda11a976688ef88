/* SPDX-License-Identifier: ISC */
#ifndef SANDBOX_CAPS_H
#define SANDBOX_CAPS_H

#include <stdint.h>

#include "base/auto.h"
#include "base/err.h"

/*
 * caps_drop(e): no capability in any of the five sets, and none to be had from
 * a file.  After it nothing can be mounted, so the mounts come first.
 */
int caps_drop(struct err *e) MUST_CHECK;

/* caps_any(): 1 if this process has any capability left in any set, or if
 * that cannot be told. */
int caps_any(void);

#endif
