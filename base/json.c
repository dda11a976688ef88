/* SPDX-License-Identifier: ISC */
/* Reading. */
#include <inttypes.h>
#include <string.h>

#include "base/json_lib.h"
#include "base/text.h"

enum { SHOWN = 60 };	/* of a stranger's key, in an error */

static int
is(const struct json *j, json_type type)
{
	return j != NULL && json_typeof(jt(j)) == type;
}

int
json_is_object(const struct json *j)
{
	return is(j, JSON_OBJECT);
}

int
json_is_array(const struct json *j)
{
	return is(j, JSON_ARRAY);
}

int
json_is_string(const struct json *j)
{
	return is(j, JSON_STRING);
}

int
json_is_int(const struct json *j)
{
	return is(j, JSON_INTEGER);
}

int
json_is_null(const struct json *j)
{
	return j == NULL || is(j, JSON_NULL);
}

/* "what \"key\"", the key escaped. */
static int
wrong_key(struct err *e, const char *key, const char *what)
{
	AUTO(buf) struct buf b;

	buf_init(&b, 256);
	escape_put(&b, str_of(key), SHOWN);
	return err_say(e, ERR_FORMAT, "\"%s\" %s",
	    buf_cstr(&b) != NULL ? (const char *)b.p : "", what);
}

/*
 * The levels of ${text}, counted before anything is built.  Brackets inside
 * strings do not count; if the text is malformed the parser will say so.
 */
static int
depth_of(struct str text)
{
	int depth = 0, deepest = 0, quoted = 0;

	for (size_t i = 0; i < text.n; i++) {
		char c = text.p[i];

		if (quoted && c == '\\')
			i++;
		else if (c == '"')
			quoted = !quoted;
		else if (!quoted && (c == '{' || c == '[') &&
		    ++depth > deepest)
			deepest = depth;
		else if (!quoted && (c == '}' || c == ']'))
			depth--;
	}
	return deepest;
}

static int
has_real(json_t *t)
{
	return json_is_real(t) || json_below(t, has_real);
}

int
json_parse(struct str text, struct json **out, struct err *e)
{
	AUTO(json) struct json *j = NULL;
	AUTO(buf) struct buf b;
	json_error_t why;

	buf_init(&b, 512);
	if (depth_of(text) > JSON_DEPTH_MAX)
		return err_say(e, ERR_FORMAT, "JSON of more than %d levels",
		    JSON_DEPTH_MAX);
	j = js(json_loadb(text.n != 0 ? text.p : "", text.n,
	    JSON_REJECT_DUPLICATES, &why));
	if (j == NULL && json_error_code(&why) == json_error_out_of_memory)
		return err_set(e, ERR_NOMEM, "JSON");
	if (j == NULL) {
		/* It quotes the text, which is a stranger's. */
		escape_put(&b, str_of(why.text), sizeof(why.text));
		return err_say(e, ERR_FORMAT, "JSON, line %d column %d: %s",
		    why.line, why.column,
		    buf_cstr(&b) != NULL ? (const char *)b.p : "");
	}
	if (has_real(jt(j)))
		return err_say(e, ERR_FORMAT,
		    "JSON with a number that is not an integer");
	*out = TAKE(j);
	return 0;
}

struct json *
json_get(const struct json *o, const char *key)
{
	return js(json_object_get(jt(o), key));
}

int
json_opt_str(const struct json *o, const char *key, struct str *s,
    struct err *e)
{
	struct json *v = json_get(o, key);

	if (!json_is_null(v) && json_text(v, s))
		return wrong_key(e, key, "is not a string");
	return 0;
}

int
json_opt_int(const struct json *o, const char *key, int64_t min, int64_t max,
    int64_t *n, struct err *e)
{
	struct json *v = json_get(o, key);
	int64_t k;

	if (json_is_null(v))
		return 0;
	if (json_int(v, &k))
		return wrong_key(e, key, "is not an integer");
	if (k < min || k > max)
		return err_say(e, ERR_FORMAT, "\"%s\" is %" PRId64
		    ", not between %" PRId64 " and %" PRId64, key, k, min, max);
	*n = k;
	return 0;
}

int
json_opt_bool(const struct json *o, const char *key, int *v, struct err *e)
{
	struct json *b = json_get(o, key);

	if (json_is_null(b))
		return 0;
	if (!is(b, JSON_TRUE) && !is(b, JSON_FALSE))
		return wrong_key(e, key, "is neither true nor false");
	*v = is(b, JSON_TRUE);
	return 0;
}

static int
need(const struct json *o, const char *key, struct err *e)
{
	if (json_is_null(json_get(o, key)))
		return wrong_key(e, key, "is missing");
	return 0;
}

int
json_get_str(const struct json *o, const char *key, struct str *s,
    struct err *e)
{
	return need(o, key, e) || json_opt_str(o, key, s, e) ? -1 : 0;
}

int
json_get_int(const struct json *o, const char *key, int64_t min, int64_t max,
    int64_t *n, struct err *e)
{
	return need(o, key, e) || json_opt_int(o, key, min, max, n, e) ? -1 : 0;
}

int
json_get_bool(const struct json *o, const char *key, int *v, struct err *e)
{
	return need(o, key, e) || json_opt_bool(o, key, v, e) ? -1 : 0;
}

int
json_known(const struct json *o, const char *const *keys, struct err *e)
{
	const char *key;
	size_t i;

	if (!json_is_object(o))
		return err_say(e, ERR_FORMAT, "not a JSON object");
	for (void *it = json_object_iter(jt(o)); it != NULL;
	    it = json_object_iter_next(jt(o), it)) {
		key = json_object_iter_key(it);
		for (i = 0; keys[i] != NULL && strcmp(keys[i], key) != 0; i++)
			continue;
		if (keys[i] == NULL)
			return wrong_key(e, key, "is not known here");
	}
	return 0;
}

size_t
json_len(const struct json *array)
{
	return json_array_size(jt(array));
}

struct json *
json_at(const struct json *array, size_t i)
{
	return js(json_array_get(jt(array), i));
}

int
json_text(const struct json *s, struct str *out)
{
	if (!json_is_string(s))
		return -1;
	*out = (struct str){ json_string_value(jt(s)),
	    json_string_length(jt(s)) };
	return 0;
}

int
json_int(const struct json *n, int64_t *out)
{
	if (!json_is_int(n))
		return -1;
	*out = json_integer_value(jt(n));
	return 0;
}

const char *
json_key_at(const struct json *o, size_t i)
{
	void *it = json_object_iter(jt(o));

	while (it != NULL && i-- > 0)
		it = json_object_iter_next(jt(o), it);
	return it != NULL ? json_object_iter_key(it) : NULL;
}
