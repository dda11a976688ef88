/* SPDX-License-Identifier: ISC */
/* What an agent sees of the host's directories, and what it can do to them. */
#include <errno.h>
#include <fcntl.h>
#include <setjmp.h>
#include <signal.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cmocka.h>

#include "base/fd.h"
#include "sandbox/self.h"
#include "tests/lib/boxed.h"

static void
a_staged_workspace_leaves_the_host_alone(void **state)
{
	const struct boxed *w = *state;

	boxed_says(state, MODE_STAGED,
	    "cat file; echo agent > file; echo n > new; cat file; "
	    "stat -c %U:%G file new", "host\nagent\nagent:agent\nagent:agent\n");
	boxed_run("test \"$(cat %s/file)\" = host && "
	    "test ! -e %s/new && test \"$(cat %s/upper/file)\" = agent && "
	    "test -O %s/upper/new", w->ws, w->ws, w->state, w->state);
}

static void
a_read_only_workspace_can_only_be_read(void **state)
{
	boxed_says(state, MODE_RO, "cat file; (echo x > file) 2>/dev/null || echo no;"
	    "touch new 2>/dev/null || echo no; rm -f file 2>/dev/null; ls",
	    "host\nno\nno\nfile\n");
}

static void
a_socket_and_a_fifo_of_the_host_lead_nowhere(void **state)
{
	const struct boxed *w = *state;
	struct sockaddr_un a = { .sun_family = AF_UNIX };
	AUTO(fd) int s = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);
	AUTO(fd) int f = -1;
	char path[128];

	(void)snprintf(a.sun_path, sizeof(a.sun_path), "%s/sock", w->ws);
	assert_int_equal(bind(s, (const struct sockaddr *)&a, sizeof(a)), 0);
	assert_int_equal(listen(s, 5), 0);
	(void)snprintf(path, sizeof(path), "%s/fifo", w->ws);
	assert_int_equal(mkfifo(path, 0666), 0);
	assert_true((f = open(path, O_RDONLY | O_NONBLOCK | O_CLOEXEC)) >= 0);
	for (int mode = MODE_RO; mode <= MODE_STAGED; mode++)
		boxed_says(state, (enum mode)mode, "python3 - <<'E'\n"
		    "import socket, os, errno\n"
		    "s = socket.socket(socket.AF_UNIX)\n"
		    "try:\n s.connect('sock'); print('connected')\n"
		    "except OSError as e: print(errno.errorcode[e.errno])\n"
		    "try:\n os.open('fifo', os.O_WRONLY|os.O_NONBLOCK); "
		    "print('open')\n"
		    "except OSError as e: print(errno.errorcode[e.errno])\n"
		    "E", "ECONNREFUSED\nENXIO\n");
}

static void
a_path_that_is_shown_can_be_read_and_no_more(void **state)
{
	const struct boxed *w = *state;
	const char *const argv[] = { "/bin/true", NULL };
	struct launch l = boxed_launch(w, argv);
	struct sockaddr_un a = { .sun_family = AF_UNIX };
	AUTO(fd) int s = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);
	char shown[80], file[96];
	const char *ro[] = { shown, file };
	struct boxed_result r;

	(void)snprintf(shown, sizeof(shown), "%s/tool", w->dir);
	(void)snprintf(file, sizeof(file), "%s/one", w->dir);
	boxed_run("mkdir %s && echo t > %s/t && echo 1 > %s && chmod a+rx %s", shown,
	    shown, file, w->dir);
	(void)snprintf(a.sun_path, sizeof(a.sun_path), "%s/sock", shown);
	assert_int_equal(bind(s, (const struct sockaddr *)&a, sizeof(a)), 0);
	assert_int_equal(listen(s, 5), 0);
	assert_int_equal(chmod(a.sun_path, 0777), 0);
	l.ro = ro;
	l.nro = 2;
	boxed_sh(&l, "cat ../tool/t ../one; (echo > ../tool/t) 2>/dev/null || "
	    "echo no; (echo > ../one) 2>/dev/null || echo no; python3 -c '"
	    "import socket\ntry: socket.socket(1).connect(\"../tool/sock\")\n"
	    "except ConnectionRefusedError: print(\"refused\")'", &r);
	assert_string_equal(r.out, "t\n1\nno\nno\nrefused\n");
}

static void
a_linked_worktree_can_commit_and_the_host_keeps_its_repository(void **state)
{
	struct boxed *w = *state;
	char linked[96];

	boxed_run("cd %s && git init -q repo && cd repo && "
	    "git -c user.name=h -c user.email=h@h commit -q --allow-empty "
	    "-m host && git worktree add -q ../linked", w->dir);
	(void)snprintf(linked, sizeof(linked), "%.64s/linked", w->dir);
	memcpy(w->ws, linked, sizeof(linked));
	boxed_says(state, MODE_RO, "git log --format=%s", "host\n");
	boxed_says(state, MODE_STAGED, "echo x >f && git add f && "
	    "git commit -qm inside && git log --format=%s", "inside\nhost\n");
	boxed_run("cd %s/linked && test \"$(git log --format=%%s)\" = host && "
	    "test ! -e f && git -C ../repo fsck --no-progress", w->dir);
}

static void
a_planted_git_file_shows_nothing(void **state)
{
	struct boxed *w = *state;

	/* As a linked worktree, but for a repository that knows of none. */
	boxed_run("cd %s && mkdir -p secret/objects secret/refs ws/w/worktrees/x && "
	    "echo key > secret/key && "
	    "echo 'gitdir: %s/ws/w/worktrees/x' > ws/.git && "
	    "echo '%s/ws/.git' > ws/w/worktrees/x/gitdir && "
	    "echo '%s/secret' > ws/w/worktrees/x/commondir",
	    w->dir, w->dir, w->dir, w->dir);
	boxed_says(state, MODE_STAGED, "ls -d ../secret 2>/dev/null; echo done",
	    "done\n");
	boxed_run("echo 'gitdir: %s/secret/worktrees/x' > %s/ws/.git", w->dir,
	    w->dir);
	boxed_says(state, MODE_STAGED, "ls -d ../secret 2>/dev/null; echo done",
	    "done\n");
}

static void
a_workspace_that_was_exchanged_is_refused(void **state)
{
	const struct boxed *w = *state;
	const char *const argv[] = { "/bin/true", NULL };
	struct launch l = boxed_launch(w, argv);
	AUTO(box) struct box x = BOX_NONE;
	struct err e;

	l.workspace_ino++;
	assert_int_equal(box_open(&l, &x, &e), -1);
	assert_int_equal(e.code, ERR_STALE);
}

int
main(void)
{
#define T(name) \
	cmocka_unit_test_setup_teardown(name, boxed_setup, boxed_teardown)
	const struct CMUnitTest tests[] = {
		T(a_staged_workspace_leaves_the_host_alone),
		T(a_read_only_workspace_can_only_be_read),
		T(a_socket_and_a_fifo_of_the_host_lead_nowhere),
		T(a_path_that_is_shown_can_be_read_and_no_more),
		T(a_linked_worktree_can_commit_and_the_host_keeps_its_repository),
		T(a_planted_git_file_shows_nothing),
		T(a_workspace_that_was_exchanged_is_refused),
	};

	return cmocka_run_group_tests_name("workspace", tests, NULL, NULL);
}
