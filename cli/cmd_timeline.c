/* SPDX-License-Identifier: ISC */
/* glove timeline: the records of a session, its lease and its changes, each in
 * its lane. */
#include <stdlib.h>
#include <string.h>

#include "base/clock.h"
#include "base/num.h"
#include "cli/records.h"
#include "lifecycle/machine.h"

enum lane { LANE_LEASE, LANE_SESSION, LANE_DENIAL, LANE_FILES, LANE_END };

static const struct {
	const char	*title;
	const char	*word;
} lanes[LANE_END] = {
	[LANE_LEASE] = { "L", "lease" },
	[LANE_SESSION] = { "S", "session" },
	[LANE_DENIAL] = { "D", "denials" },
	[LANE_FILES] = { "F", "files" },
};

struct marks {
	const char	*event, *final, *refused, *line, *none;
};
static const struct marks round_marks = { "\u25cf", "\u25a0", "\u2717",
	"\u2502", " " };
static const struct marks ascii_marks = { "o", "#", "x", "|", " " };

struct moment {
	struct json	*record;
	enum lane	 lane;
	int64_t		 index;
};

struct timeline {
	struct moment	*v;
	size_t		 n, cap;
	enum lane	 lane;		/* of what is being read */
};

static void
auto_timeline(struct timeline *t)
{
	for (size_t i = 0; i < t->n; i++)
		json_free(t->v[i].record);
	free(t->v);
}

static int
keep(void *cookie, const struct json *r, struct err *e)
{
	struct timeline *t = cookie;
	struct moment *m;

	if (t->n == t->cap) {
		size_t cap = t->cap == 0 ? 32 : 2 * t->cap;

		if ((m = realloc(t->v, cap * sizeof(*m))) == NULL)
			return err_set(e, ERR_NOMEM, "timeline");
		t->v = m;
		t->cap = cap;
	}
	m = &t->v[t->n];
	m->lane = reply_bool(r, "refused") ? LANE_DENIAL : t->lane;
	m->index = reply_int(r, "index", 0);
	if ((m->record = json_clone(r)) == NULL)
		return err_set(e, ERR_NOMEM, "timeline");
	t->n++;
	return 0;
}

static int
by_index(const void *a, const void *b)
{
	const struct moment *x = a, *y = b;

	return x->index < y->index ? -1 : x->index > y->index;
}

static int
read_lane(struct cli *c, struct timeline *t, enum lane lane, struct str id,
    struct err *e)
{
	char text[ID_TEXT_MAX];

	if (id.n != ID_TEXT_MAX - 1)
		return 0;
	memcpy(text, id.p, id.n);
	text[id.n] = '\0';
	t->lane = lane;
	return records_each(c, text, 0, keep, t, e);
}

static int
gather(struct cli *c, const struct json *s, struct timeline *t, struct err *e)
{
	struct json *leases = json_get(s, "exposures");
	struct str id;

	for (size_t i = 0; i < json_len(leases); i++)
		if (json_text(json_at(leases, i), &id) == 0 &&
		    read_lane(c, t, LANE_LEASE, id, e))
			return -1;
	if (read_lane(c, t, LANE_SESSION, reply_str(s, "id"), e) ||
	    read_lane(c, t, LANE_FILES, reply_str(s, "change"), e))
		return -1;
	if (t->n > 0)
		qsort(t->v, t->n, sizeof(*t->v), by_index);
	return 0;
}

/* Does nothing lead on from there? */
static int
is_final(struct str machine, struct str state)
{
	char name[32];

	if (state.n >= sizeof(name))
		return 0;
	memcpy(name, state.p, state.n);
	name[state.n] = '\0';
	for (int m = 1; m < MACHINE_END; m++)
		if (machine_valid(m) && str_eq(machine, str_of(machine_name(m))))
			return machine_final(m, machine_state_find(m, name));
	return 0;
}

