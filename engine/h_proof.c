/* SPDX-License-Identifier: ISC */
/* h_proof.c - what can be shown to others: receipts, checkpoints, blobs, keys. */
#include <string.h>

#include "base/text.h"

#include "engine/internal.h"

enum { BLOB_CHUNK = 512 << 10, KEYS_MAX = 1000 };

int
handle_receipt_get(struct engine *en, struct ask *a, struct err *e)
{
	AUTO(buf) struct buf bytes, b;
	struct record r;
	struct subject s;
	int64_t index, uid;

	buf_init(&bytes, RECORD_MAX);
	buf_init(&b, RECEIPT_MAX);
	if (json_get_int(a->params, "record", 0, INT64_MAX, &index, e))
		return -1;
	/* What this turn has appended has no proof before its commit. */
	if ((uint64_t)index >= journal_size(en->j))
		return err_say(e, ERR_NOTFOUND, "there is no record %lld",
		    (long long)index);
	if (journal_record(en->j, (uint64_t)index, &bytes, e) ||
	    record_decode(buf_bytes(&bytes), &r, e))
		return -1;
	if (!is_admin(en, a) && (r.machine == MACHINE_LOG ||
	    journal_subject(en->j, r.machine, &r.subject, &s, e) ||
	    facts_owner(en, &s, &uid, e) || uid != (int64_t)a->who.uid))
		return err_say(e, ERR_DENIED, "that record is another user's");
	if (journal_receipt(en->j, (uint64_t)index, &b, e))
		return -1;
	a->result = json_make_object();
	json_set_cstr(a->result, "schema", "glove.receipt/1");
	json_set_str(a->result, "receipt", (struct str){ (const char *)b.p, b.n });
	return 0;
}

int
handle_checkpoint_get(struct engine *en, struct ask *a, struct err *e)
{
	AUTO(buf) struct buf b;

	buf_init(&b, RECEIPT_MAX);
	if (journal_checkpoint(en->j, &b, e))
		return -1;
	a->result = json_make_object();
	json_set_cstr(a->result, "schema", "glove.checkpoint/1");
	json_set_str(a->result, "checkpoint", (struct str){ (const char *)b.p, b.n });
	return 0;
}

/* A blob is the caller's if it is the manifest of a change of theirs. */
struct blob_seek {
	struct engine	*en;
	int64_t		 uid;
	const uint8_t	*digest;
	int		 found;
};

static int
blob_seek(void *ctx, const struct subject *s, struct err *e)
{
	struct blob_seek *k = ctx;
	AUTO(buf) struct buf b;
	struct record r;
	uint64_t index;
	int64_t uid;

	buf_init(&b, RECORD_MAX);
	if (facts_owner(k->en, s, &uid, e))
		return -1;
	if (uid != k->uid)
		return 0;
	if (fact_record(k->en, s, CHANGE_EV_stage, &index, &b, e) ||
	    record_decode(buf_bytes(&b), &r, e))
		return -1;
	k->found = bytes_eq(record_field(&r, FIELD_MANIFEST_BLOB),
	    bytes_of(k->digest, 32));
	return k->found;
}

int
handle_blob_read(struct engine *en, struct ask *a, struct err *e)
{
	AUTO(buf) struct buf blob, text;
	uint8_t digest[32];
	struct blob_seek k = { en, (int64_t)a->who.uid, digest, 0 };
	int64_t offset;
	struct str hex;
	size_t n;

	if (json_get_str(a->params, "digest", &hex, e) ||
	    hex_get(hex, digest, sizeof(digest), e) ||
	    json_get_int(a->params, "offset", 0, BLOB_MAX, &offset, e))
		return -1;
	if (!is_admin(en, a)) {
		if (journal_each(en->j, MACHINE_CHANGE, 0, 1, blob_seek, &k, e))
			return -1;
		if (!k.found)
			return err_say(e, ERR_NOTFOUND, "you have no such blob");
	}
	buf_init(&blob, BLOB_MAX);
	buf_init(&text, FRAME_MAX);
	if (journal_blob_get(en->j, digest, &blob, e))
		return -1;
	n = (size_t)offset < blob.n ? blob.n - (size_t)offset : 0;
	if (n > BLOB_CHUNK)
		n = BLOB_CHUNK;
	if (n > 0)
		base64_put(&text, bytes_of(blob.p + offset, n));
	if (buf_ok(&text, "blob", e))
		return -1;
	a->result = json_make_object();
	json_set_cstr(a->result, "schema", "glove.blob/1");
	json_set_str(a->result, "data", (struct str){ (const char *)text.p, text.n });
	json_set_int(a->result, "size", (int64_t)blob.n);
	return 0;
}

struct keys {
	struct engine	*en;
	struct json	*list;
};

static int
add_key(void *ctx, const struct subject *s, struct err *e)
{
	struct keys *k = ctx;
	AUTO(buf) struct buf b;
	struct json *o = json_make_object();
	uint64_t until;

	buf_init(&b, RECORD_MAX);
	set_id(o, "id", MACHINE_KEY, &s->id);
	json_set_cstr(o, "use", keyuse_word((int)fact_int(s, KEY_FACT_use, 0)));
	json_set_cstr(o, "state", machine_state_name(MACHINE_KEY, s->state));
	json_set_hex(o, "pub", bytes_of(s->fact[KEY_FACT_pub].b,
	    s->fact[KEY_FACT_pub].n));
	json_set_int(o, "from", (int64_t)s->first);
	if (fact_record(k->en, s, KEY_EV_retire, &until, &b, e) == 0)
		json_set_int(o, "until", (int64_t)until);
	else
		json_set_null(o, "until");
	if (s->fact[KEY_FACT_epoch].present)
		json_set_int(o, "epoch", s->fact[KEY_FACT_epoch].i);
	else
		json_set_null(o, "epoch");
	json_add(k->list, o);
	return json_len(k->list) >= KEYS_MAX;
}

int
handle_key_list(struct engine *en, struct ask *a, struct err *e)
{
	struct keys k = { en, json_make_array() };

	a->result = json_make_object();
	json_set_cstr(a->result, "schema", "glove.keys/1");
	json_set(a->result, "keys", k.list);
	return journal_each(en->j, MACHINE_KEY, 0, 0, add_key, &k, e);
}
