/* SPDX-License-Identifier: ISC */
/* facts.c - reading: subjects, records, requests. */
#include <inttypes.h>
#include <stdio.h>

#include "base/id.h"

#include "journal/committed_impl.h"
#include "journal/inside.h"

enum { IDS_MAX = 64 << 20, CHAIN_MAX = 64 << 20, FIND_SQL_MAX = 160 };

int
journal_subject(struct journal *j, int machine, const struct id *id,
    struct subject *s, struct err *e)
{
	char name[ID_TEXT_MAX];
	int found;

	if (machine == MACHINE_LOG || !machine_valid(machine))
		return err_set(e, ERR_NOTFOUND, "machine %d", machine);
	if (derive_get(j->db, machine, id, s, &found, e))
		return -1;
	if (!found || s->state == 0)
		return err_say(e, ERR_NOTFOUND, "there is no %s %s",
		    machine_name(machine), id_str(machine_id_kind(machine), id,
		    name));
	return 0;
}

/* The ids first, so that the visitor may do to the journal what it likes. */
static int
collect(struct journal *j, const char *sql, const struct val *v, size_t n,
    struct buf *ids, struct err *e)
{
	AUTO(stmt) struct stmt *s = NULL;
	struct id id;
	int got;

	if (db_query(j->db, sql, v, n, &s, e))
		return -1;
	while ((got = stmt_next(j->db, s, e)) == 1) {
		if (stmt_copy(s, 0, id.b, ID_BYTES, e))
			return -1;
		buf_put(ids, id.b, ID_BYTES);
	}
	return got < 0 ? -1 : buf_ok(ids, "a list of ids", e);
}

/* What the visitor's own changes took out of the list is passed over. */
static int
visit_ids(struct journal *j, int machine, int state, int owed,
    const struct buf *ids, journal_visit *visit, void *ctx, struct err *e)
{
	for (size_t at = 0; at < ids->n; at += ID_BYTES) {
		struct subject s;
		struct id id;
		int found, rc;

		memcpy(id.b, ids->p + at, ID_BYTES);
		if (derive_get(j->db, machine, &id, &s, &found, e))
			return -1;
		if (!found || (state != 0 && s.state != state) ||
		    (owed && s.owed == EFFECT_NONE))
			continue;
		if ((rc = visit(ctx, &s, e)) != 0)
			return rc < 0 ? -1 : 0;
	}
	return 0;
}

int
journal_each(struct journal *j, int machine, int state, int newest_first,
    journal_visit *visit, void *ctx, struct err *e)
{
	AUTO(buf) struct buf ids;
	char sql[FIND_SQL_MAX];

	buf_init(&ids, IDS_MAX);
	if (machine == MACHINE_LOG || !machine_valid(machine))
		return err_set(e, ERR_NOTFOUND, "machine %d", machine);
	(void)snprintf(sql, sizeof(sql), "SELECT id FROM %s%s"
	    " ORDER BY born_us %s, first %s", machine_name(machine),
	    state == 0 ? " WHERE state <> 0" : " WHERE state = ?1",
	    newest_first ? "DESC" : "ASC", newest_first ? "DESC" : "ASC");
	if (state == 0 ? collect(j, sql, NOVALS, &ids, e) :
	    collect(j, sql, VALS(VI(state)), &ids, e))
		return -1;
	return visit_ids(j, machine, state, 0, &ids, visit, ctx, e);
}

int
journal_each_owed(struct journal *j, int machine, journal_visit *visit,
    void *ctx, struct err *e)
{
	AUTO(buf) struct buf ids;
	char sql[FIND_SQL_MAX];

	buf_init(&ids, IDS_MAX);
	if (machine == MACHINE_LOG || !machine_valid(machine))
		return err_set(e, ERR_NOTFOUND, "machine %d", machine);
	(void)snprintf(sql, sizeof(sql), "SELECT id FROM %s WHERE owed <> 0"
	    " ORDER BY last", machine_name(machine));
	if (collect(j, sql, NOVALS, &ids, e))
		return -1;
	return visit_ids(j, machine, 0, 1, &ids, visit, ctx, e);
}

