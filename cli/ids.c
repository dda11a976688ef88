/* SPDX-License-Identifier: ISC */
/* ids.c - ids as people type and read them; gloved knows what there is. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/text.h"
#include "cli/cli.h"

enum { CARE_CHARS = 6, SHORT_CHARS = 4, PREFIX_CHARS = 4 };

static const struct {
	enum id_kind	kind;
	const char	*word;
} kinds_of[] = {
	{ ID_SESSION, "a session" }, { ID_EXPOSURE, "an exposure" },
	{ ID_CHANGE, "a change" }, { ID_KEY, "a key" },
	{ ID_SERVICE, "a service" },
};
enum { NKINDS = sizeof(kinds_of) / sizeof(kinds_of[0]) };

enum id_kind
ids_kind(struct str id)
{
	for (size_t i = 0; i < NKINDS; i++)
		if (id.n >= PREFIX_CHARS && memcmp(id.p,
		    id_prefix(kinds_of[i].kind), PREFIX_CHARS) == 0)
			return kinds_of[i].kind;
	return ID_NONE;
}

const char *
ids_path(const char *text)
{
	return text == NULL || (strchr(text, '/') == NULL &&
	    ids_kind(str_of(text)) != ID_NONE) ? NULL : text;
}

static void
wanted(unsigned kinds, char *to, size_t size)
{
	size_t n = 0;

	to[0] = '\0';
	for (size_t i = 0; i < NKINDS && n < size; i++)
		if (kinds & ID_BIT(kinds_of[i].kind))
			n += (size_t)snprintf(to + n, size - n, "%s%s",
			    n == 0 ? "" : " or ", kinds_of[i].word);
}

/* "-": the newest session whose directory is the current one. */
static int
last_here(struct cli *c, char out[ID_TEXT_MAX], struct err *e)
{
	AUTO(json) struct json *list = NULL, *params = json_make_object();
	AUTO(mem) char *cwd = getcwd(NULL, 0);
	struct json *sessions;

	json_set_bool(params, "all", 1);
	if (cwd == NULL)
		return err_set(e, ERR_SYS, "current directory");
	if (cli_call(c, "session.list", TAKE(params), &list, e))
		return -1;
	sessions = json_get(list, "sessions");
	for (size_t i = 0; i < json_len(sessions); i++) {
		const struct json *s = json_at(sessions, i);
		struct str id = reply_str(s, "id");

		if (str_eq(reply_str(s, "path"), str_of(cwd)) &&
		    id.n == ID_TEXT_MAX - 1) {
			(void)snprintf(out, ID_TEXT_MAX, "%.*s", (int)id.n, id.p);
			return 0;
		}
	}
	(void)err_say(e, ERR_NOTFOUND, "no session has run in this directory");
	return err_fix(e, "glove ps --all lists the sessions of all directories");
}

/* Matches of one of the kinds; the others only help to explain. */
static int
choose(const struct json *matches, const char *typed, unsigned kinds,
    char out[ID_TEXT_MAX], struct err *e)
{
	AUTO(buf) struct buf list;
	struct str found = STR(""), other = STR("");
	size_t n = 0;
	char want[96];

	buf_init(&list, ERR_FIX_MAX);
	for (size_t i = 0; i < json_len(matches); i++) {
		struct str id = reply_str(json_at(matches, i), "id");

		if (id.n != ID_TEXT_MAX - 1)
			continue;
		if ((kinds & ID_BIT(ids_kind(id))) == 0) {
			other = id;
			continue;
		}
		found = id;
		buf_putf(&list, "%s%.*s", n++ == 0 ? "" : ", ", (int)id.n, id.p);
	}
	wanted(kinds, want, sizeof(want));
	if (n == 1) {
		(void)snprintf(out, ID_TEXT_MAX, "%.*s", (int)found.n, found.p);
		return 0;
	}
	if (n > 1) {
		(void)err_say(e, ERR_AMBIGUOUS, "%s matches %zu ids", typed, n);
		return err_fix(e, "give more of it; it may be %s",
		    buf_cstr(&list) == NULL ? "any of many" : buf_cstr(&list));
	}
	if (other.n > 0)
		return err_say(e, ERR_NOTFOUND, "%s is %.*s, and %s is wanted"
		    " here", typed, (int)other.n, other.p, want);
	return err_say(e, ERR_NOTFOUND, "nothing of yours has an id that begins"
	    " with %s", typed);
}

static int
careful(const struct cli *c, const struct id_prefix *p, const char *typed,
    struct err *e)
{
	if (p->kind != ID_NONE || p->nchars >= CARE_CHARS)
		return 0;
	(void)err_say(e, ERR_USAGE, "glove %s wants its type or %d characters of"
	    " an id, not just \"%s\"", c->args.command->words, CARE_CHARS, typed);
	return err_fix(e, "glove %s %s%s", c->args.command->words,
	    id_prefix(ID_SESSION), typed);
}

int
ids_resolve(struct cli *c, const char *text, unsigned kinds, int care,
    char out[ID_TEXT_MAX], struct err *e)
{
	AUTO(json) struct json *params = NULL, *result = NULL;
	AUTO(buf) struct buf typed;
	struct id_prefix p;

	if (strcmp(text, "-") == 0)
		return last_here(c, out, e);
	buf_init(&typed, 128);
	escape_put(&typed, str_of(text), 40);
	if (buf_cstr(&typed) == NULL)
		return err_set(e, ERR_NOMEM, "id");
	if (id_prefix_parse(str_of(text), &p, e)) {
		(void)err_say(e, ERR_NOTFOUND, "\"%s\" is not an id",
		    buf_cstr(&typed));
		return err_fix(e, "an id looks like ses_9hv4k2m8x0qrt3ab; its"
		    " beginning will do");
	}
	if (care && careful(c, &p, buf_cstr(&typed), e))
		return -1;
	params = json_make_object();
	json_set_cstr(params, "prefix", text);
	if (cli_call(c, "resolve", TAKE(params), &result, e))
		return -1;
	return choose(json_get(result, "matches"), buf_cstr(&typed), kinds, out,
	    e);
}

/* How many characters two ids share. */
static size_t
shared(struct str a, struct str b)
{
	size_t n = 0;

	while (n < a.n && n < b.n && a.p[n] == b.p[n])
		n++;
	return n;
}

char *
ids_short(struct cli *c, struct str id, char out[ID_TEXT_MAX])
{
	AUTO(json) struct json *params = NULL, *result = NULL;
	size_t n = PREFIX_CHARS + SHORT_CHARS;
	struct json *matches;
	char prefix[ID_TEXT_MAX];
	struct err ignore;

	(void)snprintf(out, ID_TEXT_MAX, "%.*s", (int)id.n, id.p);
	if (c->wide || id.n != ID_TEXT_MAX - 1)
		return out;
	(void)snprintf(prefix, sizeof(prefix), "%.*s", (int)n, id.p);
	params = json_make_object();
	json_set_cstr(params, "prefix", prefix);
	if (cli_call(c, "resolve", TAKE(params), &result, &ignore))
		return out;
	matches = json_get(result, "matches");
	for (size_t i = 0; i < json_len(matches); i++) {
		struct str other = reply_str(json_at(matches, i), "id");

		if (!str_eq(other, id) && shared(other, id) + 1 > n)
			n = shared(other, id) + 1;
	}
	out[n < ID_TEXT_MAX ? n : ID_TEXT_MAX - 1] = '\0';
	return out;
}
