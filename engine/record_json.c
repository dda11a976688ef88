/* SPDX-License-Identifier: ISC */
/* record_json.c - a record as one object of glove.records/1, by field.def. */
#include <string.h>

#include "engine/internal.h"

/* Words for the fields that are numbers of a table. */
static int
set_word(struct json *o, int tag, const char *name, uint64_t v)
{
	const char *word;

	if (v > 255)
		return 0;
	switch (tag) {
	case FIELD_END_CAUSE:
		word = cause_word((int)v);
		break;
	case FIELD_MODE:
		word = mode_word((int)v);
		break;
	case FIELD_KEY_USE:
		word = keyuse_word((int)v);
		break;
	default:
		return 0;
	}
	json_set_cstr(o, name, word);
	return 1;
}

static enum id_kind
kind_of(int tag)
{
	switch (tag) {
	case FIELD_EXPOSURE_ID:
		return ID_EXPOSURE;
	case FIELD_SESSION_ID:
		return ID_SESSION;
	case FIELD_CHANGE_ID:
		return ID_CHANGE;
	default:
		return ID_NONE;
	}
}

static struct json *
list_json(struct bytes v)
{
	struct json *l = json_make_array();

	while (v.n > 0) {
		size_t n = strnlen((const char *)v.p, v.n);

		json_add_str(l, (struct str){ (const char *)v.p, n });
		n += n < v.n;
		v.p += n;
		v.n -= n;
	}
	return l;
}

static void
set_value(struct json *o, int tag, const struct field_info *info, struct bytes v)
{
	struct cur c = cur_of(v);
	struct id id;
	char text[ID_TEXT_MAX];
	uint64_t n;

	switch (info->type) {
	case FT_U64:
		n = cur_u64(&c);
		if (!set_word(o, tag, info->name, n))
			json_set_int(o, info->name, n > INT64_MAX ? INT64_MAX :
			    (int64_t)n);
		return;
	case FT_ID:
		memcpy(id.b, v.p, ID_BYTES);
		json_set_cstr(o, info->name, id_str(kind_of(tag), &id, text));
		return;
	case FT_TEXT:
		json_set_str(o, info->name, (struct str){ (const char *)v.p, v.n });
		return;
	case FT_LIST:
		json_set(o, info->name, list_json(v));
		return;
	default:
		json_set_hex(o, info->name, v);
		return;
	}
}

/* A sealed field: its value for whom it belongs to, else its digest. */
static void
set_sealed(struct engine *en, struct json *o, const struct record *r,
    const struct tlv *t, const struct field_info *info, int mine)
{
	AUTO(buf) struct buf b;
	struct json *digest;
	struct err ignore;

	buf_init(&b, FIELDS_BYTES_MAX);
	if (mine && journal_sealed(en->j, r->index, t->tag, NULL, &b, &ignore) == 0) {
		set_value(o, t->tag, info, buf_bytes(&b));
		return;
	}
	digest = json_make_object();
	json_set_hex(digest, "sealed", t->v);
	json_set(o, info->name, digest);
}

static int
is_mine(struct engine *en, const struct record *r, const struct ask *a)
{
	struct subject s;
	struct err ignore;
	int64_t uid;

	if (is_admin(en, a))
		return 1;
	return r->machine != MACHINE_LOG &&
	    journal_subject(en->j, r->machine, &r->subject, &s, &ignore) == 0 &&
	    facts_owner(en, &s, &uid, &ignore) == 0 && uid == (int64_t)a->who.uid;
}

int
record_json(struct engine *en, struct bytes b, const struct ask *a, struct json *o,
    struct err *e)
{
	struct json *fields;
	struct record r;
	int mine;

	if (record_decode(b, &r, e))
		return -1;
	mine = is_mine(en, &r, a);
	json_set_cstr(o, "schema", "glove.record/1");
	json_set_int(o, "index", (int64_t)r.index);
	json_set_cstr(o, "machine", machine_name(r.machine));
	if (r.machine == MACHINE_LOG)
		json_set_null(o, "subject");
	else
		set_id(o, "subject", r.machine, &r.subject);
	json_set_int(o, "seq", r.subject_seq);
	json_set_cstr(o, "event", machine_event_name(r.machine, r.event));
	json_set_cstr(o, "from", machine_state_name(r.machine, r.from));
	json_set_cstr(o, "to", machine_state_name(r.machine, r.to));
	json_set_bool(o, "refused", (r.flags & RECORD_REFUSED) != 0);
	json_set_cstr(o, "actor", actor_word(r.actor));
	json_set_time(o, "time", r.time_us);
	fields = json_make_object();
	for (size_t i = 0; i < r.nfields; i++) {
		const struct field_info *info = field_info(r.field[i].tag);

		if (info->sealed)
			set_sealed(en, fields, &r, &r.field[i], info, mine);
		else
			set_value(fields, r.field[i].tag, info, r.field[i].v);
	}
	json_set(o, "fields", fields);
	return 0;
}
