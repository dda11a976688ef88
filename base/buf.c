/* SPDX-License-Identifier: ISC */
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/buf.h"

void
buf_init(struct buf *b, size_t max)
{
	*b = (struct buf){ .max = max };
}

void
buf_done(struct buf *b)
{
	free(b->p);
	b->p = NULL;
	b->n = b->cap = 0;
}

void
buf_reset(struct buf *b)
{
	b->n = 0;
	b->failed = 0;
}

/* Room for ${n} more bytes and one spare, which buf_cstr() uses. */
static int
grow(struct buf *b, size_t n)
{
	size_t want, cap;
	uint8_t *p;

	if (b->failed)
		return -1;
	if (n > b->max - b->n) {
		b->failed = ERR_TOOBIG;
		return -1;
	}
	want = b->n + n + 1;
	if (want <= b->cap)
		return 0;
	for (cap = b->cap ? b->cap : 256; cap < want; cap *= 2)
		continue;
	if ((p = realloc(b->p, cap)) == NULL) {
		b->failed = ERR_NOMEM;
		return -1;
	}
	b->p = p;
	b->cap = cap;
	return 0;
}

uint8_t *
buf_room(struct buf *b, size_t n)
{
	uint8_t *at;

	if (grow(b, n))
		return NULL;
	at = b->p + b->n;
	b->n += n;
	return at;
}

void
buf_put(struct buf *b, const void *p, size_t n)
{
	uint8_t *at;

	if (n != 0 && (at = buf_room(b, n)) != NULL)
		memcpy(at, p, n);
}

void
buf_put_u8(struct buf *b, uint8_t v)
{
	buf_put(b, &v, 1);
}

void
buf_put_u16(struct buf *b, uint16_t v)
{
	uint8_t p[2] = { (uint8_t)(v >> 8), (uint8_t)v };

	buf_put(b, p, sizeof(p));
}

void
buf_put_u32(struct buf *b, uint32_t v)
{
	buf_put_u16(b, (uint16_t)(v >> 16));
	buf_put_u16(b, (uint16_t)v);
}

void
buf_put_u64(struct buf *b, uint64_t v)
{
	buf_put_u32(b, (uint32_t)(v >> 32));
	buf_put_u32(b, (uint32_t)v);
}

void
buf_put_str(struct buf *b, const char *s)
{
	buf_put(b, s, strlen(s));
}

void
buf_putf(struct buf *b, const char *fmt, ...)
{
	va_list ap;
	uint8_t *at;
	int n;

	va_start(ap, fmt);
	n = vsnprintf(NULL, 0, fmt, ap);
	va_end(ap);
	if (n <= 0 || (at = buf_room(b, (size_t)n)) == NULL)
		return;
	va_start(ap, fmt);
	(void)vsnprintf((char *)at, (size_t)n + 1, fmt, ap);
	va_end(ap);
}

void
buf_drop(struct buf *b, size_t n)
{
	if (n == 0)
		return;
	if (n > b->n)
		n = b->n;
	memmove(b->p, b->p + n, b->n - n);
	b->n -= n;
}

int
buf_ok(const struct buf *b, const char *what, struct err *e)
{
	if (b->failed)
		return err_set(e, (enum err_code)b->failed, "%s", what);
	return 0;
}

const char *
buf_cstr(struct buf *b)
{
	if (grow(b, 0))
		return NULL;
	b->p[b->n] = '\0';
	return (const char *)b->p;
}

struct bytes
cur_take(struct cur *c, size_t n)
{
	struct bytes b = { c->p, n };

	if (c->failed || n > c->n) {
		c->failed = 1;
		return (struct bytes){ NULL, 0 };
	}
	c->p += n;
	c->n -= n;
	return b;
}

void
cur_copy(struct cur *c, void *to, size_t n)
{
	struct bytes b = cur_take(c, n);

	if (c->failed)
		memset(to, 0, n);
	else if (n != 0)
		memcpy(to, b.p, n);
}

static uint64_t
number(struct cur *c, size_t n)
{
	struct bytes b = cur_take(c, n);
	uint64_t v = 0;

	for (size_t i = 0; i < b.n; i++)
		v = v << 8 | b.p[i];
	return v;
}

uint8_t
cur_u8(struct cur *c)
{
	return (uint8_t)number(c, 1);
}

uint16_t
cur_u16(struct cur *c)
{
	return (uint16_t)number(c, 2);
}

uint32_t
cur_u32(struct cur *c)
{
	return (uint32_t)number(c, 4);
}

uint64_t
cur_u64(struct cur *c)
{
	return number(c, 8);
}
