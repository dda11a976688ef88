/* SPDX-License-Identifier: ISC */
/* What gloved and a runtime hand each other: the policy and the channel. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <cmocka.h>

#include "base/fd.h"
#include "sandbox/channel.h"
#include "sandbox/launch.h"

enum { MAX = 4 << 20 };

static const char *const argv[] = { "sh", "-c", "", "a b", NULL };
static const char *const env[] = { "A=1", "B=", NULL };
static const char *const ro[] = { "/opt/x", NULL };
static const char *const paths[] = { "p", "q/r", NULL };

static struct launch
example(void)
{
	return (struct launch){
		.kind = LAUNCH_RUN, .receipt = "r", .origin = "o",
		.mode = MODE_STAGED, .workspace = "/w", .workspace_dev = 7,
		.workspace_ino = UINT64_MAX, .state = "/s", .undo = "/u",
		.argc = 4, .argv = argv, .envc = 2, .env = env, .cwd = "/w",
		.nro = 1, .ro = ro, .git_name = "N", .attach_path = "/a",
		.terminal = 1, .rows = 24, .cols = 80, .token = { 1, 2, 3 },
		.tied = 1, .ends_real_us = INT64_MAX, .grace_us = 5,
		.manifest = { (const uint8_t *)"m\0n", 3 },
		.npaths = 2, .paths = paths
	};
}

static void
a_policy_comes_back_as_it_was(void **state)
{
	const struct launch l = example();
	AUTO(buf) struct buf b;
	AUTO(buf) struct buf again;
	struct launch got;
	struct err e;

	(void)state;
	buf_init(&b, MAX);
	buf_init(&again, MAX);
	assert_int_equal(launch_encode(&l, &b, &e), 0);
	assert_int_equal(launch_decode(buf_bytes(&b), &got, &e), 0);
	assert_int_equal(got.argc, 4);
	assert_string_equal(got.argv[3], "a b");
	assert_null(got.argv[4]);
	assert_null(got.git_email);
	assert_string_equal(got.paths[1], "q/r");
	assert_int_equal(launch_encode(&got, &again, &e), 0);
	assert_true(bytes_eq(buf_bytes(&b), buf_bytes(&again)));
	launch_done(&got);
}

static void
a_policy_cut_short_or_with_a_tail_is_refused(void **state)
{
	const struct launch l = example();
	AUTO(buf) struct buf b;
	struct launch got;
	struct err e;

	(void)state;
	buf_init(&b, MAX);
	assert_int_equal(launch_encode(&l, &b, &e), 0);
	for (size_t n = 0; n < b.n; n++) {
		/* Its own memory, so that a read past the end is seen. */
		AUTO(mem) uint8_t *cut = malloc(n + 1);

		assert_non_null(cut);
		memcpy(cut, b.p, n);
		assert_int_equal(launch_decode(bytes_of(cut, n), &got, &e), -1);
		assert_int_equal(e.code, ERR_FORMAT);
	}
	buf_put_u8(&b, 0);
	assert_int_equal(launch_decode(buf_bytes(&b), &got, &e), -1);
}

static void
a_policy_without_a_command_is_refused(void **state)
{
	struct launch l = example(), got;
	AUTO(buf) struct buf b;
	struct err e;

	(void)state;
	buf_init(&b, MAX);
	l.argc = 0;
	assert_int_equal(launch_encode(&l, &b, &e), 0);
	assert_int_equal(launch_decode(buf_bytes(&b), &got, &e), -1);
	buf_reset(&b);
	l = example();
	l.mode = MODE_DIRECT;
	assert_int_equal(launch_encode(&l, &b, &e), 0);
	assert_int_equal(launch_decode(buf_bytes(&b), &got, &e), -1);
}

static void
a_message_and_its_descriptor_arrive(void **state)
{
	struct channel_msg m, got;
	AUTO(buf) struct buf b;
	uint8_t nonce[32] = { 9 };
	struct bytes v;
	struct err e;
	uint64_t n;
	int sv[2];

	(void)state;
	buf_init(&b, CHANNEL_MAX);
	assert_int_equal(fd_pair(sv, &e), 0);
	channel_init(&m, MSG_ENDED);
	channel_set_u64(&m, CF_STATUS, 130);
	channel_set(&m, CF_NONCE, BYTES(nonce));
	channel_set(&m, CF_TEXT, bytes_of_str(STR("")));
	m.fd = sv[0];
	assert_int_equal(channel_send(sv[0], &m, &e), 0);
	assert_int_equal(channel_recv(sv[1], &b, &got, &e), 0);
	assert_int_equal(got.type, MSG_ENDED);
	assert_int_equal(channel_u64(&got, CF_STATUS, &n, &e), 0);
	assert_int_equal(n, 130);
	assert_int_equal(channel_get(&got, CF_NONCE, &v, &e), 0);
	assert_memory_equal(v.p, nonce, 32);
	assert_int_equal(channel_get(&got, CF_TEXT, &v, &e), 0);
	assert_int_equal(v.n, 0);
	assert_true(got.fd >= 0);
	assert_int_equal(channel_u64(&got, CF_CAUSE, &n, &e), -1);
	assert_int_equal(e.code, ERR_FORMAT);
	(void)close(got.fd);
	(void)close(sv[0]);
	assert_int_equal(channel_recv(sv[1], &b, &got, &e), -1);
	assert_int_equal(e.code, ERR_PEER);
	(void)close(sv[1]);
}

static void
tags_out_of_order_twice_or_of_a_wrong_size_are_refused(void **state)
{
	static const struct { const char *p; size_t n; } bad[] = {
		{ "", 0 }, { "\0", 1 }, { "\0\0", 2 }, { "\0\xff", 2 },
		{ "\0\3\0\0\0\0\0\0", 8 },		/* tag 0 */
		{ "\0\3\xff\xff\0\0\0\0", 8 },		/* no such tag */
		{ "\0\3\0\x14\0\0\0\0\0\x14\0\0\0\0", 14 },	/* twice */
		{ "\0\3\0\x14\0\0\0\0\0\x02\0\0\0\0", 14 },	/* back */
		{ "\0\3\0\x0a\0\0\0\7aaaaaaa", 15 },	/* a number of 7 */
		{ "\0\3\0\x14\0\0\0\7aaaaaa", 14 },	/* one byte short */
		{ "\0\3\0\x14\xff\xff\xff\xff", 8 },
	};
	struct channel_msg got;
	struct err e;

	(void)state;
	for (size_t i = 0; i < sizeof(bad) / sizeof(bad[0]); i++) {
		assert_int_equal(channel_decode(bytes_of(bad[i].p, bad[i].n),
		    &got, &e), -1);
		assert_int_equal(e.code, ERR_FORMAT);
	}
	assert_int_equal(channel_decode(bytes_of("\0\3", 2), &got, &e), 0);
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_policy_comes_back_as_it_was),
		cmocka_unit_test(a_policy_cut_short_or_with_a_tail_is_refused),
		cmocka_unit_test(a_policy_without_a_command_is_refused),
		cmocka_unit_test(a_message_and_its_descriptor_arrive),
		cmocka_unit_test(
		    tags_out_of_order_twice_or_of_a_wrong_size_are_refused),
	};

	return cmocka_run_group_tests_name("launch", tests, NULL, NULL);
}
