/* SPDX-License-Identifier: ISC */
#ifndef BASE_PROGRESS_H
#define BASE_PROGRESS_H

#include <stdint.h>

#include "base/auto.h"

/*
 * One line on a terminal that says how far a long piece of work is:
 *
 *	verify: 120000 of 318000 records, 37 %, 4s left
 *
 * It appears after PROGRESS_AFTER_MS, is drawn again every PROGRESS_EVERY_MS at
 * most, and is gone at the end.  Nothing is ever written where no terminal is,
 * nor from the background.
 *
 * The main that owns standard error makes one and hands it down; whoever does
 * the work calls progress_at(), which does nothing with NULL.
 *
 *	AUTO(progress) struct progress p;
 *	progress_init(&p, STDERR_FILENO, "verify", "records", n);
 *	for (i = 0; i < n; i++, progress_at(&p, i))
 *		...
 *
 * Print nothing else to that terminal in between, unless progress_done() was
 * called before.
 */
enum { PROGRESS_AFTER_MS = 500, PROGRESS_EVERY_MS = 100 };

struct progress {
	int		 fd;		/* -1: not a terminal, or over */
	const char	*what;
	const char	*unit;		/* NULL: bytes */
	int64_t		 total;		/* 0: not known */
	int64_t		 start_us;	/* CLOCK_BOOTTIME */
	int64_t		 next_us;	/* not drawn before */
	int		 drawn;
};

/*
 * progress_init(p, fd, what, unit, total): begin; ${fd} stays the caller's.
 * ${what} and ${unit} are words of the program's own, kept, not copied.
 */
void progress_init(struct progress *p, int fd, const char *what,
    const char *unit, int64_t total);

/* progress_at(p, done): ${done} of the total are done. */
void progress_at(struct progress *p, int64_t done);

/* progress_done(p): wipe the line away; may be called twice. */
void progress_done(struct progress *p);

static inline void
auto_progress(struct progress *p)
{
	progress_done(p);
}

#endif
