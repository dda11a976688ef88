/* SPDX-License-Identifier: ISC */
/* verify_receipt.c - one receipt by itself, offline. */
#include <inttypes.h>
#include <string.h>

#include "base/limits.h"

#include "journal/receipt.h"
#include "journal/verify_int.h"

/* A log key of that installation that somebody vouches for; the best one. */
static const struct trusted *
log_key(const struct verify *v)
{
	const struct trusted *best = NULL;

	for (size_t i = 0; i < v->o->ntrusted; i++) {
		const struct trusted *t = &v->o->trusted[i];

		if (t->has_log && memcmp(t->install, v->install,
		    sizeof(t->install)) == 0 &&
		    (best == NULL || t->how > best->how))
			best = t;
	}
	return best;
}

static void
signature(struct verify *v, const struct receipt *p)
{
	const struct trusted *t = log_key(v);
	struct report *r = v->r;
	struct err e;

	if (t == NULL) {
		check_skip(v, CHECK_SIGNATURE, "not checked: no log key of this"
		    " installation is known here");
		return;
	}
	r->key_use = KEYUSE_LOG;
	memcpy(r->install, t->install, sizeof(r->install));
	memcpy(r->pub, t->log_pub, PUB_BYTES);
	r->trust = t->how;
	if (note_check(p->text, p->sigs, p->checkpoint.origin, t->log_pub, &e))
		check_fail(v, CHECK_SIGNATURE,
		    "the checkpoint is not signed by the log key");
	check_pass(v, CHECK_SIGNATURE, "checkpoint signed by the log key");
}

static void
receipt(struct verify *v, const struct receipt *p)
{
	struct record r;
	struct hash leaf;
	struct err e;

	tree_leaf(p->record, &leaf);
	if (tree_check_inclusion(&leaf, p->index, p->checkpoint.size, p->proof,
	    p->nproof, &p->checkpoint.root, &e))
		check_source(v, CHECK_TREE, &e);
	check_pass(v, CHECK_TREE, "record %" PRIu64 " is one of the %" PRIu64
	    " of the checkpoint", p->index, p->checkpoint.size);
	if (record_decode(p->record, &r, &e)) {
		check_source(v, CHECK_MACHINE, &e);
		return;
	}
	if (r.index != p->index ||
	    install_of_name(str_of(p->checkpoint.origin), v->install, &e) ||
	    memcmp(v->install, r.install, sizeof(r.install)) != 0)
		check_fail(v, CHECK_RECEIPTS,
		    "record, index and checkpoint do not belong together");
	check_pass(v, CHECK_RECEIPTS, "%s of a %s%s",
	    machine_event_name(r.machine, r.event), machine_name(r.machine),
	    r.flags & RECORD_REFUSED ? ", refused" : "");
}

void
verify_receipt(struct str text, const struct verify_opts *o, struct report *r)
{
	struct verify v = { .o = o, .r = r };
	AUTO(buf) struct buf scratch;
	struct receipt p;
	struct err e;

	memset(r, 0, sizeof(*r));
	buf_init(&scratch, RECORD_MAX);
	if (receipt_parse(text, &scratch, &p, &e)) {
		check_source(&v, CHECK_RECEIPTS, &e);
	} else {
		r->checkpoint = p.checkpoint;
		receipt(&v, &p);
		signature(&v, &p);
		r->records = 1;
	}
	check_skip(&v, CHECK_WITNESS,
	    "none: when this happened is this host's word only");
	r->answer = verify_judge(&v);
}
