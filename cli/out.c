/* SPDX-License-Identifier: ISC */
/* out.c - the two streams: buffered, styled, and escaped in one place. */
#include <errno.h>
#include <signal.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <termios.h>

#include "base/fd.h"
#include "base/text.h"
#include "cli/out.h"

enum { OUT_MAX = 256 << 20, OUT_CHUNK = 64 << 10, SENTENCE_MAX = 2048 };

static int
wants_color(int terminal, enum out_color color)
{
	const char *force = getenv("CLICOLOR_FORCE");
	const char *no = getenv("NO_COLOR");
	const char *term = getenv("TERM");

	if (color != OUT_COLOR_AUTO)
		return color == OUT_COLOR_ALWAYS;
	if (no != NULL && no[0] != '\0')
		return 0;
	if (force != NULL && force[0] != '\0' && strcmp(force, "0") != 0)
		return 1;
	return terminal && term != NULL && strcmp(term, "dumb") != 0;
}

void
out_init(struct out *o, int fd, enum out_color color)
{
	struct winsize ws;

	memset(o, 0, sizeof(*o));
	buf_init(&o->b, OUT_MAX);
	o->fd = fd;
	o->terminal = isatty(fd);
	o->color = wants_color(o->terminal, color);
	if (o->terminal)
		o->columns = ioctl(fd, TIOCGWINSZ, &ws) == 0 && ws.ws_col > 0 ?
		    ws.ws_col : 80;
}

void
out_done(struct out *o)
{
	buf_done(&o->b);
}

/* Write what has gathered; a failure is kept for out_flush(). */
static void
drain(struct out *o)
{
	struct err e;

	if (o->failed == 0 && o->b.n > 0 &&
	    fd_write_all(o->fd, o->b.p, o->b.n, &e))
		o->failed = e.sys != 0 ? e.sys : EIO;
	buf_drop(&o->b, o->b.n);
}

void
out_put(struct out *o, const char *s)
{
	buf_put_str(&o->b, s);
	if (o->b.n > OUT_CHUNK)
		drain(o);
}

void
out_putf(struct out *o, const char *fmt, ...)
{
	char *s = NULL;
	va_list ap;
	int n;

	va_start(ap, fmt);
	n = vasprintf(&s, fmt, ap);
	va_end(ap);
	if (n < 0) {
		o->b.failed = ERR_NOMEM;
		return;
	}
	out_put(o, s);
	free(s);
}

void
out_foreign(struct out *o, struct str s, size_t max)
{
	escape_put(&o->b, s, max);
	if (o->b.n > OUT_CHUNK)
		drain(o);
}

static const char *
style_code(enum style style)
{
	switch (style) {
	case STYLE_PLAIN:	return "\033[0m";
	case STYLE_BOLD:	return "\033[1m";
	case STYLE_DIM:		return "\033[2m";
	case STYLE_RED:		return "\033[31m";
	case STYLE_GREEN:	return "\033[32m";
	case STYLE_YELLOW:	return "\033[33m";
	case STYLE_CYAN:	return "\033[36m";
	}
	return "";
}

void
out_style(struct out *o, enum style style)
{
	if (o->color)
		buf_put_str(&o->b, style_code(style));
}

void
out_json(struct out *o, const struct json *j)
{
	json_put(&o->b, j);
	out_put(o, "\n");
}

int
out_flush(struct out *o, struct err *e)
{
	if (buf_ok(&o->b, "output", e))
		return -1;
	drain(o);
	if (o->failed == 0)
		return 0;
	errno = o->failed;
	if (o->failed == EPIPE)
		return err_set(e, ERR_PEER, "output");
	return err_set(e, ERR_SYS, "output");
}

/*
 * A sentence of an error holds escaped pieces already; its backslashes are
 * left as they are (they are harmless), everything else is made safe.
 */
static void
sentence(struct out *o, const char *s)
{
	while (*s != '\0') {
		size_t n = strcspn(s, "\\\n");

		escape_put(&o->b, (struct str){ s, n }, SENTENCE_MAX);
		s += n;
		if (*s == '\\')
			buf_put_str(&o->b, "\\");
		else if (*s == '\n')
			buf_put_str(&o->b, " ");
		s += *s != '\0';
	}
}

static void
error_json(struct out *o, const struct err *e, int exit,
    const struct json *data)
{
	AUTO(json) struct json *j = json_make_object();
	struct json *fix = json_make_array();
	int64_t record;

	json_set_cstr(j, "schema", "glove.error/1");
	json_set_cstr(j, "code", err_wire(e->code));
	json_set_int(j, "exit", exit);
	json_set_str(j, "message", str_of(e->msg));
	if (e->why[0] != '\0')
		json_set_str(j, "why", str_of(e->why));
	json_add_str(fix, str_of(err_do(e)));
	json_set(j, "fix", fix);
	if (data != NULL && json_int(json_get(data, "record"), &record) == 0)
		json_set_int(j, "record", record);
	out_json(o, j);
}

void
out_error(struct out *o, int json, const struct err *e, int exit,
    const struct json *data)
{
	if (json) {
		error_json(o, e, exit, data);
		return;
	}
	out_style(o, STYLE_RED);
	out_put(o, "glove:");
	out_style(o, STYLE_PLAIN);
	out_put(o, " ");
	sentence(o, e->msg);
	if (e->why[0] != '\0') {
		out_put(o, "\n  why:  ");
		sentence(o, e->why);
	}
	if (err_do(e)[0] != '\0') {
		out_put(o, "\n  do:   ");
		sentence(o, err_do(e));
	}
	out_put(o, "\n");
}