/* The lowest or highest id that begins so. */
static int
prefix_end(const struct id_prefix *p, char fill, struct id *id, struct err *e)
{
	char text[ID_TEXT_MAX];
	int n = snprintf(text, sizeof(text), "%s%.*s", id_prefix(ID_SESSION),
	    (int)p->nchars, p->chars);

	for (; n >= 0 && n < ID_TEXT_MAX - 1; n++)
		text[n] = fill;
	text[ID_TEXT_MAX - 1] = '\0';
	return id_parse(ID_SESSION, str_of(text), id, e);
}

int
journal_find(struct journal *j, const struct id_prefix *p, struct subject *out,
    size_t max, size_t *n, struct err *e)
{
	struct id lo, hi;
	size_t found = 0;

	if (prefix_end(p, '0', &lo, e) || prefix_end(p, 'z', &hi, e))
		return -1;
	for (int m = 1; m < MACHINE_END; m++) {
		AUTO(buf) struct buf ids;
		char sql[FIND_SQL_MAX];

		buf_init(&ids, IDS_MAX);
		if (!machine_valid(m) || (p->kind != ID_NONE &&
		    p->kind != machine_id_kind(m)))
			continue;
		(void)snprintf(sql, sizeof(sql), "SELECT id FROM %s WHERE id"
		    " BETWEEN ?1 AND ?2 AND state <> 0 ORDER BY id LIMIT ?3", machine_name(m));
		if (collect(j, sql, VALS(VB(lo.b, ID_BYTES), VB(hi.b, ID_BYTES),
		    VI(max - found)), &ids, e))
			return -1;
		for (size_t at = 0; at < ids.n && found < max; at += ID_BYTES) {
			struct id id;
			int there;

			memcpy(id.b, ids.p + at, ID_BYTES);
			if (derive_get(j->db, m, &id, &out[found], &there, e))
				return -1;
			found += there != 0;
		}
	}
	*n = found;
	return 0;
}

/* ---- records ------------------------------------------------------------ */

int
journal_record(struct journal *j, uint64_t index, struct buf *b, struct err *e)
{
	AUTO(row) struct stmt *s = NULL;
	struct bytes v;
	int got;

	got = index > INT64_MAX ? 0 :
	    db_first(j->db, SQL_RECORD_GET, VALS(VI(index)), &s, e);
	if (got != 1)
		return got < 0 ? -1 :
		    err_set(e, ERR_NOTFOUND, "record %" PRIu64, index);
	v = stmt_blob(s, 0);
	buf_put(b, v.p, v.n);
	return buf_ok(b, "record", e);
}

int
journal_sealed(struct journal *j, uint64_t index, int tag, uint8_t salt[32],
    struct buf *b, struct err *e)
{
	AUTO(row) struct stmt *s = NULL;
	struct bytes v;
	int got;

	got = index > INT64_MAX ? 0 :
	    db_first(j->db, SQL_SEALED_GET, VALS(VI(index), VI(tag)), &s, e);
	if (got != 1)
		return got < 0 ? -1 : err_set(e, ERR_NOTFOUND, "sealed value %d"
		    " of record %" PRIu64, tag, index);
	v = stmt_blob(s, 1);
	buf_put(b, v.p, v.n);
	if (buf_ok(b, "sealed value", e))
		return -1;
	return salt == NULL ? 0 : stmt_copy(s, 0, salt, 32, e);
}

/* From ${from} on, all there is. */
static int
history_all(struct journal *j, uint64_t from, journal_record_visit *visit,
    void *ctx, struct err *e)
{
	AUTO(stmt) struct stmt *s = NULL;
	int got;

	if (from > INT64_MAX)
		return 0;
	if (db_query(j->db, "SELECT idx, bytes FROM record WHERE idx >= ?"
	    " ORDER BY idx", VALS(VI(from)), &s, e))
		return -1;
	while ((got = stmt_next(j->db, s, e)) == 1) {
		int rc = visit(ctx, (uint64_t)stmt_int(s, 0), stmt_blob(s, 1), e);

		if (rc != 0)
			return rc < 0 ? -1 : 0;
	}
	return got;
}

