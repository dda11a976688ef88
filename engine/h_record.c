/* SPDX-License-Identifier: ISC */
/* h_record.c - the journal itself, a page at a time: records, commits, sealed
 * values, derived rows. */
#include <string.h>

#include "base/text.h"

#include "engine/internal.h"

enum {
	PAGE_MAX = 1000,		/* entries of one answer */
	FOLLOWS_MAX = 16,		/* of one connection */
	PAGE_BYTES = 600 << 10		/* and bytes, so that it fits a frame */
};

/* One page of an answer that goes on with "next". */
struct page {
	struct engine	*en;
	const struct ask *a;
	struct json	*list;
	int64_t		 from, limit;
	size_t		 bytes;
	uint64_t	 next;
};

static int
page_start(struct engine *en, struct ask *a, const char *schema, const char *key,
    struct page *p, struct err *e)
{
	*p = (struct page){ .en = en, .a = a, .list = json_make_array(),
	    .limit = PAGE_MAX };
	a->result = json_make_object();
	json_set_cstr(a->result, "schema", schema);
	json_set(a->result, key, p->list);
	return json_opt_int(a->params, "from", 0, INT64_MAX, &p->from, e) ||
	    json_opt_int(a->params, "limit", 1, PAGE_MAX, &p->limit, e) ? -1 : 0;
}

/* 1 when ${p} is full; the caller stops before what is not shown. */
static int
page_full(const struct page *p, size_t more)
{
	return json_len(p->list) >= (size_t)p->limit ||
	    (json_len(p->list) > 0 && p->bytes + more > PAGE_BYTES);
}

static void
page_end(struct page *p, struct ask *a)
{
	json_set_int(a->result, "next", (int64_t)p->next);
}

/* params.subject: an id of any machine; 0 if there is one. */
static int
param_subject(struct engine *en, const struct ask *a, int *machine, struct id *id,
    struct err *e)
{
	struct id_prefix p;
	struct subject s;
	struct str text;
	size_t n = 0;

	if (json_get_str(a->params, "subject", &text, e) ||
	    id_prefix_parse(text, &p, e) || journal_find(en->j, &p, &s, 1, &n, e))
		return -1;
	if (n == 0)
		return err_say(e, ERR_NOTFOUND, "there is no %.*s", (int)text.n,
		    text.p);
	*machine = s.machine;
	*id = s.id;
	return 0;
}

/* ---- records as JSON ----------------------------------------------------- */

static int
add_record(void *ctx, uint64_t index, struct bytes b, struct err *e)
{
	struct page *p = ctx;
	AUTO(buf) struct buf text;
	struct json *o;

	if (index < (uint64_t)p->from)
		return 0;
	if ((o = json_make_object()) == NULL)
		return err_set(e, ERR_NOMEM, "record");
	buf_init(&text, FRAME_MAX);
	if (record_json(p->en, b, p->a, o, e)) {
		json_free(o);
		return -1;
	}
	json_put(&text, o);
	if (page_full(p, text.n)) {
		json_free(o);
		return 1;
	}
	p->bytes += text.n;
	p->next = index + 1;
	json_add(p->list, o);
	return 0;
}

/* The last ${limit} of them begin here. */
static uint64_t
newest(const struct engine *en, int64_t limit)
{
	uint64_t size = journal_size(en->j);

	return size > (uint64_t)limit ? size - (uint64_t)limit : 0;
}

int
handle_record_list(struct engine *en, struct ask *a, struct err *e)
{
	struct page p;
	struct id id;
	int machine = MACHINE_LOG, last = 0, one = json_get(a->params, "subject") != NULL;

	if (page_start(en, a, "glove.records/1", "records", &p, e) ||
	    json_opt_bool(a->params, "newest", &last, e) ||
	    (one && param_subject(en, a, &machine, &id, e)))
		return -1;
	if (last && !one)
		p.from = (int64_t)newest(en, p.limit);
	p.next = (uint64_t)p.from;
	if (journal_history(en->j, machine, one ? &id : NULL, (uint64_t)p.from,
	    add_record, &p, e))
		return -1;
	page_end(&p, a);
	json_set_int(a->result, "size", (int64_t)journal_size(en->j));
	return 0;
}

