/* SPDX-License-Identifier: ISC */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>
#include <errno.h>
#include <fcntl.h>
#include <ftw.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>

#include "base/fd.h"

#include "journal/export.h"
#include "journal/verify.h"
#include "tests/lib/forge.h"

static char dir[64], out[128];

static int
drop_one(const char *path, const struct stat *st, int type, struct FTW *ftw)
{
	(void)st;
	(void)type;
	(void)ftw;
	return remove(path);
}

static int
setup(void **state)
{
	(void)state;
	(void)snprintf(dir, sizeof(dir), "/tmp/export_test.XXXXXX");
	if (mkdtemp(dir) == NULL)
		return -1;
	(void)snprintf(out, sizeof(out), "%s/out", dir);
	return 0;
}

static int
teardown(void **state)
{
	(void)state;
	return nftw(dir, drop_one, 16, FTW_DEPTH | FTW_PHYS);
}

/* Export ${f} to ${out}; of its last session, or of everything. */
static void
export(const struct forge *f, int all, struct export_result *r)
{
	struct export_opts o = { .session = all ? NULL : &f->session };
	struct export_from from;
	struct forge_source fs;
	struct source s;
	struct err e;

	forge_source(f, &fs, &s);
	forge_from(&fs, &s, &from);
	if (export_write(out, &from, &o, r, &e))
		fail_msg("%s", e.msg);
}

static enum answer
look(const struct forge *f, struct report *r)
{
	AUTO(source_dir) struct source_dir *d = NULL;
	struct source s;
	struct trusted t;
	struct verify_opts o = { .trusted = &t, .ntrusted = 1 };
	struct err e;

	forge_trust(f, &t);
	if (source_dir_open(out, &d, &s, &e))
		fail_msg("%s", e.msg);
	verify_run(&s, &o, r);
	return r->answer;
}

static void
an_export_verifies(void **state)
{
	struct forge f;
	struct export_result n;
	struct report r;

	(void)state;
	for (int all = 0; all < 2; all++) {
		forge_story(&f, 3);
		export(&f, all, &n);
		assert_int_equal(n.records, f.n);
		assert_int_equal(n.commits, f.ncommits);
		assert_int_equal(n.blobs, 1);
		if (all)
			assert_int_equal(n.sealed, f.nsealed);
		else
			assert_true(n.sealed > 0 && n.sealed < f.nsealed);
		assert_int_equal(n.receipts == 0, all);
		if (look(&f, &r) != ANSWER_NOT_WITNESSED)
			forge_print(&r);
		assert_int_equal(r.answer, ANSWER_NOT_WITNESSED);
		for (int i = 1; i < CHECK_END; i++)
			assert_int_not_equal(r.line[i].outcome, OUTCOME_FAIL);
		assert_int_equal(r.line[CHECK_SEALED].outcome, OUTCOME_PASS);
		assert_int_equal(r.line[CHECK_BLOBS].outcome, OUTCOME_PASS);
		assert_int_equal(r.line[CHECK_FILES].outcome, OUTCOME_PASS);
		assert_int_equal(r.line[CHECK_RECEIPTS].outcome,
		    all ? OUTCOME_SKIP : OUTCOME_PASS);
		assert_int_equal(0, nftw(out, drop_one, 16,
		    FTW_DEPTH | FTW_PHYS));
		forge_done(&f);
	}
}

/* Full bundles, more than one tile level, and no right edge. */
static void
an_export_of_many_tiles_verifies(void **state)
{
	static const size_t sizes[] = { 255, 256, 257, 512, 1000 };
	struct forge f;
	struct export_result n;
	struct report r;

	(void)state;
	for (size_t i = 0; i < sizeof(sizes) / sizeof(sizes[0]); i++) {
		forge_init(&f);
		forge_commit(&f);
		id_random(&f.session);
		(void)forge_event(&f, MACHINE_SESSION, &f.session,
		    SESSION_EV_prepare, NULL);
		while (f.n < sizes[i] - 2)
			(void)forge_event(&f, MACHINE_LOG, NULL,
			    LOG_EV_heartbeat, NULL);
		/* Proofs at either end of the tiles. */
		(void)forge_event(&f, MACHINE_SESSION, &f.session,
		    SESSION_EV_refuse, NULL);
		forge_commit(&f);
		forge_publish(&f);
		assert_int_equal(f.n, sizes[i]);
		export(&f, 0, &n);
		assert_int_equal(n.receipts, 2);
		if (look(&f, &r) != ANSWER_NOT_WITNESSED)
			forge_print(&r);
		assert_int_equal(r.answer, ANSWER_NOT_WITNESSED);
		assert_int_equal(r.line[CHECK_RECEIPTS].outcome, OUTCOME_PASS);
		assert_int_equal(0, nftw(out, drop_one, 16,
		    FTW_DEPTH | FTW_PHYS));
		forge_done(&f);
	}
}

