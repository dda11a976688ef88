/* SPDX-License-Identifier: ISC */
/* effects_channel.c - the channels of the runtimes: what they say is news. */
#include <sys/epoll.h>

#include <errno.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/fd.h"
#include "base/log.h"

#include "cli/world_int.h"

enum { RETRY_US = 1000000, ACCURACY_US = 100000 };

struct runtime *
runtime_find(struct world *w, int worker, const struct id *subject)
{
	for (struct runtime *rt = w->runtimes; rt != NULL; rt = rt->next)
		if (rt->worker == worker && id_eq(&rt->subject, subject))
			return rt;
	return NULL;
}

struct runtime *
runtime_new(struct world *w, int worker, const struct id *subject, struct err *e)
{
	struct runtime *rt = calloc(1, sizeof(*rt));

	if (rt == NULL) {
		err_set_at(e, ERR_NOMEM, __FILE__, __LINE__, "runtime");
		return NULL;
	}
	rt->w = w;
	rt->worker = worker;
	rt->subject = *subject;
	rt->channel = -1;
	rt->msg.fd = -1;
	rt->supervisor = rt->init = PROC_NONE;
	buf_init(&rt->in, CHANNEL_MAX);
	buf_init(&rt->manifest, BLOB_MAX);
	rt->next = w->runtimes;
	w->runtimes = rt;
	return rt;
}

static void
hang_up(struct runtime *rt)
{
	rt->source = sd_event_source_disable_unref(rt->source);
	auto_fd(&rt->channel);
	rt->channel = -1;
}

void
runtime_free(struct runtime *rt)
{
	struct runtime **at = &rt->w->runtimes;

	while (*at != rt)
		at = &(*at)->next;
	*at = rt->next;
	hang_up(rt);
	rt->death = sd_event_source_disable_unref(rt->death);
	rt->retry = sd_event_source_disable_unref(rt->retry);
	rt->patience = sd_event_source_disable_unref(rt->patience);
	proc_done(&rt->supervisor);
	proc_done(&rt->init);
	buf_done(&rt->in);
	buf_done(&rt->manifest);
	free(rt);
}

void
runtime_ended(struct runtime *rt)
{
	struct channel_msg m;
	struct err e;

	channel_init(&m, MSG_DONE);
	if (rt->channel >= 0 && channel_send(rt->channel, &m, &e))
		log_event(LOG_LEVEL_INFO, "done_unheard", "err=%s", err_name(e.code));
	runtime_free(rt);
}

/* ---- telling the engine -------------------------------------------------- */

static int on_retry(sd_event_source *s, uint64_t usec, void *ctx);

/* The disk is full, say: what was said is kept and said again. */
static void
wait_and_retry(struct runtime *rt, const struct err *err)
{
	int rc;

	log_event(LOG_LEVEL_WARN, "news_waits", "err=%s: %s", err_name(err->code),
	    err->msg);
	rt->waiting = 1;
	if (rt->source != NULL)
		(void)sd_event_source_set_enabled(rt->source, SD_EVENT_OFF);
	rt->retry = sd_event_source_disable_unref(rt->retry);
	rc = sd_event_add_time_relative(rt->w->o.loop, &rt->retry, CLOCK_BOOTTIME,
	    RETRY_US, ACCURACY_US, on_retry, rt);
	if (rc < 0)
		log_event(LOG_LEVEL_ERROR, "no_timer", "err=%s", strerror(-rc));
}

/* It says what does not fit what the journal knows: it is not ours any more. */
static void
disown(struct runtime *rt, const struct err *err)
{
	log_event(LOG_LEVEL_WARN, "news_refused", "err=%s: %s", err_name(err->code),
	    err->msg);
	runtime_free(rt);
}

/* 0 if the engine took it; ${rt} may be gone if it did not. */
static int
tell(struct runtime *rt, const struct news *n)
{
	struct world *w = rt->w;
	struct err e;

	if (engine_news(w->en, n, clock_now(), &e) == 0) {
		rt->waiting = 0;
		rt->over = n->kind != NEWS_READY;
		w->o.wake(w->o.cookie);
		return 0;
	}
	if (e.code == ERR_JOURNAL || e.code == ERR_NOMEM)
		wait_and_retry(rt, &e);
	else
		disown(rt, &e);
	return -1;
}

static void
tell_lost(struct runtime *rt)
{
	struct news n = { .kind = rt->worker ? NEWS_WORKER_LOST : NEWS_LOST,
	    .subject = rt->subject };

	rt->lost = 1;
	/* It never came as far as its gate: it could not be built. */
	if (!rt->worker && rt->held) {
		n.kind = NEWS_FAILED;
		n.code = ERR_SANDBOX;
		n.text = STR("glove-sandbox ended without a word");
	}
	/* A worker has nothing more to wait for, whatever it was to do. */
	if (tell(rt, &n) == 0 && n.kind == NEWS_WORKER_LOST)
		runtime_free(rt);
}

static int
on_death(sd_event_source *s, int fd, uint32_t events, void *ctx)
{
	struct runtime *rt = ctx;

	(void)s;
	(void)fd;
	(void)events;
	rt->death = sd_event_source_disable_unref(rt->death);
	tell_lost(rt);
	return 0;
}

static int
on_nothing(sd_event_source *s, void *ctx)
{
	return on_death(s, -1, 0, ctx);
}

static void
forget_socket(const struct runtime *rt)
{
	char path[PATH_BYTES_MAX + 1];

	if (rt->worker)
		return;
	attach_path(rt->w, &rt->subject, path, sizeof(path));
	(void)unlink(path);
}

