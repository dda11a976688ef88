/* SPDX-License-Identifier: ISC */
/*
 * On a full disk, against a writer that takes every block that becomes free:
 * grants are refused, revoking works, also after the process was killed.  In a
 * tmpfs of its own: as root, or in a user namespace; skipped without either.
 */
#include <sys/mount.h>
#include <sys/stat.h>
#include <sys/wait.h>

#include <errno.h>
#include <fcntl.h>
#include <sched.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
#include <cmocka.h>

#include "tests/lib/home.h"

enum {
	LEASES = 200,		/* one removal each */
	HALF = LEASES / 2,	/* before and after the kill */
	NO_MOUNT = 77,
	TURNS_MAX = 100000
};

/* In the child a failed check is its exit status; the parent shows the line. */
#define check(cond) do {						\
	if (!(cond)) {							\
		fprintf(stderr, "%s:%d: %s: %s %s\n", __FILE__, __LINE__, \
		    #cond, e.msg, e.why);				\
		_exit(1);						\
	}								\
} while (0)

static void
put_file(const char *path, const char *text)
{
	int fd = open(path, O_WRONLY | O_CLOEXEC);

	if (fd >= 0) {
		(void)!write(fd, text, strlen(text));
		close(fd);
	}
}

static int
own_mount(const char *dir)
{
	char map[32];
	uid_t uid = geteuid();
	gid_t gid = getegid();

	if (unshare(CLONE_NEWNS) && errno == EPERM) {
		if (unshare(CLONE_NEWUSER | CLONE_NEWNS))
			return -1;
		put_file("/proc/self/setgroups", "deny");
		snprintf(map, sizeof(map), "0 %u 1", (unsigned)uid);
		put_file("/proc/self/uid_map", map);
		snprintf(map, sizeof(map), "0 %u 1", (unsigned)gid);
		put_file("/proc/self/gid_map", map);
	}
	if (mount(NULL, "/", NULL, MS_REC | MS_PRIVATE, NULL) ||
	    mount("full", dir, "tmpfs", MS_NOSUID | MS_NODEV,
	    "size=16m,mode=700"))
		return -1;
	return 0;
}

/* All that is free, to the last block. */
static void
hog(int dirfd)
{
	static const char block[4096] = { 1 };
	int fd = openat(dirfd, "hog", O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC,
	    0600);

	if (fd < 0)
		return;
	while (write(fd, block, sizeof(block)) == (ssize_t)sizeof(block))
		continue;
	close(fd);
}

static struct id
lease(unsigned n)
{
	struct id id = { { 0x11, (uint8_t)(n >> 8), (uint8_t)n } };

	return id;
}

static int
open_it(int fd, struct journal **j, struct err *e)
{
	struct journal_opts o = { .homefd = fd, .create = 1 };
	enum verdict v;

	return journal_open(&o, j, &v, e);
}

/* One removal, as the engine makes them. */
static int
take_back(struct journal *j, unsigned n, int removal, struct err *e)
{
	AUTO(txn) struct journal_txn *t = NULL;
	struct draft d = { .machine = MACHINE_EXPOSURE, .subject = lease(n),
	    .event = EXPOSURE_EV_revoke, .actor = ACTOR_OWNER,
	    .expect_from = -1, .removal = removal };

	if (journal_begin(j, &t, e) || journal_append(t, &d, NULL, e))
		return -1;
	return home_commit(TAKE(t), e);
}

static void
open_leases(struct journal *j)
{
	struct journal_txn *t;
	struct err e = { .code = 0 };

	check(journal_begin(j, &t, &e) == 0);
	for (unsigned i = 0; i < LEASES; i++) {
		struct id id = lease(i);

		check(home_expose(t, &id, NULL, &e) == 0);
	}
	check(home_commit(t, &e) == 0);
}

