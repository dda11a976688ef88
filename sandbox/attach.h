/* SPDX-License-Identifier: ISC */
#ifndef SANDBOX_ATTACH_H
#define SANDBOX_ATTACH_H

/* The attach socket of a session, see attach.def. */
enum attach_code { ATTACH_NONE,
#define ATTACH(code, NAME, direction, doc) ATTACH_##NAME = (code),
#include "sandbox/attach.def"
	ATTACH_END
};

enum { ATTACH_MAX = 128 << 10 };	/* bytes of one message */
enum { ATTACH_DATA_MAX = 32 << 10 };	/* bytes of INPUT, OUTPUT, ERRORS */

#endif
