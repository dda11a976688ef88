/* SPDX-License-Identifier: ISC */
/*
 * The canonical bytes of a manifest, big-endian:
 *
 *	"GLVM" | u16 version 1 | u16 zero | u32 entries | entries
 *	entry	u8 kind | u8 flags | u32 notes | u16 len, path
 *		| side before | side after
 *	side	u8 type, then
 *		FILE	u16 mode | u64 size | 32 SHA-256
 *		DIR	u16 mode
 *		SYMLINK	u16 len, target
 *
 * Entries ascend strictly by path.  flags: bit 0 is runs_later.  The decoder
 * accepts what the encoder writes and nothing else, so a digest over the bytes
 * is a digest over the meaning.
 */
#include <string.h>

#include "sandbox/changes_impl.h"

enum {
	VERSION		= 1,
	ENTRY_LEAST	= 1 + 1 + 4 + 2 + 1 + 1 + 1,	/* bytes */
	FLAG_RUNS_LATER	= 1
};

static const char magic[4] = { 'G', 'L', 'V', 'M' };

static const uint32_t known_notes = 0
#define CHANGE_NOTE(bit, NAME, effect, text) | CHANGE_NOTE_##NAME
#include "sandbox/changes.def"
    ;

static void
put_str(struct buf *b, struct str s)
{
	buf_put_u16(b, (uint16_t)s.n);
	buf_put(b, s.p, s.n);
}

static void
put_side(struct buf *b, const struct change_side *s)
{
	buf_put_u8(b, s->type);
	if (s->type == CHANGE_TYPE_FILE || s->type == CHANGE_TYPE_DIR)
		buf_put_u16(b, s->mode);
	if (s->type == CHANGE_TYPE_FILE) {
		buf_put_u64(b, (uint64_t)s->size);
		buf_put(b, s->digest, sizeof(s->digest));
	}
	if (s->type == CHANGE_TYPE_SYMLINK)
		put_str(b, s->target);
}

int
manifest_encode(const struct manifest *m, struct buf *b, struct err *e)
{
	buf_put(b, magic, sizeof(magic));
	buf_put_u16(b, VERSION);
	buf_put_u16(b, 0);
	buf_put_u32(b, (uint32_t)m->n);
	for (size_t i = 0; i < m->n; i++) {
		const struct change *c = &m->v[i];

		buf_put_u8(b, c->kind);
		buf_put_u8(b, c->runs_later ? FLAG_RUNS_LATER : 0);
		buf_put_u32(b, c->notes);
		put_str(b, c->path);
		put_side(b, &c->before);
		put_side(b, &c->after);
	}
	return buf_ok(b, "the manifest", e);
}

static struct str
get_str(struct cur *c)
{
	struct bytes b = cur_take(c, cur_u16(c));

	return (struct str){ b.n != 0 ? (const char *)b.p : "", b.n };
}

static int
get_side(struct cur *c, struct change_side *s)
{
	uint64_t size;

	*s = (struct change_side){ .type = cur_u8(c), .target = STR("") };
	if (s->type >= CHANGE_TYPE_END)
		return -1;
	if (s->type == CHANGE_TYPE_FILE || s->type == CHANGE_TYPE_DIR) {
		s->mode = cur_u16(c);
		if (s->mode & ~(s->type == CHANGE_TYPE_DIR ? 01777 : 0777))
			return -1;
	}
	if (s->type == CHANGE_TYPE_FILE) {
		if ((size = cur_u64(c)) > INT64_MAX)
			return -1;
		s->size = (int64_t)size;
		cur_copy(c, s->digest, sizeof(s->digest));
	}
	if (s->type == CHANGE_TYPE_SYMLINK) {
		s->target = get_str(c);
		if (s->target.n == 0 || s->target.n > PATH_BYTES_MAX ||
		    memchr(s->target.p, '\0', s->target.n) != NULL)
			return -1;
	}
	return 0;
}

static int
get_entry(struct cur *cur, struct str last, struct change *c)
{
	uint8_t flags;

	*c = (struct change){ .kind = cur_u8(cur) };
	flags = cur_u8(cur);
	c->notes = cur_u32(cur);
	c->path = get_str(cur);
	if (get_side(cur, &c->before) || get_side(cur, &c->after) ||
	    cur->failed || (flags & ~FLAG_RUNS_LATER) != 0 ||
	    (c->notes & ~known_notes) != 0 || !path_valid(c->path) ||
	    (last.n != 0 && path_cmp(last, c->path) >= 0))
		return -1;
	c->runs_later = flags & FLAG_RUNS_LATER;
	/* The kind follows from the two sides; 0 is no change at all. */
	if (c->kind == 0 || c->kind != change_kind_of(&c->before, &c->after) ||
	    (c->kind == CHANGE_KIND_KEEP && c->notes == 0))
		return -1;
	return 0;
}

int
manifest_decode(struct bytes in, struct manifest **out, struct err *e)
{
	AUTO(manifest) struct manifest *m = NULL;
	struct cur cur = cur_of(in);
	struct bytes head = cur_take(&cur, sizeof(magic));
	struct str last = STR("");
	struct change c;
	uint16_t version = cur_u16(&cur), zero = cur_u16(&cur);
	uint32_t n = cur_u32(&cur);

	if (cur.failed || memcmp(head.p, magic, sizeof(magic)) != 0 || zero != 0)
		return err_say(e, ERR_FORMAT, "this is not a manifest");
	if (version != VERSION)
		return err_set(e, ERR_VERSION, "manifest version %u", version);
	if (n > CHANGE_ENTRIES_MAX || n > cur.n / ENTRY_LEAST)
		return err_say(e, ERR_FORMAT,
		    "the manifest says it has more entries than it has");
	if ((m = manifest_new(e)) == NULL)
		return -1;
	for (uint32_t i = 0; i < n; i++) {
		if (get_entry(&cur, last, &c))
			return err_say(e, ERR_FORMAT,
			    "entry %u of the manifest is malformed", i);
		if (manifest_add(m, &c, e))
			return -1;
		last = c.path;
	}
	if (cur.n != 0)
		return err_say(e, ERR_FORMAT, "bytes follow the manifest");
	*out = TAKE(m);
	return 0;
}

int
manifest_digest(const struct manifest *m, uint8_t out[SHA256_BYTES],
    struct err *e)
{
	AUTO(buf) struct buf b;
	struct digest d;

	buf_init(&b, BLOB_MAX);
	if (manifest_encode(m, &b, e))
		return -1;
	digest_init(&d, "glove/manifest/1");
	digest_bytes(&d, buf_bytes(&b));
	digest_final(&d, out);
	return 0;
}
