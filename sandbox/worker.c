/* SPDX-License-Identifier: ISC */
/*
 * worker.c - one job on the host's files, outside of any sandbox, and only on
 * the verified receipt of its committed start.
 */
#include <errno.h>
#include <fcntl.h>
#include <linux/openat2.h>
#include <poll.h>
#include <stdlib.h>
#include <sys/stat.h>

#include "base/fd.h"
#include "base/text.h"
#include "sandbox/changes.h"
#include "sandbox/channel.h"
#include "sandbox/grant.h"
#include "sandbox/mounts.h"
#include "sandbox/supervisor.h"

enum result { WHOLE, PARTIAL, CONFLICT };	/* CAUSE in RESULT */

enum { ANSWER_MS = 60000, TEXT_SHOWN_MAX = 1024 };

struct work {
	const struct launch	*l;
	int			 channel;
	enum result		 result;
	size_t			 files;
	struct buf		 text;
};

static int
open_dir(const char *path, int *fd, struct err *e)
{
	return fd_openat2(AT_FDCWD, path, O_RDONLY | O_DIRECTORY, 0,
	    RESOLVE_NO_SYMLINKS, fd, e);
}

/* Between two entries: was it taken back meanwhile? */
static int
step(void *cookie, const struct change *c, size_t done, size_t total)
{
	struct work *w = cookie;
	struct pollfd p = { .fd = w->channel, .events = POLLIN };

	(void)c;
	(void)done;
	(void)total;
	/* The only thing gloved says now is STOP, or that it is gone. */
	return poll(&p, 1, 0) > 0;
}

static void
tell_conflicts(struct work *w, const struct changes_result *r)
{
	for (size_t i = 0; i < r->nconflict && w->text.n < 640; i++) {
		escape_put(&w->text, r->conflict[i].c->path, 160);
		buf_putf(&w->text, ": %s\n", r->conflict[i].why);
	}
	if (r->nconflict > 0)
		buf_putf(&w->text, "%zu in all", r->nconflict);
}

static int
open_host(const struct launch *l, int *fd, struct err *e)
{
	AUTO(fd) int host = -1;
	struct stat st;

	if (open_dir(l->workspace, &host, e))
		return -1;
	if (fstat(host, &st) != 0)
		return err_set(e, ERR_SYS, "%s", l->workspace);
	if (st.st_dev != l->workspace_dev || st.st_ino != l->workspace_ino)
		return err_say(e, ERR_STALE,
		    "%s is no longer the directory that was exposed",
		    l->workspace);
	*fd = TAKE_FD(host);
	return 0;
}

static int
change_files(struct work *w, const struct committed *proof, struct err *e)
{
	const struct launch *l = w->l;
	AUTO(manifest) struct manifest *m = NULL;
	AUTO(changes_result) struct changes_result r = { .conflict = NULL };
	AUTO(mem) struct str *paths = calloc(l->npaths + 1, sizeof(*paths));
	AUTO(fd) int state = -1;
	AUTO(fd) int upper = -1;
	AUTO(fd) int host = -1;
	AUTO(fd) int undo = -1;
	int done;

	if (paths == NULL)
		return err_set(e, ERR_NOMEM, "paths");
	for (size_t i = 0; i < l->npaths; i++)
		paths[i] = str_of(l->paths[i]);
	if (manifest_decode(l->manifest, &m, e) ||
	    open_host(l, &host, e) ||
	    open_dir(l->undo, &undo, e))
		return -1;
	if (l->kind == LAUNCH_APPLY && (open_dir(l->state, &state, e) ||
	    fd_openat2(state, "upper", O_RDONLY | O_DIRECTORY, 0,
	    RESOLVE_NO_SYMLINKS | RESOLVE_BENEATH, &upper, e)))
		return -1;

	const struct changes_apply a = {
		.upper_dirfd = upper, .lower_dirfd = host, .undo_dirfd = undo,
		.m = m, .paths = { paths, l->npaths },
		.step = step, .cookie = w
	};
	done = l->kind == LAUNCH_APPLY ? changes_apply(&a, proof, &r, e) :
	    changes_undo(&a, proof, &r, e);
	w->files = r.done + r.already;
	if (done == 0 && r.outcome == CHANGES_WHOLE)
		return 0;
	if (done != 0)
		escape_put(&w->text, str_of(e->msg), 320);
	tell_conflicts(w, &r);
	/* Nothing was touched: it is as if it had not been asked for. */
	w->result = r.outcome == CHANGES_UNTOUCHED ? CONFLICT : PARTIAL;
	return 0;
}

static int
clean(const struct work *w, struct err *e)
{
	static const char *const names[] = {
		"upper", "work", MOUNTS_COMMON, "manifest", "outcome"
	};
	AUTO(fd) int state = -1;

	if (open_dir(w->l->state, &state, e))
		return e->sys == ENOENT ? 0 : -1;
	for (size_t i = 0; i < sizeof(names) / sizeof(names[0]); i++)
		if (changes_discard(state, names[i], e))
			return -1;
	return 0;
}

static int
authorize(const struct launch *l, struct committed **proof, struct err *e)
{
	static const int events[][2] = {
		[LAUNCH_APPLY] = { CHANGE_EV_apply, CHANGE_EV_resume },
		[LAUNCH_UNDO] = { CHANGE_EV_undo, CHANGE_EV_undo },
		[LAUNCH_CLEAN] = { CHANGE_EV_discard, CHANGE_EV_discard }
	};
	struct grants g;

	if (grants_init(&g, l, e))
		return -1;
	if (grants_take(&g, str_of(l->receipt), MACHINE_CHANGE,
	    events[l->kind][0], NULL, proof, e) == 0)
		return 0;
	return grants_take(&g, str_of(l->receipt), MACHINE_CHANGE,
	    events[l->kind][1], NULL, proof, e);
}

static int
answer(const struct work *w, struct err *e)
{
	struct channel_msg m;
	AUTO(buf) struct buf b;
	struct pollfd p = { .fd = w->channel, .events = POLLIN };

	channel_init(&m, MSG_RESULT);
	channel_set_u64(&m, CF_CAUSE, w->result);
	channel_set_u64(&m, CF_FILES, w->files);
	channel_set(&m, CF_TEXT, buf_bytes(&w->text));
	if (channel_send(w->channel, &m, e))
		return -1;
	/* It may take its time to write it down; then we may go. */
	buf_init(&b, CHANNEL_MAX);
	while (poll(&p, 1, ANSWER_MS) > 0)
		if (channel_recv(w->channel, &b, &m, e) || m.type == MSG_DONE)
			break;
	return 0;
}

int
worker_run(const struct launch *l, int channel, struct err *e)
{
	struct work w = { .l = l, .channel = channel, .result = WHOLE };
	AUTO(committed) struct committed *proof = NULL;
	int r;

	if (authorize(l, &proof, e))
		return -1;
	buf_init(&w.text, TEXT_SHOWN_MAX);
	if ((l->kind == LAUNCH_CLEAN ? clean(&w, e) :
	    change_files(&w, proof, e))) {
		/* It failed before anything was touched. */
		w.result = CONFLICT;
		escape_put(&w.text, str_of(e->msg), TEXT_SHOWN_MAX);
	}
	r = answer(&w, e);
	buf_done(&w.text);
	return r;
}
