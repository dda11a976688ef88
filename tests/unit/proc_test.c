/* SPDX-License-Identifier: ISC */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

#include <cmocka.h>

#include <errno.h>
#include <signal.h>
#include <sys/prctl.h>
#include <sys/wait.h>

#include "base/clock.h"
#include "base/proc.h"

/* A child that waits to be killed, named ${name} if that is not NULL. */
static pid_t
child(const char *name)
{
	int ready[2];
	pid_t pid;
	char c;

	assert_int_equal(pipe(ready), 0);
	pid = fork();
	assert_true(pid >= 0);
	if (pid == 0) {
		(void)prctl(PR_SET_PDEATHSIG, SIGKILL);
		if (name != NULL)
			(void)prctl(PR_SET_NAME, name);
		(void)!write(ready[1], "x", 1);
		for (;;)
			(void)pause();
	}
	assert_int_equal(read(ready[0], &c, 1), 1);
	(void)close(ready[0]);
	(void)close(ready[1]);
	return pid;
}

static void
end_of(pid_t pid)
{
	(void)kill(pid, SIGKILL);
	assert_int_equal(waitpid(pid, NULL, 0), pid);
}

static void
a_process_is_signalled_and_seen_to_end(void **state)
{
	AUTO(proc) struct proc p = PROC_NONE;
	pid_t pid = child(NULL);
	struct err e;
	int status;

	(void)state;
	assert_int_equal(proc_open(pid, &p, &e), 0);
	assert_int_equal(p.pid, pid);
	assert_true(p.start_ticks > 0);
	assert_int_equal(proc_gone(&p, 0), 0);
	assert_int_equal(proc_gone(&p, 20), 0);
	assert_int_equal(proc_signal(&p, SIGTERM, &e), 0);
	/* Gone before anyone has waited for it: nothing of it runs. */
	assert_int_equal(proc_gone(&p, -1), 1);
	assert_int_equal(waitpid(pid, &status, 0), pid);
	assert_int_equal(WTERMSIG(status), SIGTERM);
	assert_int_equal(proc_gone(&p, 0), 1);
	assert_int_equal(proc_signal(&p, SIGTERM, &e), -1);
	assert_int_equal(e.code, ERR_NOTFOUND);
}

static void
letting_go_of_a_process_does_not_end_it(void **state)
{
	struct proc p = PROC_NONE;
	pid_t pid = child(NULL);
	struct err e;

	(void)state;
	assert_int_equal(proc_open(pid, &p, &e), 0);
	proc_done(&p);
	assert_int_equal(p.pidfd, -1);
	proc_done(&p);
	assert_int_equal(kill(pid, 0), 0);
	end_of(pid);
}

static void
the_same_process_is_found_again_and_another_is_not(void **state)
{
	AUTO(proc) struct proc p = PROC_NONE;
	pid_t pid = child(NULL);
	int64_t ticks = 0;
	struct err e;

	(void)state;
	assert_int_equal(proc_start_ticks(pid, &ticks, &e), 0);
	/* As if the number had been given to one that began later. */
	assert_int_equal(proc_open_same(pid, ticks - 1, &p, &e), -1);
	assert_int_equal(e.code, ERR_NOTFOUND);
	assert_int_equal(p.pidfd, -1);
	assert_int_equal(proc_open_same(pid, ticks, &p, &e), 0);
	assert_int_equal(p.start_ticks, ticks);
	end_of(pid);
	proc_done(&p);
	assert_int_equal(proc_open_same(pid, ticks, &p, &e), -1);
	assert_int_equal(e.code, ERR_NOTFOUND);
}

static void
a_hostile_name_does_not_shift_the_fields(void **state)
{
	static const char *const names[] = { ") R 1 1 1 1", "a b) (c",
		"))))", "a\nb 9 9 9", " " };
	struct err e;

	(void)state;
	for (size_t i = 0; i < sizeof(names) / sizeof(names[0]); i++) {
		pid_t plain = child(NULL), odd = child(names[i]);
		int64_t a = 0, b = 0;

		assert_int_equal(proc_start_ticks(plain, &a, &e), 0);
		assert_int_equal(proc_start_ticks(odd, &b, &e), 0);
		/* Begun one after the other, well within a minute. */
		assert_in_range(b - a, 0, 6000);
		end_of(plain);
		end_of(odd);
	}
}

