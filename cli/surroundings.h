/* SPDX-License-Identifier: ISC */
#ifndef CLI_SURROUNDINGS_H
#define CLI_SURROUNDINGS_H

#include "base/json.h"
#include "cli/home.h"

/*
 * What a session is given of the place where it was started: a few variables,
 * directories of tools, the name that git shall use.  Everything else stays
 * outside.
 */

/* A set of absolute paths without links, each once, none below another. */
enum { SHOWN_MAX = 64 };
struct shown {
	char	*v[SHOWN_MAX];
	size_t	 n;
};
void shown_done(struct shown *s);
static inline void auto_shown(struct shown *s) { shown_done(s); }

/* shown_add(s, path, e): links resolved; LIMIT if there are too many, SYS. */
int shown_add(struct shown *s, const char *path, struct err *e) MUST_CHECK;
int shown_has(const struct shown *s, const char *path);	/* it or above it */

/*
 * tools_find(h, path, s, e): the tool directories of tools.def that the PATH
 * ${path} leads to, and what the links in ~/.local/bin need.
 */
int tools_find(const struct home *h, const char *path, struct shown *s,
    struct err *e) MUST_CHECK;
/* tools_safe(dir): 0 if it directly holds a file that tools.def names. */
int tools_safe(const char *dir);

/*
 * env_build(shown, workspace, extra, list, e): the environment of the agent
 * as a list of NAME=value: the allow-list, what Glove sets, then ${extra}, a
 * NULL-ended list of NAME (taken over if it is set) or NAME=value.
 */
int env_build(const struct shown *shown, const char *workspace,
    const char *const *extra, struct json **list, struct err *e) MUST_CHECK;

/* git_identity(name, email): what git says outside, each "" if nothing or no
 * git. */
void git_identity(struct buf *name, struct buf *email);

#endif
