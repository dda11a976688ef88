/* SPDX-License-Identifier: ISC */
/* param.c - parameters of a request, one by one, within their bounds. */
#include <string.h>

#include "engine/internal.h"

int
param_text(const struct ask *a, const char *key, char *out, size_t n, struct err *e)
{
	struct str s = STR("");

	if (json_opt_str(a->params, key, &s, e))
		return -1;
	if (s.n >= n)
		return err_say(e, ERR_TOOBIG, "%s is longer than %zu bytes", key, n - 1);
	if (memchr(s.p, '\0', s.n) != NULL)
		return err_say(e, ERR_FORMAT, "%s has a zero byte in it", key);
	memcpy(out, s.p, s.n);
	out[s.n] = '\0';
	return 0;
}

int
param_id(const struct ask *a, const char *key, int machine, struct id *id,
    struct err *e)
{
	struct str s;

	if (json_get_str(a->params, key, &s, e))
		return -1;
	if (id_parse(machine_id_kind(machine), s, id, e))
		return err_why(e, "%s must be a full id of a %s", key,
		    machine_name(machine));
	return 0;
}

void
set_id(struct json *o, const char *key, int machine, const struct id *id)
{
	char text[ID_TEXT_MAX];

	json_set_cstr(o, key, id_str(machine_id_kind(machine), id, text));
}
