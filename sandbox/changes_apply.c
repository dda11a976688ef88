/* SPDX-License-Identifier: ISC */
/*
 * The order in which a directory tree can become another one:
 *
 *	1. directories that are new, and those in the way are opened up
 *	2. files and links into their places
 *	3. what goes, and directories that make room, the deepest first
 *	4. the final modes of directories, the deepest first
 *
 * so that a stop at any moment leaves more than there should be, not less.
 */
#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "faultinject/fi.h"
#include "journal/committed.h"
#include "lifecycle/machine.h"

#include "sandbox/changes_work.h"

static void
auto_work(struct work *w)
{
	work_forget_parent(w);
	if (w->staging_fd >= 0)
		(void)close(w->staging_fd);
	free(w->entry);
	free(w->plan);
}

void
changes_result_done(struct changes_result *r)
{
	free(r->conflict);
	r->conflict = NULL;
	r->nconflict = 0;
}

int
work_ask(struct work *w, size_t i, struct err *e)
{
	if (w->a->step == NULL || w->a->step(w->a->cookie, work_change(w, i),
	    w->r->done, w->todo) == 0)
		return 0;
	return err_say(e, ERR_REVOKED, "stopped before %.200s",
	    work_change(w, i)->path.p);
}

static int
closes_later(const struct work *w, size_t i)
{
	const struct change_side *to = work_to(w, i);

	return work_is_dir(to) && (to->mode & 0700) != 0700;
}

static int
done(struct work *w, struct err *e)
{
	w->r->done++;
	return FI(APPLY_PLACED) ? err_set(e, ERR_SYS, "placed: injected") : 0;
}

enum pass { MAKE_DIRS, FILL, REMOVE, CLOSE_DIRS };

/* Which pass is the one that does entry ${i}? */
static enum pass
pass_of(const struct work *w, size_t i)
{
	if (work_is_dir(work_to(w, i)))
		return MAKE_DIRS;
	if (work_to(w, i)->type == CHANGE_TYPE_ABSENT ||
	    (work_is_dir(work_from(w, i)) && !w->entry[i].gone))
		return REMOVE;
	return FILL;
}

static int
do_entry(struct work *w, size_t i, enum pass pass, struct err *e)
{
	const struct change_side *to = work_to(w, i);
	mode_t mode = w->entry[i].mode;
	int rc;

	if (w->entry[i].state == ENTRY_OUT || w->entry[i].state == ENTRY_DONE)
		return 0;
	if (pass == CLOSE_DIRS)
		return !closes_later(w, i) ? 0 :
		    place_mode(w, i, to->mode, e) || done(w, e) ? -1 : 0;
	/* A closed directory that goes later is opened up to be emptied. */
	if (pass == MAKE_DIRS && pass_of(w, i) == REMOVE &&
	    work_is_dir(work_from(w, i)) && (mode & 0700) != 0700)
		return place_mode(w, i, (mode & 01777) | 0700, e);
	if (pass_of(w, i) != pass)
		return 0;
	if (work_ask(w, i, e))
		return -1;
	if (pass == MAKE_DIRS)
		rc = place_dir(w, i, e);
	else if (to->type == CHANGE_TYPE_ABSENT)
		rc = place_nothing(w, i, e);
	else
		rc = place_content(w, i, e);
	if (rc != 0)
		return -1;
	return closes_later(w, i) ? 0 : done(w, e);
}

static int
do_pass(struct work *w, enum pass pass, struct err *e)
{
	size_t n = w->a->m->n, i;

	for (size_t k = 0; k < n; k++) {
		i = pass == MAKE_DIRS || pass == FILL ? k : n - 1 - k;
		if (do_entry(w, i, pass, e))
			return err_wrap(e, "%.200s", work_change(w, i)->path.p);
	}
	/* A directory may have become another one. */
	work_forget_parent(w);
	return 0;
}

static int
write_plan(struct work *w, struct err *e)
{
	for (size_t i = 0; i < w->a->m->n; i++)
		if (w->entry[i].state == ENTRY_TODO ||
		    w->entry[i].state == ENTRY_MODE_ONLY)
			w->plan[i] = 1;
	if (plan_save(w, e))
		return -1;
	return FI(APPLY_PLANNED) ? err_set(e, ERR_SYS, "plan: injected") : 0;
}

