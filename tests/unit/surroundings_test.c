/* SPDX-License-Identifier: ISC */
/* What of the place where it was started an agent gets to see. */
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

#include "cli/surroundings.h"

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
	(void)snprintf(top, sizeof(top), "/tmp/glove-tools.XXXXXX");
	return mkdtemp(top) == NULL || setenv("HOME", top, 1) != 0;
}

static int
teardown(void **state)
{
	(void)state;
	return nftw(top, drop, 8, FTW_DEPTH | FTW_PHYS);
}

/* Below the home directory: mkdir -p, or a file. */
static void
make(const char *rest, int file)
{
	char path[256];

	(void)snprintf(path, sizeof(path), "%s/%s", top, rest);
	for (char *p = path + strlen(top) + 1; (p = strchr(p, '/')) != NULL; p++) {
		*p = '\0';
		(void)mkdir(path, 0700);
		*p = '/';
	}
	if (!file) {
		assert_int_equal(0, mkdir(path, 0700));
	} else {
		int fd = open(path, O_CREAT | O_WRONLY | O_CLOEXEC, 0600);

		assert_true(fd >= 0);
		assert_int_equal(0, close(fd));
	}
}

static void
tools(struct shown *s, const char *path)
{
	struct home h;
	struct err e;

	assert_int_equal(0, home_find(NULL, NULL, &h, &e));
	*s = (struct shown){ .n = 0 };
	if (tools_find(&h, path, s, &e))
		fail_msg("%s", e.msg);
}

static int
shows(const struct shown *s, const char *rest)
{
	char path[256];

	(void)snprintf(path, sizeof(path), "%s/%s", top, rest);
	return shown_has(s, path);
}

static void
tools_on_path_are_shown_and_others_are_not(void **state)
{
	AUTO(shown) struct shown s;
	char path[256];

	(void)state;
	make(".cargo/bin", 0);
	make(".rustup", 0);
	make(".pyenv/shims", 0);
	make(".nvm/versions", 0);
	make(".ssh", 0);
	(void)snprintf(path, sizeof(path), "/usr/bin:%s/.cargo/bin:%s/.pyenv/shims",
	    top, top);
	tools(&s, path);
	assert_true(shows(&s, ".cargo/bin"));
	assert_true(shows(&s, ".rustup"));
	assert_true(shows(&s, ".pyenv/shims"));
	assert_false(shows(&s, ".nvm"));
	assert_false(shows(&s, ".ssh"));
	assert_false(shows(&s, ".cargo"));
	assert_false(shown_has(&s, top));
}

static void
a_directory_with_a_credential_is_never_shown(void **state)
{
	AUTO(shown) struct shown s;
	char path[256];

	(void)state;
	make(".cargo/bin", 0);
	make(".cargo/bin/credentials.toml", 1);
	make(".nvm", 0);
	make(".nvm/.npmrc", 1);
	(void)snprintf(path, sizeof(path), "%s/.cargo/bin:%s/.nvm/x", top, top);
	tools(&s, path);
	assert_int_equal(0, s.n);
}

static void
what_the_links_in_local_bin_need_is_shown(void **state)
{
	AUTO(shown) struct shown s;
	char path[256], to[256];

	(void)state;
	make(".local/bin", 0);
	make(".local/pipx/venvs/black/bin/black", 1);
	make("secret/token", 1);
	make("loose", 1);
	(void)snprintf(path, sizeof(path), "%s/.local/bin/black", top);
	(void)snprintf(to, sizeof(to), "%s/.local/pipx/venvs/black/bin/black", top);
	assert_int_equal(0, symlink(to, path));
	/* Links to the top of the home directory show nothing. */
	(void)snprintf(path, sizeof(path), "%s/.local/bin/token", top);
	(void)snprintf(to, sizeof(to), "%s/secret/token", top);
	assert_int_equal(0, symlink(to, path));
	(void)snprintf(path, sizeof(path), "%s/.local/bin/loose", top);
	(void)snprintf(to, sizeof(to), "%s/loose", top);
	assert_int_equal(0, symlink(to, path));
	(void)snprintf(path, sizeof(path), "%s/.local/bin", top);
	tools(&s, path);
	assert_true(shows(&s, ".local/bin"));
	assert_true(shows(&s, ".local/pipx/venvs/black/bin/black"));
	assert_false(shows(&s, ".local/pipx/venvs"));
	assert_false(shows(&s, "secret"));
	assert_false(shown_has(&s, top));
}

static void
a_directory_above_takes_the_place_of_those_below(void **state)
{
	AUTO(shown) struct shown s = { .n = 0 };
	char path[256];
	struct err e;

	(void)state;
	make("a/b", 0);
	(void)snprintf(path, sizeof(path), "%s/a/b", top);
	assert_int_equal(0, shown_add(&s, path, &e));
	(void)snprintf(path, sizeof(path), "%s/a", top);
	assert_int_equal(0, shown_add(&s, path, &e));
	assert_int_equal(1, s.n);
	assert_int_equal(-1, shown_add(&s, "/no/such/thing", &e));
}

