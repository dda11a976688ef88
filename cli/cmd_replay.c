/* SPDX-License-Identifier: ISC */
/*
 * glove replay: state rebuilt from records alone, up to any one of them.  It
 * reads, folds and prints; it never runs or changes anything.
 */
#include <inttypes.h>
#include <string.h>

#include "base/clock.h"
#include "cli/audit.h"
#include "cli/cli.h"
#include "cli/remote.h"
#include "journal/source_db.h"
#include "journal/subjects.h"

enum { NOTE_BYTES_MAX = 64 << 10 };

struct replay {
	struct cli	*c;
	struct subjects	 all;
	int		 one;		/* only this subject is shown */
	int		 machine;
	struct id	 id;
	int		 step;
	int64_t		 to;		/* records; -1: all */
	uint64_t	 n;
};

static int
shown(const struct replay *p, int machine, const struct id *id)
{
	return !p->one || (machine == p->machine && id_eq(id, &p->id));
}

/* One record as a line: where its subject went. */
static void
say_step(struct replay *p, const struct record *r)
{
	struct out *o = &p->c->out;
	AUTO(json) struct json *j = NULL;
	AUTO(buf) struct buf when;
	char id[ID_TEXT_MAX] = "";
	const int refused = (r->flags & RECORD_REFUSED) != 0;

	buf_init(&when, 64);
	if (r->machine != MACHINE_LOG)
		(void)id_str(machine_id_kind(r->machine), &r->subject, id);
	if (p->c->json) {
		j = json_make_object();
		json_set_cstr(j, "schema", "glove.replay_step/1");
		json_set_int(j, "record", (int64_t)r->index);
		json_set_cstr(j, "machine", machine_name(r->machine));
		json_set_cstr(j, "id", id[0] == '\0' ? NULL : id);
		json_set_cstr(j, "event",
		    machine_event_name(r->machine, r->event));
		json_set_cstr(j, "from", machine_state_name(r->machine, r->from));
		json_set_cstr(j, "to", machine_state_name(r->machine, r->to));
		json_set_bool(j, "refused", refused);
		json_set_time(j, "time", r->time_us);
		out_json(o, j);
		return;
	}
	clock_put(&when, r->time_us, clock_now().real_us, 1, p->c->utc);
	out_putf(o, "%6" PRIu64 "  %s  %-20s  %-14s", r->index,
	    buf_cstr(&when) == NULL ? "" : buf_cstr(&when),
	    id[0] == '\0' ? machine_name(r->machine) : id,
	    machine_event_name(r->machine, r->event));
	if (refused)
		out_put(o, "  refused");
	else if (r->machine != MACHINE_LOG)
		out_putf(o, "  %s -> %s", machine_state_name(r->machine, r->from),
		    machine_state_name(r->machine, r->to));
	out_put(o, "\n");
}

static int
one(struct replay *p, struct bytes b, struct err *e)
{
	struct record r;
	struct subject_row *row;

	if (record_decode(b, &r, e))
		return err_wrap(e, "record %" PRIu64, p->n);
	if (r.index != p->n)
		return err_set(e, ERR_CORRUPT, "record %" PRIu64
		    " says that it is record %" PRIu64, p->n, r.index);
	if (r.machine != MACHINE_LOG) {
		if ((row = subjects_row(&p->all, &r)) == NULL)
			return err_set(e, ERR_NOMEM, "subjects");
		if (fold(&r, row->used == ROW_FREE, row->full, e))
			return err_wrap(e, "record %" PRIu64, p->n);
		p->all.n += row->used == ROW_FREE;
		row->used = ROW_THERE;
	}
	if (p->step && shown(p, r.machine, &r.subject) &&
	    (r.machine != MACHINE_LOG || r.event != LOG_EV_commit_footer ||
	    p->c->verbose))
		say_step(p, &r);
	p->n++;
	return 0;
}

static int
run(struct replay *p, const struct source *s, struct err *e)
{
	AUTO(buf) struct buf note;
	struct checkpoint head;
	struct str text, sigs;
	struct bytes b;
	uint64_t last;
	int more = 1;

	buf_init(&note, NOTE_BYTES_MAX);
	if (s->ops->checkpoint(s->ctx, &note, e) ||
	    checkpoint_parse((struct str){ (const char *)note.p, note.n },
	    &head, &text, &sigs, e))
		return -1;
	last = p->to < 0 || (uint64_t)p->to >= head.size ? head.size :
	    (uint64_t)p->to + 1;
	while (p->n < last && (more = s->ops->record(s->ctx, &b, e)) == 1)
		if (one(p, b, e))
			return -1;
	if (more < 0)
		return -1;
	if (p->n < last)
		return err_set(e, ERR_CORRUPT, "%" PRIu64 " of %" PRIu64
		    " records are there", p->n, head.size);
	return 0;
}

/* ---- what it came to ---------------------------------------------------- */

static int
by_birth(const void *a, const void *b)
{
	const struct subject *x = *(const struct subject *const *)a;
	const struct subject *y = *(const struct subject *const *)b;

	return x->first < y->first ? -1 : x->first > y->first;
}

