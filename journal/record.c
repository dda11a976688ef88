/* SPDX-License-Identifier: ISC */
/*
 * record.c - record v1, both ways.
 *
 *  0  4 magic "GLV1"   4  1 version 1    5  1 machine        6  2 flags
 *  8  8 index         16 16 install id  32  8 time          40  8 boot time
 * 48 16 boot id       64 16 subject     80  4 subject seq   84  8 previous
 * 92  1 event         93  1 from        94  1 to            95  1 actor
 * 96 16 request      112  2 fields     114 .. u16 tag, u32 length, bytes
 *
 * Numbers are big-endian.  The subject is six zero bytes and the id; of the
 * log (machine 0) it is the install id.  What both directions insist on stands
 * in one place, check(): so no record is accepted that would not be written.
 */
#include <string.h>

#include "base/text.h"

#include "journal/record.h"

enum { VERSION = 1, FLAG_CRITICAL = 0x8000, TLV_HEADER = 6, SEALED_BYTES = 32 };

static const uint8_t magic[4] = { 'G', 'L', 'V', '1' };

static int
check_field(const struct tlv *f, struct err *e)
{
	const struct field_info *info = field_info(f->tag);
	size_t size;

	if (info == NULL)
		return err_say(e, ERR_FORMAT,
		    "a record has field %u, which there is not", f->tag);
	size = info->sealed ? SEALED_BYTES : field_type_size(info->type);
	if (size != 0) {
		if (f->v.n == size)
			return 0;
		return err_say(e, ERR_FORMAT,
		    "field %s of a record is %zu bytes long, not %zu",
		    info->name, f->v.n, size);
	}
	if (info->type == FT_TEXT &&
	    !utf8_valid((struct str){ (const char *)f->v.p, f->v.n }))
		return err_say(e, ERR_FORMAT,
		    "field %s of a record is not UTF-8", info->name);
	return 0;
}

static int
check_header(const struct record *r, struct err *e)
{
	static const struct id none;

	if (r->flags & FLAG_CRITICAL)
		return err_set(e, ERR_VERSION, "record %llu",
		    (unsigned long long)r->index);
	if (r->time_us < 0 || r->boottime_us < 0)
		return err_say(e, ERR_FORMAT, "a record is from before 1970");
	if (r->machine == 0 && !id_eq(&r->subject, &none))
		return err_say(e, ERR_FORMAT,
		    "a record of the log has another subject");
	if ((r->subject_seq == 0) != (r->prev == RECORD_NO_PREV))
		return err_say(e, ERR_FORMAT,
		    "a record is the first of its subject and is not");
	if (r->prev != RECORD_NO_PREV && r->prev >= r->index)
		return err_say(e, ERR_FORMAT,
		    "a record follows one that is not before it");
	return 0;
}

/* Everything that both directions insist on; *${size} is that of the bytes. */
static int
check(const struct record *r, size_t *size, struct err *e)
{
	size_t n = RECORD_HEADER;
	int last = 0;

	if (check_header(r, e))
		return -1;
	if (r->nfields > RECORD_FIELDS_MAX)
		return err_say(e, ERR_FORMAT, "a record has %u fields",
		    r->nfields);
	for (size_t i = 0; i < r->nfields; i++) {
		const struct tlv *f = &r->field[i];

		if (f->tag <= last)
			return err_say(e, ERR_FORMAT,
			    "the fields of a record are not ascending");
		last = f->tag;
		if (check_field(f, e))
			return -1;
		/* One at a time: the sum cannot wrap. */
		if (f->v.n > RECORD_MAX || (n += TLV_HEADER + f->v.n) > RECORD_MAX)
			return err_set(e, ERR_TOOBIG, "a record");
	}
	if (r->flags & RECORD_REFUSED &&
	    (r->from != r->to || record_field(r, FIELD_CODE).n == 0))
		return err_say(e, ERR_FORMAT,
		    "a refused attempt moved something or has no code");
	*size = n;
	return 0;
}

static void
put_header(const struct record *r, struct buf *b)
{
	static const uint8_t zeros[6];

	buf_put(b, magic, sizeof(magic));
	buf_put_u8(b, VERSION);
	buf_put_u8(b, r->machine);
	buf_put_u16(b, r->flags);
	buf_put_u64(b, r->index);
	buf_put(b, r->install, sizeof(r->install));
	buf_put_u64(b, (uint64_t)r->time_us);
	buf_put_u64(b, (uint64_t)r->boottime_us);
	buf_put(b, r->boot_id, sizeof(r->boot_id));
	if (r->machine == 0) {
		buf_put(b, r->install, sizeof(r->install));
	} else {
		buf_put(b, zeros, sizeof(zeros));
		buf_put(b, r->subject.b, sizeof(r->subject.b));
	}
	buf_put_u32(b, r->subject_seq);
	buf_put_u64(b, r->prev);
	buf_put_u8(b, r->event);
	buf_put_u8(b, r->from);
	buf_put_u8(b, r->to);
	buf_put_u8(b, r->actor);
	buf_put(b, r->request, sizeof(r->request));
	buf_put_u16(b, r->nfields);
}