static const char *
variable(const struct json *env, const char *name)
{
	size_t n = strlen(name);
	struct str s;

	for (size_t i = 0; i < json_len(env); i++)
		if (json_text(json_at(env, i), &s) == 0 && s.n > n &&
		    memcmp(s.p, name, n) == 0 && s.p[n] == '=')
			return s.p + n + 1;
	return NULL;
}

static void
only_named_variables_reach_the_agent(void **state)
{
	static const char *const extra[] = { "GIVEN=x y", "TAKEN", "TERM=dumb",
		NULL };
	AUTO(shown) struct shown s = { .n = 0 };
	AUTO(json) struct json *env = NULL;
	struct err e;

	(void)state;
	assert_int_equal(0, setenv("SECRET_TOKEN", "s", 1));
	assert_int_equal(0, setenv("TAKEN", "t", 1));
	assert_int_equal(0, setenv("TERM", "xterm", 1));
	assert_int_equal(0, setenv("LC_ALL", "C.UTF-8", 1));
	assert_int_equal(0, setenv("PATH", "/no/where:/usr/bin:/opt/x/bin:rel", 1));
	assert_int_equal(0, env_build(&s, "/ws", extra, &env, &e));
	assert_null(variable(env, "SECRET_TOKEN"));
	assert_null(variable(env, "LD_PRELOAD"));
	assert_string_equal("x y", variable(env, "GIVEN"));
	assert_string_equal("t", variable(env, "TAKEN"));
	assert_string_equal("dumb", variable(env, "TERM"));
	assert_string_equal("C.UTF-8", variable(env, "LC_ALL"));
	assert_string_equal("/home/agent", variable(env, "HOME"));
	assert_string_equal("/usr/bin:/opt/x/bin:/usr/local/sbin:/usr/local/bin:"
	    "/usr/sbin:/sbin:/bin", variable(env, "PATH"));
}

static void
a_variable_that_is_none_is_wrong_use(void **state)
{
	static const char *const bad[] = { "1X=1", "=x", "A B=1", "",
		"SURELY_NOT_SET_ANYWHERE" };

	(void)state;
	for (size_t i = 0; i < sizeof(bad) / sizeof(bad[0]); i++) {
		const char *const extra[] = { bad[i], NULL };
		AUTO(shown) struct shown s = { .n = 0 };
		AUTO(json) struct json *env = NULL;
		struct err e;

		assert_int_equal(-1, env_build(&s, "/ws", extra, &env, &e));
		assert_int_equal(ERR_USAGE, e.code);
	}
}

static void
git_is_asked_once_and_its_last_word_counts(void **state)
{
	AUTO(buf) struct buf name;
	AUTO(buf) struct buf email;
	char path[256];
	FILE *f;

	(void)state;
	buf_init(&name, 64);
	buf_init(&email, 64);
	make(".gitconfig", 1);
	(void)snprintf(path, sizeof(path), "%s/.gitconfig", top);
	assert_non_null(f = fopen(path, "w"));
	(void)fputs("[user]\n\tname = First\n\tname = A Person\n"
	    "\temail = a@example.invalid\n\tsigningkey = secret\n", f);
	assert_int_equal(0, fclose(f));
	assert_int_equal(0, setenv("GIT_CONFIG_NOSYSTEM", "1", 1));
	assert_int_equal(0, unsetenv("XDG_CONFIG_HOME"));
	assert_int_equal(0, setenv("PATH", "/usr/local/bin:/usr/bin:/bin", 1));
	assert_int_equal(0, chdir(top));
	git_identity(&name, &email);
	assert_int_equal(0, chdir("/"));
	if (access("/usr/bin/git", X_OK) != 0)
		skip();
	assert_string_equal("A Person", buf_cstr(&name));
	assert_string_equal("a@example.invalid", buf_cstr(&email));
}

static void
without_git_there_is_no_name(void **state)
{
	AUTO(buf) struct buf name;
	AUTO(buf) struct buf email;

	(void)state;
	buf_init(&name, 64);
	buf_init(&email, 64);
	assert_int_equal(0, setenv("PATH", "/no/where", 1));
	git_identity(&name, &email);
	assert_int_equal(0, name.n);
	assert_int_equal(0, email.n);
}

int
main(void)
{
#define T(f) cmocka_unit_test_setup_teardown(f, setup, teardown)
	const struct CMUnitTest tests[] = {
		T(tools_on_path_are_shown_and_others_are_not),
		T(a_directory_with_a_credential_is_never_shown),
		T(what_the_links_in_local_bin_need_is_shown),
		T(a_directory_above_takes_the_place_of_those_below),
		T(only_named_variables_reach_the_agent),
		T(a_variable_that_is_none_is_wrong_use),
		T(git_is_asked_once_and_its_last_word_counts),
		T(without_git_there_is_no_name),
	};

	return cmocka_run_group_tests_name("surroundings", tests, NULL, NULL);
}
