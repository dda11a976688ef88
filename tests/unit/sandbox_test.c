/* SPDX-License-Identifier: ISC */
/*
 * A real box around real programs, as root and as an ordinary user.
 */
#include <errno.h>
#include <fcntl.h>
#include <poll.h>
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
#include "sandbox/box.h"
#include "sandbox/seccomp.h"
#include "sandbox/self.h"

struct world {
	char		 dir[64];	/* everything of this test */
	char		 ws[96];
	char		 state[96];
	struct buf	 filter;
};

static void __attribute__((format(printf, 1, 2)))
run(const char *fmt, ...)
{
	char cmd[512];
	va_list ap;

	va_start(ap, fmt);
	(void)vsnprintf(cmd, sizeof(cmd), fmt, ap);
	va_end(ap);
	assert_int_equal(system(cmd), 0);
}

static int
setup(void **state)
{
	struct world *w = calloc(1, sizeof(*w));
	struct err e;

	assert_non_null(w);
	(void)snprintf(w->dir, sizeof(w->dir), "/tmp/glove-box.XXXXXX");
	assert_non_null(mkdtemp(w->dir));
	(void)snprintf(w->ws, sizeof(w->ws), "%s/ws", w->dir);
	(void)snprintf(w->state, sizeof(w->state), "%s/state", w->dir);
	run("mkdir -p %s %s/upper %s/work && chmod 700 %s", w->ws, w->state,
	    w->state, w->state);
	run("echo host > %s/file", w->ws);
	buf_init(&w->filter, 1 << 20);
	assert_int_equal(filter_build(&w->filter, &e), 0);
	*state = w;
	return 0;
}

static int
teardown(void **state)
{
	struct world *w = *state;

	run("chmod -R u+rwx %s; rm -rf %s", w->dir, w->dir);
	buf_done(&w->filter);
	free(w);
	return 0;
}

static struct launch
launch_of(const struct world *w, const char *const *argv)
{
	static const char *const env[] = {
		"PATH=/usr/local/bin:/usr/bin:/bin", "HOME=/home/agent",
		"LANG=C.UTF-8", "TERM=xterm"
	};
	struct launch l = {
		.kind = LAUNCH_RUN, .mode = MODE_STAGED, .workspace = w->ws,
		.state = w->state, .argv = argv, .env = env, .envc = 4,
		.cwd = w->ws, .git_name = "A \"B\" C", .git_email = "a@b.c",
		.rows = 24, .cols = 80
	};
	struct stat st;

	while (argv[l.argc] != NULL)
		l.argc++;
	assert_int_equal(stat(w->ws, &st), 0);
	l.workspace_dev = st.st_dev;
	l.workspace_ino = st.st_ino;
	return l;
}

struct result {
	int	status;		/* as wait(2), or -1 - errno of exec */
	char	out[8192];
};

/* All that it says, on both outputs, until it is over. */
static void
drain(struct box *x, const struct launch *l, struct result *r)
{
	size_t n = 0;
	int from = l->terminal ? 0 : 1, to = l->terminal ? 1 : 3;

	for (int i = from; i < to; i++) {
		ssize_t k;

		while (n < sizeof(r->out) - 1 && (k = read(x->out[i],
		    r->out + n, sizeof(r->out) - 1 - n)) > 0)
			n += (size_t)k;
	}
	r->out[n] = '\0';
}

static void
box_run(const struct world *w, const struct launch *l, struct result *r)
{
	AUTO(box) struct box x = BOX_NONE;
	struct init_msg m;
	struct err e;
	int fds[3];
	size_t n = 3;

	if (box_open(l, buf_bytes(&w->filter), &x, &e))
		fail_msg("%s (%s)", e.msg, e.why);
	assert_int_equal(box_release(&x, &e), 0);
	if (!l->terminal) {
		(void)close(x.out[0]);
		x.out[0] = -1;
	}
	drain(&x, l, r);
	assert_int_equal(fd_nonblock(x.chan, 0, &e), 0);
	if (box_recv(&x, &m, fds, &n, &e))
		fail_msg("%s", e.msg);
	r->status = m.kind == INIT_EXITED ? (int)m.a : -1 - (int)m.a;
	assert_true(proc_gone(&x.init, 5000));
}

static void
sh(const struct world *w, struct launch *l, const char *script,
    struct result *r)
{
	const char *const argv[] = { "/bin/bash", "-c", script, NULL };

