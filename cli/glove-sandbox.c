/* SPDX-License-Identifier: ISC */
/*
 * glove-sandbox - one session, or one job on the files of one.  Started by
 * gloved only: what it is to do stands in a memory file, see sandbox/launch.h.
 */
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "base/fd.h"
#include "base/log.h"
#include "sandbox/launch.h"
#include "sandbox/supervisor.h"

enum { POLICY_MAX = 64 << 20 };	/* a manifest may be in it */

static int
read_policy(struct buf *b, struct launch *l, struct err *e)
{
	if (lseek(LAUNCH_FD_POLICY, 0, SEEK_SET) < 0)
		return err_set(e, ERR_SYS, "launch policy");
	if (fd_read_all(LAUNCH_FD_POLICY, b, e) ||
	    launch_decode(buf_bytes(b), l, e))
		return -1;
	(void)close(LAUNCH_FD_POLICY);
	return 0;
}

static int
cloexec(int fd, struct err *e)
{
	if (fcntl(fd, F_SETFD, FD_CLOEXEC) != 0)
		return err_set(e, ERR_SYS, "descriptor %d", fd);
	return 0;
}

static int
work(const struct launch *l, struct err *e)
{
	if (cloexec(LAUNCH_FD_CHANNEL, e))
		return -1;
	if (l->kind != LAUNCH_RUN)
		return worker_run(l, LAUNCH_FD_CHANNEL, e);
	if (cloexec(LAUNCH_FD_ATTACH, e))
		return -1;
	return supervisor_run(l, LAUNCH_FD_CHANNEL, LAUNCH_FD_ATTACH, e);
}

int
main(int argc, char **argv)
{
	AUTO(buf) struct buf b;
	struct launch l = { .kind = 0 };
	struct err e;
	int r;

	(void)argv;
	log_init("glove-sandbox", LOG_LEVEL_INFO);
	/* It has nothing to say to a person, and nothing to be told. */
	if (argc != 1 || fcntl(LAUNCH_FD_POLICY, F_GETFD) < 0 ||
	    fcntl(LAUNCH_FD_CHANNEL, F_GETFD) < 0) {
		(void)fprintf(stderr, "glove-sandbox: started by gloved only; "
		    "see glove(1)\n");
		return 2;
	}
	/* A session outlives gloved and the terminal it was started from. */
	(void)setsid();
	buf_init(&b, POLICY_MAX);
	r = read_policy(&b, &l, &e) || work(&l, &e) ? -1 : 0;
	if (r != 0)
		log_event(LOG_LEVEL_ERROR, "failed", "err=%s: %s",
		    err_name(e.code), e.msg);
	launch_done(&l);
	return r != 0 ? err_exit(e.code) : 0;
}
