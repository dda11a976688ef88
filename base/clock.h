/* SPDX-License-Identifier: ISC */
#ifndef BASE_CLOCK_H
#define BASE_CLOCK_H

#include <stdint.h>

#include "base/err.h"
#include "base/auto.h"

/*
 * The two clocks, read together, and the boot they belong to.  base/clock.c is
 * the only caller of clock_gettime(2) outside benches; a test may set it.
 */
struct now {
	int64_t	real_us;	/* CLOCK_REALTIME, Unix time, microseconds */
	int64_t	boot_us;	/* CLOCK_BOOTTIME, microseconds */
};

struct now clock_now(void);

/* clock_boot_id(out): this boot, from /proc/sys/kernel/random/boot_id. */
int clock_boot_id(uint8_t out[16], struct err *e) MUST_CHECK;

/* clock_fake(n): from now on clock_now() answers *${n}; NULL: the real ones. */
void clock_fake(const struct now *n);

#endif
