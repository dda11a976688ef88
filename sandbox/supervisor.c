/* SPDX-License-Identifier: ISC */
/*
 * supervisor.c - one loop for one session; the invariants are in supervisor.h.
 */
#include <errno.h>
#include <fcntl.h>
#include <linux/openat2.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/timerfd.h>
#include <unistd.h>

#include "base/fd.h"
#include "base/log.h"
#include "base/text.h"
#include "sandbox/binding.h"
#include "sandbox/self.h"
#include "sandbox/supervisor_impl.h"
#include "sandbox/supervisor.h"
#include "sandbox/worktree.h"

static void
log_err(const char *event, const struct err *e)
{
	log_event(LOG_LEVEL_WARN, event, "err=%s: %s", err_name(e->code),
	    e->msg);
}

static int
identity(struct supervisor *s, struct channel_msg *m, struct err *e)
{
	int64_t ticks;

	if (proc_start_ticks(getpid(), &ticks, e))
		return -1;
	channel_set_u64(m, CF_PID, (uint64_t)getpid());
	channel_set_u64(m, CF_START_TICKS, (uint64_t)ticks);
	channel_set_u64(m, CF_INIT_PID, (uint64_t)s->box.init.pid);
	channel_set_u64(m, CF_INIT_START, (uint64_t)s->box.init.start_ticks);
	channel_set_u64(m, CF_PIDNS, s->box.pidns);
	return 0;
}

static int
say_ready(struct supervisor *s, struct err *e)
{
	struct channel_msg m;
	AUTO(buf) struct buf binding;
	AUTO(buf) struct buf found;

	buf_init(&binding, CHANNEL_MAX / 2);
	buf_init(&found, CHANNEL_MAX / 4);
	self_put(&found, s->box.found, s->box.abi);
	if (grants_nonce(s->nonce, e) ||
	    binding_put(&binding, s->l, s->common, e) ||
	    buf_ok(&found, "self-test", e))
		return -1;
	channel_init(&m, MSG_READY);
	channel_set(&m, CF_NONCE, BYTES(s->nonce));
	channel_set(&m, CF_BINDING, buf_bytes(&binding));
	channel_set(&m, CF_ENFORCED, buf_bytes(&found));
	return identity(s, &m, e) || channel_send(s->channel, &m, e) ? -1 : 0;
}

static void
say_failed(struct supervisor *s, const struct err *why)
{
	struct channel_msg m;
	AUTO(buf) struct buf text;
	struct err e;

	buf_init(&text, 1024);
	escape_put(&text, str_of(why->msg), 640);
	if (why->why[0] != '\0') {
		buf_put_str(&text, ": ");
		escape_put(&text, str_of(why->why), 320);
	}
	channel_init(&m, MSG_FAILED);
	channel_set_u64(&m, CF_CODE, (uint64_t)why->code);
	channel_set(&m, CF_TEXT, buf_bytes(&text));
	if (s->channel >= 0 && channel_send(s->channel, &m, &e))
		log_err("not_heard", &e);
}

int
supervisor_adopt(struct supervisor *s, int fd, struct err *e)
{
	struct channel_msg m;

	auto_fd(&s->channel);
	s->channel = fd;
	s->orphan_boot_us = 0;
	channel_init(&m, MSG_STATE);
	channel_set_u64(&m, CF_STATE, (uint64_t)s->stage);
	if (identity(s, &m, e) || channel_send(s->channel, &m, e))
		return -1;
	if (s->stage == ENDED)
		supervisor_end(s);
	return 0;
}

void
supervisor_stop(struct supervisor *s, int cause, int64_t grace_us)
{
	const int64_t due = clock_now().boot_us + grace_us;
	struct err e;

	if (s->stage == ENDED)
		return;
	if (s->cause == 0)
		s->cause = cause;
	if (s->stage != RUNNING || grace_us <= 0) {
		/* Held at the gate there is nobody to be asked politely. */
		if (s->stage != STOPPING || grace_us <= 0) {
			s->signals |= 2;
			box_kill(&s->box);
		} else if (due < s->kill_boot_us)
			s->kill_boot_us = due;
		s->stage = STOPPING;
		return;
	}
	s->stage = STOPPING;
	s->kill_boot_us = due;
	s->signals |= 1;
	if (box_term(&s->box, &e)) {
		s->signals |= 2;
		box_kill(&s->box);
	}
}