	l->argv = argv;
	l->argc = 3;
	box_run(w, l, r);
}

/* The script ends well and says exactly this. */
static void
says(void **state, enum mode mode, const char *script, const char *want)
{
	const struct world *w = *state;
	const char *const argv[] = { "/bin/true", NULL };
	struct launch l = launch_of(w, argv);
	struct result r;

	l.mode = mode;
	sh(w, &l, script, &r);
	if (r.status != 0 || (want != NULL && strcmp(r.out, want) != 0))
		fail_msg("status %d, it said: %s", r.status, r.out);
}

static void
a_program_runs_and_its_exit_code_comes_back(void **state)
{
	const struct world *w = *state;
	const char *const argv[] = { "/bin/true", NULL };
	struct launch l = launch_of(w, argv);
	struct result r;

	box_run(w, &l, &r);
	assert_int_equal(r.status, 0);
	sh(w, &l, "exit 7", &r);
	assert_int_equal(WEXITSTATUS(r.status), 7);
	sh(w, &l, "kill -9 $$", &r);
	assert_int_equal(WTERMSIG(r.status), 9);
}

static void
what_cannot_be_executed_says_why(void **state)
{
	const struct world *w = *state;
	const char *const none[] = { "no-such-command", NULL };
	const char *const dir[] = { "/tmp", NULL };
	struct launch l = launch_of(w, none);
	struct result r;

	box_run(w, &l, &r);
	assert_int_equal(r.status, -1 - ENOENT);
	l = launch_of(w, dir);
	box_run(w, &l, &r);
	assert_int_equal(r.status, -1 - EACCES);
}

static void
an_agent_that_is_not_released_never_runs(void **state)
{
	const struct world *w = *state;
	const char *const argv[] = { "/usr/bin/touch", "ran", NULL };
	struct launch l = launch_of(w, argv);
	char path[128];
	struct err e;

	{
		AUTO(box) struct box x = BOX_NONE;

		assert_int_equal(box_open(&l, buf_bytes(&w->filter), &x, &e), 0);
		(void)close(x.gate);
		x.gate = -1;
		assert_true(proc_gone(&x.init, 5000));
	}
	(void)snprintf(path, sizeof(path), "%s/upper/ran", w->state);
	assert_int_equal(access(path, F_OK), -1);
	{
		struct result r;

		box_run(w, &l, &r);
		assert_int_equal(access(path, F_OK), 0);
	}
}

static void
a_byte_at_the_tether_ends_it(void **state)
{
	const struct world *w = *state;
	const char *const argv[] = { "/bin/sleep", "1000", NULL };
	struct launch l = launch_of(w, argv);
	AUTO(box) struct box x = BOX_NONE;
	struct err e;

	assert_int_equal(box_open(&l, buf_bytes(&w->filter), &x, &e), 0);
	assert_int_equal(box_release(&x, &e), 0);
	assert_false(proc_gone(&x.init, 20));
	assert_int_equal(write(x.tether, "x", 1), 1);
	assert_true(proc_gone(&x.init, 5000));
}

static void
when_its_supervisor_is_killed_nothing_is_left(void **state)
{
	const struct world *w = *state;
	const char *const argv[] = { "/bin/bash", "-c",
	    "trap '' TERM HUP; (setsid sleep 1000 &) ; sleep 1000", NULL };
	struct launch l = launch_of(w, argv);
	struct proc init = PROC_NONE;
	struct err e;
	pid_t pid, inner;
	int p[2];

	assert_int_equal(pipe2(p, O_CLOEXEC), 0);
	if ((pid = fork()) == 0) {
		struct box x = BOX_NONE;

		if (box_open(&l, buf_bytes(&w->filter), &x, &e) ||
		    box_release(&x, &e) ||
		    write(p[1], &x.init.pid, sizeof(pid_t)) < 0)
			_exit(1);
		for (;;)
			(void)pause();
	}
	(void)close(p[1]);
	assert_int_equal(read(p[0], &inner, sizeof(inner)), sizeof(inner));
	assert_int_equal(proc_open(inner, &init, &e), 0);
	assert_false(proc_gone(&init, 50));
	(void)kill(pid, SIGKILL);
	assert_true(proc_gone(&init, 5000));
	(void)waitpid(pid, NULL, 0);
	proc_done(&init);
	(void)close(p[0]);
}

