/* SPDX-License-Identifier: ISC */
/* life.c - an engine's beginning and end, and who listens to it. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "engine/internal.h"

int
engine_new(const struct engine_opts *o, struct now now, struct engine **out,
    struct err *e)
{
	AUTO(engine) struct engine *en = calloc(1, sizeof(*en));

	if (en == NULL)
		return err_set(e, ERR_NOMEM, "engine");
	en->o = *o;
	en->j = o->journal;
	en->born = en->now = now;
	en->summary_us = now.boot_us;
	en->asks_end = &en->asks;
	en->home = strdup(o->home);
	en->attach_dir = strdup(o->attach_dir);
	if (en->home == NULL || en->attach_dir == NULL)
		return err_set(e, ERR_NOMEM, "engine");
	if (leases_load(en, e))
		return -1;
	*out = TAKE(en);
	return 0;
}

static void
free_asks(struct ask *a)
{
	for (struct ask *next; a != NULL; a = next) {
		next = a->next;
		ask_free(a);
	}
}

void
engine_free(struct engine *en)
{
	if (en == NULL)
		return;
	journal_rollback(en->txn);
	free_asks(en->asks);
	free_asks(en->waits);
	free(en->graces.v);
	free(en->again.v);
	free(en->leases.v);
	free(en->failures.v);
	free(en->followers.v);
	if (en->tokens.v != NULL)
		explicit_bzero(en->tokens.v,
		    en->tokens.cap * sizeof(en->tokens.v[0]));
	free(en->tokens.v);
	free(en->home);
	free(en->attach_dir);
	free(en);
}

/* Answers to it would go nowhere; what it asked for happens all the same. */
void
engine_gone(struct engine *en, uint64_t conn)
{
	struct ask **at = &en->waits, *a;
	size_t k = 0;

	while ((a = *at) != NULL) {
		if (a->conn != conn) {
			at = &a->next;
			continue;
		}
		*at = a->next;
		ask_free(a);
	}
	for (size_t i = 0; i < en->followers.n; i++)
		if (en->followers.v[i].conn != conn)
			en->followers.v[k++] = en->followers.v[i];
	en->followers.n = k;
}

struct journal *
engine_journal(const struct engine *en)
{
	return en->j;
}

const struct effect_ops *
engine_ops(const struct engine *en)
{
	return &en->o.ops;
}

void
engine_attach_path(const struct engine *en, const struct id *session, char *out,
    size_t n)
{
	char text[ID_TEXT_MAX];

	(void)snprintf(out, n, "%s/%s", en->attach_dir,
	    id_str(ID_SESSION, session, text) + 4);
}

const struct token *
token_of(const struct engine *en, const struct id *session)
{
	for (size_t i = 0; i < en->tokens.n; i++)
		if (id_eq(&en->tokens.v[i].session, session))
			return &en->tokens.v[i];
	return NULL;
}

/*
 * A retry of a request: its first record tells what it was about, and the
 * answer is made from how that stands now.
 */
int
request_again(struct engine *en, struct ask *a, uint64_t index, struct err *e)
{
	AUTO(buf) struct buf b;
	struct record r;

	buf_init(&b, RECORD_MAX);
	if (journal_record(en->j, index, &b, e) ||
	    record_decode(buf_bytes(&b), &r, e))
		return -1;
	a->machine = r.machine;
	a->subject = r.subject;
	a->index = index;
	a->waits = (a->req->flags & REQ_WAITS) != 0;
	if (a->waits && json_opt_bool(a->params, "wait", &a->waits, e))
		return -1;
	switch (r.machine) {
	case MACHINE_SESSION:
		a->finish = r.event == SESSION_EV_start_intent ? finish_start :
		    r.event == SESSION_EV_attach || r.event == SESSION_EV_exec ?
		    finish_receipt : finish_session;
		return 0;
	case MACHINE_EXPOSURE:
		a->finish = finish_exposure;
		return 0;
	case MACHINE_CHANGE:
		a->finish = finish_change;
		return 0;
	default:
		return err_set(e, ERR_BUG, "a request about a %s",
		    machine_name(r.machine));
	}
}
