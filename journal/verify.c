/* SPDX-License-Identifier: ISC */
/*
 * verify.c - one pass: every record into the tree and past every check.
 *
 * What is read is a stranger's.  A fault is noted and the pass goes on, so that
 * the report says all of it; only what cannot be read ends it.
 */
#include <inttypes.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include "journal/verify_int.h"

enum { PROGRESS_EVERY = 4096, NOTE_MAX = 64 << 10 };

/* ---- faults ------------------------------------------------------------- */

static void __attribute__((format(printf, 3, 0)))
say(struct check_line *l, enum outcome o, const char *fmt, va_list ap)
{
	l->outcome = o;
	(void)vsnprintf(l->text, sizeof(l->text), fmt, ap);
}

#define SAY_FIRST(v, c, fmt) do {						\
	struct check_line *line_ = &(v)->r->line[c];				\
	va_list ap_;								\
	if (line_->outcome == OUTCOME_FAIL)					\
		break;								\
	va_start(ap_, fmt);							\
	say(line_, OUTCOME_FAIL, fmt, ap_);					\
	va_end(ap_);								\
} while (0)

void
check_fail(struct verify *v, enum check c, const char *fmt, ...)
{
	v->wrong = 1;
	SAY_FIRST(v, c, fmt);
}

void
check_missing(struct verify *v, enum check c, const char *fmt, ...)
{
	v->missing = 1;
	SAY_FIRST(v, c, fmt);
}

void
check_revoked(struct verify *v, const char *fmt, ...)
{
	v->revoked = 1;
	SAY_FIRST(v, CHECK_KEY_ORDER, fmt);
}

void
check_source(struct verify *v, enum check c, const struct err *e)
{
	switch (e->code) {
	case ERR_NOTFOUND:
		check_missing(v, c, "%s", e->msg);
		break;
	case ERR_CORRUPT:
	case ERR_FORMAT:
	case ERR_SIGNATURE:
	case ERR_TOOBIG:
	case ERR_USAGE:		/* a number that is out of its bounds */
		check_fail(v, c, "%s", e->msg);
		break;
	default:
		check_missing(v, c, "%s", e->msg);
		v->unreadable = 1;
	}
}

void
check_pass(struct verify *v, enum check c, const char *fmt, ...)
{
	va_list ap;

	if (v->r->line[c].outcome == OUTCOME_FAIL)
		return;
	va_start(ap, fmt);
	say(&v->r->line[c], OUTCOME_PASS, fmt, ap);
	va_end(ap);
}

void
check_skip(struct verify *v, enum check c, const char *fmt, ...)
{
	va_list ap;

	if (v->r->line[c].outcome == OUTCOME_FAIL)
		return;
	va_start(ap, fmt);
	say(&v->r->line[c], OUTCOME_SKIP, fmt, ap);
	va_end(ap);
}

/* ---- the pass ----------------------------------------------------------- */

static int
tile_out(void *ctx, const struct tile *t, struct err *e)
{
	struct verify *v = ctx;

	if (v->src->ops->tile(v->src->ctx, t, e))
		check_source(v, CHECK_TREE, e);
	return 0;
}

static int
begin(struct verify *v)
{
	struct err e;

	buf_init(&v->note, NOTE_MAX);
	v->tree = calloc(1, sizeof(*v->tree));
	if (v->tree == NULL) {
		(void)err_set(&e, ERR_NOMEM, "tree");
		check_source(v, CHECK_TREE, &e);
		return -1;
	}
	if (v->src->ops->tile != NULL) {
		v->tree->out = tile_out;
		v->tree->ctx = v;
	}
	if (v->src->ops->checkpoint(v->src->ctx, &v->note, &e) ||
	    checkpoint_parse((struct str){ (const char *)v->note.p, v->note.n },
	    &v->head, &v->text, &v->sigs, &e)) {
		check_source(v, CHECK_SIGNATURE, &e);
		return -1;
	}
	v->r->checkpoint = v->head;
	if (v->o->against.n != 0 && checkpoint_parse(v->o->against,
	    &v->against, &v->against_text, &v->against_sigs, &e))
		check_source(v, CHECK_COMPLETENESS, &e);
	return 0;
}

