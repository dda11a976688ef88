/* SPDX-License-Identifier: ISC */
#ifndef BASE_LIMITS_H
#define BASE_LIMITS_H

#include <stdint.h>

/*
 * Every limit on what comes from outside, with its unit and its reason.  Over
 * it the answer is TOOBIG or LIMIT.
 */
enum {
	RECORD_MAX	= 65535,	/* bytes; fits a C2SP entry bundle */
	FRAME_MAX	= 1 << 20,	/* bytes of one control request or reply */
	CLIENT_MAX	= 512,		/* control connections at once */
	CLIENT_OUT_MAX	= 4 << 20,	/* bytes queued to a slow reader, then cut */
	CLIENT_ASKS_MAX	= 256,		/* unanswered requests of one connection */
	FRAME_TIMEOUT_MS = 10000,	/* a partial frame may lie this long */
	CHANNEL_MAX	= 65536 + 4096,	/* bytes of one runtime message */
	ARGV_MAX	= 1024,		/* arguments of a command */
	ARGV_BYTES_MAX	= 256 << 10,	/* all of them together, and the environment */
	PATH_BYTES_MAX	= 4095,
	NAME_BYTES_MAX	= 64,		/* labels and session names */
	REASON_BYTES_MAX = 1024,
	REQUEST_ID_MAX	= 128,		/* --request-id TEXT */
	BLOB_MAX	= 64 << 20,	/* bytes of one blob, uncompressed */
	CHANGE_ENTRIES_MAX = 1000000,	/* files in one manifest */
	REFUSALS_BURST	= 20,		/* refused attempts recorded at once ... */
	REFUSALS_PER_MIN = 30,		/* ... and a minute, per principal */
	ORPHAN_GRACE_S	= 60,		/* a session lives on without gloved */
	STOP_GRACE_S	= 5,		/* between SIGTERM and SIGKILL */
	IDLE_EXIT_S	= 600,		/* a private gloved with nothing to do */
	SESSION_TTL_S	= 8 * 3600,
	EXPOSURE_TTL_S	= 8 * 3600,
	EXPOSURE_MAX_S	= 24 * 3600
};

/* Bytes of content that one look at a session's changes reads: an agent can
 * make a file of any size out of nothing. */
#define CHANGE_BYTES_MAX	(INT64_C(64) << 30)

#endif
