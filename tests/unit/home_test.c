/* SPDX-License-Identifier: ISC */
#include <fcntl.h>
#include <ftw.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <cmocka.h>

#include "cli/home.h"

static char top[64];

static int
drop(const char *path, const struct stat *st, int type, struct FTW *f)
{
	(void)st;
	(void)type;
	(void)f;
	return remove(path);
}

static int
setup(void **state)
{
	(void)state;
	(void)snprintf(top, sizeof(top), "/tmp/glove-home.XXXXXX");
	if (mkdtemp(top) == NULL || setenv("HOME", top, 1) != 0 ||
	    unsetenv("XDG_STATE_HOME") != 0 ||
	    unsetenv("XDG_CONFIG_HOME") != 0 || unsetenv("XDG_RUNTIME_DIR") != 0)
		return -1;
	return 0;
}

static int
teardown(void **state)
{
	(void)state;
	return nftw(top, drop, 8, FTW_DEPTH | FTW_PHYS);
}

static void
find(struct home *h)
{
	struct err e;

	if (home_find(NULL, NULL, h, &e))
		fail_msg("%s", e.msg);
}

static void
everything_lies_below_the_home_directory(void **state)
{
	char want[128];
	struct home h;

	(void)state;
	find(&h);
	(void)snprintf(want, sizeof(want), "%s/.local/state/glove", top);
	assert_string_equal(want, h.state);
	(void)snprintf(want, sizeof(want), "%s/.config/glove", top);
	assert_string_equal(want, h.config);
	(void)snprintf(want, sizeof(want), "%s/.local/state/glove/run/gloved.sock",
	    top);
	assert_string_equal(want, h.socket);
}

static void
the_xdg_variables_count_if_they_are_absolute(void **state)
{
	struct home h;

	(void)state;
	assert_int_equal(0, setenv("XDG_STATE_HOME", "/x", 1));
	assert_int_equal(0, setenv("XDG_CONFIG_HOME", "relative", 1));
	find(&h);
	assert_string_equal("/x/glove", h.state);
	assert_int_equal(0, strncmp(h.config, top, strlen(top)));
}

static void
two_state_directories_never_share_a_socket(void **state)
{
	struct home a, b;
	struct err e;

	(void)state;
	assert_int_equal(0, setenv("XDG_RUNTIME_DIR", top, 1));
	find(&a);
	assert_int_equal(0, home_find("/somewhere/else", NULL, &b, &e));
	assert_string_equal("/somewhere/else/run/gloved.sock", b.socket);
	assert_string_not_equal(a.socket, b.socket);
}

static void
a_relative_home_is_made_absolute(void **state)
{
	struct home h;
	struct err e;

	(void)state;
	assert_int_equal(0, home_find("here", "/s", &h, &e));
	assert_int_equal('/', h.state[0]);
	assert_string_equal("/here", h.state + strlen(h.state) - 5);
	assert_string_equal("/s", h.socket);
}

static int
check(const char *install, const char *root, int *noted, struct err *e)
{
	struct home h;

	find(&h);
	return installs_check(&h, str_of(install), str_of(root), 1764585743000000,
	    noted, e);
}

static void
a_root_key_is_remembered_and_another_one_is_a_loud_error(void **state)
{
	struct err e;
	int noted;

	(void)state;
	assert_int_equal(0, check("aa", "glove/aa/root+1+A", &noted, &e));
	assert_int_equal(1, noted);
	assert_int_equal(0, check("aa", "glove/aa/root+1+A", &noted, &e));
	assert_int_equal(0, noted);
	assert_int_equal(-1, check("bb", "glove/bb/root+2+B", &noted, &e));
	assert_int_equal(ERR_UNTRUSTED, e.code);
	assert_int_equal(7, err_exit(e.code));
	assert_non_null(strstr(e.fix, "glove key pin glove/bb/root+2+B"));
}

static void
a_pinned_root_key_is_accepted_and_then_remembered(void **state)
{
	struct home h;
	struct err e;
	int noted;

	(void)state;
	assert_int_equal(0, check("aa", "glove/aa/root+1+A", &noted, &e));
	find(&h);
	assert_int_equal(0, pins_add(&h, STR("glove/bb/root+2+B"), &e));
	assert_int_equal(0, pins_add(&h, STR("glove/bb/root+2+B"), &e));
	assert_int_equal(0, check("bb", "glove/bb/root+2+B", &noted, &e));
	assert_int_equal(1, noted);
	/* The old one is a stranger now. */
	assert_int_equal(-1, check("aa", "glove/aa/root+1+A", &noted, &e));
	assert_int_equal(ERR_UNTRUSTED, e.code);
}

static void
pins_are_kept_once_each(void **state)
{
	AUTO(buf) struct buf b;
	struct home h;
	struct err e;

	(void)state;
	buf_init(&b, 4096);
	find(&h);
	assert_int_equal(0, pins_read(&h, &b, &e));
	assert_int_equal(0, b.n);
	assert_int_equal(0, pins_add(&h, STR("one"), &e));
	assert_int_equal(0, pins_add(&h, STR("two"), &e));
	assert_int_equal(0, pins_add(&h, STR("one"), &e));
	assert_int_equal(0, pins_read(&h, &b, &e));
	assert_string_equal("one\ntwo\n", buf_cstr(&b));
}

static void
a_root_key_that_is_two_lines_is_refused(void **state)
{
	struct err e;
	int noted;

	(void)state;
	assert_int_equal(-1, check("aa", "k\nbb t k2 /x", &noted, &e));
	assert_int_equal(ERR_FORMAT, e.code);
}

int
main(void)
{
#define T(f) cmocka_unit_test_setup_teardown(f, setup, teardown)
	const struct CMUnitTest tests[] = {
		T(everything_lies_below_the_home_directory),
		T(the_xdg_variables_count_if_they_are_absolute),
		T(two_state_directories_never_share_a_socket),
		T(a_relative_home_is_made_absolute),
		T(a_root_key_is_remembered_and_another_one_is_a_loud_error),
		T(a_pinned_root_key_is_accepted_and_then_remembered),
		T(pins_are_kept_once_each),
		T(a_root_key_that_is_two_lines_is_refused),
	};

	return cmocka_run_group_tests_name("home", tests, NULL, NULL);
}
