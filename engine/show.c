/* SPDX-License-Identifier: ISC */
/* show.c - subjects as JSON, for answers. */
#include <stdio.h>
#include <string.h>

#include "base/text.h"

#include "engine/internal.h"

enum { COMMAND_SHOWN = 4096 };	/* bytes of a command in a list */

static void
set_fact_id(struct json *o, const char *key, int machine, const struct subject *s,
    int fact)
{
	struct id id;

	if (fact_id(s, fact, &id) == 0)
		set_id(o, key, machine, &id);
	else
		json_set_null(o, key);
}

static void
set_fact_hex(struct json *o, const char *key, const struct subject *s, int fact)
{
	if (s->fact[fact].present)
		json_set_hex(o, key, bytes_of(s->fact[fact].b, s->fact[fact].n));
	else
		json_set_null(o, key);
}

static void
set_fact_int(struct json *o, const char *key, const struct subject *s, int fact)
{
	if (s->fact[fact].present)
		json_set_int(o, key, s->fact[fact].i);
	else
		json_set_null(o, key);
}

/* A sealed text; null if it was withheld or never there. */
static void
set_sealed(struct engine *en, struct json *o, const char *key, uint64_t index,
    int tag)
{
	AUTO(buf) struct buf b;
	struct err ignore;

	buf_init(&b, FIELDS_BYTES_MAX);
	if (fact_text(en, index, tag, &b, &ignore))
		json_set_null(o, key);
	else
		json_set_str(o, key, (struct str){ (const char *)b.p, b.n });
}

static void
set_command(struct engine *en, struct json *o, const struct subject *s, int whole)
{
	AUTO(buf) struct buf b;
	struct json *list = json_make_array();
	struct err ignore;
	size_t at = 0, n, most = whole ? FRAME_MAX / 2 : COMMAND_SHOWN;

	buf_init(&b, FIELDS_BYTES_MAX);
	if (journal_sealed(en->j, s->first, FIELD_ARGV, NULL, &b, &ignore) == 0)
		while (at < b.n && at < most) {
			n = strnlen((const char *)b.p + at, b.n - at);
			json_add_str(list, (struct str){ (const char *)b.p + at, n });
			at += n + 1;
		}
	if (at < b.n)
		json_add_str(list, STR("..."));
	json_set(o, "command", list);
}

/* ---- a session ----------------------------------------------------------- */

/* What the records of a session say besides its facts. */
struct life {
	int64_t		 gate_us, ended_us, intent_us;
	uint64_t	 ended;
	int		 denials;
	uint64_t	 duration_us;
	int		 has_duration;
	struct buf	 enforced, code;
	uint64_t	 signals;
};

static void
auto_life(struct life *l)
{
	buf_done(&l->enforced);
	buf_done(&l->code);
}

static int
live_through(void *ctx, uint64_t index, struct bytes b, struct err *e)
{
	struct life *l = ctx;
	struct record r;
	struct bytes v;

	if (record_decode(b, &r, e))
		return -1;
	if (r.flags & RECORD_REFUSED) {
		l->denials++;
		return 0;
	}
	switch (r.event) {
	case SESSION_EV_start_intent:
		l->intent_us = r.time_us;
		break;
	case SESSION_EV_gate_open:
		l->gate_us = r.time_us;
		v = record_field(&r, FIELD_ENFORCED);
		buf_put(&l->enforced, v.p, v.n);
		break;
	case SESSION_EV_ended:
	case SESSION_EV_refuse:
		l->ended_us = r.time_us;
		l->ended = index;
		l->has_duration = record_u64(&r, FIELD_DURATION_US,
		    &l->duration_us) == 0;
		(void)record_u64(&r, FIELD_SIGNALS, &l->signals);
		v = record_field(&r, FIELD_CODE);
		buf_put(&l->code, v.p, v.n);
		break;
	default:
		break;
	}
	return 0;
}

static void
set_error(struct engine *en, struct json *o, const struct life *l)
{
	struct json *error;

	if (l->code.n == 0) {
		json_set_null(o, "error");
		return;
	}
	error = json_make_object();
	for (int c = 1; c < ERR_CODE_END; c++)
		if (str_eq(str_of(err_name(c)),
		    (struct str){ (const char *)l->code.p, l->code.n }))
			json_set_cstr(error, "code", err_wire(c));
	set_sealed(en, error, "message", l->ended, FIELD_REASON);
	json_set(o, "error", error);
}

