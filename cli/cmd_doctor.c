/* SPDX-License-Identifier: ISC */
/* glove doctor: what this machine can do, and a real sandbox to prove it. */
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "cli/doctor.h"
#include "cli/run.h"
#include "lifecycle/machine.h"

static void
report(struct cli *c, struct json *list, const struct finding *f)
{
	int bad = !f->ok && f->need == DOCTOR_MUST;

	if (bad)
		c->exit = 1;
	if (list != NULL) {
		struct json *j = json_make_object();

		json_set_cstr(j, "name", f->name);
		json_set_cstr(j, "verdict", f->ok ? "ok" : bad ? "fails" :
		    "missing");
		json_set_cstr(j, "found", f->says);
		json_set_cstr(j, "fix", f->ok ? NULL : f->fix);
		json_add(list, j);
		return;
	}
	out_style(&c->out, f->ok ? STYLE_GREEN : bad ? STYLE_RED : STYLE_YELLOW);
	out_put(&c->out, f->ok ? "ok     " : bad ? "FAILS  " : "note   ");
	out_style(&c->out, STYLE_PLAIN);
	out_putf(&c->out, "%-18s ", f->what);
	out_foreign(&c->out, str_of(f->says), DOCTOR_SAYS_MAX);
	out_put(&c->out, "\n");
	if (!f->ok) {
		out_put(&c->out, "         do: ");
		out_foreign(&c->out, str_of(f->fix), ERR_FIX_MAX);
		out_put(&c->out, "\n");
	}
}

/* /bin/true, through gloved, in an empty directory. */
static int
run_true(struct cli *c, const char *dir, struct err *e)
{
	static const char *const argv[] = { "/bin/true" };
	static const char *const none[] = { NULL };
	AUTO(run) struct run r = { .sock = -1, .argc = 1, .argv = argv,
	    .path = dir, .cwd = dir, .mode = "ro", .name = "doctor",
	    .ttl_s = 60, .env = none };
	struct pump p = { .quiet = 1 };

	if (run_start(c, &r, e))
		return -1;
	p.sock = r.sock;
	if (pump_run(&p, &r.end, e))
		return -1;
	if (r.end.how == PUMP_EXIT && run_exit(&r.end) == 0)
		return 0;
	return err_say(e, ERR_SANDBOX, "it ended with %d: %s",
	    run_exit(&r.end), cause_doc(r.end.cause));
}

static void
try_sandbox(struct cli *c, struct finding *f)
{
	char dir[] = "/tmp/glove-doctor.XXXXXX";
	struct err e;

	*f = (struct finding){ .name = "sandbox", .what = "a real sandbox",
	    .need = DOCTOR_MUST, .fix = "mend what fails above first; the log"
	    " of gloved may say more: glove log" };
	if (mkdtemp(dir) == NULL) {
		(void)snprintf(f->says, sizeof(f->says), "/tmp: %s",
		    strerror(errno));
		return;
	}
	f->ok = run_true(c, dir, &e) == 0;
	(void)snprintf(f->says, sizeof(f->says), "%.190s", f->ok ?
	    "ran /bin/true in one" : e.msg);
	(void)rmdir(dir);
}

static void
try_daemon(struct cli *c, struct finding *f, struct err *e)
{
	*f = (struct finding){ .name = "gloved", .what = "gloved",
	    .need = DOCTOR_MUST };
	f->ok = cli_connect(c, e) == 0;
	f->fix = f->ok ? "" : err_do(e);
	(void)snprintf(f->says, sizeof(f->says), "%.190s", f->ok ? "answers" :
	    e->msg);
}

static void
try_root_key(struct cli *c, struct finding *f)
{
	AUTO(json) struct json *s = NULL;
	struct err e;

	*f = (struct finding){ .name = "root_key", .what = "root key",
	    .need = DOCTOR_SHOULD, .fix = "move keys/root.key and recovery.key"
	    " of the state directory to a medium that you keep elsewhere" };
	if (cli_call(c, "daemon.status", NULL, &s, &e)) {
		(void)snprintf(f->says, sizeof(f->says), "%.190s", e.msg);
		return;
	}
	f->ok = !reply_bool(s, "root_key_here");
	(void)snprintf(f->says, sizeof(f->says), "%s", f->ok ?
	    "kept elsewhere" : "still on this machine");
}

int
cmd_doctor(struct cli *c, struct err *e)
{
	AUTO(json) struct json *j = c->json ? json_make_object() : NULL;
	struct json *list = c->json ? json_make_array() : NULL;
	struct finding f;
	struct err failed;

	if (cli_home(c, e)) {
		json_free(list);
		return -1;
	}
	for (size_t i = 0; doctor_try(i, &c->home, &f); i++)
		report(c, list, &f);
	if (!args_has(&c->args, FLAG_QUICK)) {
		try_daemon(c, &f, &failed);
		report(c, list, &f);
		if (f.ok) {
			try_sandbox(c, &f);
			report(c, list, &f);
			try_root_key(c, &f);
			report(c, list, &f);
		}
	}
	if (c->json) {
		json_set_cstr(j, "schema", "glove.doctor/1");
		json_set_bool(j, "ok", c->exit == 0);
		json_set(j, "findings", list);
		out_json(&c->out, j);
	} else {
		out_put(&c->out, c->exit == 0 ? "sessions can run here\n" :
		    "sessions cannot run here yet\n");
	}
	return 0;
}
