/* SPDX-License-Identifier: ISC */
/*
 * What a staged session leaves in its upper layer, as a manifest.  The layers
 * are those of a real overlay wherever one can be mounted.
 */
#include <sys/stat.h>
#include <sys/sysmacros.h>
#include <sys/xattr.h>

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

#include "base/text.h"
#include "sandbox/changes_impl.h"
#include "tests/lib/staged.h"

/* One host, one session, one expected manifest. */
static void
expect(const char *host, const char *session, const char *list)
{
	AUTO(manifest) struct manifest *m = NULL;
	struct staged s;
	int no_overlay;

	staged_open(&s);
	staged_host(&s, host);
	no_overlay = staged_session(&s, session);
	if (no_overlay == 0) {
		m = staged_scan(&s, 0);
		assert_string_equal(list, staged_list(m));
	}
	staged_close(&s);
	if (no_overlay != 0)
		skip();
}

static void
a_session_that_does_nothing_changes_nothing(void **state)
{
	(void)state;
	expect("echo 1 >a; mkdir d; echo 2 >d/b", "cat a d/b >/dev/null", "");
}

static void
files_are_created_modified_and_removed(void **state)
{
	(void)state;
	expect("echo 1 >a; echo 2 >b; mkdir d; echo 3 >d/c",
	    "echo x >>a; rm b; echo n >d/new; mkdir e; echo 4 >e/f",
	    "modify file 0644 a\n"
	    "remove file 0644 b\n"
	    "create file 0644 d/new\n"
	    "create directory 0755 e\n"
	    "create file 0644 e/f\n");
}

static void
a_file_written_with_what_it_held_is_no_change(void **state)
{
	(void)state;
	expect("echo 1 >a; echo 2 >b; chmod 600 b",
	    "echo 1 >a; touch b; chmod 644 b; chmod 600 b", "");
}

static void
modes_change_without_content(void **state)
{
	(void)state;
	expect("echo 1 >a; mkdir d", "chmod 755 a; chmod 700 d",
	    "mode file 0755 a\n"
	    "mode directory 0700 d\n");
}

static void
a_removed_directory_names_all_it_held(void **state)
{
	(void)state;
	expect("mkdir -p d/e; echo 1 >d/e/a; echo 2 >d/b; echo >d-x",
	    "rm -r d",
	    "remove directory 0755 d\n"
	    "remove file 0644 d/b\n"
	    "remove directory 0755 d/e\n"
	    "remove file 0644 d/e/a\n");
}

/* A missed opaque mark would bring "gone" and "sub" back. */
static void
an_opaque_directory_does_not_resurrect_what_it_hides(void **state)
{
	(void)state;
	expect("mkdir -p d/sub; echo 1 >d/gone; echo 2 >d/kept; echo >d/sub/x",
	    "rm -r d; mkdir d; echo 2 >d/kept; echo 3 >d/new",
	    "remove file 0644 d/gone\n"
	    "create file 0644 d/new\n"
	    "remove directory 0755 d/sub\n"
	    "remove file 0644 d/sub/x\n");
}

static void
one_type_of_file_replaces_another(void **state)
{
	(void)state;
	expect("echo 1 >a; mkdir d; echo 2 >d/b; ln -s a l",
	    "rm a l; mkdir a; echo 3 >a/c; rm -r d; echo 4 >d; echo 5 >l",
	    "replace directory 0755 a\n"
	    "create file 0644 a/c\n"
	    "replace file 0644 d\n"
	    "remove file 0644 d/b\n"
	    "replace file 0644 l\n");
}

static void
links_are_changed_and_never_followed(void **state)
{
	(void)state;
	expect("ln -s /etc/passwd out; ln -s x l; mkdir real",
	    "rm l; ln -s y l; ln -s /root new; rm out; "
	    "rmdir real; ln -s /etc real",
	    "modify symlink 0000 l -> y\n"
	    "create symlink 0000 new -> /root\n"
	    "remove symlink 0000 out -> /etc/passwd\n"
	    "replace symlink 0000 real -> /etc\n");
}

static void
a_renamed_directory_is_removed_and_created(void **state)
{
	(void)state;
	expect("mkdir old; echo 1 >old/a", "mv old new",
	    "create directory 0755 new\n"
	    "create file 0644 new/a\n"
	    "remove directory 0755 old\n"
	    "remove file 0644 old/a\n");
}

