/* SPDX-License-Identifier: ISC */
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/random.h>

#include "base/id.h"
#include "base/text.h"

/* Crockford's base32: no i, l, o, u. */
static const char digits[] = "0123456789abcdefghjkmnpqrstvwxyz";

static const char *const prefixes[ID_KIND_END] = {
	[ID_NONE] = "",
	[ID_SESSION] = "ses_",
	[ID_APPROVAL] = "apr_",
	[ID_EXPOSURE] = "exp_",
	[ID_CHANGE] = "chg_",
	[ID_KEY] = "key_",
	[ID_BUNDLE] = "bdl_",
	[ID_CONTROLLER] = "ctl_",
	[ID_SERVICE] = "svc_",
	[ID_RECEIPT] = "rcp_",
};
enum { PREFIX = 4 };	/* characters */

void
id_random(struct id *id)
{
	ssize_t n;

	/* So few bytes come whole, or the kernel has no getrandom(2) at all. */
	while ((n = getrandom(id->b, sizeof(id->b), 0)) < 0 && errno == EINTR)
		continue;
	if (n != (ssize_t)sizeof(id->b))
		abort();
}

const char *
id_prefix(enum id_kind kind)
{
	return kind > ID_NONE && kind < ID_KIND_END ? prefixes[kind] : "";
}

char *
id_str(enum id_kind kind, const struct id *id, char out[ID_TEXT_MAX])
{
	const char *prefix = id_prefix(kind);
	size_t k = strlen(prefix);
	unsigned acc = 0, bits = 0;

	memcpy(out, prefix, k);
	for (size_t i = 0; i < ID_BYTES; i++) {
		acc = (acc << 8 | id->b[i]) & 0xfff;
		for (bits += 8; bits >= 5; bits -= 5)
			out[k++] = digits[acc >> (bits - 5) & 31];
	}
	out[k] = '\0';
	return out;
}

static int
wrong(struct err *e, struct str s, const char *what)
{
	AUTO(buf) struct buf b;

	buf_init(&b, 256);
	escape_put(&b, s, 40);
	(void)err_say(e, ERR_FORMAT, "\"%s\" is not %s",
	    buf_cstr(&b) != NULL ? (const char *)b.p : "", what);
	return err_fix(e, "give one as ses_9hv4 or a part of its start");
}

int
id_parse(enum id_kind kind, struct str s, struct id *id, struct err *e)
{
	struct str prefix = str_of(id_prefix(kind));
	struct id made = { { 0 } };
	unsigned acc = 0, bits = 0;
	size_t k = 0;

	if (s.n != prefix.n + ID_CHARS ||
	    !str_eq((struct str){ s.p, prefix.n }, prefix))
		return wrong(e, s, "a whole id of this kind");
	for (size_t i = prefix.n; i < s.n; i++) {
		const char *d = memchr(digits, s.p[i], sizeof(digits) - 1);

		if (d == NULL)
			return wrong(e, s, "a whole id of this kind");
		acc = (acc << 5 | (unsigned)(d - digits)) & 0xfff;
		if ((bits += 5) >= 8)
			made.b[k++] = (uint8_t)(acc >> (bits -= 8));
	}
	*id = made;
	return 0;
}

/* A character as a person types it; 0 if it is in no id. */
static char
fold(char c)
{
	if (c >= 'A' && c <= 'Z')
		c = (char)(c - 'A' + 'a');
	if (c == 'i' || c == 'l')
		return '1';
	if (c == 'o')
		return '0';
	return memchr(digits, c, sizeof(digits) - 1) != NULL ? c : '\0';
}

static enum id_kind
kind_of(struct str s)
{
	for (int k = ID_NONE + 1; k < ID_KIND_END; k++) {
		size_t i = 0;

		while (i < PREFIX && i < s.n && prefixes[k][i] ==
		    (s.p[i] >= 'A' && s.p[i] <= 'Z' ? s.p[i] | 0x20 : s.p[i]))
			i++;
		if (i == PREFIX)
			return (enum id_kind)k;
	}
	return ID_NONE;
}

int
id_prefix_parse(struct str s, struct id_prefix *p, struct err *e)
{
	struct id_prefix made = { .kind = kind_of(s) };
	size_t skip = made.kind == ID_NONE ? 0 : PREFIX;

	if (s.n <= skip || s.n - skip > ID_CHARS)
		return wrong(e, s, "an id");
	for (size_t i = skip; i < s.n; i++)
		if ((made.chars[made.nchars++] = fold(s.p[i])) == '\0')
			return wrong(e, s, "an id");
	*p = made;
	return 0;
}

int
id_prefix_match(const struct id_prefix *p, enum id_kind kind,
    const struct id *id)
{
	char text[ID_TEXT_MAX];

	if (p->kind != ID_NONE && p->kind != kind)
		return 0;
	return memcmp(id_str(ID_NONE, id, text), p->chars, p->nchars) == 0;
}
