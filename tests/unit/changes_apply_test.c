/* SPDX-License-Identifier: ISC */
/*
 * Staged changes into the host directory and back: all of it or nothing, never
 * over anybody's work, never out of the directory.
 */
#include <sys/mount.h>
#include <sys/stat.h>
#include <sys/wait.h>

#include <errno.h>
#include <fcntl.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include <cmocka.h>

#include "sandbox/changes_work.h"
#include "tests/lib/staged.h"

enum { TREE_BYTES = 4 << 20 };

/* A session that has ended, its manifest, and one apply or undo of it. */
struct done {
	struct staged	s;
	struct manifest	*m;
	struct changes_apply a;
	struct changes_result r;
	struct err	e;
};

static void
done_free(struct done *d)
{
	changes_result_done(&d->r);
	manifest_free(d->m);
	staged_close(&d->s);
}

/* The host, kept as orig; the session, whose view is kept as final. */
static void
done_open(struct done *d, const char *host, const char *session)
{
	char script[4096];

	*d = (struct done){ .m = NULL };
	staged_open(&d->s);
	(void)snprintf(script, sizeof(script), "%s\ncp -a . ../orig", host);
	staged_host(&d->s, script);
	(void)snprintf(script, sizeof(script),
	    "%s\ncp -a . \"$STAGED/final\"", session);
	if (staged_session(&d->s, script) != 0) {
		done_free(d);
		skip();
	}
	d->m = staged_scan(&d->s, 0);
	d->a = (struct changes_apply){ .upper_dirfd = d->s.upper,
	    .lower_dirfd = d->s.lower, .undo_dirfd = d->s.undo, .m = d->m };
}

static int
apply(struct done *d)
{
	changes_result_done(&d->r);
	return changes_work(&d->a, 0, &d->r, &d->e);
}

static int
undo(struct done *d)
{
	changes_result_done(&d->r);
	return changes_work(&d->a, 1, &d->r, &d->e);
}

static void
must(struct done *d, int rc)
{
	if (rc != 0)
		fail_msg("%s", d->e.msg);
	assert_int_equal(CHANGES_WHOLE, d->r.outcome);
}

/* The host directory is, in all that a tree has, the one kept as ${name}. */
static void
host_is(struct done *d, const char *name)
{
	AUTO(buf) struct buf a, b;

	buf_init(&a, TREE_BYTES);
	buf_init(&b, TREE_BYTES);
	staged_tree(d->s.top, name, &a);
	staged_tree(d->s.top, "lower", &b);
	assert_string_equal(buf_cstr(&a), buf_cstr(&b));
}

static const char HOST[] =
    "echo 1 >keep; echo 1 >mod; echo 1 >gone; echo 1 >mode; echo x >modmode\n"
    "mkdir -p d/e/f old sub; echo 1 >d/a; echo 2 >d/e/b; echo 3 >d/e/f/c\n"
    "ln -s keep l; ln -s keep lgone; echo 1 >tolink; ln -s keep tofile\n"
    "echo 1 >todir; mkdir tofil2; echo 1 >tofil2/in; echo 4 >sub/s; mkdir emptyd\n"
    "mkdir shut; echo 1 >shut/x; ln -s d todir2";
static const char SESSION[] =
    "echo 2 >>mod; rm gone lgone; chmod 755 mode; echo y >modmode; chmod 600 modmode\n"
    "rm -r d; rm l tolink tofile todir todir2; ln -s mod l; ln -s x tolink\n"
    "echo f >tofile; mkdir -p todir/sub todir2; echo n >todir/sub/n; echo >todir2/z\n"
    "rm -r tofil2; echo file >tofil2; mkdir -p new/er; echo n >new/er/f\n"
    "chmod 700 sub; rmdir emptyd; ln -s /etc out; mkdir 'sp ace'\n"
    "printf 1 >\"$(printf 'a\\nb\\377')\"; echo 2 >shut/x; mkdir ro; echo 1 >ro/f\n"
    "chmod 555 ro shut; rmdir old; echo now a file >old";

