/* SPDX-License-Identifier: ISC */
#include "cli/cli.h"

int
cmd_version(struct cli *c, struct err *e)
{
	AUTO(json) struct json *j = NULL;

	(void)e;
	if (!c->json) {
		out_put(&c->out, "glove " GLOVE_VERSION "\n");
		return 0;
	}
	j = json_make_object();
	json_set_cstr(j, "schema", "glove.version/1");
	json_set_cstr(j, "version", GLOVE_VERSION);
	out_json(&c->out, j);
	return 0;
}