static void
a_staged_workspace_leaves_the_host_alone(void **state)
{
	const struct world *w = *state;

	says(state, MODE_STAGED,
	    "cat file; echo agent > file; echo n > new; cat file; "
	    "stat -c %U:%G file new", "host\nagent\nagent:agent\nagent:agent\n");
	run("test \"$(cat %s/file)\" = host && "
	    "test ! -e %s/new && test \"$(cat %s/upper/file)\" = agent && "
	    "test -O %s/upper/new", w->ws, w->ws, w->state, w->state);
}

static void
a_read_only_workspace_can_only_be_read(void **state)
{
	says(state, MODE_RO, "cat file; (echo x > file) 2>/dev/null || echo no;"
	    "touch new 2>/dev/null || echo no; rm -f file 2>/dev/null; ls",
	    "host\nno\nno\nfile\n");
}

static void
a_socket_and_a_fifo_of_the_host_lead_nowhere(void **state)
{
	const struct world *w = *state;
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
		says(state, (enum mode)mode, "python3 - <<'E'\n"
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
	const struct world *w = *state;
	const char *const argv[] = { "/bin/true", NULL };
	struct launch l = launch_of(w, argv);
	struct sockaddr_un a = { .sun_family = AF_UNIX };
	AUTO(fd) int s = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);
	char shown[80], file[96];
	const char *ro[] = { shown, file };
	struct result r;

	(void)snprintf(shown, sizeof(shown), "%s/tool", w->dir);
	(void)snprintf(file, sizeof(file), "%s/one", w->dir);
	run("mkdir %s && echo t > %s/t && echo 1 > %s && chmod a+rx %s", shown,
	    shown, file, w->dir);
	(void)snprintf(a.sun_path, sizeof(a.sun_path), "%s/sock", shown);
	assert_int_equal(bind(s, (const struct sockaddr *)&a, sizeof(a)), 0);
	assert_int_equal(listen(s, 5), 0);
	assert_int_equal(chmod(a.sun_path, 0777), 0);
	l.ro = ro;
	l.nro = 2;
	sh(w, &l, "cat ../tool/t ../one; (echo > ../tool/t) 2>/dev/null || "
	    "echo no; (echo > ../one) 2>/dev/null || echo no; python3 -c '"
	    "import socket\ntry: socket.socket(1).connect(\"../tool/sock\")\n"
	    "except ConnectionRefusedError: print(\"refused\")'", &r);
	assert_string_equal(r.out, "t\n1\nno\nno\nrefused\n");
}

static void
the_agent_has_a_terminal_of_its_own(void **state)
{
	const struct world *w = *state;
	const char *const argv[] = { "/bin/true", NULL };
	struct launch l = launch_of(w, argv);
	struct result r;

	l.terminal = 1;
	sh(w, &l, "tty; stty size; test -t 0 -a -t 1 -a -t 2 && echo yes "
	    ">/dev/tty; set -m; sleep 0 & fg >/dev/null; echo $?", &r);
	assert_string_equal(r.out, "/dev/pts/0\r\n24 80\r\nyes\r\n0\r\n");
	assert_int_equal(r.status, 0);
}

static void
ordinary_tools_work(void **state)
{
	says(state, MODE_STAGED, "cat <(echo sub)", "sub\n");
	says(state, MODE_STAGED, "echo err >/dev/stderr", "err\n");
	says(state, MODE_STAGED, "id -un; hostname; echo $HOME; "
	    "touch ~/x /tmp/y /var/tmp/z && echo ok",
	    "agent\nglove\n/home/agent\nok\n");
	says(state, MODE_STAGED, "python3 -c 'import multiprocessing as m\n"
	    "p = m.Pool(2); print(sum(p.map(abs, [-1, 2])))'", "3\n");
	says(state, MODE_STAGED, "git init -q . && git add file && "
	    "git commit -qm one && git log --format='%an <%ae> %s'",
	    "A \"B\" C <a@b.c> one\n");
	says(state, MODE_STAGED, "echo 'int main(void){return 3;}' >a.c && "
	    "cc -g a.c -o a && ./a; echo $?", "3\n");
	says(state, MODE_STAGED, "strace -o t -e trace=execve ./a; "
	    "grep -c execve t", "1\n");
	says(state, MODE_STAGED, "gdb -q -batch -ex run -ex 'info program' ./a "
	    "2>&1 | grep -o 'exited with code 03'", "exited with code 03\n");
}

