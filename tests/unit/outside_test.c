/* SPDX-License-Identifier: ISC */
/*
 * What leaves Glove, judged from outside: exports and receipts against the
 * verifier in tests/go, which shares no code with ours.
 */
#include <sys/stat.h>
#include <sys/wait.h>

#include <fcntl.h>
#include <ftw.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

#include <cmocka.h>

#include "base/fd.h"
#include "journal/export.h"
#include "tests/lib/forge.h"

enum { BAD = 1, SKIPPED = 77 };

static char dir[64];
static int built;

static int
status(const char *command)
{
	int s = system(command);

	return WIFEXITED(s) ? WEXITSTATUS(s) : -1;
}

static int
build(void **state)
{
	char command[256];
	int s;

	(void)state;
	(void)snprintf(dir, sizeof(dir), "/tmp/outside_test.XXXXXX");
	if (mkdtemp(dir) == NULL)
		return -1;
	(void)snprintf(command, sizeof(command),
	    "tests/go/build.sh %s/verify", dir);
	s = status(command);
	built = s == 0;
	return s == 0 || s == SKIPPED ? 0 : -1;
}

static int
drop_one(const char *path, const struct stat *st, int type, struct FTW *ftw)
{
	(void)st;
	(void)type;
	(void)ftw;
	(void)chmod(path, 0700);	/* Go keeps its cache read-only */
	return remove(path);
}

static int
clean(void **state)
{
	(void)state;
	return nftw(dir, drop_one, 16, FTW_DEPTH | FTW_PHYS);
}

static void
need_go(void)
{
	if (!built)
		skip();
}

/* What the outside says of ${name}: 0, or BAD. */
static int
outside(const char *what, const struct forge_key *key, const char *origin,
    const char *name)
{
	AUTO(buf) struct buf b;
	char command[512];

	buf_init(&b, 200);
	note_verifier_put(&b, origin, key->pub);
	(void)snprintf(command, sizeof(command),
	    "%s/verify %s '%s' %s/%s >%s/said 2>&1", dir, what, buf_cstr(&b), dir,
	    name, dir);
	return status(command);
}

static void
assert_good(const char *what, const struct forge *f, const char *name)
{
	char said[200] = "";
	FILE *in;

	if (outside(what, &f->log, f->origin, name) == 0)
		return;
	(void)snprintf(said, sizeof(said), "%s/said", dir);
	in = fopen(said, "r");
	if (in == NULL || fgets(said, sizeof(said), in) == NULL)
		(void)strcpy(said, "nothing");
	fail_msg("%s %s: %s", what, name, said);
}

/* ---- histories of any size ---------------------------------------------- */

static void
renew(struct forge *f, const struct id *exp, uint64_t generation)
{
	AUTO(fields) struct fields v;

	fields_init(&v);
	fields_u64(&v, FIELD_GENERATION, generation);
	(void)forge_event(f, MACHINE_EXPOSURE, exp, EXPOSURE_EV_renew, &v);
}

/* A log of exactly ${size} records; a commit has 90 at the most. */
static void
history(struct forge *f, size_t size)
{
	struct id exp;

	forge_init(f);
	id_random(&exp);
	if (f->n + 1 < size)
		(void)forge_event(f, MACHINE_EXPOSURE, &exp,
		    EXPOSURE_EV_expose, NULL);
	while (f->n + 1 < size) {
		if (f->n % 90 == 0 && f->n + 2 < size)
			forge_commit(f);
		renew(f, &exp, f->n);
	}
	forge_commit(f);
	forge_publish(f);
	assert_int_equal(size, f->n);
}

static void
export(const struct forge *f, const char *name)
{
	struct export_opts o = { .session = NULL };
	struct export_from from;
	struct export_result r;
	struct forge_source fs;
	struct source s;
	char path[128];
	struct err e;

	forge_source(f, &fs, &s);
	forge_from(&fs, &s, &from);
	(void)snprintf(path, sizeof(path), "%s/%s", dir, name);
	if (export_write(path, &from, &o, &r, &e))
		fail_msg("%s", e.msg);
}

static void
drop(const char *name)
{
	char path[128];

	(void)snprintf(path, sizeof(path), "%s/%s", dir, name);
	assert_int_equal(0, nftw(path, drop_one, 16, FTW_DEPTH | FTW_PHYS));
}

/* ---- exports ------------------------------------------------------------ */

