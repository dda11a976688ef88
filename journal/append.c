/* SPDX-License-Identifier: ISC */
/* append.c - one move into the journal: step, record, derive. */
#include <sys/random.h>

#include <inttypes.h>
#include <string.h>

#include "faultinject/fi.h"

#include "journal/inside.h"

enum { ENTRIES_MAX = 1 << 16 };		/* records of one transaction */

/* What becomes of a draft; checked as a whole before anything is written. */
struct move {
	const struct draft *d;
	struct subject	 s;		/* before, then after */
	int		 fresh;		/* no record of this subject before */
	struct record	 r;
	uint8_t		 salt[RECORD_FIELDS_MAX][32];
	uint8_t		 digest[RECORD_FIELDS_MAX][32];
};

/* Where the subject stands, and its newest record. */
static int
look_up(struct journal_txn *t, struct move *m, struct err *e)
{
	int found;

	m->s = (struct subject){ .machine = m->d->machine,
	    .id = m->d->subject };
	if (m->d->machine == MACHINE_LOG) {
		m->fresh = t->at.log_seq == 0;
		m->s.seq = t->at.log_seq - 1;
		m->s.last = t->at.log_last;
		return 0;
	}
	if (derive_get(t->j->db, m->d->machine, &m->d->subject, &m->s, &found, e))
		return -1;
	m->fresh = !found;
	return 0;
}

static int
head(struct journal_txn *t, struct move *m, struct err *e)
{
	const struct draft *d = m->d;
	struct step step = { .to = m->s.state };

	if (d->expect_from != -1 && d->expect_from != m->s.state)
		return err_set(e, ERR_STALE, "%s is %s, not %s",
		    machine_name(d->machine),
		    machine_state_name(d->machine, m->s.state),
		    machine_state_name(d->machine, d->expect_from));
	if (d->refused && (d->fields == NULL ||
	    fields_get(d->fields, FIELD_CODE).p == NULL))
		return err_set(e, ERR_BUG, "a refused attempt without a code");
	if (!d->refused &&
	    machine_step(d->machine, m->s.state, d->event, &step, e))
		return -1;
	m->r = (struct record){
		.flags = d->refused ? RECORD_REFUSED : 0,
		.machine = (uint8_t)d->machine,
		.index = t->at.size,
		.time_us = t->now.real_us,
		.boottime_us = t->now.boot_us,
		.subject = d->subject,
		.subject_seq = m->fresh ? 0 : m->s.seq + 1,
		.prev = m->fresh ? RECORD_NO_PREV : m->s.last,
		.event = (uint8_t)d->event,
		.from = (uint8_t)m->s.state,
		.to = (uint8_t)step.to,
		.actor = (uint8_t)d->actor,
	};
	memcpy(m->r.install, t->j->install, INSTALL_ID_BYTES);
	memcpy(m->r.boot_id, t->j->boot_id, sizeof(m->r.boot_id));
	if (d->request != NULL)
		memcpy(m->r.request, d->request, sizeof(m->r.request));
	return 0;
}

static int
is_sealed(int tag)
{
	const struct field_info *info = field_info(tag);

	return info != NULL && info->sealed;
}

/* A call for sixteen of them; none is used twice, none stays. */
static int
take_salt(struct journal *j, uint8_t out[32], struct err *e)
{
	uint8_t *at;

	if (j->salts == 0) {
		if (getrandom(j->salt, sizeof(j->salt), 0) !=
		    (ssize_t)sizeof(j->salt))
			return err_set(e, ERR_SYS, "getrandom");
		j->salts = sizeof(j->salt) / 32;
	}
	at = j->salt + 32 * --j->salts;
	memcpy(out, at, 32);
	explicit_bzero(at, 32);
	return 0;
}

/* Of a sealed value only its salted digest stands in the record. */
static int
body(struct journal *j, struct move *m, struct err *e)
{
	const struct fields *f = m->d->fields;

	if (f == NULL)
		return 0;
	if (fields_ok(f, e))
		return -1;
	m->r.nfields = f->n;
	for (size_t i = 0; i < f->n; i++) {
		int tag = f->f[i].tag;
		struct bytes v = { f->data.p + f->f[i].off, f->f[i].len };

		if (is_sealed(tag)) {
			if (take_salt(j, m->salt[i], e))
				return -1;
			sealed_digest(tag, m->salt[i], v, m->digest[i]);
			v = bytes_of(m->digest[i], 32);
		}
		m->r.field[i] = (struct tlv){ f->f[i].tag, v };
	}
	return 0;
}