static void
a_whole_apply_is_what_the_session_saw_and_undo_the_way_back(void **state)
{
	struct stat was, is;
	struct done d;
	size_t n;

	(void)state;
	done_open(&d, HOST, SESSION);
	must(&d, apply(&d));
	host_is(&d, "final");
	n = d.r.done;
	assert_int_equal(d.m->n, n);

	/* Again: all of it is found done, and nothing is written for it. */
	assert_int_equal(0, fstat(d.s.lower, &was));
	must(&d, apply(&d));
	assert_int_equal(0, d.r.done);
	assert_int_equal(n, d.r.already);
	assert_int_equal(0, fstat(d.s.lower, &is));
	assert_memory_equal(&was.st_mtim, &is.st_mtim, sizeof(is.st_mtim));

	must(&d, undo(&d));
	host_is(&d, "orig");
	must(&d, undo(&d));
	assert_int_equal(0, d.r.done + d.r.already);
	host_is(&d, "orig");

	/* And once more, after all. */
	must(&d, apply(&d));
	host_is(&d, "final");
	done_free(&d);
}

static void
a_conflict_leaves_the_host_as_it_is_and_names_all(void **state)
{
	struct done d;

	(void)state;
	done_open(&d, "echo 1 >a; echo 1 >b; echo 1 >c; mkdir g; echo 1 >g/x",
	    "echo 2 >a; rm b; echo 2 >c; echo new >n; echo 2 >g/x");
	staged_host(&d.s, "echo host >a; echo host >b; echo mine >n; rm -r g\n"
	    "rm -rf ../orig; cp -a . ../orig");
	assert_int_equal(-1, apply(&d));
	assert_int_equal(ERR_CONFLICT, d.e.code);
	assert_int_equal(CHANGES_UNTOUCHED, d.r.outcome);
	assert_int_equal(4, d.r.nconflict);
	assert_string_equal("a", d.r.conflict[0].c->path.p);
	assert_string_equal("b", d.r.conflict[1].c->path.p);
	assert_string_equal("g/x", d.r.conflict[2].c->path.p);
	assert_string_equal("n", d.r.conflict[3].c->path.p);
	host_is(&d, "orig");
	done_free(&d);
}

static void
a_link_above_is_never_followed(void **state)
{
	struct done d;

	(void)state;
	done_open(&d, "mkdir -p d/s; echo 1 >d/a; echo 1 >d/s/a",
	    "echo 2 >d/a; echo 3 >d/b; echo 2 >d/s/a");
	staged_host(&d.s, "mv d ../elsewhere; ln -s ../elsewhere d");
	assert_int_equal(-1, apply(&d));
	assert_int_equal(ERR_CONFLICT, d.e.code);
	assert_int_equal(3, d.r.nconflict);
	staged_host(&d.s, "test \"$(cat ../elsewhere/a ../elsewhere/s/a)\" = "
	    "\"$(printf '1\\n1')\"; test ! -e ../elsewhere/b");
	/* Nor one that stays in the workspace. */
	staged_host(&d.s, "rm d; mv ../elsewhere e; ln -s e d");
	assert_int_equal(-1, apply(&d));
	assert_int_equal(ERR_CONFLICT, d.e.code);
	assert_int_equal(3, d.r.nconflict);
	staged_host(&d.s, "test \"$(cat e/a)\" = 1; test ! -e e/b");
	done_free(&d);
}

static void
what_the_host_put_in_a_removed_directory_stays(void **state)
{
	struct done d;

	(void)state;
	done_open(&d, "mkdir d; echo 1 >d/a; mkdir e; echo 1 >e/a",
	    "rm -r d e; echo file >e");
	staged_host(&d.s, "echo mine >d/mine; echo mine >e/mine\n"
	    "rm -rf ../orig; cp -a . ../orig");
	assert_int_equal(-1, apply(&d));
	assert_int_equal(2, d.r.nconflict);
	host_is(&d, "orig");
	done_free(&d);
}

static void
setuid_does_not_come_along(void **state)
{
	struct done d;

	(void)state;
	done_open(&d, "echo 1 >b", "echo 2 >a; chmod 6755 a; echo 2 >b; chmod 4711 b");
	must(&d, apply(&d));
	staged_host(&d.s, "test \"$(stat -c %a a)\" = 755; test \"$(stat -c %a b)\" = 711");
	done_free(&d);
}

