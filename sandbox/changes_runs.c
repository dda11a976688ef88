/* SPDX-License-Identifier: ISC */
#include <string.h>

#include "sandbox/changes_impl.h"

static const char *const patterns[] = {
#define RUNS_LATER(pattern, what) pattern,
#include "sandbox/runs_later.def"
};

/* The first component of ${s}; ${rest} is what follows its slash. */
static struct str
head(struct str s, struct str *rest)
{
	const char *slash = s.n != 0 ? memchr(s.p, '/', s.n) : NULL;
	size_t n = slash != NULL ? (size_t)(slash - s.p) : s.n;
	size_t skip = slash != NULL ? n + 1 : n;

	*rest = (struct str){ s.p + skip, s.n - skip };
	return (struct str){ s.p, n };
}

static int
component(struct str pattern, struct str name)
{
	if (pattern.n != 0 && pattern.p[pattern.n - 1] == '*')
		return name.n >= pattern.n - 1 &&
		    memcmp(name.p, pattern.p, pattern.n - 1) == 0;
	return str_eq(pattern, name);
}

/*
 * Does ${path} begin with ${pattern}?  A pattern has at most one "**", and
 * what follows it is then looked for at each later component, so this is one
 * level of recursion.
 */
static int
begins(struct str path, struct str pattern)
{
	struct str p, n, prest, nrest;

	while (pattern.n != 0) {
		p = head(pattern, &prest);
		if (str_eq(p, STR("**"))) {
			for (; path.n != 0; path = nrest) {
				if (begins(path, prest))
					return 1;
				(void)head(path, &nrest);
			}
			return 0;
		}
		if (path.n == 0)
			return 0;
		n = head(path, &nrest);
		if (!component(p, n))
			return 0;
		pattern = prest;
		path = nrest;
	}
	return 1;
}

int
change_runs_later(struct str path, int type)
{
	struct str at, rest;

	if (type == CHANGE_TYPE_ABSENT)
		return 0;
	/* A ".git" that is not a directory points git at any other place. */
	if (type != CHANGE_TYPE_DIR && strcmp(path_name(path), ".git") == 0)
		return 1;
	for (at = path; at.n != 0; at = rest) {
		for (size_t i = 0; i < sizeof(patterns) / sizeof(*patterns); i++)
			if (begins(at, str_of(patterns[i])))
				return 1;
		(void)head(at, &rest);
	}
	return 0;
}
