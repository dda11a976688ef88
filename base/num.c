/* SPDX-License-Identifier: ISC */
#include <inttypes.h>
#include <stdio.h>
#include <string.h>
#include <time.h>

#include "base/num.h"
#include "base/text.h"

enum { SHOWN = 40 };	/* of a wrong argument, in an error */

/* The whole failure path for ${s}, which a person typed: show it, escaped. */
static int
wrong(struct err *e, struct str s, const char *what)
{
	AUTO(buf) struct buf b;

	buf_init(&b, 256);
	escape_put(&b, s, SHOWN);
	return err_say(e, ERR_FORMAT, "\"%s\" is not %s",
	    buf_cstr(&b) != NULL ? (const char *)b.p : "", what);
}

/*
 * The digits at the start of *${s}, which moves behind them.  -1 without a
 * digit, with a leading zero, or over INT64_MAX.
 */
static int
digits(struct str *s, int64_t *out)
{
	int64_t v = 0;
	size_t i;

	for (i = 0; i < s->n && s->p[i] >= '0' && s->p[i] <= '9'; i++)
		if (__builtin_mul_overflow(v, 10, &v) ||
		    __builtin_add_overflow(v, s->p[i] - '0', &v))
			return -1;
	if (i == 0 || (i > 1 && s->p[0] == '0'))
		return -1;
	s->p += i;
	s->n -= i;
	*out = v;
	return 0;
}

int
num_parse(struct str s, int64_t min, int64_t max, int64_t *out, struct err *e)
{
	struct str rest = s;
	int minus = s.n > 0 && s.p[0] == '-';
	int64_t v;

	rest.p += minus;
	rest.n -= (size_t)minus;
	if (digits(&rest, &v) || rest.n != 0 || (minus && v == 0))
		return wrong(e, s, "a number");
	if (minus)
		v = -v;
	if (v < min || v > max)
		return err_say(e, ERR_USAGE, "%" PRId64 " is not between %"
		    PRId64 " and %" PRId64, v, min, max);
	*out = v;
	return 0;
}

int
size_parse(struct str s, int64_t min, int64_t max, int64_t *out, struct err *e)
{
	static const char units[] = "KMGTP";
	struct str rest = s;
	const char *u;
	int64_t v;

	if (digits(&rest, &v) || rest.n > 1)
		return wrong(e, s, "a size, as 4096, 64M or 1G");
	if (rest.n == 1) {
		/* Not strchr(): it would find the NUL. */
		u = memchr(units, rest.p[0] & ~0x20, sizeof(units) - 1);
		if (u == NULL || __builtin_mul_overflow(v,
		    INT64_C(1) << (10 * (u - units + 1)), &v))
			return wrong(e, s, "a size, as 4096, 64M or 1G");
	}
	if (v < min || v > max) {
		AUTO(buf) struct buf b;

		buf_init(&b, 128);
		size_put(&b, min);
		buf_put_str(&b, " and ");
		size_put(&b, max);
		return err_say(e, ERR_USAGE, "%.*s is not between %s",
		    (int)s.n, s.p,
		    buf_cstr(&b) != NULL ? (const char *)b.p : "its bounds");
	}
	*out = v;
	return 0;
}

/* Long to short: a duration goes down this list, each unit once at most. */
static const struct unit {
	const char	*name;
	int64_t		 us;
} units[] = {
	{ "d",  INT64_C(86400000000) },
	{ "h",  INT64_C(3600000000) },
	{ "m",  INT64_C(60000000) },
	{ "s",  INT64_C(1000000) },
	{ "ms", INT64_C(1000) },
};
enum { UNITS = sizeof(units) / sizeof(units[0]) };

/* The unit that *${s} starts with, up to the next digit; UNITS if none. */
static size_t
unit_of(struct str *s)
{
	size_t n = 0;

	while (n < s->n && (s->p[n] < '0' || s->p[n] > '9'))
		n++;
	for (size_t i = 0; i < UNITS; i++) {
		if (!str_eq((struct str){ s->p, n }, str_of(units[i].name)))
			continue;
		s->p += n;
		s->n -= n;
		return i;
	}
	return UNITS;
}

int
duration_parse(struct str s, int64_t min_us, int64_t max_us, int64_t *us,
    struct err *e)
{
	static const char what[] = "a duration, as 90s, 30m, 8h or 1h30m";
	struct str rest = s;
	int64_t sum = 0, v;
	size_t u, next = 0;

	do {
		if (digits(&rest, &v) || (u = unit_of(&rest)) == UNITS ||
		    u < next || __builtin_mul_overflow(v, units[u].us, &v) ||
		    __builtin_add_overflow(sum, v, &sum))
			return wrong(e, s, what);
		next = u + 1;
	} while (rest.n != 0);
	if (sum < min_us || sum > max_us) {
		AUTO(buf) struct buf b;

		buf_init(&b, 128);
		duration_put(&b, min_us);
		buf_put_str(&b, " and ");
		duration_put(&b, max_us);
		return err_say(e, ERR_USAGE, "%.*s is not between %s",
		    (int)s.n, s.p,
		    buf_cstr(&b) != NULL ? (const char *)b.p : "its bounds");
	}
	*us = sum;
	return 0;
}

