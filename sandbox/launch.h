/* SPDX-License-Identifier: ISC */
#ifndef SANDBOX_LAUNCH_H
#define SANDBOX_LAUNCH_H

#include "base/buf.h"
#include "base/id.h"
#include "journal/receipt.h"
#include "lifecycle/machine.h"

/*
 * The launch policy: everything a glove-sandbox needs to know, handed over as
 * one sealed memfd, never on a command line.  glove-sandbox is started with
 * argv[0] only, an empty environment, and descriptors
 *
 *	0 1 2	/dev/null, /dev/null, the log of gloved
 *	3	this policy (memfd)
 *	4	the channel to gloved (SOCK_SEQPACKET)
 *	5	RUN: the listening attach socket (SOCK_SEQPACKET), path below
 */
enum { LAUNCH_FD_POLICY = 3, LAUNCH_FD_CHANNEL = 4, LAUNCH_FD_ATTACH = 5 };

enum launch_kind {
	LAUNCH_RUN = 1,		/* a session */
	LAUNCH_APPLY,		/* workers: one job, RESULT, leave */
	LAUNCH_UNDO,
	LAUNCH_CLEAN
};

enum { LAUNCH_RO_MAX = 64 };

struct launch {
	enum launch_kind kind;
	struct id	 session;
	struct id	 subject;	/* what the receipt is about: session or change */
	const char	*receipt;	/* of start_intent, or of apply, undo, discard */
	uint8_t		 log_pub[PUB_BYTES];
	const char	*origin;

	enum mode	 mode;
	const char	*workspace;	/* absolute host path, no symbolic links */
	uint64_t	 workspace_dev, workspace_ino;
	const char	*state;		/* absolute: <home>/sessions/SES; upper/, work/ in it */
	const char	*undo;		/* APPLY, UNDO: absolute: <home>/undo/CHG */

	/* RUN */
	size_t		 argc;
	const char	*const *argv;
	size_t		 envc;
	const char	*const *env;	/* NAME=value, complete: what the agent sees */
	const char	*cwd;		/* absolute, as inside */
	size_t		 nro;
	const char	*const *ro;	/* absolute host paths shown read-only, same path inside */
	const char	*git_name, *git_email;	/* NULL: none */
	const char	*attach_path;	/* of descriptor 5, to unlink at the end */
	int		 terminal;	/* 1: pty, 0: three pipes */
	uint16_t	 rows, cols;
	uint8_t		 token[32];	/* whoever attaches first shows it */
	int		 wait_client;	/* 1: linger at the end until it was here */
	int		 tied;		/* 1: ends when that client goes away without detaching */
	int64_t		 ends_real_us, ends_boot_us;
	int64_t		 grace_us;
	int64_t		 orphan_grace_us;

	/* APPLY, UNDO */
	struct bytes	 manifest;
	size_t		 npaths;	/* 0: all */
	const char	*const *paths;
};

int launch_encode(const struct launch *l, struct buf *out, struct err *e) MUST_CHECK;
/*
 * launch_decode(b, l, e): strict.  *${l} borrows from ${b} and owns its lists:
 * launch_done().
 */
int launch_decode(struct bytes b, struct launch *l, struct err *e) MUST_CHECK;
void launch_done(struct launch *l);

#endif
