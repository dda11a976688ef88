/* SPDX-License-Identifier: ISC */
/*
 * verify_state.c - the machines, replayed: is each record an edge of its table,
 * from where its subject was, right behind the subject's record before; and is
 * the stored state what that gives.
 *
 * One row a subject, open addressing.  The rules are those of fold(), which
 * the journal itself derives with.
 */
#include <inttypes.h>
#include <string.h>

#include "journal/verify_int.h"

/* Whoever made the history chose the ids; the seed is ours, so that he cannot
 * make them fall on one place. */
static size_t
slot_of(const struct states *s, int machine, const struct id *id)
{
	uint64_t a, b = (uint64_t)machine, h;

	memcpy(&a, id->b, sizeof(a));
	b = b << 16 | (uint64_t)id->b[8] << 8 | id->b[9];
	h = (a + s->seed[0]) * (s->seed[1] | 1);
	h = ((h ^ h >> 32) + b) * (s->seed[2] | 1);
	return (size_t)(h >> 20) & (s->cap - 1);
}

static struct state_row *
find(const struct states *s, int machine, const struct id *id)
{
	size_t i = slot_of(s, machine, id);

	while (s->row[i].used && (s->row[i].machine != machine ||
	    !id_eq(&s->row[i].id, id)))
		i = (i + 1) & (s->cap - 1);
	return &s->row[i];
}

static int
grow(struct states *s)
{
	struct states bigger = *s;
	struct id random;

	for (size_t i = 0; s->cap == 0 && i < 3; i++) {
		id_random(&random);
		memcpy(&bigger.seed[i], random.b, sizeof(bigger.seed[i]));
	}
	bigger.cap = s->cap == 0 ? 1024 : s->cap * 2;
	bigger.row = calloc(bigger.cap, sizeof(*bigger.row));
	if (bigger.row == NULL)
		return -1;
	for (size_t i = 0; i < s->cap; i++)
		if (s->row[i].used)
			*find(&bigger, s->row[i].machine, &s->row[i].id) =
			    s->row[i];
	free(s->row);
	*s = bigger;
	return 0;
}

/* The row of a subject, made if need be; NULL without memory. */
static struct state_row *
row_of(struct states *s, const struct record *r)
{
	struct state_row *row;

	if (s->n * 4 >= s->cap * 3 && grow(s))
		return NULL;
	row = find(s, r->machine, &r->subject);
	if (row->used == 0)
		*row = (struct state_row){ .machine = r->machine,
		    .id = r->subject };
	if (s->keep_facts && r->machine != MACHINE_LOG && row->full == NULL)
		row->full = calloc(1, sizeof(*row->full));
	return s->keep_facts && r->machine != MACHINE_LOG && row->full == NULL ?
	    NULL : row;
}

static void
expand(const struct state_row *row, struct subject *s)
{
	*s = (struct subject){ .machine = row->machine, .id = row->id,
	    .state = row->state, .seq = row->seq, .last = row->last,
	    .owed = row->owed };
}

static void
compress(struct states *all, const struct subject *s, struct state_row *row)
{
	row->state = (uint8_t)s->state;
	row->owed = (uint8_t)s->owed;
	row->seq = s->seq;
	row->last = s->last;
	if (!row->used)
		all->n++;
	row->used = ROW_THERE;
}

void
states_record(struct verify *v, const struct record *r)
{
	struct states *all = &v->states;
	struct state_row *row;
	struct subject s;
	struct err e;

	if ((row = row_of(all, r)) == NULL) {
		(void)err_set(&e, ERR_NOMEM, "subjects");
		check_source(v, CHECK_MACHINE, &e);
		return;
	}
	if (row->full != NULL)
		s = *row->full;
	else
		expand(row, &s);
	if (fold(r, !row->used, &s, &e)) {
		check_fail(v, CHECK_MACHINE, "record %" PRIu64 ": %s", r->index,
		    e.msg);
		/* A slot that stays free holds nothing. */
		if (!row->used)
			free(TAKE(row->full));
		return;
	}
	if (row->full != NULL)
		*row->full = s;
	compress(all, &s, row);
	if (r->flags & RECORD_REFUSED)
		all->refused++;
	else
		all->edges++;
}

/* One stored row against the replay. */
static void
compare(struct verify *v, const struct subject *s)
{
	struct state_row *row = NULL;
	char text[ID_TEXT_MAX];

	(void)id_str(machine_id_kind(s->machine), &s->id, text);
	if (v->states.cap != 0)
		row = find(&v->states, s->machine, &s->id);
	/* A live journal moves on while we read. */
	if (v->src->live && s->last >= v->head.size) {
		if (row != NULL && row->used)
			row->used = ROW_SEEN;
		return;
	}
	if (row == NULL || !row->used || row->full == NULL)
		check_fail(v, CHECK_MACHINE,
		    "there is stored state of %s and no record of it", text);
	else if (row->used == ROW_SEEN)
		check_fail(v, CHECK_MACHINE,
		    "there is stored state of %s twice", text);
	else if (!subject_same(s, row->full))
		check_fail(v, CHECK_MACHINE,
		    "the stored state of %s is not what its records give", text);
	else
		row->used = ROW_SEEN;
}

void
states_compare(struct verify *v)
{
	struct subject s;
	struct err e;
	int more;

	/* A log that is cut short cannot give the state that was stored. */
	if (!v->states.keep_facts || v->tree->edge.size < v->head.size)
		return;
	while ((more = v->src->ops->derived(v->src->ctx, &s, &e)) == 1)
		compare(v, &s);
	if (more < 0) {
		check_source(v, CHECK_MACHINE, &e);
		return;
	}
	for (size_t i = 0; i < v->states.cap; i++) {
		const struct state_row *row = &v->states.row[i];
		char text[ID_TEXT_MAX];

		if (row->used == ROW_THERE && row->full != NULL)
			check_fail(v, CHECK_MACHINE, "there is no stored state"
			    " of %s", id_str(machine_id_kind(row->machine),
			    &row->id, text));
	}
	v->states.compared = 1;
}

void
states_done(struct states *s)
{
	for (size_t i = 0; i < s->cap; i++)
		free(s->row[i].full);
	free(s->row);
}
