/* SPDX-License-Identifier: ISC */
/* h_change.c - staged work: look at it, take it, take it back, drop it. */
#include <string.h>

#include "base/text.h"

#include "engine/internal.h"

enum { SHOWN_MAX = 500, PATHS_MAX = 4096 };

struct outcome *
outcome_of(struct engine *en, const struct id *change, int make)
{
	for (size_t i = 0; i < OUTCOMES_MAX; i++)
		if (en->outcomes[i].set && id_eq(&en->outcomes[i].change, change))
			return &en->outcomes[i];
	if (!make)
		return NULL;
	en->outcome = (en->outcome + 1) % OUTCOMES_MAX;
	en->outcomes[en->outcome] = (struct outcome){ .change = *change, .set = 1 };
	return &en->outcomes[en->outcome];
}

struct listing {
	struct engine	*en;
	const struct ask *a;
	struct json	*list;
	int		 all, more;
};

static int
list_one(void *ctx, const struct subject *s, struct err *e)
{
	struct listing *l = ctx;
	struct json *o;
	int64_t uid;

	if (!l->all && machine_final(MACHINE_CHANGE, s->state))
		return 0;
	if (facts_owner(l->en, s, &uid, e))
		return -1;
	if (!is_admin(l->en, l->a) && uid != (int64_t)l->a->who.uid)
		return 0;
	if (json_len(l->list) == SHOWN_MAX) {
		l->more = 1;
		return 1;
	}
	if ((o = json_make_object()) == NULL)
		return err_set(e, ERR_NOMEM, "list");
	if (show_change(l->en, s, o, e)) {
		json_free(o);
		return -1;
	}
	json_add(l->list, o);
	return 0;
}

int
handle_change_list(struct engine *en, struct ask *a, struct err *e)
{
	struct listing l = { .en = en, .a = a, .list = json_make_array() };

	a->result = json_make_object();
	json_set_cstr(a->result, "schema", "glove.changes/1");
	json_set_time(a->result, "now", en->now.real_us);
	json_set(a->result, "changes", l.list);
	if (json_opt_bool(a->params, "all", &l.all, e) ||
	    journal_each(en->j, MACHINE_CHANGE, 0, 1, list_one, &l, e))
		return -1;
	json_set_bool(a->result, "more", l.more);
	return 0;
}

/* The paths that a worker named, one a line. */
static struct json *
lines(const char *text)
{
	struct json *l = json_make_array();

	while (*text != '\0') {
		size_t n = strcspn(text, "\n");

		if (n > 0)
			json_add_str(l, (struct str){ text, n });
		text += n + (text[n] == '\n');
	}
	return l;
}

static void
set_outcome(struct engine *en, const struct subject *s, struct json *o)
{
	static const char *const words[] = { "whole", "partial", "conflict" };
	const struct outcome *out = outcome_of(en, &s->id, 0);

	if (out == NULL || out->result < WORK_WHOLE || out->result > WORK_CONFLICT) {
		json_set_cstr(o, "outcome", s->state == CHANGE_PARTIAL ? "partial" :
		    s->state == CHANGE_STAGED ? NULL : "whole");
		json_set_null(o, "done");
		json_set(o, "conflicts", json_make_array());
		return;
	}
	json_set_cstr(o, "outcome", words[out->result]);
	json_set_int(o, "done", (int64_t)out->done);
	json_set(o, "conflicts", out->result == WORK_CONFLICT ? lines(out->text) :
	    json_make_array());
	if (out->result == WORK_PARTIAL && out->text[0] != '\0')
		json_set_cstr(o, "message", out->text);
}

int
finish_change(struct engine *en, struct ask *a, struct err *e)
{
	struct subject s;

	a->result = json_make_object();
	if (journal_subject(en->j, MACHINE_CHANGE, &a->subject, &s, e))
		return -1;
	json_set_cstr(a->result, "schema", "glove.change/1");
	if (show_change(en, &s, a->result, e))
		return -1;
	if (a->req->flags & REQ_WRITE)
		set_outcome(en, &s, a->result);
	return 0;
}

/* The id may be that of the session that made the change. */
static int
find_change(struct engine *en, struct ask *a, struct subject *s, struct err *e)
{
	struct subject session;
	struct id id;
	struct str text;
	int64_t uid;

	if (json_get_str(a->params, "id", &text, e))
		return -1;
	if (text.n < 4 || memcmp(text.p, id_prefix(ID_SESSION), 4) != 0)
		return facts_mine(en, a, MACHINE_CHANGE, s, e);
	if (facts_mine(en, a, MACHINE_SESSION, &session, e))
		return -1;
	a->machine = -1;
	if (fact_id(&session, SESSION_FACT_change, &id))
		return err_say(e, machine_final(MACHINE_SESSION, session.state) ?
		    ERR_NOTFOUND : ERR_ILLEGAL, machine_final(MACHINE_SESSION,
		    session.state) ? "that session changed nothing" :
		    "that session has not ended; its changes are still its own");
	if (journal_subject(en->j, MACHINE_CHANGE, &id, s, e) ||
	    facts_owner(en, s, &uid, e))
		return -1;
	a->machine = MACHINE_CHANGE;
	a->subject = id;
	return 0;
}

