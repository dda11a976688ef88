/* SPDX-License-Identifier: ISC */
#ifndef SANDBOX_OSC_H
#define SANDBOX_OSC_H

#include "base/buf.h"

/*
 * What an agent prints must not reach past the terminal's screen: an operating
 * system command 52 reads and writes the clipboard of whoever looks.  It is
 * taken out of the stream, however it is cut into pieces or wrapped for a
 * multiplexer; everything else passes byte for byte.
 */
enum osc_state { OSC_TEXT, OSC_ESC, OSC_C2, OSC_NUMBER, OSC_DROP, OSC_DROP_ESC,
	OSC_DROP_C2 };

struct osc {
	enum osc_state	 state;
	unsigned	 number;
	size_t		 held;		/* bytes of ${hold}, not yet passed on */
	uint8_t		 hold[16];
};

/* osc_filter(o, in, out): append to ${out} what may pass of ${in}; {0} to
 * begin with.  An unfinished sequence waits for its next piece. */
void osc_filter(struct osc *o, struct bytes in, struct buf *out);

#endif
