/* SPDX-License-Identifier: ISC */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include "base/sha256.h"
#include "base/text.h"

/* FIPS 180-4 examples and NIST CAVP, SHA256ShortMsg. */
static const struct vector {
	const char	*text;
	size_t		 times;
	const char	*digest;
} vectors[] = {
	{ "", 1,
	  "e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855" },
	{ "abc", 1,
	  "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad" },
	{ "abcdbcdecdefdefgefghfghighijhijkijkljklmklmnlmnomnopnopq", 1,
	  "248d6a61d20638b8e5c026930c3e6039a33ce45964ff2167f6ecedd419db06c1" },
	{ "abcdefghbcdefghicdefghijdefghijkefghijklfghijklmghijklmn"
	  "hijklmnoijklmnopjklmnopqklmnopqrlmnopqrsmnopqrstnopqrstu", 1,
	  "cf5b16a778af8380036ce59e7b0492370b249b11e8f07a51afac45037afee9d1" },
	{ "\xd3", 1,
	  "28969cdfa74a12c82f3bad960b0b000aca2ac329deea5c2328ebc6f2ba9802c1" },
	{ "a", 1000000,
	  "cdc76e5c9914fb9281a1c7e284d73e67f1809a48a497200e046d39ccc7112cd0" },
};

static void
check_vectors(void)
{
	for (size_t i = 0; i < sizeof(vectors) / sizeof(vectors[0]); i++) {
		const struct vector *v = &vectors[i];
		uint8_t out[SHA256_BYTES];
		char hex[2 * SHA256_BYTES + 1];
		struct sha256 s;

		sha256_init(&s);
		for (size_t k = 0; k < v->times; k++)
			sha256_update(&s, v->text, strlen(v->text));
		sha256_final(&s, out);
		assert_string_equal(hex_str(BYTES(out), hex), v->digest);
	}
}

static void
the_published_vectors_come_out(void **state)
{
	(void)state;
	sha256_portable(0);
	check_vectors();
}

static void
the_published_vectors_come_out_of_the_fallback(void **state)
{
	(void)state;
	sha256_portable(1);
	assert_false(sha256_accelerated());
	check_vectors();
	sha256_portable(0);
}

/* Bytes that repeat with no period of a block. */
static void
fill(uint8_t *p, size_t n)
{
	for (size_t i = 0; i < n; i++)
		p[i] = (uint8_t)(i * 167 + i / 251 + 13);
}

static void
the_fast_way_and_the_fallback_agree_at_every_length(void **state)
{
	uint8_t in[301], fast[SHA256_BYTES], slow[SHA256_BYTES];

	(void)state;
	sha256_portable(0);
	if (!sha256_accelerated())
		skip();
	fill(in, sizeof(in));
	for (size_t n = 0; n <= 300; n++) {
		sha256_portable(0);
		sha256_of(bytes_of(in, n), fast);
		sha256_portable(1);
		sha256_of(bytes_of(in, n), slow);
		sha256_portable(0);
		assert_memory_equal(fast, slow, SHA256_BYTES);
	}
}

static void
an_unaligned_start_changes_nothing(void **state)
{
	uint8_t in[256 + 16], want[SHA256_BYTES], got[SHA256_BYTES];

	(void)state;
	for (size_t off = 0; off < 16; off++) {
		fill(in + off, 256);
		sha256_of(bytes_of(in + off, 256), got);
		if (off == 0)
			memcpy(want, got, sizeof(want));
		assert_memory_equal(got, want, sizeof(want));
	}
}

static void
it_does_not_matter_how_the_input_is_cut(void **state)
{
	uint8_t in[200], want[SHA256_BYTES], got[SHA256_BYTES];

	(void)state;
	fill(in, sizeof(in));
	sha256_of(BYTES(in), want);
	for (size_t a = 0; a <= sizeof(in); a++) {
		for (size_t b = a; b <= sizeof(in); b += 7) {
			struct sha256 s;

			sha256_init(&s);
			sha256_update(&s, in, a);
			sha256_update(&s, in + a, b - a);
			sha256_update(&s, in + b, sizeof(in) - b);
			sha256_final(&s, got);
			assert_memory_equal(got, want, sizeof(want));
		}
	}
}

static void
a_digest_is_over_length_prefixed_fields(void **state)
{
	/* u32 1 "L", u32 2 "ab", u32 8 u64 258, u32 0 */
	static const uint8_t bytes[] = {
		0, 0, 0, 1, 'L', 0, 0, 0, 2, 'a', 'b',
		0, 0, 0, 8, 0, 0, 0, 0, 0, 0, 1, 2, 0, 0, 0, 0,
	};
	uint8_t want[SHA256_BYTES], got[SHA256_BYTES];
	struct digest d;

	(void)state;
	sha256_of(BYTES(bytes), want);
	digest_init(&d, "L");
	digest_str(&d, STR("ab"));
	digest_u64(&d, 258);
	digest_bytes(&d, bytes_of(NULL, 0));
	digest_final(&d, got);
	assert_memory_equal(got, want, sizeof(want));
}

static void
moving_a_byte_to_the_next_field_changes_the_digest(void **state)
{
	uint8_t one[SHA256_BYTES], two[SHA256_BYTES];
	struct digest d;

	(void)state;
	digest_init(&d, "L");
	digest_str(&d, STR("ab"));
	digest_str(&d, STR("c"));
	digest_final(&d, one);
	digest_init(&d, "L");
	digest_str(&d, STR("a"));
	digest_str(&d, STR("bc"));
	digest_final(&d, two);
	assert_memory_not_equal(one, two, sizeof(one));
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(the_published_vectors_come_out),
		cmocka_unit_test(
		    the_published_vectors_come_out_of_the_fallback),
		cmocka_unit_test(
		    the_fast_way_and_the_fallback_agree_at_every_length),
		cmocka_unit_test(an_unaligned_start_changes_nothing),
		cmocka_unit_test(it_does_not_matter_how_the_input_is_cut),
		cmocka_unit_test(a_digest_is_over_length_prefixed_fields),
		cmocka_unit_test(
		    moving_a_byte_to_the_next_field_changes_the_digest),
	};

	return cmocka_run_group_tests_name("sha256", tests, NULL, NULL);
}
