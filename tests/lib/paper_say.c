/* SPDX-License-Identifier: ISC */
/* paper_say.c - what the tests of the engine say again and again. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <cmocka.h>

#include "tests/lib/paper.h"

char *
paper_text(int machine, const struct id *id)
{
	static char out[4][ID_TEXT_MAX];
	static unsigned n;

	return id_str(machine_id_kind(machine), id, out[n++ % 4]);
}

struct id
paper_lease(struct paper *p, const struct id *session)
{
	struct id id;

	assert_int_equal(0, paper_fact_id(p, MACHINE_SESSION, session,
	    SESSION_FACT_exposure, &id));
	return id;
}

struct json *
paper_ok(struct paper *p, int64_t n)
{
	struct paper_answer *a = paper_answered(p, n);

	assert_non_null(a);
	if (a->err.code != ERR_OK)
		fail_msg("%s", a->err.msg);
	return a->result;
}

int
paper_code(struct paper *p, int64_t n)
{
	struct paper_answer *a = paper_answered(p, n);

	assert_non_null(a);
	return a->err.code;
}

const char *
paper_get(const struct json *o, const char *key)
{
	static char out[512];
	struct str s;
	struct err e;

	if (json_get_str(o, key, &s, &e))
		fail_msg("%s", e.msg);
	snprintf(out, sizeof(out), "%.*s", (int)s.n, s.p);
	return out;
}

/* A running session. */
struct id
paper_running(struct paper *p)
{
	struct id id = paper_start(p, PAPER_ME);

	assert_int_equal(ERR_OK, paper_ready(p, &id));
	assert_int_equal(SESSION_RUNNING, SESSION(p, id));
	return id;
}

struct id
paper_staged(struct paper *p)
{
	struct id id = paper_running(p), change;

	assert_int_equal(ERR_OK, paper_ended(p, &id, CAUSE_EXITED, 1));
	assert_int_equal(0, paper_fact_id(p, MACHINE_SESSION, &id,
	    SESSION_FACT_change, &change));
	return change;
}
