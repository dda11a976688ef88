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
#include "journal/source_db.h"
#include "tests/lib/forge.h"
#include "tests/lib/home.h"

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
outside(const char *what, const uint8_t pub[PUB_BYTES], const char *origin,
    const char *name)
{
	AUTO(buf) struct buf b;
	char command[512];

	buf_init(&b, 200);
	note_verifier_put(&b, origin, pub);
	(void)snprintf(command, sizeof(command),
	    "%s/verify %s '%s' %s/%s >%s/said 2>&1", dir, what, buf_cstr(&b), dir,
	    name, dir);
	return status(command);
}

static void
assert_outside(const char *what, const uint8_t pub[PUB_BYTES],
    const char *origin, const char *name)
{
	char said[200] = "";
	FILE *in;

	if (outside(what, pub, origin, name) == 0)
		return;
	(void)snprintf(said, sizeof(said), "%s/said", dir);
	in = fopen(said, "r");
	if (in == NULL || fgets(said, sizeof(said), in) == NULL)
		(void)strcpy(said, "nothing");
	fail_msg("%s %s: %s", what, name, said);
}

static void
assert_good(const char *what, const struct forge *f, const char *name)
{
	assert_outside(what, f->log.pub, f->origin, name);
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
		if (outside("export", f.log.pub, f.origin, "out") != BAD)
			fail_msg("%s, byte %ld", places[i].name, places[i].at);
		flip(places[i].name, places[i].at);
	}
	assert_good("export", &f, "out");
	/* The root key signed none of it, but all of it follows from it. */
	assert_int_equal(BAD, outside("export", f.root.pub, f.origin, "out"));
	(void)key_name_str(f.install, "root", root);
	assert_int_equal(0, outside("export", f.root.pub, root, "out"));
	assert_int_equal(BAD, outside("export", f.log.pub, root, "out"));
	drop("out/tile/1");
	assert_int_equal(BAD, outside("export", f.log.pub, f.origin, "out"));
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
			if (outside("receipt", f.log.pub, f.origin, "r") != BAD)
				fail_msg("byte %zu of %zu", at, b.n);
			b.p[at] ^= 1;
		}
	}
	(void)close(d);
	forge_done(&f);
}

/* ---- a journal, not a forged one ---------------------------------------- */

/* The newest note of a journal that is open no more. */
struct live {
	struct source	 db;
	struct buf	 note;
};

static int
live_checkpoint(void *ctx, struct buf *note, struct err *e)
{
	const struct live *l = ctx;

	buf_put(note, l->note.p, l->note.n);
	return buf_ok(note, "note", e);
}

static int
live_record(void *ctx, struct bytes *b, struct err *e)
{
	const struct live *l = ctx;

	return l->db.ops->record(l->db.ctx, b, e);
}

static int
live_commit(void *ctx, struct commit_row *c, struct err *e)
{
	const struct live *l = ctx;

	return l->db.ops->commit(l->db.ctx, c, e);
}

static int
no_sealed(void *ctx, int machine, const struct id *id,
    int (*visit)(void *vctx, const struct sealed_row *s, struct err *e),
    void *vctx, struct err *e)
{
	(void)ctx, (void)machine, (void)id, (void)visit, (void)vctx, (void)e;
	return 0;
}

static int
no_blob(void *ctx, const uint8_t digest[32],
    int (*visit)(void *vctx, struct bytes piece, struct err *e), void *vctx,
    struct err *e)
{
	(void)ctx, (void)digest, (void)visit, (void)vctx;
	return err_set(e, ERR_NOTFOUND, "blob");
}

/* Commits of random moves, an epoch roll among them, and starts. */
static void
live_moves(struct home *h)
{
	struct journal_txn *t;
	struct id exp, ses;
	struct err e;

	for (int commit = 0; commit < 60; commit++) {
		must(journal_begin(h->j, &t, &e));
		for (int i = 0; i <= commit % 5; i++) {
			id_random(&exp);
			id_random(&ses);
			must(home_expose(t, &exp, NULL, &e));
			must(home_move(t, MACHINE_EXPOSURE, &exp,
			    EXPOSURE_EV_renew, &e));
			must(home_move(t, MACHINE_SESSION, &ses,
			    SESSION_EV_prepare, &e));
			must(home_move(t, MACHINE_SESSION, &ses,
			    SESSION_EV_refuse, &e));
		}
		if (commit % 20 == 10)
			must(journal_epoch_roll(t, &e));
		must(home_commit(t, &e));
		if (commit % 25 == 24)
			must(home_open(h, &e));
	}
}

static void
live_receipts(struct home *h)
{
	uint64_t size = journal_size(h->j);
	int d = open(dir, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	struct err e;

	assert_true(d >= 0);
	for (uint64_t i = 0; i < size; i += 1 + size / 30) {
		AUTO(buf) struct buf b;

		buf_init(&b, 128 << 10);
		must(journal_receipt(h->j, i, &b, &e));
		must(fd_replace(d, "r", buf_bytes(&b), 0600, &e));
		assert_outside("receipt", journal_log_pub(h->j),
		    journal_origin(h->j), "r");
	}
	(void)close(d);
}

static void
what_a_journal_hands_out_is_good(void **state)
{
	static const struct source_ops ops = { .checkpoint = live_checkpoint,
	    .record = live_record, .commit = live_commit };
	AUTO(source_db) struct source_db *db = NULL;
	struct export_opts o = { .session = NULL };
	struct live l;
	struct source s = { .ops = &ops, .ctx = &l };
	struct export_from from = { .src = &s, .sealed = no_sealed,
	    .blob = no_blob };
	struct export_result r;
	uint8_t root[PUB_BYTES];
	char path[128], name[ORIGIN_MAX];
	struct home h;
	struct err e;

	(void)state;
	need_go();
	home_make(&h);
	live_moves(&h);
	live_receipts(&h);
	buf_init(&l.note, 4096);
	must(journal_checkpoint(h.j, &l.note, &e));
	memcpy(root, journal_root_pub(h.j), sizeof(root));
	(void)key_name_str(journal_install(h.j), "root", name);
	home_close(&h);
	must(source_db_open(h.dir, &db, &l.db, &e));
	(void)snprintf(path, sizeof(path), "%s/out", dir);
	must(export_write(path, &from, &o, &r, &e));
	assert_outside("export", root, name, "out");
	assert_true(r.commits > 60 && r.records > 256);
	drop("out");
	buf_done(&l.note);
	home_free(&h);
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(exports_of_every_shape_are_good),
		cmocka_unit_test(an_export_with_every_kind_of_record_is_good),
		cmocka_unit_test(a_changed_byte_of_an_export_is_seen_from_outside),
		cmocka_unit_test(receipts_are_good_and_changed_ones_are_not),
		cmocka_unit_test(what_a_journal_hands_out_is_good),
	};

	return cmocka_run_group_tests(tests, build, clean);
}
