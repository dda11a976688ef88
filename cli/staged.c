/* SPDX-License-Identifier: ISC */
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/limits.h"
#include "base/text.h"
#include "cli/staged.h"

#define STAGED_NONE ((struct staged){ .upper = -1, .lower = -1 })

void
staged_done(struct staged *st)
{
	json_free(st->show);
	manifest_free(st->m);
	if (st->upper >= 0)
		(void)close(st->upper);
	if (st->lower >= 0)
		(void)close(st->lower);
	free(st->path);
	for (size_t i = 0; i < st->npaths; i++)
		free((char *)(uintptr_t)st->paths[i].p);
	*st = STAGED_NONE;
}

int
staged_id(struct cli *c, const char *typed, int care, char id[ID_TEXT_MAX],
    struct err *e)
{
	return ids_resolve(c, typed, ID_BIT(ID_SESSION) | ID_BIT(ID_CHANGE),
	    care, id, e);
}

static int
open_dir(struct str path, int *fd, struct err *e)
{
	AUTO(mem) char *s = strndup(path.p, path.n);

	if (s == NULL)
		return err_set(e, ERR_NOMEM, "path");
	*fd = open(s, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
	if (*fd < 0)
		return err_set(e, ERR_SYS, "%s", s);
	return 0;
}

int
staged_undo(const struct cli *c, const struct staged *st)
{
	char path[2 * PATH_BYTES_MAX];

	if (st->id[0] == '\0')
		return -1;		/* it still runs */
	(void)snprintf(path, sizeof(path), "%s/undo/%s", c->home.state, st->id);
	return open(path, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
}

/* A blob, piece by piece, and that it is the one. */
static int
read_blob(struct cli *c, struct str digest, struct buf *b, struct err *e)
{
	uint8_t want[SHA256_BYTES], got[SHA256_BYTES];
	int64_t size = 0;

	if (hex_get(digest, want, sizeof(want), e))
		return err_wrap(e, "digest of the manifest");
	do {
		AUTO(json) struct json *p = json_make_object(), *piece = NULL;
		size_t before = b->n;
		struct str data;

		json_set_str(p, "digest", digest);
		json_set_int(p, "offset", (int64_t)b->n);
		if (cli_call(c, "blob.read", TAKE(p), &piece, e) ||
		    json_get_str(piece, "data", &data, e) ||
		    json_get_int(piece, "size", 0, BLOB_MAX, &size, e) ||
		    base64_get(data, b, e) || buf_ok(b, "manifest", e))
			return -1;
		if (b->n == before && (int64_t)b->n < size)
			return err_set(e, ERR_FORMAT, "an empty piece of a blob");
	} while ((int64_t)b->n < size);
	sha256_of(buf_bytes(b), got);
	if (memcmp(want, got, sizeof(got)) != 0)
		return err_say(e, ERR_CORRUPT, "the manifest is not the one that"
		    " was recorded");
	return 0;
}

static int
recorded(struct cli *c, struct staged *st, struct err *e)
{
	AUTO(buf) struct buf bytes;
	uint8_t want[SHA256_BYTES], got[SHA256_BYTES];

	buf_init(&bytes, BLOB_MAX);
	if (read_blob(c, reply_str(st->show, "manifest_blob"), &bytes, e) ||
	    manifest_decode(buf_bytes(&bytes), &st->m, e) ||
	    hex_get(reply_str(st->show, "manifest"), want, sizeof(want), e) ||
	    manifest_digest(st->m, got, e))
		return -1;
	if (memcmp(want, got, sizeof(got)) != 0)
		return err_say(e, ERR_CORRUPT, "the manifest is not the one that"
		    " was recorded");
	return 0;
}

static int
keep(struct staged *st, struct str id, struct str session, struct str path,
    struct err *e)
{
	(void)snprintf(st->id, sizeof(st->id), "%.*s", (int)id.n, id.p);
	(void)snprintf(st->session, sizeof(st->session), "%.*s", (int)session.n,
	    session.p);
	if ((st->path = strndup(path.p, path.n)) == NULL)
		return err_set(e, ERR_NOMEM, "path");
	return open_dir(path, &st->lower, e);
}

/* A session that still runs: its upper directory as it is at this moment. */
static int
still_running(struct cli *c, const char *id, struct staged *st, struct err *e)
{
	AUTO(json) struct json *s = NULL;
	char upper[2 * PATH_BYTES_MAX];
	struct changes_scan_options opts;

	if (cli_call(c, "session.show", cli_id(id), &s, e))
		return -1;
	if (!str_eq(reply_str(s, "mode"), STR("staged")))
		return err_say(e, ERR_NOTFOUND, "%s is not a staged session", id);
	if (keep(st, STR(""), str_of(id), reply_str(s, "path"), e))
		return -1;
	(void)snprintf(upper, sizeof(upper), "%s/sessions/%s/upper",
	    c->home.state, id);
	opts.since_ns = reply_time(s, "started_at") * 1000;
	if (open_dir(str_of(upper), &st->upper, e))
		return -1;
	return changes_scan(st->upper, st->lower, &opts, &st->m, e);
}

static int
fetch(struct cli *c, const char *id, int care, struct staged *st, struct err *e)
{
	struct str state;

	if (cli_call(c, "change.show", cli_id(id), &st->show, e))
		return e->code == ERR_ILLEGAL && !care ?
		    still_running(c, id, st, e) : -1;
	state = reply_str(st->show, "state");
	if (str_eq(state, STR("discarded")) || str_eq(state, STR("undone"))) {
		(void)err_say(e, ERR_ILLEGAL, "the changes of %s were %.*s", id,
		    (int)state.n, state.p);
		return err_fix(e, "glove log %s tells when", id);
	}
	if (keep(st, reply_str(st->show, "id"), reply_str(st->show, "session"),
	    reply_str(st->show, "path"), e) ||
	    open_dir(reply_str(st->show, "upper"), &st->upper, e))
		return -1;
	return recorded(c, st, e);
}

int
staged_open(struct cli *c, const char *typed, int care, struct staged *st,
    struct err *e)
{
	AUTO(staged) struct staged made = STAGED_NONE;
	char id[ID_TEXT_MAX];

	if (staged_id(c, typed, care, id, e) || fetch(c, id, care, &made, e))
		return -1;
	*st = made;
	made = STAGED_NONE;
	return 0;
}

/* Take "." and ".." and doubled slashes out of an absolute path. */
static void
lexical(char *path)
{
	char *to = path, *from = path;

	while (*from != '\0') {
		size_t n;

		from += strspn(from, "/");
		n = strcspn(from, "/");
		if (n == 2 && from[0] == '.' && from[1] == '.') {
			while (to > path && *--to != '/')
				continue;
		} else if (n > 0 && !(n == 1 && from[0] == '.')) {
			*to++ = '/';
			memmove(to, from, n);
			to += n;
		}
		from += n;
	}
	*to = '\0';
}

static int
choose(struct staged *st, const char *cwd, const char *given, struct err *e)
{
	char path[2 * PATH_BYTES_MAX];
	size_t root = strlen(st->path);
	const char *base = given[0] == '/' ? "" :
	    strncmp(cwd, st->path, root) == 0 &&
	    (cwd[root] == '/' || cwd[root] == '\0') ? cwd : st->path;
	char *copy;

	if ((size_t)snprintf(path, sizeof(path), "%s/%s", base, given) >=
	    sizeof(path))
		return err_set(e, ERR_TOOBIG, "path");
	lexical(path);
	if (strcmp(path, st->path) == 0) {
		/* Everything: say no more. */
		st->npaths = 0;
		return 1;
	}
	if (strncmp(path, st->path, root) != 0 || path[root] != '/')
		return err_say(e, ERR_USAGE, "%s does not lie in %s", given,
		    st->path);
	if (st->npaths == STAGED_PATHS_MAX)
		return err_say(e, ERR_TOOBIG, "more than %d paths",
		    STAGED_PATHS_MAX);
	if ((copy = strdup(path + root + 1)) == NULL)
		return err_set(e, ERR_NOMEM, "path");
	st->paths[st->npaths++] = str_of(copy);
	return 0;
}

int
staged_choose(struct staged *st, size_t n, const char *const *v, struct err *e)
{
	AUTO(mem) char *cwd = getcwd(NULL, 0);
	struct change_paths chosen;

	if (cwd == NULL)
		return err_set(e, ERR_SYS, "current directory");
	for (size_t i = 0; i < n; i++) {
		int rc = choose(st, cwd, v[i], e);

		if (rc != 0)
			return rc < 0 ? -1 : 0;
	}
	chosen = (struct change_paths){ st->paths, st->npaths };
	return change_paths_check(&chosen, st->m, e);
}
