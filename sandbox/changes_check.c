/* SPDX-License-Identifier: ISC */
/*
 * The look before the leap.  An entry may be applied if the host still is as
 * it was before; it is done if the host is as it is to be after, which is also
 * what makes a second call go on where the first one died; anything else is a
 * conflict.  Between the two lie the states that a crash of ours can leave.
 */
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "sandbox/changes_work.h"

char *
work_name(size_t i, char out[WORK_NAME_MAX])
{
	(void)snprintf(out, WORK_NAME_MAX, "%zu", i);
	return out;
}

void
work_forget_parent(struct work *w)
{
	if (w->parent_fd >= 0)
		(void)close(w->parent_fd);
	w->parent_fd = -1;
	w->parent = (struct str){ NULL, 0 };
}

int
work_parent(struct work *w, struct str path)
{
	struct str dir = path_parent(path);
	struct err e;

	if (w->parent.p != NULL && str_eq(w->parent, dir))
		return w->parent_fd;
	work_forget_parent(w);
	w->parent = dir;
	w->parent_errno = 0;
	if (changes_dir(w->a->lower_dirfd, dir, O_PATH, &w->parent_fd, &e)) {
		w->parent_fd = -1;
		w->parent_errno = e.sys != 0 ? e.sys : EIO;
	}
	return w->parent_fd;
}

int
work_conflict(struct work *w, size_t i, const char *why, struct err *e)
{
	struct changes_result *r = w->r;
	struct changes_conflict *v;

	v = realloc(r->conflict, (r->nconflict + 1) * sizeof(*v));
	if (v == NULL)
		return err_set(e, ERR_NOMEM, "conflicts");
	v[r->nconflict++] = (struct changes_conflict){ work_change(w, i), why };
	r->conflict = v;
	return 0;
}

static struct ident
ident_of(const struct stat *st)
{
	int dir = S_ISDIR(st->st_mode);

	return (struct ident){ st->st_dev, st->st_ino, dir ? 0 : st->st_size,
	    dir ? 0 : st->st_mtim.tv_sec * INT64_C(1000000000) +
	    st->st_mtim.tv_nsec };
}

int
work_same(const struct work *w, size_t i, const struct stat *st)
{
	struct ident a = w->entry[i].seen, b = ident_of(st);

	return a.dev == b.dev && a.ino == b.ino && a.size == b.size &&
	    a.mtime_ns == b.mtime_ns;
}

/* The chosen entry above ${i} that makes or unmakes its directory, or NULL. */
static const struct change *
above(const struct work *w, size_t i, size_t *at)
{
	const struct manifest *m = w->a->m;
	struct str dir = path_parent(work_change(w, i)->path);
	const struct change *c;

	for (; dir.n != 0; dir = path_parent(dir)) {
		if ((c = manifest_find(m, dir)) == NULL)
			continue;
		*at = (size_t)(c - m->v);
		if (w->entry[*at].state != ENTRY_OUT &&
		    c->before.type != c->after.type)
			return c;
	}
	return NULL;
}

/* Is ${i} one that this may do at all? */
static int
eligible(const struct work *w, size_t i)
{
	const struct change *c = work_change(w, i);

	return c->kind != CHANGE_KIND_KEEP && !change_refused(c) &&
	    (!w->undo || w->plan[i] != 0);
}

/* The directories that ${i} needs and that are made by this come along. */
static void
choose_above(struct work *w, size_t i)
{
	const struct manifest *m = w->a->m;
	struct str dir = path_parent(m->v[i].path);
	const struct change *c;
	size_t at;

	for (; dir.n != 0; dir = path_parent(dir)) {
		if ((c = manifest_find(m, dir)) == NULL)
			continue;
		at = (size_t)(c - m->v);
		if (work_is_dir(work_to(w, at)) &&
		    !work_is_dir(work_from(w, at)) && eligible(w, at))
			w->entry[at].state = ENTRY_TODO;
	}
}

