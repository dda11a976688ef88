/* SPDX-License-Identifier: ISC */
/* control_test.c - a hostile client gets an error or the door, and nobody
 * else notices. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <cmocka.h>

#include "engine/control.h"

static const char hello[] =
    "{\"jsonrpc\":\"2.0\",\"id\":1,\"method\":\"hello\",\"params\":"
    "{\"schema\":\"glove.control/1\",\"client\":\"test\"}}\n";
static const char status[] =
    "{\"jsonrpc\":\"2.0\",\"id\":2,\"method\":\"daemon.status\"}\n";

/* An engine of paper: it answers everything with {"ok":true}, or holds it. */
struct paper {
	struct control	*c;
	struct ask	*held[CLIENT_ASKS_MAX + 1];
	size_t		 nheld, nasks, ngone;
	int		 hold;
	struct now	 now;
};

static void
paper_ask(void *cookie, struct ask *a)
{
	struct paper *p = cookie;

	p->nasks++;
	if (p->hold && strcmp(a->req->method, "hello") != 0) {
		assert_true(p->nheld < CLIENT_ASKS_MAX + 1);
		p->held[p->nheld++] = a;
		return;
	}
	a->result = json_make_object();
	json_set_bool(a->result, "ok", 1);
	control_answer(p->c, a);
}

static void
paper_gone(void *cookie, uint64_t conn)
{
	struct paper *p = cookie;

	(void)conn;
	p->ngone++;
}

static int
setup(void **state)
{
	struct paper *p = calloc(1, sizeof(*p));
	struct control_ops ops = { p, paper_ask, paper_gone };
	struct err e;

	p->now = (struct now){ 1700000000000000, 5000000 };
	if (control_new(&ops, &p->c, &e))
		return -1;
	*state = p;
	return 0;
}

static int
teardown(void **state)
{
	struct paper *p = *state;

	control_free(p->c);
	for (size_t i = 0; i < p->nheld; i++)
		ask_free(p->held[i]);
	free(p);
	return 0;
}

static uint64_t
open_one(struct paper *p)
{
	struct principal who = { .uid = 1000 };
	struct err e;
	uint64_t conn;

	assert_int_equal(0, control_open(p->c, who, p->now, &conn, &e));
	return conn;
}

static void
feed(struct paper *p, uint64_t conn, const char *text)
{
	control_feed(p->c, conn, bytes_of(text, strlen(text)), p->now);
}

/* Everything that is to be written to ${conn}, taken from it. */
static char *
taken(struct paper *p, uint64_t conn)
{
	struct bytes out = control_out(p->c, conn);
	char *s = malloc(out.n + 1);

	assert_non_null(s);
	if (out.n > 0)
		memcpy(s, out.p, out.n);
	s[out.n] = '\0';
	control_sent(p->c, conn, out.n);
	return s;
}

static void
says(struct paper *p, uint64_t conn, const char *what)
{
	char *s = taken(p, conn);

	if (strstr(s, what) == NULL)
		fail_msg("\"%s\" is not in: %s", what, s);
	free(s);
}

static uint64_t
greeted(struct paper *p)
{
	uint64_t conn = open_one(p);

	feed(p, conn, hello);
	says(p, conn, "\"ok\":true");
	return conn;
}

/* The bystander: it was there before, and is served as if nothing had been. */
static void
is_served(struct paper *p, uint64_t conn)
{
	assert_true(control_reads(p->c, conn));
	feed(p, conn, status);
	says(p, conn, "{\"jsonrpc\":\"2.0\",\"id\":2,\"result\":{\"ok\":true}}\n");
	assert_false(control_over(p->c, conn));
}

