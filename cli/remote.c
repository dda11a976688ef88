/* SPDX-License-Identifier: ISC */
/* remote.c - records, commits, values, rows of a running gloved, page by page. */
#include <string.h>

#include "base/limits.h"
#include "base/text.h"
#include "cli/remote.h"

/* A list that gloved hands out in pages, each with where the next begins. */
struct pages {
	struct json	*page;
	struct json	*list;		/* in page */
	size_t		 at;
	int64_t		 next;
	int		 done;
};

struct remote {
	struct cli	*c;
	uint64_t	 size;		/* of the checkpoint */
	struct pages	 records, commits, sealed, derived;
	int		 machine;	/* whose rows are being read */
	struct buf	 record, value;
};


static void
pages_done(struct pages *p)
{
	json_free(p->page);
	*p = (struct pages){ .at = 0 };
}

/* 1 and the next entry, 0 at the end.  ${key} and ${value}, if not NULL, narrow
 * the question. */
static int
pages_next(struct remote *r, struct pages *p, const char *method,
    const char *list, const char *key, const char *value, struct json **item,
    struct err *e)
{
	struct json *params;

	while (p->list == NULL || p->at == json_len(p->list)) {
		/* An empty page is the end. */
		if (p->done || (p->list != NULL && p->at == 0)) {
			p->done = 1;
			return 0;
		}
		params = json_make_object();
		json_set_int(params, "from", p->next);
		if (key != NULL)
			json_set_cstr(params, key, value);
		json_free(p->page);
		p->page = NULL;
		p->list = NULL;
		p->at = 0;
		if (cli_call(r->c, method, params, &p->page, e) ||
		    json_get_int(p->page, "next", p->next, INT64_MAX, &p->next,
		    e))
			return -1;
		p->list = json_get(p->page, list);
		if (!json_is_array(p->list))
			return err_say(e, ERR_FORMAT, "gloved's answer to %s"
			    " has no %s", method, list);
	}
	*item = json_at(p->list, p->at++);
	return 1;
}

/* ---- the source --------------------------------------------------------- */

static int
get_checkpoint(void *ctx, struct buf *note, struct err *e)
{
	struct remote *r = ctx;
	AUTO(json) struct json *o = NULL;
	struct checkpoint c;
	struct str s, text, rest;

	if (cli_call(r->c, "checkpoint.get", NULL, &o, e) ||
	    json_get_str(o, "checkpoint", &s, e) ||
	    checkpoint_parse(s, &c, &text, &rest, e))
		return -1;
	r->size = c.size;
	buf_put(note, s.p, s.n);
	return buf_ok(note, "checkpoint", e);
}

static int
get_record(void *ctx, struct bytes *b, struct err *e)
{
	struct remote *r = ctx;
	struct json *item;
	struct str s;
	int more = pages_next(r, &r->records, "record.raw", "records", NULL,
	    NULL, &item, e);

	if (more != 1)
		return more;
	buf_reset(&r->record);
	if (json_text(item, &s))
		return err_say(e, ERR_FORMAT, "gloved sent no record");
	if (base64_get(s, &r->record, e))
		return -1;
	*b = buf_bytes(&r->record);
	return 1;
}

/* Exactly ${n} bytes in base64. */
static int
get_bytes(const struct json *o, const char *key, uint8_t *out, size_t n,
    struct err *e)
{
	AUTO(buf) struct buf b;
	struct str s;

	buf_init(&b, n);
	if (json_get_str(o, key, &s, e) || base64_get(s, &b, e) || b.n != n)
		return err_say(e, ERR_FORMAT, "gloved sent a bad %s", key);
	memcpy(out, b.p, n);
	return 0;
}