/* |n|, also of INT64_MIN, with the sign put. */
static uint64_t
sign_put(struct buf *b, int64_t n)
{
	if (n >= 0)
		return (uint64_t)n;
	buf_put_u8(b, '-');
	return -(uint64_t)n;
}

void
duration_put(struct buf *b, int64_t us)
{
	uint64_t n = sign_put(b, us), big, small;
	size_t i;

	if (n < 1000 && n != 0) {
		buf_putf(b, "%" PRIu64 "us", n);
		return;
	}
	if (n < 100000 && n != 0) {
		buf_putf(b, "%" PRIu64 "ms", n / 1000);
		return;
	}
	if (n < 10000000) {
		/* Tenths tell something here, and nothing above. */
		buf_putf(b, "%" PRIu64, n / 1000000);
		if (n / 100000 % 10 != 0)
			buf_putf(b, ".%" PRIu64, n / 100000 % 10);
		buf_put_u8(b, 's');
		return;
	}
	for (i = 0; n < (uint64_t)units[i].us; i++)
		continue;
	big = n / (uint64_t)units[i].us;
	buf_putf(b, "%" PRIu64 "%s", big, units[i].name);
	if (units[i].us == 1000000)
		return;
	small = n % (uint64_t)units[i].us / (uint64_t)units[i + 1].us;
	if (small != 0)
		buf_putf(b, " %" PRIu64 "%s", small, units[i + 1].name);
}

void
size_put(struct buf *b, int64_t bytes)
{
	static const char names[][4] = { "B", "KiB", "MiB", "GiB", "TiB",
	    "PiB", "EiB" };
	uint64_t n = sign_put(b, bytes), whole, tenth;
	unsigned i = 0;

	while (i < 6 && n >> (10 * i) >= 1024)
		i++;
	whole = n >> (10 * i);
	tenth = i == 0 ? 0 : (n >> (10 * (i - 1)) & 1023) * 10 / 1024;
	if (whole < 10 && tenth != 0)
		buf_putf(b, "%" PRIu64 ".%" PRIu64 " %s", whole, tenth,
		    names[i]);
	else
		buf_putf(b, "%" PRIu64 " %s", whole, names[i]);
}

/* The years 0000 to 9999, which four digits can say. */
#define YEAR_0		(INT64_C(-62167219200) * 1000000)
#define YEAR_9999	(INT64_C(253402300800) * 1000000 - 1)

char *
rfc3339_str(int64_t unix_us, char out[RFC3339_MAX])
{
	int64_t us = unix_us < YEAR_0 ? YEAR_0 :
	    unix_us > YEAR_9999 ? YEAR_9999 : unix_us;
	int64_t ms = us / 1000 - (us % 1000 < 0);	/* downwards */
	int64_t part = (ms % 1000 + 1000) % 1000;
	time_t t = (time_t)((ms - part) / 1000);
	struct tm tm = { 0 };
	char s[RFC3339_MAX];

	(void)gmtime_r(&t, &tm);
	(void)strftime(s, sizeof(s), "%Y-%m-%dT%H:%M:%S", &tm);
	/* strftime() does not pad the year. */
	(void)snprintf(out, RFC3339_MAX, "%04d%.15s.%03dZ", tm.tm_year + 1900,
	    strchr(s, '-'), (int)part);
	return out;
}

int
rfc3339_parse(struct str s, int64_t *unix_us, struct err *e)
{
	static const char shape[] = "dddd-dd-ddTdd:dd:dd.dddZ";
	int v[7] = { 0 };
	size_t f = 0;
	struct tm tm = { 0 };
	char again[RFC3339_MAX];
	int64_t us;

	if (s.n != sizeof(shape) - 1)
		return wrong(e, s, "a time, as 2026-12-01T10:29:03.120Z");
	for (size_t i = 0; i < s.n; i++) {
		int digit = s.p[i] >= '0' && s.p[i] <= '9';

		if (shape[i] != 'd')
			f++;
		if (shape[i] == 'd' ? !digit : s.p[i] != shape[i])
			return wrong(e, s,
			    "a time, as 2026-12-01T10:29:03.120Z");
		if (digit)
			v[f] = v[f] * 10 + (s.p[i] - '0');
	}
	tm.tm_year = v[0] - 1900;
	tm.tm_mon = v[1] - 1;
	tm.tm_mday = v[2];
	tm.tm_hour = v[3];
	tm.tm_min = v[4];
	tm.tm_sec = v[5];
	us = (int64_t)timegm(&tm) * 1000000 + v[6] * 1000;

	/* The 30th of February would have become the 2nd of March. */
	if (!str_eq(s, str_of(rfc3339_str(us, again))))
		return wrong(e, s, "a time that exists");
	*unix_us = us;
	return 0;
}