/* Invariant 2. */
static void
open_gate(struct supervisor *s, const struct channel_msg *m)
{
	AUTO(committed) struct committed *proof = NULL;
	struct bytes receipt;
	struct flow *f;
	struct err e;

	if (s->stage != HELD)
		return;
	if (channel_get(m, CF_RECEIPT, &receipt, &e) ||
	    grants_take(&s->grants, (struct str){ (const char *)receipt.p,
	    receipt.n }, MACHINE_SESSION, SESSION_EV_gate_open, s->nonce,
	    &proof, &e) ||
	    box_release(&s->box, &e)) {
		log_err("gate_refused", &e);
		supervisor_stop(s, CAUSE_FAILED, 0);
		return;
	}
	s->stage = RUNNING;
	s->opened = clock_now();
	/* Nobody will come to give it input: then it has none. */
	if (!s->l->wait_client && !s->l->terminal &&
	    (f = flow_find(s, 0)) != NULL) {
		f->eof = 1;
		flow_input(f, (struct bytes){ NULL, 0 });
	}
}

/* A grant needs a proof, taking away does not: only an earlier end counts. */
static void
shorten(struct supervisor *s, const struct channel_msg *m)
{
	uint64_t real, boot;
	struct err e;

	if (channel_u64(m, CF_ENDS_REAL_US, &real, &e) ||
	    channel_u64(m, CF_ENDS_BOOT_US, &boot, &e))
		return;
	if (s->ends_real_us == 0 || (int64_t)real < s->ends_real_us)
		s->ends_real_us = (int64_t)real;
	if (s->ends_boot_us == 0 || (int64_t)boot < s->ends_boot_us)
		s->ends_boot_us = (int64_t)boot;
}

static void
orphaned(struct supervisor *s)
{
	const int64_t grace = s->stage == BUILDING || s->stage == HELD ? 0 :
	    s->l->orphan_grace_us;

	auto_fd(&s->channel);
	s->channel = -1;
	if (s->done)
		return;
	s->orphan_boot_us = clock_now().boot_us + grace;
	/* Nobody has said that they have it: invariant 5. */
	if (s->stage == ENDED)
		supervisor_end(s);
}

void
supervisor_hear(struct supervisor *s)
{
	struct channel_msg m;
	uint64_t cause = 0, grace = 0;
	struct err e;

	if (channel_recv(s->channel, &s->in, &m, &e)) {
		if (e.code != ERR_AGAIN)
			orphaned(s);
		return;
	}
	auto_fd(&m.fd);
	switch (m.type) {
	case MSG_GATE:
		open_gate(s, &m);
		break;
	case MSG_STOP:
		if (channel_u64(&m, CF_CAUSE, &cause, &e) ||
		    cause >= CAUSE_END)
			cause = CAUSE_STOPPED;
		if (channel_u64(&m, CF_GRACE_US, &grace, &e) ||
		    grace > INT64_MAX / 4)
			grace = 0;
		supervisor_stop(s, (int)cause, (int64_t)grace);
		break;
	case MSG_DEADLINE:
		shorten(s, &m);
		break;
	case MSG_DONE:
		if (s->stage == ENDED) {
			s->done = 1;
			supervisor_forget_outcome(s);
		}
		break;
	default:
		break;
	}
}

/* What was consented to; at the end it may be elsewhere, or nowhere. */
static int
open_workspace(struct supervisor *s, struct err *e)
{
	const struct launch *l = s->l;
	struct stat st;

	if (fd_openat2(AT_FDCWD, l->workspace, O_RDONLY | O_DIRECTORY, 0,
	    RESOLVE_NO_SYMLINKS, &s->lower, e))
		return err_wrap(e, "workspace");
	if (fstat(s->lower, &st) != 0)
		return err_set(e, ERR_SYS, "%s", l->workspace);
	if (st.st_dev != l->workspace_dev || st.st_ino != l->workspace_ino)
		return err_say(e, ERR_STALE,
		    "%s is no longer the directory that was exposed",
		    l->workspace);
	return 0;
}

