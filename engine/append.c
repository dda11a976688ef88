/* SPDX-License-Identifier: ISC */
/* append.c - moves on their way into the transaction of this turn. */
#include <string.h>

#include "engine/internal.h"

void *
list_grow(void *v, size_t n, size_t *cap, size_t size, struct err *e)
{
	size_t want = *cap == 0 ? 8 : *cap;
	void *p = v;

	if (n == *cap) {
		want = *cap == 0 ? 8 : *cap * 2;
		if ((p = realloc(v, want * size)) == NULL) {
			err_set_at(e, ERR_NOMEM, __FILE__, __LINE__, "list");
			return NULL;
		}
		*cap = want;
	}
	memset((char *)p + n * size, 0, size);
	return p;
}

/* Ends and outcomes may use the room that is kept for them on a full disk. */
static int
is_removal(int machine, int event)
{
	switch (machine) {
	case MACHINE_SESSION:
		return event == SESSION_EV_stop || event == SESSION_EV_ended ||
		    event == SESSION_EV_refuse || event == SESSION_EV_expire ||
		    event == SESSION_EV_revoke || event == SESSION_EV_adopt;
	case MACHINE_EXPOSURE:
		return event != EXPOSURE_EV_expose && event != EXPOSURE_EV_renew &&
		    event != EXPOSURE_EV_reconsent;
	case MACHINE_CHANGE:
		return event != CHANGE_EV_apply && event != CHANGE_EV_resume &&
		    event != CHANGE_EV_undo;
	case MACHINE_SERVICE:
		return 1;
	default:
		return 0;
	}
}

int
turn_open(struct engine *en, struct err *e)
{
	if (en->broken.code != ERR_OK) {
		*e = en->broken;
		return -1;
	}
	if (en->txn != NULL)
		return 0;
	if (journal_begin(en->j, &en->txn, e))
		return -1;
	if (journal_epoch_due(en->j) && journal_epoch_roll(en->txn, e)) {
		journal_rollback(TAKE(en->txn));
		return -1;
	}
	return 0;
}

int
turn_try(struct engine *en, struct err *e)
{
	return turn_open(en, e) || journal_save(en->txn, e) ? -1 : 0;
}

int
turn_keep(struct engine *en, struct err *e)
{
	return journal_keep(en->txn, e);
}

void
turn_drop(struct engine *en)
{
	if (en->txn == NULL || en->broken.code != ERR_OK)
		return;
	/* A savepoint that cannot be undone takes the whole turn with it. */
	if (journal_undo(en->txn, &en->broken) == 0)
		en->broken.code = ERR_OK;
}

int
turn_grace(struct engine *en, const struct id *session, int64_t us, struct err *e)
{
	struct grace *g = list_add(&en->graces, e);

	if (g == NULL)
		return -1;
	*g = (struct grace){ *session, us };
	return 0;
}

int
turn_again(struct engine *en, const struct subject *s, struct err *e)
{
	struct subject *at = list_add(&en->again, e);

	if (at == NULL)
		return -1;
	*at = *s;
	return 0;
}

/* Who asked, as the kernel said it, and why, in their own words. */
static void
put_asker(struct fields *f, const struct ask *a)
{
	struct str reason = STR("");
	struct err ignore;

	fields_u64(f, FIELD_ACTOR_UID, a->who.uid);
	fields_u64(f, FIELD_ACTOR_PID, (uint64_t)a->who.pid);
	if (a->who.name[0] != '\0')
		fields_text(f, FIELD_ACTOR_NAME, str_of(a->who.name));
	if (json_opt_str(a->params, "reason", &reason, &ignore) == 0 && reason.n > 0)
		fields_text(f, FIELD_REASON, reason);
}

int
turn_append(struct engine *en, const struct move *m, uint64_t *index,
    struct err *e)
{
	AUTO(fields) struct fields own;
	struct fields *f;
	struct draft d = { .machine = m->machine, .subject = m->subject,
	    .event = m->event, .actor = m->actor,
	    .removal = is_removal(m->machine, m->event), .expect_from = -1 };
	uint64_t at;

	fields_init(&own);
	d.fields = f = m->fields != NULL ? m->fields : &own;
	if (m->ask != NULL) {
		put_asker(f, m->ask);
		if (m->ask->has_request)
			d.request = m->ask->request;
	}
	if (turn_open(en, e) || fields_ok(f, e) ||
	    journal_append(en->txn, &d, &at, e))
		return -1;
	if (m->ask != NULL && !m->ask->recorded) {
		m->ask->recorded = 1;
		m->ask->index = at;
	}
	if (index != NULL)
		*index = at;
	return 0;
}
