/* SPDX-License-Identifier: ISC */
/*
 * One entry into its place.  What is new and what it replaces are exchanged in
 * one step, and only then do we look whether what came out is what was looked
 * at before: if the host wrote there in between, it is exchanged back.  So
 * nobody's work is lost, however badly it is timed.
 */
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "faultinject/fi.h"

#include "sandbox/changes_work.h"

static int
just_now(struct work *w, size_t i, struct err *e)
{
	static const char why[] = "the host changed it just now";

	if (work_conflict(w, i, why, e))
		return -1;
	return err_say(e, ERR_CONFLICT, "%s", why);
}

/* The parent, or -1 and the error: it was there when it was looked at. */
static int
parent_of(struct work *w, size_t i, struct err *e)
{
	int dir = work_parent(w, work_change(w, i)->path);

	if (dir < 0) {
		errno = w->parent_errno;
		return err_set(e, ERR_SYS, "its directory");
	}
	return dir;
}

/* Where nothing was. */
static int
put_in(struct work *w, size_t i, int dir, const char *name, const char *num,
    struct err *e)
{
	struct stat st;

	if (renameat2(w->staging_fd, num, dir, name, RENAME_NOREPLACE) == 0)
		return 0;
	if (errno == EEXIST)
		return just_now(w, i, e);
	if (errno != EINVAL && errno != ENOSYS)
		return err_set(e, ERR_SYS, "rename");
	/* A file system without it: look, then rename. */
	if (fstatat(dir, name, &st, AT_SYMLINK_NOFOLLOW) == 0)
		return just_now(w, i, e);
	if (renameat(w->staging_fd, num, dir, name) != 0)
		return err_set(e, ERR_SYS, "rename");
	return 0;
}

/* The same for a file system that cannot exchange: remove, then rename. */
static int
replace(struct work *w, size_t i, int dir, const char *name, const char *num,
    struct err *e)
{
	int from = work_is_dir(work_from(w, i)), to = work_is_dir(work_to(w, i));
	struct stat st;

	if (fstatat(dir, name, &st, AT_SYMLINK_NOFOLLOW) != 0 ||
	    !work_same(w, i, &st))
		return just_now(w, i, e);
	if (from != to && unlinkat(dir, name, from ? AT_REMOVEDIR : 0) != 0)
		return err_set(e, ERR_SYS, "remove");
	if (renameat(w->staging_fd, num, dir, name) != 0)
		return err_set(e, ERR_SYS, "rename");
	return 0;
}

static int
exchange(struct work *w, size_t i, int dir, const char *name, const char *num,
    struct err *e)
{
	int flags = work_is_dir(work_from(w, i)) ? AT_REMOVEDIR : 0;
	struct stat st;

	if (renameat2(w->staging_fd, num, dir, name, RENAME_EXCHANGE) != 0) {
		if (errno == EINVAL || errno == ENOSYS)
			return replace(w, i, dir, name, num, e);
		if (errno == ENOENT)
			return just_now(w, i, e);
		return err_set(e, ERR_SYS, "exchange");
	}
	if (FI(APPLY_EXCHANGED))
		return err_set(e, ERR_SYS, "exchanged: injected");
	if (fstatat(w->staging_fd, num, &st, AT_SYMLINK_NOFOLLOW) == 0 &&
	    work_same(w, i, &st) && unlinkat(w->staging_fd, num, flags) == 0)
		return 0;
	if (renameat2(w->staging_fd, num, dir, name, RENAME_EXCHANGE) != 0)
		return err_set(e, ERR_SYS, "exchange back");
	return just_now(w, i, e);
}

static int
put(struct work *w, size_t i, struct err *e)
{
	const char *name = path_name(work_change(w, i)->path);
	char num[WORK_NAME_MAX];
	int dir = parent_of(w, i, e);

	if (dir < 0)
		return -1;
	(void)work_name(i, num);
	w->touched = 1;
	if (work_from(w, i)->type == CHANGE_TYPE_ABSENT || w->entry[i].gone)
		return put_in(w, i, dir, name, num, e);
	return exchange(w, i, dir, name, num, e);
}

