/* SPDX-License-Identifier: ISC */
#ifndef BASE_STR_H
#define BASE_STR_H

#include <stddef.h>
#include <stdint.h>
#include <string.h>

/* Borrowed slices.  Whoever made them keeps what they point at alive. */
struct str   { const char    *p; size_t n; };	/* text, no NUL promised */
struct bytes { const uint8_t *p; size_t n; };	/* octets */

#define STR(lit)	((struct str){ (lit), sizeof(lit) - 1 })
#define BYTES(arr)	((struct bytes){ (arr), sizeof(arr) })

static inline struct str
str_of(const char *s)
{
	return (struct str){ s, strlen(s) };
}

static inline struct bytes
bytes_of(const void *p, size_t n)
{
	return (struct bytes){ p, n };
}

static inline struct bytes
bytes_of_str(struct str s)
{
	return (struct bytes){ (const uint8_t *)s.p, s.n };
}

static inline int
str_eq(struct str a, struct str b)
{
	return a.n == b.n && (a.n == 0 || memcmp(a.p, b.p, a.n) == 0);
}

static inline int
bytes_eq(struct bytes a, struct bytes b)
{
	return a.n == b.n && (a.n == 0 || memcmp(a.p, b.p, a.n) == 0);
}

#endif
