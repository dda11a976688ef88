/* SPDX-License-Identifier: ISC */
#include <sys/stat.h>

#include <fcntl.h>
#include <ftw.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
#include <cmocka.h>

#include "recovery/recover.h"

#include "tests/lib/paper.h"

static int
wipe_one(const char *path, const struct stat *st, int flag, struct FTW *ftw)
{
	(void)st;
	(void)flag;
	(void)ftw;
	return remove(path);
}

/* ---- the world ----------------------------------------------------------- */

static struct paper_box *
box_of(struct paper *p, const struct id *session)
{
	for (size_t i = 0; i < p->nbox; i++)
		if (id_eq(&p->box[i].session, session))
			return &p->box[i];
	return NULL;
}

struct paper_box *
paper_box(struct paper *p, const struct id *session)
{
	struct paper_box *b = box_of(p, session);

	assert_non_null(b);
	return b;
}

static int
build(struct paper *p, const struct order *o, struct err *e)
{
	struct paper_box *b = box_of(p, &o->session);

	if (p->refuse_build)
		return err_say(e, ERR_SANDBOX, "no sandbox on paper today");
	if (b == NULL) {
		assert_true(p->nbox < PAPER_MAX);
		b = &p->box[p->nbox++];
	}
	*b = (struct paper_box){ .session = o->session, .state = PAPER_HELD };
	return 0;
}

static int
run(void *cookie, const struct committed *c, const struct order *o, struct err *e)
{
	struct paper *p = cookie;
	struct paper_box *b = box_of(p, &o->session);
	char line[64];
	int n;

	/* The ticket is real: its record is in the journal, and durable. */
	assert_true(committed_index(c) < journal_size(p->j));
	assert_true(p->norder < PAPER_ORDERS);
	p->order[p->norder++] = (struct paper_order){ o->kind,
	    *committed_subject(c), committed_index(c), o->grace_us, o->cause };
	if (p->log >= 0) {
		n = snprintf(line, sizeof(line), "%d %llu\n", (int)o->kind,
		    (unsigned long long)committed_index(c));
		assert_int_equal(n, write(p->log, line, (size_t)n));
	}
	switch (o->kind) {
	case ORDER_BUILD:
		assert_non_null(o->start);
		assert_non_null(strstr(o->receipt, "c2sp.org/tlog-proof@v1"));
		return build(p, o, e);
	case ORDER_GATE:
		if (b != NULL && b->state == PAPER_HELD)
			b->state = PAPER_RUNS;
		return 0;
	case ORDER_STOP:
		if (b != NULL && b->state != PAPER_GONE)
			b->state = PAPER_STOPS;
		return 0;
	case ORDER_DONE:
		if (b == NULL || o->worker)
			return 0;
		b->told_done = 1;
		/* Its channel is closed: a held agent goes with that. */
		if (b->state == PAPER_HELD)
			b->state = PAPER_GONE;
		return 0;
	default:
		return 0;
	}
}

static int
look(void *cookie, const char *path, struct place *where, struct err *e)
{
	struct paper *p = cookie;

	if (strcmp(path, "/nowhere") == 0)
		return err_say(e, ERR_NOTFOUND, "there is no /nowhere");
	memset(where, 0, sizeof(*where));
	snprintf(where->path, sizeof(where->path), "%s", path);
	where->dev = p->dev;
	where->ino = p->ino;
	return 0;
}

static int
find(void *cookie, const struct id *session, const struct identity *who,
    struct found *f, struct err *e)
{
	struct paper *p = cookie;
	struct paper_box *b = box_of(p, session);

	(void)who;
	(void)e;
	memset(f, 0, sizeof(*f));
	f->kind = FOUND_NOTHING;
	/* Without a channel a held agent is let go of, never let through. */
	if (b != NULL && (p->deaf || b->state == PAPER_HELD))
		b->state = PAPER_GONE;
	if (b != NULL && (b->state == PAPER_RUNS || b->state == PAPER_STOPS)) {
		f->kind = FOUND_ALIVE;
		memset(f->nonce, 0x5a, sizeof(f->nonce));
	}
	return 0;
}

