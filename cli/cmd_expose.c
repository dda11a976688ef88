/* SPDX-License-Identifier: ISC */
/* glove expose, exposures, renew, revoke: leases on directories. */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/clock.h"
#include "base/limits.h"
#include "cli/cli.h"

/* Left, when, latest possible: the three numbers of a lease. */
static void
row(struct cli *c, struct table *t, const struct json *x, int64_t now_us)
{
	AUTO(buf) struct buf b;
	struct str state = reply_str(x, "state");
	char id[ID_TEXT_MAX];

	buf_init(&b, 4 * PATH_BYTES_MAX);
	table_cell(t, STYLE_BOLD, str_of(ids_short(c, reply_str(x, "id"), id)));
	table_cell(t, str_eq(state, STR("active")) ? STYLE_GREEN : STYLE_DIM,
	    state);
	table_cell(t, STYLE_PLAIN, reply_str(x, "mode"));
	table_cellf(t, STYLE_PLAIN, "%lld",
	    (long long)reply_int(x, "generation", 0));
	when_put(&b, reply_time(x, "ends_at"), now_us, c->utc);
	table_cell(t, STYLE_PLAIN, (struct str){ (const char *)b.p, b.n });
	buf_reset(&b);
	clock_put(&b, reply_time(x, "latest_at"), now_us, 0, c->utc);
	table_cell(t, STYLE_PLAIN, (struct str){ (const char *)b.p, b.n });
	table_cell(t, STYLE_PLAIN, reply_str(x, "name"));
	buf_reset(&b);
	path_put(c, &b, reply_str(x, "path"));
	table_cell(t, STYLE_PLAIN, (struct str){ (const char *)b.p, b.n });
}

static const char *const heads[] = { "EXPOSURE", "STATE", "MODE", "GEN", "ENDS",
	"LATEST", "NAME", "DIRECTORY", NULL };

static int
print_one(struct cli *c, const struct json *x, struct err *e)
{
	AUTO(table) struct table t;

	table_init(&t, &c->out, c->wide, heads);
	if (c->json) {
		out_json(&c->out, x);
		return 0;
	}
	if (c->quiet) {
		out_foreign(&c->out, reply_str(x, "id"), ID_TEXT_MAX);
		out_put(&c->out, "\n");
		return 0;
	}
	row(c, &t, x, clock_now().real_us);
	return table_end(&t, e);
}

int
cmd_expose(struct cli *c, struct err *e)
{
	AUTO(json) struct json *p = cli_write(c, NULL), *x = NULL;
	AUTO(mem) char *path = realpath(c->args.v[0], NULL);
	const struct args *a = &c->args;

	if (path == NULL)
		return err_set(e, errno == ENOENT ? ERR_USAGE : ERR_SYS, "%s",
		    a->v[0]);
	if (cli_home(c, e) || home_spared(&c->home, path, e))
		return -1;
	if (args_has(a, FLAG_DRY_RUN)) {
		would(c, "lease", str_of(path));
		return would_end(c);
	}
	json_set_cstr(p, "path", path);
	json_set_cstr(p, "mode", args_text(a, FLAG_MODE, "staged"));
	if (args_has(a, FLAG_TTL))
		json_set_int(p, "ttl_s", args_us(a, FLAG_TTL, 0) / 1000000);
	if (args_has(a, FLAG_MAX))
		json_set_int(p, "max_s", args_us(a, FLAG_MAX, 0) / 1000000);
	if (args_has(a, FLAG_NAME))
		json_set_cstr(p, "name", args_text(a, FLAG_NAME, NULL));
	if (cli_call(c, "exposure.open", TAKE(p), &x, e))
		return -1;
	return print_one(c, x, e);
}

int
cmd_exposures(struct cli *c, struct err *e)
{
	AUTO(json) struct json *p = json_make_object(), *list = NULL;
	AUTO(table) struct table t;
	struct json *v;

	table_init(&t, &c->out, c->wide, heads);
	json_set_bool(p, "all", args_has(&c->args, FLAG_ALL));
	if (cli_call(c, "exposure.list", TAKE(p), &list, e))
		return -1;
	if (c->json) {
		out_json(&c->out, list);
		return 0;
	}
	v = json_get(list, "exposures");
	for (size_t i = 0; i < json_len(v); i++)
		row(c, &t, json_at(v, i), reply_time(list, "now"));
	if (json_len(v) > 0)
		return table_end(&t, e);
	if (!c->quiet)
		out_put(&c->note, args_has(&c->args, FLAG_ALL) ? "no exposures\n" :
		    "no exposure is active; --all lists those that are over\n");
	return 0;
}

