/* SPDX-License-Identifier: ISC */
/*
 * The diff of a staged session, judged by those it is for: git apply and
 * patch(1) must make of the host directory what the session saw.
 */
#include <sys/stat.h>

#include <errno.h>
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

#include "base/fd.h"
#include "sandbox/changes_text.h"
#include "tests/lib/staged.h"

enum { OUT_BYTES = 64 << 20 };

static int
to_buf(void *cookie, struct bytes b, struct err *e)
{
	buf_put(cookie, b.p, b.n);
	return buf_ok(cookie, "diff", e);
}

static void
diff(const struct staged *s, struct changes_diff_options o, struct buf *b,
    struct changes_sum *sum)
{
	AUTO(manifest) struct manifest *m = staged_scan(s, 0);
	struct err e;

	o.put = to_buf;
	o.cookie = b;
	if (changes_diff(s->upper, s->lower, m, &o, sum, &e) != 0)
		fail_msg("%s", e.msg);
	assert_non_null(buf_cstr(b));
}

static void
save(const struct staged *s, const char *name, const struct buf *b)
{
	struct err e;
	int fd = openat(s->top, name, O_WRONLY | O_CREAT | O_TRUNC, 0644);

	assert_true(fd >= 0);
	assert_int_equal(0, fd_write_all(fd, b->p, b->n, &e));
	(void)close(fd);
}

static void
same_trees(const struct staged *s, const char *one, const char *two)
{
	AUTO(buf) struct buf a, b;

	buf_init(&a, OUT_BYTES);
	buf_init(&b, OUT_BYTES);
	staged_tree(s->top, one, &a);
	staged_tree(s->top, two, &b);
	assert_string_equal(buf_cstr(&a), buf_cstr(&b));
}

/* The patch of ${session}, given to ${tool}, makes the tree it left. */
static void
applies(const char *tool, const char *host, const char *session)
{
	AUTO(buf) struct buf b;
	struct staged s;
	char keep[1024];
	int rc;

	buf_init(&b, OUT_BYTES);
	staged_open(&s);
	staged_host(&s, host);
	(void)snprintf(keep, sizeof(keep), "%s; cp -a . \"$STAGED/final\"",
	    session);
	rc = staged_session(&s, keep);
	if (rc == 0) {
		diff(&s, (struct changes_diff_options){ .form = CHANGES_PATCH }, &b,
		    NULL);
		save(&s, "patch", &b);
		staged_host(&s, tool);
		same_trees(&s, "lower", "final");
	}
	staged_close(&s);
	if (rc != 0)
		skip();
}

static const char by_git[] = "git apply --whitespace=nowarn ../patch 2>&1";
static const char by_patch[] = "patch -s -p1 <../patch";

static void
git_takes_every_kind_of_change(void **state)
{
	(void)state;
	applies(by_git,
	    "seq 100 >long; echo 1 >a; echo 1 >gone; mkdir d; seq 9 >d/in; "
	    "ln -s a l; ln -s a lgone; : >empty; printf x >noeol; seq 5 >exec; "
	    "printf y >tofile; ln -s q tolink; seq 3 >'sp ace'; : >emptygone",
	    "sed -i '3d;50s/$/x/;97a new' long; rm gone lgone emptygone; echo new >n; "
	    "chmod 755 exec; rm l; ln -s b l; : >newempty; printf z >noeol; "
	    "mkdir -p e/f; seq 4 >e/f/g; echo 2 >>d/in; rm tofile tolink; "
	    "ln -s r tofile; echo f >tolink; echo 4 >>'sp ace'; echo t >empty; "
	    "chmod 755 a; echo 9 >a; printf 'no eol' >>n");
}

static void
git_takes_names_of_any_bytes(void **state)
{
	(void)state;
	applies(by_git, "echo 1 >'q\"uote'; echo 1 >'\"lead'",
	    "echo 2 >>'q\"uote'; echo 2 >>'\"lead'; echo 1 >\"$(printf 'new\\nline')\"; "
	    "echo 2 >\"$(printf '\\377\\376')\"; echo 3 >\"$(printf 'tab\\there')\"; "
	    "echo 4 >'back\\slash'; echo 5 >\"$(printf 'gr\\303\\274n')\"; "
	    "echo 6 >' lead and trail '");
}