static void
answer(void *cookie, struct ask *a)
{
	struct paper *p = cookie;
	struct paper_answer *to;

	assert_true(p->nanswer < PAPER_MAX);
	to = &p->answer[p->nanswer++];
	assert_int_equal(0, json_int(a->id, &to->id));
	to->err = a->err;
	to->result = a->result == NULL ? NULL : json_clone(a->result);
	to->data = a->data == NULL ? NULL : json_clone(a->data);
	ask_free(a);
}

static void
note(void *cookie, uint64_t conn, const char *method, struct json *params)
{
	struct paper *p = cookie;

	(void)conn;
	assert_string_equal("record", method);
	json_free(params);
	p->nnotes++;
}

static size_t
clients(void *cookie)
{
	(void)cookie;
	return 1;
}

static int64_t
journal_bytes(void *cookie)
{
	(void)cookie;
	return 0;
}

static int
root_key_here(void *cookie)
{
	(void)cookie;
	return 1;
}

/* ---- up and down --------------------------------------------------------- */

int
paper_try_up(struct paper *p, struct err *e)
{
	struct journal_opts jo = { .homefd = p->homefd, .create = 1 };
	struct engine_opts o = { .ops = { p, run, look, find }, .uid = 1000,
	    .pid = 1, .home = p->dir, .attach_dir = "/run/glove/s", .cookie = p,
	    .answer = answer, .note = note, .clients = clients,
	    .journal_bytes = journal_bytes, .root_key_here = root_key_here };

	clock_fake(&p->now);
	if (journal_open(&jo, &p->j, &p->verdict, e))
		return -1;
	o.journal = p->j;
	o.verdict = p->verdict;
	return clock_boot_id(o.boot_id, e) ||
	    engine_new(&o, p->now, &p->en, e) || recover(p->en, p->now, e) ? -1 : 0;
}

void
paper_up(struct paper *p)
{
	struct err e;

	if (paper_try_up(p, &e))
		fail_msg("up: %s", e.msg);
}

void
paper_down(struct paper *p)
{
	engine_free(TAKE(p->en));
	journal_close(TAKE(p->j));
	for (size_t i = 0; i < p->nanswer; i++) {
		json_free(p->answer[i].result);
		json_free(p->answer[i].data);
	}
	p->nanswer = 0;
}