static void
what_is_there_is_never_overwritten(void **state)
{
	struct export_opts o = { .session = NULL };
	struct export_result n;
	struct export_from from;
	struct forge f;
	struct forge_source fs;
	struct source s;
	struct err e;
	char path[160];
	int fd;

	(void)state;
	forge_story(&f, 1);
	assert_int_equal(0, mkdir(out, 0700));
	(void)snprintf(path, sizeof(path), "%s/precious", out);
	assert_true((fd = open(path, O_CREAT | O_WRONLY, 0600)) >= 0);
	(void)close(fd);
	forge_source(&f, &fs, &s);
	forge_from(&fs, &s, &from);
	assert_int_equal(-1, export_write(out, &from, &o, &n, &e));
	assert_int_equal(e.code, ERR_CONFLICT);
	assert_int_equal(0, access(path, F_OK));
	/* Nothing half made is left beside it; an empty one is taken. */
	assert_int_equal(0, unlink(path));
	assert_int_equal(0, rmdir(out));
	assert_int_equal(0, rmdir(dir));
	assert_int_equal(0, mkdir(dir, 0700));
	assert_int_equal(0, mkdir(out, 0700));
	export(&f, 1, &n);
	forge_done(&f);
}

static void
an_export_that_fails_leaves_nothing(void **state)
{
	struct export_opts o = { .session = NULL };
	struct export_result n;
	struct export_from from;
	struct forge f;
	struct forge_source fs;
	struct source s;
	struct err e;

	(void)state;
	forge_story(&f, 1);
	forge_source(&f, &fs, &s);
	forge_from(&fs, &s, &from);
	fs.records--;
	assert_int_equal(-1, export_write(out, &from, &o, &n, &e));
	assert_int_equal(0, rmdir(dir));
	assert_int_equal(0, mkdir(dir, 0700));
	forge_done(&f);
}

/* ---- tampering ---------------------------------------------------------- */

static char (*names)[192];
static size_t nnames;

static int
note_file(const char *path, const struct stat *st, int type, struct FTW *ftw)
{
	(void)st;
	(void)ftw;
	if (type == FTW_F) {
		names = realloc(names, (nnames + 1) * sizeof(*names));
		if (names == NULL)
			return -1;
		(void)snprintf(names[nnames++], sizeof(*names), "%s", path);
	}
	return 0;
}

static void
list_files(void)
{
	free(names);
	names = NULL;
	nnames = 0;
	assert_int_equal(0, nftw(out, note_file, 16, FTW_PHYS));
	assert_true(nnames > 10);
}

static void
read_file(const char *path, struct buf *b)
{
	struct err e;

	buf_reset(b);
	if (fd_file(AT_FDCWD, path, b, &e))
		fail_msg("%s", e.msg);
}

static void
write_file(const char *path, const void *p, size_t n)
{
	AUTO(fd) int fd = open(path, O_WRONLY | O_CREAT | O_TRUNC, 0600);
	struct err e;

	assert_true(fd >= 0);
	assert_int_equal(0, fd_write_all(fd, p, n, &e));
}

static void
assert_not_valid(const struct forge *f, const char *path, size_t at)
{
	struct report r;

	if (answer_exit((int)look(f, &r)) == 0) {
		forge_print(&r);
		fail_msg("%s, byte %zu", path, at);
	}
}

/* Long files by steps, unless GLOVE_LONG is set: then at every byte. */
static void
each_changed_byte_of_each_file_is_found(void **state)
{
	AUTO(buf) struct buf b;
	struct export_result n;
	struct forge f;
	const int every = getenv("GLOVE_LONG") != NULL;

	(void)state;
	forge_story(&f, 1);
	export(&f, 0, &n);
	list_files();
	buf_init(&b, 1 << 20);
	for (size_t i = 0; i < nnames; i++) {
		size_t step, at;
		int fd;

		read_file(names[i], &b);
		assert_true((fd = open(names[i], O_WRONLY)) >= 0);
		step = every || b.n < 700 ? 1 : 23;
		for (at = i % step; at < b.n; at += step) {
			uint8_t changed = b.p[at] ^ (uint8_t)(1u << at % 7);

			assert_int_equal(1, pwrite(fd, &changed, 1, (off_t)at));
			assert_not_valid(&f, names[i], at);
			assert_int_equal(1, pwrite(fd, b.p + at, 1, (off_t)at));
		}
		(void)close(fd);
	}
	forge_done(&f);
}

