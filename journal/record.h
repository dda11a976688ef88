/* SPDX-License-Identifier: ISC */
#ifndef JOURNAL_RECORD_H
#define JOURNAL_RECORD_H

#include "base/buf.h"
#include "base/id.h"
#include "base/limits.h"

/*
 * Record v1: a fixed header and strict TLV.  The bytes that are stored are the
 * bytes that are hashed.  Layout: glove-journal(5).
 *
 * One function writes a record, one strict decoder reads it:
 * decode(encode(x)) == x and encode(decode(b)) == b for every b it accepts.
 */
enum {
	RECORD_HEADER = 114,
	RECORD_FIELDS_MAX = 48,
	INSTALL_ID_BYTES = 16,
	FIELDS_BYTES_MAX = 2 << 20	/* all values of a struct fields, sealed too */
};

enum record_flag {
	RECORD_REFUSED = 1	/* an attempt that was refused: from == to, CODE */
};

#define RECORD_NO_PREV UINT64_MAX

enum field {
	FIELD_NONE,
#define FIELD(tag, NAME, name, type, seal, doc) FIELD_##NAME = (tag),
#include "journal/field.def"
	FIELD_END
};

enum field_type { FT_NONE, FT_U64, FT_ID, FT_HASH, FT_SIG, FT_BYTES, FT_TEXT, FT_LIST };

struct field_info {
	const char	*name;
	enum field_type	 type;
	int		 sealed;
	const char	*doc;
};
const struct field_info *field_info(int tag);	/* NULL: no such field */
size_t field_type_size(enum field_type type);	/* 0: any */

/* A field as it stands in the record: a sealed one is its 32-byte digest. */
struct tlv {
	uint16_t	tag;
	struct bytes	v;
};

struct record {
	uint16_t	flags;
	uint8_t		machine;
	uint64_t	index;
	uint8_t		install[INSTALL_ID_BYTES];
	int64_t		time_us;	/* Unix time, as this host claims it */
	int64_t		boottime_us;
	uint8_t		boot_id[16];
	struct id	subject;	/* machine 0: zeros */
	uint32_t	subject_seq;
	uint64_t	prev;		/* of this subject; RECORD_NO_PREV */
	uint8_t		event, from, to;
	uint8_t		actor;
	uint8_t		request[16];	/* zeros: none */
	uint16_t	nfields;
	struct tlv	field[RECORD_FIELDS_MAX];	/* ascending tags */
};

/*
 * record_encode(r, out, e): append the canonical bytes.  Fields must be
 * ascending, unique, known and of their type's size; the first record of a
 * subject, and only that, has no previous one; a refused attempt moves nothing
 * and carries CODE (FORMAT otherwise).  TOOBIG over RECORD_MAX.
 */
int record_encode(const struct record *r, struct buf *out, struct err *e) MUST_CHECK;

/*
 * record_decode(b, r, e): strict; *${r} borrows from ${b}.  FORMAT for
 * anything that record_encode() would not have written; a later version or the
 * critical flag (bit 15) is VERSION.  Other flags that are not known are kept.
 *
 * What machine, event, states and actor mean is not its business: the codes
 * are numbers here, and machine_step() judges them.
 */
int record_decode(struct bytes b, struct record *r, struct err *e) MUST_CHECK;

/* record_field(r, tag): its bytes as they stand there, or {NULL, 0}. */
struct bytes record_field(const struct record *r, int tag);
/* record_u64(r, tag, v): 0 if it is there. */
int record_u64(const struct record *r, int tag, uint64_t *v);

/*
 * Values on their way into a record: what journal_append() takes.  Sealed ones
 * are given in the clear here; append makes the salt and the digest.  A setter
 * that is called twice for a tag, or with a wrong type, fails; it sticks.
 */
struct fields {
	struct buf	data;
	uint16_t	n;
	int		failed;
	struct { uint16_t tag; uint32_t off, len; } f[RECORD_FIELDS_MAX];
};

void fields_init(struct fields *f);
void fields_done(struct fields *f);
static inline void auto_fields(struct fields *f) { fields_done(f); }
void fields_u64(struct fields *f, int tag, uint64_t v);
void fields_bytes(struct fields *f, int tag, struct bytes b);	/* ID, HASH, SIG, BYTES */
void fields_text(struct fields *f, int tag, struct str s);	/* invalid UTF-8 is escaped */
void fields_list(struct fields *f, int tag, const char *const *v, size_t n);
int fields_ok(const struct fields *f, struct err *e) MUST_CHECK;
struct bytes fields_get(const struct fields *f, int tag);	/* as given */

/* fields_at(f, i): the value of f->f[i]; borrowed until the next setter. */
static inline struct bytes
fields_at(const struct fields *f, size_t i)
{
	return (struct bytes){ f->data.p + f->f[i].off, f->f[i].len };
}

/* sealed_digest: D("glove/sealed/1", tag, salt, value). */
void sealed_digest(int tag, const uint8_t salt[32], struct bytes value,
    uint8_t out[32]);

#endif
