/* SPDX-License-Identifier: ISC */
#include "engine/rpc.h"

struct json *
rpc_frame(const struct json *id)
{
	struct json *f = json_make_object();

	json_set_cstr(f, "jsonrpc", "2.0");
	if (id != NULL && !json_is_null(id))
		json_set(f, "id", json_clone(id));
	else
		json_set_null(f, "id");
	return f;
}

/* What a program can act on: the name, the exit code, why, what to do. */
static struct json *
error_data(const struct err *err, struct json *more)
{
	struct json *data = more != NULL ? more : json_make_object();
	struct json *fix = json_make_array();

	json_set_cstr(data, "code", err_wire(err->code));
	json_set_int(data, "exit", err_exit(err->code));
	json_set_cstr(data, "why", err->why[0] != '\0' ? err->why : NULL);
	json_add_str(fix, str_of(err_do(err)));
	json_set(data, "fix", fix);
	return data;
}

struct json *
rpc_error(const struct json *id, int code, const struct err *err,
    struct json *more)
{
	struct json *frame = rpc_frame(id), *error = json_make_object();

	json_set_int(error, "code", code);
	json_set_cstr(error, "message", err->msg);
	json_set(error, "data", error_data(err, more));
	json_set(frame, "error", error);
	return frame;
}

/* A legal id: text, an integer, or null. */
int
rpc_envelope(const struct json *o, struct str *method, struct err *e)
{
	static const char *const keys[] = { "jsonrpc", "id", "method", "params", NULL };
	const struct json *id = json_get(o, "id"), *params = json_get(o, "params");
	struct str version;

	if (!json_is_object(o))
		return err_say(e, ERR_FORMAT, "a frame is one JSON object on one line");
	if (json_known(o, keys, e) || json_get_str(o, "jsonrpc", &version, e))
		return -1;
	if (!str_eq(version, STR("2.0")))
		return err_say(e, ERR_FORMAT, "this is not JSON-RPC 2.0");
	if (id != NULL && !json_is_string(id) && !json_is_int(id) && !json_is_null(id))
		return err_say(e, ERR_FORMAT, "an id is a string, an integer or null");
	if (params != NULL && !json_is_object(params))
		return err_say(e, ERR_FORMAT, "params is an object");
	return json_get_str(o, "method", method, e);
}