static void
each_file_that_is_missing_cut_or_longer_is_found(void **state)
{
	AUTO(buf) struct buf b;
	struct export_result n;
	struct forge f;
	struct report r;

	(void)state;
	forge_story(&f, 1);
	export(&f, 0, &n);
	list_files();
	buf_init(&b, 1 << 20);
	for (size_t i = 0; i < nnames; i++) {
		read_file(names[i], &b);
		write_file(names[i], b.p, b.n - 1);
		assert_not_valid(&f, names[i], b.n - 1);
		write_file(names[i], b.p, 0);
		assert_not_valid(&f, names[i], 0);
		buf_put_u8(&b, '\n');
		write_file(names[i], b.p, b.n);
		assert_not_valid(&f, names[i], b.n);
		assert_int_equal(0, unlink(names[i]));
		/* A receipt or an object may be left out: it proves itself. */
		if (strstr(names[i], "/receipts/") == NULL &&
		    strstr(names[i], "/blobs/") == NULL)
			assert_not_valid(&f, names[i], 0);
		write_file(names[i], b.p, b.n - 1);
	}
	assert_int_equal(look(&f, &r), ANSWER_NOT_WITNESSED);
	forge_done(&f);
}

static void
a_file_that_does_not_belong_is_found(void **state)
{
	static const char *const strange[] = { "notes.txt", "tile/0/001",
	    "tile/entries/x001/000", "receipts/junk", "blobs/junk" };
	struct export_result n;
	struct forge f;
	struct report r;
	char path[192], moved[192];

	(void)state;
	forge_story(&f, 1);
	export(&f, 0, &n);
	(void)snprintf(path, sizeof(path), "%s/tile/entries/x001", out);
	assert_int_equal(0, mkdir(path, 0700));
	for (size_t i = 0; i < sizeof(strange) / sizeof(strange[0]); i++) {
		(void)snprintf(path, sizeof(path), "%s/%s", out, strange[i]);
		write_file(path, "x", 1);
		assert_not_valid(&f, path, 0);
		assert_int_equal(0, unlink(path));
	}
	/* A link to a good file is not a file. */
	(void)snprintf(path, sizeof(path), "%s/keys.txt", out);
	(void)snprintf(moved, sizeof(moved), "%s/keys", dir);
	assert_int_equal(0, rename(path, moved));
	assert_int_equal(0, symlink(moved, path));
	assert_int_not_equal(0, answer_exit((int)look(&f, &r)));
	forge_done(&f);
}

static void
a_receipt_of_another_log_is_found(void **state)
{
	AUTO(buf) struct buf text;
	struct export_result n;
	struct forge f, other;
	struct report r;
	char path[192];

	(void)state;
	forge_story(&f, 1);
	forge_story(&other, 1);
	export(&f, 0, &n);
	buf_init(&text, 1 << 20);
	forge_receipt(&other, 3, &text);
	(void)snprintf(path, sizeof(path), "%s/receipts/3", out);
	write_file(path, text.p, text.n);
	assert_int_equal(look(&f, &r), ANSWER_INVALID);
	assert_int_equal(r.line[CHECK_RECEIPTS].outcome, OUTCOME_FAIL);
	forge_done(&f);
	forge_done(&other);
}

int
main(void)
{
#define TEST(f) cmocka_unit_test_setup_teardown(f, setup, teardown)
	const struct CMUnitTest tests[] = {
		TEST(an_export_verifies),
		TEST(an_export_of_many_tiles_verifies),
		TEST(what_is_there_is_never_overwritten),
		TEST(an_export_that_fails_leaves_nothing),
		TEST(each_changed_byte_of_each_file_is_found),
		TEST(each_file_that_is_missing_cut_or_longer_is_found),
		TEST(a_file_that_does_not_belong_is_found),
		TEST(a_receipt_of_another_log_is_found),
	};

	int failed = cmocka_run_group_tests(tests, NULL, NULL);

	free(names);
	return failed;
}
