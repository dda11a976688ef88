/* SPDX-License-Identifier: ISC */
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include "base/text.h"

#include "sandbox/changes_text.h"

enum {
	FLUSH_BYTES	= 32 << 10,
	SINK_BYTES_MAX	= 64 << 20	/* one line, escaped, has to fit */
};

void
sink_init(struct sink *s, const struct changes_diff_options *o, struct err *e)
{
	*s = (struct sink){ .o = o, .e = e };
	buf_init(&s->b, SINK_BYTES_MAX);
}

static void
flush(struct sink *s, size_t least)
{
	if (s->failed || s->b.n < least)
		return;
	if (buf_ok(&s->b, "a line of the diff", s->e) ||
	    (s->b.n != 0 && s->o->put(s->o->cookie, buf_bytes(&s->b), s->e)))
		s->failed = 1;
	buf_reset(&s->b);
}

int
sink_done(struct sink *s)
{
	if (s->o->put != NULL)
		flush(s, 0);
	buf_done(&s->b);
	return s->failed ? -1 : 0;
}

void
sink_put(struct sink *s, struct str text)
{
	if (s->o->put == NULL || s->failed)
		return;
	buf_put(&s->b, text.p, text.n);
	flush(s, FLUSH_BYTES);
}

void
sink_puts(struct sink *s, const char *text)
{
	sink_put(s, str_of(text));
}

void
sink_putf(struct sink *s, const char *fmt, ...)
{
	char text[256];
	va_list ap;

	va_start(ap, fmt);
	(void)vsnprintf(text, sizeof(text), fmt, ap);
	va_end(ap);
	sink_puts(s, text);
}

/* As git with core.quotePath off, but nothing that would upset a terminal. */
static int
must_quote(struct str path)
{
	AUTO(buf) struct buf b;

	buf_init(&b, (size_t)8 * PATH_BYTES_MAX);
	for (size_t i = 0; i < path.n; i++) {
		uint8_t c = (uint8_t)path.p[i];

		if (c < 0x20 || c == 0x7f || c == '"' || c == '\\')
			return 1;
	}
	escape_put(&b, path, b.max);
	return b.failed != 0 || !bytes_eq(buf_bytes(&b), bytes_of_str(path));
}

void
name_quote(struct buf *b, const char *prefix, struct str path)
{
	static const char from[] = "\a\b\t\n\v\f\r\"\\", to[] = "abtnvfr\"\\";
	const char *at;

	if (!must_quote(path)) {
		buf_put_str(b, prefix);
		buf_put(b, path.p, path.n);
		return;
	}
	buf_putf(b, "\"%s", prefix);
	for (size_t i = 0; i < path.n; i++) {
		uint8_t c = (uint8_t)path.p[i];

		if ((at = strchr(from, path.p[i])) != NULL)
			buf_putf(b, "\\%c", to[at - from]);
		else if (c < 0x20 || c >= 0x7f)
			buf_putf(b, "\\%03o", c);
		else
			buf_put_u8(b, c);
	}
	buf_put_u8(b, '"');
}

void
sink_name(struct sink *s, const char *prefix, struct str path)
{
	AUTO(buf) struct buf b;

	buf_init(&b, (size_t)5 * PATH_BYTES_MAX);
	name_quote(&b, prefix, path);
	sink_put(s, (struct str){ (const char *)b.p, b.n });
}
