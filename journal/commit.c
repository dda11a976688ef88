/* SPDX-License-Identifier: ISC */
/*
 * commit.c - make a transaction durable.  The order is the point:
 *
 *	footer -> read back what was stored -> root -> signature -> MAC ->
 *	commit row -> COMMIT -> head file -> memory -> proofs
 *
 * Up to COMMIT every failure is a plain no.  After it nothing may fail but the
 * head file, and then nobody is told anything: the next start finds one commit
 * after the head, valid under the MAC chain, and takes it.
 */
#include <inttypes.h>
#include <string.h>

#include "faultinject/fi.h"

#include "journal/committed_impl.h"
#include "journal/inside.h"

/* SHA-256(signature, MAC) of the commit before; zeros for the first. */
static void
prev_seal(const struct journal *j, uint8_t out[SHA256_BYTES])
{
	struct sha256 s;

	memset(out, 0, SHA256_BYTES);
	if (j->at.commits == 0)
		return;
	sha256_init(&s);
	sha256_update(&s, j->head.sig, SIG_BYTES);
	sha256_update(&s, j->head.mac, MAC_BYTES);
	sha256_final(&s, out);
}

static int
footer(struct journal_txn *t, struct err *e)
{
	AUTO(fields) struct fields f;
	struct journal *j = t->j;
	struct draft d = { .machine = MACHINE_LOG, .actor = ACTOR_SERVICE,
	    .event = LOG_EV_commit_footer, .fields = &f, .removal = 1,
	    .expect_from = -1 };
	uint8_t seal[SHA256_BYTES];
	struct hash root;

	tree_root(&j->edge, &root);
	prev_seal(j, seal);
	fields_init(&f);
	fields_u64(&f, FIELD_EPOCH, j->epoch);
	fields_u64(&f, FIELD_COMMIT_NO, j->at.commits);
	fields_u64(&f, FIELD_PREV_SIZE, j->at.size);
	fields_bytes(&f, FIELD_PREV_ROOT, BYTES(root.b));
	fields_bytes(&f, FIELD_PREV_SEAL, BYTES(seal));
	fields_u64(&f, FIELD_INCARNATION, j->head.incarnation);
	fields_u64(&f, FIELD_MAC_NO, j->at.commits == 0 ? 0 :
	    j->head.mac_no + 1);
	fields_u64(&f, FIELD_REDUCER, REDUCER);
	return append_own(t, &d, e);
}

/* What is signed is what is stored, not what we meant to store. */
static int
grow_tree(struct journal_txn *t, struct err *e)
{
	struct journal *j = t->j;
	struct stmt *s;
	size_t i = 0;
	int got, bad = 0;

	t->edge = j->edge;
	tiles_copy(&t->tiles, &j->tiles);
	got = db_first(j->db, SQL_RECORD_FROM, VALS(VI(t->base)), &s, e);
	if (got != 1)
		return got < 0 ? -1 : err_set(e, ERR_CORRUPT, "record %" PRIu64
		    " is not there", t->base);
	for (; got == 1 && i < t->nentry && !bad; i++) {
		struct hash leaf;

		tree_leaf(stmt_blob(s, 1), &leaf);
		if ((uint64_t)stmt_int(s, 0) != t->base + i ||
		    memcmp(&leaf, &t->entry[i].leaf, sizeof(leaf)) != 0)
			bad = err_set(e, ERR_CORRUPT, "record %" PRIu64
			    " is not what was written", t->base + i);
		else
			tree_append(&t->edge, &leaf);
		if (!bad)
			bad = (got = stmt_next(j->db, s, e)) < 0;
	}
	stmt_done(s);
	if (bad || got != 0 || i != t->nentry)
		return bad ? -1 : err_set(e, ERR_CORRUPT, "%zu records where"
		    " %zu were written", i, t->nentry);
	for (i = 0; i < t->nentry; i++)
		if (tiles_push(&t->tiles, j->db, &t->entry[i].leaf, e))
			return -1;
	return 0;
}

/* Signature and MAC over the checkpoint, and the head that goes with them. */
static int
seal(struct journal_txn *t, struct head *h, struct err *e)
{
	struct journal *j = t->j;
	struct checkpoint c;
	struct str text;

	*h = j->head;
	h->epoch = j->epoch;
	h->commit_no = j->at.commits;
	h->size = t->at.size;
	if (j->at.commits != 0)
		h->mac_no++;
	tree_root(&t->edge, &h->root);

	c.size = h->size;
	c.root = h->root;
	memcpy(c.origin, j->origin, sizeof(c.origin));
	buf_reset(&j->scratch);
	checkpoint_text(&c, &j->scratch);
	if (buf_ok(&j->scratch, "checkpoint", e))
		return -1;
	text = (struct str){ (const char *)j->scratch.p, j->scratch.n };
	keyring_sign_note(j->keys, KEYUSE_EPOCH, text, h->sig);
	commit_mac(j->head.key, text, h->sig, h->mac);
	mac_evolve(h->key);
	return 0;
}

static int
put_row(struct journal *j, const struct head *h, struct err *e)
{
	uint8_t id[SHA256_BYTES];

	sha256_of(bytes_of(keyring_pub(j->keys, KEYUSE_EPOCH), PUB_BYTES), id);
	if (db_run(j->db, SQL_COMMIT_PUT, VALS(VI(h->commit_no), VI(h->size),
	    VB(h->root.b, sizeof(h->root.b)), VB(h->mac, MAC_BYTES),
	    VI(h->epoch)), e) ||
	    db_run(j->db, SQL_SIG_PUT, VALS(VI(h->commit_no),
	    VB(id, ID_BYTES), VB(h->sig, SIG_BYTES)), e))
		return -1;
	return 0;
}

