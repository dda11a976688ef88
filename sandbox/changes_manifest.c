/* SPDX-License-Identifier: ISC */
/*
 * A manifest in memory: an array of changes and the chunks that hold their
 * strings.  What one change means is decided here and nowhere else, so that
 * the scan and the decoder cannot disagree.
 */
#include <stdlib.h>
#include <string.h>

#include "sandbox/changes_impl.h"

enum { CHUNK_BYTES = 64 << 10 };

enum effect { SAYS, LEAVES, CLASHES };

struct manifest_chunk {
	struct manifest_chunk *next;
	size_t	n, cap;
	char	p[];
};

static const struct {
	const char	*word;
	char		 letter;
} kinds[CHANGE_KIND_END] = {
#define CHANGE_KIND(code, NAME, word, letter) [code] = { word, letter },
#include "sandbox/changes.def"
};

static const char *const types[CHANGE_TYPE_END] = {
#define CHANGE_TYPE(code, NAME, word) [code] = word,
#include "sandbox/changes.def"
};

static const struct {
	enum effect	 effect;
	const char	*text;
} notes[32] = {
#define CHANGE_NOTE(bit, NAME, effect, text) [bit] = { effect, text },
#include "sandbox/changes.def"
};

struct manifest *
manifest_new(struct err *e)
{
	struct manifest *m = calloc(1, sizeof(*m));

	if (m == NULL)
		(void)err_set(e, ERR_NOMEM, "manifest");
	return m;
}

void
manifest_free(struct manifest *m)
{
	struct manifest_chunk *c, *next;

	if (m == NULL)
		return;
	for (c = m->chunks; c != NULL; c = next) {
		next = c->next;
		free(c);
	}
	free(m->v);
	free(m);
}

int
manifest_str(struct manifest *m, struct str s, struct str *out, struct err *e)
{
	struct manifest_chunk *c = m->chunks;
	size_t cap = s.n + 1 > CHUNK_BYTES ? s.n + 1 : CHUNK_BYTES;
	char *at;

	if (c == NULL || c->cap - c->n < s.n + 1) {
		if ((c = malloc(sizeof(*c) + cap)) == NULL)
			return err_set(e, ERR_NOMEM, "manifest");
		c->next = m->chunks;
		c->n = 0;
		c->cap = cap;
		m->chunks = c;
	}
	at = c->p + c->n;
	if (s.n != 0)
		memcpy(at, s.p, s.n);
	at[s.n] = '\0';
	c->n += s.n + 1;
	*out = (struct str){ at, s.n };
	return 0;
}

int
manifest_add(struct manifest *m, const struct change *c, struct err *e)
{
	struct change *v, own = *c;
	size_t cap;

	if (m->n >= CHANGE_ENTRIES_MAX)
		return err_say(e, ERR_TOOBIG,
		    "more than %d files were changed", CHANGE_ENTRIES_MAX);
	if (m->n == m->cap) {
		cap = m->cap != 0 ? m->cap * 2 : 64;
		if ((v = realloc(m->v, cap * sizeof(*v))) == NULL)
			return err_set(e, ERR_NOMEM, "manifest");
		m->v = v;
		m->cap = cap;
	}
	if (manifest_str(m, c->path, &own.path, e) ||
	    manifest_str(m, c->before.target, &own.before.target, e) ||
	    manifest_str(m, c->after.target, &own.after.target, e))
		return -1;
	m->v[m->n++] = own;
	return 0;
}

int
path_cmp(struct str a, struct str b)
{
	size_t n = a.n < b.n ? a.n : b.n;
	int d = n != 0 ? memcmp(a.p, b.p, n) : 0;

	return d != 0 ? d : (a.n > b.n) - (a.n < b.n);
}

static int
by_path(const void *a, const void *b)
{
	return path_cmp(((const struct change *)a)->path,
	    ((const struct change *)b)->path);
}

void
manifest_sort(struct manifest *m)
{
	if (m->n > 1)
		qsort(m->v, m->n, sizeof(*m->v), by_path);
}

struct change *
manifest_find(const struct manifest *m, struct str path)
{
	struct change key = { .path = path };

	if (m->n == 0)
		return NULL;
	return bsearch(&key, m->v, m->n, sizeof(*m->v), by_path);
}