static int
may(const struct journal_txn *t, const struct draft *d, struct err *e)
{
	if (txn_alive(t, e))
		return -1;
	if (!machine_valid(d->machine) || d->event <= 0 ||
	    d->event >= machine_events(d->machine))
		return err_set(e, ERR_ILLEGAL, "machine %d, event %d",
		    d->machine, d->event);
	if (!t->j->room && !d->removal) {
		(void)err_set(e, ERR_JOURNAL, "%s of a %s",
		    machine_event_name(d->machine, d->event),
		    machine_name(d->machine));
		return err_why(e, "the disk is full; what room is left is kept"
		    " for revoking and stopping");
	}
	if (t->nentry >= ENTRIES_MAX)
		return err_set(e, ERR_LIMIT, "records in one transaction");
	if (!d->refused && link_required(d->machine, d->event) != NULL &&
	    (d->fields == NULL ||
	    fields_get(d->fields, FIELD_LINK).p == NULL))
		return err_set(e, ERR_FORMAT, "%s of a %s names no other record",
		    machine_event_name(d->machine, d->event),
		    machine_name(d->machine));
	return 0;
}

/* From here on a failure leaves half a move in the transaction. */
static int
write_move(struct journal_txn *t, struct move *m, struct bytes b, struct err *e)
{
	struct db *db = t->j->db;
	const struct record *r = &m->r;
	const struct fields *f = m->d->fields;

	if (db_run(db, SQL_RECORD_PUT, VALS(VI(r->index), VI(r->machine),
	    VB(r->subject.b, ID_BYTES), VI(r->subject_seq),
	    m->fresh ? VNULL : VI(r->prev), VI(r->event), VI(r->from), VI(r->to), VI(m->d->refused ? 1 : 0), VBYTES(b)), e))
		return -1;
	for (size_t i = 0; f != NULL && i < f->n; i++)
		if (is_sealed(f->f[i].tag) && db_run(db, SQL_SEALED_PUT,
		    VALS(VI(r->index), VI(f->f[i].tag), VB(m->salt[i], 32),
		    VB(f->data.p + f->f[i].off, f->f[i].len)), e))
			return -1;
	if (m->s.machine != MACHINE_LOG && derive_put(db, &m->s, m->fresh, e))
		return -1;
	if (FI(JOURNAL_APPEND))
		return err_set(e, ERR_JOURNAL, "append: injected");
	return 0;
}

static int
grow(struct journal_txn *t, struct err *e)
{
	size_t cap = t->cap == 0 ? 64 : 2 * t->cap;
	struct entry *p;

	if (t->nentry < t->cap)
		return 0;
	if ((p = realloc(t->entry, cap * sizeof(*p))) == NULL)
		return err_set(e, ERR_NOMEM, "a transaction");
	t->entry = p;
	t->cap = cap;
	return 0;
}

/* All that can say no without a trace. */
static int
plan(struct journal_txn *t, struct move *m, struct err *e)
{
	if (may(t, m->d, e) || look_up(t, m, e) || head(t, m, e) ||
	    body(t->j, m, e) || fold(&m->r, m->fresh, &m->s, e))
		return -1;
	return 0;
}

int
append_preview(struct journal_txn *t, const struct draft *d, struct buf *b,
    struct err *e)
{
	struct move m = { .d = d };

	if (plan(t, &m, e) || record_encode(&m.r, b, e))
		return -1;
	return 0;
}

static int
append(struct journal_txn *t, const struct draft *d, int ours, struct err *e)
{
	struct move m = { .d = d };
	size_t off = t->bytes.n;
	struct entry *it;
	struct bytes b;

	if (plan(t, &m, e) || grow(t, e))
		return -1;
	if (record_encode(&m.r, &t->bytes, e)) {
		t->bytes.n = off;
		t->bytes.failed = 0;
		return -1;
	}
	b = bytes_of(t->bytes.p + off, t->bytes.n - off);
	if (write_move(t, &m, b, e)) {
		t->broken = 1;
		return -1;
	}
	it = &t->entry[t->nentry++];
	*it = (struct entry){ .off = off, .n = b.n, .ours = ours,
	    .linked = record_field(&m.r, FIELD_LINK).p != NULL ||
	    record_field(&m.r, FIELD_CAUSE).p != NULL };
	tree_leaf(b, &it->leaf);
	t->at.size++;
	if (d->machine == MACHINE_LOG) {
		t->at.log_seq = m.r.subject_seq + 1;
		t->at.log_last = m.r.index;
	}
	return 0;
}

int
append_own(struct journal_txn *t, const struct draft *d, struct err *e)
{
	return append(t, d, 1, e);
}

int
journal_append(struct journal_txn *t, const struct draft *d, uint64_t *index,
    struct err *e)
{
	uint64_t at = t->at.size;

	if (append(t, d, 0, e))
		return -1;
	if (index != NULL)
		*index = at;
	return 0;
}
