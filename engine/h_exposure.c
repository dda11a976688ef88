/* SPDX-License-Identifier: ISC */
/* h_exposure.c - leases on host directories. */
#include <string.h>

#include "engine/plan.h"

enum { SHOWN_MAX = 500 };

int
finish_exposure(struct engine *en, struct ask *a, struct err *e)
{
	struct subject s;

	a->result = json_make_object();
	if (journal_subject(en->j, MACHINE_EXPOSURE, &a->subject, &s, e))
		return -1;
	json_set_cstr(a->result, "schema", "glove.exposure/1");
	return show_exposure(en, &s, a->result, e);
}

int
handle_exposure_open(struct engine *en, struct ask *a, struct err *e)
{
	struct place place;
	char path[PATH_BYTES_MAX + 1], label[NAME_BYTES_MAX + 1];
	int64_t ttl_s = EXPOSURE_TTL_S, max_s = EXPOSURE_MAX_S;
	struct new_lease l = { .place = &place, .label = label };

	a->finish = finish_exposure;
	if (param_text(a, "path", path, sizeof(path), e) ||
	    param_text(a, "name", label, sizeof(label), e) ||
	    param_mode(a, &l.mode, e) ||
	    json_opt_int(a->params, "max_s", 1, EXPOSURE_MAX_S, &max_s, e) ||
	    json_opt_int(a->params, "ttl_s", 1, EXPOSURE_MAX_S, &ttl_s, e))
		return -1;
	if (json_get(a->params, "ttl_s") == NULL && ttl_s > max_s)
		ttl_s = max_s;
	if (ttl_s > max_s)
		return err_say(e, ERR_USAGE, "it would end after its latest end");
	id_random(&l.id);
	a->machine = MACHINE_EXPOSURE;
	a->subject = l.id;
	a->event = EXPOSURE_EV_expose;
	if (en->o.ops.look(en->o.ops.cookie, path, &place, e) ||
	    place_allowed(&place, en->home, e))
		return -1;
	l.ttl_us = ttl_s * 1000000;
	l.max_us = max_s * 1000000;
	return exposure_append(en, a, &l, NULL, e);
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

	if ((!l->all && machine_final(MACHINE_EXPOSURE, s->state)) ||
	    (!is_admin(l->en, l->a) &&
	    fact_int(s, EXPOSURE_FACT_owner_uid, -1) != (int64_t)l->a->who.uid))
		return 0;
	if (json_len(l->list) == SHOWN_MAX) {
		l->more = 1;
		return 1;
	}
	if ((o = json_make_object()) == NULL)
		return err_set(e, ERR_NOMEM, "list");
	if (show_exposure(l->en, s, o, e)) {
		json_free(o);
		return -1;
	}
	json_add(l->list, o);
	return 0;
}

int
handle_exposure_list(struct engine *en, struct ask *a, struct err *e)
{
	struct listing l = { .en = en, .a = a, .list = json_make_array() };

	a->result = json_make_object();
	json_set_cstr(a->result, "schema", "glove.exposures/1");
	json_set_time(a->result, "now", en->now.real_us);
	json_set(a->result, "exposures", l.list);
	if (json_opt_bool(a->params, "all", &l.all, e) ||
	    journal_each(en->j, MACHINE_EXPOSURE, 0, 1, list_one, &l, e))
		return -1;
	json_set_bool(a->result, "more", l.more);
	return 0;
}

int
handle_exposure_show(struct engine *en, struct ask *a, struct err *e)
{
	struct subject s;

	a->finish = finish_exposure;
	return facts_mine(en, a, MACHINE_EXPOSURE, &s, e);
}

/* The new end: never past the latest one. */
static int
renewed_end(struct engine *en, struct ask *a, const struct subject *s,
    int64_t *ttl_us, struct err *e)
{
	int64_t ttl_s, left, latest = fact_int(s, EXPOSURE_FACT_latest_us, 0);
	int up_to = 0;

	if (json_get_int(a->params, "ttl_s", 1, EXPOSURE_MAX_S, &ttl_s, e) ||
	    json_opt_bool(a->params, "up_to", &up_to, e))
		return -1;
	left = latest - en->now.real_us;
	*ttl_us = ttl_s * 1000000;
	if (*ttl_us <= left)
		return 0;
	if (up_to && left > 0) {
		*ttl_us = left;
		return 0;
	}
	a->data = json_make_object();
	json_set_int(a->data, "max_ttl_s", left > 0 ? left / 1000000 : 0);
	(void)err_say(e, ERR_LIMIT, "renewing for %llds passes the latest end",
	    (long long)ttl_s);
	return err_fix(e, "at most %llds are left; --up-to takes them",
	    (long long)(left > 0 ? left / 1000000 : 0));
}

int
handle_exposure_renew(struct engine *en, struct ask *a, struct err *e)
{
	AUTO(fields) struct fields f;
	struct move m = { .machine = MACHINE_EXPOSURE, .event = EXPOSURE_EV_renew,
	    .actor = ACTOR_OWNER, .ask = a, .fields = &f };
	struct subject s;
	int64_t ttl_us, generation, expected = -1;

	a->event = EXPOSURE_EV_renew;
	a->finish = finish_exposure;
	fields_init(&f);
	if (facts_mine(en, a, MACHINE_EXPOSURE, &s, e) || lease_open(en, &s, e))
		return -1;
	generation = fact_int(&s, EXPOSURE_FACT_generation, 1);
	if (json_opt_int(a->params, "expect_gen", 1, INT64_MAX, &expected, e))
		return -1;
	if (expected != -1 && expected != generation)
		return err_say(e, ERR_STALE, "it is generation %lld, not %lld",
		    (long long)generation, (long long)expected);
	if (renewed_end(en, a, &s, &ttl_us, e))
		return -1;
	m.subject = s.id;
	fields_u64(&f, FIELD_GENERATION, (uint64_t)generation + 1);
	fields_bytes(&f, FIELD_SCOPE_DIGEST,
	    bytes_of(s.fact[EXPOSURE_FACT_scope].b, 32));
	fields_u64(&f, FIELD_ENDS_REAL_US, (uint64_t)(en->now.real_us + ttl_us));
	fields_u64(&f, FIELD_ENDS_BOOT_US, (uint64_t)(en->now.boot_us + ttl_us));
	return turn_append(en, &m, NULL, e);
}

/* What is being ended already, once more and perhaps with less patience. */
static int
hurry(struct engine *en, const struct subject *x, int64_t grace_us, struct err *e)
{
	AUTO(subjects) struct subjects l = { NULL, 0, 0 };

	if (grace_us < 0)
		return 0;
	if (facts_on(en, &x->id, &l, e))
		return -1;
	for (size_t i = 0; i < l.n; i++)
		if (l.v[i].owed == EFFECT_KILL &&
		    (turn_grace(en, &l.v[i].id, grace_us, e) ||
		    turn_again(en, &l.v[i], e)))
			return -1;
	return 0;
}

int
handle_exposure_revoke(struct engine *en, struct ask *a, struct err *e)
{
	struct subject s;
	int64_t grace_us;

	a->finish = finish_exposure;
	if (facts_mine(en, a, MACHINE_EXPOSURE, &s, e) || param_wait(a, e) ||
	    param_grace(a, &grace_us, e))
		return -1;
	if (machine_final(MACHINE_EXPOSURE, s.state))
		return 0;
	if (s.state == EXPOSURE_CLOSING)
		return hurry(en, &s, grace_us, e);
	a->event = EXPOSURE_EV_revoke;
	return exposure_end(en, &s.id, EXPOSURE_EV_revoke, a, grace_us, e);
}
