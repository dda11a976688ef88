/* SPDX-License-Identifier: ISC */
/*
 * The walk over an upper layer.  It keeps a list of directories still to read,
 * not a stack of calls, and two descriptors; each directory is opened by its
 * path from the top, never through a link.  A directory is read in one of
 * three ways:
 *
 *	BOTH	it is there in both layers: compare, and if it is opaque what
 *		only the lower one has is gone
 *	UPPER	only the session has it: all of it is new
 *	LOWER	the session removed it: all of it goes
 */
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>

#include "sandbox/changes_impl.h"

enum where { BOTH, UPPER, LOWER };

enum { NO_ENTRY = -1 };

struct todo {
	struct str	path;		/* in the manifest's own memory */
	enum where	where;
	int		opaque;
	int		refused;	/* what is below is not applied either */
	int64_t		entry;		/* its index in the manifest, or NO_ENTRY */
};

struct scan {
	int		 upper, lower;
	int64_t		 since_ns;
	struct manifest	*m;
	struct todo	*todo;
	size_t		 ntodo, cap;
	struct look	 up, low;	/* 4 KiB each: not on the stack */
	uid_t		 uid;
	int64_t		 room;		/* bytes that may still be read */
};

/* The names of one directory, sorted, in one piece of memory. */
struct names {
	struct buf	 text;		/* each with its NUL */
	const char	**v;
	size_t		 n;
};

static void
auto_names(struct names *n)
{
	buf_done(&n->text);
	free(n->v);
}

static void
auto_dir(DIR **d)
{
	if (*d != NULL)
		(void)closedir(*d);
}

static int
by_name(const void *a, const void *b)
{
	return strcmp(*(const char *const *)a, *(const char *const *)b);
}

static int
has_name(const struct names *n, const char *name)
{
	return n->n != 0 &&
	    bsearch(&name, n->v, n->n, sizeof(*n->v), by_name) != NULL;
}

static int
read_names(int fd, struct names *n, struct err *e)
{
	AUTO(dir) DIR *d = NULL;
	struct dirent *ent;
	const char *p;
	size_t i;
	int own;

	buf_init(&n->text, (size_t)CHANGE_ENTRIES_MAX * 64);
	if ((own = fcntl(fd, F_DUPFD_CLOEXEC, 0)) < 0)
		return err_set(e, ERR_SYS, "read a directory");
	if ((d = fdopendir(own)) == NULL) {
		(void)close(own);
		return err_set(e, ERR_SYS, "read a directory");
	}
	while (errno = 0, (ent = readdir(d)) != NULL) {
		if (strcmp(ent->d_name, ".") == 0 ||
		    strcmp(ent->d_name, "..") == 0)
			continue;
		buf_put(&n->text, ent->d_name, strlen(ent->d_name) + 1);
		n->n++;
	}
	if (errno != 0)
		return err_set(e, ERR_SYS, "read a directory");
	if (buf_ok(&n->text, "the names of a directory", e))
		return -1;
	if (n->n == 0)
		return 0;
	if ((n->v = calloc(n->n, sizeof(*n->v))) == NULL)
		return err_set(e, ERR_NOMEM, "read a directory");
	p = (const char *)n->text.p;
	for (i = 0; i < n->n; i++, p += strlen(p) + 1)
		n->v[i] = p;
	qsort(n->v, n->n, sizeof(*n->v), by_name);
	return 0;
}

static int
push(struct scan *s, const struct todo *t, struct err *e)
{
	struct todo *v;
	size_t cap;

	if (s->ntodo == s->cap) {
		cap = s->cap != 0 ? s->cap * 2 : 64;
		if ((v = realloc(s->todo, cap * sizeof(*v))) == NULL)
			return err_set(e, ERR_NOMEM, "scan");
		s->todo = v;
		s->cap = cap;
	}
	s->todo[s->ntodo++] = *t;
	return 0;
}

static int64_t
ctime_ns(const struct stat *st)
{
	return st->st_ctim.tv_sec * INT64_C(1000000000) + st->st_ctim.tv_nsec;
}