static int
build(struct supervisor *s, struct err *e)
{
	AUTO(committed) struct committed *intent = NULL;

	/* Invariant 1. */
	if (grants_take(&s->grants, str_of(s->l->receipt), MACHINE_SESSION,
	    SESSION_EV_start_intent, NULL, &intent, e) ||
	    (s->l->mode == MODE_STAGED && open_workspace(s, e)) ||
	    worktree_common(s->l->workspace, &s->common, e))
		return -1;
	s->mounted = clock_now();
	if (box_open(s->l, &s->box, e))
		return -1;
	if (flow_new(s, 0, s->box.out, s->box.nout) == NULL)
		return err_set(e, ERR_BUG, "no room for the agent");
	s->box.nout = 0;
	s->box.out[0] = s->box.out[1] = s->box.out[2] = -1;
	if (say_ready(s, e))
		return -1;
	s->stage = HELD;
	return 0;
}

static int
prepare(struct supervisor *s, const struct launch *l, struct err *e)
{
	s->l = l;
	s->box = BOX_NONE;
	s->lower = -1;
	s->boot.fd = timerfd_create(CLOCK_BOOTTIME, TFD_CLOEXEC |
	    TFD_NONBLOCK);
	s->real.fd = timerfd_create(CLOCK_REALTIME, TFD_CLOEXEC |
	    TFD_NONBLOCK);
	s->ends_real_us = l->ends_real_us;
	s->ends_boot_us = l->ends_boot_us;
	buf_init(&s->in, CHANNEL_MAX);
	buf_init(&s->backlog, BACKLOG_MAX);
	buf_init(&s->screen, ATTACH_DATA_MAX);
	for (int i = 0; i < ATTACHED_MAX; i++)
		s->client[i].fd = -1;
	if (s->boot.fd < 0 || s->real.fd < 0)
		return err_set(e, ERR_SYS, "timerfd_create");
	/* A client or an agent that goes away must not take us along. */
	if (signal(SIGPIPE, SIG_IGN) == SIG_ERR)
		return err_set(e, ERR_SYS, "signal");
	/* Once more, by us: whoever connects sees this process as its peer, and
	 * so can the next gloved tell it from a stranger (unix(7)). */
	if (listen(s->listener, SOMAXCONN) != 0)
		return err_set(e, ERR_SYS, "listen");
	return grants_init(&s->grants, l, e) ||
	    fd_nonblock(s->channel, 1, e) ||
	    fd_nonblock(s->listener, 1, e) ? -1 : 0;
}

static void
finish(struct supervisor *s)
{
	for (int i = 0; i < JOBS_MAX; i++)
		if (s->flow[i].used)
			flow_done(&s->flow[i]);
	for (int i = 0; i < ATTACHED_MAX; i++) {
		auto_fd(&s->client[i].fd);
		buf_done(&s->client[i].out);
	}
	box_done(&s->box);
	auto_fd(&s->lower);
	auto_fd(&s->channel);
	auto_fd(&s->boot.fd);
	auto_fd(&s->real.fd);
	free(s->common);
	buf_done(&s->in);
	buf_done(&s->backlog);
	buf_done(&s->screen);
	if (s->l->attach_path != NULL)
		(void)unlink(s->l->attach_path);
	free(s);
}

int
supervisor_run(const struct launch *l, int channel, int listener,
    struct err *e)
{
	struct supervisor *s = calloc(1, sizeof(*s));
	int r;

	if (s == NULL)
		return err_set(e, ERR_NOMEM, "session");
	s->channel = channel;
	s->listener = listener;
	if ((r = prepare(s, l, e)) == 0) {
		if ((r = build(s, e)) != 0)
			say_failed(s, e);
		else
			r = supervisor_loop(s, e);
	}
	finish(s);
	return r;
}
