/* SPDX-License-Identifier: ISC */
#include <inttypes.h>
#include <string.h>

#include "journal/fold.h"

enum { INTEGER, BLOB };

#define FACT(column, type, field, doc) { #column, type, FIELD_##field, doc },
static const struct fact_info session_facts[] = {
#include "lifecycle/session.def"
};
#define FACT(column, type, field, doc) { #column, type, FIELD_##field, doc },
static const struct fact_info exposure_facts[] = {
#include "lifecycle/exposure.def"
};
#define FACT(column, type, field, doc) { #column, type, FIELD_##field, doc },
static const struct fact_info change_facts[] = {
#include "lifecycle/change.def"
};
#define FACT(column, type, field, doc) { #column, type, FIELD_##field, doc },
static const struct fact_info key_facts[] = {
#include "lifecycle/key.def"
};
#define FACT(column, type, field, doc) { #column, type, FIELD_##field, doc },
static const struct fact_info service_facts[] = {
#include "lifecycle/service.def"
};

#define COUNT(a) (sizeof(a) / sizeof((a)[0]))
#define FACTS(name) { name, COUNT(name) }

static const struct {
	const struct fact_info	*f;
	size_t			 n;
} facts[MACHINE_END] = {
	[MACHINE_SESSION] = FACTS(session_facts),
	[MACHINE_EXPOSURE] = FACTS(exposure_facts),
	[MACHINE_CHANGE] = FACTS(change_facts),
	[MACHINE_KEY] = FACTS(key_facts),
	[MACHINE_SERVICE] = FACTS(service_facts),
};
_Static_assert(COUNT(session_facts) <= FACTS_MAX &&
    COUNT(exposure_facts) <= FACTS_MAX && COUNT(change_facts) <= FACTS_MAX &&
    COUNT(key_facts) <= FACTS_MAX && COUNT(service_facts) <= FACTS_MAX,
    "FACTS_MAX is too small");

const struct fact_info *
fact_info(int machine, size_t *n)
{
	if (machine < 0 || machine >= MACHINE_END) {
		*n = 0;
		return NULL;
	}
	*n = facts[machine].n;
	return facts[machine].f;
}

/* The last value of each field that the machine keeps. */
static int
take_facts(const struct record *r, struct subject *s, struct err *e)
{
	const struct fact_info *info;
	size_t n;

	info = fact_info(r->machine, &n);
	for (size_t i = 0; i < n; i++) {
		struct bytes v = record_field(r, info[i].tag);
		struct fact f = { .present = 1, .n = v.n };
		uint64_t number;

		if (v.p == NULL)
			continue;
		if (info[i].blob) {
			if (v.n > sizeof(f.b))
				return err_set(e, ERR_FORMAT, "%s: %zu bytes",
				    info[i].column, v.n);
			memcpy(f.b, v.p, v.n);
		} else {
			if (record_u64(r, info[i].tag, &number) ||
			    number > INT64_MAX)
				return err_set(e, ERR_FORMAT, "%s",
				    info[i].column);
			f.i = (int64_t)number;
			f.n = 0;
		}
		s->fact[i] = f;
	}
	return 0;
}

static int
continues(const struct record *r, int fresh, const struct subject *s,
    struct err *e)
{
	if (fresh && (r->subject_seq != 0 || r->prev != RECORD_NO_PREV))
		return err_set(e, ERR_CORRUPT, "record %" PRIu64 " is not the"
		    " first of its subject and there is none before it",
		    r->index);
	if (!fresh && (r->machine != s->machine || !id_eq(&r->subject, &s->id) ||
	    r->subject_seq != s->seq + 1 || r->prev != s->last))
		return err_set(e, ERR_CORRUPT, "record %" PRIu64 " does not"
		    " follow record %" PRIu64, r->index, s->last);
	if (r->from != s->state)
		return err_set(e, ERR_CORRUPT, "record %" PRIu64 " begins"
		    " where its subject is not", r->index);
	return 0;
}

int
fold(const struct record *r, int fresh, struct subject *out, struct err *e)
{
	struct subject s = { .machine = r->machine, .id = r->subject };
	struct step step;

	if (!fresh)
		s = *out;
	if (continues(r, fresh, &s, e))
		return -1;
	if (r->flags & RECORD_REFUSED) {
		if (r->to != r->from)
			return err_set(e, ERR_CORRUPT, "record %" PRIu64
			    " is a refused attempt and moves", r->index);
	} else {
		if (machine_step(r->machine, r->from, r->event, &step, e))
			return -1;
		if (step.to != r->to)
			return err_set(e, ERR_CORRUPT, "record %" PRIu64
			    " ends where its event does not lead", r->index);
		if (take_facts(r, &s, e))
			return -1;
		if (s.state == 0) {
			s.first = r->index;
			s.born_us = r->time_us;
		}
		s.owed = (int)machine_owed((enum effect)s.owed, r->from, r->to,
		    step.effect);
		s.state = r->to;
		s.moved_us = r->time_us;
	}
	s.seq = r->subject_seq;
	s.last = r->index;
	*out = s;
	return 0;
}

int
subject_same(const struct subject *a, const struct subject *b)
{
	if (a->machine != b->machine || !id_eq(&a->id, &b->id) ||
	    a->state != b->state || a->seq != b->seq || a->first != b->first ||
	    a->last != b->last || a->born_us != b->born_us ||
	    a->moved_us != b->moved_us || a->owed != b->owed)
		return 0;
	for (size_t i = 0; i < FACTS_MAX; i++) {
		const struct fact *f = &a->fact[i], *g = &b->fact[i];

		if (f->present != g->present || f->i != g->i || f->n != g->n ||
		    memcmp(f->b, g->b, f->n) != 0)
			return 0;
	}
	return 1;
}