/* What a greeted client sends, what it hears, and whether that was its end. */
static const struct {
	const char *frame, *hears;
	int over;
} hostile[] = {
	{ "\n", "-32700", 1 },
	{ "   \n", "-32700", 1 },
	{ "rubbish\n", "-32700", 1 },
	{ "\x01\x02\xff\xfe\n", "-32700", 1 },
	{ "{\"jsonrpc\":\"2.0\"\n", "-32700", 1 },
	{ "{\"jsonrpc\":\"2.0\",\"id\":2,\"id\":3,\"method\":\"daemon.status\"}\n", "-32700", 1 },
	{ "{\"jsonrpc\":\"2.0\",\"id\":2,\"method\":\"daemon.status\"} {}\n", "-32700", 1 },
	{ "{\"jsonrpc\":\"2.0\",\"id\":2,\"method\":\"daemon\\u0000.status\"}\n", "-32700", 1 },
	{ "{\"jsonrpc\":\"2.0\",\"id\":1.5,\"method\":\"daemon.status\"}\n", "-32700", 1 },
	{ "[]\n", "-32600", 0 },
	{ "[{\"jsonrpc\":\"2.0\",\"id\":2,\"method\":\"daemon.status\"}]\n", "-32600", 0 },
	{ "17\n", "-32700", 1 },
	{ "\"x\"\n", "-32700", 1 },
	{ "null\n", "-32700", 1 },
	{ "{}\n", "-32600", 0 },
	{ "{\"id\":2,\"method\":\"daemon.status\"}\n", "-32600", 0 },
	{ "{\"jsonrpc\":\"1.0\",\"id\":2,\"method\":\"daemon.status\"}\n", "-32600", 0 },
	{ "{\"jsonrpc\":2.0,\"id\":2,\"method\":\"daemon.status\"}\n", "-32700", 1 },
	{ "{\"jsonrpc\":\"2.0\",\"id\":{},\"method\":\"daemon.status\"}\n", "-32600", 0 },
	{ "{\"jsonrpc\":\"2.0\",\"id\":[1],\"method\":\"daemon.status\"}\n", "-32600", 0 },
	{ "{\"jsonrpc\":\"2.0\",\"id\":true,\"method\":\"daemon.status\"}\n", "-32600", 0 },
	{ "{\"jsonrpc\":\"2.0\",\"id\":2}\n", "-32600", 0 },
	{ "{\"jsonrpc\":\"2.0\",\"id\":2,\"method\":7}\n", "-32600", 0 },
	{ "{\"jsonrpc\":\"2.0\",\"id\":2,\"method\":\"daemon.status\",\"more\":1}\n", "-32600", 0 },
	{ "{\"jsonrpc\":\"2.0\",\"id\":2,\"method\":\"daemon.status\",\"params\":[]}\n", "-32600", 0 },
	{ "{\"jsonrpc\":\"2.0\",\"id\":2,\"result\":{}}\n", "-32600", 0 },
	{ "{\"jsonrpc\":\"2.0\",\"id\":2,\"method\":\"\"}\n", "-32601", 0 },
	{ "{\"jsonrpc\":\"2.0\",\"id\":2,\"method\":\"daemon.statu\"}\n", "-32601", 0 },
	{ "{\"jsonrpc\":\"2.0\",\"id\":2,\"method\":\"daemon.status\",\"params\":{\"x\":1}}\n", "-32602", 0 },
	{ "{\"jsonrpc\":\"2.0\",\"id\":2,\"method\":\"session.show\"}\n", "-32602", 0 },
	{ "{\"jsonrpc\":\"2.0\",\"id\":2,\"method\":\"session.show\",\"params\":{\"id\":7}}\n", "-32602", 0 },
	{ "{\"jsonrpc\":\"2.0\",\"id\":2,\"method\":\"session.show\",\"params\":{\"id\":\"ses_1\"}}\n", "-32602", 0 },
	{ "{\"jsonrpc\":\"2.0\",\"id\":2,\"method\":\"session.list\",\"params\":{\"all\":1}}\n", "-32602", 0 },
	{ "{\"jsonrpc\":\"2.0\",\"id\":2,\"method\":\"session.list\",\"params\":{\"request_id\":\"x\"}}\n", "-32602", 0 },
	{ "{\"jsonrpc\":\"2.0\",\"id\":2,\"method\":\"session.stop\",\"params\":{\"id\":\"ses_0123456789abcdef\",\"now\":\"yes\"}}\n", "-32602", 0 },
	{ "{\"jsonrpc\":\"2.0\",\"id\":2,\"method\":\"blob.read\",\"params\":{\"digest\":\"XY\",\"offset\":0}}\n", "-32602", 0 },
	{ "{\"jsonrpc\":\"2.0\",\"id\":2,\"method\":\"session.exec\",\"params\":{\"id\":\"ses_0123456789abcdef\",\"nonce\":\"00\",\"command\":[1]}}\n", "-32602", 0 },
};