static void
special_files_are_named_and_left_out(void **state)
{
	(void)state;
	expect("mkdir d", "mkfifo d/p; mkdir e; mkfifo e/q",
	    "create fifo 0000 d/p !FIFO\n"
	    "create directory 0755 e\n"
	    "create fifo 0000 e/q !FIFO\n");
}

static void
a_host_fifo_cannot_be_removed_and_keeps_its_directory(void **state)
{
	(void)state;
	expect("mkdir -p d/e; mkfifo d/e/p; echo 1 >d/a", "rm -r d",
	    "remove directory 0755 d !BELOW\n"
	    "remove file 0644 d/a\n"
	    "remove directory 0755 d/e !BELOW\n"
	    "remove fifo 0000 d/e/p !SPECIAL\n");
}

static void
setuid_is_named_and_not_part_of_the_mode(void **state)
{
	(void)state;
	expect("echo 1 >b", "echo 2 >a; chmod 4755 a; chmod 2644 b",
	    "create file 0755 a !SETID\n"
	    "keep file 0644 b !SETID\n");
}

static void
hard_links_are_named_on_both_sides(void **state)
{
	(void)state;
	expect("echo 1 >a; ln a b", "echo 2 >>a; echo 3 >c; ln c d",
	    "modify file 0644 a !HARDLINK\n"
	    "create file 0644 c !LINKED\n"
	    "create file 0644 d !LINKED\n");
}

static void
names_may_be_any_bytes(void **state)
{
	(void)state;
	expect(":", "printf 1 >\"$(printf 'a\\nb')\"; "
	    "printf 1 >\"$(printf '\\377\\376')\"; printf 1 >'sp ace \"q\"'; "
	    "printf 1 >\"$(printf 'gr\\303\\274n')\"",
	    "create file 0644 a\nb\n"
	    "create file 0644 gr\303\274n\n"
	    "create file 0644 sp ace \"q\"\n"
	    "create file 0644 \377\376\n");
}

static void
what_the_host_runs_by_itself_is_flagged(void **state)
{
	(void)state;
	expect("mkdir -p .git/hooks .git/refs sub/.git",
	    "echo x >.git/hooks/post-commit; echo x >.git/config; echo x >.git/HEAD; "
	    "echo x >sub/.git/config.worktree; echo x >.envrc; echo x >Makefile; "
	    "mkdir w; echo gitdir: /tmp >w/.git; mkdir -p .github/workflows; "
	    "echo x >.github/workflows/ci.yml; echo x >x.envrc",
	    "create file 0644 .envrc later\n"
	    "create file 0644 .git/HEAD\n"
	    "create file 0644 .git/config later\n"
	    "create file 0644 .git/hooks/post-commit later\n"
	    "create directory 0755 .github\n"
	    "create directory 0755 .github/workflows later\n"
	    "create file 0644 .github/workflows/ci.yml later\n"
	    "create file 0644 Makefile\n"
	    "create file 0644 sub/.git/config.worktree later\n"
	    "create directory 0755 w\n"
	    "create file 0644 w/.git later\n"
	    "create file 0644 x.envrc\n");
}

/* Layers made by hand: what a kernel would not let an agent write. */
static void
by_hand(const char *host, int (*make)(int upper), const char *list)
{
	AUTO(manifest) struct manifest *m = NULL;
	struct staged s;
	int rc;

	staged_open(&s);
	staged_host(&s, host);
	rc = make(s.upper);
	if (rc == 0) {
		m = staged_scan(&s, 0);
		assert_string_equal(list, staged_list(m));
	}
	staged_close(&s);
	if (rc != 0) {
		print_message("SKIP: %s\n", strerror(errno));
		skip();
	}
}

static int
mark(int dirfd, const char *name, const char *attr, const char *value)
{
	int fd = openat(dirfd, name, O_RDONLY | O_CLOEXEC);
	int rc = fsetxattr(fd, attr, value, strlen(value), 0);

	(void)close(fd);
	return rc;
}

static int
make_file(int dirfd, const char *name, const char *text)
{
	int fd = openat(dirfd, name, O_WRONLY | O_CREAT | O_TRUNC, 0644);

	assert_int_equal((ssize_t)strlen(text), write(fd, text, strlen(text)));
	return close(fd);
}

