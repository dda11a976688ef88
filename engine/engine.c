/* SPDX-License-Identifier: ISC */
/*
 * engine.c - a turn: validate and append, each in its savepoint; commit once;
 * only then act and answer.
 */
#include <string.h>

#include "base/sha256.h"
#include "faultinject/fi.h"

#include "engine/internal.h"

/* ---- a request ----------------------------------------------------------- */

/* Its id and its body, so that a retry is known as one. */
static int
identify(struct ask *a, struct err *e)
{
	AUTO(buf) struct buf b;
	AUTO(json) struct json *body = json_make_object();
	struct str id = STR("");
	struct digest d;
	uint8_t out[SHA256_BYTES];
	const char *key;

	if (json_opt_str(a->params, "request_id", &id, e))
		return -1;
	if (id.n == 0)
		return 0;
	if (id.n > REQUEST_ID_MAX)
		return err_say(e, ERR_TOOBIG, "a request id is at most %d bytes",
		    REQUEST_ID_MAX);
	for (size_t i = 0; (key = json_key_at(a->params, i)) != NULL; i++)
		if (strcmp(key, "request_id") != 0)
			json_set(body, key, json_clone(json_get(a->params, key)));
	buf_init(&b, FRAME_MAX);
	json_put(&b, body);
	if (buf_ok(&b, "request", e))
		return -1;
	digest_init(&d, "glove/request/1");
	digest_u64(&d, a->who.uid);
	digest_str(&d, id);
	digest_final(&d, out);
	memcpy(a->request, out, sizeof(a->request));
	digest_init(&d, "glove/request-body/1");
	digest_str(&d, str_of(a->req->method));
	digest_bytes(&d, buf_bytes(&b));
	digest_final(&d, a->body);
	a->has_request = 1;
	return 0;
}

/* 1: it was answered as the retry that it is; 0: it is new. */
static int
is_again(struct engine *en, struct ask *a, struct err *e)
{
	uint64_t index;

	if (!a->has_request)
		return 0;
	if (journal_request_seen(en->j, a->request, a->body, &index, e))
		return e->code == ERR_NOTFOUND ? 0 : -1;
	return request_again(en, a, index, e) ? -1 : 1;
}

/* The handler, in its savepoint; what it leaves there if it fails is dropped,
 * unless it says that the record of the failure is to stay. */
static int
attempt(struct engine *en, struct ask *a, struct err *e)
{
	int again = is_again(en, a, e);
	struct err ignore;

	if (again == 1)
		return turn_keep(en, e);
	if (again == 0 && a->req->handle(en, a, e) == 0 &&
	    (!a->has_request || !a->recorded ||
	    journal_request_note(en->txn, a->request, a->body, a->index, e) == 0))
		return turn_keep(en, e);
	if (!a->keep || turn_keep(en, &ignore)) {
		turn_drop(en);
		a->recorded = 0;
	}
	a->waits = 0;
	return -1;
}

static int
write_request(struct engine *en, struct ask *a, struct err *e)
{
	return identify(a, e) || turn_try(en, e) || attempt(en, a, e) ? -1 : 0;
}

static int
handle(struct engine *en, struct ask *a, struct err *e)
{
	if (a->req->who == WHO_ADMIN && !is_admin(en, a))
		return err_say(e, ERR_DENIED, "%s is for the user that gloved runs as",
		    a->req->method);
	if (!(a->req->flags & REQ_WRITE))
		return a->req->handle(en, a, e);
	if (en->leaving && !(a->req->flags & REQ_REMOVAL))
		return err_say(e, ERR_AGAIN, "gloved is about to leave");
	return write_request(en, a, e);
}

void
engine_ask(struct engine *en, struct ask *a, struct now now)
{
	struct err e;

	en->now = now;
	a->err.code = ERR_OK;
	if (handle(en, a, &e)) {
		a->err = e;
		a->finish = NULL;
		if ((a->req->flags & REQ_WRITE) && !a->keep)
			refusal_record(en, a);
	}
	a->in_doubt = en->txn != NULL;
	a->next = NULL;
	*en->asks_end = a;
	en->asks_end = &a->next;
	en->nasks++;
}

/* ---- the turn ------------------------------------------------------------ */

static void
answer(struct engine *en, struct ask *a)
{
	struct err e;

	if (a->err.code == ERR_OK && a->finish != NULL && a->finish(en, a, &e))
		a->err = e;
	en->o.answer(en->o.cookie, a);
}

static const struct failure *
failure_of(const struct engine *en, const struct ask *a)
{
	for (size_t i = 0; i < en->failures.n; i++)
		if (en->failures.v[i].machine == a->machine &&
		    id_eq(&en->failures.v[i].id, &a->subject))
			return &en->failures.v[i];
	return NULL;
}

/* What it waits for is there, or will not come. */
static int
is_ready(struct engine *en, struct ask *a)
{
	const struct failure *f = failure_of(en, a);

	if (f != NULL && (a->start != NULL ||
	    (a->waits && a->machine == MACHINE_CHANGE))) {
		a->err = f->err;
		return 1;
	}
	if (!a->waits)
		return 1;
	return a->finish == finish_start ? is_started(en, &a->subject) :
	    settled(en, a->machine, &a->subject);
}

static void
answer_all(struct engine *en)
{
	struct ask *a, *next;

	a = en->asks;
	en->asks = NULL;
	en->asks_end = &en->asks;
	en->nasks = 0;
	for (; a != NULL; a = next) {
		next = a->next;
		if (a->err.code != ERR_OK || is_ready(en, a)) {
			answer(en, a);
			continue;
		}
		/* The environment of an agent is kept no longer than needed. */
		start_free(TAKE(a->start));
		a->next = en->waits;
		en->waits = a;
	}
}

