/* SPDX-License-Identifier: ISC */
#ifndef BASE_NUM_H
#define BASE_NUM_H

#include <stdint.h>

#include "base/buf.h"

/* num_parse(s, min, max, out, e): a decimal integer, no blanks, no plus sign,
 * no leading zeros; FORMAT or USAGE (out of bounds, which it names). */
int num_parse(struct str s, int64_t min, int64_t max, int64_t *out,
    struct err *e) MUST_CHECK;

/* size_parse: "64M", "1G", "4096"; powers of 1024; bytes. */
int size_parse(struct str s, int64_t min, int64_t max, int64_t *out,
    struct err *e) MUST_CHECK;

/* duration_parse: "90s", "30m", "8h", "2d", "1h30m", "500ms"; microseconds.
 * A bare number is refused: seconds or minutes is a guess. */
int duration_parse(struct str s, int64_t min_us, int64_t max_us, int64_t *us,
    struct err *e) MUST_CHECK;

/* duration_put(b, us): for people, two units at most: "8h", "14m 2s", "0.3s". */
void duration_put(struct buf *b, int64_t us);
/* size_put(b, bytes): for people: "12 MiB". */
void size_put(struct buf *b, int64_t bytes);

enum { RFC3339_MAX = 32 };
/* rfc3339_str(us, out): "2026-12-01T10:29:03.120Z", UTC, milliseconds. */
char *rfc3339_str(int64_t unix_us, char out[RFC3339_MAX]);
/* rfc3339_parse: what rfc3339_str() writes, and nothing else. */
int rfc3339_parse(struct str s, int64_t *unix_us, struct err *e) MUST_CHECK;

#endif