int
handle_journal_follow(struct engine *en, struct ask *a, struct err *e)
{
	struct follower *f;
	size_t mine = 0;
	struct id id = { { 0 } };
	int machine = MACHINE_LOG, one = json_get(a->params, "subject") != NULL;

	if (one && param_subject(en, a, &machine, &id, e))
		return -1;
	for (size_t i = 0; i < en->followers.n; i++)
		mine += en->followers.v[i].conn == a->conn;
	if (mine >= FOLLOWS_MAX)
		return err_say(e, ERR_LIMIT, "this connection follows %d things already",
		    FOLLOWS_MAX);
	if ((f = list_add(&en->followers, e)) == NULL)
		return -1;
	*f = (struct follower){ .conn = a->conn, .who = a->who, .all = !one,
	    .subject = id };
	a->result = json_make_object();
	json_set_cstr(a->result, "schema", "glove.follow/1");
	json_set_int(a->result, "next", (int64_t)journal_size(en->j));
	return 0;
}

/* ---- bytes, for verification and export ---------------------------------- */

static int
add_raw(void *ctx, uint64_t index, struct bytes b, struct err *e)
{
	struct page *p = ctx;
	AUTO(buf) struct buf text;

	buf_init(&text, 2 * RECORD_MAX);
	base64_put(&text, b);
	if (buf_ok(&text, "record", e))
		return -1;
	if (page_full(p, text.n))
		return 1;
	p->bytes += text.n;
	p->next = index + 1;
	json_add_str(p->list, (struct str){ (const char *)text.p, text.n });
	return 0;
}

int
handle_record_raw(struct engine *en, struct ask *a, struct err *e)
{
	struct page p;

	if (page_start(en, a, "glove.raw/1", "records", &p, e))
		return -1;
	p.next = (uint64_t)p.from;
	if (journal_history(en->j, MACHINE_LOG, NULL, (uint64_t)p.from, add_raw, &p, e))
		return -1;
	json_set_int(a->result, "size", (int64_t)journal_size(en->j));
	page_end(&p, a);
	return 0;
}

static int
add_sealed(struct page *p, const struct record *r, struct err *e)
{
	for (size_t i = 0; i < r->nfields; i++) {
		const struct tlv *t = &r->field[i];
		AUTO(buf) struct buf value, text;
		uint8_t salt[32];
		struct json *o;

		if (!field_info(t->tag)->sealed)
			continue;
		buf_init(&value, FIELDS_BYTES_MAX);
		buf_init(&text, 2 * FIELDS_BYTES_MAX);
		if (journal_sealed(p->en->j, r->index, t->tag, salt, &value, e)) {
			if (e->code == ERR_NOTFOUND)
				continue;
			return -1;
		}
		if ((o = json_make_object()) == NULL)
			return err_set(e, ERR_NOMEM, "sealed value");
		json_set_int(o, "index", (int64_t)r->index);
		json_set_int(o, "tag", t->tag);
		base64_put(&text, BYTES(salt));
		json_set_str(o, "salt", (struct str){ (const char *)text.p, text.n });
		buf_reset(&text);
		base64_put(&text, buf_bytes(&value));
		json_set_str(o, "value", (struct str){ (const char *)text.p, text.n });
		p->bytes += text.n + 128;
		json_add(p->list, o);
	}
	return 0;
}

/* Whole records only, so that "next" is a record. */
static int
add_sealed_of(void *ctx, uint64_t index, struct bytes b, struct err *e)
{
	struct page *p = ctx;
	struct record r;

	if (index < (uint64_t)p->from)
		return 0;
	if (p->bytes > PAGE_BYTES / 2 || json_len(p->list) >= (size_t)p->limit)
		return 1;
	if (record_decode(b, &r, e) || add_sealed(p, &r, e))
		return -1;
	p->next = index + 1;
	return 0;
}

