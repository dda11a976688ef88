/* SPDX-License-Identifier: ISC */
#include <errno.h>
#include <fcntl.h>
#include <linux/openat2.h>

#include "base/fd.h"

#include "journal/lines.h"

enum { LINES_READ = 32 << 10 };

int
lines_open(struct lines *l, int dirfd, const char *name, size_t max,
    struct err *e)
{
	int fd;

	if (fd_openat2(dirfd, name, O_RDONLY | O_NONBLOCK | O_NOCTTY, 0,
	    RESOLVE_NO_SYMLINKS, &fd, e))
		return e->sys == ENOENT ?
		    err_say(e, ERR_NOTFOUND, "%s is missing", name) : -1;
	*l = (struct lines){ .name = name, .fd = fd };
	sha256_init(&l->sum);
	buf_init(&l->b, max + LINES_READ);
	return 0;
}

void
lines_done(struct lines *l)
{
	if (l->name == NULL)
		return;
	auto_fd(&l->fd);
	buf_done(&l->b);
	l->name = NULL;
}

/* More bytes behind what is there; *${got} 0 at the end of the file. */
static int
more(struct lines *l, size_t *got, struct err *e)
{
	uint8_t *room;
	ssize_t n;

	buf_drop(&l->b, l->at);
	l->at = 0;
	if ((room = buf_room(&l->b, LINES_READ)) == NULL)
		return err_say(e, ERR_TOOBIG, "a line of %s is too long", l->name);
	n = read(l->fd, room, LINES_READ);
	l->b.n -= LINES_READ - (size_t)(n < 0 ? 0 : n);
	if (n < 0)
		return err_set(e, ERR_SYS, "read %s", l->name);
	sha256_update(&l->sum, room, (size_t)n);
	*got = (size_t)n;
	return 0;
}

int
lines_next(struct lines *l, struct str *line, struct err *e)
{
	size_t seen = 0, got;

	for (;;) {
		size_t n = l->b.n - l->at;
		const uint8_t *from = n == 0 ? NULL : l->b.p + l->at, *lf = NULL;

		if (n != seen)
			lf = memchr(from + seen, '\n', n - seen);
		if (lf != NULL) {
			*line = (struct str){ (const char *)from,
			    (size_t)(lf - from) };
			l->at += line->n + 1;
			return 1;
		}
		seen = n;
		if (more(l, &got, e))
			return -1;
		if (got != 0)
			continue;
		l->whole = 1;
		return n == 0 ? 0 :
		    err_say(e, ERR_FORMAT, "%s ends within a line", l->name);
	}
}
