/* SPDX-License-Identifier: ISC */
#include <stdlib.h>

#include "recovery/recover.h"

struct owing {
	struct subject	*v;
	size_t		 n, cap;
};

static void
auto_owing(struct owing *o)
{
	free(o->v);
}

static int
add(void *ctx, const struct subject *s, struct err *e)
{
	struct owing *o = ctx;
	struct subject *v;

	if (o->n == o->cap) {
		o->cap = o->cap == 0 ? 16 : 2 * o->cap;
		if ((v = realloc(o->v, o->cap * sizeof(*v))) == NULL)
			return err_set(e, ERR_NOMEM, "recovery");
		o->v = v;
	}
	o->v[o->n++] = *s;
	return 0;
}

static int
lost(struct engine *en, const struct subject *s, struct now now, struct err *e)
{
	struct news n = { .kind = NEWS_LOST, .subject = s->id };

	return engine_news(en, &n, now, e);
}

/*
 * Adoption is two commits: first that the supervisor was found, with its own
 * nonce, whose receipt makes it ours; then what is owed is ordered again.
 */
static int
adopt(struct engine *en, const struct subject *s, const struct found *f,
    struct now now, struct err *e)
{
	if (engine_adopt(en, &s->id, f->nonce, now, e) || engine_turn(en, now, e))
		return -1;
	return s->owed == EFFECT_KILL ? engine_again(en, s, now, e) : 0;
}

static int
settle_session(struct engine *en, const struct subject *s, struct now now,
    struct err *e)
{
	const struct effect_ops *ops = engine_ops(en);
	struct identity who;
	struct found f;

	if (engine_identity(en, s, &who, e) ||
	    ops->find(ops->cookie, &s->id, &who, &f, e))
		return -1;
	switch (f.kind) {
	case FOUND_DYING:
		return 0;
	case FOUND_ALIVE:
		if (s->owed == EFFECT_SPAWN)
			break;
		return adopt(en, s, &f, now, e);
	case FOUND_OUTCOME:
		return engine_news(en, &f.outcome, now, e);
	case FOUND_NOTHING:
		break;
	}
	return lost(en, s, now, e);
}

static int
settle(struct engine *en, const struct subject *s, struct now now, struct err *e)
{
	switch (s->owed) {
	case EFFECT_SPAWN:
	case EFFECT_RELEASE:
	case EFFECT_KILL:
		return settle_session(en, s, now, e);
	case EFFECT_CLOSE:
		return engine_close(en, &s->id, now, e);
	case EFFECT_APPLY:
	case EFFECT_UNDO:
		return engine_interrupt(en, &s->id, now, e);
	case EFFECT_CLEAN:
		return engine_again(en, s, now, e);
	default:
		return err_set(e, ERR_BUG, "%s owes %s", machine_name(s->machine),
		    effect_name(s->owed));
	}
}

int
recover(struct engine *en, struct now now, struct err *e)
{
	/* Sessions and work before the leases that they stand on. */
	static const int order[] = { MACHINE_SESSION, MACHINE_CHANGE,
	    MACHINE_EXPOSURE };

	for (size_t m = 0; m < sizeof(order) / sizeof(order[0]); m++) {
		AUTO(owing) struct owing o = { NULL, 0, 0 };

		if (journal_each_owed(engine_journal(en), order[m], add, &o, e))
			return -1;
		for (size_t i = 0; i < o.n; i++)
			if (settle(en, &o.v[i], now, e) || engine_turn(en, now, e))
				return err_wrap(e, "recovery of a %s",
				    machine_name(order[m]));
	}
	return 0;
}
