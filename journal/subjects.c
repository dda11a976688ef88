/* SPDX-License-Identifier: ISC */
/* subjects.c - one row a subject, open addressing. */
#include <string.h>

#include "journal/subjects.h"

/* Whoever made the history chose the ids; the seed is ours, so that he cannot
 * make them fall on one place. */
static size_t
slot_of(const struct subjects *s, int machine, const struct id *id)
{
	uint64_t a, b = (uint64_t)machine, h;

	memcpy(&a, id->b, sizeof(a));
	b = b << 16 | (uint64_t)id->b[8] << 8 | id->b[9];
	h = (a + s->seed[0]) * (s->seed[1] | 1);
	h = ((h ^ h >> 32) + b) * (s->seed[2] | 1);
	return (size_t)(h >> 20) & (s->cap - 1);
}

static struct subject_row *
place(const struct subjects *s, int machine, const struct id *id)
{
	size_t i = slot_of(s, machine, id);

	while (s->row[i].used && (s->row[i].machine != machine ||
	    !id_eq(&s->row[i].id, id)))
		i = (i + 1) & (s->cap - 1);
	return &s->row[i];
}

static int
grow(struct subjects *s)
{
	struct subjects bigger = *s;
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
			*place(&bigger, s->row[i].machine, &s->row[i].id) =
			    s->row[i];
	free(s->row);
	*s = bigger;
	return 0;
}

struct subject_row *
subjects_row(struct subjects *s, const struct record *r)
{
	struct subject_row *row;

	if (s->n * 4 >= s->cap * 3 && grow(s))
		return NULL;
	row = place(s, r->machine, &r->subject);
	if (row->used == 0)
		*row = (struct subject_row){ .machine = r->machine,
		    .id = r->subject };
	if (s->keep_facts && r->machine != MACHINE_LOG && row->full == NULL)
		row->full = calloc(1, sizeof(*row->full));
	return s->keep_facts && r->machine != MACHINE_LOG && row->full == NULL ?
	    NULL : row;
}

struct subject_row *
subjects_find(const struct subjects *s, int machine, const struct id *id)
{
	struct subject_row *row = s->cap == 0 ? NULL : place(s, machine, id);

	return row == NULL || row->used == ROW_FREE ? NULL : row;
}

void
subjects_done(struct subjects *s)
{
	for (size_t i = 0; i < s->cap; i++)
		free(s->row[i].full);
	free(s->row);
	*s = (struct subjects){ .n = 0 };
}