static void
start_ticks_are_those_since_boot(void **state)
{
	int64_t hz = sysconf(_SC_CLK_TCK), ticks = 0, now;
	pid_t pid = child(NULL);
	struct err e;

	(void)state;
	assert_int_equal(proc_start_ticks(pid, &ticks, &e), 0);
	now = clock_now().boot_us / (1000000 / hz);
	assert_in_range(now - ticks + hz, 0, 11 * hz);
	end_of(pid);
}

static void
there_is_no_process_of_a_number_that_is_none(void **state)
{
	static const pid_t bad[] = { 0, -1, INT32_MIN, INT32_MAX };
	struct proc p = PROC_NONE;
	int64_t ticks;
	struct err e;

	(void)state;
	for (size_t i = 0; i < sizeof(bad) / sizeof(bad[0]); i++) {
		assert_int_equal(proc_open(bad[i], &p, &e), -1);
		assert_int_equal(e.code, ERR_NOTFOUND);
		assert_int_equal(proc_start_ticks(bad[i], &ticks, &e), -1);
		assert_int_equal(e.code, ERR_NOTFOUND);
	}
	/* And none at all can neither be signalled nor waited for. */
	assert_int_equal(proc_signal(&p, SIGKILL, &e), -1);
	assert_int_equal(e.code, ERR_NOTFOUND);
	assert_int_equal(proc_gone(&p, -1), 1);
}

static void
on_alarm(int sig)
{
	(void)sig;
}

static void
an_interrupted_wait_goes_on_for_what_is_left(void **state)
{
	struct sigaction sa = { .sa_handler = on_alarm }, old;
	AUTO(proc) struct proc p = PROC_NONE;
	pid_t pid = child(NULL);
	int64_t start;
	struct err e;

	(void)state;
	assert_int_equal(sigaction(SIGALRM, &sa, &old), 0);
	assert_int_equal(proc_open(pid, &p, &e), 0);
	start = clock_now().boot_us;
	(void)ualarm(20000, 20000);
	assert_int_equal(proc_gone(&p, 100), 0);
	(void)ualarm(0, 0);
	assert_true(clock_now().boot_us - start >= 95000);
	assert_int_equal(sigaction(SIGALRM, &old, NULL), 0);
	end_of(pid);
}

static void
the_clocks_move_and_can_be_set_by_a_test(void **state)
{
	const struct now set = { 42, 7 };
	struct now a = clock_now(), b = clock_now();

	(void)state;
	assert_true(a.boot_us > 0 && b.boot_us >= a.boot_us);
	assert_true(a.real_us > INT64_C(1700000000000000));
	clock_fake(&set);
	assert_int_equal(clock_now().real_us, 42);
	assert_int_equal(clock_now().boot_us, 7);
	clock_fake(NULL);
	assert_true(clock_now().real_us >= a.real_us);
}

static void
a_boot_has_one_id(void **state)
{
	static const uint8_t zeros[16];
	uint8_t a[16] = { 0 }, b[16] = { 0 };
	struct err e;

	(void)state;
	assert_int_equal(clock_boot_id(a, &e), 0);
	assert_int_equal(clock_boot_id(b, &e), 0);
	assert_memory_equal(a, b, 16);
	assert_memory_not_equal(a, zeros, 16);
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_process_is_signalled_and_seen_to_end),
		cmocka_unit_test(letting_go_of_a_process_does_not_end_it),
		cmocka_unit_test(
		    the_same_process_is_found_again_and_another_is_not),
		cmocka_unit_test(a_hostile_name_does_not_shift_the_fields),
		cmocka_unit_test(start_ticks_are_those_since_boot),
		cmocka_unit_test(there_is_no_process_of_a_number_that_is_none),
		cmocka_unit_test(an_interrupted_wait_goes_on_for_what_is_left),
		cmocka_unit_test(the_clocks_move_and_can_be_set_by_a_test),
		cmocka_unit_test(a_boot_has_one_id),
	};

	return cmocka_run_group_tests_name("proc", tests, NULL, NULL);
}