static void
names_are_quoted_as_git_quotes_them(void **state)
{
	static const struct {
		const char	*name, *is;
	} v[] = {
		{ "plain name", "a/plain name" },
		{ "gr\303\274n", "a/gr\303\274n" },
		{ "q\"uote", "\"a/q\\\"uote\"" },
		{ "b\\s", "\"a/b\\\\s\"" },
		{ "\n\t\001\177", "\"a/\\n\\t\\001\\177\"" },
		{ "\303(", "\"a/\\303(\"" },
		{ "\342\200\256x", "\"a/\\342\\200\\256x\"" },
	};

	(void)state;
	for (size_t i = 0; i < sizeof(v) / sizeof(*v); i++) {
		AUTO(buf) struct buf b;

		buf_init(&b, 256);
		name_quote(&b, "a/", str_of(v[i].name));
		assert_string_equal(v[i].is, buf_cstr(&b));
	}
}

static void
patch_takes_text_changes(void **state)
{
	(void)state;
	applies(by_patch,
	    "seq 100 >long; echo 1 >gone; printf x >noeol; seq 3 >'sp ace'",
	    "sed -i '3d;50s/$/x/;97a new' long; rm gone; echo new >n; "
	    "printf z >noeol; echo 4 >>'sp ace'");
}

static void
git_skips_the_remarks_about_what_it_cannot_show(void **state)
{
	AUTO(buf) struct buf b;
	struct staged s;
	int rc;

	(void)state;
	buf_init(&b, OUT_BYTES);
	staged_open(&s);
	staged_host(&s, "mkdir d; echo 1 >a");
	rc = staged_session(&s, "chmod 700 d; mkfifo p; mkdir empty; echo 2 >a; "
	    "echo x >.envrc");
	if (rc == 0) {
		diff(&s, (struct changes_diff_options){ .form = CHANGES_PATCH }, &b,
		    NULL);
		assert_string_equal(
		    "# .envrc: the host may run this by itself\n"
		    "diff --git a/.envrc b/.envrc\nnew file mode 100644\n"
		    "--- /dev/null\n+++ b/.envrc\n@@ -0,0 +1 @@\n+x\n"
		    "diff --git a/a b/a\n--- a/a\n+++ b/a\n"
		    "@@ -1 +1 @@\n-1\n+2\n"
		    "# d: directory, mode 0700, was 0755\n"
		    "# empty: directory, new\n"
		    "# p: left out: a FIFO is not made on the host\n",
		    buf_cstr(&b));
		save(&s, "patch", &b);
		staged_host(&s, by_git);
	}
	staged_close(&s);
	if (rc != 0)
		skip();
}

/* Layers without an overlay: a plain directory is an upper layer too. */
static void
put(int dirfd, const char *name, const void *p, size_t n)
{
	struct err e;
	int fd = openat(dirfd, name, O_WRONLY | O_CREAT | O_TRUNC, 0644);

	assert_true(fd >= 0);
	assert_int_equal(0, fd_write_all(fd, p, n, &e));
	(void)close(fd);
}

static void
binary_files_are_named(void **state)
{
	AUTO(buf) struct buf b;
	struct changes_sum sum;
	struct staged s;

	(void)state;
	buf_init(&b, OUT_BYTES);
	staged_open(&s);
	put(s.lower, "x", "a\0b", 3);
	put(s.upper, "x", "a\0c", 3);
	put(s.upper, "y", "\0", 1);
	diff(&s, (struct changes_diff_options){ .form = CHANGES_PATCH }, &b, &sum);
	assert_string_equal(
	    "diff --git a/x b/x\nBinary files a/x and b/x differ\n"
	    "diff --git a/y b/y\nnew file mode 100644\n"
	    "Binary files /dev/null and b/y differ\n", buf_cstr(&b));
	assert_int_equal(2, sum.files);
	assert_int_equal(2, sum.binary);
	assert_int_equal(0, sum.added);
	staged_close(&s);
}