int
handle_sealed_list(struct engine *en, struct ask *a, struct err *e)
{
	int machine = MACHINE_LOG, one = json_get(a->params, "subject") != NULL;
	struct subject s;
	struct page p;
	struct id id;
	int64_t uid;

	if (page_start(en, a, "glove.sealed/1", "sealed", &p, e) ||
	    (one && param_subject(en, a, &machine, &id, e)))
		return -1;
	if (!one && !is_admin(en, a))
		return err_say(e, ERR_DENIED, "name a subject of your own");
	if (one) {
		if (journal_subject(en->j, machine, &id, &s, e) ||
		    facts_owner(en, &s, &uid, e))
			return -1;
		if (uid != (int64_t)a->who.uid && !is_admin(en, a))
			return err_say(e, ERR_DENIED, "it is another user's");
	}
	p.next = (uint64_t)p.from;
	if (journal_history(en->j, machine, one ? &id : NULL, (uint64_t)p.from,
	    add_sealed_of, &p, e))
		return -1;
	page_end(&p, a);
	return 0;
}

/* ---- derived rows -------------------------------------------------------- */

static struct json *
facts_json(const struct subject *s)
{
	struct json *l = json_make_array();

	for (size_t i = 0; i < FACTS_MAX; i++) {
		const struct fact *f = &s->fact[i];
		struct json *o = json_make_object();

		if (!f->present)
			json_set_null(o, "v");
		else if (f->n > 0)
			json_set_hex(o, "v", bytes_of(f->b, f->n));
		else
			json_set_int(o, "v", f->i);
		json_add(l, o);
	}
	return l;
}

static int
add_row(void *ctx, const struct subject *s, struct err *e)
{
	struct page *p = ctx;
	struct json *o;

	if (p->next++ < (uint64_t)p->from)
		return 0;
	if (page_full(p, 2048)) {
		p->next--;
		return 1;
	}
	if ((o = json_make_object()) == NULL)
		return err_set(e, ERR_NOMEM, "row");
	set_id(o, "id", s->machine, &s->id);
	json_set_int(o, "state", s->state);
	json_set_int(o, "seq", s->seq);
	json_set_int(o, "first", (int64_t)s->first);
	json_set_int(o, "last", (int64_t)s->last);
	json_set_int(o, "born_us", s->born_us);
	json_set_int(o, "moved_us", s->moved_us);
	json_set_int(o, "owed", s->owed);
	json_set(o, "facts", facts_json(s));
	p->bytes += 2048;
	json_add(p->list, o);
	return 0;
}

int
handle_derived_list(struct engine *en, struct ask *a, struct err *e)
{
	char name[32];
	struct page p;
	int machine = 1;

	if (page_start(en, a, "glove.derived/1", "rows", &p, e) ||
	    param_text(a, "machine", name, sizeof(name), e))
		return -1;
	while (machine < MACHINE_END && (!machine_valid(machine) ||
	    strcmp(machine_name(machine), name) != 0))
		machine++;
	if (machine == MACHINE_END)
		return err_say(e, ERR_USAGE, "there is no machine \"%s\"", name);
	if (journal_each(en->j, machine, 0, 0, add_row, &p, e))
		return -1;
	page_end(&p, a);
	return 0;
}

/* ---- commits ------------------------------------------------------------- */

static int
add_commit(struct page *p, const struct journal_commit *c, struct err *e)
{
	AUTO(buf) struct buf sig, mac;
	struct json *o = json_make_object();

	if (o == NULL)
		return err_set(e, ERR_NOMEM, "commit");
	buf_init(&sig, 256);
	buf_init(&mac, 256);
	base64_put(&sig, BYTES(c->sig));
	base64_put(&mac, BYTES(c->mac));
	json_set_int(o, "no", (int64_t)c->no);
	json_set_int(o, "size", (int64_t)c->size);
	json_set_hex(o, "root", BYTES(c->root.b));
	json_set_int(o, "epoch", (int64_t)c->epoch);
	json_set_str(o, "sig", (struct str){ (const char *)sig.p, sig.n });
	json_set_str(o, "mac", (struct str){ (const char *)mac.p, mac.n });
	json_add(p->list, o);
	return 0;
}

int
handle_commit_raw(struct engine *en, struct ask *a, struct err *e)
{
	struct journal_commit c;
	struct page p;

	if (page_start(en, a, "glove.commits/1", "commits", &p, e))
		return -1;
	p.next = (uint64_t)p.from;
	/* Those of this turn are not made yet. */
	while (p.next < journal_commits(en->j) && !page_full(&p, 0)) {
		if (journal_commit_row(en->j, p.next, &c, e) ||
		    add_commit(&p, &c, e))
			return -1;
		p.next++;
	}
	page_end(&p, a);
	return 0;
}
