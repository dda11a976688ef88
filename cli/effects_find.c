/* SPDX-License-Identifier: ISC */
/*
 * effects_find.c - where a directory is, and, at a start, what is left of a
 * session: its supervisor, its outcome, or nothing.
 */
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/sysmacros.h>
#include <sys/un.h>

#include <errno.h>
#include <fcntl.h>
#include <linux/openat2.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/fd.h"
#include "base/log.h"
#include "sandbox/attach.h"

#include "cli/world_int.h"

enum { ANSWER_S = 2, DEATH_MS = 5000, NONCE_BYTES = 32 };

/* ---- where is this? ------------------------------------------------------ */

static int
no_such(const char *path, int sys, struct err *e)
{
	if (sys == ENOENT || sys == ENOTDIR)
		return err_say(e, ERR_NOTFOUND, "there is no directory %s", path);
	errno = sys;
	return err_set(e, ERR_SYS, "%s", path);
}

int
world_look(void *cookie, const char *path, struct place *p, struct err *e)
{
	AUTO(mem) char *real = NULL;
	AUTO(fd) int fd = -1;
	struct statx sx;

	(void)cookie;
	if (path[0] != '/')
		return err_say(e, ERR_USAGE, "%s is not an absolute path", path);
	if ((real = realpath(path, NULL)) == NULL)
		return no_such(path, errno, e);
	if (strlen(real) > PATH_BYTES_MAX)
		return err_say(e, ERR_TOOBIG, "the path is too long");
	/* What it leads to now is opened without following anything. */
	if (fd_openat2(AT_FDCWD, real, O_PATH | O_DIRECTORY, 0,
	    RESOLVE_NO_SYMLINKS | RESOLVE_NO_MAGICLINKS, &fd, e))
		return no_such(path, e->sys != 0 ? e->sys : ENOENT, e);
	if (statx(fd, "", AT_EMPTY_PATH, STATX_BASIC_STATS | STATX_MNT_ID, &sx))
		return err_set(e, ERR_SYS, "%s", path);
	memset(p, 0, sizeof(*p));
	memcpy(p->path, real, strlen(real) + 1);
	p->dev = makedev(sx.stx_dev_major, sx.stx_dev_minor);
	p->ino = sx.stx_ino;
	p->mount = sx.stx_mnt_id;
	p->uid = sx.stx_uid;
	return 0;
}

/* ---- is its supervisor there? -------------------------------------------- */

static int
connect_to(const char *path, int *out, struct err *e)
{
	AUTO(fd) int fd = socket(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0);
	const struct timeval patience = { .tv_sec = ANSWER_S };
	struct sockaddr_un sun = { .sun_family = AF_UNIX };

	if (fd < 0)
		return err_set(e, ERR_SYS, "socket");
	if (strlen(path) >= sizeof(sun.sun_path))
		return err_set(e, ERR_NOTFOUND, "%s", path);
	memcpy(sun.sun_path, path, strlen(path) + 1);
	if (setsockopt(fd, SOL_SOCKET, SO_RCVTIMEO, &patience, sizeof(patience)) ||
	    setsockopt(fd, SOL_SOCKET, SO_SNDTIMEO, &patience, sizeof(patience)) ||
	    connect(fd, (const struct sockaddr *)&sun, sizeof(sun)))
		return err_set(e, ERR_NOTFOUND, "%s", path);
	*out = TAKE_FD(fd);
	return 0;
}

/* The process that the journal knows, and not one that took its place. */
static int
is_same(int fd, const struct identity *who)
{
	struct proc p = PROC_NONE;
	struct peer peer;
	struct err e;
	int same;

	if (fd_peer(fd, &peer, &e) || peer.uid != getuid() || peer.pid <= 0 ||
	    (uint64_t)peer.pid != who->supervisor_pid)
		return 0;
	same = proc_open_same(peer.pid, (int64_t)who->supervisor_start, &p, &e) == 0;
	proc_done(&p);
	return same;
}

/* ASK; its nonce comes back in a CHALLENGE. */
static int
ask_nonce(int fd, uint8_t nonce[NONCE_BYTES], struct err *e)
{
	static const uint8_t ask[] = { ATTACH_ASK };
	AUTO(buf) struct buf b;
	size_t none = 0;

	buf_init(&b, ATTACH_MAX);
	if (fd_send(fd, BYTES(ask), NULL, 0, e) || fd_recv(fd, &b, NULL, &none, e))
		return -1;
	if (b.n != 1 + NONCE_BYTES || b.p[0] != ATTACH_CHALLENGE)
		return err_set(e, ERR_FORMAT, "answer of a supervisor");
	memcpy(nonce, b.p + 1, NONCE_BYTES);
	return 0;
}

static int
find_alive(struct world *w, const struct id *session, const struct identity *who,
    struct found *f, struct err *e)
{
	AUTO(fd) int fd = -1;
	char path[PATH_BYTES_MAX + 1];

	attach_path(w, session, path, sizeof(path));
	if (connect_to(path, &fd, e))
		return -1;
	if (!is_same(fd, who))
		return err_set(e, ERR_NOTFOUND, "supervisor");
	if (ask_nonce(fd, f->nonce, e))
		return -1;
	f->kind = FOUND_ALIVE;
	auto_fd(&w->found_fd);
	w->found = *session;
	w->found_who = *who;
	w->found_fd = TAKE_FD(fd);
	return 0;
}

/* ---- or did it leave word? ----------------------------------------------- */

/*
 * <session>/outcome is the ENDED message that nobody took, <session>/manifest
 * what came with it.
 */