static void
set_change(struct engine *en, struct json *o, const struct subject *s)
{
	struct subject change;
	struct json *c;
	struct err ignore;
	struct id id;

	set_fact_id(o, "change", MACHINE_CHANGE, s, SESSION_FACT_change);
	if (fact_id(s, SESSION_FACT_change, &id) ||
	    journal_subject(en->j, MACHINE_CHANGE, &id, &change, &ignore)) {
		json_set_null(o, "changes");
		return;
	}
	c = json_make_object();
	json_set_cstr(c, "state", machine_state_name(MACHINE_CHANGE, change.state));
	set_fact_int(c, "files", &change, CHANGE_FACT_files);
	set_fact_int(c, "added", &change, CHANGE_FACT_added);
	set_fact_int(c, "removed", &change, CHANGE_FACT_removed);
	json_set(o, "changes", c);
}

static void
set_end(struct engine *en, struct json *o, const struct subject *s,
    const struct life *l)
{
	int over = machine_final(MACHINE_SESSION, s->state);

	if (over && l->ended_us != 0)
		json_set_time(o, "ended_at", l->ended_us);
	else
		json_set_null(o, "ended_at");
	if (over)
		set_fact_int(o, "exit", s, SESSION_FACT_exit_status);
	else
		json_set_null(o, "exit");
	json_set_cstr(o, "ended_by", !over ? NULL :
	    cause_word((int)fact_int(s, SESSION_FACT_cause, CAUSE_LOST)));
	if (l->has_duration)
		json_set_int(o, "duration_ms", (int64_t)(l->duration_us / 1000));
	else
		json_set_null(o, "duration_ms");
	json_set_int(o, "signals", (int64_t)l->signals);
	if (over && l->ended != 0)
		json_set_int(o, "record", (int64_t)l->ended);
	else
		json_set_int(o, "record", (int64_t)s->last);
	set_error(en, o, l);
}

static void
set_left(struct engine *en, struct json *o, int64_t ends_us, int live)
{
	int64_t left = (ends_us - en->now.real_us) / 1000000;

	json_set_time(o, "ends_at", ends_us);
	json_set_int(o, "left_s", !live || left < 0 ? 0 : left);
}

int
show_session(struct engine *en, const struct subject *s, int whole, struct json *o,
    struct err *e)
{
	AUTO(life) struct life l = { .gate_us = 0 };
	struct json *list = json_make_array();
	struct id exposure;
	char text[ID_TEXT_MAX];

	buf_init(&l.enforced, RECORD_MAX);
	buf_init(&l.code, 64);
	if (journal_history(en->j, MACHINE_SESSION, &s->id, s->first, live_through,
	    &l, e))
		return -1;
	set_id(o, "id", MACHINE_SESSION, &s->id);
	json_set_cstr(o, "state", machine_state_name(MACHINE_SESSION, s->state));
	set_sealed(en, o, "name", s->first, FIELD_NAME);
	set_command(en, o, s, whole);
	json_set_cstr(o, "mode", mode_word((int)fact_int(s, SESSION_FACT_mode, 0)));
	set_sealed(en, o, "path", s->first, FIELD_HOST_PATH);
	set_fact_int(o, "owner_uid", s, SESSION_FACT_owner_uid);
	json_set_time(o, "started_at", l.gate_us != 0 ? l.gate_us : l.intent_us);
	set_left(en, o, fact_int(s, SESSION_FACT_ends_us, 0),
	    !machine_final(MACHINE_SESSION, s->state));
	if (fact_id(s, SESSION_FACT_exposure, &exposure) == 0)
		json_add_str(list, str_of(id_str(ID_EXPOSURE, &exposure, text)));
	json_set(o, "exposures", list);
	json_set_int(o, "pending_approvals", 0);
	json_set_int(o, "denials", l.denials);
	set_end(en, o, s, &l);
	set_change(en, o, s);
	if (!whole)
		return 0;
	set_fact_hex(o, "plan", s, SESSION_FACT_plan);
	set_fact_hex(o, "binding", s, SESSION_FACT_binding);
	json_set_str(o, "enforced",
	    (struct str){ (const char *)l.enforced.p, l.enforced.n });
	return 0;
}