int
path_below(struct str path, struct str top)
{
	if (top.n == 0)
		return 1;
	return path.n >= top.n && memcmp(path.p, top.p, top.n) == 0 &&
	    (path.n == top.n || path.p[top.n] == '/');
}

int
path_valid(struct str path)
{
	size_t from = 0, n;

	if (path.n == 0 || path.n > PATH_BYTES_MAX ||
	    memchr(path.p, '\0', path.n) != NULL)
		return 0;
	for (size_t i = 0; i <= path.n; i++) {
		if (i < path.n && path.p[i] != '/')
			continue;
		n = i - from;
		if (n == 0 || (n == 1 && path.p[from] == '.') ||
		    (n == 2 && memcmp(path.p + from, "..", 2) == 0))
			return 0;
		from = i + 1;
	}
	return 1;
}

struct str
path_parent(struct str path)
{
	const char *slash = path.n != 0 ? memrchr(path.p, '/', path.n) : NULL;

	return (struct str){ path.p,
	    slash != NULL ? (size_t)(slash - path.p) : 0 };
}

const char *
path_name(struct str path)
{
	const char *slash = path.n != 0 ? memrchr(path.p, '/', path.n) : NULL;

	return slash != NULL ? slash + 1 : path.p;
}

int
change_side_eq(const struct change_side *a, const struct change_side *b)
{
	return a->type == b->type && a->mode == b->mode && a->size == b->size &&
	    memcmp(a->digest, b->digest, SHA256_BYTES) == 0 &&
	    str_eq(a->target, b->target);
}

int
change_kind_of(const struct change_side *before, const struct change_side *after)
{
	if (before->type == CHANGE_TYPE_ABSENT)
		return after->type == CHANGE_TYPE_ABSENT ? 0 :
		    CHANGE_KIND_CREATE;
	if (after->type == CHANGE_TYPE_ABSENT)
		return CHANGE_KIND_REMOVE;
	if (before->type != after->type)
		return CHANGE_KIND_REPLACE;
	if (before->size != after->size ||
	    memcmp(before->digest, after->digest, SHA256_BYTES) != 0 ||
	    !str_eq(before->target, after->target))
		return CHANGE_KIND_MODIFY;
	return before->mode != after->mode ? CHANGE_KIND_MODE :
	    CHANGE_KIND_KEEP;
}

static int
has_effect(uint32_t bits, enum effect effect)
{
	for (unsigned i = 0; i < 32; i++)
		if ((bits >> i & 1) != 0 && notes[i].effect == effect)
			return 1;
	return 0;
}

int
change_refused(const struct change *c)
{
	return has_effect(c->notes, LEAVES);
}

int
change_clashes(const struct change *c)
{
	return has_effect(c->notes, CLASHES);
}

const char *
change_note_next(uint32_t bits, unsigned *at)
{
	for (; *at < 32; ++*at)
		if ((bits >> *at & 1) != 0 && notes[*at].text != NULL)
			return notes[(*at)++].text;
	return NULL;
}

const char *
change_kind_word(int kind)
{
	return kind > 0 && kind < CHANGE_KIND_END ? kinds[kind].word : "unknown";
}

char
change_kind_letter(int kind)
{
	return kind > 0 && kind < CHANGE_KIND_END ? kinds[kind].letter : '?';
}

const char *
change_type_word(int type)
{
	return type >= 0 && type < CHANGE_TYPE_END ? types[type] : "unknown";
}

int
change_selected(const struct change_paths *p, const struct change *c)
{
	if (p->n == 0)
		return 1;
	for (size_t i = 0; i < p->n; i++)
		if (path_below(c->path, p->v[i]))
			return 1;
	return 0;
}

int
change_paths_check(const struct change_paths *p, const struct manifest *m,
    struct err *e)
{
	for (size_t i = 0; i < p->n; i++) {
		struct change_paths one = { &p->v[i], 1 };
		size_t k;

		for (k = 0; k < m->n && !change_selected(&one, &m->v[k]); k++)
			continue;
		if (k == m->n)
			return err_say(e, ERR_NOTFOUND, "nothing changed at %.*s",
			    (int)(p->v[i].n < 200 ? p->v[i].n : 200), p->v[i].p);
	}
	return 0;
}