static int
xattr_whiteouts(int upper)
{
	assert_int_equal(0, mkdirat(upper, "d", 0755));
	assert_int_equal(0, make_file(upper, "d/a", ""));
	assert_int_equal(0, make_file(upper, "d/b", "not empty"));
	if (mark(upper, "d", "user.overlay.opaque", "x") != 0)
		return -1;
	return mark(upper, "d/a", "user.overlay.whiteout", "y") ||
	    mark(upper, "d/b", "user.overlay.whiteout", "y");
}

static void
a_whiteout_may_be_an_attribute_of_an_empty_file(void **state)
{
	(void)state;
	by_hand("mkdir d; echo 1 >d/a; echo 2 >d/b; echo 3 >d/c",
	    xattr_whiteouts,
	    "remove file 0644 d/a\n"
	    "modify file 0644 d/b !PLANTED\n");
}

static int
planted(int upper)
{
	assert_int_equal(0, mkdirat(upper, "d", 0755));
	assert_int_equal(0, make_file(upper, "d/a", "1\n"));
	assert_int_equal(0, make_file(upper, "f", "1\n"));
	if (mark(upper, "d", "user.overlay.redirect", "/other") != 0)
		return -1;
	return mark(upper, "f", "user.overlay.metacopy", "") ||
	    mark(upper, "f", "user.overlay.origin", "o");
}

static void
forged_overlay_marks_are_refused_with_all_below(void **state)
{
	(void)state;
	by_hand("mkdir d; echo 2 >d/a; echo 2 >f", planted,
	    "keep directory 0755 d !PLANTED\n"
	    "modify file 0644 d/a !ABOVE\n"
	    "modify file 0644 f !PLANTED\n");
}

static int
attributes(int upper)
{
	assert_int_equal(0, make_file(upper, "a", "1\n"));
	assert_int_equal(0, make_file(upper, "b", "2\n"));
	return mark(upper, "a", "user.note", "x");
}

static void
other_attributes_are_named(void **state)
{
	(void)state;
	by_hand("echo 1 >a", attributes,
	    "keep file 0644 a !XATTR\n"
	    "create file 0644 b\n");
}

static int
devices(int upper)
{
	if (mknodat(upper, "null", S_IFCHR | 0666, makedev(1, 3)) != 0)
		return -1;
	return mknodat(upper, "s", S_IFSOCK | 0666, 0);
}

static void
devices_and_sockets_are_named_and_left_out(void **state)
{
	(void)state;
	by_hand(":", devices,
	    "create device 0000 null !DEVICE\n"
	    "create socket 0000 s !SOCKET\n");
}

static int
out_of_nothing(int upper)
{
	int fd = openat(upper, "sparse", O_WRONLY | O_CREAT | O_CLOEXEC, 0644);
	int rc = ftruncate(fd, CHANGE_BYTES_MAX + 1);

	(void)close(fd);
	return rc || make_file(upper, "a", "1\n");
}

static void
a_file_of_any_size_takes_no_time(void **state)
{
	(void)state;
	by_hand(":", out_of_nothing,
	    "create file 0644 a\n"
	    "create file 0644 sparse !HUGE\n");
}

static int
locked(int upper)
{
	if (geteuid() == 0) {
		errno = EPERM;		/* root reads everything */
		return -1;
	}
	assert_int_equal(0, make_file(upper, "a", "1\n"));
	assert_int_equal(0, mkdirat(upper, "d", 0755));
	return fchmodat(upper, "a", 0, 0) || fchmodat(upper, "d", 0, 0);
}

static void
what_cannot_be_read_is_named(void **state)
{
	(void)state;
	by_hand(":", locked,
	    "create file 0000 a !UNREADABLE\n"
	    "create directory 0000 d !UNREADABLE\n");
}

static void
a_path_that_is_too_long_is_named_at_its_directory(void **state)
{
	AUTO(manifest) struct manifest *m = NULL;
	char name[201];
	struct staged s;
	int at, sub;

	(void)state;
	memset(name, 'n', 200);
	name[200] = '\0';
	staged_open(&s);
	at = dup(s.upper);
	for (int i = 0; i < 25; i++) {
		assert_int_equal(0, mkdirat(at, name, 0755));
		sub = openat(at, name, O_RDONLY | O_DIRECTORY);
		(void)close(at);
		at = sub;
	}
	(void)close(at);
	m = staged_scan(&s, 0);
	assert_int_equal(20, m->n);
	assert_int_equal(CHANGE_NOTE_DEEP, m->v[19].notes);
	assert_int_equal(0, m->v[18].notes);
	staged_close(&s);
}