int
handle_change_show(struct engine *en, struct ask *a, struct err *e)
{
	struct subject s;

	a->finish = finish_change;
	return find_change(en, a, &s, e);
}

/*
 * The lease that it would go to: not revoked, and leading to the same
 * directory.  That its time is over does not matter: who asks now is its
 * owner, and asking is the consent.
 */
static int
check_target(struct engine *en, const struct subject *s, struct err *e)
{
	struct subject x;
	struct place was, is;
	struct id exposure;
	char text[ID_TEXT_MAX];

	if (fact_id(s, CHANGE_FACT_exposure, &exposure))
		return err_set(e, ERR_FORMAT, "a change without an exposure");
	if (journal_subject(en->j, MACHINE_EXPOSURE, &exposure, &x, e) ||
	    facts_place(en, &x, &was, e))
		return -1;
	(void)id_str(ID_EXPOSURE, &exposure, text);
	if (x.state == EXPOSURE_REVOKED || x.state == EXPOSURE_CLOSING)
		return err_say(e, ERR_REVOKED, "%s was revoked", text);
	if (x.state == EXPOSURE_SUSPECT)
		return err_say(e, ERR_ILLEGAL,
		    "%s no longer leads to the directory that was exposed", text);
	if (en->o.ops.look(en->o.ops.cookie, was.path, &is, e))
		return -1;
	if (is.dev != was.dev || is.ino != was.ino)
		return err_say(e, ERR_ILLEGAL,
		    "%s no longer leads to the directory that was exposed", text);
	return 0;
}

static int
put_paths(struct fields *f, const struct ask *a, struct err *e)
{
	const struct json *v = json_get(a->params, "paths");
	AUTO(mem) const char **list = NULL;
	size_t n = json_is_null(v) ? 0 : json_len(v);
	struct str s;

	if (n > PATHS_MAX)
		return err_say(e, ERR_TOOBIG, "more than %d paths", PATHS_MAX);
	if (n == 0)
		return 0;
	if ((list = calloc(n, sizeof(*list))) == NULL)
		return err_set(e, ERR_NOMEM, "paths");
	for (size_t i = 0; i < n; i++) {
		if (json_text(json_at(v, i), &s) || s.n == 0 ||
		    s.n > PATH_BYTES_MAX || memchr(s.p, '\0', s.n) != NULL)
			return err_say(e, ERR_FORMAT, "a path is not one");
		list[i] = s.p;	/* text in JSON ends with a zero byte */
	}
	fields_list(f, FIELD_PATHS, list, n);
	return 0;
}

/* What the caller saw is what there is. */
static int
check_manifest(const struct ask *a, const struct subject *s, struct err *e)
{
	struct str hex = STR("");
	uint8_t digest[32];

	if (json_opt_str(a->params, "manifest", &hex, e))
		return -1;
	if (hex.n == 0)
		return 0;
	if (hex_get(hex, digest, sizeof(digest), e))
		return -1;
	if (memcmp(digest, s->fact[CHANGE_FACT_manifest].b, sizeof(digest)) != 0)
		return err_say(e, ERR_STALE, "the changes are not those that you saw");
	return 0;
}

static int
append_work(struct engine *en, struct ask *a, const struct subject *s, int event,
    struct fields *f, struct err *e)
{
	struct move m = { .machine = MACHINE_CHANGE, .subject = s->id,
	    .event = event, .actor = ACTOR_OWNER, .ask = a, .fields = f };
	struct outcome *o = outcome_of(en, &s->id, 0);

	/* What an earlier worker said is over. */
	if (o != NULL)
		o->set = 0;
	a->waits = 1;
	return turn_append(en, &m, NULL, e);
}

int
handle_change_apply(struct engine *en, struct ask *a, struct err *e)
{
	AUTO(fields) struct fields f;
	struct subject s;
	int resume = 0;

	a->finish = finish_change;
	fields_init(&f);
	if (json_opt_bool(a->params, "resume", &resume, e))
		return -1;
	if (find_change(en, a, &s, e))
		return -1;
	a->event = resume ? CHANGE_EV_resume : CHANGE_EV_apply;
	if (check_manifest(a, &s, e) || check_target(en, &s, e) ||
	    put_paths(&f, a, e))
		return -1;
	return append_work(en, a, &s, a->event, &f, e);
}

int
handle_change_undo(struct engine *en, struct ask *a, struct err *e)
{
	AUTO(fields) struct fields f;
	struct subject s;

	a->finish = finish_change;
	fields_init(&f);
	if (find_change(en, a, &s, e))
		return -1;
	a->event = CHANGE_EV_undo;
	if (check_target(en, &s, e))
		return -1;
	return append_work(en, a, &s, CHANGE_EV_undo, &f, e);
}

int
handle_change_discard(struct engine *en, struct ask *a, struct err *e)
{
	AUTO(fields) struct fields f;
	struct subject s;

	a->finish = finish_change;
	fields_init(&f);
	if (find_change(en, a, &s, e))
		return -1;
	/* Twice is once: the files are gone, or going. */
	if (s.state == CHANGE_DISCARDED)
		return 0;
	a->event = CHANGE_EV_discard;
	return append_work(en, a, &s, CHANGE_EV_discard, &f, e);
}
