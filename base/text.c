/* SPDX-License-Identifier: ISC */
#include <stdio.h>
#include <string.h>

#include "base/text.h"

static const char hexdigits[] = "0123456789abcdef";
static const char b64digits[] =
    "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";

void
hex_put(struct buf *b, struct bytes in)
{
	for (size_t i = 0; i < in.n; i++) {
		buf_put_u8(b, (uint8_t)hexdigits[in.p[i] >> 4]);
		buf_put_u8(b, (uint8_t)hexdigits[in.p[i] & 15]);
	}
}

char *
hex_str(struct bytes in, char *out)
{
	for (size_t i = 0; i < in.n; i++) {
		out[2 * i] = hexdigits[in.p[i] >> 4];
		out[2 * i + 1] = hexdigits[in.p[i] & 15];
	}
	out[2 * in.n] = '\0';
	return out;
}

/* The value of a lower-case digit, or -1. */
static int
hex_digit(char c)
{
	if (c >= '0' && c <= '9')
		return c - '0';
	if (c >= 'a' && c <= 'f')
		return c - 'a' + 10;
	return -1;
}

int
hex_get(struct str in, uint8_t *out, size_t n, struct err *e)
{
	if (in.n % 2 != 0 || in.n / 2 != n)
		return err_set(e, ERR_FORMAT, "%zu hex digits, not %zu",
		    in.n, 2 * n);
	for (size_t i = 0; i < in.n; i++)
		if (hex_digit(in.p[i]) < 0)
			return err_set(e, ERR_FORMAT,
			    "character %zu is no lower-case hex digit", i + 1);
	for (size_t i = 0; i < n; i++)
		out[i] = (uint8_t)((unsigned)hex_digit(in.p[2 * i]) << 4 |
		    (unsigned)hex_digit(in.p[2 * i + 1]));
	return 0;
}

void
base64_put(struct buf *b, struct bytes in)
{
	for (size_t i = 0; i < in.n; i += 3) {
		size_t left = in.n - i;
		uint32_t v = (uint32_t)in.p[i] << 16;
		char q[4];

		if (left > 1)
			v |= (uint32_t)in.p[i + 1] << 8;
		if (left > 2)
			v |= in.p[i + 2];
		q[0] = b64digits[v >> 18];
		q[1] = b64digits[v >> 12 & 63];
		q[2] = left > 1 ? b64digits[v >> 6 & 63] : '=';
		q[3] = left > 2 ? b64digits[v & 63] : '=';
		buf_put(b, q, sizeof(q));
	}
}

/* The value of a digit, or -1. */
static int
b64_digit(char c)
{
	if (c >= 'A' && c <= 'Z')
		return c - 'A';
	if (c >= 'a' && c <= 'z')
		return c - 'a' + 26;
	if (c >= '0' && c <= '9')
		return c - '0' + 52;
	return c == '+' ? 62 : c == '/' ? 63 : -1;
}

/*
 * Four characters of which the first ${n} count.  -1 for a wrong digit, and
 * for bits that are set but would be thrown away: another text of the same
 * bytes.
 */
static int
b64_quad(const char *q, size_t n, uint32_t *v)
{
	uint32_t sum = 0;
	int d;

	for (size_t i = 0; i < 4; i++) {
		d = i < n ? b64_digit(q[i]) : 0;
		if (d < 0)
			return -1;
		sum = sum << 6 | (uint32_t)d;
	}
	if ((n == 3 && (sum & 0xff) != 0) || (n == 2 && (sum & 0xffff) != 0))
		return -1;
	*v = sum;
	return 0;
}

int
base64_get(struct str in, struct buf *out, struct err *e)
{
	size_t start = out->n;

	if (in.n % 4 != 0)
		return err_set(e, ERR_FORMAT, "base64: %zu characters", in.n);
	for (size_t i = 0; i < in.n; i += 4) {
		size_t n = 4;
		uint32_t v;

		/* Padding belongs to the last four only. */
		if (i + 4 == in.n && in.p[i + 3] == '=')
			n = in.p[i + 2] == '=' ? 2 : 3;
		if (b64_quad(in.p + i, n, &v)) {
			out->n = start;
			return err_set(e, ERR_FORMAT,
			    "base64: characters %zu to %zu", i + 1, i + 4);
		}
		for (size_t k = 0; k + 1 < n; k++)
			buf_put_u8(out, (uint8_t)(v >> (16 - 8 * k)));
	}
	return buf_ok(out, "base64", e);
}