static void
chosen_paths_bring_the_directories_they_need(void **state)
{
	struct str one[] = { STR("new/er/f") }, two[] = { STR("d") };
	struct done d;

	(void)state;
	done_open(&d, HOST, SESSION);
	d.a.paths = (struct change_paths){ one, 1 };
	must(&d, apply(&d));
	assert_int_equal(3, d.r.done);
	staged_host(&d.s, "test \"$(cat new/er/f)\" = n; test -e gone; test -e d/a");
	d.a.paths = (struct change_paths){ two, 1 };
	must(&d, apply(&d));
	staged_host(&d.s, "test ! -e d; test -e gone");
	/* One file back: its directories come back with it. */
	one[0] = STR("d/e/b");
	d.a.paths = (struct change_paths){ one, 1 };
	must(&d, undo(&d));
	staged_host(&d.s, "test \"$(cat d/e/b)\" = 2; test ! -e d/a; test -e new/er/f");
	d.a.paths = (struct change_paths){ NULL, 0 };
	must(&d, apply(&d));
	host_is(&d, "final");
	must(&d, undo(&d));
	host_is(&d, "orig");
	done_free(&d);
}

/* Stop when ${left} entries have been allowed; count what was asked. */
static int
stop_after(void *cookie, const struct change *c, size_t done, size_t total)
{
	size_t *left = cookie;

	assert_non_null(c);
	assert_true(done <= total);
	return (*left)-- == 0;
}

static void
a_stop_at_any_entry_can_be_continued_or_undone(void **state)
{
	struct done d;
	size_t left, n, partial = 0, untouched = 0;

	(void)state;
	done_open(&d, HOST, SESSION);
	n = d.m->n;
	/* An odd stride: either way out is taken from early and late stops. */
	for (size_t at = 0; at < 2 * n + 2; at += 5) {
		left = at;
		d.a.step = stop_after;
		d.a.cookie = &left;
		if (apply(&d) == 0)
			break;
		assert_int_equal(ERR_REVOKED, d.e.code);
		partial += d.r.outcome == CHANGES_PARTIAL;
		untouched += d.r.outcome == CHANGES_UNTOUCHED;
		if (d.r.outcome == CHANGES_UNTOUCHED)
			host_is(&d, "orig");
		d.a.step = NULL;
		if (at % 2 == 0) {
			must(&d, apply(&d));
			host_is(&d, "final");
		}
		must(&d, undo(&d));
		host_is(&d, "orig");
	}
	/* Staging stops leave nothing, the others something. */
	assert_true(untouched >= 3);
	assert_true(partial >= 3);
	done_free(&d);
}

static void
a_layer_that_is_not_the_manifests_touches_nothing(void **state)
{
	struct done d;

	(void)state;
	done_open(&d, HOST, SESSION);
	staged_host(&d.s, "echo other >../upper/new/er/f");
	assert_int_equal(-1, apply(&d));
	assert_int_equal(ERR_STALE, d.e.code);
	assert_int_equal(CHANGES_UNTOUCHED, d.r.outcome);
	host_is(&d, "orig");
	done_free(&d);
}

static int
to_buf(void *cookie, struct bytes b, struct err *e)
{
	buf_put(cookie, b.p, b.n);
	return buf_ok(cookie, "diff", e);
}

static void
the_diff_is_the_same_after_the_apply(void **state)
{
	AUTO(buf) struct buf was, is;
	struct changes_diff_options o = { .put = to_buf, .cookie = &was };
	struct changes_sum sum;
	struct done d;

	(void)state;
	buf_init(&was, TREE_BYTES);
	buf_init(&is, TREE_BYTES);
	done_open(&d, HOST, SESSION);
	assert_int_equal(0, changes_diff(d.s.upper, d.s.lower, d.m, &o, NULL,
	    &d.e));
	must(&d, apply(&d));
	o.undo_dirfd = d.s.undo;
	o.cookie = &is;
	assert_int_equal(0, changes_diff(d.s.upper, d.s.lower, d.m, &o, &sum,
	    &d.e));
	assert_int_equal(0, sum.stale);
	assert_string_equal(buf_cstr(&was), buf_cstr(&is));
	done_free(&d);
}