static int
get_commit(void *ctx, struct commit_row *c, struct err *e)
{
	struct remote *r = ctx;
	struct json *o;
	struct str root;
	int64_t no, size, epoch;
	int more = pages_next(r, &r->commits, "commit.raw", "commits", NULL,
	    NULL, &o, e);

	if (more != 1)
		return more;
	if (json_get_int(o, "no", 0, INT64_MAX, &no, e) ||
	    json_get_int(o, "size", 0, INT64_MAX, &size, e) ||
	    json_get_int(o, "epoch", 0, UINT32_MAX, &epoch, e) ||
	    json_get_str(o, "root", &root, e) ||
	    hex_get(root, c->root.b, sizeof(c->root.b), e) ||
	    get_bytes(o, "sig", c->sig, sizeof(c->sig), e) ||
	    get_bytes(o, "mac", c->mac, sizeof(c->mac), e))
		return -1;
	c->no = (uint64_t)no;
	c->size = (uint64_t)size;
	c->epoch = (uint32_t)epoch;
	return 1;
}

static int
sealed_row(struct remote *r, const struct json *o, struct sealed_row *s,
    struct err *e)
{
	int64_t index, tag;
	struct str value;

	buf_reset(&r->value);
	if (json_get_int(o, "index", 0, INT64_MAX, &index, e) ||
	    json_get_int(o, "tag", 1, UINT16_MAX, &tag, e) ||
	    get_bytes(o, "salt", s->salt, sizeof(s->salt), e) ||
	    json_get_str(o, "value", &value, e) ||
	    base64_get(value, &r->value, e))
		return -1;
	s->index = (uint64_t)index;
	s->tag = (int)tag;
	s->value = buf_bytes(&r->value);
	return 0;
}

static int
get_sealed(void *ctx, struct sealed_row *s, struct err *e)
{
	struct remote *r = ctx;
	struct json *o;
	int more = pages_next(r, &r->sealed, "sealed.list", "sealed", NULL,
	    NULL, &o, e);

	return more != 1 ? more : sealed_row(r, o, s, e) ? -1 : 1;
}

static int
fact(const struct json *o, struct fact *f, struct err *e)
{
	const struct json *v = json_get(o, "v");
	struct str hex;

	*f = (struct fact){ .present = !json_is_null(v) };
	if (!f->present || json_int(v, &f->i) == 0)
		return 0;
	if (json_text(v, &hex) || hex.n % 2 != 0 || hex.n / 2 > sizeof(f->b))
		return err_say(e, ERR_FORMAT, "gloved sent a bad fact");
	f->n = hex.n / 2;
	return hex_get(hex, f->b, f->n, e);
}

static int
derived_row(int machine, const struct json *o, struct subject *s, struct err *e)
{
	const struct json *facts = json_get(o, "facts");
	int64_t state, seq, first, last, owed;
	struct str id;

	*s = (struct subject){ .machine = machine };
	if (json_get_str(o, "id", &id, e) ||
	    id_parse(machine_id_kind(machine), id, &s->id, e) ||
	    json_get_int(o, "state", 0, 255, &state, e) ||
	    json_get_int(o, "seq", 0, UINT32_MAX, &seq, e) ||
	    json_get_int(o, "first", 0, INT64_MAX, &first, e) ||
	    json_get_int(o, "last", 0, INT64_MAX, &last, e) ||
	    json_get_int(o, "born_us", 0, INT64_MAX, &s->born_us, e) ||
	    json_get_int(o, "moved_us", 0, INT64_MAX, &s->moved_us, e) ||
	    json_get_int(o, "owed", 0, 255, &owed, e))
		return -1;
	s->state = (int)state;
	s->seq = (uint32_t)seq;
	s->first = (uint64_t)first;
	s->last = (uint64_t)last;
	s->owed = (int)owed;
	for (size_t i = 0; i < json_len(facts) && i < FACTS_MAX; i++)
		if (fact(json_at(facts, i), &s->fact[i], e))
			return -1;
	return 0;
}