void
paper_home(struct paper *p)
{
	memset(p, 0, sizeof(*p));
	p->log = -1;
	p->dev = 7;
	p->ino = 42;
	p->now = (struct now){ 1764590000000000, 90000000 };
	/* Memory, where there is some: the tests are about order, not disks. */
	strcpy(p->dir, access("/dev/shm", W_OK) == 0 ?
	    "/dev/shm/glove-paper-XXXXXX" : "/tmp/glove-paper-XXXXXX");
	assert_non_null(mkdtemp(p->dir));
	p->homefd = open(p->dir, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	assert_true(p->homefd >= 0);
}

void
paper_open(struct paper *p)
{
	paper_home(p);
	paper_up(p);
}

void
paper_close(struct paper *p)
{
	paper_down(p);
	clock_fake(NULL);
	(void)close(p->homefd);
	if (p->log >= 0)
		(void)close(p->log);
	(void)nftw(p->dir, wipe_one, 16, FTW_DEPTH | FTW_PHYS);
}

/* ---- requests ------------------------------------------------------------ */

int64_t
paper_ask(struct paper *p, uid_t uid, const char *method, const char *params, ...)
{
	struct principal who = { .uid = uid, .pid = 77, .name = "somebody" };
	struct ask *a;
	struct err e;
	char text[4096];
	AUTO(json) struct json *id = NULL;
	va_list ap;

	va_start(ap, params);
	vsnprintf(text, sizeof(text), params, ap);
	va_end(ap);
	for (char *c = text; *c != '\0'; c++)
		if (*c == '\'')
			*c = '"';
	a = ask_new(1, who, &e);
	assert_non_null(a);
	a->req = request_find(str_of(method));
	assert_non_null(a->req);
	if (json_parse(str_of(text), &a->params, &e) ||
	    request_check(a->req, a->params, &e))
		fail_msg("%s: %s", text, e.msg);
	snprintf(text, sizeof(text), "[%lld]", (long long)++p->last_id);
	assert_int_equal(0, json_parse(str_of(text), &id, &e));
	a->id = json_clone(json_at(id, 0));
	engine_ask(p->en, a, p->now);
	return p->last_id;
}

void
paper_turn(struct paper *p)
{
	struct err e;
	int n = 0;

	do {
		if (engine_turn(p->en, p->now, &e))
			fail_msg("turn: %s", e.msg);
		assert_true(++n < 10);
	} while (engine_pending(p->en) > 0);
}

void
paper_tick(struct paper *p, int64_t us)
{
	struct err e;

	p->now.real_us += us;
	p->now.boot_us += us;
	if (engine_tick(p->en, p->now, &e))
		fail_msg("tick: %s", e.msg);
	paper_turn(p);
}

struct paper_answer *
paper_answered(struct paper *p, int64_t id)
{
	for (size_t i = 0; i < p->nanswer; i++)
		if (p->answer[i].id == id)
			return &p->answer[i];
	return NULL;
}

struct id
paper_start(struct paper *p, uid_t uid)
{
	int64_t n = paper_ask(p, uid, "session.start", "{'command':['true'],"
	    "'cwd':'/srv/app','path':'/srv/app','mode':'staged','terminal':false}");
	struct paper_answer *a;
	struct str text;
	struct id id;
	struct err e;

	paper_turn(p);
	a = paper_answered(p, n);
	assert_non_null(a);
	if (a->err.code != ERR_OK)
		fail_msg("start: %s", a->err.msg);
	assert_int_equal(0, json_get_str(a->result, "session", &text, &e));
	assert_int_equal(0, id_parse(ID_SESSION, text, &id, &e));
	return id;
}

/* ---- supervisors --------------------------------------------------------- */

static int
tell(struct paper *p, const struct news *n)
{
	struct err e = { .code = ERR_OK };

	if (engine_news(p->en, n, p->now, &e))
		return e.code;
	paper_turn(p);
	return ERR_OK;
}

int
paper_ready(struct paper *p, const struct id *session)
{
	struct news n = { .kind = NEWS_READY, .subject = *session,
	    .init_pid = 4711, .init_start = 1, .pidns = 2, .supervisor_pid = 4710,
	    .binding = STR("argv x 00\nenv y 11\n"), .enforced = STR("seccomp") };

	memset(n.nonce, 0x5a, sizeof(n.nonce));
	return tell(p, &n);
}

int
paper_ended(struct paper *p, const struct id *session, int cause, int change)
{
	static const uint8_t manifest[] = "GLVM manifest";
	struct news n = { .kind = NEWS_ENDED, .subject = *session, .cause = cause,
	    .status = 0, .duration_us = 1000, .has_change = change, .files = 3,
	    .added = 41, .removed = 7, .manifest = BYTES(manifest) };

	paper_box(p, session)->state = PAPER_GONE;
	return tell(p, &n);
}

int
paper_failed(struct paper *p, const struct id *session)
{
	struct news n = { .kind = NEWS_FAILED, .subject = *session,
	    .code = ERR_SANDBOX, .text = STR("it would not stand") };

	paper_box(p, session)->state = PAPER_GONE;
	return tell(p, &n);
}

int
paper_result(struct paper *p, const struct id *change, int result)
{
	struct news n = { .kind = NEWS_RESULT, .subject = *change, .code = result,
	    .files = 3, .text = result == WORK_CONFLICT ? STR("a\nb/c") : STR("") };

	return tell(p, &n);
}

int
paper_state(struct paper *p, int machine, const struct id *id)
{
	struct subject s;
	struct err e;

	if (journal_subject(p->j, machine, id, &s, &e))
		fail_msg("%s", e.msg);
	return s.state;
}

int
paper_fact_id(struct paper *p, int machine, const struct id *id, int fact,
    struct id *out)
{
	struct subject s;
	struct err e;

	if (journal_subject(p->j, machine, id, &s, &e))
		fail_msg("%s", e.msg);
	if (!s.fact[fact].present)
		return -1;
	memcpy(out->b, s.fact[fact].b, ID_BYTES);
	return 0;
}

size_t
paper_orders(const struct paper *p, enum order_kind kind, const struct id *subject)
{
	size_t n = 0;

	for (size_t i = 0; i < p->norder; i++)
		n += p->order[i].kind == kind && id_eq(&p->order[i].subject, subject);
	return n;
}