static void
a_linked_worktree_can_commit_and_the_host_keeps_its_repository(void **state)
{
	struct world *w = *state;
	char linked[96];

	run("cd %s && git init -q repo && cd repo && "
	    "git -c user.name=h -c user.email=h@h commit -q --allow-empty "
	    "-m host && git worktree add -q ../linked", w->dir);
	(void)snprintf(linked, sizeof(linked), "%.64s/linked", w->dir);
	memcpy(w->ws, linked, sizeof(linked));
	says(state, MODE_RO, "git log --format=%s", "host\n");
	says(state, MODE_STAGED, "echo x >f && git add f && "
	    "git commit -qm inside && git log --format=%s", "inside\nhost\n");
	run("cd %s/linked && test \"$(git log --format=%%s)\" = host && "
	    "test ! -e f && git -C ../repo fsck --no-progress", w->dir);
}

static void
a_planted_git_file_shows_nothing(void **state)
{
	struct world *w = *state;

	/* As a linked worktree, but for a repository that knows of none. */
	run("cd %s && mkdir -p secret/objects secret/refs ws/w/worktrees/x && "
	    "echo key > secret/key && "
	    "echo 'gitdir: %s/ws/w/worktrees/x' > ws/.git && "
	    "echo '%s/ws/.git' > ws/w/worktrees/x/gitdir && "
	    "echo '%s/secret' > ws/w/worktrees/x/commondir",
	    w->dir, w->dir, w->dir, w->dir);
	says(state, MODE_STAGED, "ls -d ../secret 2>/dev/null; echo done",
	    "done\n");
	run("echo 'gitdir: %s/secret/worktrees/x' > %s/ws/.git", w->dir,
	    w->dir);
	says(state, MODE_STAGED, "ls -d ../secret 2>/dev/null; echo done",
	    "done\n");
}

static void
the_self_test_finds_everything_in_force(void **state)
{
	const struct world *w = *state;
	const char *const argv[] = { "/bin/true", NULL };
	struct launch l = launch_of(w, argv);
	AUTO(box) struct box x = BOX_NONE;
	AUTO(buf) struct buf b;
	struct err e;

	buf_init(&b, 4096);
	if (box_open(&l, buf_bytes(&w->filter), &x, &e))
		fail_msg("%s (%s)", e.msg, e.why);
	self_put(&b, x.found, x.abi);
	assert_non_null(buf_cstr(&b));
	if (x.abi > 0)
		assert_null(strchr((const char *)b.p, '!'));
	assert_true(x.pidns != 0);
}

static void
a_workspace_that_was_exchanged_is_refused(void **state)
{
	const struct world *w = *state;
	const char *const argv[] = { "/bin/true", NULL };
	struct launch l = launch_of(w, argv);
	AUTO(box) struct box x = BOX_NONE;
	struct err e;

	l.workspace_ino++;
	assert_int_equal(box_open(&l, buf_bytes(&w->filter), &x, &e), -1);
	assert_int_equal(e.code, ERR_STALE);
}

int
main(void)
{
#define T(name) cmocka_unit_test_setup_teardown(name, setup, teardown)
	const struct CMUnitTest tests[] = {
		T(a_program_runs_and_its_exit_code_comes_back),
		T(what_cannot_be_executed_says_why),
		T(an_agent_that_is_not_released_never_runs),
		T(a_byte_at_the_tether_ends_it),
		T(when_its_supervisor_is_killed_nothing_is_left),
		T(a_staged_workspace_leaves_the_host_alone),
		T(a_read_only_workspace_can_only_be_read),
		T(a_socket_and_a_fifo_of_the_host_lead_nowhere),
		T(a_path_that_is_shown_can_be_read_and_no_more),
		T(the_agent_has_a_terminal_of_its_own),
		T(ordinary_tools_work),
		T(a_linked_worktree_can_commit_and_the_host_keeps_its_repository),
		T(a_planted_git_file_shows_nothing),
		T(the_self_test_finds_everything_in_force),
		T(a_workspace_that_was_exchanged_is_refused),
	};

	return cmocka_run_group_tests_name("sandbox", tests, NULL, NULL);
}