static int
read_outcome(struct world *w, int dir, struct channel_msg *m, struct err *e)
{
	buf_reset(&w->outcome);
	buf_reset(&w->outcome_manifest);
	if (fd_file(dir, "outcome", &w->outcome, e) ||
	    channel_decode(buf_bytes(&w->outcome), m, e))
		return -1;
	if (m->type != MSG_ENDED)
		return err_set(e, ERR_FORMAT, "outcome");
	return m->v[CF_FILES].p == NULL ? 0 :
	    fd_file(dir, "manifest", &w->outcome_manifest, e);
}

static int
find_outcome(struct world *w, const struct id *session, struct found *f,
    struct err *e)
{
	struct runtime rt = { .subject = *session };
	AUTO(fd) int dir = -1;
	char path[PATH_BYTES_MAX + 1];
	struct channel_msg m;

	session_dir(w, session, path, sizeof(path));
	if (fd_openat2(AT_FDCWD, path, O_RDONLY | O_DIRECTORY, 0,
	    RESOLVE_NO_SYMLINKS, &dir, e))
		return -1;
	if (read_outcome(w, dir, &m, e) ||
	    message_news(&rt, &m, buf_bytes(&w->outcome_manifest), &f->outcome, e))
		return -1;
	f->kind = FOUND_OUTCOME;
	return 0;
}

/* ---- or does something of it still run? ---------------------------------- */

/* 0 when nothing with that identity is left. */
static int
end_process(uint64_t pid, uint64_t start)
{
	AUTO(proc) struct proc p = PROC_NONE;
	struct err e;

	if (pid == 0 || pid > INT32_MAX ||
	    proc_open_same((pid_t)pid, (int64_t)start, &p, &e))
		return 0;
	if (proc_signal(&p, SIGKILL, &e))
		return 0;
	return proc_gone(&p, DEATH_MS) ? 0 : -1;
}

static void
know(struct proc *p, uint64_t pid, uint64_t start)
{
	struct err e;

	if (pid == 0 || pid > INT32_MAX ||
	    proc_open_same((pid_t)pid, (int64_t)start, p, &e))
		*p = PROC_NONE;
}

/* In uninterruptible sleep, say: it is never reported as ended before it has. */
static int
await_death(struct world *w, const struct id *session, const struct identity *who,
    struct found *f, struct err *e)
{
	struct runtime *rt = runtime_new(w, 0, session, e);

	if (rt == NULL)
		return -1;
	log_event(LOG_LEVEL_ERROR, "does_not_die", "pid=%llu",
	    (unsigned long long)who->init_pid);
	know(&rt->init, who->init_pid, who->init_start);
	runtime_bury(rt);
	f->kind = FOUND_DYING;
	return 0;
}

int
world_find(void *cookie, const struct id *session, const struct identity *who,
    struct found *f, struct err *e)
{
	struct world *w = cookie;
	char path[PATH_BYTES_MAX + 1];
	struct err why;

	memset(f, 0, sizeof(*f));
	f->kind = FOUND_NOTHING;
	if (who->this_boot) {
		if (find_alive(w, session, who, f, &why) == 0)
			return 0;
		log_event(LOG_LEVEL_WARN, "no_supervisor", "err=%s: %s",
		    err_name(why.code), why.msg);
	}
	if (who->this_boot && (end_process(who->supervisor_pid, who->supervisor_start) ||
	    end_process(who->init_pid, who->init_start)))
		return await_death(w, session, who, f, e);
	attach_path(w, session, path, sizeof(path));
	(void)unlink(path);
	if (find_outcome(w, session, f, &why))
		f->kind = FOUND_NOTHING;
	return 0;
}

/* ---- then it is ours again ----------------------------------------------- */

/* The receipt and the other end of a new channel, to whom we talked before. */
static int
hand_over(struct runtime *rt, int attach, const char *receipt, struct err *e)
{
	AUTO(fd) int theirs = -1;
	AUTO(buf) struct buf b;
	int pair[2];

	buf_init(&b, ATTACH_MAX);
	buf_put_u8(&b, ATTACH_ADOPT);
	buf_put_str(&b, receipt);
	if (buf_ok(&b, "receipt", e) || fd_pair(pair, e))
		return -1;
	rt->channel = pair[0];
	theirs = pair[1];
	return fd_nonblock(rt->channel, 1, e) ||
	    fd_send(attach, buf_bytes(&b), &theirs, 1, e) ||
	    runtime_listen(rt, e) ? -1 : 0;
}

int
world_adopt(struct world *w, const struct order *o, struct err *e)
{
	AUTO(fd) int attach = -1;
	struct runtime *rt = runtime_find(w, 0, &o->session);

	if (rt != NULL)
		return 0;
	if (w->found_fd < 0 || !id_eq(&w->found, &o->session))
		return err_set(e, ERR_PEER, "supervisor");
	attach = TAKE_FD(w->found_fd);
	if ((rt = runtime_new(w, 0, &o->session, e)) == NULL)
		return -1;
	know(&rt->supervisor, w->found_who.supervisor_pid,
	    w->found_who.supervisor_start);
	know(&rt->init, w->found_who.init_pid, w->found_who.init_start);
	if (hand_over(rt, attach, o->receipt, e)) {
		/* It went away meanwhile: that is news, not an error. */
		log_event(LOG_LEVEL_WARN, "not_adopted", "err=%s: %s",
		    err_name(e->code), e->msg);
		runtime_bury(rt);
	}
	return 0;
}
