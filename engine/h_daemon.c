/* SPDX-License-Identifier: ISC */
/* h_daemon.c - the connection and gloved itself. */
#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "engine/internal.h"

static struct json *
capabilities(void)
{
	struct json *c = json_make_object(), *modes = json_make_array();

	json_set_int(c, "revision", 1);
	json_add_str(modes, str_of(mode_word(MODE_RO)));
	json_add_str(modes, str_of(mode_word(MODE_STAGED)));
	json_set(c, "modes", modes);
	json_set_int(c, "frame_max", FRAME_MAX);
	return c;
}

int
handle_hello(struct engine *en, struct ask *a, struct err *e)
{
	char schema[64], principal[32];
	struct json *o;

	if (param_text(a, "schema", schema, sizeof(schema), e))
		return -1;
	if (strcmp(schema, "glove.control/1") != 0)
		return err_say(e, ERR_VERSION, "this gloved speaks glove.control/1");
	(void)snprintf(principal, sizeof(principal), "uid:%" PRIuMAX,
	    (uintmax_t)a->who.uid);
	o = a->result = json_make_object();
	json_set_cstr(o, "schema", "glove.hello/1");
	json_set_hex(o, "install", bytes_of(journal_install(en->j), INSTALL_ID_BYTES));
	json_set_cstr(o, "origin", journal_origin(en->j));
	json_set_hex(o, "log_key", bytes_of(journal_log_pub(en->j), PUB_BYTES));
	json_set_hex(o, "root_key", bytes_of(journal_root_pub(en->j), PUB_BYTES));
	json_set_cstr(o, "version", GLOVE_VERSION);
	json_set_cstr(o, "principal", principal);
	json_set(o, "capabilities", capabilities());
	return 0;
}

static int
count_one(void *ctx, const struct subject *s, struct err *e)
{
	int64_t *epoch = ctx;

	(void)e;
	if (fact_int(s, KEY_FACT_use, 0) == KEYUSE_EPOCH)
		*epoch = fact_int(s, KEY_FACT_epoch, 0);
	return 0;
}

static size_t
live_sessions(const struct engine *en)
{
	size_t n = 0;

	for (size_t i = 0; i < en->leases.n; i++)
		n += en->leases.v[i].machine == MACHINE_SESSION;
	return n;
}

int
handle_daemon_status(struct engine *en, struct ask *a, struct err *e)
{
	struct json *o = a->result = json_make_object();
	int64_t epoch = 0;

	if (journal_each(en->j, MACHINE_KEY, KEY_ACTIVE, 0, count_one, &epoch, e))
		return -1;
	json_set_cstr(o, "schema", "glove.daemon/1");
	json_set_int(o, "pid", en->o.pid);
	json_set_cstr(o, "version", GLOVE_VERSION);
	json_set_time(o, "started_at", en->born.real_us);
	json_set_int(o, "records", (int64_t)journal_size(en->j));
	json_set_int(o, "commits", (int64_t)journal_commits(en->j));
	json_set_int(o, "sessions", (int64_t)live_sessions(en));
	json_set_int(o, "clients", (int64_t)en->o.clients(en->o.cookie));
	json_set_cstr(o, "verdict", verdict_name((int)en->o.verdict));
	json_set_int(o, "journal_bytes", en->o.journal_bytes(en->o.cookie));
	json_set_bool(o, "room", journal_room(en->j));
	json_set_int(o, "epoch", epoch);
	json_set_int(o, "idle_exit_s", en->o.idle_exit_s);
	json_set_bool(o, "root_key_here", en->o.root_key_here(en->o.cookie));
	json_set_cstr(o, "home", en->home);
	return 0;
}

int
handle_daemon_stop(struct engine *en, struct ask *a, struct err *e)
{
	(void)e;
	en->leaving = 1;
	a->result = json_make_object();
	json_set_cstr(a->result, "schema", "glove.stop/1");
	json_set_int(a->result, "sessions", (int64_t)live_sessions(en));
	return 0;
}

int
engine_leaving(const struct engine *en)
{
	return en->leaving;
}

enum { MATCHES_MAX = 16 };

int
handle_resolve(struct engine *en, struct ask *a, struct err *e)
{
	struct subject found[MATCHES_MAX];
	struct json *list = json_make_array();
	struct id_prefix p;
	struct str prefix;
	char kind[16];
	size_t n = 0;

	a->result = json_make_object();
	json_set_cstr(a->result, "schema", "glove.matches/1");
	json_set(a->result, "matches", list);
	if (json_get_str(a->params, "prefix", &prefix, e) ||
	    param_text(a, "kind", kind, sizeof(kind), e) ||
	    id_prefix_parse(prefix, &p, e) ||
	    journal_find(en->j, &p, found, MATCHES_MAX, &n, e))
		return -1;
	for (size_t i = 0; i < n; i++) {
		const char *name = machine_name(found[i].machine);
		struct json *o;
		int64_t uid;

		if ((kind[0] != '\0' && strcmp(kind, name) != 0) ||
		    facts_owner(en, &found[i], &uid, e) ||
		    (!is_admin(en, a) && uid != (int64_t)a->who.uid))
			continue;
		o = json_make_object();
		set_id(o, "id", found[i].machine, &found[i].id);
		json_set_cstr(o, "kind", name);
		json_set_cstr(o, "state",
		    machine_state_name(found[i].machine, found[i].state));
		json_add(list, o);
	}
	return 0;
}
