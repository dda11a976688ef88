/* SPDX-License-Identifier: ISC */
/* h_session.c - what is asked about sessions that exist. */
#include <stdio.h>
#include <string.h>

#include "base/sha256.h"
#include "base/text.h"

#include "engine/internal.h"

enum { SHOWN_MAX = 500 };	/* entries of one list */

struct listing {
	struct engine	*en;
	const struct ask *a;
	struct json	*list;
	int		 all, state, more;
};

static int
list_one(void *ctx, const struct subject *s, struct err *e)
{
	struct listing *l = ctx;
	struct json *o;

	if ((l->state == 0 && !l->all && machine_final(MACHINE_SESSION, s->state)) ||
	    (!is_admin(l->en, l->a) &&
	    fact_int(s, SESSION_FACT_owner_uid, -1) != (int64_t)l->a->who.uid))
		return 0;
	if (json_len(l->list) == SHOWN_MAX) {
		l->more = 1;
		return 1;
	}
	if ((o = json_make_object()) == NULL)
		return err_set(e, ERR_NOMEM, "list");
	if (show_session(l->en, s, 0, o, e)) {
		json_free(o);
		return -1;
	}
	json_add(l->list, o);
	return 0;
}

int
handle_session_list(struct engine *en, struct ask *a, struct err *e)
{
	struct listing l = { .en = en, .a = a, .list = json_make_array() };
	char state[32];

	a->result = json_make_object();
	json_set_cstr(a->result, "schema", "glove.sessions/1");
	json_set_time(a->result, "now", en->now.real_us);
	json_set(a->result, "sessions", l.list);
	if (json_opt_bool(a->params, "all", &l.all, e) ||
	    param_text(a, "state", state, sizeof(state), e))
		return -1;
	if (state[0] != '\0' &&
	    (l.state = machine_state_find(MACHINE_SESSION, state)) == 0)
		return err_say(e, ERR_USAGE, "a session is never \"%s\"", state);
	if (journal_each(en->j, MACHINE_SESSION, l.state, 1, list_one, &l, e))
		return -1;
	json_set_bool(a->result, "more", l.more);
	return 0;
}

int
finish_session(struct engine *en, struct ask *a, struct err *e)
{
	struct subject s;

	a->result = json_make_object();
	if (journal_subject(en->j, MACHINE_SESSION, &a->subject, &s, e))
		return -1;
	json_set_cstr(a->result, "schema", "glove.session/1");
	return show_session(en, &s, 1, a->result, e);
}

int
handle_session_show(struct engine *en, struct ask *a, struct err *e)
{
	struct subject s;

	a->finish = finish_session;
	return facts_mine(en, a, MACHINE_SESSION, &s, e);
}

int
handle_session_wait(struct engine *en, struct ask *a, struct err *e)
{
	struct subject s;

	a->finish = finish_session;
	a->waits = 1;
	return facts_mine(en, a, MACHINE_SESSION, &s, e);
}

/* grace_s, now: how long between SIGTERM and SIGKILL; -1: as usual. */
int
param_grace(const struct ask *a, int64_t *us, struct err *e)
{
	int64_t s = -1;
	int now = 0;

	if (json_opt_int(a->params, "grace_s", 0, 3600, &s, e) ||
	    json_opt_bool(a->params, "now", &now, e))
		return -1;
	*us = now ? 0 : s < 0 ? -1 : s * 1000000;
	return 0;
}

int
param_wait(struct ask *a, struct err *e)
{
	a->waits = 1;
	return json_opt_bool(a->params, "wait", &a->waits, e);
}

int
handle_session_stop(struct engine *en, struct ask *a, struct err *e)
{
	struct subject s;
	int64_t grace_us;

	a->finish = finish_session;
	if (facts_mine(en, a, MACHINE_SESSION, &s, e) || param_wait(a, e) ||
	    param_grace(a, &grace_us, e))
		return -1;
	if (machine_final(MACHINE_SESSION, s.state))
		return 0;
	if (grace_us >= 0 && turn_grace(en, &s.id, grace_us, e))
		return -1;
	/* Once more, perhaps with less patience: the order stands already. */
	if (s.state == SESSION_STOPPING)
		return grace_us >= 0 ? turn_again(en, &s, e) : 0;
	a->event = SESSION_EV_stop;
	return session_end(en, &s.id, SESSION_EV_stop, UINT64_MAX, a, e);
}

int
handle_session_socket(struct engine *en, struct ask *a, struct err *e)
{
	char path[PATH_BYTES_MAX + 1];
	struct subject s;

	if (facts_mine(en, a, MACHINE_SESSION, &s, e))
		return -1;
	if (machine_final(MACHINE_SESSION, s.state))
		return err_say(e, ERR_ILLEGAL, "the session has ended");
	engine_attach_path(en, &s.id, path, sizeof(path));
	a->result = json_make_object();
	json_set_cstr(a->result, "schema", "glove.socket/1");
	json_set_cstr(a->result, "socket", path);
	return 0;
}