size_t
utf8_next(struct str in, uint32_t *cp)
{
	static const uint32_t least[5] = { 0, 0, 0x80, 0x800, 0x10000 };
	const uint8_t *p = (const uint8_t *)in.p;
	uint32_t c;
	size_t n;

	if (in.n == 0)
		return 0;
	if (p[0] < 0x80) {
		*cp = p[0];
		return 1;
	}
	if ((p[0] & 0xe0) == 0xc0)
		n = 2;
	else if ((p[0] & 0xf0) == 0xe0)
		n = 3;
	else if ((p[0] & 0xf8) == 0xf0)
		n = 4;
	else
		return 0;
	if (n > in.n)
		return 0;
	c = p[0] & (0x7fu >> n);
	for (size_t i = 1; i < n; i++) {
		if ((p[i] & 0xc0) != 0x80)
			return 0;
		c = c << 6 | (p[i] & 0x3fu);
	}
	/* No overlong forms, no surrogates, nothing beyond Unicode. */
	if (c < least[n] || c > 0x10ffff || (c >= 0xd800 && c <= 0xdfff))
		return 0;
	*cp = c;
	return n;
}

int
utf8_valid(struct str in)
{
	uint32_t cp;
	size_t n;

	for (; in.n != 0; in.p += n, in.n -= n)
		if ((n = utf8_next(in, &cp)) == 0 || cp == 0)
			return 0;
	return 1;
}

/*
 * Sorted ranges: Unicode 15 Default_Ignorable_Code_Point, Bidi_Control, line
 * and paragraph separators, interlinear annotation, shorthand and musical
 * format controls, noncharacters of the first plane.
 */
static const struct range {
	uint32_t from, to;
} unseen[] = {
	{ 0x00000, 0x0001f }, { 0x0007f, 0x0009f }, { 0x000ad, 0x000ad },
	{ 0x0034f, 0x0034f }, { 0x0061c, 0x0061c }, { 0x0115f, 0x01160 },
	{ 0x017b4, 0x017b5 }, { 0x0180b, 0x0180f }, { 0x0200b, 0x0200f },
	{ 0x02028, 0x0202e }, { 0x02060, 0x0206f }, { 0x03164, 0x03164 },
	{ 0x0fdd0, 0x0fdef }, { 0x0fe00, 0x0fe0f }, { 0x0feff, 0x0feff },
	{ 0x0ffa0, 0x0ffa0 }, { 0x0fff0, 0x0fffb }, { 0x0fffe, 0x0ffff },
	{ 0x1bca0, 0x1bca3 }, { 0x1d173, 0x1d17a }, { 0xe0000, 0xe0fff },
};

int
utf8_unseen(uint32_t cp)
{
	size_t lo = 0, hi = sizeof(unseen) / sizeof(unseen[0]);

	while (lo < hi) {
		size_t mid = lo + (hi - lo) / 2;

		if (cp < unseen[mid].from)
			hi = mid;
		else if (cp > unseen[mid].to)
			lo = mid + 1;
		else
			return 1;
	}
	return 0;
}

/*
 * What the first character of ${in} looks like, into ${out}.  Returns the
 * bytes of ${in} it takes; *${len} is the length of what is shown.
 */
static size_t
escape_one(struct str in, char out[16], size_t *len)
{
	uint32_t cp;
	size_t n = utf8_next(in, &cp);
	int k;

	if (n == 0 || (n == 1 && utf8_unseen(cp))) {
		k = snprintf(out, 16, "\\x%02x", (uint8_t)in.p[0]);
		n = 1;
	} else if (utf8_unseen(cp)) {
		k = snprintf(out, 16, "\\u{%04X}", cp);
	} else if (cp == '\\') {
		k = snprintf(out, 16, "\\\\");
	} else {
		memcpy(out, in.p, n);
		k = (int)n;
	}
	*len = (size_t)k;
	return n;
}

void
escape_put(struct buf *b, struct str in, size_t max)
{
	static const char dots[] = "...";
	size_t used = 0, keep = b->n, n, len;
	size_t ndots = max < 3 ? max : 3;
	char one[16];

	for (; in.n != 0; in.p += n, in.n -= n) {
		n = escape_one(in, one, &len);
		if (len > max - used) {
			/* Go back to where the dots still fit. */
			if (!b->failed)
				b->n = keep;
			buf_put(b, dots, ndots);
			return;
		}
		buf_put(b, one, len);
		used += len;
		if (used <= max - ndots)
			keep = b->n;
	}
}