static void
choose(struct work *w)
{
	const struct manifest *m = w->a->m;

	for (size_t i = 0; i < m->n; i++) {
		if (!change_selected(&w->a->paths, &m->v[i]))
			continue;
		w->r->refused += change_refused(&m->v[i]) != 0;
		if (!eligible(w, i))
			continue;
		w->entry[i].state = ENTRY_TODO;
		if (work_to(w, i)->type != CHANGE_TYPE_ABSENT)
			choose_above(w, i);
	}
}

/* A directory that is to go holds nothing but what goes with it. */
static int
only_what_goes(struct work *w, size_t i, int *yes, struct err *e)
{
	const struct change *c = work_change(w, i);
	char path[PATH_BYTES_MAX + 1];
	struct dirent *ent;
	int fd;
	DIR *d;

	*yes = 1;
	if (changes_dir(w->a->lower_dirfd, c->path, O_RDONLY, &fd, e))
		return -1;
	if ((d = fdopendir(fd)) == NULL) {
		(void)close(fd);
		return err_set(e, ERR_SYS, "read a directory");
	}
	while (*yes && (ent = readdir(d)) != NULL) {
		const struct change *sub;
		size_t n = strlen(ent->d_name);

		if (strcmp(ent->d_name, ".") == 0 ||
		    strcmp(ent->d_name, "..") == 0)
			continue;
		if ((*yes = c->path.n + 1 + n <= PATH_BYTES_MAX) == 0)
			break;
		memcpy(path, c->path.p, c->path.n);
		path[c->path.n] = '/';
		memcpy(path + c->path.n + 1, ent->d_name, n);
		sub = manifest_find(w->a->m,
		    (struct str){ path, c->path.n + 1 + n });
		*yes = sub != NULL &&
		    w->entry[sub - w->a->m->v].state != ENTRY_OUT &&
		    work_to(w, (size_t)(sub - w->a->m->v))->type ==
		    CHANGE_TYPE_ABSENT;
	}
	(void)closedir(d);
	return 0;
}

/* Are we to make ${dir} writable before anything in it is touched? */
static int
opened_up(const struct work *w, struct str dir)
{
	const struct change *c = manifest_find(w->a->m, dir);
	size_t at;

	if (c == NULL)
		return 0;
	at = (size_t)(c - w->a->m->v);
	return w->entry[at].state != ENTRY_OUT &&
	    w->entry[at].state != ENTRY_DONE;
}

/* Would the system let us?  NULL: as far as can be seen. */
static const char *
forbidden(struct work *w, size_t i, int dir)
{
	const struct change_side *from = work_from(w, i);
	const struct stat *st = &w->look.st;
	struct stat parent;

	if (st->st_uid != geteuid() && geteuid() != 0 &&
	    (work_change(w, i)->kind == CHANGE_KIND_MODE ||
	    (work_is_dir(from) && (st->st_mode & 0700) != 0700)))
		return "it belongs to someone else on the host";
	if (work_change(w, i)->kind == CHANGE_KIND_MODE)
		return NULL;
	if (fstat(dir, &parent) != 0 || parent.st_dev != w->top_dev ||
	    (from->type != CHANGE_TYPE_ABSENT && !w->entry[i].gone &&
	    st->st_dev != w->top_dev))
		return "it is on another file system on the host";
	if (!opened_up(w, path_parent(work_change(w, i)->path)) &&
	    faccessat(dir, ".", W_OK | X_OK, AT_EACCESS) != 0)
		return "you may not write in its directory on the host";
	return NULL;
}