static void
what_both_sides_changed_is_named(void **state)
{
	AUTO(manifest) struct manifest *m = NULL;
	struct staged s;
	struct timespec now, tick = { 0, 20 * 1000 * 1000 };
	int rc;

	(void)state;
	staged_open(&s);
	staged_host(&s, "echo 1 >a; echo 1 >b; echo 1 >c");
	(void)nanosleep(&tick, NULL);
	assert_int_equal(0, clock_gettime(CLOCK_REALTIME, &now));
	rc = staged_session(&s, "echo 2 >>a; echo 2 >>b");
	(void)nanosleep(&tick, NULL);
	staged_host(&s, "echo host >>b; echo host >>c");
	if (rc == 0) {
		m = staged_scan(&s, now.tv_sec * INT64_C(1000000000) +
		    now.tv_nsec);
		assert_string_equal("modify file 0644 a\n"
		    "modify file 0644 b !HOST\n", staged_list(m));
		assert_false(change_clashes(&m->v[0]));
		assert_true(change_clashes(&m->v[1]));
		assert_false(change_refused(&m->v[1]));
	}
	staged_close(&s);
	if (rc != 0)
		skip();
}

/* A manifest with one of everything. */
static struct manifest *
sample(void)
{
	struct manifest *m;
	struct err e;
	struct change v[] = {
		{ .path = STR("a"), .before = { .type = CHANGE_TYPE_FILE,
		  .mode = 0644, .size = 5, .digest = { 1, 2, 3 } },
		  .after = { .type = CHANGE_TYPE_SYMLINK, .target = STR("b/c") },
		  .notes = CHANGE_NOTE_XATTR },
		{ .path = STR("d"), .after = { .type = CHANGE_TYPE_DIR,
		  .mode = 01777 }, .runs_later = 1 },
		{ .path = STR("d/\xff\n"), .before = { .type = CHANGE_TYPE_FIFO },
		  .notes = CHANGE_NOTE_SPECIAL | CHANGE_NOTE_ABOVE },
		{ .path = STR("e"), .before = { .type = CHANGE_TYPE_DIR },
		  .after = { .type = CHANGE_TYPE_DIR },
		  .notes = CHANGE_NOTE_PLANTED },
	};

	assert_non_null(m = manifest_new(&e));
	for (size_t i = 0; i < sizeof(v) / sizeof(*v); i++) {
		if (v[i].before.target.p == NULL)
			v[i].before.target = STR("");
		if (v[i].after.target.p == NULL)
			v[i].after.target = STR("");
		v[i].kind = (uint8_t)change_kind_of(&v[i].before, &v[i].after);
		assert_int_equal(0, manifest_add(m, &v[i], &e));
	}
	return m;
}

static void
a_manifest_survives_the_round_trip(void **state)
{
	AUTO(manifest) struct manifest *m = sample();
	AUTO(manifest) struct manifest *back = NULL;
	AUTO(buf) struct buf b, again;
	struct err e;

	(void)state;
	buf_init(&b, 1 << 16);
	buf_init(&again, 1 << 16);
	assert_int_equal(0, manifest_encode(m, &b, &e));
	assert_int_equal(0, manifest_decode(buf_bytes(&b), &back, &e));
	assert_int_equal(m->n, back->n);
	for (size_t i = 0; i < m->n; i++) {
		assert_true(str_eq(m->v[i].path, back->v[i].path));
		assert_true(change_side_eq(&m->v[i].before, &back->v[i].before));
		assert_true(change_side_eq(&m->v[i].after, &back->v[i].after));
		assert_int_equal(m->v[i].notes, back->v[i].notes);
		assert_int_equal(m->v[i].runs_later, back->v[i].runs_later);
	}
	assert_int_equal(0, manifest_encode(back, &again, &e));
	assert_true(bytes_eq(buf_bytes(&b), buf_bytes(&again)));
}

/* Whatever is accepted after a change of one byte has another meaning, that
 * is: it encodes to exactly the changed bytes. */