static void
rubbish_is_answered_and_hurts_nobody_else(void **state)
{
	struct paper *p = *state;
	uint64_t bystander = greeted(p), conn;
	size_t asked;

	for (size_t i = 0; i < sizeof(hostile) / sizeof(hostile[0]); i++) {
		conn = greeted(p);
		asked = p->nasks;
		feed(p, conn, hostile[i].frame);
		assert_int_equal(asked, p->nasks);
		says(p, conn, hostile[i].hears);
		if (hostile[i].over != control_over(p->c, conn))
			fail_msg("row %zu: %s", i, hostile[i].frame);
		if (!hostile[i].over)
			is_served(p, conn);
		is_served(p, bystander);
		control_close(p->c, conn);
	}
}

static void
nothing_is_heard_before_hello(void **state)
{
	struct paper *p = *state;
	uint64_t conn = open_one(p);

	feed(p, conn, status);
	assert_int_equal(0, p->nasks);
	says(p, conn, "the first request is hello");
	assert_true(control_over(p->c, conn));
}

static void
an_unknown_method_before_hello_is_the_end_too(void **state)
{
	struct paper *p = *state;
	uint64_t conn = open_one(p);

	feed(p, conn, "{\"jsonrpc\":\"2.0\",\"id\":1,\"method\":\"x\"}\n");
	says(p, conn, "-32601");
	assert_true(control_over(p->c, conn));
}

static void
every_legal_id_comes_back_as_it_was(void **state)
{
	static const char *const ids[] = { "0", "1", "-7", "9007199254740993",
	    "\"\"", "\"r-2\"", "\"\\u00e9\\\"\\\\\"", "null" };
	struct paper *p = *state;
	uint64_t conn = greeted(p);
	char frame[256], want[256];

	for (size_t i = 0; i < sizeof(ids) / sizeof(ids[0]); i++) {
		snprintf(frame, sizeof(frame),
		    "{\"jsonrpc\":\"2.0\",\"id\":%s,\"method\":\"daemon.status\"}\n",
		    ids[i]);
		feed(p, conn, frame);
		snprintf(want, sizeof(want), "\"id\":%s,\"result\"",
		    i == 6 ? "\"\xc3\xa9\\\"\\\\\"" : ids[i]);
		says(p, conn, want);
	}
}

static void
a_notification_is_done_and_not_answered(void **state)
{
	struct paper *p = *state;
	uint64_t conn = greeted(p);
	size_t asked = p->nasks;

	feed(p, conn, "{\"jsonrpc\":\"2.0\",\"method\":\"daemon.status\"}\n");
	assert_int_equal(asked + 1, p->nasks);
	assert_int_equal(0, control_out(p->c, conn).n);
	/* Not even when it is wrong. */
	feed(p, conn, "{\"jsonrpc\":\"2.0\",\"method\":\"nothing\"}\n");
	assert_int_equal(0, control_out(p->c, conn).n);
}

static void
a_frame_may_come_byte_by_byte(void **state)
{
	struct paper *p = *state;
	uint64_t conn = open_one(p);

	for (size_t i = 0; i < strlen(hello); i++)
		control_feed(p->c, conn, bytes_of(hello + i, 1), p->now);
	says(p, conn, "\"ok\":true");
}

static void
many_frames_may_come_at_once(void **state)
{
	struct paper *p = *state;
	uint64_t conn = open_one(p);
	char all[4096] = "";

	strcat(all, hello);
	for (int i = 0; i < 10; i++)
		strcat(all, status);
	strcat(all, "{\"json");
	feed(p, conn, all);
	assert_int_equal(11, p->nasks);
	feed(p, conn, "rpc\":\"2.0\",\"id\":2,\"method\":\"daemon.status\"}\n");
	assert_int_equal(12, p->nasks);
}

static void
half_a_frame_may_lie_for_a_while_and_no_longer(void **state)
{
	struct paper *p = *state;
	uint64_t bystander = greeted(p), conn = greeted(p);
	int64_t due;

	feed(p, conn, "{\"json");
	due = control_sweep(p->c, p->now);
	assert_true(due == p->now.boot_us + FRAME_TIMEOUT_MS * 1000);
	/* A byte now and then does not buy time. */
	p->now.boot_us = due - 1;
	feed(p, conn, "r");
	assert_true(control_sweep(p->c, p->now) == due);
	assert_false(control_over(p->c, conn));
	p->now.boot_us = due;
	assert_true(control_sweep(p->c, p->now) == INT64_MAX);
	assert_true(control_over(p->c, conn));
	is_served(p, bystander);
}

