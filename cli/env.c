/* SPDX-License-Identifier: ISC */
/* env.c - the environment of an agent: named variables only. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "cli/surroundings.h"

extern char **environ;

enum { SEARCH_MAX = 32 << 10, ENV_MAX = 256 };

/* Taken over from outside if they are set, and every LC_*. */
static const char *const taken[] = { "TERM", "LANG", "COLORTERM", "TZ" };

/* Trees that every sandbox shows. */
static const char *const system_trees[] = { "/usr", "/bin", "/sbin", "/opt" };

static const char search_end[] =
    "/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin";

static int
below(const char *path, const char *dir)
{
	size_t n = strlen(dir);

	return strncmp(path, dir, n) == 0 &&
	    (path[n] == '\0' || path[n] == '/');
}

static int
visible(const char *dir, const struct shown *shown, const char *workspace)
{
	for (size_t i = 0; i < sizeof(system_trees) / sizeof(system_trees[0]); i++)
		if (below(dir, system_trees[i]))
			return 1;
	return shown_has(shown, dir) || below(dir, workspace);
}

/* One entry behind the others, unless it is there already. */
static void
search_add(struct buf *b, const char *dir)
{
	size_t n = strlen(dir);
	const char *p = buf_cstr(b);

	while (p != NULL && *p != '\0') {
		size_t k = strcspn(p, ":");

		if (k == n && memcmp(p, dir, n) == 0)
			return;
		p += k;
		p += *p == ':';
	}
	if (b->n > 0)
		buf_put_str(b, ":");
	buf_put_str(b, dir);
}

/* PATH: what is visible inside, in the order outside, then the system's. */
static void
search_path(struct buf *b, const struct shown *shown, const char *workspace)
{
	const char *lists[2] = { getenv("PATH"), search_end };

	for (int i = 0; i < 2; i++)
		for (const char *p = lists[i]; p != NULL && *p != '\0'; ) {
			size_t n = strcspn(p, ":");
			char entry[PATH_BYTES_MAX + 1];
			AUTO(mem) char *real = NULL;

			if (n > 0 && n <= PATH_BYTES_MAX && *p == '/') {
				memcpy(entry, p, n);
				entry[n] = '\0';
				if (i == 1 || visible(entry, shown, workspace))
					search_add(b, entry);
				else if ((real = realpath(entry, NULL)) != NULL &&
				    visible(real, shown, workspace))
					search_add(b, real);
			}
			p += n;
			p += *p == ':';
		}
}

static int
valid_name(const char *s, size_t n)
{
	if (n == 0 || (s[0] >= '0' && s[0] <= '9'))
		return 0;
	for (size_t i = 0; i < n; i++)
		if (!((s[i] >= 'a' && s[i] <= 'z') || (s[i] >= 'A' && s[i] <= 'Z')
		    || (s[i] >= '0' && s[i] <= '9') || s[i] == '_'))
			return 0;
	return 1;
}

struct env {
	char	*v[ENV_MAX];
	size_t	 n;
};

static void
auto_env(struct env *env)
{
	for (size_t i = 0; i < env->n; i++)
		free(env->v[i]);
}

/* ${pair} is NAME=value; it takes the place of an earlier NAME. */
static int
put(struct env *env, const char *pair, struct err *e)
{
	size_t name = strcspn(pair, "="), at = 0;
	char *copy;

	while (at < env->n && strncmp(env->v[at], pair, name + 1) != 0)
		at++;
	if (at == ENV_MAX)
		return err_say(e, ERR_LIMIT, "more than %d variables", ENV_MAX);
	if ((copy = strdup(pair)) == NULL)
		return err_set(e, ERR_NOMEM, "environment");
	if (at == env->n)
		env->n++;
	else
		free(env->v[at]);
	env->v[at] = copy;
	return 0;
}

static int
putv(struct env *env, const char *name, const char *value, struct err *e)
{
	AUTO(mem) char *pair = NULL;

	if (asprintf(&pair, "%s=%s", name, value) < 0) {
		pair = NULL;
		return err_set(e, ERR_NOMEM, "environment");
	}
	return put(env, pair, e);
}

static int
take_over(struct env *env, struct err *e)
{
	for (size_t i = 0; i < sizeof(taken) / sizeof(taken[0]); i++) {
		const char *value = getenv(taken[i]);

		if (value != NULL && putv(env, taken[i], value, e))
			return -1;
	}
	for (char **p = environ; *p != NULL; p++)
		if (strncmp(*p, "LC_", 3) == 0 && put(env, *p, e))
			return -1;
	return 0;
}

static int
put_extra(struct env *env, const char *extra, struct err *e)
{
	size_t name = strcspn(extra, "=");
	const char *value;

	if (!valid_name(extra, name)) {
		(void)err_say(e, ERR_USAGE, "--env: \"%s\" is not the name of a"
		    " variable", extra);
		return err_fix(e, "--env NAME takes it over, --env NAME=VALUE"
		    " sets it");
	}
	if (extra[name] == '=')
		return put(env, extra, e);
	if ((value = getenv(extra)) != NULL)
		return putv(env, extra, value, e);
	(void)err_say(e, ERR_USAGE, "--env %s: it is not set", extra);
	return err_fix(e, "--env %s=VALUE", extra);
}

static int
listed(const struct env *env, struct json **list, struct err *e)
{
	AUTO(json) struct json *made = json_make_array();

	for (size_t i = 0; i < env->n; i++)
		json_add_str(made, str_of(env->v[i]));
	if (json_ok(made, "environment", e))
		return -1;
	*list = TAKE(made);
	return 0;
}

int
env_build(const struct shown *shown, const char *workspace,
    const char *const *extra, struct json **list, struct err *e)
{
	AUTO(env) struct env env = { .n = 0 };
	AUTO(buf) struct buf path;

	buf_init(&path, SEARCH_MAX);
	search_path(&path, shown, workspace);
	if (buf_ok(&path, "PATH", e))
		return -1;
	if (take_over(&env, e) || putv(&env, "PATH", buf_cstr(&path), e) ||
	    put(&env, "HOME=/home/agent", e) || put(&env, "USER=agent", e) ||
	    put(&env, "LOGNAME=agent", e) || put(&env, "SHELL=/bin/sh", e))
		return -1;
	for (size_t i = 0; extra[i] != NULL; i++)
		if (put_extra(&env, extra[i], e))
			return -1;
	return listed(&env, list, e);
}
