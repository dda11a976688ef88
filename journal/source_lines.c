/* SPDX-License-Identifier: ISC */
/*
 * source_lines.c - commits and disclosed values as lines of text.  One text a
 * value: what is read is written again and compared.
 */
#include <inttypes.h>
#include <string.h>

#include "base/json.h"
#include "base/num.h"
#include "base/text.h"

#include "journal/source.h"

void
commit_line_put(struct buf *b, const struct commit_row *c)
{
	buf_putf(b, "%" PRIu64 " %" PRIu64 " ", c->no, c->size);
	hex_put(b, BYTES(c->root.b));
	buf_putf(b, " %" PRIu32 " ", c->epoch);
	hex_put(b, BYTES(c->sig));
	buf_put_u8(b, ' ');
	hex_put(b, BYTES(c->mac));
	buf_put_u8(b, '\n');
}

/* The next word of ${s}, up to a blank or the end. */
static struct str
word(struct str *s)
{
	const char *blank = s->n == 0 ? NULL : memchr(s->p, ' ', s->n);
	struct str w = *s;

	if (blank == NULL) {
		*s = (struct str){ NULL, 0 };
		return w;
	}
	w.n = (size_t)(blank - s->p);
	s->p += w.n + 1;
	s->n -= w.n + 1;
	return w;
}

int
commit_line_parse(struct str line, struct commit_row *out, struct err *e)
{
	struct commit_row c;
	struct str s = line, no = word(&s), size = word(&s), root = word(&s),
	    epoch = word(&s), sig = word(&s);
	int64_t n[3];

	if (num_parse(no, 0, INT64_MAX, &n[0], e) ||
	    num_parse(size, 0, INT64_MAX, &n[1], e) ||
	    num_parse(epoch, 0, UINT32_MAX, &n[2], e) ||
	    hex_get(root, c.root.b, sizeof(c.root.b), e) ||
	    hex_get(sig, c.sig, sizeof(c.sig), e) ||
	    hex_get(s, c.mac, sizeof(c.mac), e))
		return err_say(e, ERR_FORMAT,
		    "a line of the file commits is not one");
	c.no = (uint64_t)n[0];
	c.size = (uint64_t)n[1];
	c.epoch = (uint32_t)n[2];
	*out = c;
	return 0;
}

void
sealed_line_put(struct buf *b, const struct sealed_row *s)
{
	const struct field_info *info = field_info(s->tag);
	AUTO(json) struct json *o = json_make_object();
	AUTO(buf) struct buf value;

	buf_init(&value, SIZE_MAX / 2);
	base64_put(&value, s->value);
	if (value.failed)
		b->failed = value.failed;
	json_set_int(o, "index", (int64_t)s->index);
	json_set_int(o, "tag", s->tag);
	json_set_cstr(o, "field", info == NULL ? "" : info->name);
	json_set_hex(o, "salt", BYTES(s->salt));
	json_set_str(o, "value", (struct str){ (const char *)value.p, value.n });
	/* For people; the value is what counts. */
	if (info != NULL && info->type == FT_TEXT)
		json_set_str(o, "text", (struct str){
		    (const char *)s->value.p, s->value.n });
	json_put(b, o);
	buf_put_u8(b, '\n');
}

int
sealed_line_parse(struct str line, struct buf *value, struct sealed_row *out,
    struct err *e)
{
	AUTO(json) struct json *o = NULL;
	AUTO(buf) struct buf again;
	struct sealed_row s = { .index = 0 };
	struct str salt, text;
	int64_t index, tag;

	buf_init(&again, SIZE_MAX / 2);
	buf_reset(value);
	if (json_parse(line, &o, e) ||
	    json_get_int(o, "index", 0, INT64_MAX, &index, e) ||
	    json_get_int(o, "tag", 1, UINT16_MAX, &tag, e) ||
	    json_get_str(o, "salt", &salt, e) ||
	    hex_get(salt, s.salt, sizeof(s.salt), e) ||
	    json_get_str(o, "value", &text, e) || base64_get(text, value, e))
		return err_wrap(e, "sealed.jsonl");
	s.index = (uint64_t)index;
	s.tag = (int)tag;
	s.value = buf_bytes(value);
	sealed_line_put(&again, &s);
	if (buf_ok(&again, "sealed.jsonl", e))
		return -1;
	if (again.n != line.n + 1 || memcmp(again.p, line.p, line.n) != 0)
		return err_say(e, ERR_FORMAT,
		    "a line of sealed.jsonl is not as it was written");
	*out = s;
	return 0;
}