/* ---- a grant with a nonce of the supervisor: attach, exec ---------------- */

int
finish_receipt(struct engine *en, struct ask *a, struct err *e)
{
	AUTO(buf) struct buf b;
	char path[PATH_BYTES_MAX + 1];

	buf_init(&b, RECEIPT_MAX);
	if (journal_receipt(en->j, a->index, &b, e))
		return -1;
	engine_attach_path(en, &a->subject, path, sizeof(path));
	a->result = json_make_object();
	json_set_cstr(a->result, "schema", "glove.grant/1");
	json_set_cstr(a->result, "socket", path);
	json_set_str(a->result, "receipt", (struct str){ (const char *)b.p, b.n });
	json_set_int(a->result, "record", (int64_t)a->index);
	return 0;
}

/* Only while it runs, and while the lease that it stands on is open. */
static int
check_running(struct engine *en, struct ask *a, struct subject *s, struct err *e)
{
	struct subject x;
	struct id exposure;

	if (facts_mine(en, a, MACHINE_SESSION, s, e))
		return -1;
	if (s->state != SESSION_RUNNING)
		return err_say(e, ERR_ILLEGAL, "the session is %s",
		    machine_state_name(MACHINE_SESSION, s->state));
	if (fact_id(s, SESSION_FACT_exposure, &exposure) ||
	    journal_subject(en->j, MACHINE_EXPOSURE, &exposure, &x, e))
		return err_set(e, ERR_FORMAT, "a session without an exposure");
	return lease_open(en, &x, e);
}

static int
put_nonce(struct fields *f, const struct ask *a, struct err *e)
{
	struct str hex;
	uint8_t nonce[32];

	if (json_get_str(a->params, "nonce", &hex, e) ||
	    hex_get(hex, nonce, sizeof(nonce), e))
		return -1;
	fields_bytes(f, FIELD_NONCE, BYTES(nonce));
	return 0;
}

int
handle_session_attach(struct engine *en, struct ask *a, struct err *e)
{
	AUTO(fields) struct fields f;
	struct move m = { .machine = MACHINE_SESSION, .event = SESSION_EV_attach,
	    .actor = ACTOR_OWNER, .ask = a, .fields = &f };
	struct subject s;

	a->event = SESSION_EV_attach;
	a->finish = finish_receipt;
	fields_init(&f);
	if (check_running(en, a, &s, e) || put_nonce(&f, a, e))
		return -1;
	m.subject = s.id;
	return turn_append(en, &m, NULL, e);
}

static int
put_command(struct fields *f, const struct ask *a, struct err *e)
{
	const struct json *v = json_get(a->params, "command");
	AUTO(buf) struct buf text;
	AUTO(mem) const char **argv = NULL;
	uint8_t digest[SHA256_BYTES];
	size_t n = json_len(v), at = 0;
	struct digest d;
	struct str s;

	if (n == 0 || n > ARGV_MAX)
		return err_say(e, ERR_USAGE, "a command has 1 to %d words", ARGV_MAX);
	buf_init(&text, ARGV_BYTES_MAX);
	digest_init(&d, "glove/argv/1");
	for (size_t i = 0; i < n; i++) {
		if (json_text(json_at(v, i), &s) || memchr(s.p, '\0', s.n) != NULL)
			return err_say(e, ERR_FORMAT, "a word has a zero byte in it");
		digest_str(&d, s);
		buf_put(&text, s.p, s.n);
		buf_put_u8(&text, 0);
	}
	digest_final(&d, digest);
	if (buf_ok(&text, "command", e))
		return -1;
	if ((argv = calloc(n, sizeof(*argv))) == NULL)
		return err_set(e, ERR_NOMEM, "command");
	for (size_t i = 0; i < n; i++) {
		argv[i] = (const char *)text.p + at;
		at += strlen(argv[i]) + 1;
	}
	fields_bytes(f, FIELD_ARGV_DIGEST, BYTES(digest));
	fields_list(f, FIELD_ARGV, argv, n);
	return 0;
}

int
handle_session_exec(struct engine *en, struct ask *a, struct err *e)
{
	AUTO(fields) struct fields f;
	struct move m = { .machine = MACHINE_SESSION, .event = SESSION_EV_exec,
	    .actor = ACTOR_OWNER, .ask = a, .fields = &f };
	struct subject s;

	a->event = SESSION_EV_exec;
	a->finish = finish_receipt;
	fields_init(&f);
	if (check_running(en, a, &s, e) || put_nonce(&f, a, e) ||
	    put_command(&f, a, e))
		return -1;
	m.subject = s.id;
	return turn_append(en, &m, NULL, e);
}
