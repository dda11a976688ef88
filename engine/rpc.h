/* SPDX-License-Identifier: ISC */
#ifndef ENGINE_RPC_H
#define ENGINE_RPC_H

#include "base/json.h"

/* JSON-RPC 2.0: its own error codes; ours are -32000 - enum err_code. */
enum {
	RPC_PARSE = -32700,
	RPC_REQUEST = -32600,
	RPC_METHOD = -32601,
	RPC_PARAMS = -32602,
	RPC_OURS = -32000
};

/* rpc_frame(id): an answer without its result; ${id} NULL: null. */
struct json *rpc_frame(const struct json *id);
/* rpc_error(id, code, err, more): an answer that says no; takes ${more}, which
 * becomes its data. */
struct json *rpc_error(const struct json *id, int code, const struct err *err,
    struct json *more);
/* rpc_envelope(o, method, e): FORMAT unless ${o} is a request. */
int rpc_envelope(const struct json *o, struct str *method, struct err *e)
    MUST_CHECK;

#endif
