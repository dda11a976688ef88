/* SPDX-License-Identifier: ISC */
/* gloved - keeper of the journal; see gloved(8). */
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/stat.h>

#include <errno.h>
#include <getopt.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/fd.h"
#include "base/log.h"
#include "base/num.h"
#include "recovery/recover.h"

#include "cli/gloved_int.h"
#include "cli/home.h"

/* ---- what was asked for -------------------------------------------------- */

enum { OPT_HOME = 256, OPT_SOCKET, OPT_READY, OPT_IDLE, OPT_VERSION, OPT_HELP };

static const struct option longopts[] = {
	{ "home", required_argument, NULL, OPT_HOME },
	{ "socket", required_argument, NULL, OPT_SOCKET },
	{ "ready-fd", required_argument, NULL, OPT_READY },
	{ "idle-exit", required_argument, NULL, OPT_IDLE },
	{ "version", no_argument, NULL, OPT_VERSION },
	{ "help", no_argument, NULL, OPT_HELP },
	{ NULL, 0, NULL, 0 }
};

static const char usage[] =
    "usage: gloved [--home DIR] [--socket PATH] [--idle-exit DURATION]\n"
    "              [--ready-fd N]\n";

static int
set_idle(struct options *o, const char *text, struct err *e)
{
	int64_t us;

	if (strcmp(text, "never") == 0) {
		o->idle_exit_s = 0;
		return 0;
	}
	if (duration_parse(str_of(text), 1000000, 30LL * 86400 * 1000000, &us, e))
		return err_wrap(e, "--idle-exit");
	o->idle_exit_s = us / 1000000;
	return 0;
}

static int
set_ready(struct options *o, const char *text, struct err *e)
{
	int64_t n;

	if (num_parse(str_of(text), 3, 1 << 20, &n, e))
		return err_wrap(e, "--ready-fd");
	o->ready_fd = (int)n;
	return 0;
}

static int
parse(int argc, char **argv, struct options *o, struct err *e)
{
	const char *home = NULL, *socket = NULL;
	struct home h;
	int c;

	while ((c = getopt_long(argc, argv, "", longopts, NULL)) != -1)
		switch (c) {
		case OPT_HOME:
			home = optarg;
			break;
		case OPT_SOCKET:
			socket = optarg;
			break;
		case OPT_READY:
			if (set_ready(o, optarg, e))
				return -1;
			break;
		case OPT_IDLE:
			if (set_idle(o, optarg, e))
				return -1;
			break;
		case OPT_VERSION:
			(void)printf("gloved %s\n", GLOVE_VERSION);
			exit(0);
		case OPT_HELP:
			(void)fputs(usage, stdout);
			exit(0);
		default:
			(void)fputs(usage, stderr);
			exit(2);
		}
	if (optind != argc)
		return err_say(e, ERR_USAGE, "gloved takes no arguments");
	if (home_find(home, socket, &h, e))
		return -1;
	(void)snprintf(o->home, sizeof(o->home), "%s", h.state);
	(void)snprintf(o->socket, sizeof(o->socket), "%s", h.socket);
	return o->socket[0] == '/' ? 0 :
	    err_say(e, ERR_USAGE, "--socket: not an absolute path");
}

enum { FILES_WANTED = 8192 };

/* ---- being careful ------------------------------------------------------- */

/* The key is in this memory: no dump of it, nobody attaches, nothing is gained
 * by exec.  Children are reaped by the system; their channels tell of them. */
static int
harden(struct rlimit *nofile, struct err *e)
{
	struct rlimit core, files;
	const struct sigaction reap = { .sa_handler = SIG_DFL,
	    .sa_flags = SA_NOCLDWAIT };

	(void)umask(077);
	if (getrlimit(RLIMIT_CORE, &core))
		return err_set(e, ERR_SYS, "start");
	if (getrlimit(RLIMIT_NOFILE, &files))
		return err_set(e, ERR_SYS, "start");
	/* Enough for every client and many sessions; see effects_spawn.c. */
	*nofile = files;
	if (files.rlim_cur < FILES_WANTED)
		files.rlim_cur = files.rlim_max < FILES_WANTED ? files.rlim_max :
		    FILES_WANTED;
	if (setrlimit(RLIMIT_NOFILE, &files))
		return err_set(e, ERR_SYS, "start");
	/* Ours, not the hard one: that is for the agents to keep or lower. */
	core.rlim_cur = 0;
	if (setrlimit(RLIMIT_CORE, &core) || prctl(PR_SET_DUMPABLE, 0, 0, 0, 0) ||
	    prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) ||
	    sigaction(SIGCHLD, &reap, NULL))
		return err_set(e, ERR_SYS, "start");
	(void)signal(SIGPIPE, SIG_IGN);
	return 0;
}

/* ---- what the engine needs of us ----------------------------------------- */

static void
on_answer(void *cookie, struct ask *a)
{
	control_answer(((struct gloved *)cookie)->control, a);
}

static void
on_note(void *cookie, uint64_t conn, const char *method, struct json *params)
{
	control_note(((struct gloved *)cookie)->control, conn, method, params);
}

static size_t
on_clients(void *cookie)
{
	return control_count(((struct gloved *)cookie)->control);
}

static int64_t
on_journal_bytes(void *cookie)
{
	static const char *const files[] = { "journal.db", "journal.db-wal" };
	const struct gloved *g = cookie;
	struct stat st;
	int64_t n = 0;

	for (size_t i = 0; i < sizeof(files) / sizeof(files[0]); i++)
		if (fstatat(g->homefd, files[i], &st, 0) == 0)
			n += st.st_size;
	return n;
}