/* Look at the host's side of entry ${i} into w->look; *${why}: a conflict. */
static int
look_host(struct work *w, size_t i, int *dir, const char **why, struct err *e)
{
	const struct change *c = work_change(w, i);
	int64_t from = work_from(w, i)->size, to = work_to(w, i)->size;
	int64_t room = from > to ? from : to;
	size_t at;
	int rc;

	*dir = work_parent(w, c->path);
	if (*dir >= 0) {
		/* What is larger than both is neither, and need not be read. */
		w->look.room = &room;
		rc = look_at(*dir, path_name(c->path), LOOK_DIGEST, &w->look, e);
		w->look.room = NULL;
		return rc;
	}
	memset(&w->look, 0, sizeof(w->look));
	w->look.side.target = STR("");
	switch (w->parent_errno) {
	case ENOENT:
	case ENOTDIR:
	case ELOOP:
		/* Its directory is made by this, or is already gone with it. */
		if (above(w, i, &at) == NULL)
			*why = w->parent_errno == ENOENT ?
			    "its directory is gone on the host" :
			    "what was its directory is none any more on the host";
		return 0;
	case EXDEV:
		*why = "another file system is mounted there on the host";
		return 0;
	default:
		*why = "its directory cannot be entered on the host";
		return 0;
	}
}

/* The states that only our own interrupted work leaves behind. */
static enum entry_state
between(struct work *w, size_t i)
{
	const struct change_side *from = work_from(w, i), *to = work_to(w, i);
	const struct change_side *have = &w->look.side;
	int opened;

	if (!w->begun || w->plan[i] == 0)
		return ENTRY_OUT;
	/* Opened up, to work in it; or new, and not yet closed again. */
	opened = have->mode == (from->mode | 0700) ||
	    have->mode == (to->mode | 0700) ||
	    (have->mode == 0700 && from->type != to->type);
	if (work_is_dir(have) && opened) {
		if (work_is_dir(to))
			return ENTRY_MODE_ONLY;
		if (work_is_dir(from))
			return ENTRY_TODO;
	}
	if (have->type == CHANGE_TYPE_ABSENT && from->type != to->type) {
		w->entry[i].gone = 1;
		return ENTRY_TODO;
	}
	return ENTRY_OUT;
}

static int
check_entry(struct work *w, size_t i, struct err *e)
{
	const struct change *c = work_change(w, i);
	const struct change_side *from = work_from(w, i), *to = work_to(w, i);
	struct entry *t = &w->entry[i];
	enum entry_state state = ENTRY_TODO;
	const char *why = NULL;
	int dir, yes;

	if (look_host(w, i, &dir, &why, e))
		return err_wrap(e, "%.200s", c->path.p);
	t->seen = ident_of(&w->look.st);
	t->mode = w->look.st.st_mode;
	if (why == NULL && change_side_eq(to, &w->look.side)) {
		t->state = ENTRY_DONE;
		return 0;
	}
	if (why == NULL && (w->look.notes & CHANGE_NOTE_UNREADABLE) != 0)
		why = "it cannot be read by you on the host";
	if (why == NULL && !change_side_eq(from, &w->look.side) &&
	    (state = between(w, i)) == ENTRY_OUT)
		why = w->look.side.type == CHANGE_TYPE_ABSENT ?
		    "it is gone on the host" : from->type == CHANGE_TYPE_ABSENT ?
		    "the host has something else there now" :
		    "the host changed it since";
	if (why == NULL && !w->undo && !w->a->over_host && change_clashes(c))
		why = "the host changed it after the session had started";
	if (why == NULL && dir >= 0)
		why = forbidden(w, i, dir);
	if (why == NULL && work_is_dir(&w->look.side) && !work_is_dir(to)) {
		if (only_what_goes(w, i, &yes, e))
			return err_wrap(e, "%.200s", c->path.p);
		if (!yes)
			why = "the host has something in it that would stay";
	}
	t->state = (uint8_t)state;
	if (why == NULL)
		return 0;
	t->state = ENTRY_TODO;
	return work_conflict(w, i, why, e);
}

int
work_check(struct work *w, struct err *e)
{
	choose(w);
	for (size_t i = 0; i < w->a->m->n; i++) {
		if (w->entry[i].state == ENTRY_OUT)
			continue;
		if (check_entry(w, i, e))
			return -1;
		if (w->entry[i].state == ENTRY_DONE)
			w->r->already++;
		else
			w->todo++;
	}
	return 0;
}