static int
get_derived(void *ctx, struct subject *s, struct err *e)
{
	struct remote *r = ctx;
	struct json *o;
	int more;

	for (;; r->machine++) {
		if (r->machine >= MACHINE_END)
			return 0;
		if (r->machine == MACHINE_LOG || !machine_valid(r->machine))
			continue;
		more = pages_next(r, &r->derived, "derived.list", "rows",
		    "machine", machine_name(r->machine), &o, e);
		if (more != 0)
			break;
		pages_done(&r->derived);
	}
	return more < 0 || derived_row(r->machine, o, s, e) ? -1 : 1;
}

int
remote_open(struct cli *c, struct remote **out, struct source *s,
    struct err *e)
{
	static const struct source_ops ops = {
		.checkpoint = get_checkpoint, .record = get_record,
		.commit = get_commit, .sealed = get_sealed,
		.derived = get_derived,
	};
	AUTO(remote) struct remote *r = NULL;
	AUTO(json) struct json *status = NULL;
	int64_t n;

	/* gloved compared database and head file when it started, and knows how
	 * many records it has written since. */
	if (cli_connect(c, e) ||
	    cli_call(c, "daemon.status", NULL, &status, e) ||
	    json_get_int(status, "records", 0, INT64_MAX, &n, e))
		return -1;
	if ((r = calloc(1, sizeof(*r))) == NULL)
		return err_set(e, ERR_NOMEM, "remote journal");
	r->c = c;
	buf_init(&r->record, RECORD_MAX);
	buf_init(&r->value, FRAME_MAX);
	*s = (struct source){ .ops = &ops, .ctx = r, .live = 1,
	    .size_from = "the running gloved", .size = (uint64_t)n };
	*out = TAKE(r);
	return 0;
}

void
remote_close(struct remote *r)
{
	if (r == NULL)
		return;
	pages_done(&r->records);
	pages_done(&r->commits);
	pages_done(&r->sealed);
	pages_done(&r->derived);
	buf_done(&r->record);
	buf_done(&r->value);
	free(r);
}

/* ---- for an export ------------------------------------------------------ */

static int
each_sealed(void *ctx, int machine, const struct id *id,
    int (*visit)(void *vctx, const struct sealed_row *s, struct err *e),
    void *vctx, struct err *e)
{
	struct remote *r = ctx;
	char text[ID_TEXT_MAX] = "";
	struct sealed_row row;
	struct json *o;
	int more;

	if (id != NULL)
		(void)id_str(machine_id_kind(machine), id, text);
	pages_done(&r->sealed);
	while ((more = pages_next(r, &r->sealed, "sealed.list", "sealed",
	    id == NULL ? NULL : "subject", text, &o, e)) == 1)
		if (sealed_row(r, o, &row, e) || visit(vctx, &row, e))
			return -1;
	return more;
}

static int
get_blob(void *ctx, const uint8_t digest[32],
    int (*visit)(void *vctx, struct bytes piece, struct err *e), void *vctx,
    struct err *e)
{
	struct remote *r = ctx;
	int64_t at = 0, size = 1;

	while (at < size) {
		AUTO(json) struct json *params = json_make_object(), *o = NULL;
		AUTO(buf) struct buf b;
		struct str data;

		buf_init(&b, FRAME_MAX);
		json_set_hex(params, "digest", bytes_of(digest, 32));
		json_set_int(params, "offset", at);
		if (cli_call(r->c, "blob.read", TAKE(params), &o, e) ||
		    json_get_int(o, "size", 0, BLOB_MAX, &size, e) ||
		    json_get_str(o, "data", &data, e) ||
		    base64_get(data, &b, e))
			return -1;
		if (b.n == 0 && at < size)
			return err_say(e, ERR_FORMAT,
			    "gloved sent nothing of a stored object");
		if (visit(vctx, buf_bytes(&b), e))
			return -1;
		at += (int64_t)b.n;
	}
	return 0;
}

void
remote_from(struct remote *r, const struct source *s, struct export_from *from)
{
	*from = (struct export_from){ .src = s, .ctx = r,
	    .sealed = each_sealed, .blob = get_blob };
}
