/* SPDX-License-Identifier: ISC */
#include <errno.h>
#include <stdarg.h>
#include <stdio.h>
#include <unistd.h>

#include "base/clock.h"
#include "base/log.h"
#include "base/num.h"
#include "base/text.h"

enum { LINE_MAX_BYTES = 2048 };

/* Set once, by main, before anything else runs. */
static const char *program = "glove";
static enum log_level most = LOG_LEVEL_INFO;

void
log_init(const char *name, enum log_level level)
{
	program = name;
	most = level;
}

void
log_event(enum log_level level, const char *event, const char *fmt, ...)
{
	static const char *const levels[] = { "error", "warn", "info", "debug" };
	char when[RFC3339_MAX], text[LINE_MAX_BYTES];
	AUTO(buf) struct buf b;
	int keep = errno, n;
	va_list ap;

	buf_init(&b, 2 * LINE_MAX_BYTES);
	if (level > most)
		return;
	va_start(ap, fmt);
	n = vsnprintf(text, sizeof(text), fmt, ap);
	va_end(ap);
	buf_putf(&b, "time=%s program=%s level=%s event=%s%s",
	    rfc3339_str(clock_now().real_us, when), program, levels[level],
	    event, n > 0 ? " " : "");
	/* One call, one line, whatever was in it. */
	if (n > 0)
		escape_put(&b, str_of(text), LINE_MAX_BYTES);
	buf_put_u8(&b, '\n');
	if (!b.failed)
		while (write(STDERR_FILENO, b.p, b.n) < 0 && errno == EINTR)
			continue;
	errno = keep;
}