static void
a_dry_run_only_looks(void **state)
{
	struct done d;

	(void)state;
	done_open(&d, HOST, SESSION);
	d.a.dry_run = 1;
	assert_int_equal(0, apply(&d));
	d.a.undo_dirfd = -1;
	assert_int_equal(0, apply(&d));
	assert_int_equal(d.m->n, d.r.done);
	assert_int_equal(CHANGES_UNTOUCHED, d.r.outcome);
	host_is(&d, "orig");
	staged_host(&d.s, "test -z \"$(ls -A ../undo)\"");
	done_free(&d);
}

static void
what_both_sides_changed_is_taken_only_when_asked_for(void **state)
{
	struct timespec tick = { 0, 20 * 1000 * 1000 }, now;
	struct done d;

	(void)state;
	done_open(&d, "echo 1 >a", "echo 2 >a");
	assert_int_equal(0, clock_gettime(CLOCK_REALTIME, &now));
	(void)nanosleep(&tick, NULL);
	staged_host(&d.s, "echo host >a; rm -rf ../orig; cp -a . ../orig");
	manifest_free(d.m);
	d.a.m = d.m = staged_scan(&d.s, now.tv_sec * INT64_C(1000000000) +
	    now.tv_nsec);
	assert_int_equal(-1, apply(&d));
	assert_int_equal(ERR_CONFLICT, d.e.code);
	host_is(&d, "orig");
	d.a.over_host = 1;
	must(&d, apply(&d));
	host_is(&d, "final");
	must(&d, undo(&d));
	host_is(&d, "orig");
	done_free(&d);
}

static void
undo_is_refused_where_the_host_went_on(void **state)
{
	struct done d;

	(void)state;
	done_open(&d, "echo 1 >a; echo 1 >b", "echo 2 >a; echo 2 >b; mkdir n");
	must(&d, apply(&d));
	staged_host(&d.s, "echo later >a; echo mine >n/mine\n"
	    "rm -rf ../final; cp -a . ../final");
	assert_int_equal(-1, undo(&d));
	assert_int_equal(ERR_CONFLICT, d.e.code);
	assert_int_equal(2, d.r.nconflict);
	assert_int_equal(CHANGES_PARTIAL, d.r.outcome);
	host_is(&d, "final");
	done_free(&d);
}

/* Somebody writes between the look and the leap. */
struct meddler {
	const struct staged *s;
	const char	*path, *script;
	size_t		 calls, at;
};

static int
meddle(void *cookie, const struct change *c, size_t done, size_t total)
{
	struct meddler *m = cookie;

	(void)done;
	(void)total;
	if (strcmp(c->path.p, m->path) == 0 && m->calls++ == m->at)
		staged_host(m->s, m->script);
	return 0;
}

static void
meddled(const char *path, const char *script, const char *holds)
{
	struct meddler m = { .path = path, .script = script, .at = 1 };
	struct done d;

	done_open(&d, "echo 1 >a; echo 1 >b; mkdir c; echo 1 >c/x",
	    "echo 2 >a; rm b; rm -r c; echo 2 >c; echo 3 >n");
	m.s = &d.s;
	d.a.step = meddle;
	d.a.cookie = &m;
	assert_int_equal(-1, apply(&d));
	assert_int_equal(ERR_CONFLICT, d.e.code);
	assert_int_equal(1, d.r.nconflict);
	assert_string_equal(path, d.r.conflict[0].c->path.p);
	staged_host(&d.s, holds);
	staged_host(&d.s, "! ls -A | grep '^.glove'");
	done_free(&d);
}

static void
a_write_in_the_last_moment_is_not_lost(void **state)
{
	(void)state;
	meddled("a", "echo host >>a", "test \"$(cat a)\" = \"$(printf '1\\nhost')\"");
	meddled("a", "echo host >t; mv t a", "test \"$(cat a)\" = host");
	meddled("a", "rm a; mkdir a; echo 1 >a/x", "test -e a/x");
	meddled("b", "echo host >>b", "test \"$(cat b)\" = \"$(printf '1\\nhost')\"");
	meddled("n", "echo host >n", "test \"$(cat n)\" = host");
	meddled("c", "echo host >c/y", "test \"$(cat c/y)\" = host");
}

