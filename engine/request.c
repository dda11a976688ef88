/* SPDX-License-Identifier: ISC */
/* request.c - the table of requests, and whether a request fits its row. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "engine/handlers.h"

#include "engine/ask.h"

enum { READ = REQ_READ, WRITE = REQ_WRITE, REMOVAL = REQ_REMOVAL, WAITS = REQ_WAITS };

static const struct request requests[] = {
#define REQUEST(code, method, handler, who, flags, params, result, doc) \
	{ code, method, handle_##handler, WHO_##who, flags, params, result, doc },
#include "engine/control.def"
};

enum { NREQUESTS = sizeof(requests) / sizeof(requests[0]) };

/* Every request that writes may say why, and may be repeated. */
static const char common[] = "request_id:text? reason:text?";

const struct request *
request_find(struct str method)
{
	for (size_t i = 0; i < NREQUESTS; i++)
		if (str_eq(method, str_of(requests[i].method)))
			return &requests[i];
	return NULL;
}

const struct request *
request_at(size_t i)
{
	return i < NREQUESTS ? &requests[i] : NULL;
}

/* One "key:type?" of a row. */
struct param {
	struct str	key;
	struct str	type;
	int		optional;
};

/* The next one of ${list}, which moves on; 0 at the end. */
static int
next_param(const char **list, struct param *p)
{
	const char *s = *list + strspn(*list, " ");
	size_t n = strcspn(s, " ");
	const char *colon = memchr(s, ':', n);

	if (n == 0 || colon == NULL)
		return 0;
	p->key = (struct str){ s, (size_t)(colon - s) };
	p->optional = s[n - 1] == '?';
	p->type = (struct str){ colon + 1,
	    n - p->key.n - 1 - (size_t)p->optional };
	*list = s + n;
	return 1;
}

static int
find_param(const char *list, struct str key, struct param *p)
{
	while (next_param(&list, p))
		if (str_eq(p->key, key))
			return 1;
	return 0;
}

static int
is_texts(const struct json *v)
{
	struct str s;

	if (!json_is_array(v))
		return 0;
	for (size_t i = 0; i < json_len(v); i++)
		if (json_text(json_at(v, i), &s))
			return 0;
	return 1;
}

static int
is_hex(const struct json *v)
{
	struct str s;

	return json_text(v, &s) == 0 && s.n % 2 == 0 &&
	    strspn(s.p, "0123456789abcdef") == s.n;
}

static int
is_id(const struct json *v)
{
	struct str s;

	return json_text(v, &s) == 0 && s.n == ID_TEXT_MAX - 1;
}

static int
has_type(struct str type, const struct json *o, const char *key)
{
	const struct json *v = json_get(o, key);
	struct err e;
	int b;

	if (str_eq(type, STR("text")))
		return json_is_string(v);
	if (str_eq(type, STR("int")))
		return json_is_int(v);
	if (str_eq(type, STR("bool")))
		return json_get_bool(o, key, &b, &e) == 0;
	if (str_eq(type, STR("hex")))
		return is_hex(v);
	if (str_eq(type, STR("id")))
		return is_id(v);
	if (str_eq(type, STR("list")))
		return is_texts(v);
	return str_eq(type, STR("obj")) && json_is_object(v);
}

/* A key of the request: is it in the row, and of its type? */
static int
check_key(const struct request *r, const struct json *params, const char *key,
    struct err *e)
{
	struct param p;

	if (!find_param(r->params, str_of(key), &p) &&
	    !((r->flags & REQ_WRITE) && find_param(common, str_of(key), &p)))
		return err_say(e, ERR_FORMAT, "%s knows no parameter \"%.64s\"",
		    r->method, key);
	if (p.optional && json_is_null(json_get(params, key)))
		return 0;
	if (!has_type(p.type, params, key))
		return err_say(e, ERR_FORMAT, "%s: parameter \"%.64s\" must be %.*s",
		    r->method, key, (int)p.type.n, p.type.p);
	return 0;
}

int
request_check(const struct request *r, const struct json *params, struct err *e)
{
	const char *list = r->params;
	const char *key;
	struct param p;
	char name[64];

	for (size_t i = 0; params != NULL && (key = json_key_at(params, i)) != NULL; i++)
		if (check_key(r, params, key, e))
			return -1;
	while (next_param(&list, &p)) {
		(void)snprintf(name, sizeof(name), "%.*s", (int)p.key.n, p.key.p);
		if (!p.optional && (params == NULL || json_get(params, name) == NULL))
			return err_say(e, ERR_FORMAT, "%s needs the parameter \"%s\"",
			    r->method, name);
	}
	return 0;
}

struct ask *
ask_new(uint64_t conn, struct principal who, struct err *e)
{
	struct ask *a = calloc(1, sizeof(*a));

	if (a == NULL) {
		err_set_at(e, ERR_NOMEM, __FILE__, __LINE__, "request");
		return NULL;
	}
	a->conn = conn;
	a->who = who;
	a->machine = -1;
	return a;
}

void
ask_free(struct ask *a)
{
	if (a == NULL)
		return;
	json_free(a->id);
	json_free(a->params);
	json_free(a->result);
	json_free(a->data);
	start_free(a->start);
	free(a);
}
