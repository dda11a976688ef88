/* SPDX-License-Identifier: ISC */
#ifndef TESTS_LIB_PLAYED_H
#define TESTS_LIB_PLAYED_H

#include "base/clock.h"
#include "base/fd.h"
#include "base/proc.h"
#include "sandbox/attach.h"
#include "sandbox/changes.h"
#include "sandbox/channel.h"
#include "sandbox/supervisor.h"

/*
 * A supervisor in a process of its own, with gloved and its clients played by
 * the test.  The log has one key, and as many records as are asked for.
 * Failures fail the running test.
 */
enum { PLAYED_WAIT_MS = 10000 };

struct played {
	char		 dir[64], ws[96], state[96], sock[96];
	uint8_t		 pub[PUB_BYTES], sec[SEC_BYTES];
	char		 origin[ORIGIN_MAX];
	uint64_t	 next;		/* index of the next record */
	char		 intent[RECEIPT_MAX / 8];
	struct launch	 l;
	const char	*argv[4];
	pid_t		 pid;		/* the supervisor */
	int		 channel;
	struct buf	 in;
	struct channel_msg ready;
	uint8_t		 nonce[32];
	struct proc	 init;
	uint8_t		 command[SHA256_BYTES];	/* the next receipt orders it ... */
	int		 orders;		/* ... if this is 1 */
};

/* played_order: the next receipt is for that command */
void played_order(struct played *w, const char *const *argv, size_t argc);
/* played_receipt: of an event of the session, answering ${nonce} or NULL */
void played_receipt(struct played *w, int event, const uint8_t *nonce,
    struct buf *out);
void played_run(const char *fmt, ...)
    __attribute__((format(printf, 1, 2)));
/* played_setup: cmocka fixtures */
int played_setup(void **state);
int played_teardown(void **state);
/* played_launch: as gloved does it; the agent is bash with that script */
void played_launch(struct played *w, const char *script);
void played_readable(int fd);
/* played_hear: one message of that type */
void played_hear(struct played *w, int type, struct channel_msg *m);
uint64_t played_number(const struct channel_msg *m, int tag);
/* played_await_ready: and remember its nonce and its first process */
void played_await_ready(struct played *w);
void played_say(struct played *w, int type, int tag, struct bytes v);
void played_open_gate(struct played *w);
/* played_start: launch, await, open the gate */
void played_start(struct played *w, const char *script);
/* played_finish: DONE, and nothing may be left */
void played_finish(struct played *w);
/* played_ran: 1 if the script made a file of that name */
int played_ran(const struct played *w);
void played_until_it_runs(const struct played *w);
int played_dial(const struct played *w);
void played_tell(int s, const void *p, size_t n);
/* played_first: be the client that `glove run` is */
void played_first(const struct played *w, int s);
/* played_listen_to: all output until the end, and the last message */
size_t played_listen_to(int s, char *out, size_t max, uint8_t last[8]);

#endif
