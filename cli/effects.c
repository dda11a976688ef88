/* SPDX-License-Identifier: ISC */
/* effects.c - orders of the engine, carried out with glove-sandbox. */
#include <sys/socket.h>
#include <sys/un.h>

#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/fd.h"
#include "base/log.h"

#include "cli/world_int.h"

enum { PATH_ROOM = PATH_BYTES_MAX + 1, BACKLOG = 16, STOP_SLACK_US = 10000000 };

void
session_dir(const struct world *w, const struct id *session, char *out, size_t n)
{
	char text[ID_TEXT_MAX];

	(void)snprintf(out, n, "%s/sessions/%s", w->home,
	    id_str(ID_SESSION, session, text));
}

void
attach_path(const struct world *w, const struct id *session, char *out, size_t n)
{
	engine_attach_path(w->en, session, out, n);
}

/* ---- build --------------------------------------------------------------- */

/* <home>/sessions/SES/{upper,work}, all of them ours alone. */
static int
make_dirs(struct world *w, const struct id *session, struct err *e)
{
	AUTO(fd) int sessions = -1;
	AUTO(fd) int own = -1;
	AUTO(fd) int upper = -1;
	AUTO(fd) int work = -1;
	char text[ID_TEXT_MAX];

	(void)id_str(ID_SESSION, session, text);
	return fd_mkdir_open(w->o.homefd, "sessions", 0700, &sessions, e) ||
	    fd_mkdir_open(sessions, text, 0700, &own, e) ||
	    fd_mkdir_open(own, "upper", 0700, &upper, e) ||
	    fd_mkdir_open(own, "work", 0700, &work, e) ? -1 : 0;
}

static int
listen_at(const char *path, int *out, struct err *e)
{
	AUTO(fd) int fd = socket(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0);
	struct sockaddr_un sun = { .sun_family = AF_UNIX };

	if (fd < 0)
		return err_set(e, ERR_SYS, "socket");
	if (strlen(path) >= sizeof(sun.sun_path))
		return err_say(e, ERR_CONFIG, "%s is too long for a socket", path);
	memcpy(sun.sun_path, path, strlen(path) + 1);
	(void)unlink(path);
	if (bind(fd, (const struct sockaddr *)&sun, sizeof(sun)) ||
	    listen(fd, BACKLOG))
		return err_set(e, ERR_SYS, "%s", path);
	*out = TAKE_FD(fd);
	return 0;
}

static void
fill_run(struct launch *l, const struct start *s)
{
	l->kind = LAUNCH_RUN;
	l->mode = s->mode;
	l->workspace = s->path;
	l->workspace_dev = s->dev;
	l->workspace_ino = s->ino;
	l->argc = s->argc;
	l->argv = s->argv;
	l->envc = s->envc;
	l->env = s->env;
	l->cwd = s->cwd;
	l->nro = s->nro;
	l->ro = s->ro;
	l->git_name = s->git_name;
	l->git_email = s->git_email;
	l->terminal = s->terminal;
	l->rows = s->rows;
	l->cols = s->cols;
	memcpy(l->token, s->token, sizeof(l->token));
	l->wait_client = !s->detach;
	l->tied = !s->detach;
	l->ends_real_us = s->ends_real_us;
	l->ends_boot_us = s->ends_boot_us;
	l->grace_us = (int64_t)STOP_GRACE_S * 1000000;
	l->orphan_grace_us = (int64_t)ORPHAN_GRACE_S * 1000000;
}

/* What every policy says: for whom, by which receipt, under which key. */
static void
fill_common(const struct world *w, const struct order *o, struct launch *l,
    const char *state)
{
	l->session = o->session;
	l->receipt = o->receipt;
	memcpy(l->log_pub, journal_log_pub(w->o.journal), sizeof(l->log_pub));
	l->origin = journal_origin(w->o.journal);
	l->state = state;
}

static int
order_build(struct world *w, const struct order *o, struct err *e)
{
	AUTO(fd) int attach = -1;
	struct launch l = { .kind = LAUNCH_RUN };
	char state[PATH_ROOM], path[PATH_ROOM];
	struct runtime *rt;

	/* Repeated: it is being built already. */
	if (runtime_find(w, 0, &o->session) != NULL)
		return 0;
	session_dir(w, &o->session, state, sizeof(state));
	attach_path(w, &o->session, path, sizeof(path));
	if (make_dirs(w, &o->session, e) || listen_at(path, &attach, e))
		return -1;
	fill_common(w, o, &l, state);
	fill_run(&l, o->start);
	l.subject = o->session;
	l.attach_path = path;
	if ((rt = runtime_new(w, 0, &o->session, e)) == NULL)
		return -1;
	rt->held = 1;
	if (runtime_start(w, &l, attach, rt, e)) {
		(void)unlink(path);
		runtime_free(rt);
		return -1;
	}
	return 0;
}

/* ---- gate, stop ---------------------------------------------------------- */

static int
order_gate(struct world *w, const struct order *o, struct err *e)
{
	struct runtime *rt = runtime_find(w, 0, &o->session);
	struct channel_msg m;

	if (rt == NULL || rt->channel < 0)
		return err_set(e, ERR_PEER, "supervisor");
	channel_init(&m, MSG_GATE);
	channel_set(&m, CF_RECEIPT, bytes_of_str(str_of(o->receipt)));
	if (channel_send(rt->channel, &m, e))
		return -1;
	rt->held = 0;
	return 0;
}