static void
proofs_free(struct committed **p, size_t n)
{
	for (size_t i = 0; i < n; i++)
		committed_free(p[i]);
	free(p);
}

/* The memory first: after COMMIT nothing may fail. */
static int
proofs_make(const struct journal_txn *t, struct committed ***out, size_t *n,
    struct err *e)
{
	struct committed **p;
	size_t made = 0;

	if ((p = calloc(t->nentry, sizeof(struct committed *))) == NULL)
		return err_set(e, ERR_NOMEM, "proofs");
	for (size_t i = 0; i < t->nentry; i++) {
		const struct entry *it = &t->entry[i];

		if (it->ours)
			continue;
		if (committed_new(bytes_of(t->bytes.p + it->off, it->n),
		    &p[made], e)) {
			proofs_free(p, made);
			return -1;
		}
		made++;
	}
	*out = p;
	*n = made;
	return 0;
}

/* It is on disk.  What is left is to say so. */
static int
publish(struct journal_txn *t, struct head *h, struct err *e)
{
	struct journal *j = t->j;

	if (FI(JOURNAL_DURABLE) || head_write(j->headfd, h, e) ||
	    FI(JOURNAL_HEAD)) {
		j->poisoned = 1;
		return err_set(e, ERR_UNKNOWN, "the head file of the journal");
	}
	explicit_bzero(j->head.key, sizeof(j->head.key));
	j->head = *h;
	j->at = t->at;
	j->at.commits++;
	j->edge = t->edge;
	tiles_copy(&j->tiles, &t->tiles);
	j->restart = 0;
	if (t->roll)
		enrol_rolled(t);
	return 0;
}

/* All that comes before COMMIT. */
static int
prepare(struct journal_txn *t, struct head *h, struct err *e)
{
	if (txn_alive(t, e) || append_links(t, e) || footer(t, e))
		return -1;
	if (FI(JOURNAL_SIGN))
		return err_set(e, ERR_JOURNAL, "sign: injected");
	if (grow_tree(t, e) || seal(t, h, e) || put_row(t->j, h, e))
		return -1;
	if (FI(JOURNAL_COMMIT))
		return err_set(e, ERR_JOURNAL, "commit: injected");
	return 0;
}

int
journal_commit(struct journal_txn **tp, struct committed ***out, size_t *n,
    struct err *e)
{
	AUTO(txn) struct journal_txn *t = TAKE(*tp);
	struct journal *j = t->j;
	struct committed **proofs = NULL;
	struct head h;
	size_t made = 0;
	int bad;

	if (t->nentry == 0 || (journal_appended(t) == 0 && !t->own)) {
		*out = NULL;
		*n = 0;
		return 0;
	}
	if (prepare(t, &h, e) || proofs_make(t, &proofs, &made, e)) {
		bad = -1;
	} else {
		switch (db_commit(j->db, e)) {
		case DB_COMMITTED:
			bad = publish(t, &h, e);
			break;
		case DB_REFUSED:
			bad = err_set(e, ERR_JOURNAL, "commit");
			break;
		case DB_UNKNOWN:
		default:
			j->poisoned = 1;
			bad = err_set(e, ERR_UNKNOWN, "commit");
			break;
		}
	}
	explicit_bzero(&h, sizeof(h));
	if (bad) {
		proofs_free(proofs, made);
		return -1;
	}
	room_after(j);
	*out = proofs;
	*n = made;
	return 0;
}

int
commit_own(struct journal_txn **t, struct err *e)
{
	struct committed **proofs;
	size_t n;

	(*t)->own = 1;
	if (journal_commit(t, &proofs, &n, e))
		return -1;
	proofs_free(proofs, n);
	return 0;
}

int
commit_load(struct journal *j, uint64_t no, struct journal_commit *out,
    struct err *e)
{
	AUTO(row) struct stmt *row = NULL;
	AUTO(row) struct stmt *key = NULL;
	AUTO(row) struct stmt *sig = NULL;
	struct journal_commit c = { .no = no };
	uint8_t id[ID_BYTES];
	int got;

	if ((got = db_first(j->db, SQL_COMMIT_GET, VALS(VI(no)), &row, e)) != 1)
		return got < 0 ? -1 :
		    err_set(e, ERR_NOTFOUND, "commit %" PRIu64, no);
	c.size = (uint64_t)stmt_int(row, 0);
	c.epoch = (uint32_t)stmt_int(row, 3);
	if (stmt_copy(row, 1, c.root.b, sizeof(c.root.b), e) ||
	    stmt_copy(row, 2, c.mac, sizeof(c.mac), e))
		return -1;
	got = db_first(j->db, SQL_KEY_EPOCH, VALS(VI(KEYUSE_EPOCH),
	    VI(c.epoch)), &key, e);
	if (got == 1 && (stmt_copy(key, 0, id, sizeof(id), e) ||
	    stmt_copy(key, 1, c.pub, sizeof(c.pub), e)))
		return -1;
	if (got == 1)
		got = db_first(j->db, SQL_SIG_GET, VALS(VI(no),
		    VB(id, sizeof(id))), &sig, e);
	if (got != 1)
		return got < 0 ? -1 : err_set(e, ERR_CORRUPT, "commit %" PRIu64
		    " has no signature by the key of epoch %u", no, c.epoch);
	if (stmt_copy(sig, 0, c.sig, sizeof(c.sig), e))
		return -1;
	*out = c;
	return 0;
}
