/* SPDX-License-Identifier: ISC */
/*
 * Kill an apply, and an undo, at every seam at every step, and look at what is
 * left: it must go on to the whole, and it must go back to the start, and no
 * file may at any time be anything but its old or its new self.
 */
#include <sys/stat.h>
#include <sys/wait.h>

#include <fcntl.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <cmocka.h>

#include "faultinject/fi.h"
#include "sandbox/changes_work.h"
#include "tests/lib/staged.h"

enum { TREE_BYTES = 1 << 20 };

static const char HOST[] =
    "echo 1 >mod; echo 1 >gone; echo 1 >mode; mkdir -p d/e; echo 1 >d/a\n"
    "echo 2 >d/e/b; ln -s mod l; echo 1 >todir; mkdir tofile; echo 1 >tofile/in\n"
    "mkdir shut; echo 1 >shut/x; chmod 555 shut";
static const char SESSION[] =
    "echo 2 >>mod; rm gone; chmod 700 mode; rm -r d; rm l; ln -s x l; rm todir\n"
    "mkdir todir; echo n >todir/n; rm -r tofile; echo f >tofile\n"
    "chmod 755 shut; rm -r shut; mkdir ro; echo 1 >ro/f; chmod 555 ro";

struct world {
	struct staged	s;
	struct manifest	*m;
	struct buf	orig, final;	/* as trees */
};

static void
tree(const struct world *w, struct buf *b)
{
	buf_reset(b);
	staged_tree(w->s.top, "lower", b);
	assert_non_null(buf_cstr(b));
}

static int
world_open(struct world *w, const char *base)
{
	char script[1024];

	buf_init(&w->orig, TREE_BYTES);
	buf_init(&w->final, TREE_BYTES);
	w->m = NULL;
	staged_open_at(&w->s, base);
	(void)snprintf(script, sizeof(script), "%s\ncp -a . ../orig", HOST);
	staged_host(&w->s, script);
	tree(w, &w->orig);
	(void)snprintf(script, sizeof(script), "%s\ncp -a . \"$STAGED/final\"",
	    SESSION);
	if (staged_session(&w->s, script) != 0)
		return -1;
	staged_tree(w->s.top, "final", &w->final);
	assert_non_null(buf_cstr(&w->final));
	w->m = staged_scan(&w->s, 0);
	return 0;
}

static void
world_close(struct world *w)
{
	manifest_free(w->m);
	buf_done(&w->orig);
	buf_done(&w->final);
	staged_close(&w->s);
}

/* The host directory as at the start, and nothing kept. */
static void
again(const struct world *w)
{
	staged_host(&w->s, "chmod -R u+w . 2>/dev/null || :\n"
	    "find . -mindepth 1 -delete; find ../undo -mindepth 1 -delete\n"
	    "cp -a ../orig/. .");
}

static int
work(const struct world *w, int undo, enum changes_outcome *outcome,
    struct err *e)
{
	AUTO(changes_result) struct changes_result r;
	struct changes_apply a = { .upper_dirfd = w->s.upper,
	    .lower_dirfd = w->s.lower, .undo_dirfd = w->s.undo, .m = w->m };
	int rc = changes_work(&a, undo, &r, e);

	*outcome = r.outcome;
	return rc;
}

static void
whole(const struct world *w, int undo)
{
	enum changes_outcome outcome;
	struct err e;

	if (work(w, undo, &outcome, &e) != 0)
		fail_msg("%s", e.msg);
	assert_int_equal(CHANGES_WHOLE, outcome);
}

static void
host_is(const struct world *w, const struct buf *want)
{
	AUTO(buf) struct buf b;

	buf_init(&b, TREE_BYTES);
	tree(w, &b);
	assert_string_equal((const char *)want->p, buf_cstr(&b));
}

/* Each line of the tree, type, mode, digest, is one of the old or the new. */
static void
no_file_is_half_written(const struct world *w)
{
	AUTO(buf) struct buf b;
	char *line, *save = NULL;

	buf_init(&b, TREE_BYTES);
	tree(w, &b);
	for (line = strtok_r((char *)b.p, "\n", &save); line != NULL;
	    line = strtok_r(NULL, "\n", &save)) {
		/* Directories are opened up while they are worked in. */
		if (strncmp(line, "directory", 9) == 0 ||
		    strstr(line, "./.glove-") != NULL)
			continue;
		if (strstr((const char *)w->orig.p, line) == NULL &&
		    strstr((const char *)w->final.p, line) == NULL)
			fail_msg("neither old nor new: %s", line);
	}
}

/* Run it with one fault; 1 if the fault was met. */
static int
faulted(const struct world *w, int undo, enum fi_point point, enum fi_mode mode,
    int countdown)
{
	enum changes_outcome outcome;
	struct err e;
	int status;
	pid_t pid = fork();

	assert_true(pid >= 0);
	if (pid == 0) {
		fi_arm(point, mode, countdown);
		_exit(work(w, undo, &outcome, &e) == 0 ? 0 : 1);
	}
	assert_int_equal(pid, waitpid(pid, &status, 0));
	assert_true(WIFEXITED(status));
	assert_true(WEXITSTATUS(status) == 0 || WEXITSTATUS(status) ==
	    (mode == FI_CRASH ? FI_CRASH_STATUS : 1));
	return WEXITSTATUS(status) != 0;
}

static int
sweep(const struct world *w, int undo, enum fi_mode mode)
{
	static const enum fi_point points[] = {
		FI_APPLY_PLANNED, FI_APPLY_STAGED, FI_APPLY_SYNCED,
		FI_APPLY_EXCHANGED, FI_APPLY_PLACED, FI_APPLY_FINISHED,
	};
	int n = 0, hit;

	for (size_t p = 0; p < sizeof(points) / sizeof(*points); p++)
		for (int i = 0; ; i++) {
			again(w);
			if (undo)
				whole(w, 0);
			hit = faulted(w, undo, points[p], mode, i);
			no_file_is_half_written(w);
			/* Forward first, or straight back, in turn. */
			if (i % 2 == 0) {
				whole(w, 0);
				host_is(w, &w->final);
			}
			whole(w, 1);
			host_is(w, &w->orig);
			if (!hit)
				break;
			n++;
		}
	return n;
}

static void
swept(int undo, enum fi_mode mode)
{
	struct world w;
	int rc, n = 0;

	/* In memory, where the kernel can lay an overlay on it: each of some
	 * hundred runs waits for the disk several times. */
	if ((rc = world_open(&w, "/dev/shm")) != 0) {
		world_close(&w);
		rc = world_open(&w, "/tmp");
	}
	if (rc == 0) {
		n = sweep(&w, undo, mode);
		print_message("%d faults survived\n", n);
	}
	world_close(&w);
	if (rc != 0)
		skip();
	/* Every entry meets at least one seam. */
	assert_true(n > 30);
}

static void
an_apply_that_dies_anywhere_goes_on_or_back(void **state)
{
	(void)state;
	swept(0, FI_CRASH);
}

static void
an_undo_that_dies_anywhere_goes_on_or_forward_again(void **state)
{
	(void)state;
	swept(1, FI_CRASH);
}

static void
an_apply_that_fails_anywhere_goes_on_or_back(void **state)
{
	(void)state;
	swept(0, FI_FAIL);
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(an_apply_that_dies_anywhere_goes_on_or_back),
		cmocka_unit_test(
		    an_undo_that_dies_anywhere_goes_on_or_forward_again),
		cmocka_unit_test(an_apply_that_fails_anywhere_goes_on_or_back),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
