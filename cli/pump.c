/* SPDX-License-Identifier: ISC */
/*
 * pump.c - one loop over the socket, the three descriptors and the signals.
 *
 *	1. Nothing is read while what was read before is still unwritten, in
 *	   either direction: memory is bounded and a slow reader slows the agent.
 *	2. No write blocks: a signal is acted on at once, even if nobody reads.
 *	3. The terminal is taken when the other side listens, and given back last.
 */
#include <errno.h>
#include <poll.h>
#include <signal.h>
#include <string.h>
#include <sys/signalfd.h>
#include <sys/socket.h>

#include "base/fd.h"
#include "base/text.h"
#include "cli/pump.h"
#include "cli/pump_refused.h"
#include "cli/term.h"
#include "lifecycle/machine.h"
#include "sandbox/attach.h"

enum {
	DETACH_KEY = 0x1d,	/* Ctrl-] */
	WRITE_STEP = 4096,	/* poll() promises that much for a pipe */
	NOTICE_MAX = 1024
};

struct state {
	const struct pump *p;
	struct term	 term;
	int		 sigfd;
	sigset_t	 ours;
	struct buf	 send;		/* the message that goes out next */
	struct buf	 out;		/* what has to be written to outfd */
	int		 outfd;
	uint8_t		*in;		/* ATTACH_MAX + 1 bytes */
	int		 welcome;	/* it listens to us */
	int		 eof;		/* 1: seen, 2: told */
	int		 key;		/* the detach key was typed just before */
	int		 resize;
	int		 signals;	/* a bit for each to pass on */
	int		 told_to_go;	/* SIGTERM, SIGHUP so far */
	int		 detach;
	int		 deaf;		/* the other side takes nothing more */
	int		 done;
	struct pump_end	 end;
};

/* What was ignored when we were started stays so (nohup, a shell's &). */
static void
add_signal(sigset_t *set, int sig)
{
	struct sigaction sa;

	if (sigaction(sig, NULL, &sa) == 0 && sa.sa_handler != SIG_IGN)
		(void)sigaddset(set, sig);
}

static int
take_signals(struct state *s, sigset_t *before, struct err *e)
{
	(void)sigemptyset(&s->ours);
	add_signal(&s->ours, SIGINT);
	add_signal(&s->ours, SIGTERM);
	add_signal(&s->ours, SIGHUP);
	add_signal(&s->ours, SIGQUIT);
	(void)sigaddset(&s->ours, SIGWINCH);
	if (s->p->terminal) {
		(void)sigaddset(&s->ours, SIGTSTP);
		(void)sigaddset(&s->ours, SIGCONT);
	}
	if (sigprocmask(SIG_BLOCK, &s->ours, before) != 0 ||
	    (s->sigfd = signalfd(-1, &s->ours, SFD_CLOEXEC | SFD_NONBLOCK)) < 0)
		return err_set(e, ERR_SYS, "signals");
	return 0;
}

static void
leave(struct state *s, int sig)
{
	s->end.how = PUMP_LEFT;
	s->end.signal = sig;
	s->done = 1;
}

/* Stopped from outside: the shell gets its terminal meanwhile. */
static void
stop_ourselves(struct state *s)
{
	int fd = s->term.fd;
	struct err ignore;

	term_give(&s->term);
	(void)raise(SIGSTOP);
	if (fd >= 0)
		(void)!term_take(&s->term, fd, &ignore);
	s->resize = 1;
}

static void
one_signal(struct state *s, int sig)
{
	int go = s->p->read_only;

	switch (sig) {
	case SIGWINCH:
		s->resize = s->term.fd >= 0;
		return;
	case SIGTSTP:
		stop_ourselves(s);
		return;
	case SIGCONT:
		term_again(&s->term);
		s->resize = 1;
		return;
	case SIGHUP:
	case SIGTERM:
		/* A terminal that hung up is gone; a pipe's child is told first. */
		go = go || s->p->terminal || s->told_to_go++ > 0;
		break;
	default:
		break;
	}
	if (go)
		leave(s, sig);
	else
		s->signals |= 1 << sig;
}

static void
read_signals(struct state *s)
{
	struct signalfd_siginfo si;

	while (read(s->sigfd, &si, sizeof(si)) == (ssize_t)sizeof(si))
		one_signal(s, (int)si.ssi_signo);
}

