/* SPDX-License-Identifier: ISC */
#ifndef CLI_HOME_H
#define CLI_HOME_H

#include "base/buf.h"
#include "base/limits.h"

/* Where things are, glove(1), FILES. */
struct home {
	char	state[PATH_BYTES_MAX + 1];	/* journal, keys, sessions */
	char	socket[PATH_BYTES_MAX + 1];	/* of gloved */
	char	config[PATH_BYTES_MAX + 1];	/* pins, known_installs */
	char	user[PATH_BYTES_MAX + 1];	/* the home directory, links resolved */
};

/*
 * home_find(state, socket, h, e): ${state}, ${socket} are what the flags say,
 * or NULL.  Nothing is made.  CONFIG if there is no home directory.
 */
int home_find(const char *state, const char *socket, struct home *h,
    struct err *e) MUST_CHECK;

/*
 * home_spared(h, path, e): DENIED if ${path}, links resolved, is the whole home
 * directory.  gloved knows the homes of the system's users; HOME is ours to know.
 */
int home_spared(const struct home *h, const char *path, struct err *e) MUST_CHECK;

/*
 * installs_check(h, install, root_key, now_us, noted, e): is the journal of
 * this state directory signed under the root key it had when it was first seen
 * here?  The first time it is remembered in known_installs; *${noted} is then
 * 1.  UNTRUSTED if it is another one that nobody pinned.
 */
int installs_check(const struct home *h, struct str install, struct str root_key,
    int64_t now_us, int *noted, struct err *e) MUST_CHECK;

/* pins_add(h, key, e): trust this root key; a key already there is fine. */
int pins_add(const struct home *h, struct str key, struct err *e) MUST_CHECK;
/* pins_read(h, b, e): the file, one key a line; empty if there is none. */
int pins_read(const struct home *h, struct buf *b, struct err *e) MUST_CHECK;
/* lines_have(text, line): 1 if it is one of the lines. */
int lines_have(struct str text, struct str line);

#endif
