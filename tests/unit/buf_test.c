/* SPDX-License-Identifier: ISC */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include "base/buf.h"

static void
integers_are_big_endian_and_come_back(void **state)
{
	static const uint8_t want[] = { 0xfe, 0x01, 0x02, 0xa1, 0xb2, 0xc3,
		0xd4, 0x80, 0, 0, 0, 0, 0, 0, 0x01, 'h', 'i' };
	AUTO(buf) struct buf b;
	struct cur c;
	char hi[2];

	(void)state;
	buf_init(&b, sizeof(want));
	buf_put_u8(&b, 0xfe);
	buf_put_u16(&b, 0x0102);
	buf_put_u32(&b, 0xa1b2c3d4);
	buf_put_u64(&b, 0x8000000000000001);
	buf_put_str(&b, "hi");
	assert_true(bytes_eq(buf_bytes(&b), BYTES(want)));

	c = cur_of(buf_bytes(&b));
	assert_int_equal(cur_u8(&c), 0xfe);
	assert_int_equal(cur_u16(&c), 0x0102);
	assert_int_equal(cur_u32(&c), 0xa1b2c3d4);
	assert_true(cur_u64(&c) == 0x8000000000000001);
	cur_copy(&c, hi, 2);
	assert_memory_equal(hi, "hi", 2);
	assert_int_equal(c.n, 0);
	assert_int_equal(c.failed, 0);
}

static void
the_maximum_holds_and_failure_sticks(void **state)
{
	AUTO(buf) struct buf b;
	struct err e;

	(void)state;
	buf_init(&b, 4);
	buf_put_str(&b, "1234");
	assert_int_equal(buf_ok(&b, "x", &e), 0);
	buf_put_u8(&b, 0);
	buf_put_str(&b, "");
	assert_int_equal(b.n, 4);
	assert_int_equal(buf_ok(&b, "x", &e), -1);
	assert_int_equal(e.code, ERR_TOOBIG);
	assert_null(buf_cstr(&b));
	buf_reset(&b);
	buf_put_str(&b, "ab");
	assert_string_equal(buf_cstr(&b), "ab");
}

static void
a_put_that_does_not_fit_leaves_nothing_of_it(void **state)
{
	AUTO(buf) struct buf b;

	(void)state;
	buf_init(&b, 4);
	buf_put_str(&b, "12");
	buf_putf(&b, "%s", "345");
	assert_int_equal(b.n, 2);
	assert_null(buf_room(&b, 1));
	/* Nor does a size that would wrap around. */
	buf_reset(&b);
	buf_put_str(&b, "12");
	assert_null(buf_room(&b, SIZE_MAX));
	assert_int_equal(b.failed, ERR_TOOBIG);
}

static void
a_formatted_put_may_fill_it_to_the_last_byte(void **state)
{
	AUTO(buf) struct buf b;

	(void)state;
	buf_init(&b, 5);
	buf_putf(&b, "%d", 12345);
	assert_string_equal(buf_cstr(&b), "12345");
	assert_int_equal(b.n, 5);
}

static void
it_grows_and_can_be_dropped_from_the_front(void **state)
{
	AUTO(buf) struct buf b;

	(void)state;
	buf_init(&b, 100000);
	for (int i = 0; i < 20000; i++)
		buf_put_u32(&b, (uint32_t)i);
	assert_int_equal(b.n, 80000);
	buf_drop(&b, 4 * 19999);
	assert_int_equal(b.n, 4);
	assert_int_equal(b.p[2], 19999 >> 8);
	buf_drop(&b, 1000);
	assert_int_equal(b.n, 0);
	buf_done(&b);
	buf_done(&b);
}

static void
reading_past_the_end_gives_zeros_and_is_remembered(void **state)
{
	static const uint8_t in[] = { 1, 2, 3 };
	uint8_t out[2] = { 9, 9 };
	struct cur c = cur_of(BYTES(in));

	(void)state;
	assert_int_equal(cur_u16(&c), 0x0102);
	assert_int_equal(cur_u16(&c), 0);
	assert_int_equal(c.failed, 1);
	/* Also what would still have been there. */
	assert_int_equal(cur_u8(&c), 0);
	cur_copy(&c, out, sizeof(out));
	assert_int_equal(out[0] | out[1], 0);
	assert_int_equal(cur_take(&c, 0).n, 0);
	assert_int_equal(c.failed, 1);
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(integers_are_big_endian_and_come_back),
		cmocka_unit_test(the_maximum_holds_and_failure_sticks),
		cmocka_unit_test(a_put_that_does_not_fit_leaves_nothing_of_it),
		cmocka_unit_test(a_formatted_put_may_fill_it_to_the_last_byte),
		cmocka_unit_test(it_grows_and_can_be_dropped_from_the_front),
		cmocka_unit_test(
		    reading_past_the_end_gives_zeros_and_is_remembered),
	};

	return cmocka_run_group_tests_name("buf", tests, NULL, NULL);
}
