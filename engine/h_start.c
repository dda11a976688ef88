/* SPDX-License-Identifier: ISC */
/* h_start.c - session.start: lease, plan and intent in one commit. */
#include <stdlib.h>
#include <string.h>
#include <sys/random.h>

#include "engine/plan.h"

enum { TTL_MIN_S = 1 };

/* ---- the lease ----------------------------------------------------------- */

/* Given one: it must be open, lead to the same directory, and allow the mode. */
static int
check_lease(struct engine *en, struct ask *a, struct start *s, struct err *e)
{
	struct subject x;
	struct place was;
	int64_t uid;
	char text[ID_TEXT_MAX];

	if (param_id(a, "exposure", MACHINE_EXPOSURE, &s->exposure, e) ||
	    journal_subject(en->j, MACHINE_EXPOSURE, &s->exposure, &x, e) ||
	    facts_owner(en, &x, &uid, e) || facts_place(en, &x, &was, e))
		return -1;
	(void)id_str(ID_EXPOSURE, &x.id, text);
	if (uid != (int64_t)a->who.uid)
		return err_say(e, ERR_DENIED, "%s is another user's", text);
	if (lease_open(en, &x, e))
		return -1;
	if (strcmp(was.path, s->path) != 0)
		return err_say(e, ERR_USAGE, "%s is for another directory", text);
	if (was.dev != s->dev || was.ino != s->ino) {
		struct move m = { .machine = MACHINE_EXPOSURE, .subject = x.id,
		    .event = EXPOSURE_EV_suspect, .actor = ACTOR_SERVICE };

		if (turn_append(en, &m, NULL, e))
			return -1;
		a->keep = 1;
		return err_say(e, ERR_ILLEGAL,
		    "%s no longer leads to the directory that was exposed", text);
	}
	if (s->mode == MODE_STAGED &&
	    fact_int(&x, EXPOSURE_FACT_mode, MODE_RO) == MODE_RO)
		return err_say(e, ERR_ILLEGAL, "%s is read only", text);
	if (fact_int(&x, EXPOSURE_FACT_ends_us, 0) < s->ends_real_us) {
		s->ends_real_us = fact_int(&x, EXPOSURE_FACT_ends_us, 0);
		s->ends_boot_us = en->now.boot_us + s->ends_real_us -
		    en->now.real_us;
	}
	return 0;
}

int
exposure_append(struct engine *en, struct ask *a, const struct new_lease *l,
    uint64_t *index, struct err *e)
{
	AUTO(fields) struct fields f;
	AUTO(buf) struct buf source;
	struct move m = { .machine = MACHINE_EXPOSURE, .subject = l->id,
	    .event = EXPOSURE_EV_expose, .actor = ACTOR_OWNER, .ask = a,
	    .fields = &f };
	uint8_t scope[SHA256_BYTES];

	scope_digest(en, &l->id, l->place, l->mode, a->who.uid, l->label, scope);
	fields_init(&f);
	buf_init(&source, 16);
	buf_put_u64(&source, l->place->dev);
	buf_put_u64(&source, l->place->ino);
	fields_u64(&f, FIELD_OWNER_UID, a->who.uid);
	fields_u64(&f, FIELD_MODE, (uint64_t)l->mode);
	fields_u64(&f, FIELD_GENERATION, 1);
	fields_bytes(&f, FIELD_SCOPE_DIGEST, BYTES(scope));
	fields_u64(&f, FIELD_ENDS_REAL_US, (uint64_t)(en->now.real_us + l->ttl_us));
	fields_u64(&f, FIELD_ENDS_BOOT_US, (uint64_t)(en->now.boot_us + l->ttl_us));
	fields_u64(&f, FIELD_LATEST_REAL_US, (uint64_t)(en->now.real_us + l->max_us));
	if (l->label[0] != '\0')
		fields_text(&f, FIELD_LABEL, str_of(l->label));
	fields_text(&f, FIELD_HOST_PATH, str_of(l->place->path));
	fields_bytes(&f, FIELD_SOURCE, buf_bytes(&source));
	return turn_append(en, &m, index, e);
}

