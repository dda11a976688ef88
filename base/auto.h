/* SPDX-License-Identifier: ISC */
#ifndef BASE_AUTO_H
#define BASE_AUTO_H

#include <stdlib.h>
#include <unistd.h>

/*
 * AUTO(kind) makes a local the owner of what it holds: it is released when the
 * scope ends, on every path.  TAKE(p) hands it on and disarms the release.
 *
 *	AUTO(fd) int fd = open(...);
 *	AUTO(mem) char *s = strdup(...);
 *	return TAKE(s);
 *
 * Not run by _exit(2), exec or longjmp.  In a forked child, disarm first.
 */
#define AUTO(kind) __attribute__((cleanup(auto_##kind)))

#define TAKE(p) __extension__({ __typeof__(p) take_ = (p); (p) = NULL; take_; })
#define TAKE_FD(fd) __extension__({ int take_ = (fd); (fd) = -1; take_; })

/* Every public function that can fail carries this. */
#define MUST_CHECK __attribute__((warn_unused_result))

static inline void
auto_fd(const int *fd)
{
	if (*fd >= 0)
		(void)close(*fd);
}

static inline void
auto_mem(void *p)
{
	free(*(void **)p);
}

#endif
