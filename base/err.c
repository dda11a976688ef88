/* SPDX-License-Identifier: ISC */
#include <errno.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include "base/err.h"

static const struct row {
	const char	*name;
	const char	*wire;
	int		 exit;
	const char	*text;
	const char	*fix;
} rows[ERR_CODE_END] = {
#define ERR(code, NAME, wire, exit, text, fix) \
	[code] = { #NAME, wire, exit, text, fix },
#include "base/err.def"
};

static const struct row *
find(int code)
{
	if (code <= 0 || code >= ERR_CODE_END || rows[code].name == NULL)
		return &rows[ERR_BUG];
	return &rows[code];
}

static void
start(struct err *e, enum err_code code, int sys, const char *file, int line)
{
	e->code = (int)code;
	e->sys = code == ERR_SYS ? sys : 0;
	e->file = file;
	e->line = line;
	e->why[0] = e->fix[0] = '\0';
}

void
err_set_at(struct err *e, enum err_code code, const char *file, int line,
    const char *fmt, ...)
{
	int sys = errno;
	va_list ap;
	size_t n;

	start(e, code, sys, file, line);
	va_start(ap, fmt);
	(void)vsnprintf(e->msg, sizeof(e->msg), fmt, ap);
	va_end(ap);

	n = strlen(e->msg);
	(void)snprintf(e->msg + n, sizeof(e->msg) - n, ": %s",
	    e->sys != 0 ? strerror(e->sys) : find(e->code)->text);
	errno = sys;
}

void
err_say_at(struct err *e, enum err_code code, const char *file, int line,
    const char *fmt, ...)
{
	int sys = errno;
	va_list ap;

	start(e, code, sys, file, line);
	va_start(ap, fmt);
	(void)vsnprintf(e->msg, sizeof(e->msg), fmt, ap);
	va_end(ap);
	errno = sys;
}

void
err_wrap_at(struct err *e, const char *fmt, ...)
{
	char old[ERR_MSG_MAX];
	va_list ap;
	size_t n;

	memcpy(old, e->msg, sizeof(old));
	va_start(ap, fmt);
	(void)vsnprintf(e->msg, sizeof(e->msg), fmt, ap);
	va_end(ap);
	n = strlen(e->msg);
	(void)snprintf(e->msg + n, sizeof(e->msg) - n, ": %s", old);
}

void
err_why_at(struct err *e, const char *fmt, ...)
{
	va_list ap;

	va_start(ap, fmt);
	(void)vsnprintf(e->why, sizeof(e->why), fmt, ap);
	va_end(ap);
}

void
err_fix_at(struct err *e, const char *fmt, ...)
{
	va_list ap;

	va_start(ap, fmt);
	(void)vsnprintf(e->fix, sizeof(e->fix), fmt, ap);
	va_end(ap);
}

const char *
err_name(int code)
{
	return code == 0 ? "OK" : find(code)->name;
}

const char *
err_wire(int code)
{
	return code == 0 ? "ok" : find(code)->wire;
}

const char *
err_text(int code)
{
	return code == 0 ? "done" : find(code)->text;
}

const char *
err_do(const struct err *e)
{
	return e->fix[0] != '\0' ? e->fix : find(e->code)->fix;
}

int
err_exit(int code)
{
	return code == 0 ? 0 : find(code)->exit;
}

int
err_from_wire(const char *wire)
{
	for (int i = 1; i < ERR_CODE_END; i++)
		if (rows[i].wire != NULL && strcmp(rows[i].wire, wire) == 0)
			return i;
	return ERR_BUG;
}
