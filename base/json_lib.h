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

/* 1 if ${test} is true of a value right below ${t}; it may be NULL. */
static inline int
json_below(json_t *t, int (*test)(json_t *))
{
	for (void *it = json_object_iter(t); it != NULL;
	    it = json_object_iter_next(t, it))
		if (test(json_object_iter_value(it)))
			return 1;
	for (size_t i = 0; i < json_array_size(t); i++)
		if (test(json_array_get(t, i)))
			return 1;
	return 0;
}

#endif