/* ---- an exposure --------------------------------------------------------- */

int
show_exposure(struct engine *en, const struct subject *s, struct json *o,
    struct err *e)
{
	AUTO(subjects) struct subjects l = { NULL, 0, 0 };
	struct json *sessions = json_make_array();
	char text[ID_TEXT_MAX];
	int live = s->state == EXPOSURE_ACTIVE || s->state == EXPOSURE_SUSPECT;

	if ((live || s->state == EXPOSURE_CLOSING) && facts_on(en, &s->id, &l, e)) {
		json_free(sessions);
		return -1;
	}
	set_id(o, "id", MACHINE_EXPOSURE, &s->id);
	json_set_cstr(o, "state", machine_state_name(MACHINE_EXPOSURE, s->state));
	set_sealed(en, o, "name", s->first, FIELD_LABEL);
	set_sealed(en, o, "path", s->first, FIELD_HOST_PATH);
	json_set_cstr(o, "mode", mode_word((int)fact_int(s, EXPOSURE_FACT_mode, 0)));
	set_fact_int(o, "owner_uid", s, EXPOSURE_FACT_owner_uid);
	set_fact_int(o, "generation", s, EXPOSURE_FACT_generation);
	set_fact_hex(o, "scope", s, EXPOSURE_FACT_scope);
	json_set_time(o, "opened_at", s->born_us);
	set_left(en, o, fact_int(s, EXPOSURE_FACT_ends_us, 0), live);
	json_set_time(o, "latest_at", fact_int(s, EXPOSURE_FACT_latest_us, 0));
	for (size_t i = 0; i < l.n; i++)
		json_add_str(sessions, str_of(id_str(ID_SESSION, &l.v[i].id, text)));
	json_set(o, "sessions", sessions);
	json_set_int(o, "record", (int64_t)s->last);
	return 0;
}

/* ---- a change ------------------------------------------------------------ */

int
show_change(struct engine *en, const struct subject *s, struct json *o,
    struct err *e)
{
	AUTO(buf) struct buf b;
	struct subject x;
	struct record r;
	struct id id;
	struct bytes blob = { NULL, 0 };
	uint64_t index;
	char text[ID_TEXT_MAX], path[2 * PATH_BYTES_MAX];

	buf_init(&b, RECORD_MAX);
	if (fact_record(en, s, CHANGE_EV_stage, &index, &b, e) ||
	    record_decode(buf_bytes(&b), &r, e))
		return -1;
	blob = record_field(&r, FIELD_MANIFEST_BLOB);
	set_id(o, "id", MACHINE_CHANGE, &s->id);
	set_fact_id(o, "session", MACHINE_SESSION, s, CHANGE_FACT_session);
	set_fact_id(o, "exposure", MACHINE_EXPOSURE, s, CHANGE_FACT_exposure);
	json_set_cstr(o, "state", machine_state_name(MACHINE_CHANGE, s->state));
	json_set_time(o, "staged_at", s->born_us);
	set_fact_int(o, "files", s, CHANGE_FACT_files);
	set_fact_int(o, "added", s, CHANGE_FACT_added);
	set_fact_int(o, "removed", s, CHANGE_FACT_removed);
	set_fact_hex(o, "manifest", s, CHANGE_FACT_manifest);
	json_set_hex(o, "manifest_blob", blob);
	if (fact_id(s, CHANGE_FACT_session, &id) == 0) {
		(void)snprintf(path, sizeof(path), "%s/sessions/%s/upper", en->home,
		    id_str(ID_SESSION, &id, text));
		json_set_cstr(o, "upper", path);
	}
	if (fact_id(s, CHANGE_FACT_exposure, &id) == 0 &&
	    journal_subject(en->j, MACHINE_EXPOSURE, &id, &x, e) == 0)
		set_sealed(en, o, "path", x.first, FIELD_HOST_PATH);
	json_set_int(o, "record", (int64_t)s->last);
	return 0;
}
