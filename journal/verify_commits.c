/* SPDX-License-Identifier: ISC */
/*
 * verify_commits.c - the chain of commits.  Each ends with a footer that names
 * size, root and seal (signature and MAC) of the one before, so that a
 * signature over the newest covers every commit in front of it.  Hence not
 * every signature need be checked: the newest, and both sides of each change
 * of epoch, leave nothing out.
 */
#include <inttypes.h>
#include <string.h>

#include "journal/verify_int.h"

static uint64_t
number(struct verify *v, const struct record *r, int tag)
{
	uint64_t n;

	if (record_u64(r, tag, &n) == 0)
		return n;
	check_fail(v, CHECK_COMMITS, "the footer in record %" PRIu64
	    " has no %s", r->index, field_info(tag)->name);
	return UINT64_MAX;
}

static int
same_hash(struct bytes b, const uint8_t h[SHA256_BYTES])
{
	return bytes_eq(b, bytes_of(h, SHA256_BYTES));
}

static void
seal_of(const struct commit_row *row, uint8_t out[SHA256_BYTES])
{
	struct sha256 s;

	sha256_init(&s);
	sha256_update(&s, row->sig, sizeof(row->sig));
	sha256_update(&s, row->mac, sizeof(row->mac));
	sha256_final(&s, out);
}

/* Does the footer continue where the commit before ended? */
static void
chain(struct verify *v, const struct record *r)
{
	static const uint8_t none[SHA256_BYTES];
	struct commits *c = &v->commits;
	struct bytes seal = record_field(r, FIELD_PREV_SEAL);
	uint8_t want[SHA256_BYTES];

	if (number(v, r, FIELD_COMMIT_NO) != c->n ||
	    number(v, r, FIELD_PREV_SIZE) != c->size ||
	    !same_hash(record_field(r, FIELD_PREV_ROOT), c->root.b))
		check_fail(v, CHECK_COMMITS, "the footer in record %" PRIu64
		    " does not continue commit %" PRIu64, r->index, c->n - 1);
	if (c->n == 0)
		memcpy(want, none, sizeof(want));
	else if (c->have_row)
		seal_of(&c->row, want);
	else
		return;
	if (!same_hash(seal, want))
		check_fail(v, CHECK_COMMITS, "the footer in record %" PRIu64
		    " names another signature or MAC of the commit before",
		    r->index);
}

/* The text that the newest commit signs. */
static void
text_of(const struct verify *v, const struct commit_row *row, struct buf *b)
{
	struct checkpoint c = { .size = row->size, .root = row->root };

	memcpy(c.origin, v->origin, sizeof(c.origin));
	checkpoint_text(&c, b);
}

static void
check_signature(struct verify *v)
{
	struct commits *c = &v->commits;
	AUTO(buf) struct buf b;
	struct err e;

	buf_init(&b, 512);
	if (!c->have_row || c->signer == SIZE_MAX || c->checked)
		return;
	text_of(v, &c->row, &b);
	c->checked = 1;
	c->nchecked++;
	if (note_sig_check((struct str){ (const char *)b.p, b.n }, c->row.sig,
	    v->keys.key[c->signer].pub, &e))
		check_fail(v, CHECK_SIGNATURE, "commit %" PRIu64
		    " is not signed by the key of epoch %u", c->row.no,
		    v->keys.key[c->signer].epoch);
}

static void
check_mac(struct verify *v, const struct record *r)
{
	struct commits *c = &v->commits;
	AUTO(buf) struct buf b;
	uint8_t mac[MAC_BYTES];
	uint64_t no = number(v, r, FIELD_MAC_NO);

	buf_init(&b, 512);
	if (v->o->mac_key == NULL || !c->have_row)
		return;
	text_of(v, &c->row, &b);
	commit_mac(c->mac_key, (struct str){ (const char *)b.p, b.n },
	    c->row.sig, mac);
	mac_evolve(c->mac_key);
	if (no != c->n || memcmp(mac, c->row.mac, sizeof(mac)) != 0)
		check_fail(v, CHECK_MAC_CHAIN, "commit %" PRIu64
		    " is not under the MAC chain", c->row.no);
}

/* The stored row of the commit that ends here. */
static void
take_row(struct verify *v, uint64_t size, const struct hash *root,
    uint64_t epoch)
{
	struct commits *c = &v->commits;
	struct err e;
	int more;

	c->have_row = 0;
	if (v->src->ops->commit == NULL)
		return;
	if ((more = v->src->ops->commit(v->src->ctx, &c->row, &e)) < 0)
		check_source(v, CHECK_COMMITS, &e);
	else if (more == 0)
		check_missing(v, CHECK_COMMITS, "the signature of commit %"
		    PRIu64 " is missing", c->n);
	else if (c->row.no != c->n || c->row.size != size ||
	    c->row.epoch != epoch ||
	    memcmp(c->row.root.b, root->b, sizeof(root->b)) != 0)
		check_fail(v, CHECK_COMMITS, "what is stored of commit %" PRIu64
		    " is not what its records say", c->n);
	else
		c->have_row = 1;
}