/* Bytes typed at a terminal: look for the detach key. */
static void
typed(struct state *s, const uint8_t *p, size_t n)
{
	for (size_t i = 0; i < n; i++) {
		if (s->key) {
			s->key = 0;
			if (p[i] == 'd') {
				s->detach = 1;
				return;
			}
			buf_put_u8(&s->send, DETACH_KEY);
			if (p[i] != DETACH_KEY)
				buf_put_u8(&s->send, p[i]);
		} else if (p[i] == DETACH_KEY) {
			s->key = 1;
		} else {
			buf_put_u8(&s->send, p[i]);
		}
	}
}

static void
read_input(struct state *s)
{
	/* Twice as long at most, when every other byte is the key. */
	ssize_t n = read(0, s->in, ATTACH_DATA_MAX / 2);

	if (n < 0 && (errno == EINTR || errno == EAGAIN))
		return;
	if (n <= 0) {
		s->eof = 1;
		/* A terminal that has gone away has no more to say to us. */
		if (s->p->terminal)
			leave(s, SIGHUP);
		return;
	}
	buf_put_u8(&s->send, ATTACH_INPUT);
	if (s->p->terminal)
		typed(s, s->in, (size_t)n);
	else
		buf_put(&s->send, s->in, (size_t)n);
	if (s->send.n == 1 || s->p->read_only)
		buf_reset(&s->send);
}

/* Nothing is waiting to be sent: what comes next? */
static void
next_message(struct state *s)
{
	uint16_t rows, cols;

	if (s->signals != 0) {
		int sig = __builtin_ctz((unsigned)s->signals);

		s->signals &= s->signals - 1;
		buf_put_u8(&s->send, ATTACH_SIGNAL);
		buf_put_u8(&s->send, (uint8_t)sig);
	} else if (s->resize) {
		s->resize--;
		term_size(0, &rows, &cols);
		/* Another size first, so that the program inside draws anew. */
		if (s->resize > 0)
			rows = (uint16_t)(rows > 1 ? rows - 1 : 2);
		buf_put_u8(&s->send, ATTACH_RESIZE);
		buf_put_u16(&s->send, rows);
		buf_put_u16(&s->send, cols);
	} else if (s->eof == 1 && !s->p->read_only) {
		s->eof = 2;
		buf_put_u8(&s->send, ATTACH_EOF);
	} else if (s->detach) {
		buf_put_u8(&s->send, ATTACH_DETACH);
	}
}

static void
send_message(struct state *s)
{
	ssize_t n = send(s->p->sock, s->send.p, s->send.n,
	    MSG_DONTWAIT | MSG_NOSIGNAL);

	if (n < 0 && (errno == EAGAIN || errno == EINTR))
		return;
	/* It may have said its last word, which we have yet to read. */
	if (n < 0)
		s->deaf = 1;
	if (n > 0 && s->send.p[0] == ATTACH_DETACH) {
		s->end.how = PUMP_DETACHED;
		s->done = 1;
	}
	buf_reset(&s->send);
}

static void
notice(struct state *s, struct bytes text)
{
	if (s->p->quiet)
		return;
	s->outfd = 2;
	buf_put_str(&s->out, "glove: ");
	escape_put(&s->out, (struct str){ (const char *)text.p, text.n },
	    NOTICE_MAX);
	buf_put_str(&s->out, s->term.fd >= 0 ? "\r\n" : "\n");
}

/* If it has three pipes, our terminal stays as it is. */
static int
welcome(struct state *s, int terminal, struct err *e)
{
	s->welcome = 1;
	if (!terminal || !s->p->terminal || s->term.fd >= 0)
		return 0;
	if (term_take(&s->term, 0, e))
		return -1;
	s->resize = s->p->redraw ? 2 : 1;
	return 0;
}

