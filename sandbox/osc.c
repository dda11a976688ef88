/* SPDX-License-Identifier: ISC */
/*
 * osc.c - ESC ] 52 ; ... ended by BEL, ESC \, CAN or SUB; also with its first
 * and last character in their 8-bit forms as UTF-8 has them, C2 9D and C2 9C.
 *
 * Looking for the beginning everywhere, not only where a terminal would be at
 * the beginning of a sequence, finds the ones wrapped in "ESC P tmux;" too.
 */
#include "sandbox/osc.h"

enum { BEL = 7, CAN = 0x18, SUB = 0x1a, ESC = 0x1b, C2 = 0xc2, OSC8 = 0x9d,
	ST8 = 0x9c, CLIPBOARD = 52, NUMBER_MAX = 9999 };

static void
pass(struct osc *o, struct buf *out)
{
	buf_put(out, o->hold, o->held);
	o->held = 0;
	o->state = OSC_TEXT;
}

/* In its place stands a string terminator, which does nothing by itself: else
 * what is on either side could grow together into another such command. */
static void
drop(struct osc *o, struct buf *out)
{
	buf_put(out, "\033\\", 2);
	o->held = 0;
	o->state = OSC_DROP;
}

static void
hold(struct osc *o, uint8_t c, enum osc_state next)
{
	o->hold[o->held++] = c;
	o->state = next;
}

static void
start(struct osc *o, uint8_t c, struct buf *out)
{
	if (c == ESC)
		hold(o, c, OSC_ESC);
	else if (c == C2)
		hold(o, c, OSC_C2);
	else
		buf_put_u8(out, c);
}

static void
dropped(struct osc *o, uint8_t c)
{
	switch (o->state) {
	case OSC_DROP_ESC:
		o->state = c == '\\' ? OSC_TEXT : c == ESC ? OSC_DROP_ESC :
		    OSC_DROP;
		return;
	case OSC_DROP_C2:
		o->state = c == ST8 ? OSC_TEXT : OSC_DROP;
		return;
	default:
		if (c == BEL || c == CAN || c == SUB)
			o->state = OSC_TEXT;
		else if (c == ESC)
			o->state = OSC_DROP_ESC;
		else if (c == C2)
			o->state = OSC_DROP_C2;
	}
}

static void
number(struct osc *o, uint8_t c, struct buf *out)
{
	if (c >= '0' && c <= '9') {
		if (o->number <= NUMBER_MAX)
			o->number = o->number * 10 + (unsigned)(c - '0');
		/* Zeros without end are only there to get past this. */
		if (o->held == sizeof(o->hold))
			drop(o, out);
		else
			hold(o, c, OSC_NUMBER);
	} else if (o->number == CLIPBOARD) {
		drop(o, out);
		dropped(o, c);
	} else {
		pass(o, out);
		start(o, c, out);
	}
}

static void
one(struct osc *o, uint8_t c, struct buf *out)
{
	switch (o->state) {
	case OSC_TEXT:
		start(o, c, out);
		return;
	case OSC_ESC:
	case OSC_C2:
		if (c == (o->state == OSC_ESC ? ']' : OSC8)) {
			o->number = 0;
			hold(o, c, OSC_NUMBER);
			return;
		}
		pass(o, out);
		start(o, c, out);
		return;
	case OSC_NUMBER:
		number(o, c, out);
		return;
	case OSC_DROP:
	case OSC_DROP_ESC:
	case OSC_DROP_C2:
		dropped(o, c);
		return;
	}
}

void
osc_filter(struct osc *o, struct bytes in, struct buf *out)
{
	size_t i = 0;

	while (i < in.n) {
		/* Nearly all of it is text: find its end, and copy at once. */
		if (o->state == OSC_TEXT) {
			size_t n = i;

			while (n < in.n && in.p[n] != ESC && in.p[n] != C2)
				n++;
			buf_put(out, in.p + i, n - i);
			if ((i = n) == in.n)
				return;
		}
		one(o, in.p[i++], out);
	}
}
