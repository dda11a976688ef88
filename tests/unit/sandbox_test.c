/* SPDX-License-Identifier: ISC */
/* A real box around real programs, as root and as an ordinary user. */
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
#include "sandbox/self.h"
#include "tests/lib/boxed.h"

static void
a_program_runs_and_its_exit_code_comes_back(void **state)
{
	const struct boxed *w = *state;
	const char *const argv[] = { "/bin/true", NULL };
	struct launch l = boxed_launch(w, argv);
	struct boxed_result r;

	boxed_wait(&l, &r);
	assert_int_equal(r.status, 0);
	boxed_sh(&l, "exit 7", &r);
	assert_int_equal(WEXITSTATUS(r.status), 7);
	boxed_sh(&l, "kill -9 $$", &r);
	assert_int_equal(WTERMSIG(r.status), 9);
}

static void
what_cannot_be_executed_says_why(void **state)
{
	const struct boxed *w = *state;
	const char *const none[] = { "no-such-command", NULL };
	const char *const dir[] = { "/tmp", NULL };
	struct launch l = boxed_launch(w, none);
	struct boxed_result r;

	boxed_wait(&l, &r);
	assert_int_equal(r.status, -1 - ENOENT);
	l = boxed_launch(w, dir);
	boxed_wait(&l, &r);
	assert_int_equal(r.status, -1 - EACCES);
}

static void
an_agent_that_is_not_released_never_runs(void **state)
{
	const struct boxed *w = *state;
	const char *const argv[] = { "/usr/bin/touch", "ran", NULL };
	struct launch l = boxed_launch(w, argv);
	char path[128];
	struct err e;

	{
		AUTO(box) struct box x = BOX_NONE;

		assert_int_equal(box_open(&l, &x, &e), 0);
		(void)close(x.gate);
		x.gate = -1;
		assert_true(proc_gone(&x.init, 5000));
	}
	(void)snprintf(path, sizeof(path), "%s/upper/ran", w->state);
	assert_int_equal(access(path, F_OK), -1);
	{
		struct boxed_result r;

		boxed_wait(&l, &r);
		assert_int_equal(access(path, F_OK), 0);
	}
}

static void
a_byte_at_the_tether_ends_it(void **state)
{
	const struct boxed *w = *state;
	const char *const argv[] = { "/bin/sleep", "1000", NULL };
	struct launch l = boxed_launch(w, argv);
	AUTO(box) struct box x = BOX_NONE;
	struct err e;

	assert_int_equal(box_open(&l, &x, &e), 0);
	assert_int_equal(box_release(&x, &e), 0);
	assert_false(proc_gone(&x.init, 20));
	assert_int_equal(write(x.tether, "x", 1), 1);
	assert_true(proc_gone(&x.init, 5000));
}

static void
when_its_supervisor_is_killed_nothing_is_left(void **state)
{
	const struct boxed *w = *state;
	const char *const argv[] = { "/bin/bash", "-c",
	    "trap '' TERM HUP; (setsid sleep 1000 &) ; sleep 1000", NULL };
	struct launch l = boxed_launch(w, argv);
	struct proc init = PROC_NONE;
	struct err e;
	pid_t pid, inner;
	int p[2];

	assert_int_equal(pipe2(p, O_CLOEXEC), 0);
	if ((pid = fork()) == 0) {
		struct box x = BOX_NONE;

		if (box_open(&l, &x, &e) ||
		    box_release(&x, &e) ||
		    write(p[1], &x.init.pid, sizeof(pid_t)) < 0)
			_exit(1);
		for (;;)
			(void)pause();
	}
	(void)close(p[1]);
	assert_int_equal(read(p[0], &inner, sizeof(inner)), sizeof(inner));
	assert_int_equal(proc_open(inner, &init, &e), 0);
	assert_false(proc_gone(&init, 50));
	(void)kill(pid, SIGKILL);
	assert_true(proc_gone(&init, 5000));
	(void)waitpid(pid, NULL, 0);
	proc_done(&init);
	(void)close(p[0]);
}

static void
the_agent_has_a_terminal_of_its_own(void **state)
{
	const struct boxed *w = *state;
	const char *const argv[] = { "/bin/true", NULL };
	struct launch l = boxed_launch(w, argv);
	struct boxed_result r;

	l.terminal = 1;
	boxed_sh(&l, "tty; stty size; test -t 0 -a -t 1 -a -t 2 && echo yes "
	    ">/dev/tty; set -m; sleep 0 & fg >/dev/null; echo $?", &r);
	assert_string_equal(r.out, "/dev/pts/0\r\n24 80\r\nyes\r\n0\r\n");
	assert_int_equal(r.status, 0);
}

static void
ordinary_tools_work(void **state)
{
	boxed_says(state, MODE_STAGED, "cat <(echo sub)", "sub\n");
	boxed_says(state, MODE_STAGED, "echo err >/dev/stderr", "err\n");
	boxed_says(state, MODE_STAGED, "id -un; hostname; echo $HOME; "
	    "touch ~/x /tmp/y /var/tmp/z && echo ok",
	    "agent\nglove\n/home/agent\nok\n");
	boxed_says(state, MODE_STAGED, "python3 -c 'import multiprocessing as m\n"
	    "p = m.Pool(2); print(sum(p.map(abs, [-1, 2])))'", "3\n");
	boxed_says(state, MODE_STAGED, "git init -q . && git add file && "
	    "git commit -qm one && git log --format='%an <%ae> %s'",
	    "A \"B\" C <a@b.c> one\n");
	boxed_says(state, MODE_STAGED, "echo 'int main(void){return 3;}' >a.c && "
	    "cc -g a.c -o a && ./a; echo $?", "3\n");
	boxed_says(state, MODE_STAGED, "strace -o t -e trace=execve ./a; "
	    "grep -c execve t", "1\n");
	boxed_says(state, MODE_STAGED, "gdb -q -batch -ex run -ex 'info program' ./a "
	    "2>&1 | grep -o 'exited with code 03'", "exited with code 03\n");
}

static void
the_self_test_finds_everything_in_force(void **state)
{
	const struct boxed *w = *state;
	const char *const argv[] = { "/bin/true", NULL };
	struct launch l = boxed_launch(w, argv);
	AUTO(box) struct box x = BOX_NONE;
	AUTO(buf) struct buf b;
	struct err e;

	buf_init(&b, 4096);
	if (box_open(&l, &x, &e))
		fail_msg("%s (%s)", e.msg, e.why);
	self_put(&b, x.found, x.abi);
	assert_non_null(buf_cstr(&b));
	if (x.abi > 0)
		assert_null(strchr((const char *)b.p, '!'));
	assert_true(x.pidns != 0);
}

int
main(void)
{
#define T(name) \
	cmocka_unit_test_setup_teardown(name, boxed_setup, boxed_teardown)
	const struct CMUnitTest tests[] = {
		T(a_program_runs_and_its_exit_code_comes_back),
		T(what_cannot_be_executed_says_why),
		T(an_agent_that_is_not_released_never_runs),
		T(a_byte_at_the_tether_ends_it),
		T(when_its_supervisor_is_killed_nothing_is_left),
		T(the_agent_has_a_terminal_of_its_own),
		T(ordinary_tools_work),
		T(the_self_test_finds_everything_in_force),
	};

	return cmocka_run_group_tests_name("sandbox", tests, NULL, NULL);
}
