/* SPDX-License-Identifier: ISC */
/* forge_story.c - a small history in which everything happens once. */
#include <string.h>

#include "journal/verify.h"
#include "tests/lib/forge.h"

const char forge_blob[] = "the manifest of a session\n";

static void
start(struct forge *f, const struct id *ses, const struct id *exp)
{
	static const char *const argv[] = { "make", "check" };
	AUTO(fields) struct fields v;

	fields_init(&v);
	fields_u64(&v, FIELD_OWNER_UID, 1000);
	fields_u64(&v, FIELD_MODE, MODE_STAGED);
	fields_bytes(&v, FIELD_EXPOSURE_ID, BYTES(exp->b));
	fields_list(&v, FIELD_ARGV, argv, 2);
	(void)forge_event(f, MACHINE_SESSION, ses, SESSION_EV_prepare, &v);
	(void)forge_event(f, MACHINE_SESSION, ses, SESSION_EV_start_intent, NULL);
	forge_commit(f);
	(void)forge_event(f, MACHINE_SESSION, ses, SESSION_EV_gate_open, NULL);
	forge_commit(f);
}

/* The end of a session and its changes: two records that name each other. */
static void
end(struct forge *f, const struct id *ses, const struct id *chg)
{
	AUTO(fields) struct fields a, b;
	uint8_t blob[SHA256_BYTES];

	sha256_of(bytes_of_str(str_of(forge_blob)), blob);
	fields_init(&a);
	fields_init(&b);
	fields_u64(&a, FIELD_LINK, f->n + 1);
	fields_bytes(&a, FIELD_CHANGE_ID, BYTES(chg->b));
	fields_u64(&a, FIELD_END_CAUSE, CAUSE_EXITED);
	fields_u64(&b, FIELD_LINK, f->n);
	fields_bytes(&b, FIELD_SESSION_ID, BYTES(ses->b));
	fields_u64(&b, FIELD_FILES, 3);
	fields_bytes(&b, FIELD_MANIFEST_BLOB, BYTES(blob));
	(void)forge_event(f, MACHINE_SESSION, ses, SESSION_EV_ended, &a);
	(void)forge_event(f, MACHINE_CHANGE, chg, CHANGE_EV_stage, &b);
	forge_commit(f);
}

static void
refused(struct forge *f, const struct id *exp)
{
	AUTO(fields) struct fields v;
	uint8_t digest[RECORD_FIELDS_MAX][32];
	struct record r;

	fields_init(&v);
	fields_text(&v, FIELD_CODE, STR("LIMIT"));
	forge_draft(f, MACHINE_EXPOSURE, exp, EXPOSURE_EV_renew, &r);
	r.flags = RECORD_REFUSED;
	r.to = r.from;
	forge_fields(f, &v, r.index, &r, digest);
	(void)forge_add(f, &r);
	forge_commit(f);
}

/* A lease is taken back under a running session. */
static void
take_back(struct forge *f, const struct id *exp, const struct id *ses)
{
	AUTO(fields) struct fields v;
	uint64_t at = forge_event(f, MACHINE_EXPOSURE, exp, EXPOSURE_EV_revoke,
	    NULL);

	fields_init(&v);
	fields_u64(&v, FIELD_CAUSE, at);
	(void)forge_event(f, MACHINE_SESSION, ses, SESSION_EV_revoke, &v);
	forge_commit(f);
}

void
forge_story(struct forge *f, size_t sessions)
{
	AUTO(fields) struct fields v;
	struct id exp, ses, chg;

	forge_init(f);
	forge_commit(f);
	fields_init(&v);
	fields_u64(&v, FIELD_OWNER_UID, 1000);
	fields_text(&v, FIELD_HOST_PATH, STR("/home/u/app"));
	fields_text(&v, FIELD_LABEL, STR("app"));
	id_random(&exp);
	(void)forge_event(f, MACHINE_EXPOSURE, &exp, EXPOSURE_EV_expose, &v);
	forge_commit(f);
	for (size_t i = 0; i < sessions; i++) {
		id_random(&ses);
		id_random(&chg);
		start(f, &ses, &exp);
		if (i == 0)
			refused(f, &exp);
		f->session = ses;
		if (i == sessions - 1)
			take_back(f, &exp, &ses);
		end(f, &ses, &chg);
		if (i % 2 == 0) {
			forge_epoch(f);
			forge_commit(f);
		}
	}
	forge_publish(f);
}

/* ---- reading it --------------------------------------------------------- */

static int
get_checkpoint(void *ctx, struct buf *note, struct err *e)
{
	const struct forge_source *s = ctx;

	buf_put(note, s->f->note.p, s->f->note.n);
	return buf_ok(note, "note", e);
}

static int
get_record(void *ctx, struct bytes *b, struct err *e)
{
	struct forge_source *s = ctx;

	(void)e;
	if (s->record == s->records)
		return 0;
	*b = forge_record(s->f, s->record++);
	return 1;
}

static int
get_commit(void *ctx, struct commit_row *c, struct err *e)
{
	struct forge_source *s = ctx;

	(void)e;
	if (s->commit == s->f->ncommits)
		return 0;
	*c = s->f->commit[s->commit++];
	return 1;
}

static int
get_sealed(void *ctx, struct sealed_row *row, struct err *e)
{
	struct forge_source *s = ctx;

	(void)e;
	if (s->sealed == s->f->nsealed)
		return 0;
	*row = s->f->sealed[s->sealed++];
	return 1;
}

static int
get_derived(void *ctx, struct subject *row, struct err *e)
{
	struct forge_source *s = ctx;

	(void)e;
	if (s->derived == s->f->nsubjects)
		return 0;
	*row = s->f->subject[s->derived++];
	return 1;
}

void
forge_source(const struct forge *f, struct forge_source *fs, struct source *s)
{
	static const struct source_ops ops = {
		.checkpoint = get_checkpoint, .record = get_record,
		.commit = get_commit, .sealed = get_sealed,
		.derived = get_derived,
	};

	*fs = (struct forge_source){ .f = f, .records = f->n };
	*s = (struct source){ .ops = &ops, .ctx = fs };
}

void
forge_trust(const struct forge *f, struct trusted *t)
{
	*t = (struct trusted){ .how = TRUST_PINNED, .has_root = 1 };
	memcpy(t->install, f->install, sizeof(t->install));
	memcpy(t->root_pub, f->root.pub, PUB_BYTES);
}
