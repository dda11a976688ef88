/* SPDX-License-Identifier: ISC */
#include <errno.h>
#include <fcntl.h>
#include <setjmp.h>
#include <signal.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cmocka.h>

#include "base/fd.h"
#include "tests/lib/boxed.h"

void
boxed_run(const char *fmt, ...)
{
	char cmd[512];
	va_list ap;

	va_start(ap, fmt);
	(void)vsnprintf(cmd, sizeof(cmd), fmt, ap);
	va_end(ap);
	assert_int_equal(system(cmd), 0);
}

int
boxed_setup(void **state)
{
	struct boxed *w = calloc(1, sizeof(*w));

	assert_non_null(w);
	(void)snprintf(w->dir, sizeof(w->dir), "/tmp/glove-box.XXXXXX");
	assert_non_null(mkdtemp(w->dir));
	(void)snprintf(w->ws, sizeof(w->ws), "%s/ws", w->dir);
	(void)snprintf(w->state, sizeof(w->state), "%s/state", w->dir);
	boxed_run("mkdir -p %s %s/upper %s/work && chmod 700 %s", w->ws, w->state,
	    w->state, w->state);
	boxed_run("echo host > %s/file", w->ws);
	*state = w;
	return 0;
}

int
boxed_teardown(void **state)
{
	struct boxed *w = *state;

	boxed_run("chmod -R u+rwx %s; rm -rf %s", w->dir, w->dir);
	free(w);
	return 0;
}

struct launch
boxed_launch(const struct boxed *w, const char *const *argv)
{
	static const char *const env[] = {
		"PATH=/usr/local/bin:/usr/bin:/bin", "HOME=/home/agent",
		"LANG=C.UTF-8", "TERM=xterm"
	};
	struct launch l = {
		.kind = LAUNCH_RUN, .mode = MODE_STAGED, .workspace = w->ws,
		.state = w->state, .argv = argv, .env = env, .envc = 4,
		.cwd = w->ws, .git_name = "A \"B\" C", .git_email = "a@b.c",
		.rows = 24, .cols = 80
	};
	struct stat st;

	while (argv[l.argc] != NULL)
		l.argc++;
	assert_int_equal(stat(w->ws, &st), 0);
	l.workspace_dev = st.st_dev;
	l.workspace_ino = st.st_ino;
	return l;
}

/* All that it says, on both outputs, until it is over. */
static void
drain(struct box *x, const struct launch *l, struct boxed_result *r)
{
	size_t n = 0;
	int from = l->terminal ? 0 : 1, to = l->terminal ? 1 : 3;

	for (int i = from; i < to; i++) {
		ssize_t k;

		while (n < sizeof(r->out) - 1 && (k = read(x->out[i],
		    r->out + n, sizeof(r->out) - 1 - n)) > 0)
			n += (size_t)k;
	}
	r->out[n] = '\0';
}

void
boxed_wait(const struct launch *l, struct boxed_result *r)
{
	AUTO(box) struct box x = BOX_NONE;
	struct init_msg m;
	struct err e;
	int fds[3];
	size_t n = 3;

	if (box_open(l, &x, &e))
		fail_msg("%s (%s)", e.msg, e.why);
	assert_int_equal(box_release(&x, &e), 0);
	if (!l->terminal) {
		(void)close(x.out[0]);
		x.out[0] = -1;
	}
	drain(&x, l, r);
	assert_int_equal(fd_nonblock(x.chan, 0, &e), 0);
	if (box_recv(&x, &m, fds, &n, &e))
		fail_msg("%s", e.msg);
	r->status = m.kind == INIT_EXITED ? (int)m.a : -1 - (int)m.a;
	assert_true(proc_gone(&x.init, 5000));
}

void
boxed_sh(struct launch *l, const char *script, struct boxed_result *r)
{
	const char *const argv[] = { "/bin/bash", "-c", script, NULL };

	l->argv = argv;
	l->argc = 3;
	boxed_wait(l, r);
}

/* The script ends well and says exactly this. */
void
boxed_says(void **state, enum mode mode, const char *script, const char *want)
{
	const struct boxed *w = *state;
	const char *const argv[] = { "/bin/true", NULL };
	struct launch l = boxed_launch(w, argv);
	struct boxed_result r;

	l.mode = mode;
	boxed_sh(&l, script, &r);
	if (r.status != 0 || (want != NULL && strcmp(r.out, want) != 0))
		fail_msg("status %d, it said: %s", r.status, r.out);
}
