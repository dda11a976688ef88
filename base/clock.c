/* SPDX-License-Identifier: ISC */
#include <fcntl.h>
#include <stdatomic.h>
#include <time.h>

#include "base/clock.h"
#include "base/fd.h"
#include "base/text.h"

/* What clock_fake() was given; for tests alone. */
static const struct now *_Atomic fake;

static int64_t
read_us(clockid_t id)
{
	struct timespec t = { 0 };

	/* Cannot fail: both clocks are older than anything else we need. */
	(void)clock_gettime(id, &t);
	return (int64_t)t.tv_sec * 1000000 + t.tv_nsec / 1000;
}

struct now
clock_now(void)
{
	const struct now *n = atomic_load_explicit(&fake, memory_order_acquire);

	if (n != NULL)
		return *n;
	return (struct now){
		.real_us = read_us(CLOCK_REALTIME),
		.boot_us = read_us(CLOCK_BOOTTIME),
	};
}

void
clock_fake(const struct now *n)
{
	atomic_store_explicit(&fake, n, memory_order_release);
}

int
clock_boot_id(uint8_t out[16], struct err *e)
{
	static const char path[] = "/proc/sys/kernel/random/boot_id";
	AUTO(buf) struct buf b;
	char hex[32];
	size_t n = 0;

	buf_init(&b, 64);
	if (fd_file(AT_FDCWD, path, &b, e))
		return -1;
	/* 8-4-4-4-12 digits and a newline */
	for (size_t i = 0; i < b.n && n < sizeof(hex); i++)
		if (b.p[i] != '-')
			hex[n++] = (char)b.p[i];
	if (hex_get((struct str){ hex, n }, out, 16, e))
		return err_wrap(e, "%s", path);
	return 0;
}
