/* SPDX-License-Identifier: ISC */
#ifndef CLI_TERM_H
#define CLI_TERM_H

#include <stdint.h>
#include <termios.h>

#include "base/buf.h"

/*
 * The terminal of the person, while an agent has it.  It is given back as it
 * was, whatever the agent switched on and however the agent ended.
 */
enum { TERM_MODES = 16 };
struct term {
	int		fd;		/* -1: not taken */
	struct termios	saved;
	/* What the output has switched on, by the rows of modes[] in term.c. */
	uint8_t		on[TERM_MODES];
	int		state;		/* of the reader of escape sequences */
	int		number;
	int		numbers[8];
	int		nnumbers;
};

#define TERM_NONE ((struct term){ .fd = -1 })

/* term_take(t, fd, e): raw mode, everything goes to the agent, also Ctrl-C. */
int term_take(struct term *t, int fd, struct err *e) MUST_CHECK;
/* term_again(t): raw mode once more, after a stop. */
void term_again(struct term *t);
/* term_give(t): as it was; typed-ahead input, which may be answers to the
 * agent's last questions to the terminal, is dropped.  May be called twice. */
void term_give(struct term *t);
static inline void auto_term(struct term *t) { term_give(t); }

/* term_watch(t, b): the agent's output on its way to the terminal. */
void term_watch(struct term *t, struct bytes b);
/* term_reset(t, b): what undoes the modes that are on. */
void term_reset(const struct term *t, struct buf *b);

/* term_size(fd, rows, cols): 24 x 80 if it is not known. */
void term_size(int fd, uint16_t *rows, uint16_t *cols);

#endif
