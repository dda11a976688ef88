/* SPDX-License-Identifier: ISC */
/* glove export: a copy of the log that anybody can check. */
#include <inttypes.h>
#include <stdio.h>
#include <unistd.h>

#include "base/progress.h"
#include "cli/cli.h"
#include "cli/remote.h"

struct shown {
	struct progress	progress;
	int		begun;
};

static void
on_progress(void *ctx, uint64_t done, uint64_t total)
{
	struct shown *s = ctx;

	if (!s->begun)
		progress_init(&s->progress, STDERR_FILENO, "export", "records",
		    (int64_t)total);
	s->begun = 1;
	progress_at(&s->progress, (int64_t)done);
}

static void
say(struct cli *c, const char *path, const char *session,
    const struct export_result *r)
{
	AUTO(json) struct json *o = NULL;

	if (c->json) {
		o = json_make_object();
		json_set_cstr(o, "schema", "glove.export/1");
		json_set_cstr(o, "directory", path);
		json_set_cstr(o, "session", session);
		json_set_int(o, "records", (int64_t)r->records);
		json_set_int(o, "commits", (int64_t)r->commits);
		json_set_int(o, "disclosed", (int64_t)r->sealed);
		json_set_int(o, "blobs", (int64_t)r->blobs);
		json_set_int(o, "receipts", (int64_t)r->receipts);
		out_json(&c->out, o);
		return;
	}
	out_putf(&c->out, "%" PRIu64 " records, %" PRIu64 " commits; disclosed: %"
	    PRIu64 " values, %" PRIu64 " objects", r->records, r->commits,
	    r->sealed, r->blobs);
	if (session != NULL)
		out_putf(&c->out, ", %" PRIu64 " receipts, all of %s",
		    r->receipts, session);
	out_put(&c->out, "\n");
	if (c->quiet)
		return;
	out_put(&c->note, "check it anywhere: glove-verify --key KEY ");
	out_foreign(&c->note, str_of(path), 4096);
	out_put(&c->note, "      KEY: glove key export\n");
}

int
cmd_export(struct cli *c, struct err *e)
{
	const char *path = args_text(&c->args, FLAG_OUTPUT, NULL);
	AUTO(remote) struct remote *m = NULL;
	struct shown shown = { .begun = 0 };
	struct export_opts o = { .session = NULL };
	struct export_from from;
	struct export_result r;
	char text[ID_TEXT_MAX];
	struct source s;
	struct id id;
	int failed;

	if (path == NULL) {
		(void)err_say(e, ERR_USAGE, "where to?");
		return err_fix(e, "glove export [SES] -o DIR");
	}
	if (c->args.n == 1) {
		if (ids_resolve(c, c->args.v[0], ID_BIT(ID_SESSION), 0, text, e) ||
		    id_parse(ID_SESSION, str_of(text), &id, e))
			return -1;
		o.session = &id;
	}
	if (remote_open(c, &m, &s, e))
		return -1;
	remote_from(m, &s, &from);
	if (!c->quiet) {
		o.progress = on_progress;
		o.progress_ctx = &shown;
	}
	failed = export_write(path, &from, &o, &r, e);
	if (shown.begun)
		progress_done(&shown.progress);
	if (failed)
		return -1;
	say(c, path, o.session == NULL ? NULL : text, &r);
	return 0;
}
