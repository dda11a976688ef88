/* SPDX-License-Identifier: ISC */
/* start.c - what session.start asks for, copied, bounded and looked at. */
#include <stdlib.h>
#include <string.h>

#include "engine/plan.h"

enum { READ_ONLY_MAX = 64 };

void
start_free(struct start *s)
{
	if (s == NULL)
		return;
	free(s->text);
	free(s->argv);
	free(s->env);
	free(s->ro);
	free(s);
}

/* ---- what was asked for, copied and bounded ------------------------------ */

/* Offsets into the text while it may still move, pointers afterwards. */
struct gather {
	struct start	*s;
	struct buf	 text;
	size_t		 path, cwd, git_name, git_email;
};

static size_t
keep(struct gather *g, struct str s)
{
	size_t at = g->text.n;

	buf_put(&g->text, s.p, s.n);
	buf_put_u8(&g->text, 0);
	return at;
}

/* A list: its strings go to the text; room for the pointers is made. */
static int
keep_list(struct gather *g, const struct ask *a, const char *key, size_t max,
    size_t *n, const char ***list, struct err *e)
{
	const struct json *v = json_get(a->params, key);
	struct str s;

	*n = json_is_null(v) ? 0 : json_len(v);
	if (*n > max)
		return err_say(e, ERR_TOOBIG, "%s has more than %zu entries", key, max);
	if ((*list = calloc(*n + 1, sizeof(**list))) == NULL)
		return err_set(e, ERR_NOMEM, "%s", key);
	for (size_t i = 0; i < *n; i++) {
		if (json_text(json_at(v, i), &s) || memchr(s.p, '\0', s.n) != NULL)
			return err_say(e, ERR_FORMAT, "%s has a zero byte in it", key);
		(void)keep(g, s);
	}
	return 0;
}

static int
keep_text(struct gather *g, const struct ask *a, const char *key, size_t max,
    size_t *at, struct err *e)
{
	char text[PATH_BYTES_MAX + 1];

	if (param_text(a, key, text, max + 1, e))
		return -1;
	*at = keep(g, str_of(text));
	return 0;
}

static const char *
pointers(const char *p, const char **list, size_t n)
{
	for (size_t i = 0; i < n; i++) {
		list[i] = p;
		p += strlen(p) + 1;
	}
	return p;
}

static int
point(struct gather *g, struct err *e)
{
	struct start *s = g->s;
	const char *p;

	if (buf_ok(&g->text, "command and environment", e))
		return -1;
	p = s->text = (char *)TAKE(g->text.p);
	g->text.n = g->text.cap = 0;
	p = pointers(p, s->argv, s->argc);
	p = pointers(p, s->env, s->envc);
	(void)pointers(p, s->ro, s->nro);
	s->path = s->text + g->path;
	s->cwd = s->text + g->cwd;
	s->git_name = s->text[g->git_name] != '\0' ? s->text + g->git_name : NULL;
	s->git_email = s->text[g->git_email] != '\0' ? s->text + g->git_email : NULL;
	return 0;
}

static int
gather_numbers(const struct ask *a, struct start *s, struct err *e)
{
	int64_t rows = 24, cols = 80;

	s->uid = a->who.uid;
	if (json_get_bool(a->params, "terminal", &s->terminal, e) ||
	    json_opt_bool(a->params, "detach", &s->detach, e) ||
	    json_opt_int(a->params, "rows", 1, 10000, &rows, e) ||
	    json_opt_int(a->params, "cols", 1, 10000, &cols, e))
		return -1;
	s->rows = (uint16_t)rows;
	s->cols = (uint16_t)cols;
	return 0;
}

/* The mode of this version: read only, or a staged copy. */
int
param_mode(const struct ask *a, enum mode *mode, struct err *e)
{
	char word[16];

	if (param_text(a, "mode", word, sizeof(word), e))
		return -1;
	*mode = (enum mode)mode_parse(word);
	if (*mode == MODE_NONE)
		return err_say(e, ERR_USAGE, "there is no mode \"%s\"", word);
	if (*mode == MODE_DIRECT)
		return err_say(e, ERR_UNSUPPORTED,
		    "direct mode is not in this version; staged shows the changes first");
	return 0;
}

int
start_gather(struct engine *en, const struct ask *a, struct start *s, struct err *e)
{
	struct gather g = { .s = s };
	struct place place;
	char path[PATH_BYTES_MAX + 1];
	int rc;

	if (gather_numbers(a, s, e) || param_mode(a, &s->mode, e) ||
	    param_text(a, "path", path, sizeof(path), e) ||
	    en->o.ops.look(en->o.ops.cookie, path, &place, e) ||
	    place_allowed(&place, en->home, e))
		return -1;
	s->dev = place.dev;
	s->ino = place.ino;
	buf_init(&g.text, 2 * ARGV_BYTES_MAX + 4 * (PATH_BYTES_MAX + 1));
	rc = keep_list(&g, a, "command", ARGV_MAX, &s->argc, &s->argv, e) ||
	    keep_list(&g, a, "env", ARGV_MAX, &s->envc, &s->env, e) ||
	    keep_list(&g, a, "ro", READ_ONLY_MAX, &s->nro, &s->ro, e) ||
	    keep_text(&g, a, "cwd", PATH_BYTES_MAX, &g.cwd, e) ||
	    keep_text(&g, a, "git_name", 256, &g.git_name, e) ||
	    keep_text(&g, a, "git_email", 256, &g.git_email, e);
	if (rc == 0) {
		g.path = keep(&g, str_of(place.path));
		rc = point(&g, e);
	}
	buf_done(&g.text);
	if (rc != 0)
		return -1;
	if (s->argc == 0 || s->argv[0][0] == '\0')
		return err_say(e, ERR_USAGE, "there is no command to run");
	if (s->cwd[0] != '/')
		return err_say(e, ERR_USAGE, "cwd is not an absolute path");
	for (size_t i = 0; i < s->nro; i++)
		if (shown_allowed(s->ro[i], en->home, e))
			return -1;
	return 0;
}