static int
open_lease(struct engine *en, struct ask *a, struct start *s, int64_t ttl_us,
    struct err *e)
{
	struct place place = { .dev = s->dev, .ino = s->ino };
	struct new_lease l = { .place = &place, .mode = s->mode, .label = "",
	    .ttl_us = ttl_us, .max_us = (int64_t)EXPOSURE_MAX_S * 1000000 };

	memcpy(place.path, s->path, strlen(s->path) + 1);
	id_random(&s->exposure);
	l.id = s->exposure;
	return exposure_append(en, a, &l, NULL, e);
}

/* ---- plan and intent ----------------------------------------------------- */

/* D("glove/session/1", install, session, plan, requester, time). */
static void
session_digest(const struct engine *en, const struct start *s,
    const uint8_t plan[SHA256_BYTES], uint8_t out[SHA256_BYTES])
{
	struct digest d;

	digest_init(&d, "glove/session/1");
	digest_bytes(&d, bytes_of(journal_install(en->j), INSTALL_ID_BYTES));
	digest_bytes(&d, BYTES(s->session.b));
	digest_bytes(&d, bytes_of(plan, SHA256_BYTES));
	digest_u64(&d, s->uid);
	digest_u64(&d, (uint64_t)en->now.real_us);
	digest_final(&d, out);
}

struct planned {
	struct buf	text;
	uint8_t		digest[SHA256_BYTES], session[SHA256_BYTES];
	uint8_t		scope[SHA256_BYTES];
	int64_t		generation;
};

static void
auto_planned(struct planned *p)
{
	buf_done(&p->text);
}

static int
make_plan(struct engine *en, const struct start *s, int64_t ttl_us,
    struct planned *p, struct err *e)
{
	struct subject x;

	if (journal_subject(en->j, MACHINE_EXPOSURE, &s->exposure, &x, e))
		return -1;
	memcpy(p->scope, x.fact[EXPOSURE_FACT_scope].b, sizeof(p->scope));
	p->generation = fact_int(&x, EXPOSURE_FACT_generation, 1);
	plan_put(s, p->scope, ttl_us / 1000000, &p->text);
	if (buf_ok(&p->text, "plan", e))
		return -1;
	plan_digest(buf_bytes(&p->text), p->digest);
	session_digest(en, s, p->digest, p->session);
	return 0;
}

static int
prepare(struct engine *en, struct ask *a, const struct start *s,
    const struct planned *p, const char *name, struct err *e)
{
	AUTO(fields) struct fields f;
	struct move m = { .machine = MACHINE_SESSION, .subject = s->session,
	    .event = SESSION_EV_prepare, .actor = ACTOR_OWNER, .ask = a,
	    .fields = &f };

	fields_init(&f);
	fields_u64(&f, FIELD_OWNER_UID, s->uid);
	fields_u64(&f, FIELD_MODE, (uint64_t)s->mode);
	fields_u64(&f, FIELD_ENDS_REAL_US, (uint64_t)s->ends_real_us);
	fields_u64(&f, FIELD_ENDS_BOOT_US, (uint64_t)s->ends_boot_us);
	fields_text(&f, FIELD_HOST_PATH, str_of(s->path));
	fields_bytes(&f, FIELD_EXPOSURE_ID, BYTES(s->exposure.b));
	fields_bytes(&f, FIELD_PLAN_DIGEST, BYTES(p->digest));
	fields_text(&f, FIELD_PLAN,
	    (struct str){ (const char *)p->text.p, p->text.n });
	fields_list(&f, FIELD_ARGV, s->argv, s->argc);
	if (name[0] != '\0')
		fields_text(&f, FIELD_NAME, str_of(name));
	fields_u64(&f, FIELD_TERMINAL, (uint64_t)s->terminal);
	fields_bytes(&f, FIELD_SESSION_DIGEST, BYTES(p->session));
	return turn_append(en, &m, NULL, e);
}

static int
intend(struct engine *en, struct ask *a, const struct start *s,
    const struct planned *p, uint64_t *index, struct err *e)
{
	AUTO(fields) struct fields f;
	struct move m = { .machine = MACHINE_SESSION, .subject = s->session,
	    .event = SESSION_EV_start_intent, .actor = ACTOR_OWNER, .ask = a,
	    .fields = &f };

	fields_init(&f);
	fields_u64(&f, FIELD_GENERATION, (uint64_t)p->generation);
	fields_bytes(&f, FIELD_SCOPE_DIGEST, BYTES(p->scope));
	fields_bytes(&f, FIELD_EXPOSURE_ID, BYTES(s->exposure.b));
	fields_bytes(&f, FIELD_PLAN_DIGEST, BYTES(p->digest));
	fields_bytes(&f, FIELD_SESSION_DIGEST, BYTES(p->session));
	return turn_append(en, &m, index, e);
}