static void
the_undo_copy_of_a_linked_file_is_a_copy(void **state)
{
	struct done d;

	(void)state;
	done_open(&d, "echo 1 >a; ln a b", "echo 2 >a");
	must(&d, apply(&d));
	staged_host(&d.s, "echo through the other name >>b");
	must(&d, undo(&d));
	staged_host(&d.s, "test \"$(cat a)\" = 1");
	done_free(&d);
}

static void
what_is_left_out_stays_out(void **state)
{
	struct done d;

	(void)state;
	done_open(&d, "echo 1 >a", "mkfifo p; mkdir q; mkfifo q/p; echo 2 >a");
	must(&d, apply(&d));
	assert_int_equal(2, d.r.refused);
	staged_host(&d.s, "test ! -e p; test -d q; test ! -e q/p; test \"$(cat a)\" = 2");
	done_free(&d);
}

static void
a_directory_that_forbids_writing_is_a_conflict(void **state)
{
	struct done d;

	(void)state;
	if (geteuid() == 0)
		skip();		/* nothing is forbidden to root */
	done_open(&d, "mkdir d; echo 1 >d/a; chmod 555 d", "chmod 755 d; "
	    "echo 2 >d/b; chmod 555 d");
	assert_int_equal(-1, apply(&d));
	assert_int_equal(ERR_CONFLICT, d.e.code);
	host_is(&d, "orig");
	done_free(&d);
}

static void
an_undo_directory_serves_one_change(void **state)
{
	struct done d, other;

	(void)state;
	done_open(&d, "echo 1 >a", "echo 2 >a");
	done_open(&other, "echo 1 >a", "echo 3 >a");
	must(&d, apply(&d));
	other.a.undo_dirfd = d.s.undo;
	assert_int_equal(-1, apply(&other));
	assert_int_equal(ERR_FORMAT, other.e.code);
	host_is(&other, "orig");
	done_free(&other);
	done_free(&d);
}

static void
without_a_committed_start_nothing_happens(void **state)
{
	struct done d;

	(void)state;
	done_open(&d, "echo 1 >a", "echo 2 >a");
	assert_int_equal(-1, changes_apply(&d.a, NULL, &d.r, &d.e));
	assert_int_equal(ERR_BUG, d.e.code);
	assert_int_equal(-1, changes_undo(&d.a, NULL, &d.r, &d.e));
	assert_int_equal(ERR_BUG, d.e.code);
	host_is(&d, "orig");
	done_free(&d);
}

static void
holes_stay_holes(void **state)
{
	struct done d;

	(void)state;
	done_open(&d, "truncate -s 40M was",
	    "truncate -s 50M new; echo end >>new; echo x >was; : >empty");
	must(&d, apply(&d));
	host_is(&d, "final");
	staged_host(&d.s, "test $(du -k new | cut -f1) -lt 1000");
	must(&d, undo(&d));
	host_is(&d, "orig");
	done_free(&d);
}

/* In a child: the host directory is a megabyte of memory. */
static int
on_a_small_disk(struct done *d)
{
	AUTO(buf) struct buf b;
	char path[128];
	int rc;

	buf_init(&b, TREE_BYTES);
	(void)snprintf(path, sizeof(path), "%s/lower", d->s.dir);
	if (staged_enter() != 0 ||
	    mount("tmpfs", path, "tmpfs", 0, "size=1M,mode=0755") != 0)
		return 42;
	d->s.lower = d->a.lower_dirfd = open(path, O_RDONLY | O_DIRECTORY);
	staged_host(&d->s, "echo 1 >a");
	rc = apply(d);
	staged_host(&d->s, "test \"$(ls -A)\" = a; test \"$(cat a)\" = 1");
	return rc == -1 && d->e.sys == ENOSPC &&
	    d->r.outcome == CHANGES_UNTOUCHED ? 0 : 1;
}

