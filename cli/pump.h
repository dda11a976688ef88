/* SPDX-License-Identifier: ISC */
#ifndef CLI_PUMP_H
#define CLI_PUMP_H

#include <stdint.h>

#include "base/buf.h"

/*
 * Between the standard descriptors of `glove run`, `attach` and `exec` and the
 * attach socket of a session (sandbox/attach.def).
 */

/* attach_open(path, fd, e): connect; PEER if the session is over. */
int attach_open(const char *path, int *fd, struct err *e) MUST_CHECK;
/* attach_send: one message that must go out whole. */
int attach_send(int fd, const struct buf *message, struct err *e) MUST_CHECK;
/* attach_ask(fd, nonce, e): ask for the nonce of a request to gloved. */
int attach_ask(int fd, uint8_t nonce[32], struct err *e) MUST_CHECK;

enum pump_how {
	PUMP_EXIT,		/* it ended: cause, status, recorded */
	PUMP_DETACHED,		/* the person left with the detach key */
	PUMP_LEFT		/* a signal told us to go */
};

struct pump {
	int		 sock;
	int		 terminal;	/* 1: raw mode on descriptor 0 */
	int		 read_only;	/* input only detaches */
	int		 redraw;	/* let a full-screen program draw anew */
	int		 quiet;		/* no notices */
};

struct pump_end {
	enum pump_how	 how;
	int		 cause, status;	/* EXIT */
	int		 recorded;
	int		 signal;	/* LEFT */
};

/*
 * pump_run(p, end, e): until it ends.  Input goes in, output comes out, signals
 * and the size of the terminal are passed on; Ctrl-] d detaches, Ctrl-] Ctrl-]
 * is one Ctrl-].  The terminal is as it was afterwards, whatever happened.
 * REFUSED comes as the error it names; PEER if the supervisor went away
 * without a word.
 */
int pump_run(const struct pump *p, struct pump_end *end, struct err *e)
    MUST_CHECK;

#endif