static int
message(struct state *s, struct bytes m, struct err *e)
{
	struct cur c = cur_of(m);
	int code = cur_u8(&c);

	switch (code) {
	case ATTACH_OUTPUT:
	case ATTACH_ERRORS:
		s->outfd = code == ATTACH_OUTPUT ? 1 : 2;
		buf_put(&s->out, c.p, c.n);
		if (s->term.fd >= 0)
			term_watch(&s->term, (struct bytes){ c.p, c.n });
		return buf_ok(&s->out, "output", e);
	case ATTACH_NOTICE:
		notice(s, (struct bytes){ c.p, c.n });
		return 0;
	case ATTACH_WELCOME:
		return welcome(s, cur_u8(&c), e);
	case ATTACH_EXIT:
		s->end.how = PUMP_EXIT;
		s->end.cause = cur_u8(&c);
		s->end.status = cur_u16(&c);
		s->end.recorded = cur_u8(&c);
		s->done = 1;
		return c.failed ? err_set(e, ERR_FORMAT, "the end of the session")
		    : 0;
	case ATTACH_REFUSED:
		return pump_refused(m, e);
	default:
		return err_set(e, ERR_FORMAT, "message %d of the session", code);
	}
}

static int
read_message(struct state *s, struct err *e)
{
	ssize_t n = recv(s->p->sock, s->in, ATTACH_MAX + 1, MSG_DONTWAIT);

	if (n < 0 && (errno == EAGAIN || errno == EINTR))
		return 0;
	if (n <= 0)
		return err_say(e, ERR_PEER,
		    "the session's supervisor went away without a word");
	if (n > ATTACH_MAX)
		return err_set(e, ERR_FORMAT, "message of the session");
	return message(s, bytes_of(s->in, (size_t)n), e);
}

static int
write_output(struct state *s, struct err *e)
{
	size_t want = s->out.n < WRITE_STEP ? s->out.n : WRITE_STEP;
	ssize_t n = write(s->outfd, s->out.p, want);

	if (n >= 0) {
		buf_drop(&s->out, (size_t)n);
		return 0;
	}
	if (errno == EINTR || errno == EAGAIN)
		return 0;
	/* Nobody reads any more: as if SIGPIPE had ended us. */
	if (errno == EPIPE) {
		buf_reset(&s->out);
		leave(s, SIGPIPE);
		return 0;
	}
	return err_set(e, ERR_SYS, "output");
}

static int
turn(struct state *s, struct err *e)
{
	struct pollfd p[4] = {
		{ .fd = s->sigfd, .events = POLLIN },
		{ .fd = s->p->sock },
		{ .fd = -1, .events = POLLIN },
		{ .fd = -1, .events = POLLOUT },
	};

	if (s->send.n == 0 && s->welcome && !s->deaf)
		next_message(s);
	if (s->out.n == 0)
		p[1].events |= POLLIN;
	else
		p[3].fd = s->outfd;
	if (s->send.n > 0)
		p[1].events |= POLLOUT;
	else if (s->welcome && !s->eof && !s->deaf)
		p[2].fd = 0;
	/* A hang-up is always reported: look away while we cannot read. */
	if (p[1].events == 0)
		p[1].fd = -1;
	if (poll(p, 4, -1) < 0)
		return errno == EINTR ? 0 : err_set(e, ERR_SYS, "poll");
	if (p[0].revents != 0)
		read_signals(s);
	if (!s->done && p[3].revents != 0 && write_output(s, e))
		return -1;
	if (!s->done && s->send.n > 0 && (p[1].revents & (POLLOUT | POLLHUP)))
		send_message(s);
	if (!s->done && s->out.n == 0 && (p[1].revents & (POLLIN | POLLHUP)) &&
	    read_message(s, e))
		return -1;
	if (!s->done && s->send.n == 0 && p[2].revents != 0)
		read_input(s);
	return 0;
}

int
pump_run(const struct pump *p, struct pump_end *end, struct err *e)
{
	struct state s = { .p = p, .term = TERM_NONE, .sigfd = -1 };
	sigset_t before;
	int rc;

	buf_init(&s.send, ATTACH_MAX);
	buf_init(&s.out, ATTACH_MAX + NOTICE_MAX + 16);
	if ((s.in = malloc(ATTACH_MAX + 1)) == NULL)
		return err_set(e, ERR_NOMEM, "session");
	rc = take_signals(&s, &before, e);
	if (rc == 0) {
		while (rc == 0 && !s.done)
			rc = turn(&s, e);
		term_give(&s.term);
		(void)close(s.sigfd);
		(void)sigprocmask(SIG_SETMASK, &before, NULL);
	}
	if (rc == 0)
		*end = s.end;
	buf_done(&s.send);
	buf_done(&s.out);
	free(s.in);
	return rc;
}
