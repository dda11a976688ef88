/* SPDX-License-Identifier: ISC */
/* run_say.c - what glove run tells: before, after, and as JSON. */
#include <string.h>

#include "base/clock.h"
#include "base/num.h"
#include "cli/run.h"
#include "lifecycle/machine.h"

static void
line_start(struct cli *c)
{
	out_style(&c->note, STYLE_DIM);
	out_put(&c->note, "glove: ");
	out_style(&c->note, STYLE_PLAIN);
}

static void
note_path(struct cli *c, const char *path)
{
	AUTO(buf) struct buf b;

	buf_init(&b, PATH_BYTES_MAX + 8);
	path_put(c, &b, str_of(path));
	out_foreign(&c->note, (struct str){ (const char *)b.p, b.n },
	    4 * PATH_BYTES_MAX);
}

static void
note_shown(struct cli *c, const struct run *r)
{
	out_put(&c->note, "shown  /usr and the like");
	for (size_t i = 0; i < r->shown.n; i++) {
		out_put(&c->note, " ");
		note_path(c, r->shown.v[i]);
	}
	out_put(&c->note, " (read-only)\n");
}

void
run_header(struct cli *c, const struct run *r)
{
	AUTO(buf) struct buf when;
	char id[ID_TEXT_MAX];

	buf_init(&when, 128);
	duration_put(&when, (r->ends_us - clock_now().real_us + 500000) /
	    1000000 * 1000000);
	line_start(c);
	out_putf(&c->note, "session %s   ", ids_short(c, str_of(r->id), id));
	note_path(c, r->path);
	out_put(&c->note, strcmp(r->mode, "ro") == 0 ? "   read-only\n" :
	    "   staged copy: nothing is written to it until you apply\n");
	line_start(c);
	out_put(&c->note, "hidden  everything else outside   ");
	note_shown(c, r);
	line_start(c);
	out_putf(&c->note, "network off   ends  in %s or when ", buf_cstr(&when));
	out_foreign(&c->note, str_of(r->argv[0]), 64);
	out_put(&c->note, " exits");
	out_put(&c->note, r->terminal ? "   Ctrl-] d detaches\n" : "\n");
}

static void
ended_how(struct cli *c, const struct run *r, const struct json *show)
{
	AUTO(buf) struct buf after;
	int64_t ms = reply_int(show, "duration_ms", -1);

	out_style(&c->note, STYLE_BOLD);
	out_foreign(&c->note, str_of(r->argv[0]), 64);
	out_style(&c->note, STYLE_PLAIN);
	if (r->end.cause == CAUSE_EXITED && r->end.status > 128)
		out_putf(&c->note, " was ended by signal %d",
		    r->end.status - 128);
	else if (r->end.cause == CAUSE_EXITED)
		out_putf(&c->note, " exited %d", r->end.status);
	else
		out_putf(&c->note, ": %s", cause_doc(r->end.cause));
	buf_init(&after, 64);
	if (ms >= 0) {
		duration_put(&after, ms * 1000);
		out_putf(&c->note, " after %s", buf_cstr(&after));
	}
	out_put(&c->note, ".");
}

static void
what_changed(struct cli *c, const struct run *r, const struct json *show)
{
	const struct json *changes = json_get(show, "changes");
	int64_t files = reply_int(changes, "files", 0);
	char id[ID_TEXT_MAX];

	if (files == 0) {
		out_put(&c->note, strcmp(r->mode, "ro") == 0 ? "\n" :
		    "   Nothing changed.\n");
		return;
	}
	(void)ids_short(c, str_of(r->id), id);
	out_putf(&c->note, "   %lld file%s changed, +%lld \u2212%lld,"
	    " not yet applied.\n", (long long)files, files == 1 ? "" : "s",
	    (long long)reply_int(changes, "added", 0),
	    (long long)reply_int(changes, "removed", 0));
	out_putf(&c->note, "  glove diff %-13s look        glove apply %-13s take"
	    " them\n  glove timeline %-9s what it did glove discard %-11s drop"
	    " them\n", id, id, id, id);
}

static void
set_receipt(struct cli *c, struct json *j, const struct json *show)
{
	int64_t record = reply_int(show, "record", -1);
	char id[ID_TEXT_MAX];
	struct err ignore;

	if (record < 0 || receipt_id(c, record, id, &ignore))
		return;
	json_set_int(j, "record", record);
	json_set_cstr(j, "receipt", id);
}

void
run_json(struct cli *c, const struct run *r, const struct json *show)
{
	AUTO(json) struct json *j = json_make_object();
	int64_t ms = reply_int(show, "duration_ms", -1);

	json_set_cstr(j, "schema", "glove.run/1");
	json_set_cstr(j, "session", r->id);
	if (r->detach || r->end.how == PUMP_DETACHED) {
		json_set_null(j, "exit");
		json_set_null(j, "ended_by");
		json_set_time(j, "ends_at", r->ends_us);
		out_json(&c->out, j);
		return;
	}
	json_set_int(j, "exit", run_exit(&r->end));
	json_set_cstr(j, "ended_by", cause_word(r->end.cause));
	if (ms >= 0) {
		json_set_int(j, "duration_s", ms / 1000);
		json_set_int(j, "duration_ms", ms);
	}
	if (json_get(show, "changes") != NULL)
		json_set(j, "changes", json_clone(json_get(show, "changes")));
	if (json_get(show, "denials") != NULL)
		json_set(j, "denials", json_clone(json_get(show, "denials")));
	set_receipt(c, j, show);
	out_json(&c->out, j);
}

void
run_summary(struct cli *c, const struct run *r, const struct json *show)
{
	ended_how(c, r, show);
	what_changed(c, r, show);
}