static void
who_never_says_hello_is_shown_out(void **state)
{
	struct paper *p = *state;
	uint64_t conn = open_one(p);

	p->now.boot_us += FRAME_TIMEOUT_MS * 1000;
	(void)control_sweep(p->c, p->now);
	assert_true(control_over(p->c, conn));
}

static void
two_mebibytes_without_a_newline_are_refused(void **state)
{
	struct paper *p = *state;
	uint64_t bystander = greeted(p), conn = greeted(p);
	size_t n = 2 << 20;
	char *much = malloc(n + 1);

	assert_non_null(much);
	memset(much, 'x', n);
	much[n] = '\0';
	feed(p, conn, much);
	free(much);
	says(p, conn, "a frame is at most");
	assert_true(control_over(p->c, conn));
	assert_false(control_reads(p->c, conn));
	is_served(p, bystander);
}

static void
the_largest_frame_passes_and_one_byte_more_does_not(void **state)
{
	struct paper *p = *state;
	const char *head = "{\"jsonrpc\":\"2.0\",\"id\":2,\"method\":\"daemon.status\"}";
	char *frame = malloc(FRAME_MAX + 3);

	assert_non_null(frame);
	for (size_t n = FRAME_MAX; n <= FRAME_MAX + 1; n++) {
		uint64_t conn = greeted(p);

		memset(frame, ' ', n);
		memcpy(frame, head, strlen(head));
		frame[n] = '\n';
		frame[n + 1] = '\0';
		feed(p, conn, frame);
		says(p, conn, n == FRAME_MAX ? "\"ok\":true" : "a frame is at most");
		control_close(p->c, conn);
	}
	free(frame);
}

static void
who_does_not_read_is_cut(void **state)
{
	struct paper *p = *state;
	uint64_t bystander = greeted(p), conn = greeted(p);
	size_t most = 0;

	while (!control_over(p->c, conn)) {
		feed(p, conn, status);
		assert_true(control_out(p->c, conn).n <= CLIENT_OUT_MAX);
		most++;
		assert_true(most < CLIENT_OUT_MAX);
	}
	is_served(p, bystander);
}

static void
unanswered_requests_have_a_limit(void **state)
{
	struct paper *p = *state;
	uint64_t bystander = greeted(p), conn = greeted(p);

	p->hold = 1;
	for (int i = 0; i < CLIENT_ASKS_MAX; i++)
		feed(p, conn, status);
	assert_int_equal(0, control_out(p->c, conn).n);
	feed(p, conn, status);
	says(p, conn, "limit.reached");
	assert_int_equal(CLIENT_ASKS_MAX, p->nheld);
	p->hold = 0;
	is_served(p, bystander);
	/* An answer makes room for one more. */
	p->held[--p->nheld]->err.code = ERR_OK;
	control_answer(p->c, p->held[p->nheld]);
	says(p, conn, "\"result\":null");
	feed(p, conn, status);
	says(p, conn, "\"ok\":true");
}

static void
an_answer_to_who_has_left_goes_nowhere(void **state)
{
	struct paper *p = *state;
	uint64_t conn = greeted(p);

	p->hold = 1;
	feed(p, conn, status);
	control_close(p->c, conn);
	assert_int_equal(1, p->ngone);
	control_answer(p->c, p->held[0]);
	p->nheld = 0;
	assert_true(control_over(p->c, conn));
}

static void
connections_have_a_limit(void **state)
{
	struct paper *p = *state;
	struct principal who = { .uid = 1000 };
	uint64_t first = greeted(p), conn;
	struct err e;

	for (int i = 1; i < CLIENT_MAX; i++)
		(void)open_one(p);
	assert_int_equal(-1, control_open(p->c, who, p->now, &conn, &e));
	assert_int_equal(ERR_LIMIT, e.code);
	is_served(p, first);
	control_close(p->c, first);
	(void)greeted(p);
}

