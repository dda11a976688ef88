/* SPDX-License-Identifier: ISC */
#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <unistd.h>

#include "base/buf.h"
#include "base/clock.h"
#include "base/num.h"
#include "base/progress.h"

enum { SECOND_US = 1000000 };

void
progress_init(struct progress *p, int fd, const char *what, const char *unit,
    int64_t total)
{
	const char *term = getenv("TERM");
	int64_t now = clock_now().boot_us;

	*p = (struct progress){
		.fd = -1,
		.what = what,
		.unit = unit,
		.total = total,
		.start_us = now,
		.next_us = now + PROGRESS_AFTER_MS * 1000,
	};
	/* A dumb terminal cannot wipe a line away. */
	if (isatty(fd) && term != NULL && strcmp(term, "dumb") != 0)
		p->fd = fd;
}

static void
amount_put(struct buf *b, const struct progress *p, int64_t n)
{
	if (p->unit == NULL)
		size_put(b, n);
	else
		buf_putf(b, "%" PRId64, n);
}

static void
line_put(struct buf *b, const struct progress *p, int64_t done, int64_t now)
{
	int64_t spent = now - p->start_us;
	double share = p->total > 0 ? (double)done / (double)p->total : 0;

	buf_putf(b, "%s: ", p->what);
	amount_put(b, p, done);
	if (p->total > 0) {
		buf_put_str(b, " of ");
		amount_put(b, p, p->total);
	}
	if (p->unit != NULL)
		buf_putf(b, " %s", p->unit);
	if (p->total <= 0 || done < 0 || done > p->total)
		return;
	buf_putf(b, ", %d %%", (int)(share * 100));
	/* Too early, a guess jumps about. */
	if (spent >= 2 * SECOND_US && share > 0.01) {
		double left = (double)spent / share - (double)spent;

		buf_put_str(b, ", ");
		duration_put(b, (int64_t)(left / SECOND_US + 1) * SECOND_US);
		buf_put_str(b, " left");
	}
}

/* All of it or none: the person has other troubles if this fails. */
static void
show(int fd, const struct buf *b)
{
	if (!b->failed)
		while (write(fd, b->p, b->n) < 0 && errno == EINTR)
			continue;
}

void
progress_at(struct progress *p, int64_t done)
{
	int keep = errno;
	AUTO(buf) struct buf b;
	struct winsize w = { 0 };
	int64_t now;
	pid_t front;

	buf_init(&b, 512);
	if (p == NULL || p->fd < 0)
		return;
	now = clock_now().boot_us;
	if (now < p->next_us)
		return;
	p->next_us = now + PROGRESS_EVERY_MS * 1000;
	front = tcgetpgrp(p->fd);
	if (front <= 0 || front == getpgrp()) {
		buf_put_u8(&b, '\r');
		line_put(&b, p, done, now);
		/* A line that wraps could not be wiped away. */
		if (ioctl(p->fd, TIOCGWINSZ, &w) == 0 && w.ws_col > 0 &&
		    b.n > w.ws_col)
			b.n = w.ws_col;
		buf_put_str(&b, "\033[K");
		show(p->fd, &b);
		p->drawn = 1;
	}
	errno = keep;
}

void
progress_done(struct progress *p)
{
	AUTO(buf) struct buf b;

	buf_init(&b, 16);
	buf_put_str(&b, "\r\033[K");
	if (p->fd >= 0 && p->drawn)
		show(p->fd, &b);
	p->fd = -1;
}