static void
draw_lanes(struct out *o, const struct marks *k, const struct moment *m,
    int *live)
{
	struct str machine = reply_str(m->record, "machine");
	struct str to = reply_str(m->record, "to");

	for (int lane = 0; lane < LANE_END; lane++) {
		if (lane != (int)m->lane) {
			out_style(o, STYLE_DIM);
			out_put(o, live[lane] ? k->line : k->none);
		} else if (lane == LANE_DENIAL) {
			out_style(o, STYLE_RED);
			out_put(o, k->refused);
		} else {
			live[lane] = !is_final(machine, to);
			out_style(o, STYLE_GREEN);
			out_put(o, live[lane] ? k->event : k->final);
		}
		out_style(o, STYLE_PLAIN);
		out_put(o, " ");
	}
}

static void
draw(struct cli *c, const struct moment *m, const struct marks *k, int *live,
    int64_t before_us, int64_t now_us)
{
	AUTO(buf) struct buf when;
	AUTO(buf) struct buf after;
	struct out *o = &c->out;
	int64_t us = reply_time(m->record, "time");
	struct str from = reply_str(m->record, "from");
	struct str to = reply_str(m->record, "to");

	buf_init(&when, 64);
	buf_init(&after, 64);
	clock_put(&when, us, now_us, 1, c->utc);
	if (before_us != 0 && us > before_us) {
		buf_put_str(&after, "+");
		duration_put(&after, us - before_us);
	}
	out_putf(o, "%s %10s  ", buf_cstr(&when), buf_cstr(&after));
	draw_lanes(o, k, m, live);
	out_put(o, " ");
	out_style(o, STYLE_BOLD);
	out_foreign(o, reply_str(m->record, "event"), 32);
	out_style(o, STYLE_PLAIN);
	if (to.n > 0 && !str_eq(from, to) &&
	    !str_eq(to, reply_str(m->record, "event"))) {
		out_put(o, " -> ");
		out_foreign(o, to, 32);
	}
	record_fields(c, m->record);
	out_put(o, "\n");
}

static void
print_json(struct cli *c, const struct json *s, const struct timeline *t)
{
	AUTO(json) struct json *j = json_make_object();
	struct json *rows = json_make_array();

	json_set_cstr(j, "schema", "glove.timeline/1");
	json_set_str(j, "session", reply_str(s, "id"));
	for (size_t i = 0; i < t->n; i++) {
		struct json *row = json_clone(t->v[i].record);

		json_set_cstr(row, "lane", lanes[t->v[i].lane].word);
		json_add(rows, row);
	}
	json_set(j, "rows", rows);
	out_json(&c->out, j);
}

int
cmd_timeline(struct cli *c, struct err *e)
{
	AUTO(timeline) struct timeline t = { .n = 0 };
	AUTO(json) struct json *s = NULL;
	const struct marks *k = args_has(&c->args, FLAG_ASCII) ? &ascii_marks :
	    &round_marks;
	int64_t before = 0, now_us = clock_now().real_us;
	int live[LANE_END] = { 0 };
	char id[ID_TEXT_MAX];

	if (ids_resolve(c, c->args.n > 0 ? c->args.v[0] : "-",
	    ID_BIT(ID_SESSION), 0, id, e) ||
	    cli_call(c, "session.show", cli_id(id), &s, e) ||
	    gather(c, s, &t, e))
		return -1;
	if (c->json) {
		print_json(c, s, &t);
		return 0;
	}
	out_putf(&c->out, "%s  ", id);
	out_foreign(&c->out, reply_str(s, "state"), 32);
	out_put(&c->out, "   lanes:");
	for (int i = 0; i < LANE_END; i++)
		out_putf(&c->out, " %s %s%s", lanes[i].title, lanes[i].word,
		    i + 1 < LANE_END ? "," : "\n\n");
	for (size_t i = 0; i < t.n; i++) {
		draw(c, &t.v[i], k, live, before, now_us);
		before = reply_time(t.v[i].record, "time");
	}
	return 0;
}
