/* SPDX-License-Identifier: ISC */
#ifndef BASE_ID_H
#define BASE_ID_H

#include <stdint.h>

#include "base/err.h"
#include "base/str.h"
#include "base/auto.h"

/*
 * Ids of objects: ten random bytes, shown as a kind and 16 characters of
 * Crockford base32 in lower case: "ses_9hv4k2m8x0qrt3ab".
 */
enum id_kind {
	ID_NONE, ID_SESSION, ID_APPROVAL, ID_EXPOSURE, ID_CHANGE, ID_KEY,
	ID_BUNDLE, ID_CONTROLLER, ID_SERVICE, ID_RECEIPT, ID_KIND_END
};

enum {
	ID_BYTES = 10,
	ID_CHARS = 16,
	ID_TEXT_MAX = 4 + ID_CHARS + 1	/* with the NUL */
};

struct id {
	uint8_t b[ID_BYTES];
};

/* id_random(id): from the system's random source; cannot fail. */
void id_random(struct id *id);

char *id_str(enum id_kind kind, const struct id *id, char out[ID_TEXT_MAX]);
int id_parse(enum id_kind kind, struct str s, struct id *id, struct err *e)
    MUST_CHECK;
const char *id_prefix(enum id_kind kind);	/* "ses_"; static, never NULL */

static inline int
id_eq(const struct id *a, const struct id *b)
{
	return memcmp(a->b, b->b, ID_BYTES) == 0;
}

/*
 * A prefix as a person types it: "ses_9hv4", "9hv4".  I, L and O are read as
 * 1, 1 and 0, capitals as small letters (Crockford).
 */
struct id_prefix {
	enum id_kind	kind;		/* ID_NONE: not said */
	uint8_t		nchars;		/* 1..16 */
	char		chars[ID_CHARS + 1];
};

int id_prefix_parse(struct str s, struct id_prefix *p, struct err *e) MUST_CHECK;
int id_prefix_match(const struct id_prefix *p, enum id_kind kind,
    const struct id *id);

#endif