int
place_mode(struct work *w, size_t i, mode_t mode, struct err *e)
{
	AUTO(fd) int at = -1;
	char path[WORK_NAME_MAX];
	struct stat st;
	int dir = parent_of(w, i, e);

	if (dir < 0)
		return -1;
	at = openat(dir, path_name(work_change(w, i)->path),
	    O_PATH | O_NOFOLLOW | O_CLOEXEC);
	if (at < 0 || fstat(at, &st) != 0)
		return err_set(e, ERR_SYS, "chmod");
	if (S_ISLNK(st.st_mode) || (!S_ISDIR(st.st_mode) &&
	    work_change(w, i)->kind != CHANGE_KIND_MODE))
		return just_now(w, i, e);
	/* Whose group new files get is the host's choice. */
	if (S_ISDIR(st.st_mode))
		mode |= st.st_mode & S_ISGID;
	else if (!work_same(w, i, &st))
		return just_now(w, i, e);
	(void)snprintf(path, sizeof(path), "/proc/self/fd/%d", at);
	w->touched = 1;
	if ((st.st_mode & 07777) != mode && chmod(path, mode) != 0)
		return err_set(e, ERR_SYS, "chmod");
	return 0;
}

int
place_dir(struct work *w, size_t i, struct err *e)
{
	const struct change_side *from = work_from(w, i), *to = work_to(w, i);
	char num[WORK_NAME_MAX];
	int dir;

	if (w->entry[i].state == ENTRY_MODE_ONLY || from->type == to->type)
		return place_mode(w, i, to->mode | 0700, e);
	if (from->type == CHANGE_TYPE_ABSENT || w->entry[i].gone) {
		if ((dir = parent_of(w, i, e)) < 0)
			return -1;
		w->touched = 1;
		if (mkdirat(dir, path_name(work_change(w, i)->path), 0700) != 0)
			return errno == EEXIST ? just_now(w, i, e) :
			    err_set(e, ERR_SYS, "mkdir");
	} else if (mkdirat(w->staging_fd, work_name(i, num), 0700) != 0)
		return err_set(e, ERR_SYS, "mkdir");
	else if (put(w, i, e))
		return -1;
	return place_mode(w, i, to->mode | 0700, e);
}

int
place_content(struct work *w, size_t i, struct err *e)
{
	if (work_change(w, i)->kind == CHANGE_KIND_MODE)
		return place_mode(w, i, work_to(w, i)->mode, e);
	return put(w, i, e);
}

int
place_nothing(struct work *w, size_t i, struct err *e)
{
	const char *name = path_name(work_change(w, i)->path);
	char num[WORK_NAME_MAX];
	int dir = parent_of(w, i, e);
	struct stat st;

	if (dir < 0)
		return -1;
	(void)work_name(i, num);
	w->touched = 1;
	if (work_is_dir(work_from(w, i))) {
		if (unlinkat(dir, name, AT_REMOVEDIR) == 0)
			return 0;
		return errno == ENOTEMPTY || errno == ENOENT ||
		    errno == ENOTDIR ? just_now(w, i, e) :
		    err_set(e, ERR_SYS, "rmdir");
	}
	if (renameat(dir, name, w->staging_fd, num) != 0)
		return errno == ENOENT ? just_now(w, i, e) :
		    err_set(e, ERR_SYS, "remove");
	if (FI(APPLY_EXCHANGED))
		return err_set(e, ERR_SYS, "exchanged: injected");
	if (fstatat(w->staging_fd, num, &st, AT_SYMLINK_NOFOLLOW) == 0 &&
	    work_same(w, i, &st) && unlinkat(w->staging_fd, num, 0) == 0)
		return 0;
	if (renameat2(w->staging_fd, num, dir, name, RENAME_NOREPLACE) != 0)
		return err_set(e, ERR_SYS, "put back");
	return just_now(w, i, e);
}