/* Those that waited for a subject of this commit, and only those. */
static void
answer_waits(struct engine *en, struct committed **proofs, size_t n)
{
	struct ask **at = &en->waits, *a;
	size_t i;

	while ((a = *at) != NULL) {
		for (i = 0; i < n; i++)
			if (committed_machine(proofs[i]) == a->machine &&
			    id_eq(committed_subject(proofs[i]), &a->subject))
				break;
		if ((i == n && failure_of(en, a) == NULL) || !is_ready(en, a)) {
			at = &a->next;
			continue;
		}
		*at = a->next;
		answer(en, a);
	}
}

/* The commit did not happen: whoever saw or wrote any of it hears so. */
static void
fail_all(struct engine *en, const struct err *err)
{
	for (struct ask *a = en->asks; a != NULL; a = a->next)
		if (a->in_doubt) {
			a->err = *err;
			a->waits = 0;
			a->finish = NULL;
			json_free(TAKE(a->data));
		}
}

static void
tell_followers(struct engine *en, const struct committed *c)
{
	AUTO(buf) struct buf b;
	struct err e;

	buf_init(&b, RECORD_MAX);
	if (en->followers.n == 0 ||
	    journal_record(en->j, committed_index(c), &b, &e))
		return;
	for (size_t i = 0; i < en->followers.n; i++) {
		const struct follower *f = &en->followers.v[i];
		struct ask who = { .who = f->who };
		struct json *o;

		if (!f->all && !id_eq(&f->subject, committed_subject(c)))
			continue;
		if ((o = json_make_object()) == NULL ||
		    record_json(en, buf_bytes(&b), &who, o, &e)) {
			json_free(o);
			continue;
		}
		en->o.note(en->o.cookie, f->conn, "record", o);
	}
}

static void
forget_token(struct engine *en, const struct id *session)
{
	for (size_t i = 0; i < en->tokens.n; i++)
		if (id_eq(&en->tokens.v[i].session, session)) {
			en->tokens.v[i] = en->tokens.v[--en->tokens.n];
			return;
		}
}

/* What the commit changes in memory, before anybody acts on it. */
static int
publish(struct engine *en, struct committed **proofs, size_t n, struct err *e)
{
	struct token *t;

	for (size_t i = 0; i < n; i++) {
		const struct record *r = committed_record(proofs[i]);

		if (leases_follow(en, r->machine, &r->subject, e))
			return -1;
		if (r->machine == MACHINE_SESSION &&
		    machine_final(MACHINE_SESSION, r->to))
			forget_token(en, &r->subject);
	}
	for (const struct ask *a = en->asks; a != NULL; a = a->next) {
		if (a->start == NULL || a->err.code != ERR_OK)
			continue;
		if ((t = list_add(&en->tokens, e)) == NULL)
			return -1;
		t->session = a->start->session;
		memcpy(t->token, a->start->token, sizeof(t->token));
	}
	return 0;
}

static void
free_proofs(struct committed **proofs, size_t n)
{
	for (size_t i = 0; i < n; i++)
		committed_free(proofs[i]);
	free(proofs);
}

/* Commit, or drop, what this turn appended. */
static int
commit(struct engine *en, struct committed ***proofs, size_t *n, struct err *e)
{
	if (en->txn == NULL)
		return 0;
	if (en->broken.code != ERR_OK) {
		journal_rollback(TAKE(en->txn));
		*e = en->broken;
		en->broken.code = ERR_OK;
		return -1;
	}
	if (journal_appended(en->txn) == 0) {
		journal_rollback(TAKE(en->txn));
		return 0;
	}
	return journal_commit(&en->txn, proofs, n, e);
}

/*
 * Orders that stand already, given once more.  One that was first given in
 * this very commit has just been run, with the latest grace.
 */
static void
run_again(struct engine *en, struct committed **proofs, size_t n)
{
	for (size_t i = 0; i < en->again.n; i++) {
		const struct subject *s = &en->again.v[i];
		struct subject is;
		struct err e;
		size_t k;

		for (k = 0; k < n; k++)
			if (committed_machine(proofs[k]) == s->machine &&
			    id_eq(committed_subject(proofs[k]), &s->id))
				break;
		if (k < n || journal_subject(en->j, s->machine, &s->id, &is, &e) ||
		    is.owed == EFFECT_NONE)
			continue;
		if (engine_again(en, &is, en->now, &e))
			failure_note(en, is.machine, &is.id, ORDER_STOP, &e);
	}
	en->again.n = 0;
}

int
engine_turn(struct engine *en, struct now now, struct err *e)
{
	struct committed **proofs = NULL;
	size_t n = 0;
	int rc = 0;

	en->now = now;
	if (commit(en, &proofs, &n, e)) {
		fail_all(en, e);
		rc = journal_poisoned(en->j) ? -1 : 0;
	} else if (publish(en, proofs, n, e))
		rc = -1;
	if (rc == 0) {
		for (size_t i = 0; i < n; i++)
			orders_run(en, proofs[i]);
		run_again(en, proofs, n);
		for (size_t i = 0; i < n; i++)
			tell_followers(en, proofs[i]);
	}
	/* An injected fault here is the daemon dying before anybody has heard. */
	if (FI(ENGINE_REPLY))
		rc = err_set(e, ERR_SYS, "reply: injected");
	answer_waits(en, proofs, n);
	answer_all(en);
	en->graces.n = 0;
	free_proofs(proofs, n);
	if (rc == 0)
		rc = failures_settle(en, e);
	return rc;
}

size_t
engine_pending(const struct engine *en)
{
	return en->nasks + en->again.n + (en->txn != NULL || en->broken.code != ERR_OK);
}