static void
an_error_says_what_why_and_what_to_do(void **state)
{
	struct paper *p = *state;
	uint64_t conn = greeted(p);
	struct ask *a;

	p->hold = 1;
	feed(p, conn, status);
	a = p->held[--p->nheld];
	(void)err_say(&a->err, ERR_LIMIT, "renewing for 5h passes the maximum");
	(void)err_why(&a->err, "it was opened with --max 4h");
	(void)err_fix(&a->err, "at most 820s are left");
	a->data = json_make_object();
	json_set_int(a->data, "max_ttl_s", 820);
	control_answer(p->c, a);
	says(p, conn, "{\"jsonrpc\":\"2.0\",\"id\":2,\"error\":{\"code\":-32007,"
	    "\"message\":\"renewing for 5h passes the maximum\",\"data\":"
	    "{\"max_ttl_s\":820,\"code\":\"limit.reached\",\"exit\":75,"
	    "\"why\":\"it was opened with --max 4h\","
	    "\"fix\":[\"at most 820s are left\"]}}}\n");
}

/* A value of the right type for each row's parameters, or NULL. */
static const char *
sample(const char *type, size_t n)
{
	static const struct { const char *type, *value; } samples[] = {
		{ "text", "\"x\"" }, { "int", "1" }, { "bool", "true" },
		{ "hex", "\"00ff\"" }, { "id", "\"ses_0123456789abcdef\"" },
		{ "list", "[\"a\",\"b\"]" }, { "obj", "{}" },
	};

	for (size_t i = 0; i < sizeof(samples) / sizeof(samples[0]); i++)
		if (strlen(samples[i].type) == n &&
		    memcmp(samples[i].type, type, n) == 0)
			return samples[i].value;
	return NULL;
}

/* All parameters of a row as JSON; without the optional ones if asked. */
static void
params_of(const struct request *r, int all, char *out)
{
	const char *s = r->params;
	int first = 1;

	*out++ = '{';
	while (*(s += strspn(s, " ")) != '\0') {
		size_t n = strcspn(s, " "), key = strcspn(s, ":");
		int optional = s[n - 1] == '?';
		const char *v = sample(s + key + 1, n - key - 1 - (size_t)optional);

		if (v == NULL)
			fail_msg("%s: unknown type: %s", r->method, s);
		if (all || !optional) {
			out += sprintf(out, "%s\"%.*s\":%s", first ? "" : ",",
			    (int)key, s, v);
			first = 0;
		}
		s += n;
	}
	strcpy(out, "}");
}

static void
every_row_takes_what_it_names_and_nothing_else(void **state)
{
	char text[2048];
	const struct request *r;
	struct json *j;
	struct err e;

	(void)state;
	for (size_t i = 0; (r = request_at(i)) != NULL; i++) {
		assert_ptr_equal(r, request_find(str_of(r->method)));
		for (int all = 0; all < 2; all++) {
			params_of(r, all, text);
			assert_int_equal(0, json_parse(str_of(text), &j, &e));
			if (request_check(r, j, &e) != 0)
				fail_msg("%s %s: %s", r->method, text, e.msg);
			json_set_int(j, "surplus", 1);
			assert_int_equal(-1, request_check(r, j, &e));
			assert_int_equal(ERR_FORMAT, e.code);
			json_free(j);
		}
		if (strcmp(text, "{}") != 0 && strchr(r->params, ':') != NULL &&
		    strstr(r->params, "?") == NULL)
			assert_int_equal(-1, request_check(r, NULL, &e));
	}
}

int
main(void)
{
#define T(name) cmocka_unit_test_setup_teardown(name, setup, teardown)
	const struct CMUnitTest tests[] = {
		T(rubbish_is_answered_and_hurts_nobody_else),
		T(nothing_is_heard_before_hello),
		T(an_unknown_method_before_hello_is_the_end_too),
		T(every_legal_id_comes_back_as_it_was),
		T(a_notification_is_done_and_not_answered),
		T(a_frame_may_come_byte_by_byte),
		T(many_frames_may_come_at_once),
		T(half_a_frame_may_lie_for_a_while_and_no_longer),
		T(who_never_says_hello_is_shown_out),
		T(two_mebibytes_without_a_newline_are_refused),
		T(the_largest_frame_passes_and_one_byte_more_does_not),
		T(who_does_not_read_is_cut),
		T(unanswered_requests_have_a_limit),
		T(an_answer_to_who_has_left_goes_nowhere),
		T(connections_have_a_limit),
		T(an_error_says_what_why_and_what_to_do),
		T(every_row_takes_what_it_names_and_nothing_else),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
