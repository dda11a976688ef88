/* SPDX-License-Identifier: ISC */
#ifndef BASE_JSON_H
#define BASE_JSON_H

#include "base/buf.h"

/*
 * JSON over jansson, strict: duplicate keys, NUL in strings, more than
 * JSON_DEPTH_MAX levels, trailing bytes, numbers that are not 64-bit integers
 * and a root that is neither object nor array are FORMAT.  Values are opaque;
 * json_free() drops a root and all below it.  Getters borrow from the root.
 */
struct json;
enum { JSON_DEPTH_MAX = 32 };

int json_parse(struct str text, struct json **out, struct err *e) MUST_CHECK;
void json_free(struct json *j);
static inline void auto_json(struct json **j) { json_free(*j); }

/*
 * json_put(b, j): one line, no newline inside, keys in the order of insertion.
 * Characters that utf8_unseen() knows come out as \uNNNN: the same value to a
 * parser, and harmless on a terminal.
 */
void json_put(struct buf *b, const struct json *j);
/* json_put_pretty(b, j): two blanks an indent, for people. */
void json_put_pretty(struct buf *b, const struct json *j);

int json_is_object(const struct json *j);
int json_is_array(const struct json *j);
int json_is_string(const struct json *j);
int json_is_int(const struct json *j);
int json_is_null(const struct json *j);	/* also for NULL */

/* Reading an object: a missing key or another type is FORMAT and names it. */
int json_get_str(const struct json *o, const char *key, struct str *s,
    struct err *e) MUST_CHECK;
int json_get_int(const struct json *o, const char *key, int64_t min,
    int64_t max, int64_t *n, struct err *e) MUST_CHECK;
int json_get_bool(const struct json *o, const char *key, int *v, struct err *e)
    MUST_CHECK;
/* json_get(o, key): the value, or NULL if there is none. */
struct json *json_get(const struct json *o, const char *key);
/* The same, but a missing or null key leaves the output alone. */
int json_opt_str(const struct json *o, const char *key, struct str *s,
    struct err *e) MUST_CHECK;
int json_opt_int(const struct json *o, const char *key, int64_t min,
    int64_t max, int64_t *n, struct err *e) MUST_CHECK;
int json_opt_bool(const struct json *o, const char *key, int *v, struct err *e)
    MUST_CHECK;
/* json_known(o, keys, e): FORMAT, naming it, if ${o} has a key that is not in
 * the NULL-ended list. */
int json_known(const struct json *o, const char *const *keys, struct err *e)
    MUST_CHECK;

size_t json_len(const struct json *array);
struct json *json_at(const struct json *array, size_t i);
int json_text(const struct json *s, struct str *out);	/* 0 if a string */
int json_int(const struct json *n, int64_t *out);	/* 0 if an integer */
const char *json_key_at(const struct json *o, size_t i); /* i-th key, or NULL */

/*
 * Building.  The makers return NULL and the setters do nothing without memory
 * or with a NULL target; json_ok() of the root at the end tells (NOMEM), and so
 * does the buffer that json_put() wrote to.  json_set() and json_add() take
 * ${v} whatever happens.  Strings that are not UTF-8 are escaped first; keys
 * are UTF-8.  (json_object() and json_array() are jansson's own symbols.)
 */
struct json *json_make_object(void);
struct json *json_make_array(void);
struct json *json_clone(const struct json *j);	/* deep */
int json_ok(const struct json *j, const char *what, struct err *e) MUST_CHECK;
void json_set(struct json *o, const char *key, struct json *v);
void json_set_str(struct json *o, const char *key, struct str s);
void json_set_cstr(struct json *o, const char *key, const char *s); /* NULL: null */
void json_set_int(struct json *o, const char *key, int64_t n);
void json_set_bool(struct json *o, const char *key, int v);
void json_set_null(struct json *o, const char *key);
void json_set_hex(struct json *o, const char *key, struct bytes b);
void json_set_time(struct json *o, const char *key, int64_t unix_us); /* RFC 3339 */
void json_add(struct json *array, struct json *v);
void json_add_str(struct json *array, struct str s);

#endif