/* A supervisor that is gone already has nothing to end: its end is news. */
static int
order_stop(struct world *w, const struct order *o, int worker,
    const struct id *subject, struct err *e)
{
	struct runtime *rt = runtime_find(w, worker, subject);
	struct channel_msg m;

	if (rt == NULL || rt->channel < 0)
		return 0;
	channel_init(&m, MSG_STOP);
	channel_set_u64(&m, CF_CAUSE, (uint64_t)o->cause);
	channel_set_u64(&m, CF_GRACE_US, (uint64_t)o->grace_us);
	/* A supervisor that does not listen is not waited for: E4 is about the
	 * agent, and that can be ended without it. */
	if (!worker)
		runtime_hurry(rt, o->grace_us + STOP_SLACK_US);
	return channel_send(rt->channel, &m, e);
}

/* ---- workers ------------------------------------------------------------- */

static int
make_undo(struct world *w, const struct id *change, struct err *e)
{
	AUTO(fd) int undo = -1;
	AUTO(fd) int own = -1;
	char text[ID_TEXT_MAX];

	return fd_mkdir_open(w->o.homefd, "undo", 0700, &undo, e) ||
	    fd_mkdir_open(undo, id_str(ID_CHANGE, change, text), 0700, &own, e) ?
	    -1 : 0;
}

static int
order_work(struct world *w, const struct order *o, enum launch_kind kind,
    struct err *e)
{
	struct launch l = { .kind = kind };
	char state[PATH_ROOM], undo[PATH_ROOM], text[ID_TEXT_MAX];
	struct runtime *rt;

	if (runtime_find(w, 1, &o->change) != NULL)
		return 0;
	session_dir(w, &o->session, state, sizeof(state));
	(void)snprintf(undo, sizeof(undo), "%s/undo/%s", w->home,
	    id_str(ID_CHANGE, &o->change, text));
	if (kind != LAUNCH_CLEAN && make_undo(w, &o->change, e))
		return -1;
	fill_common(w, o, &l, state);
	l.subject = o->change;
	l.mode = o->mode;
	l.workspace = o->path;
	l.workspace_dev = o->dev;
	l.workspace_ino = o->ino;
	l.undo = undo;
	l.manifest = o->manifest;
	l.npaths = o->npaths;
	l.paths = o->paths;
	if ((rt = runtime_new(w, 1, &o->change, e)) == NULL)
		return -1;
	rt->session = o->session;
	if (runtime_start(w, &l, -1, rt, e)) {
		runtime_free(rt);
		return -1;
	}
	return 0;
}

/* ---- the door ------------------------------------------------------------ */

static int
dispatch(struct world *w, const struct committed *c, const struct order *o,
    struct err *e)
{
	switch (o->kind) {
	case ORDER_BUILD:
		return order_build(w, o, e);
	case ORDER_GATE:
		return order_gate(w, o, e);
	case ORDER_STOP:
		return order_stop(w, o, 0, &o->session, e);
	case ORDER_HALT:
		return order_stop(w, o, 1, &o->change, e);
	case ORDER_ADOPT:
		return world_adopt(w, o, e);
	case ORDER_APPLY:
		return order_work(w, o, LAUNCH_APPLY, e);
	case ORDER_UNDO:
		return order_work(w, o, LAUNCH_UNDO, e);
	case ORDER_CLEAN:
		return order_work(w, o, LAUNCH_CLEAN, e);
	case ORDER_DONE:
		return world_done(w, c, o);
	case ORDER_NONE:
		break;
	}
	return err_set(e, ERR_BUG, "order %d", (int)o->kind);
}

static int
run(void *cookie, const struct committed *c, const struct order *o, struct err *e)
{
	if (dispatch(cookie, c, o, e) == 0)
		return 0;
	log_event(LOG_LEVEL_WARN, "order_failed", "record=%llu kind=%d err=%s: %s",
	    (unsigned long long)committed_index(c), (int)o->kind,
	    err_name(e->code), e->msg);
	return -1;
}

void
world_ops(struct world *w, struct effect_ops *ops)
{
	*ops = (struct effect_ops){ w, run, world_look, world_find };
}

int
world_new(const struct world_opts *o, struct world **out, struct err *e)
{
	AUTO(world) struct world *w = calloc(1, sizeof(*w));

	if (w == NULL)
		return err_set(e, ERR_NOMEM, "world");
	w->o = *o;
	w->found_fd = -1;
	buf_init(&w->outcome, CHANNEL_MAX);
	buf_init(&w->outcome_manifest, BLOB_MAX);
	w->home = strdup(o->home);
	w->attach_dir = strdup(o->attach_dir);
	w->sandbox = strdup(o->sandbox);
	if (w->home == NULL || w->attach_dir == NULL || w->sandbox == NULL)
		return err_set(e, ERR_NOMEM, "world");
	*out = TAKE(w);
	return 0;
}

void
world_free(struct world *w)
{
	if (w == NULL)
		return;
	while (w->runtimes != NULL)
		runtime_free(w->runtimes);
	auto_fd(&w->found_fd);
	buf_done(&w->outcome);
	buf_done(&w->outcome_manifest);
	free(w->home);
	free(w->attach_dir);
	free(w->sandbox);
	free(w);
}

void
world_serves(struct world *w, struct engine *en)
{
	w->en = en;
}

size_t
world_count(const struct world *w)
{
	size_t n = 0;

	for (const struct runtime *rt = w->runtimes; rt != NULL; rt = rt->next)
		n++;
	return n;
}