int
journal_history(struct journal *j, int machine, const struct id *id,
    uint64_t from, journal_record_visit *visit, void *ctx, struct err *e)
{
	AUTO(buf) struct buf chain, b;
	struct subject s;
	int found;

	if (id == NULL)
		return history_all(j, from, visit, ctx, e);
	buf_init(&chain, CHAIN_MAX);
	buf_init(&b, RECORD_MAX);
	if (machine == MACHINE_LOG || !machine_valid(machine))
		return err_set(e, ERR_NOTFOUND, "machine %d", machine);
	if (derive_get(j->db, machine, id, &s, &found, e))
		return -1;
	if (!found)
		return 0;
	if (derive_chain(j->db, &s, &chain, e))
		return -1;
	for (size_t at = chain.n / sizeof(uint64_t); at-- > 0; ) {
		uint64_t index;
		int rc;

		memcpy(&index, chain.p + at * sizeof(index), sizeof(index));
		if (index < from)
			continue;
		buf_reset(&b);
		if (journal_record(j, index, &b, e))
			return -1;
		if ((rc = visit(ctx, index, buf_bytes(&b), e)) != 0)
			return rc < 0 ? -1 : 0;
	}
	return 0;
}

/*
 * The record that made the subject owe is its newest move with an effect;
 * attempts that were refused and moves that change nothing may stand after it.
 */
int
journal_owed(struct journal *j, const struct subject *s, struct committed **c,
    struct err *e)
{
	AUTO(buf) struct buf b;
	uint64_t at = s->last;

	buf_init(&b, RECORD_MAX);
	while (at < j->at.size && s->owed != EFFECT_NONE) {
		struct record r;
		struct step step;

		buf_reset(&b);
		if (journal_record(j, at, &b, e) ||
		    record_decode(buf_bytes(&b), &r, e))
			return -1;
		if ((r.flags & RECORD_REFUSED) == 0) {
			if (machine_step(r.machine, r.from, r.event, &step, e))
				return -1;
			if ((int)step.effect == s->owed)
				return committed_new(buf_bytes(&b), c, e);
		}
		at = r.prev;
	}
	return err_set(e, ERR_NOTFOUND, "%s owes nothing that is durable",
	    machine_name(s->machine));
}

/* ---- requests ----------------------------------------------------------- */

int
journal_request_seen(struct journal *j, const uint8_t request[16],
    const uint8_t body[32], uint64_t *index, struct err *e)
{
	AUTO(row) struct stmt *s = NULL;
	uint8_t seen[32];
	int got;

	got = db_first(j->db, SQL_REQUEST_GET, VALS(VB(request, 16)), &s, e);
	if (got != 1)
		return got < 0 ? -1 : err_set(e, ERR_NOTFOUND, "request");
	if (stmt_copy(s, 0, seen, sizeof(seen), e))
		return -1;
	if (memcmp(seen, body, sizeof(seen)) != 0)
		return err_say(e, ERR_ILLEGAL, "this request id was used before,"
		    " for something else");
	*index = (uint64_t)stmt_int(s, 1);
	return 0;
}

int
journal_request_note(struct journal_txn *t, const uint8_t request[16],
    const uint8_t body[32], uint64_t index, struct err *e)
{
	if (txn_alive(t, e))
		return -1;
	if (index < t->base || index >= t->at.size)
		return err_set(e, ERR_BUG, "a request notes record %" PRIu64
		    ", which is not of this transaction", index);
	if (db_run(t->j->db, SQL_REQUEST_PUT, VALS(VB(request, 16),
	    VB(body, 32), VI(index)), e)) {
		t->broken = 1;
		return -1;
	}
	return 0;
}
