/* SPDX-License-Identifier: ISC */
/* effects_end.c - an end is durable: the runtime may leave, and what is of no
 * more use goes from the state directory. */
#include <sys/stat.h>

#include <fcntl.h>
#include <linux/openat2.h>
#include <stdio.h>
#include <unistd.h>

#include "base/fd.h"
#include "base/log.h"
#include "sandbox/changes.h"

#include "cli/world_int.h"

enum { PATH_ROOM = PATH_BYTES_MAX + 1 };

/*
 * What a session leaves that changed nothing: empty layers.  One that was lost
 * keeps what it wrote.
 */
static void
forget_session(struct world *w, const struct id *session, int lost)
{
	AUTO(fd) int dir = -1;
	char path[PATH_ROOM];
	struct err e;

	session_dir(w, session, path, sizeof(path));
	if (fd_openat2(AT_FDCWD, path, O_RDONLY | O_DIRECTORY, 0,
	    RESOLVE_NO_SYMLINKS, &dir, &e))
		return;
	if (changes_discard(dir, "work", &e) ||
	    (!lost && changes_discard(dir, "upper", &e)))
		log_event(LOG_LEVEL_WARN, "left_behind", "err=%s: %s",
		    err_name(e.code), e.msg);
	(void)unlinkat(dir, "upper", AT_REMOVEDIR);
	(void)rmdir(path);
}

/* What a supervisor left for the next gloved is in the journal now. */
static void
forget_word(struct world *w, const struct id *session)
{
	static const char *const files[] = { "outcome", "manifest" };
	char path[PATH_ROOM + 16], dir[PATH_ROOM];

	session_dir(w, session, dir, sizeof(dir));
	for (size_t i = 0; i < sizeof(files) / sizeof(files[0]); i++) {
		(void)snprintf(path, sizeof(path), "%s/%s", dir, files[i]);
		(void)unlink(path);
	}
}

static void
session_over(struct world *w, const struct committed *c)
{
	const struct record *r = committed_record(c);
	uint64_t cause = CAUSE_LOST;

	(void)record_u64(r, FIELD_END_CAUSE, &cause);
	forget_word(w, &r->subject);
	if (record_field(r, FIELD_CHANGE_ID).n == 0)
		forget_session(w, &r->subject, cause == CAUSE_LOST);
}

/* The directories of a job, if it has emptied them. */
static void
job_over(struct world *w, const struct id *change, const struct id *session)
{
	char path[PATH_ROOM], text[ID_TEXT_MAX];

	(void)snprintf(path, sizeof(path), "%s/undo/%s", w->home,
	    id_str(ID_CHANGE, change, text));
	(void)rmdir(path);
	session_dir(w, session, path, sizeof(path));
	(void)rmdir(path);
}

int
world_done(struct world *w, const struct committed *c, const struct order *o)
{
	struct runtime *rt = runtime_find(w, o->worker,
	    o->worker ? &o->change : &o->session);
	struct id session = o->session;

	if (rt != NULL) {
		session = rt->session;
		runtime_ended(rt);
	}
	if (!o->worker)
		session_over(w, c);
	else if (rt != NULL)
		job_over(w, &o->change, &session);
	return 0;
}