int
record_encode(const struct record *r, struct buf *out, struct err *e)
{
	size_t size;

	if (check(r, &size, e))
		return -1;
	put_header(r, out);
	for (size_t i = 0; i < r->nfields; i++) {
		buf_put_u16(out, r->field[i].tag);
		buf_put_u32(out, (uint32_t)r->field[i].v.n);
		buf_put(out, r->field[i].v.p, r->field[i].v.n);
	}
	return buf_ok(out, "record", e);
}

/* 1 if the 16 bytes of a subject are right for ${r}, whose install is known. */
static int
get_subject(struct cur *c, struct record *r)
{
	static const uint8_t zeros[6];
	uint8_t b[6 + ID_BYTES];

	cur_copy(c, b, sizeof(b));
	if (r->machine == 0) {
		memset(&r->subject, 0, sizeof(r->subject));
		return memcmp(b, r->install, sizeof(b)) == 0;
	}
	memcpy(r->subject.b, b + sizeof(zeros), ID_BYTES);
	return memcmp(b, zeros, sizeof(zeros)) == 0;
}

static int
get_header(struct cur *c, struct record *r, struct err *e)
{
	struct bytes m = cur_take(c, sizeof(magic));
	uint8_t version = cur_u8(c);
	int subject;

	if (c->failed || memcmp(m.p, magic, sizeof(magic)) != 0)
		return err_say(e, ERR_FORMAT, "these bytes are not a record");
	if (version > VERSION)
		return err_set(e, ERR_VERSION, "a record of version %u", version);
	r->machine = cur_u8(c);
	r->flags = cur_u16(c);
	r->index = cur_u64(c);
	cur_copy(c, r->install, sizeof(r->install));
	r->time_us = (int64_t)cur_u64(c);
	r->boottime_us = (int64_t)cur_u64(c);
	cur_copy(c, r->boot_id, sizeof(r->boot_id));
	subject = get_subject(c, r);
	r->subject_seq = cur_u32(c);
	r->prev = cur_u64(c);
	r->event = cur_u8(c);
	r->from = cur_u8(c);
	r->to = cur_u8(c);
	r->actor = cur_u8(c);
	cur_copy(c, r->request, sizeof(r->request));
	r->nfields = cur_u16(c);
	if (c->failed || version != VERSION || !subject)
		return err_say(e, ERR_FORMAT, "the header of a record is wrong");
	return 0;
}

int
record_decode(struct bytes b, struct record *out, struct err *e)
{
	struct cur c = cur_of(b);
	struct record r;
	size_t size;

	if (b.n > RECORD_MAX)
		return err_set(e, ERR_TOOBIG, "a record");
	if (get_header(&c, &r, e))
		return -1;
	if (r.nfields > RECORD_FIELDS_MAX)
		return err_say(e, ERR_FORMAT, "a record has %u fields",
		    r.nfields);
	for (size_t i = 0; i < r.nfields; i++) {
		r.field[i].tag = cur_u16(&c);
		r.field[i].v = cur_take(&c, cur_u32(&c));
	}
	if (c.failed)
		return err_say(e, ERR_FORMAT, "a record is cut short");
	if (c.n != 0)
		return err_say(e, ERR_FORMAT, "something stands after a record");
	if (check(&r, &size, e))
		return -1;
	memcpy(out, &r, offsetof(struct record, field));
	memcpy(out->field, r.field, r.nfields * sizeof(r.field[0]));
	return 0;
}

struct bytes
record_field(const struct record *r, int tag)
{
	for (size_t i = 0; i < r->nfields && r->field[i].tag <= tag; i++)
		if (r->field[i].tag == tag)
			return r->field[i].v;
	return (struct bytes){ NULL, 0 };
}

int
record_u64(const struct record *r, int tag, uint64_t *v)
{
	const struct field_info *info = field_info(tag);
	struct cur c = cur_of(record_field(r, tag));

	if (c.p == NULL || info == NULL || info->type != FT_U64)
		return -1;
	*v = cur_u64(&c);
	return 0;
}