/* What there is to say about a change from s->low to s->up. */
static uint32_t
notes_of(const struct scan *s, const struct change *c, int refused)
{
	const struct look *up = &s->up, *low = &s->low;
	int had = low->side.type, has = c->after.type;
	uint32_t n = refused ? CHANGE_NOTE_ABOVE : 0;

	n |= low->notes & (CHANGE_NOTE_UNREADABLE | CHANGE_NOTE_HUGE);
	if (had > CHANGE_TYPE_SYMLINK)
		n |= CHANGE_NOTE_SPECIAL;
	if (had != CHANGE_TYPE_ABSENT && had != CHANGE_TYPE_DIR &&
	    s->since_ns != 0 && ctime_ns(&low->st) > s->since_ns)
		n |= CHANGE_NOTE_HOST;
	if (has == CHANGE_TYPE_ABSENT)
		return n;

	n |= up->notes & (CHANGE_NOTE_UNREADABLE | CHANGE_NOTE_PLANTED |
	    CHANGE_NOTE_HUGE);
	n |= has == CHANGE_TYPE_FIFO ? CHANGE_NOTE_FIFO : 0;
	n |= has == CHANGE_TYPE_DEVICE ? CHANGE_NOTE_DEVICE : 0;
	n |= has == CHANGE_TYPE_SOCKET ? CHANGE_NOTE_SOCKET : 0;
	if ((up->notes & CHANGE_NOTE_SETID) != 0 &&
	    (c->kind != CHANGE_KIND_KEEP ||
	    (low->notes & CHANGE_NOTE_SETID) == 0))
		n |= CHANGE_NOTE_SETID;
	if (memcmp(up->xattr, low->xattr, sizeof(up->xattr)) != 0)
		n |= CHANGE_NOTE_XATTR;
	if (c->kind == CHANGE_KIND_KEEP)
		return n;
	if (had == CHANGE_TYPE_FILE && low->st.st_nlink > 1 &&
	    c->kind != CHANGE_KIND_MODE)
		n |= CHANGE_NOTE_HARDLINK;
	if (has == CHANGE_TYPE_FILE && up->st.st_nlink > 1)
		n |= CHANGE_NOTE_LINKED;
	if (had != CHANGE_TYPE_ABSENT && low->st.st_uid != s->uid)
		n |= CHANGE_NOTE_OWNER;
	return n;
}

/* Put s->low -> s->up in the manifest, if it is a change or worth a word. */
static int
emit(struct scan *s, struct str path, int refused, int64_t *entry, struct err *e)
{
	struct change c = { .path = path, .before = s->low.side };

	*entry = NO_ENTRY;
	if (s->up.whiteout)
		c.after = (struct change_side){ .target = STR("") };
	else
		c.after = s->up.side;
	if ((c.kind = (uint8_t)change_kind_of(&c.before, &c.after)) == 0)
		return 0;
	c.notes = notes_of(s, &c, refused);
	/* Only what is said about the thing itself makes a KEEP worth it. */
	if (c.kind == CHANGE_KIND_KEEP &&
	    (c.notes & ~(uint32_t)(CHANGE_NOTE_ABOVE | CHANGE_NOTE_HOST)) == 0)
		return 0;
	c.runs_later = change_runs_later(path, c.after.type) != 0;
	*entry = (int64_t)s->m->n;
	return manifest_add(s->m, &c, e);
}

/* Say something about a directory, which may have no entry yet. */
static int
note(struct scan *s, struct todo *t, uint32_t bits, struct err *e)
{
	struct change c = { .path = t->path, .kind = CHANGE_KIND_KEEP };

	if (t->entry != NO_ENTRY) {
		s->m->v[t->entry].notes |= bits;
		return 0;
	}
	if (t->path.n == 0)
		return err_say(e, ERR_DENIED,
		    "the top of the workspace cannot be read");
	c.notes = bits;
	c.before.type = c.after.type = CHANGE_TYPE_DIR;
	c.before.target = c.after.target = STR("");
	t->entry = (int64_t)s->m->n;
	return manifest_add(s->m, &c, e);
}

/* Open ${t} in one layer; *${fd} is -1, and a note says why, if it cannot be. */
static int
open_dir(struct scan *s, struct todo *t, int root, int *fd, struct err *e)
{
	*fd = -1;
	if (changes_dir(root, t->path, O_RDONLY, fd, e) == 0)
		return 0;
	if (e->sys == EACCES || e->sys == EPERM)
		return note(s, t, CHANGE_NOTE_UNREADABLE, e);
	if (e->sys == EXDEV)
		return note(s, t, CHANGE_NOTE_MOUNT, e);
	/* A running session or the host moved it; what is gone is gone. */
	if (e->sys == ENOENT || e->sys == ENOTDIR || e->sys == ELOOP)
		return 0;
	return -1;
}

static int
join(struct manifest *m, struct str dir, const char *name, struct str *out,
    struct err *e)
{
	char text[PATH_BYTES_MAX + 1];
	size_t n = strlen(name), at = 0;

	if (dir.n != 0) {
		memcpy(text, dir.p, dir.n);
		text[dir.n] = '/';
		at = dir.n + 1;
	}
	memcpy(text + at, name, n);
	return manifest_str(m, (struct str){ text, at + n }, out, e);
}

