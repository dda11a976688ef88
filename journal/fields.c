/* SPDX-License-Identifier: ISC */
/* fields.c - the table of fields, and values on their way into a record. */
#include <string.h>

#include "base/sha256.h"
#include "base/text.h"

#include "journal/record.h"

enum { CLEAR, SEALED };

static const struct field_info fields[FIELD_END] = {
#define FIELD(tag, NAME, name, type, seal, doc)				\
	[tag] = { name, FT_##type, seal, doc },
#include "journal/field.def"
};

const struct field_info *
field_info(int tag)
{
	if (tag <= 0 || tag >= FIELD_END || fields[tag].name == NULL)
		return NULL;
	return &fields[tag];
}

size_t
field_type_size(enum field_type type)
{
	switch (type) {
	case FT_U64:
		return 8;
	case FT_ID:
		return ID_BYTES;
	case FT_HASH:
		return SHA256_BYTES;
	case FT_SIG:
		return 64;
	default:
		return 0;
	}
}

void
fields_init(struct fields *f)
{
	*f = (struct fields){ .n = 0 };
	buf_init(&f->data, FIELDS_BYTES_MAX);
}

void
fields_done(struct fields *f)
{
	buf_done(&f->data);
	f->n = 0;
}

static void
fail(struct fields *f, enum err_code code)
{
	if (f->failed == 0)
		f->failed = (int)code;
}

/*
 * Make ${tag} the field that ends where the data ends now and began at ${off}.
 * The list stays ascending, so that who walks it writes a record.
 */
static void
put(struct fields *f, int tag, size_t off)
{
	size_t at;

	if (f->data.failed)
		return;
	for (at = f->n; at > 0 && f->f[at - 1].tag >= tag; at--)
		if (f->f[at - 1].tag == tag) {
			fail(f, ERR_BUG);
			return;
		}
	if (f->n == RECORD_FIELDS_MAX) {
		fail(f, ERR_TOOBIG);
		return;
	}
	memmove(&f->f[at + 1], &f->f[at], (f->n - at) * sizeof(f->f[0]));
	f->f[at].tag = (uint16_t)tag;
	f->f[at].off = (uint32_t)off;
	f->f[at].len = (uint32_t)(f->data.n - off);
	f->n++;
}

/* Is ${tag} a field that may be given as ${type}? */
static int
typed(struct fields *f, int tag, enum field_type type)
{
	const struct field_info *info = field_info(tag);

	if (info != NULL && info->type == type)
		return 1;
	fail(f, ERR_BUG);
	return 0;
}

void
fields_u64(struct fields *f, int tag, uint64_t v)
{
	size_t off = f->data.n;

	if (!typed(f, tag, FT_U64))
		return;
	buf_put_u64(&f->data, v);
	put(f, tag, off);
}

void
fields_bytes(struct fields *f, int tag, struct bytes b)
{
	const struct field_info *info = field_info(tag);
	size_t off = f->data.n, size;

	if (info == NULL || (info->type != FT_ID && info->type != FT_HASH &&
	    info->type != FT_SIG && info->type != FT_BYTES)) {
		fail(f, ERR_BUG);
		return;
	}
	size = field_type_size(info->type);
	if (size != 0 && b.n != size) {
		fail(f, ERR_BUG);
		return;
	}
	buf_put(&f->data, b.p, b.n);
	put(f, tag, off);
}

void
fields_text(struct fields *f, int tag, struct str s)
{
	size_t off = f->data.n;

	if (!typed(f, tag, FT_TEXT))
		return;
	if (utf8_valid(s))
		buf_put(&f->data, s.p, s.n);
	else
		escape_put(&f->data, s, FIELDS_BYTES_MAX);
	put(f, tag, off);
}

void
fields_list(struct fields *f, int tag, const char *const *v, size_t n)
{
	size_t off = f->data.n;

	if (!typed(f, tag, FT_LIST))
		return;
	for (size_t i = 0; i < n; i++)
		buf_put(&f->data, v[i], strlen(v[i]) + 1);
	put(f, tag, off);
}

int
fields_ok(const struct fields *f, struct err *e)
{
	if (f->failed)
		return err_set(e, (enum err_code)f->failed,
		    "the fields of a record");
	return buf_ok(&f->data, "the fields of a record", e);
}

struct bytes
fields_get(const struct fields *f, int tag)
{
	for (size_t i = 0; i < f->n; i++)
		if (f->f[i].tag == tag)
			return fields_at(f, i);
	return (struct bytes){ NULL, 0 };
}

void
sealed_digest(int tag, const uint8_t salt[32], struct bytes value,
    uint8_t out[32])
{
	struct digest d;

	digest_init(&d, "glove/sealed/1");
	digest_u64(&d, (uint64_t)tag);
	digest_bytes(&d, bytes_of(salt, 32));
	digest_bytes(&d, value);
	digest_final(&d, out);
}