/* All that was chosen is undone: it is no longer ours to undo. */
static int
forget_plan(struct work *w, struct err *e)
{
	char num[WORK_NAME_MAX];
	size_t left = 0;

	for (size_t i = 0; i < w->a->m->n; i++) {
		if (w->entry[i].state != ENTRY_OUT) {
			w->plan[i] = 0;
			/* It may be the very file that is back in its place. */
			(void)unlinkat(w->a->undo_dirfd, work_name(i, num), 0);
		}
		left += w->plan[i];
	}
	if (left != 0)
		return plan_save(w, e);
	if (unlinkat(w->a->undo_dirfd, "plan", 0) != 0 && errno != ENOENT)
		return err_set(e, ERR_SYS, "the plan of the undo directory");
	return 0;
}

static int
act(struct work *w, struct err *e)
{
	if (w->todo != 0 && ((!w->undo && write_plan(w, e)) ||
	    stage_all(w, e) || do_pass(w, MAKE_DIRS, e) ||
	    do_pass(w, FILL, e) || do_pass(w, REMOVE, e) ||
	    do_pass(w, CLOSE_DIRS, e) || work_sync(w, e)))
		return -1;
	if (FI(APPLY_FINISHED))
		return err_set(e, ERR_SYS, "finished: injected");
	return w->undo ? forget_plan(w, e) : 0;
}

/* What is true of the host directory, now that we stop. */
static enum changes_outcome
outcome(const struct work *w, int rc)
{
	if (rc == 0)
		return CHANGES_WHOLE;
	return w->touched || (w->begun && (w->undo || w->r->already != 0)) ?
	    CHANGES_PARTIAL : CHANGES_UNTOUCHED;
}

static int
run(struct work *w, struct err *e)
{
	struct err late;
	int rc;

	if (plan_load(w, e))
		return -1;
	/* What a crash left on its way is of no use to anyone. */
	if (w->begun && !w->a->dry_run &&
	    changes_discard(w->a->lower_dirfd, w->staging, e))
		return -1;
	if (work_check(w, e))
		return -1;
	if (w->r->nconflict != 0)
		return err_say(e, ERR_CONFLICT, "%zu of %zu paths are not as "
		    "they were, the first is %.200s", w->r->nconflict,
		    w->todo + w->r->already, w->r->conflict[0].c->path.p);
	if (w->a->dry_run)
		return 0;
	rc = act(w, e);
	if (changes_discard(w->a->lower_dirfd, w->staging, rc ? &late : e))
		rc = -1;
	if (rc != 0 && !w->begun && !w->touched)
		(void)unlinkat(w->a->undo_dirfd, "plan", 0);
	return rc;
}

int
changes_work(const struct changes_apply *a, int undo, struct changes_result *r,
    struct err *e)
{
	AUTO(work) struct work w = { .a = a, .r = r, .undo = undo,
	    .staging_fd = -1, .parent_fd = -1 };
	size_t n = a->m->n + 1;
	struct stat st;
	int rc;

	*r = (struct changes_result){ .outcome = CHANGES_UNTOUCHED };
	if (change_paths_check(&a->paths, a->m, e))
		return -1;
	if ((w.entry = calloc(n, sizeof(*w.entry))) == NULL ||
	    (w.plan = calloc(n, 1)) == NULL)
		return err_set(e, ERR_NOMEM, "apply");
	if (fstat(a->lower_dirfd, &st) != 0)
		return err_set(e, ERR_SYS, "the host directory");
	w.top_dev = st.st_dev;
	rc = run(&w, e);
	r->outcome = a->dry_run && rc == 0 ? CHANGES_UNTOUCHED : outcome(&w, rc);
	if (a->dry_run && rc == 0)
		r->done = w.todo;
	return rc != 0 ? err_wrap(e, undo ? "undo" : "apply") : 0;
}

int
changes_apply(const struct changes_apply *a, const struct committed *proof,
    struct changes_result *r, struct err *e)
{
	*r = (struct changes_result){ .outcome = CHANGES_UNTOUCHED };
	if (!a->dry_run && (proof == NULL ||
	    (!committed_is(proof, MACHINE_CHANGE, CHANGE_EV_apply) &&
	    !committed_is(proof, MACHINE_CHANGE, CHANGE_EV_resume))))
		return err_set(e, ERR_BUG, "apply without a committed start");
	return changes_work(a, 0, r, e);
}

int
changes_undo(const struct changes_apply *a, const struct committed *proof,
    struct changes_result *r, struct err *e)
{
	*r = (struct changes_result){ .outcome = CHANGES_UNTOUCHED };
	if (!a->dry_run && (proof == NULL ||
	    !committed_is(proof, MACHINE_CHANGE, CHANGE_EV_undo)))
		return err_set(e, ERR_BUG, "undo without a committed start");
	return changes_work(a, 1, r, e);
}