/* One name of a directory: ${up} and ${low} are its descriptors, or -1. */
static int
scan_name(struct scan *s, struct todo *t, int up, int low,
    const char *name, struct err *e)
{
	struct todo sub = { .refused = t->refused };
	int isdir, wasdir;

	if (t->path.n + 1 + strlen(name) > PATH_BYTES_MAX)
		return note(s, t, t->where == LOWER ?
		    CHANGE_NOTE_DEEP | CHANGE_NOTE_BELOW : CHANGE_NOTE_DEEP, e);
	memset(&s->up, 0, offsetof(struct look, target_buf));
	memset(&s->low, 0, offsetof(struct look, target_buf));
	s->up.side.target = s->low.side.target = STR("");
	if ((up >= 0 && look_at(up, name, LOOK_DIGEST | LOOK_XATTR, &s->up, e)) ||
	    (low >= 0 && look_at(low, name, LOOK_DIGEST | LOOK_XATTR, &s->low, e)) ||
	    join(s->m, t->path, name, &sub.path, e))
		return -1;
	/* A running session took it away; then the lower one shows again. */
	if (up >= 0 && s->up.side.type == CHANGE_TYPE_ABSENT)
		return 0;
	/* The lower tree has no overlay of its own to be marked for. */
	s->low.notes &= ~(uint32_t)CHANGE_NOTE_PLANTED;
	s->low.whiteout = 0;

	isdir = s->up.side.type == CHANGE_TYPE_DIR;
	wasdir = s->low.side.type == CHANGE_TYPE_DIR;
	sub.opaque = s->up.opaque;
	if (emit(s, sub.path, t->refused, &sub.entry, e))
		return -1;
	if (sub.entry != NO_ENTRY && change_refused(&s->m->v[sub.entry]))
		sub.refused = 1;
	if (!isdir && !wasdir)
		return 0;
	sub.where = isdir && wasdir ? BOTH : isdir ? UPPER : LOWER;
	return push(s, &sub, e);
}

static int
scan_dir(struct scan *s, struct todo *t, struct err *e)
{
	AUTO(fd) int up = -1, low = -1;
	AUTO(names) struct names un = { .n = 0 }, ln = { .n = 0 };

	if (t->where != LOWER) {
		if (open_dir(s, t, s->upper, &up, e))
			return -1;
		if (up < 0)
			return 0;
		if (read_names(up, &un, e))
			return -1;
	}
	if (t->where != UPPER && open_dir(s, t, s->lower, &low, e))
		return -1;
	if ((t->where == LOWER || t->opaque) && low >= 0 &&
	    read_names(low, &ln, e))
		return -1;
	for (size_t i = 0; i < un.n; i++)
		if (scan_name(s, t, up, low, un.v[i], e))
			return -1;
	for (size_t i = 0; i < ln.n; i++)
		if (!has_name(&un, ln.v[i]) &&
		    scan_name(s, t, -1, low, ln.v[i], e))
			return -1;
	return 0;
}

/* A directory cannot go while something in it stays. */
static void
mark_below(struct manifest *m)
{
	struct change *c, *d;
	struct str dir;

	for (size_t i = 0; i < m->n; i++) {
		c = &m->v[i];
		if (c->before.type == CHANGE_TYPE_ABSENT || !change_refused(c))
			continue;
		for (dir = path_parent(c->path); dir.n != 0;
		    dir = path_parent(dir)) {
			d = manifest_find(m, dir);
			if (d != NULL && d->before.type == CHANGE_TYPE_DIR &&
			    d->after.type != CHANGE_TYPE_DIR)
				d->notes |= CHANGE_NOTE_BELOW;
		}
	}
}

static int
scan_all(struct scan *s, struct err *e)
{
	struct todo t = { .path = STR(""), .where = BOTH, .entry = NO_ENTRY };

	if (look_at(s->upper, ".", LOOK_XATTR, &s->up, e))
		return -1;
	t.opaque = s->up.opaque;
	if (push(s, &t, e))
		return -1;
	while (s->ntodo != 0) {
		t = s->todo[--s->ntodo];
		if (scan_dir(s, &t, e))
			return -1;
	}
	manifest_sort(s->m);
	mark_below(s->m);
	return 0;
}

int
changes_scan(int upper_dirfd, int lower_dirfd,
    const struct changes_scan_options *opts, struct manifest **out,
    struct err *e)
{
	AUTO(manifest) struct manifest *m = NULL;
	AUTO(mem) struct scan *s = NULL;
	int rc;

	if ((m = manifest_new(e)) == NULL)
		return -1;
	if ((s = calloc(1, sizeof(*s))) == NULL)
		return err_set(e, ERR_NOMEM, "scan");
	s->upper = upper_dirfd;
	s->lower = lower_dirfd;
	s->since_ns = opts != NULL ? opts->since_ns : 0;
	s->m = m;
	s->uid = geteuid();
	s->room = CHANGE_BYTES_MAX;
	s->up.room = s->low.room = &s->room;
	rc = scan_all(s, e);
	free(s->todo);
	if (rc != 0)
		return err_wrap(e, "the changes of the session");
	*out = TAKE(m);
	return 0;
}
