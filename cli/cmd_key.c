/* SPDX-License-Identifier: ISC */
/* glove key ls, show, export, pin: the keys that sign, and the one to trust. */
#include <string.h>

#include "cli/cli.h"
#include "journal/sign.h"

enum { PINS_MAX = 1 << 20 };

static void
row(struct cli *c, struct table *t, const struct json *k)
{
	struct str state = reply_str(k, "state");
	char id[ID_TEXT_MAX];

	table_cell(t, STYLE_BOLD, str_of(ids_short(c, reply_str(k, "id"), id)));
	table_cell(t, STYLE_PLAIN, reply_str(k, "use"));
	table_cell(t, str_eq(state, STR("active")) ? STYLE_GREEN : STYLE_DIM,
	    state);
	if (json_is_int(json_get(k, "until")))
		table_cellf(t, STYLE_PLAIN, "%lld-%lld",
		    (long long)reply_int(k, "from", 0),
		    (long long)reply_int(k, "until", 0));
	else
		table_cellf(t, STYLE_PLAIN, "%lld-",
		    (long long)reply_int(k, "from", 0));
	table_cell(t, STYLE_PLAIN, reply_str(k, "pub"));
}

static int
fetch(struct cli *c, struct json **list, struct err *e)
{
	return cli_call(c, "key.list", json_make_object(), list, e);
}

int
cmd_key_ls(struct cli *c, struct err *e)
{
	static const char *const heads[] = { "KEY", "USE", "STATE", "RECORDS",
	    "PUBLIC KEY", NULL };
	AUTO(json) struct json *list = NULL;
	AUTO(table) struct table t;
	AUTO(json) struct json *status = NULL;
	struct json *keys;

	table_init(&t, &c->out, c->wide, heads);
	if (fetch(c, &list, e) ||
	    cli_call(c, "daemon.status", NULL, &status, e))
		return -1;
	if (c->json) {
		out_json(&c->out, list);
		return 0;
	}
	keys = json_get(list, "keys");
	for (size_t i = 0; i < json_len(keys); i++)
		row(c, &t, json_at(keys, i));
	if (table_end(&t, e))
		return -1;
	if (reply_bool(status, "root_key_here") && !c->quiet)
		out_put(&c->note, "root key still on this machine: whoever takes"
		    " this account can rewrite history\n");
	return 0;
}

int
cmd_key_show(struct cli *c, struct err *e)
{
	AUTO(json) struct json *list = NULL;
	struct json *keys;
	char id[ID_TEXT_MAX];

	if (ids_resolve(c, c->args.v[0], ID_BIT(ID_KEY), 0, id, e) ||
	    fetch(c, &list, e))
		return -1;
	keys = json_get(list, "keys");
	for (size_t i = 0; i < json_len(keys); i++) {
		const struct json *k = json_at(keys, i);

		if (!str_eq(reply_str(k, "id"), str_of(id)))
			continue;
		if (c->json) {
			AUTO(json) struct json *o = json_clone(k);

			json_set_cstr(o, "schema", "glove.key/1");
			out_json(&c->out, o);
			return 0;
		}
		out_putf(&c->out, "%s  ", id);
		out_foreign(&c->out, reply_str(k, "state"), 32);
		out_put(&c->out, "\n  use         ");
		out_foreign(&c->out, reply_str(k, "use"), 32);
		out_put(&c->out, "\n  public key  ");
		out_foreign(&c->out, reply_str(k, "pub"), 256);
		out_putf(&c->out, "\n  records     %lld-",
		    (long long)reply_int(k, "from", 0));
		if (json_is_int(json_get(k, "until")))
			out_putf(&c->out, "%lld",
			    (long long)reply_int(k, "until", 0));
		out_put(&c->out, "\n");
		return 0;
	}
	return err_set(e, ERR_NOTFOUND, "%s", id);
}

/* The root verifier key: what somebody else pins to check our exports. */
int
cmd_key_export(struct cli *c, struct err *e)
{
	AUTO(buf) struct buf key;

	buf_init(&key, 256);
	if (cli_connect(c, e) || cli_root_key(c, &key, e))
		return -1;
	if (c->json) {
		AUTO(json) struct json *j = json_make_object();

		json_set_cstr(j, "schema", "glove.rootkey/1");
		json_set_cstr(j, "root_key", buf_cstr(&key));
		out_json(&c->out, j);
		return 0;
	}
	out_putf(&c->out, "%s\n", buf_cstr(&key));
	return 0;
}

static int
list_pins(struct cli *c, struct err *e)
{
	AUTO(json) struct json *j = json_make_object();
	struct json *pins = json_make_array();
	AUTO(buf) struct buf b;

	json_set_cstr(j, "schema", "glove.pins/1");
	json_set(j, "pins", pins);
	buf_init(&b, PINS_MAX);
	if (pins_read(&c->home, &b, e))
		return -1;
	for (size_t i = 0; i < b.n; ) {
		const uint8_t *nl = memchr(b.p + i, '\n', b.n - i);
		size_t n = nl == NULL ? b.n - i : (size_t)(nl - b.p) - i;

		struct str pin = { (const char *)b.p + i, n };

		json_add_str(pins, pin);
		if (!c->json) {
			out_foreign(&c->out, pin, 512);
			out_put(&c->out, "\n");
		}
		i += n + 1;
	}
	if (c->json)
		out_json(&c->out, j);
	return 0;
}

int
cmd_key_pin(struct cli *c, struct err *e)
{
	const char *key = c->args.n > 0 ? c->args.v[0] : NULL;
	uint8_t pub[PUB_BYTES];
	char name[ORIGIN_MAX];

	if (cli_home(c, e))
		return -1;
	if (key == NULL)
		return list_pins(c, e);
	if (note_verifier_parse(str_of(key), name, pub, e)) {
		(void)err_say(e, ERR_USAGE, "this is not a verifier key");
		return err_fix(e, "take the line that glove key export prints on"
		    " the other machine");
	}
	if (args_has(&c->args, FLAG_DRY_RUN)) {
		would(c, "pin", str_of(key));
		return would_end(c);
	}
	return pins_add(&c->home, str_of(key), e);
}
