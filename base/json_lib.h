/* SPDX-License-Identifier: ISC */
#ifndef BASE_JSON_LIB_H
#define BASE_JSON_LIB_H

/*
 * For base/json.c and base/json_make.c: a struct json * is a json_t *.  Opaque
 * to everyone else, so that the library can be exchanged here alone.
 */
#include <string.h>

#include <jansson.h>

/* Macros there, functions of ours. */
#undef json_is_object
#undef json_is_array
#undef json_is_string
#undef json_is_null

#include "base/json.h"

/* jansson is not strict about const: even a reader counts references. */
static inline json_t *
jt(const struct json *j)
{
	json_t *t;

	memcpy(&t, &j, sizeof(t));
	return t;
}

static inline struct json *
js(json_t *t)
{
	return (struct json *)(void *)t;
}

#endif