static void
stat_and_names_are_short(void **state)
{
	AUTO(buf) struct buf b;
	struct changes_diff_options o = { .form = CHANGES_STAT };
	struct changes_sum sum;
	struct staged s;

	(void)state;
	buf_init(&b, OUT_BYTES);
	staged_open(&s);
	put(s.lower, "a", "1\n2\n3\n", 6);
	put(s.upper, "a", "1\nx\ny\n3\n", 8);
	put(s.upper, "b", "\0", 1);
	assert_int_equal(0, mkdirat(s.upper, "d", 0755));
	put(s.upper, "d/e", "1\n", 2);
	assert_int_equal(0, mkdirat(s.upper, "f", 0755));
	assert_int_equal(0, mkfifoat(s.upper, "p", 0644));
	diff(&s, o, &b, &sum);
	assert_string_equal(
	    " a   |   3 ++-\n"
	    " b   | Bin\n"
	    " d/e |   1 +\n"
	    " p   | left out\n"
	    " 3 files changed, 3 insertions(+), 1 deletion(-)\n", buf_cstr(&b));
	assert_int_equal(3, sum.added);
	assert_int_equal(1, sum.removed);
	assert_int_equal(1, sum.refused);

	buf_reset(&b);
	o.form = CHANGES_NAMES;
	diff(&s, o, &b, NULL);
	assert_string_equal("a\nb\nd/e\nf/\np\n", buf_cstr(&b));

	buf_reset(&b);
	o.paths = (struct change_paths){ (struct str[]){ STR("d") }, 1 };
	diff(&s, o, &b, NULL);
	assert_string_equal("d/e\n", buf_cstr(&b));
	staged_close(&s);
}

static void
a_long_name_is_cut_at_its_beginning(void **state)
{
	AUTO(buf) struct buf b;
	struct staged s;
	char name[121];

	(void)state;
	memset(name, 'n', 120);
	memcpy(name + 116, "tail", 5);
	buf_init(&b, OUT_BYTES);
	staged_open(&s);
	put(s.upper, name, "1\n", 2);
	diff(&s, (struct changes_diff_options){ .form = CHANGES_STAT,
	    .width = 40 }, &b, NULL);
	assert_string_equal(" ...nnnnnnnnnnnnntail |   1 +\n"
	    " 1 file changed, 1 insertion(+)\n", buf_cstr(&b));
	staged_close(&s);
}

static void
a_terminal_gets_nothing_it_would_obey(void **state)
{
	static const char evil[] = "\033]52;c;x\a \\n\tgr\303\274n \342\200\256\n";
	AUTO(buf) struct buf b;
	struct staged s;

	(void)state;
	buf_init(&b, OUT_BYTES);
	staged_open(&s);
	put(s.upper, "a\033[2J", evil, sizeof(evil) - 1);
	diff(&s, (struct changes_diff_options){ .form = CHANGES_PATCH,
	    .terminal = 1 }, &b, NULL);
	assert_null(memchr(b.p, '\033', b.n));
	assert_null(strstr(buf_cstr(&b), "\342\200\256"));
	assert_non_null(strstr(buf_cstr(&b), "\\n\tgr\303\274n "));
	assert_non_null(strstr(buf_cstr(&b), "\"b/a\\033[2J\""));
	/* For a pipe it is what it is. */
	buf_reset(&b);
	diff(&s, (struct changes_diff_options){ .form = CHANGES_PATCH }, &b, NULL);
	assert_non_null(strstr(buf_cstr(&b), evil));
	staged_close(&s);
}

static void
a_file_that_changed_meanwhile_is_named(void **state)
{
	AUTO(buf) struct buf b;
	AUTO(manifest) struct manifest *m = NULL;
	struct changes_diff_options o = { .put = to_buf, .cookie = &b };
	struct changes_sum sum;
	struct staged s;
	struct err e;

	(void)state;
	buf_init(&b, OUT_BYTES);
	staged_open(&s);
	put(s.upper, "a", "1\n", 2);
	put(s.upper, "b", "1\n", 2);
	m = staged_scan(&s, 0);
	put(s.upper, "a", "2\n", 2);
	assert_int_equal(0, unlinkat(s.upper, "b", 0));
	assert_int_equal(0, changes_diff(s.upper, s.lower, m, &o, &sum, &e));
	assert_int_equal(2, sum.stale);
	assert_string_equal(
	    "# a: the session's file is no longer what it was\n"
	    "# b: the session's file is no longer what it was\n",
	    buf_cstr(&b));
	staged_close(&s);
}

