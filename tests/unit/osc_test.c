/* SPDX-License-Identifier: ISC */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "sandbox/osc.h"

#define ST "\033\\"
#define PAYLOAD "52;c;aGVsbG8="

/* Through the filter in pieces of ${size}. */
static void
filter(const char *in, size_t n, size_t size, struct buf *out)
{
	struct osc o = { .state = OSC_TEXT };

	buf_reset(out);
	for (size_t i = 0; i < n; i += size)
		osc_filter(&o, bytes_of(in + i, n - i < size ? n - i : size),
		    out);
	buf_put_u8(out, 0);
}

static const struct {
	const char	*in, *want;
} cases[] = {
	{ "a\033]" PAYLOAD "\007b", "a" ST "b" },
	{ "a\033]" PAYLOAD "\033\\b", "a" ST "b" },
	{ "a\033]" PAYLOAD "\xc2\x9c" "b", "a" ST "b" },
	{ "a\xc2\x9d" PAYLOAD "\007b", "a" ST "b" },
	{ "a\033]" PAYLOAD "\030b", "a" ST "b" },
	{ "\033]052;c;?\007x", ST "x" },
	{ "\033]00000000000000000000000000052;c;?\007x", ST "x" },
	{ "\033]52\007x", ST "x" },
	{ "\033Ptmux;\033\033]" PAYLOAD "\007\033\\x", "\033Ptmux;\033" ST "\033\\x" },
	{ "\033P\033]" PAYLOAD "\007\033\\x", "\033P" ST "\033\\x" },
	{ "a\033]" PAYLOAD, "a" ST },
	/* what is left and right of one must not make another */
	{ "\033]\033]52;c\03252;c;?\007", "\033]" ST "52;c;?\007" },
	{ "\033]5\033]52;c\0322;c;?\007", "\033]5" ST "2;c;?\007" },
	/* what must come through as it is */
	{ "", "" },
	{ "plain \xc3\xa9 \xc2\xa9 text\r\n", "plain \xc3\xa9 \xc2\xa9 text\r\n" },
	{ "\033[31mred\033[0m", "\033[31mred\033[0m" },
	{ "\033]0;title\007x", "\033]0;title\007x" },
	{ "\033];no number\007", "\033];no number\007" },
	{ "\033]8;;http://x\033\\link\033]8;;\033\\", "\033]8;;http://x\033\\link\033]8;;\033\\" },
	{ "\033]520;x\007", "\033]520;x\007" },
	{ "\033]5;2\007", "\033]5;2\007" },
	{ "\033\033[A", "\033\033[A" },
};

static void
the_clipboard_is_out_of_reach_however_it_is_cut(void **state)
{
	AUTO(buf) struct buf out;

	(void)state;
	buf_init(&out, 4096);
	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++)
		for (size_t size = 1; size < 40; size++) {
			filter(cases[i].in, strlen(cases[i].in), size, &out);
			assert_string_equal((const char *)out.p,
			    cases[i].want);
		}
}

static void
rubbish_is_never_longer_than_it_was(void **state)
{
	static const char alphabet[] = "\033]52;0\007\\\xc2\x9d\x9c" "aP";
	AUTO(buf) struct buf out;
	char in[300];
	unsigned seed = 1;

	(void)state;
	buf_init(&out, 4096);
	for (int n = 0; n < 2000; n++) {
		for (size_t i = 0; i < sizeof(in); i++) {
			seed = seed * 1103515245 + 12345;
			in[i] = alphabet[(seed >> 16) % (sizeof(alphabet) - 1)];
		}
		filter(in, sizeof(in), 1 + (seed >> 8) % 50, &out);
		assert_true(out.n <= sizeof(in) + 1);
		assert_null(strstr((const char *)out.p, "\033]52;"));
	}
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(the_clipboard_is_out_of_reach_however_it_is_cut),
		cmocka_unit_test(rubbish_is_never_longer_than_it_was),
	};

	return cmocka_run_group_tests_name("osc", tests, NULL, NULL);
}