static void
exports_of_every_shape_are_good(void **state)
{
	/* GENESIS, three keys and a footer are the least. */
	static const size_t sizes[] = { 20, 255, 256, 257, 513, 66000 };

	(void)state;
	need_go();
	for (size_t i = 0; i < sizeof(sizes) / sizeof(sizes[0]); i++) {
		struct forge f;

		history(&f, sizes[i]);
		export(&f, "out");
		assert_good("export", &f, "out");
		drop("out");
		forge_done(&f);
	}
}

static void
an_export_with_every_kind_of_record_is_good(void **state)
{
	struct forge f;

	(void)state;
	need_go();
	forge_story(&f, 5);
	export(&f, "out");
	assert_good("export", &f, "out");
	drop("out");
	forge_done(&f);
}

static void
flip(const char *name, long at)
{
	char path[200];
	uint8_t b;
	int fd;

	(void)snprintf(path, sizeof(path), "%s/out/%s", dir, name);
	fd = open(path, O_RDWR | O_CLOEXEC);
	assert_true(fd >= 0);
	assert_int_equal(1, pread(fd, &b, 1, at));
	b ^= 1;
	assert_int_equal(1, pwrite(fd, &b, 1, at));
	(void)close(fd);
}

static void
a_changed_byte_of_an_export_is_seen_from_outside(void **state)
{
	static const struct { const char *name; long at; } places[] = {
		{ "checkpoint", 10 }, { "checkpoint", 43 },
		{ "checkpoint", 60 }, { "tile/entries/000", 0 },
		{ "tile/entries/000", 2 }, { "tile/entries/000", 30 },
		{ "tile/entries/000", 5000 }, { "tile/entries/001.p/44", 100 },
		{ "tile/0/000", 0 }, { "tile/0/000", 8191 },
		{ "tile/0/001.p/44", 40 }, { "tile/1/000.p/1", 31 },
		{ "commits", 0 }, { "commits", 3 }, { "commits", 20 },
		{ "commits", 90 }, { "commits", 400 },
	};
	char root[ORIGIN_MAX];
	struct forge f;

	(void)state;
	need_go();
	history(&f, 300);
	export(&f, "out");
	for (size_t i = 0; i < sizeof(places) / sizeof(places[0]); i++) {
		flip(places[i].name, places[i].at);
		if (outside("export", &f.log, f.origin, "out") != BAD)
			fail_msg("%s, byte %ld", places[i].name, places[i].at);
		flip(places[i].name, places[i].at);
	}
	assert_good("export", &f, "out");
	/* The root key signed none of it, but all of it follows from it. */
	assert_int_equal(BAD, outside("export", &f.root, f.origin, "out"));
	(void)key_name_str(f.install, "root", root);
	assert_int_equal(0, outside("export", &f.root, root, "out"));
	assert_int_equal(BAD, outside("export", &f.log, root, "out"));
	drop("out/tile/1");
	assert_int_equal(BAD, outside("export", &f.log, f.origin, "out"));
	drop("out");
	forge_done(&f);
}

/* ---- receipts ----------------------------------------------------------- */

static void
receipts_are_good_and_changed_ones_are_not(void **state)
{
	struct forge f;
	int d;

	(void)state;
	need_go();
	history(&f, 300);
	d = open(dir, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	assert_true(d >= 0);
	for (uint64_t i = 0; i < 300; i += i < 4 || i > 290 ? 1 : 37) {
		AUTO(buf) struct buf b;
		struct err e;

		buf_init(&b, 128 << 10);
		forge_receipt(&f, i, &b);
		assert_int_equal(0, fd_replace(d, "r", buf_bytes(&b), 0600, &e));
		assert_good("receipt", &f, "r");
		/* In the record, the proof, the checkpoint, the signature;
		 * that of the epoch key, before the last, is not looked at. */
		for (size_t k = 1; k <= 6; k++) {
			size_t at = k == 6 ? b.n - 40 : (b.n - 300) * k / 6;

			b.p[at] ^= 1;
			assert_int_equal(0, fd_replace(d, "r", buf_bytes(&b),
			    0600, &e));
			if (outside("receipt", &f.log, f.origin, "r") != BAD)
				fail_msg("byte %zu of %zu", at, b.n);
			b.p[at] ^= 1;
		}
	}
	(void)close(d);
	forge_done(&f);
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(exports_of_every_shape_are_good),
		cmocka_unit_test(an_export_with_every_kind_of_record_is_good),
		cmocka_unit_test(a_changed_byte_of_an_export_is_seen_from_outside),
		cmocka_unit_test(receipts_are_good_and_changed_ones_are_not),
	};

	return cmocka_run_group_tests(tests, build, clean);
}