/*
 * The supervisor is gone without a word.  Its death ends the agent by itself;
 * see to it, and say so only when it is true.
 */
void
runtime_bury(struct runtime *rt)
{
	struct err e;
	int rc;

	hang_up(rt);
	/* It has said what it had to, and is let go of when that is durable. */
	if (rt->over)
		return;
	forget_socket(rt);
	if (rt->supervisor.pidfd >= 0)
		(void)!proc_signal(&rt->supervisor, SIGKILL, &e);
	if (rt->init.pidfd >= 0)
		(void)!proc_signal(&rt->init, SIGKILL, &e);
	rc = rt->init.pidfd < 0 ?
	    sd_event_add_defer(rt->w->o.loop, &rt->death, on_nothing, rt) :
	    sd_event_add_io(rt->w->o.loop, &rt->death, rt->init.pidfd, EPOLLIN,
	    on_death, rt);
	if (rc < 0)
		log_event(LOG_LEVEL_ERROR, "no_watch", "err=%s", strerror(-rc));
}

static int
on_patience(sd_event_source *s, uint64_t usec, void *ctx)
{
	struct runtime *rt = ctx;

	(void)s;
	(void)usec;
	log_event(LOG_LEVEL_WARN, "stop_unheard", "pid=%d", (int)rt->supervisor.pid);
	rt->patience = sd_event_source_disable_unref(rt->patience);
	if (rt->death == NULL)
		runtime_bury(rt);
	return 0;
}

void
runtime_hurry(struct runtime *rt, int64_t us)
{
	int rc;

	rt->patience = sd_event_source_disable_unref(rt->patience);
	rc = sd_event_add_time_relative(rt->w->o.loop, &rt->patience,
	    CLOCK_BOOTTIME, (uint64_t)us, ACCURACY_US, on_patience, rt);
	if (rc < 0)
		log_event(LOG_LEVEL_ERROR, "no_timer", "err=%s", strerror(-rc));
}

/* ---- messages ------------------------------------------------------------ */

/* The first process inside, so that it can be ended without its supervisor. */
static void
know_init(struct runtime *rt, const struct channel_msg *m)
{
	uint64_t pid = 0, start = 0;
	struct err e;

	if (channel_u64(m, CF_INIT_PID, &pid, &e) ||
	    channel_u64(m, CF_INIT_START, &start, &e) || pid == 0 || pid > INT32_MAX)
		return;
	proc_done(&rt->init);
	rt->init = PROC_NONE;
	if (proc_open_same((pid_t)pid, (int64_t)start, &rt->init, &e))
		rt->init = PROC_NONE;
}

static void
deliver(struct runtime *rt)
{
	struct news n;
	struct err e;

	/* An end with an error in it: the changes are there, but nobody knows
	 * what they are.  Where nothing ever ran there are none. */
	rt->counted = rt->msg.type == MSG_FAILED ||
	    rt->msg.v[CF_CODE].p == NULL;
	if (message_news(rt, &rt->msg, buf_bytes(&rt->manifest), &n, &e)) {
		log_event(LOG_LEVEL_WARN, "bad_message", "type=%d err=%s: %s",
		    rt->msg.type, err_name(e.code), e.msg);
		runtime_bury(rt);
		return;
	}
	(void)tell(rt, &n);
}

static int
on_retry(sd_event_source *s, uint64_t usec, void *ctx)
{
	struct runtime *rt = ctx;

	(void)s;
	(void)usec;
	rt->waiting = 0;
	if (rt->source != NULL)
		(void)sd_event_source_set_enabled(rt->source, SD_EVENT_ON);
	if (rt->lost)
		tell_lost(rt);
	else
		deliver(rt);
	return 0;
}

static int
on_channel(sd_event_source *s, int fd, uint32_t events, void *ctx)
{
	struct runtime *rt = ctx;
	struct err e;

	(void)s;
	(void)events;
	if (channel_recv(fd, &rt->in, &rt->msg, &e)) {
		if (e.code == ERR_AGAIN)
			return 0;
		if (e.code != ERR_PEER)
			log_event(LOG_LEVEL_WARN, "bad_channel", "err=%s: %s",
			    err_name(e.code), e.msg);
		runtime_bury(rt);
		return 0;
	}
	if (rt->msg.type == MSG_READY || rt->msg.type == MSG_STATE)
		know_init(rt, &rt->msg);
	buf_reset(&rt->manifest);
	if (rt->msg.fd >= 0 &&
	    manifest_read(TAKE_FD(rt->msg.fd), &rt->manifest, &e)) {
		log_event(LOG_LEVEL_WARN, "bad_manifest", "err=%s: %s",
		    err_name(e.code), e.msg);
		runtime_bury(rt);
		return 0;
	}
	if (rt->msg.type != MSG_STATE)
		deliver(rt);
	return 0;
}

int
runtime_listen(struct runtime *rt, struct err *e)
{
	int rc = sd_event_add_io(rt->w->o.loop, &rt->source, rt->channel, EPOLLIN,
	    on_channel, rt);

	if (rc < 0) {
		errno = -rc;
		return err_set(e, ERR_SYS, "event loop");
	}
	return 0;
}

int
manifest_read(int fd, struct buf *b, struct err *e)
{
	AUTO(fd) int own = fd;

	/* A memory file whose offset may be anywhere. */
	if (lseek(own, 0, SEEK_SET) < 0)
		return err_set(e, ERR_SYS, "manifest");
	return fd_read_all(own, b, e);
}