/* Ordinary moves until the disk is full and they are refused. */
static void
fill(struct journal *j, int fd)
{
	struct err e = { .code = 0 };

	hog(fd);
	for (int i = 0; i < TURNS_MAX; i++) {
		AUTO(txn) struct journal_txn *t = NULL;
		struct id id;

		id_random(&id);
		if (journal_begin(j, &t, &e) ||
		    home_expose(t, &id, NULL, &e) ||
		    home_commit(TAKE(t), &e)) {
			check(e.code == ERR_JOURNAL);
			check(!journal_poisoned(j));
			check(!journal_room(j));
			return;
		}
		hog(fd);
	}
	(void)err_say(&e, ERR_BUG, "the disk was never full");
	check(e.code == ERR_OK);
}

/* Dies without closing anything, having revoked the first half. */
static void
first_life(int fd)
{
	struct journal *j;
	struct err e = { .code = 0 };

	check(open_it(fd, &j, &e) == 0);
	open_leases(j);
	fill(j, fd);
	check(take_back(j, 0, 0, &e) == -1);
	check(e.code == ERR_JOURNAL);
	for (unsigned i = 0; i < HALF; i++) {
		check(take_back(j, i, 1, &e) == 0);
		hog(fd);
	}
	_exit(0);
}

static void
second_life(int fd)
{
	struct journal *j;
	struct journal_txn *t;
	struct subject s;
	struct now now;
	struct id fresh;
	struct err e = { .code = 0 };

	check(open_it(fd, &j, &e) == 0);
	check(!journal_room(j));
	check(journal_unclean(j));
	for (unsigned i = HALF; i < LEASES; i++) {
		check(take_back(j, i, 1, &e) == 0);
		hog(fd);
	}
	for (unsigned i = 0; i < LEASES; i++) {
		struct id id = lease(i);

		check(journal_subject(j, MACHINE_EXPOSURE, &id, &s, &e) == 0);
		check(s.state == EXPOSURE_CLOSING);
	}
	check(journal_check_derived(j, &e) == 0);

	/* With space again everything works again, a second later. */
	check(unlinkat(fd, "hog", 0) == 0);
	id_random(&fresh);
	check(journal_begin(j, &t, &e) == 0);
	check(home_expose(t, &fresh, NULL, &e) == -1);
	check(e.code == ERR_JOURNAL);
	journal_rollback(t);
	now = clock_now();
	now.boot_us += 2000000;
	clock_fake(&now);
	for (int i = 0; i < 3; i++) {
		id_random(&fresh);
		check(journal_begin(j, &t, &e) == 0);
		check(home_expose(t, &fresh, NULL, &e) == 0);
		check(home_commit(t, &e) == 0);
		check(journal_room(j));
	}
	check(journal_stop(j, &e) == 0);
	journal_close(j);
	check(open_it(fd, &j, &e) == 0);
	check(journal_room(j));
	check(!journal_unclean(j));
	journal_close(j);
	_exit(0);
}

static int
life(void (*run)(int), int fd)
{
	int status;
	pid_t pid = fork();

	if (pid == 0)
		run(fd);
	if (pid < 0 || waitpid(pid, &status, 0) != pid || !WIFEXITED(status))
		return 1;
	return WEXITSTATUS(status);
}

static void
inside(const char *dir)
{
	int fd, bad;

	if (own_mount(dir))
		_exit(NO_MOUNT);
	if ((fd = open(dir, O_RDONLY | O_DIRECTORY | O_CLOEXEC)) < 0)
		_exit(NO_MOUNT);
	bad = life(first_life, fd);
	if (bad == 0)
		bad = life(second_life, fd);
	_exit(bad);
}

static void
removals_work_on_a_full_disk_and_grants_do_not(void **state)
{
	char dir[] = "/tmp/glove-full-XXXXXX";
	int status;
	pid_t pid;

	(void)state;
	assert_non_null(mkdtemp(dir));
	assert_true((pid = fork()) >= 0);
	if (pid == 0)
		inside(dir);
	assert_int_equal(pid, waitpid(pid, &status, 0));
	assert_int_equal(0, rmdir(dir));
	assert_true(WIFEXITED(status));
	if (WEXITSTATUS(status) == NO_MOUNT)
		skip();
	assert_int_equal(WEXITSTATUS(status), 0);
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(removals_work_on_a_full_disk_and_grants_do_not),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