static void
a_big_file_is_replaced_as_a_whole(void **state)
{
	AUTO(buf) struct buf b, text;
	struct changes_sum sum;
	struct staged s;

	(void)state;
	buf_init(&b, OUT_BYTES);
	buf_init(&text, OUT_BYTES);
	staged_open(&s);
	for (int i = 0; i < 1200000; i++)
		buf_putf(&text, "%07d\n", i);
	buf_put_str(&text, "no newline");
	assert_true(text.n > TEXT_BYTES_MAX);
	put(s.upper, "big", text.p, text.n);
	put(s.lower, "big", "x\ny\n", 4);
	diff(&s, (struct changes_diff_options){ .form = CHANGES_PATCH }, &b, &sum);
	assert_int_equal(2, sum.removed);
	assert_int_equal(1200001, sum.added);
	save(&s, "patch", &b);
	staged_host(&s, by_git);
	staged_host(&s, "cmp big ../upper/big");
	staged_close(&s);
}

static uint32_t
rnd(uint32_t *seed)
{
	*seed = *seed * 1664525u + 1013904223u;
	return *seed >> 8;
}

static void
random_text(uint32_t *seed, struct buf *b)
{
	uint32_t n = rnd(seed) % 40, letters = 2 + rnd(seed) % 8;

	for (uint32_t i = 0; i < n; i++)
		buf_putf(b, "%c\n", 'a' + (int)(rnd(seed) % letters));
	if (rnd(seed) % 4 == 0)
		buf_put_str(b, "end");
}

static void
git_makes_of_any_text_the_other(void **state)
{
	AUTO(buf) struct buf b, t;
	struct staged s;
	uint32_t seed = 1;
	char name[16];

	(void)state;
	buf_init(&b, OUT_BYTES);
	buf_init(&t, OUT_BYTES);
	staged_open(&s);
	for (int i = 0; i < 400; i++) {
		(void)snprintf(name, sizeof(name), "f%d", i);
		buf_reset(&t);
		random_text(&seed, &t);
		put(s.lower, name, t.p, t.n);
		buf_reset(&t);
		random_text(&seed, &t);
		put(s.upper, name, t.p, t.n);
	}
	diff(&s, (struct changes_diff_options){ .form = CHANGES_PATCH }, &b, NULL);
	save(&s, "patch", &b);
	staged_host(&s, by_git);
	same_trees(&s, "lower", "upper");
	staged_close(&s);
}

/* The length of a longest common subsequence, the slow and certain way. */
static size_t
common(const struct text *a, const struct text *b)
{
	static size_t d[64][64];

	for (size_t i = 0; i <= a->n; i++)
		for (size_t j = 0; j <= b->n; j++) {
			if (i == 0 || j == 0)
				d[i][j] = 0;
			else if (str_eq(text_line(a, i - 1), text_line(b, j - 1)))
				d[i][j] = d[i - 1][j - 1] + 1;
			else
				d[i][j] = d[i - 1][j] > d[i][j - 1] ?
				    d[i - 1][j] : d[i][j - 1];
		}
	return d[a->n][b->n];
}

static void
load(const struct buf *b, int dirfd, struct text *t)
{
	struct change_side side = { .type = CHANGE_TYPE_FILE,
	    .size = (int64_t)b->n };
	struct err e;

	sha256_of(buf_bytes(b), side.digest);
	put(dirfd, "t", b->p, b->n);
	assert_int_equal(0, text_load(dirfd, STR("t"), &side, t, &e));
	assert_false(t->stale);
}