static void
subject_json(struct json *list, const struct subject *s)
{
	struct json *o = json_make_object();
	char id[ID_TEXT_MAX];

	json_set_cstr(o, "id", id_str(machine_id_kind(s->machine), &s->id, id));
	json_set_cstr(o, "machine", machine_name(s->machine));
	json_set_cstr(o, "state", machine_state_name(s->machine, s->state));
	json_set_cstr(o, "owed", effect_name(s->owed));
	json_set_int(o, "first", (int64_t)s->first);
	json_set_int(o, "last", (int64_t)s->last);
	json_set_time(o, "born_at", s->born_us);
	json_set_time(o, "moved_at", s->moved_us);
	json_add(list, o);
}

static int
say_table(struct replay *p, const struct subject *const *v, size_t n,
    struct err *e)
{
	static const char *const heads[] = { "ID", "STATE", "RECORDS", "OWED",
	    NULL };
	AUTO(table) struct table t;

	table_init(&t, &p->c->out, p->c->wide, heads);
	for (size_t i = 0; i < n; i++) {
		const struct subject *s = v[i];
		char id[ID_TEXT_MAX];

		table_cell(&t, STYLE_BOLD, str_of(id_str(
		    machine_id_kind(s->machine), &s->id, id)));
		table_cell(&t, machine_final(s->machine, s->state) ? STYLE_DIM :
		    STYLE_GREEN, str_of(machine_state_name(s->machine,
		    s->state)));
		table_cellf(&t, STYLE_PLAIN, "%" PRIu64 "-%" PRIu64, s->first,
		    s->last);
		table_cell(&t, STYLE_PLAIN, str_of(s->owed == EFFECT_NONE ? "" :
		    effect_name(s->owed)));
	}
	if (table_end(&t, e))
		return -1;
	if (!p->c->quiet)
		out_putf(&p->c->note, "state after %" PRIu64 " records, rebuilt"
		    " from them alone; nothing was run\n", p->n);
	return 0;
}

static int
say(struct replay *p, struct err *e)
{
	AUTO(json) struct json *o = NULL;
	AUTO(mem) const struct subject **v = calloc(p->all.n + 1,
	    sizeof(const struct subject *));
	struct json *list;
	size_t n = 0;

	if (v == NULL)
		return err_set(e, ERR_NOMEM, "subjects");
	for (size_t i = 0; i < p->all.cap; i++) {
		const struct subject_row *row = &p->all.row[i];

		if (row->used == ROW_THERE && shown(p, row->machine, &row->id))
			v[n++] = row->full;
	}
	if (n != 0)
		qsort(v, n, sizeof(*v), by_birth);
	if (!p->c->json)
		return say_table(p, v, n, e);
	o = json_make_object();
	list = json_make_array();
	json_set_cstr(o, "schema", "glove.replay/1");
	json_set_int(o, "records", (int64_t)p->n);
	for (size_t i = 0; i < n; i++)
		subject_json(list, v[i]);
	json_set(o, "subjects", list);
	out_json(&p->c->out, o);
	return 0;
}

static int
replay(struct replay *p, struct err *e)
{
	AUTO(source_dir) struct source_dir *dir = NULL;
	AUTO(source_db) struct source_db *db = NULL;
	AUTO(remote) struct remote *remote = NULL;
	const unsigned any = ID_BIT(ID_SESSION) | ID_BIT(ID_EXPOSURE) |
	    ID_BIT(ID_CHANGE) | ID_BIT(ID_KEY) | ID_BIT(ID_SERVICE);
	const char *arg = p->c->args.n == 0 ? NULL : p->c->args.v[0];
	enum audit_kind kind = audit_kind(ids_path(arg));
	char text[ID_TEXT_MAX];
	struct source s;
	int failed;

	if (kind == AUDIT_RECEIPT)
		return err_say(e, ERR_USAGE, "%s is a file; an export is a"
		    " directory", arg);
	if (kind == AUDIT_NOTHING && arg != NULL) {
		if (ids_resolve(p->c, arg, any, 0, text, e))
			return -1;
		p->machine = machine_of_id(ids_kind(str_of(text)));
		p->one = 1;
		if (id_parse(ids_kind(str_of(text)), str_of(text), &p->id, e))
			return -1;
	}
	failed = kind == AUDIT_EXPORT ? source_dir_open(arg, &dir, &s, e) :
	    kind == AUDIT_STATE ? source_db_open(arg, &db, &s, e) :
	    remote_open(p->c, &remote, &s, e);
	return failed || run(p, &s, e) || say(p, e) ? -1 : 0;
}

int
cmd_replay(struct cli *c, struct err *e)
{
	struct replay p = { .c = c, .all = { .keep_facts = 1 },
	    .step = args_has(&c->args, FLAG_STEP),
	    .to = args_count(&c->args, FLAG_TO, -1) };
	int failed = replay(&p, e);

	subjects_done(&p.all);
	return failed;
}
