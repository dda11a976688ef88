/* SPDX-License-Identifier: ISC */
#ifndef BASE_BUF_H
#define BASE_BUF_H

#include <stddef.h>
#include <stdint.h>

#include "base/auto.h"
#include "base/err.h"
#include "base/str.h"

/*
 * The one growable buffer.  It has a hard maximum from the start, and failure
 * sticks: twenty puts are checked once, with buf_ok().
 *
 *	AUTO(buf) struct buf b;
 *	buf_init(&b, 65535);
 *	buf_put_u8(&b, 1); ...
 *	if (buf_ok(&b, "record", e)) return -1;
 *
 * The caller owns the struct; buf_done() (or AUTO) frees what it holds.
 */
struct buf {
	uint8_t	*p;
	size_t	 n;		/* bytes used */
	size_t	 cap;		/* bytes allocated */
	size_t	 max;		/* never more than this */
	int	 failed;	/* an enum err_code: NOMEM or TOOBIG; sticks */
};

void buf_init(struct buf *b, size_t max);
void buf_done(struct buf *b);		/* may be called twice */
void buf_reset(struct buf *b);		/* empty, not failed; keeps the memory */

void buf_put(struct buf *b, const void *p, size_t n);
void buf_put_u8(struct buf *b, uint8_t v);
void buf_put_u16(struct buf *b, uint16_t v);	/* big-endian, as all of them */
void buf_put_u32(struct buf *b, uint32_t v);
void buf_put_u64(struct buf *b, uint64_t v);
void buf_put_str(struct buf *b, const char *s);	/* without the NUL */
void buf_putf(struct buf *b, const char *fmt, ...)
    __attribute__((format(printf, 2, 3)));

/* buf_room(b, n): ${n} writable bytes at the end, counted as used; or NULL. */
uint8_t *buf_room(struct buf *b, size_t n);

/* buf_drop(b, n): forget the first ${n} bytes. */
void buf_drop(struct buf *b, size_t n);

/* buf_ok(b, what, e): 0, or -1 if any put failed (NOMEM, TOOBIG). */
int buf_ok(const struct buf *b, const char *what, struct err *e) MUST_CHECK;

/* buf_cstr(b): the contents with a NUL behind them (not counted), or NULL. */
const char *buf_cstr(struct buf *b);

static inline struct bytes
buf_bytes(const struct buf *b)
{
	return (struct bytes){ b->p, b->n };
}

static inline void
auto_buf(struct buf *b)
{
	buf_done(b);
}

/*
 * Reading: a cursor over borrowed bytes.  Reading past the end gives zeros and
 * sets failed, which sticks; look once at the end.
 */
struct cur {
	const uint8_t	*p;
	size_t		 n;		/* what is left */
	int		 failed;
};

static inline struct cur
cur_of(struct bytes b)
{
	return (struct cur){ b.p, b.n, 0 };
}

uint8_t  cur_u8(struct cur *c);
uint16_t cur_u16(struct cur *c);
uint32_t cur_u32(struct cur *c);
uint64_t cur_u64(struct cur *c);
struct bytes cur_take(struct cur *c, size_t n);	/* borrowed; empty on failure */
void cur_copy(struct cur *c, void *to, size_t n);	/* zeros on failure */

#endif