static int
on_root_key_here(void *cookie)
{
	const struct gloved *g = cookie;

	return faccessat(g->homefd, "keys/root.key", F_OK, 0) == 0;
}

static void
on_ask(void *cookie, struct ask *a)
{
	struct gloved *g = cookie;

	engine_ask(g->engine, a, clock_now());
	loop_wake(g);
}

static void
on_gone(void *cookie, uint64_t conn)
{
	engine_gone(((struct gloved *)cookie)->engine, conn);
}

/* ---- up and down --------------------------------------------------------- */

static int
open_journal(struct gloved *g, struct err *e)
{
	struct journal_opts o = { .homefd = g->homefd, .create = 1 };

	if (journal_open(&o, &g->journal, &g->verdict, e))
		return -1;
	log_event(LOG_LEVEL_INFO, "journal", "verdict=%s records=%llu",
	    verdict_name((int)g->verdict),
	    (unsigned long long)journal_size(g->journal));
	return 0;
}

static int
make_engine(struct gloved *g, struct err *e)
{
	struct world_opts w = { .loop = g->loop, .home = g->opt.home,
	    .homefd = g->homefd, .attach_dir = g->attach_dir,
	    .sandbox = g->sandbox, .nofile = g->nofile, .journal = g->journal, .wake = loop_wake,
	    .cookie = g };
	struct engine_opts o = { .journal = g->journal, .uid = geteuid(),
	    .pid = getpid(), .home = g->opt.home, .attach_dir = g->attach_dir,
	    .verdict = g->verdict, .idle_exit_s = g->opt.idle_exit_s, .cookie = g,
	    .answer = on_answer, .note = on_note, .clients = on_clients,
	    .journal_bytes = on_journal_bytes, .root_key_here = on_root_key_here };
	struct control_ops c = { g, on_ask, on_gone };

	if (control_new(&c, &g->control, e) || world_new(&w, &g->world, e))
		return -1;
	world_ops(g->world, &o.ops);
	if (clock_boot_id(o.boot_id, e) ||
	    engine_new(&o, clock_now(), &g->engine, e))
		return -1;
	world_serves(g->world, g->engine);
	return 0;
}

static int
up(struct gloved *g, struct err *e)
{
	char dir[DIR_ROOM];

	(void)snprintf(dir, sizeof(dir), "%.*s",
	    (int)(strrchr(g->opt.socket, '/') - g->opt.socket), g->opt.socket);
	return home_prepare(g, e) || open_journal(g, e) || dir_make(dir, e) ||
	    attach_dir_prepare(g, e) ||
	    program_find("glove-sandbox", g->sandbox, e) || loop_new(g, e) ||
	    make_engine(g, e) || recover(g->engine, clock_now(), e) ||
	    clients_listen(g, e) ? -1 : 0;
}

/* Whoever started us hears that clients may come, or why not: one line. */
static void
tell_starter(struct options *o, const struct err *err)
{
	char line[ERR_MSG_MAX + ERR_WHY_MAX + ERR_FIX_MAX + 64];
	int n;

	if (o->ready_fd < 0)
		return;
	n = err == NULL ? snprintf(line, sizeof(line), "ok\n") :
	    snprintf(line, sizeof(line), "%s\t%s\t%s\t%s\n", err_wire(err->code),
	    err->msg, err->why, err->fix);
	/* One line, whatever a sentence has in it. */
	for (int i = 0; i + 1 < n; i++)
		if (line[i] == '\n')
			line[i] = ' ';
	if (n > 0)
		(void)!write(o->ready_fd, line, (size_t)n);
	(void)close(o->ready_fd);
	o->ready_fd = -1;
}

/* The door closes first, so that nobody talks to one that leaves. */
static void
down(struct gloved *g, int orderly)
{
	struct err e;

	if (g->control != NULL && g->engine != NULL)
		clients_close(g);
	engine_free(TAKE(g->engine));
	world_free(TAKE(g->world));
	control_free(TAKE(g->control));
	loop_free(g);
	if (g->journal != NULL && orderly && journal_stop(g->journal, &e))
		log_event(LOG_LEVEL_WARN, "no_stop_record", "err=%s: %s",
		    err_name(e.code), e.msg);
	journal_close(TAKE(g->journal));
	auto_fd(&g->homefd);
}

static void
complain(const struct err *e)
{
	(void)fprintf(stderr, "gloved: %s\n", e->msg);
	if (e->why[0] != '\0')
		(void)fprintf(stderr, "  why:  %s\n", e->why);
	(void)fprintf(stderr, "  do:   %s\n", err_do(e));
}

int
main(int argc, char **argv)
{
	struct gloved g = { .opt = { .ready_fd = -1, .idle_exit_s = IDLE_EXIT_S },
	    .homefd = -1, .listenfd = -1 };
	struct err e;
	int rc;

	log_init("gloved", LOG_LEVEL_INFO);
	if (parse(argc, argv, &g.opt, &e) || harden(&g.nofile, &e) || up(&g, &e)) {
		complain(&e);
		tell_starter(&g.opt, &e);
		down(&g, 0);
		return err_exit(e.code);
	}
	log_event(LOG_LEVEL_INFO, "ready", "pid=%d", (int)getpid());
	tell_starter(&g.opt, NULL);
	/* What recovery found to do is done first. */
	loop_wake(&g);
	if ((rc = sd_event_loop(g.loop)) < 0) {
		log_event(LOG_LEVEL_ERROR, "loop", "err=%s", strerror(-rc));
		g.exit_code = 71;
	}
	down(&g, g.exit_code == 0);
	log_event(LOG_LEVEL_INFO, "gone", "exit=%d", g.exit_code);
	return g.exit_code;
}
