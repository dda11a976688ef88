/* SPDX-License-Identifier: ISC */
#ifndef SANDBOX_SUPERVISOR_IMPL_H
#define SANDBOX_SUPERVISOR_IMPL_H

#include <poll.h>

#include "base/clock.h"
#include "sandbox/attach.h"
#include "sandbox/box.h"
#include "sandbox/channel.h"
#include "sandbox/grant.h"
#include "sandbox/osc.h"

/* The insides of a supervisor: supervisor.c, loop.c, end.c, client.c,
 * attach.c, flow.c. */

enum {
	ATTACHED_MAX	= 16,		/* clients of one session at once */
	BEHIND_MAX	= 256 << 10,	/* bytes a client may lag, then the agent waits */
	INPUT_MAX	= 128 << 10,	/* bytes on their way to a job */
	BACKLOG_MAX	= 64 << 10,	/* last output, for who attaches later */
	LINGER_US	= 30 * 1000000,	/* at the end, for a client to read */
	COME_US		= 5 * 1000000,	/* for the first client to come */
	TOLD_US		= 5 * 1000000	/* at the end, until clients hear "not recorded" */
};

enum stage { BUILDING, HELD, RUNNING, STOPPING, ENDED };	/* as in STATE */

/* A job's standard descriptors and what is under way to it. */
struct flow {
	int		 used;
	unsigned	 job;		/* 0: the agent */
	int		 out[3];	/* terminal, or pipes: in, out, err */
	int		 terminal;
	struct osc	 osc;
	struct buf	 input;
	int		 eof;		/* no more input after that */
	int		 over;		/* it exited; status */
	int		 status;
};

struct client {
	int		 fd;		/* -1: free */
	int		 joined;	/* sees ${job} */
	int		 waiting;	/* for ${job} to start */
	int		 first;		/* the one that `glove run` is */
	int		 read_only;
	int		 leaving;	/* close when everything is sent */
	int		 broken;	/* gone, or too far behind */
	int		 asked;		/* ${nonce} is out */
	unsigned	 job;
	uint8_t		 nonce[32];
	struct buf	 out;		/* u32 length, message; repeated */
};

struct alarm {
	int		 fd;		/* timerfd */
	int64_t		 at_us;		/* what it is set to; 0: it is not */
};

struct supervisor {
	const struct launch *l;
	struct grants	 grants;
	uint8_t		 nonce[32];
	int		 channel;	/* -1: gloved is gone */
	int		 listener;
	struct box	 box;
	char		*common;	/* see worktree.h */
	int		 lower;		/* the workspace, wherever it may go */
	struct buf	 in;		/* messages of the channel */
	enum stage	 stage;

	struct now	 mounted, opened, ended;
	int64_t		 ends_real_us, ends_boot_us;
	int64_t		 kill_boot_us;	/* 0: not due */
	int64_t		 orphan_boot_us;
	struct alarm	 boot, real;

	int		 cause;		/* enum end_cause, 0: not yet */
	int		 heard;		/* the agent's status is known */
	int		 status;
	uint64_t	 signals;
	int		 done;		/* the end is on record */
	int		 told;		/* clients know of the end */
	int		 came;		/* the first client was here */

	unsigned	 next_job;
	struct buf	 backlog;
	struct buf	 screen;	/* a piece of output, filtered */
	struct flow	 flow[JOBS_MAX];
	struct client	 client[ATTACHED_MAX];
};

/* supervisor.c */
void supervisor_stop(struct supervisor *s, int cause, int64_t grace_us);
/* supervisor_adopt(s, fd, e): from now on ${fd} leads to gloved. */
int supervisor_adopt(struct supervisor *s, int fd, struct err *e) MUST_CHECK;

/* supervisor_hear(s): one message of gloved. */
void supervisor_hear(struct supervisor *s);

/* loop.c: until nothing is left and everybody has heard. */
int supervisor_loop(struct supervisor *s, struct err *e) MUST_CHECK;

/* end.c: say that it is over, with what it changed; or write it down. */
void supervisor_end(struct supervisor *s);
/* supervisor_notices(s, c): what a person should know at the end. */
void supervisor_notices(const struct supervisor *s, struct client *c);
void supervisor_forget_outcome(const struct supervisor *s);

/* flow.c */
struct flow *flow_new(struct supervisor *s, unsigned job, const int *fds,
    size_t n);
void flow_done(struct flow *f);
size_t flow_poll(struct supervisor *s, struct pollfd *p, size_t room);
void flow_serve(struct supervisor *s, const struct pollfd *p, size_t n);
void flow_input(struct flow *f, struct bytes b);
void flow_resize(const struct flow *f, uint16_t rows, uint16_t cols);
struct flow *flow_find(struct supervisor *s, unsigned job);
/* flow_rest(s, f): read what is there now; 0 if a client is too far behind. */
int flow_rest(struct supervisor *s, struct flow *f);
int flow_drained(const struct flow *f);	/* nothing more will come out */

/* client.c */
void client_accept(struct supervisor *s);
/* attach.c: one message of it; the reason to drop it, if it fails. */
int client_hear(struct supervisor *s, struct client *c, struct err *e)
    MUST_CHECK;
void client_serve(struct supervisor *s, struct client *c, short events);
void client_say(struct client *c, int code, struct bytes b);
void client_exit(struct client *c, int cause, int status, int recorded);
void client_refuse(struct client *c, const struct err *e);
void client_drop(struct supervisor *s, struct client *c);
short client_wants(struct supervisor *s, const struct client *c);

#endif