static void
no_two_encodings_decode_to_one_manifest(void **state)
{
	AUTO(manifest) struct manifest *m = sample();
	AUTO(buf) struct buf b, again;
	struct err e;

	(void)state;
	buf_init(&b, 1 << 16);
	buf_init(&again, 1 << 16);
	assert_int_equal(0, manifest_encode(m, &b, &e));
	for (size_t i = 0; i < b.n; i++)
		for (unsigned bit = 0; bit < 8; bit++) {
			AUTO(manifest) struct manifest *back = NULL;

			b.p[i] ^= (uint8_t)(1u << bit);
			if (manifest_decode(buf_bytes(&b), &back, &e) == 0) {
				buf_reset(&again);
				assert_int_equal(0,
				    manifest_encode(back, &again, &e));
				assert_true(bytes_eq(buf_bytes(&b),
				    buf_bytes(&again)));
			}
			b.p[i] ^= (uint8_t)(1u << bit);
		}
}

static void
a_manifest_that_is_cut_or_continued_is_refused(void **state)
{
	AUTO(manifest) struct manifest *m = sample();
	AUTO(buf) struct buf b;
	struct manifest *back;
	struct err e;

	(void)state;
	buf_init(&b, 1 << 16);
	assert_int_equal(0, manifest_encode(m, &b, &e));
	for (size_t n = 0; n < b.n; n++) {
		assert_int_equal(-1, manifest_decode(bytes_of(b.p, n), &back,
		    &e));
		assert_int_equal(ERR_FORMAT, e.code);
	}
	buf_put_u8(&b, 0);
	assert_int_equal(-1, manifest_decode(buf_bytes(&b), &back, &e));
}

static void
a_path_out_of_the_workspace_is_not_a_path(void **state)
{
	static const struct str bad[] = {
		{ "", 0 }, { "/a", 2 }, { "a/", 2 }, { "a//b", 4 }, { ".", 1 },
		{ "..", 2 }, { "a/../b", 6 }, { "a/.", 3 }, { "a\0b", 3 },
	};

	(void)state;
	for (size_t i = 0; i < sizeof(bad) / sizeof(*bad); i++)
		assert_false(path_valid(bad[i]));
	assert_true(path_valid(STR("a")));
	assert_true(path_valid(STR("..a/b../...")));
	assert_true(path_below(STR("a/b"), STR("a")));
	assert_false(path_below(STR("ab"), STR("a")));
}

static void
chosen_paths_take_what_is_below_and_must_exist(void **state)
{
	AUTO(manifest) struct manifest *m = sample();
	struct str d[] = { STR("d") }, none[] = { STR("d"), STR("zz") };
	struct change_paths p = { d, 1 };
	struct err e;

	(void)state;
	assert_false(change_selected(&p, &m->v[0]));
	assert_true(change_selected(&p, &m->v[1]));
	assert_true(change_selected(&p, &m->v[2]));
	assert_int_equal(0, change_paths_check(&p, m, &e));
	p = (struct change_paths){ none, 2 };
	assert_int_equal(-1, change_paths_check(&p, m, &e));
	assert_int_equal(ERR_NOTFOUND, e.code);
	assert_non_null(strstr(e.msg, "zz"));
}

static void
the_digest_is_of_all_of_it(void **state)
{
	AUTO(manifest) struct manifest *m = sample();
	uint8_t one[SHA256_BYTES], two[SHA256_BYTES];
	struct err e;

	(void)state;
	assert_int_equal(0, manifest_digest(m, one, &e));
	m->v[3].notes |= CHANGE_NOTE_DEEP;
	assert_int_equal(0, manifest_digest(m, two, &e));
	assert_memory_not_equal(one, two, sizeof(one));
}

/* Does a manifest of two new files with these paths decode? */
static int
accepted(struct str one, struct str two)
{
	AUTO(manifest) struct manifest *m = NULL, *back = NULL;
	AUTO(buf) struct buf b;
	struct change c = { .kind = CHANGE_KIND_CREATE,
	    .before = { .target = STR("") },
	    .after = { .type = CHANGE_TYPE_FILE, .target = STR("") } };
	struct err e;

	buf_init(&b, 1 << 12);
	assert_non_null(m = manifest_new(&e));
	c.path = one;
	assert_int_equal(0, manifest_add(m, &c, &e));
	c.path = two;
	assert_int_equal(0, manifest_add(m, &c, &e));
	assert_int_equal(0, manifest_encode(m, &b, &e));
	return manifest_decode(buf_bytes(&b), &back, &e) == 0;
}