/* The first record says whose log this is. */
static void
first(struct verify *v, const struct record *r)
{
	memcpy(v->install, r->install, sizeof(v->install));
	(void)origin_str(v->install, v->incarnation, v->origin);
	if (r->machine != MACHINE_LOG || r->event != LOG_EV_genesis ||
	    r->flags & RECORD_REFUSED)
		check_fail(v, CHECK_SIGNATURE,
		    "the log does not begin with its first record");
}

static void
one(struct verify *v, uint64_t index, struct bytes b)
{
	struct record r;
	struct hash leaf;
	struct err e;

	tree_leaf(b, &leaf);
	if (tilecut_append(v->tree, &leaf, &e) || record_decode(b, &r, &e)) {
		(void)err_wrap(&e, "record %" PRIu64, index);
		check_source(v, CHECK_MACHINE, &e);
		return;
	}
	if (r.index != index) {
		check_fail(v, CHECK_TREE, "record %" PRIu64
		    " says that it is record %" PRIu64, index, r.index);
		return;
	}
	if (index == 0)
		first(v, &r);
	if (memcmp(r.install, v->install, sizeof(r.install)) != 0) {
		check_fail(v, CHECK_MACHINE, "record %" PRIu64
		    " is of another installation", index);
		return;
	}
	keys_record(v, &r);
	states_record(v, &r);
	links_record(v, &r);
	extras_record(v, &r);
	commits_record(v, &r);
}

static void
records(struct verify *v)
{
	struct bytes b;
	struct err e;
	uint64_t n = 0;
	int more;

	while ((more = v->src->ops->record(v->src->ctx, &b, &e)) == 1) {
		if (n == v->head.size) {
			if (!v->src->live)
				check_fail(v, CHECK_TREE, "there are records"
				    " after the signed checkpoint");
			break;
		}
		one(v, n, b);
		if (++n % PROGRESS_EVERY == 0 && v->o->progress != NULL)
			v->o->progress(v->o->progress_ctx, n, v->head.size);
	}
	if (more < 0)
		check_source(v, CHECK_TREE, &e);
	v->r->records = n;
}

/* ---- what it comes to --------------------------------------------------- */

static void
tree_end(struct verify *v)
{
	const uint64_t n = v->tree->edge.size;
	struct hash root;
	struct err e;

	if (n < v->head.size) {
		check_missing(v, CHECK_TREE, "%" PRIu64 " of %" PRIu64
		    " records are there", n, v->head.size);
		return;
	}
	if (tilecut_finish(v->tree, &e))
		check_source(v, CHECK_TREE, &e);
	tree_root(&v->tree->edge, &root);
	if (memcmp(root.b, v->head.root.b, sizeof(root.b)) != 0)
		check_fail(v, CHECK_TREE, "%" PRIu64 " records do not reproduce"
		    " the root of checkpoint %" PRIu64, n, v->head.size);
	check_pass(v, CHECK_TREE, "%" PRIu64 " of %" PRIu64
	    " records reproduce the root of checkpoint %" PRIu64, n,
	    v->head.size, v->head.size);
}

static void
state_end(struct verify *v)
{
	const struct states *s = &v->states;
	const struct links *l = &v->links;
	char refused[64] = "";

	states_compare(v);
	if (s->refused != 0)
		(void)snprintf(refused, sizeof(refused), ", %" PRIu64
		    " refused attempt%s that moved nothing", s->refused,
		    s->refused == 1 ? "" : "s");
	check_pass(v, CHECK_MACHINE, "%" PRIu64
	    " transitions allowed by the tables%s; %s", s->edges, refused,
	    s->compared ? "derived state equals stored state" :
	    "no stored state to compare");
	if (l->linked == 0)
		check_skip(v, CHECK_LINKS, "no record names another");
	else
		check_pass(v, CHECK_LINKS, "%" PRIu64 " records, each names"
		    " the one it belongs to; %" PRIu64 " by cause", l->linked,
		    l->causes);
}