static void
no_diff_is_shorter(void **state)
{
	AUTO(buf) struct buf x;
	struct staged s;
	uint32_t seed = 7;

	(void)state;
	buf_init(&x, 1 << 16);
	staged_open(&s);
	for (int i = 0; i < 1000; i++) {
		AUTO(text) struct text a = { .n = 0 };
		AUTO(text) struct text b = { .n = 0 };
		size_t kept = 0, left = 0, k = 0;
		struct err e;

		buf_reset(&x);
		random_text(&seed, &x);
		load(&x, s.top, &a);
		buf_reset(&x);
		random_text(&seed, &x);
		load(&x, s.top, &b);
		assert_int_equal(0, text_compare(&a, &b, &e));
		for (size_t n = 0; n < b.n; n++)
			left += !b.changed[n];
		/* The lines that stay are the same on both sides. */
		for (size_t n = 0; n < a.n; n++) {
			if (a.changed[n])
				continue;
			while (k < b.n && b.changed[k])
				k++;
			assert_true(k < b.n);
			assert_true(str_eq(text_line(&a, n), text_line(&b, k)));
			k++;
			kept++;
		}
		assert_int_equal(kept, left);
		assert_int_equal(common(&a, &b), kept);
	}
	staged_close(&s);
}

/* Of equal lines the last ones count as changed, on either side. */
static void
a_run_of_changes_lies_as_far_down_as_it_can(void **state)
{
	/* Other changes around it keep it from being found at once. */
	static const char few[] = "q\na\nx\n}\nz\nq\n",
	    many[] = "r\na\nx\n}\nx\n}\nz\nr\n";
	struct staged s;

	(void)state;
	staged_open(&s);
	for (int turn = 0; turn < 2; turn++) {
		AUTO(text) struct text a = { .n = 0 };
		AUTO(text) struct text b = { .n = 0 };
		AUTO(buf) struct buf x;
		struct text *m = turn ? &b : &a;
		struct err e;

		buf_init(&x, 256);
		buf_put_str(&x, turn ? few : many);
		load(&x, s.top, &a);
		buf_reset(&x);
		buf_put_str(&x, turn ? many : few);
		load(&x, s.top, &b);
		assert_int_equal(0, text_compare(&a, &b, &e));
		assert_memory_equal("\1\0\0\0\1\1\0\1", m->changed, 8);
	}
	staged_close(&s);
}

static void
a_hostile_text_takes_bounded_work(void **state)
{
	AUTO(buf) struct buf x;
	AUTO(text) struct text a = { .n = 0 };
	AUTO(text) struct text b = { .n = 0 };
	struct staged s;
	struct err e;

	(void)state;
	buf_init(&x, OUT_BYTES);
	staged_open(&s);
	for (int i = 0; i < 200000; i++)
		buf_putf(&x, "a%d\n", i);
	load(&x, s.top, &a);
	buf_reset(&x);
	for (int i = 0; i < 200000; i++)
		buf_putf(&x, "b%d\n", i);
	load(&x, s.top, &b);
	assert_int_equal(0, text_compare(&a, &b, &e));
	assert_true(a.changed[0] && a.changed[199999] && b.changed[0]);
	staged_close(&s);
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(git_takes_every_kind_of_change),
		cmocka_unit_test(git_takes_names_of_any_bytes),
		cmocka_unit_test(names_are_quoted_as_git_quotes_them),
		cmocka_unit_test(patch_takes_text_changes),
		cmocka_unit_test(git_skips_the_remarks_about_what_it_cannot_show),
		cmocka_unit_test(binary_files_are_named),
		cmocka_unit_test(stat_and_names_are_short),
		cmocka_unit_test(a_long_name_is_cut_at_its_beginning),
		cmocka_unit_test(a_terminal_gets_nothing_it_would_obey),
		cmocka_unit_test(a_file_that_changed_meanwhile_is_named),
		cmocka_unit_test(a_big_file_is_replaced_as_a_whole),
		cmocka_unit_test(git_makes_of_any_text_the_other),
		cmocka_unit_test(no_diff_is_shorter),
		cmocka_unit_test(a_run_of_changes_lies_as_far_down_as_it_can),
		cmocka_unit_test(a_hostile_text_takes_bounded_work),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
