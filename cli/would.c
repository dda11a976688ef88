/* SPDX-License-Identifier: ISC */
/* would.c - a dry run: the steps, and that none of them was taken. */
#include "cli/cli.h"

enum { WHAT_MAX = 8192 };

void
would(struct cli *c, const char *verb, struct str what)
{
	struct json *step;

	if (!c->json) {
		out_putf(&c->out, "would %s ", verb);
		out_foreign(&c->out, what, WHAT_MAX);
		out_put(&c->out, "\n");
		return;
	}
	if (c->steps == NULL)
		c->steps = json_make_array();
	step = json_make_object();
	json_set_cstr(step, "verb", verb);
	json_set_str(step, "what", what);
	json_add(c->steps, step);
}

int
would_end(struct cli *c)
{
	AUTO(json) struct json *j = NULL;

	if (!c->json) {
		out_put(&c->out, "nothing was changed\n");
		return 0;
	}
	j = json_make_object();
	json_set_cstr(j, "schema", "glove.dryrun/1");
	json_set(j, "would", c->steps != NULL ? TAKE(c->steps) :
	    json_make_array());
	json_set_bool(j, "changed", 0);
	out_json(&c->out, j);
	return 0;
}