static void
against_end(struct verify *v)
{
	const uint64_t n = v->tree->edge.size, want = v->against.size;
	struct err e;

	if (v->keys.have_genesis && (strcmp(v->against.origin, v->origin) != 0 ||
	    note_check(v->against_text, v->against_sigs, v->origin,
	    v->keys.log_pub, &e)))
		check_fail(v, CHECK_COMPLETENESS, "the checkpoint from elsewhere"
		    " is not signed by this log");
	else if (want > n)
		check_missing(v, CHECK_COMPLETENESS, "a checkpoint from elsewhere"
		    " knows %" PRIu64 " records, %" PRIu64 " are here", want, n);
	else if (!v->against_met)
		check_fail(v, CHECK_COMPLETENESS, "no commit ends where the"
		    " checkpoint from elsewhere does, at record %" PRIu64, want);
	else
		check_pass(v, CHECK_COMPLETENESS, "the %" PRIu64 " records of"
		    " the checkpoint from elsewhere are the first of these",
		    want);
}

static void
completeness(struct verify *v)
{
	const uint64_t n = v->tree->edge.size, want = v->src->size;

	if (v->src->size_from != NULL && n < want)
		check_missing(v, CHECK_COMPLETENESS, "%s knows %" PRIu64
		    " records, %" PRIu64 " are here", v->src->size_from, want, n);
	if (v->against.origin[0] != '\0')
		against_end(v);
	else if (v->src->size_from != NULL)
		check_pass(v, CHECK_COMPLETENESS, "%s knows %" PRIu64
		    " records, %" PRIu64 " are here", v->src->size_from, want, n);
	else
		check_skip(v, CHECK_COMPLETENESS, "that nothing was cut off at"
		    " the end only a checkpoint from elsewhere can show"
		    " (--against)");
}

static void
files(struct verify *v)
{
	AUTO(buf) struct buf b;
	struct err e;

	buf_init(&b, SIZE_MAX / 2);
	if (v->src->ops->finish == NULL) {
		check_skip(v, CHECK_FILES, "there are none beside the records");
		return;
	}
	keys_put(&b, &v->keys, v->install);
	if (buf_ok(&b, "keys", &e) || v->src->ops->finish(v->src->ctx,
	    (struct str){ (const char *)b.p, b.n }, &e))
		check_source(v, CHECK_FILES, &e);
	check_pass(v, CHECK_FILES, "%s", v->src->finish_says);
}

enum answer
verify_judge(const struct verify *v)
{
	if (v->wrong)
		return ANSWER_INVALID;
	if (v->unreadable)
		return ANSWER_CANNOT_CHECK;
	if (v->revoked)
		return ANSWER_REVOKED;
	if (v->missing)
		return ANSWER_INCOMPLETE;
	if (v->r->trust == TRUST_FILE)
		return ANSWER_UNTRUSTED;
	return ANSWER_NOT_WITNESSED;
}

void
verify_run(const struct source *s, const struct verify_opts *o,
    struct report *r)
{
	struct verify v = { .src = s, .o = o, .r = r };

	memset(r, 0, sizeof(*r));
	v.keys.active = v.keys.signer = v.commits.signer = SIZE_MAX;
	v.states.all.keep_facts = s->ops->derived != NULL;
	sha256_of((struct bytes){ NULL, 0 }, v.commits.root.b);
	if (o->mac_key != NULL)
		memcpy(v.commits.mac_key, o->mac_key, 32);
	if (begin(&v) == 0) {
		extras_begin(&v);
		records(&v);
		tree_end(&v);
		commits_end(&v);
		state_end(&v);
		extras_end(&v);
		completeness(&v);
		files(&v);
		keys_end(&v);
	}
	check_skip(&v, CHECK_WITNESS,
	    "none: when this happened is this host's word only");
	r->commits = v.commits.n;
	r->answer = verify_judge(&v);
	keys_done(&v.keys);
	subjects_done(&v.states.all);
	links_done(&v.links);
	extras_done(&v.extras);
	free(v.tree);
	buf_done(&v.note);
}