int
handle_session_start(struct engine *en, struct ask *a, struct err *e)
{
	AUTO(start) struct start *s = calloc(1, sizeof(*s));
	AUTO(planned) struct planned p = { .generation = 0 };
	int64_t ttl_s = SESSION_TTL_S, ttl_us;
	char name[NAME_BYTES_MAX + 1];
	uint64_t index;

	buf_init(&p.text, 2 * FRAME_MAX);
	if (s == NULL)
		return err_set(e, ERR_NOMEM, "session");
	/* An attempt that is refused is on record all the same. */
	id_random(&s->session);
	a->machine = MACHINE_SESSION;
	a->subject = s->session;
	a->event = SESSION_EV_prepare;
	if (json_opt_int(a->params, "ttl_s", TTL_MIN_S, EXPOSURE_MAX_S, &ttl_s, e) ||
	    param_text(a, "name", name, sizeof(name), e) || start_gather(en, a, s, e))
		return -1;
	ttl_us = ttl_s * 1000000;
	s->ends_real_us = en->now.real_us + ttl_us;
	s->ends_boot_us = en->now.boot_us + ttl_us;
	if (getentropy(s->token, sizeof(s->token)))
		return err_set(e, ERR_SYS, "random bytes");
	if (json_get(a->params, "exposure") != NULL ?
	    check_lease(en, a, s, e) : open_lease(en, a, s, ttl_us, e))
		return -1;
	if (make_plan(en, s, ttl_us, &p, e) || prepare(en, a, s, &p, name, e) ||
	    intend(en, a, s, &p, &index, e))
		return -1;
	a->index = index;
	/* Who leaves at once hears whether it runs; who stays sees it. */
	a->waits = s->detach;
	a->start = TAKE(s);
	a->finish = finish_start;
	return 0;
}

/* Why it could not be built, in the words of who tried. */
static int
not_built(struct engine *en, const struct subject *s, struct err *e)
{
	AUTO(buf) struct buf record, text;
	uint64_t index;
	char id[ID_TEXT_MAX];

	buf_init(&record, RECORD_MAX);
	buf_init(&text, FIELDS_BYTES_MAX);
	(void)id_str(ID_SESSION, &s->id, id);
	if (fact_record(en, s, SESSION_EV_ended, &index, &record, e) ||
	    fact_text(en, index, FIELD_REASON, &text, e))
		return err_say(e, ERR_SANDBOX, "%s could not be built", id);
	return err_say(e, ERR_SANDBOX, "%s could not be built: %s", id,
	    (const char *)text.p);
}

int
finish_start(struct engine *en, struct ask *a, struct err *e)
{
	struct json *o = json_make_object();
	const struct token *t = token_of(en, &a->subject);
	char path[PATH_BYTES_MAX + 1];
	struct subject s;
	struct id exposure;

	a->result = o;
	if (journal_subject(en->j, MACHINE_SESSION, &a->subject, &s, e))
		return -1;
	if (a->waits && s.state == SESSION_ENDED &&
	    fact_int(&s, SESSION_FACT_cause, 0) == CAUSE_FAILED)
		return not_built(en, &s, e);
	engine_attach_path(en, &a->subject, path, sizeof(path));
	json_set_cstr(o, "schema", "glove.start/1");
	set_id(o, "session", MACHINE_SESSION, &a->subject);
	if (fact_id(&s, SESSION_FACT_exposure, &exposure) == 0)
		set_id(o, "exposure", MACHINE_EXPOSURE, &exposure);
	json_set_cstr(o, "socket", path);
	if (t != NULL)
		json_set_hex(o, "token", BYTES(t->token));
	json_set_time(o, "ends_at", fact_int(&s, SESSION_FACT_ends_us, 0));
	json_set_int(o, "record", (int64_t)a->index);
	return 0;
}