static void
against(struct verify *v, uint64_t size, const struct hash *root)
{
	if (v->against.origin[0] == '\0' || v->against.size != size)
		return;
	v->against_met = 1;
	if (memcmp(v->against.root.b, root->b, sizeof(root->b)) != 0)
		check_fail(v, CHECK_COMPLETENESS, "the checkpoint from elsewhere"
		    " has another root at record %" PRIu64 ": two histories of"
		    " one log", size);
}

void
commits_record(struct verify *v, const struct record *r)
{
	struct commits *c = &v->commits;
	const struct key_span *signer;
	struct hash root;
	uint64_t epoch, size = r->index + 1;
	size_t was = c->signer;

	if (r->machine != MACHINE_LOG || r->event != LOG_EV_commit_footer ||
	    r->flags & RECORD_REFUSED)
		return;
	chain(v, r);
	tree_root(&v->tree->edge, &root);
	epoch = number(v, r, FIELD_EPOCH);
	if (number(v, r, FIELD_INCARNATION) != v->incarnation)
		check_fail(v, CHECK_COMMITS, "the footer in record %" PRIu64
		    " is of another incarnation", r->index);
	signer = keys_commit(v, epoch, size);
	/* Before the row of the commit before is gone: was it the last of its
	 * epoch? */
	c->signer = signer == NULL ? SIZE_MAX : (size_t)(signer - v->keys.key);
	if (c->n != 0 && c->signer != was) {
		size_t now = c->signer;

		c->signer = was;
		check_signature(v);
		c->signer = now;
	}
	take_row(v, size, &root, epoch);
	c->checked = 0;
	if (v->o->all_signatures || c->n == 0 || c->signer != was)
		check_signature(v);
	check_mac(v, r);
	links_commit(v);
	extras_commit(v, size, &root, signer);
	against(v, size, &root);
	c->size = size;
	c->root = root;
	c->n++;
	keys_next(v);
}

static void
checkpoint_signed(struct verify *v)
{
	const struct commits *c = &v->commits;
	struct err e;

	if (v->tree->edge.size == 0)
		return;
	if (strcmp(v->head.origin, v->origin) != 0) {
		check_fail(v, CHECK_SIGNATURE, "the checkpoint is of %s, the"
		    " records are of %s", v->head.origin, v->origin);
		return;
	}
	if (!v->src->epoch_only && v->keys.have_genesis && note_check(v->text,
	    v->sigs, v->origin, v->keys.log_pub, &e))
		check_fail(v, CHECK_SIGNATURE,
		    "the checkpoint is not signed by the log key");
	/* A log that is cut short ends before the commit that was signed. */
	if (c->size != v->head.size)
		return;
	if (c->signer == SIZE_MAX)
		check_fail(v, CHECK_SIGNATURE,
		    "no key could have signed the checkpoint");
	else if (note_check(v->text, v->sigs, v->origin,
	    v->keys.key[c->signer].pub, &e))
		check_fail(v, CHECK_SIGNATURE, "the checkpoint is not signed by"
		    " the key of epoch %u", v->keys.key[c->signer].epoch);
}

static void
sentences(struct verify *v)
{
	const struct commits *c = &v->commits;
	char id[ID_TEXT_MAX];

	if (c->signer != SIZE_MAX) {
		const struct key_span *s = &v->keys.key[c->signer];

		check_pass(v, CHECK_SIGNATURE, "checkpoint signed by %s, active"
		    " from record %" PRIu64 "; %" PRIu64 " of %" PRIu64
		    " commit signatures checked, the rest by their digests",
		    id_str(ID_KEY, &s->id, id), s->from, c->nchecked, c->n);
	}
	if (c->n == 0) {
		check_skip(v, CHECK_COMMITS, "there is no whole commit");
		return;
	}
	check_pass(v, CHECK_KEY_ORDER,
	    "no checkpoint is signed by a key outside its span");
	check_pass(v, CHECK_COMMITS, "%" PRIu64 " commits, each names size,"
	    " root and %s of the one before", c->n,
	    v->src->ops->commit == NULL ? "(not checked here) signature" :
	    "signature");
	if (v->o->mac_key != NULL && v->src->ops->commit != NULL)
		check_pass(v, CHECK_MAC_CHAIN,
		    "%" PRIu64 " commits under the escrowed key's chain", c->n);
	else
		check_skip(v, CHECK_MAC_CHAIN,
		    "not checked: it takes the first MAC key, given to an"
		    " auditor beforehand");
}

void
commits_end(struct verify *v)
{
	struct commits *c = &v->commits;
	const int whole = v->tree->edge.size >= v->head.size;
	struct commit_row row;
	struct err e;

	check_signature(v);
	if (whole && c->size != v->tree->edge.size)
		check_fail(v, CHECK_COMMITS, "the records after record %" PRIu64
		    " are of no commit", c->size);
	if (whole && !v->src->live && v->src->ops->commit != NULL) {
		int more = v->src->ops->commit(v->src->ctx, &row, &e);

		if (more > 0)
			check_fail(v, CHECK_COMMITS,
			    "there is a commit %" PRIu64 " without records",
			    row.no);
		else if (more < 0)
			check_source(v, CHECK_COMMITS, &e);
	}
	checkpoint_signed(v);
	sentences(v);
}
