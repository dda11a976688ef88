/* SPDX-License-Identifier: ISC */
/* Building and printing. */
#include "base/json_lib.h"
#include "base/num.h"
#include "base/text.h"

/*
 * A container that could not take what it was given must not pass for whole.
 * There may be no memory to note that in, but the reference count is there,
 * and jansson's "never freed" is a value no container of ours has otherwise.
 */
#define BROKEN ((size_t)-1)

static int
is_container(const json_t *t)
{
	return json_typeof(t) == JSON_OBJECT || json_typeof(t) == JSON_ARRAY;
}

static void
break_it(json_t *t)
{
	if (t->refcount == BROKEN)
		return;
	(void)json_object_clear(t);
	(void)json_array_clear(t);
	t->refcount = BROKEN;
}

/* So that all of it can be freed. */
static int
mend(json_t *t)
{
	if (t != NULL && is_container(t) && t->refcount == BROKEN)
		t->refcount = 1;
	return json_below(t, mend);
}

void
json_free(struct json *j)
{
	(void)mend(jt(j));
	json_decref(jt(j));
}

static int
is_broken(json_t *t)
{
	return t == NULL || (is_container(t) && t->refcount == BROKEN) ||
	    json_below(t, is_broken);
}

int
json_ok(const struct json *j, const char *what, struct err *e)
{
	if (is_broken(jt(j)))
		return err_set(e, ERR_NOMEM, "%s", what);
	return 0;
}

/*
 * jansson hands out runs of whole characters, raw above the controls.  What
 * nobody would see on a terminal is written as \uNNNN instead.
 */
static int
put_run(const char *p, size_t n, void *to)
{
	struct buf *b = to;
	struct str in = { p, n };
	size_t k, plain = 0;
	uint32_t cp;

	while (plain < in.n) {
		struct str at = { in.p + plain, in.n - plain };

		k = utf8_next(at, &cp);
		if (k != 0 && (!utf8_unseen(cp) || cp == '\n')) {
			plain += k;
			continue;
		}
		if (k == 0)
			return -1;
		buf_put(b, in.p, plain);
		if (cp >= 0x10000)
			buf_putf(b, "\\u%04x\\u%04x",
			    0xd800 + ((cp - 0x10000) >> 10),
			    0xdc00 + ((cp - 0x10000) & 0x3ff));
		else
			buf_putf(b, "\\u%04x", cp);
		in.p += plain + k;
		in.n -= plain + k;
		plain = 0;
	}
	buf_put(b, in.p, plain);
	return b->failed;
}

static void
put(struct buf *b, const struct json *j, size_t flags)
{
	if (is_broken(jt(j))) {
		if (!b->failed)
			b->failed = ERR_NOMEM;
		return;
	}
	if (json_dump_callback(jt(j), put_run, b, flags | JSON_ENCODE_ANY) &&
	    !b->failed)
		b->failed = ERR_NOMEM;
}

void
json_put(struct buf *b, const struct json *j)
{
	put(b, j, JSON_COMPACT);
}

void
json_put_pretty(struct buf *b, const struct json *j)
{
	put(b, j, JSON_INDENT(2));
}

struct json *
json_make_object(void)
{
	return js(json_object());
}

struct json *
json_make_array(void)
{
	return js(json_array());
}

struct json *
json_clone(const struct json *j)
{
	return is_broken(jt(j)) ? NULL : js(json_deep_copy(jt(j)));
}

void
json_set(struct json *o, const char *key, struct json *v)
{
	if (o == NULL)
		json_free(v);
	else if (json_object_set_new(jt(o), key, jt(v)))
		break_it(jt(o));
}

void
json_add(struct json *array, struct json *v)
{
	if (array == NULL)
		json_free(v);
	else if (json_array_append_new(jt(array), jt(v)))
		break_it(jt(array));
}

/* A string value; NULL without memory. */
static struct json *
string(struct str s)
{
	AUTO(buf) struct buf b;

	/* No byte becomes more than four. */
	buf_init(&b, 4 * s.n);
	if (utf8_valid(s))
		return js(json_stringn_nocheck(s.n != 0 ? s.p : "", s.n));
	escape_put(&b, s, 4 * s.n);
	return b.failed ? NULL :
	    js(json_stringn_nocheck((const char *)b.p, b.n));
}

void
json_set_str(struct json *o, const char *key, struct str s)
{
	json_set(o, key, string(s));
}

void
json_add_str(struct json *array, struct str s)
{
	json_add(array, string(s));
}

void
json_set_cstr(struct json *o, const char *key, const char *s)
{
	json_set(o, key, s != NULL ? string(str_of(s)) : js(json_null()));
}

void
json_set_int(struct json *o, const char *key, int64_t n)
{
	json_set(o, key, js(json_integer(n)));
}

void
json_set_bool(struct json *o, const char *key, int v)
{
	json_set(o, key, js(json_boolean(v)));
}

void
json_set_null(struct json *o, const char *key)
{
	json_set(o, key, js(json_null()));
}

void
json_set_hex(struct json *o, const char *key, struct bytes in)
{
	AUTO(buf) struct buf b;

	buf_init(&b, 2 * in.n);
	hex_put(&b, in);
	json_set(o, key, b.failed ? NULL :
	    string((struct str){ (const char *)b.p, b.n }));
}

void
json_set_time(struct json *o, const char *key, int64_t unix_us)
{
	char when[RFC3339_MAX];

	json_set(o, key, string(str_of(rfc3339_str(unix_us, when))));
}
