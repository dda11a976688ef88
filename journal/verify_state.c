/* SPDX-License-Identifier: ISC */
/*
 * verify_state.c - the machines, replayed: is each record an edge of its table,
 * from where its subject was, right behind the subject's record before; and is
 * the stored state what that gives.
 * The rules are those of fold(), which the journal itself derives with.
 */
#include <inttypes.h>
#include <string.h>

#include "journal/verify_int.h"

static void
expand(const struct subject_row *row, struct subject *s)
{
	*s = (struct subject){ .machine = row->machine, .id = row->id,
	    .state = row->state, .seq = row->seq, .last = row->last,
	    .owed = row->owed };
}

static void
compress(struct subjects *all, const struct subject *s, struct subject_row *row)
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
	struct subjects *all = &v->states.all;
	struct subject_row *row;
	struct subject brief, *s = &brief;
	struct err e;

	if ((row = subjects_row(all, r)) == NULL) {
		(void)err_set(&e, ERR_NOMEM, "subjects");
		check_source(v, CHECK_MACHINE, &e);
		return;
	}
	/* A kilobyte: in place, if it is there. */
	if (row->full != NULL)
		s = row->full;
	else
		expand(row, s);
	if (fold(r, !row->used, s, &e)) {
		check_fail(v, CHECK_MACHINE, "record %" PRIu64 ": %s", r->index,
		    e.msg);
		/* Nothing is known of it: the place stays free. */
		if (row->used == ROW_FREE)
			free(TAKE(row->full));
		return;
	}
	compress(all, s, row);
	if (r->flags & RECORD_REFUSED)
		v->states.refused++;
	else
		v->states.edges++;
}

/* One stored row against the replay. */
static void
compare(struct verify *v, const struct subject *s)
{
	struct subject_row *row = subjects_find(&v->states.all, s->machine,
	    &s->id);
	char text[ID_TEXT_MAX];

	(void)id_str(machine_id_kind(s->machine), &s->id, text);
	/* A live journal moves on while we read. */
	if (v->src->live && s->last >= v->head.size) {
		if (row != NULL)
			row->used = ROW_SEEN;
		return;
	}
	if (row == NULL || row->full == NULL)
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
	if (!v->states.all.keep_facts || v->tree->edge.size < v->head.size)
		return;
	while ((more = v->src->ops->derived(v->src->ctx, &s, &e)) == 1)
		compare(v, &s);
	if (more < 0) {
		check_source(v, CHECK_MACHINE, &e);
		return;
	}
	for (size_t i = 0; i < v->states.all.cap; i++) {
		const struct subject_row *row = &v->states.all.row[i];
		char text[ID_TEXT_MAX];

		/* gloved does not list what only ever was refused. */
		if (v->src->live && row->state == 0)
			continue;
		if (row->used == ROW_THERE && row->full != NULL)
			check_fail(v, CHECK_MACHINE, "there is no stored state"
			    " of %s", id_str(machine_id_kind(row->machine),
			    &row->id, text));
	}
	v->states.compared = 1;
}