static void
what_stays_as_it_is_needs_a_reason_to_be_named(void **state)
{
	AUTO(manifest) struct manifest *m = sample();
	AUTO(buf) struct buf b;
	struct manifest *back;
	struct err e;

	(void)state;
	buf_init(&b, 1 << 16);
	assert_int_equal(CHANGE_KIND_KEEP, m->v[3].kind);
	m->v[3].notes = 0;
	assert_int_equal(0, manifest_encode(m, &b, &e));
	assert_int_equal(-1, manifest_decode(buf_bytes(&b), &back, &e));
	assert_int_equal(ERR_FORMAT, e.code);
}

static void
a_manifest_names_paths_below_in_order_and_once(void **state)
{
	(void)state;
	assert_true(accepted(STR("a"), STR("b")));
	assert_false(accepted(STR("b"), STR("a")));
	assert_false(accepted(STR("a"), STR("a")));
	assert_false(accepted(STR("../a"), STR("b")));
	assert_false(accepted(STR("a"), STR("b/../../c")));
	assert_false(accepted(STR("/etc/passwd"), STR("b")));
	assert_false(accepted(STR("a"), STR("b\0c")));
}

/* A journal of today names this digest; every later version must find it. */
static void
the_bytes_of_a_manifest_are_a_promise(void **state)
{
	AUTO(manifest) struct manifest *m = sample();
	uint8_t digest[SHA256_BYTES];
	char hex[2 * SHA256_BYTES + 1];
	struct err e;

	(void)state;
	assert_int_equal(0, manifest_digest(m, digest, &e));
	assert_string_equal(
	    "242fd6405948381eeae130861e4f02c2c58d7ba74dddcd0617eda8b4b407a610", hex_str(BYTES(digest), hex));
}

static void
the_sentence_of_each_note_is_found(void **state)
{
	unsigned at = 0;
	int n = 0;

	(void)state;
	while (change_note_next(CHANGE_NOTE_FIFO | CHANGE_NOTE_DEEP, &at))
		n++;
	assert_int_equal(2, n);
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_session_that_does_nothing_changes_nothing),
		cmocka_unit_test(files_are_created_modified_and_removed),
		cmocka_unit_test(a_file_written_with_what_it_held_is_no_change),
		cmocka_unit_test(modes_change_without_content),
		cmocka_unit_test(a_removed_directory_names_all_it_held),
		cmocka_unit_test(
		    an_opaque_directory_does_not_resurrect_what_it_hides),
		cmocka_unit_test(one_type_of_file_replaces_another),
		cmocka_unit_test(links_are_changed_and_never_followed),
		cmocka_unit_test(a_renamed_directory_is_removed_and_created),
		cmocka_unit_test(special_files_are_named_and_left_out),
		cmocka_unit_test(
		    a_host_fifo_cannot_be_removed_and_keeps_its_directory),
		cmocka_unit_test(setuid_is_named_and_not_part_of_the_mode),
		cmocka_unit_test(hard_links_are_named_on_both_sides),
		cmocka_unit_test(names_may_be_any_bytes),
		cmocka_unit_test(what_the_host_runs_by_itself_is_flagged),
		cmocka_unit_test(a_whiteout_may_be_an_attribute_of_an_empty_file),
		cmocka_unit_test(forged_overlay_marks_are_refused_with_all_below),
		cmocka_unit_test(other_attributes_are_named),
		cmocka_unit_test(devices_and_sockets_are_named_and_left_out),
		cmocka_unit_test(a_file_of_any_size_takes_no_time),
		cmocka_unit_test(what_cannot_be_read_is_named),
		cmocka_unit_test(a_path_that_is_too_long_is_named_at_its_directory),
		cmocka_unit_test(what_both_sides_changed_is_named),
		cmocka_unit_test(a_manifest_survives_the_round_trip),
		cmocka_unit_test(no_two_encodings_decode_to_one_manifest),
		cmocka_unit_test(a_manifest_that_is_cut_or_continued_is_refused),
		cmocka_unit_test(a_path_out_of_the_workspace_is_not_a_path),
		cmocka_unit_test(chosen_paths_take_what_is_below_and_must_exist),
		cmocka_unit_test(the_digest_is_of_all_of_it),
		cmocka_unit_test(what_stays_as_it_is_needs_a_reason_to_be_named),
		cmocka_unit_test(a_manifest_names_paths_below_in_order_and_once),
		cmocka_unit_test(the_bytes_of_a_manifest_are_a_promise),
		cmocka_unit_test(the_sentence_of_each_note_is_found),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