static void
a_full_disk_leaves_the_host_as_it_is(void **state)
{
	struct done d;
	int status;
	pid_t pid;

	(void)state;
	done_open(&d, "echo 1 >a", "echo 2 >a; head -c 2000000 /dev/urandom >big");
	assert_true((pid = fork()) >= 0);
	if (pid == 0)
		_exit(on_a_small_disk(&d));
	assert_int_equal(pid, waitpid(pid, &status, 0));
	done_free(&d);
	if (WIFEXITED(status) && WEXITSTATUS(status) == 42)
		skip();
	assert_int_equal(0, status);
}

static void
thousands_of_files_are_one_apply(void **state)
{
	struct done d;

	(void)state;
	done_open(&d, "mkdir d; i=0; while [ $i -lt 1500 ]; do echo $i >d/$i; "
	    "i=$((i+1)); done",
	    "i=0; while [ $i -lt 1500 ]; do echo x >d/$i; echo y >d/n$i; "
	    "i=$((i+2)); done; rm d/*3");
	must(&d, apply(&d));
	host_is(&d, "final");
	must(&d, undo(&d));
	host_is(&d, "orig");
	done_free(&d);
}

static void
discard_removes_whatever_an_agent_left(void **state)
{
	struct staged s;
	struct err e;
	int at, sub;

	(void)state;
	staged_open(&s);
	staged_host(&s, "echo safe >safe");
	assert_int_equal(0, symlinkat("../../lower", s.upper, "out"));
	at = dup(s.upper);
	for (int i = 0; i < 3000; i++) {
		assert_int_equal(0, mkdirat(at, "deep", 0700));
		sub = openat(at, "deep", O_RDONLY | O_DIRECTORY);
		assert_int_equal(0, mkdirat(at, ".gone-7", 0));
		assert_int_equal(0, mkfifoat(at, "fifo", 0));
		if (i % 10 == 3)
			assert_int_equal(0, fchmod(at, 0));
		(void)close(at);
		at = sub;
	}
	(void)close(at);
	if (changes_discard(s.top, "upper", &e) != 0)
		fail_msg("%s", e.msg);
	assert_int_equal(-1, faccessat(s.top, "upper", F_OK, 0));
	assert_int_equal(0, changes_discard(s.top, "upper", &e));
	/* A link in the place of a layer is only a link. */
	assert_int_equal(0, symlinkat("lower", s.top, "upper"));
	assert_int_equal(0, changes_discard(s.top, "upper", &e));
	staged_host(&s, "test -e safe");
	staged_close(&s);
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(
		    a_whole_apply_is_what_the_session_saw_and_undo_the_way_back),
		cmocka_unit_test(a_conflict_leaves_the_host_as_it_is_and_names_all),
		cmocka_unit_test(a_link_above_is_never_followed),
		cmocka_unit_test(what_the_host_put_in_a_removed_directory_stays),
		cmocka_unit_test(setuid_does_not_come_along),
		cmocka_unit_test(chosen_paths_bring_the_directories_they_need),
		cmocka_unit_test(a_stop_at_any_entry_can_be_continued_or_undone),
		cmocka_unit_test(a_layer_that_is_not_the_manifests_touches_nothing),
		cmocka_unit_test(the_diff_is_the_same_after_the_apply),
		cmocka_unit_test(a_dry_run_only_looks),
		cmocka_unit_test(
		    what_both_sides_changed_is_taken_only_when_asked_for),
		cmocka_unit_test(undo_is_refused_where_the_host_went_on),
		cmocka_unit_test(a_write_in_the_last_moment_is_not_lost),
		cmocka_unit_test(the_undo_copy_of_a_linked_file_is_a_copy),
		cmocka_unit_test(what_is_left_out_stays_out),
		cmocka_unit_test(a_directory_that_forbids_writing_is_a_conflict),
		cmocka_unit_test(an_undo_directory_serves_one_change),
		cmocka_unit_test(without_a_committed_start_nothing_happens),
		cmocka_unit_test(holes_stay_holes),
		cmocka_unit_test(a_full_disk_leaves_the_host_as_it_is),
		cmocka_unit_test(thousands_of_files_are_one_apply),
		cmocka_unit_test(discard_removes_whatever_an_agent_left),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