int
cmd_renew(struct cli *c, struct err *e)
{
	const struct args *a = &c->args;
	AUTO(json) struct json *p = NULL, *x = NULL;
	char id[ID_TEXT_MAX];

	if (ids_resolve(c, a->v[0], ID_BIT(ID_EXPOSURE), 0, id, e))
		return -1;
	if (args_has(a, FLAG_DRY_RUN)) {
		would(c, "renew", str_of(id));
		return would_end(c);
	}
	p = cli_write(c, id);
	json_set_int(p, "ttl_s", args_us(a, FLAG_TTL,
	    (int64_t)EXPOSURE_TTL_S * 1000000) / 1000000);
	if (args_has(a, FLAG_UP_TO))
		json_set_bool(p, "up_to", 1);
	if (args_has(a, FLAG_EXPECT_GEN))
		json_set_int(p, "expect_gen", args_count(a, FLAG_EXPECT_GEN, 0));
	if (cli_call(c, "exposure.renew", TAKE(p), &x, e))
		return -1;
	return print_one(c, x, e);
}

static int
revoke_one(struct cli *c, const char *id, struct err *e)
{
	const struct args *a = &c->args;
	AUTO(json) struct json *p = NULL, *x = NULL;
	char text[ID_TEXT_MAX];
	size_t ended;

	if (args_has(a, FLAG_DRY_RUN)) {
		would(c, "revoke", str_of(id));
		return 0;
	}
	p = cli_write(c, id);
	if (args_has(a, FLAG_GRACE))
		json_set_int(p, "grace_s", args_us(a, FLAG_GRACE, 0) / 1000000);
	if (args_has(a, FLAG_NOW))
		json_set_bool(p, "now", 1);
	if (args_has(a, FLAG_NO_WAIT))
		json_set_bool(p, "wait", 0);
	if (cli_wait(c, "exposure.revoke", TAKE(p), &x, e))
		return -1;
	if (c->json) {
		out_json(&c->out, x);
		return 0;
	}
	if (c->quiet)
		return 0;
	ended = json_len(json_get(x, "sessions"));
	out_putf(&c->out, "%s ", ids_short(c, str_of(id), text));
	out_foreign(&c->out, reply_str(x, "state"), 32);
	if (ended > 0)
		out_putf(&c->out, ", %zu session%s ended with it", ended,
		    ended == 1 ? "" : "s");
	out_put(&c->out, "\n");
	return 0;
}

static int
revoke_all(struct cli *c, struct err *e)
{
	AUTO(json) struct json *list = NULL;
	struct json *v;

	if (cli_call(c, "exposure.list", json_make_object(), &list, e))
		return -1;
	v = json_get(list, "exposures");
	for (size_t i = 0; i < json_len(v); i++) {
		struct str s = reply_str(json_at(v, i), "id");
		char id[ID_TEXT_MAX];

		if (s.n != ID_TEXT_MAX - 1)
			continue;
		memcpy(id, s.p, s.n);
		id[s.n] = '\0';
		if (revoke_one(c, id, e))
			return -1;
	}
	return 0;
}

int
cmd_revoke(struct cli *c, struct err *e)
{
	const struct args *a = &c->args;
	char id[ID_TEXT_MAX];

	if (cli_one_request(c, e))
		return -1;
	if ((a->n == 0) != args_has(a, FLAG_ALL)) {
		(void)err_say(e, ERR_USAGE, "revoke: which ones?");
		return err_fix(e, "glove revoke EXP... or glove revoke --all");
	}
	for (size_t i = 0; i < a->n; i++)
		if (ids_resolve(c, a->v[i], ID_BIT(ID_EXPOSURE), 1, id, e) ||
		    revoke_one(c, id, e))
			return -1;
	if (a->n == 0 && revoke_all(c, e))
		return -1;
	return args_has(a, FLAG_DRY_RUN) ? would_end(c) : 0;
}
