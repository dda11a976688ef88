/* SPDX-License-Identifier: ISC */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

#include <cmocka.h>

#include "base/text.h"

#define COUNT(a) (sizeof(a) / sizeof((a)[0]))

static void
hex_comes_back_as_it_went(void **state)
{
	uint8_t all[256], back[256];
	char text[2 * sizeof(all) + 1];
	AUTO(buf) struct buf b;
	struct err e;

	(void)state;
	for (size_t i = 0; i < sizeof(all); i++)
		all[i] = (uint8_t)i;
	buf_init(&b, 1000);
	hex_put(&b, BYTES(all));
	assert_string_equal(buf_cstr(&b), hex_str(BYTES(all), text));
	assert_int_equal(hex_get(str_of(text), back, sizeof(back), &e), 0);
	assert_memory_equal(all, back, sizeof(all));
}

static void
only_one_hex_text_is_taken_for_given_bytes(void **state)
{
	const struct str bad[] = { STR(""), STR("0"), STR("000"),
		STR("00000"), STR("0A0b"), STR("0x12"), STR(" 012"),
		STR("00\0" "0"), STR("00g0"), STR("000`") };
	uint8_t out[2] = { 7, 7 };
	struct err e;

	(void)state;
	for (size_t i = 0; i < COUNT(bad); i++) {
		assert_int_equal(hex_get(bad[i], out, 2, &e), -1);
		assert_int_equal(e.code, ERR_FORMAT);
		assert_int_equal(out[0], 7);
	}
	assert_int_equal(hex_get(STR("0a0b"), out, 2, &e), 0);
	assert_int_equal(out[1], 0x0b);
}

static void
base64_gives_the_vectors_of_rfc_4648(void **state)
{
	static const char *const v[][2] = {
		{ "", "" }, { "f", "Zg==" }, { "fo", "Zm8=" },
		{ "foo", "Zm9v" }, { "foob", "Zm9vYg==" },
		{ "fooba", "Zm9vYmE=" }, { "foobar", "Zm9vYmFy" },
		{ "\xff\xef\xbe", "/+++" },
	};
	struct err e;

	(void)state;
	for (size_t i = 0; i < COUNT(v); i++) {
		AUTO(buf) struct buf b;

		buf_init(&b, 100);
		base64_put(&b, bytes_of_str(str_of(v[i][0])));
		assert_string_equal(buf_cstr(&b), v[i][1]);
		buf_reset(&b);
		assert_int_equal(base64_get(str_of(v[i][1]), &b, &e), 0);
		assert_string_equal(buf_cstr(&b), v[i][0]);
	}
}

static void
base64_comes_back_at_every_length(void **state)
{
	uint8_t in[70];
	struct err e;

	(void)state;
	for (size_t n = 0; n <= sizeof(in); n++) {
		AUTO(buf) struct buf text;
		AUTO(buf) struct buf back;

		for (size_t i = 0; i < n; i++)
			in[i] = (uint8_t)(i * 37 + n * 101);
		buf_init(&text, 200);
		buf_init(&back, 200);
		base64_put(&text, bytes_of(in, n));
		assert_int_equal(base64_get((struct str){
		    (const char *)text.p, text.n }, &back, &e), 0);
		assert_true(bytes_eq(buf_bytes(&back), bytes_of(in, n)));
	}
}

static void
only_one_base64_text_is_taken_for_given_bytes(void **state)
{
	const struct str bad[] = {
		STR("Z"), STR("Zg"), STR("Zg="), STR("Zm9"), STR("Zg==="),
		STR("===="), STR("Z==="), STR("Zg=a"), STR("=Zg="),
		STR("Zg==Zg=="),	/* padding within */
		STR("Zh=="), STR("Zm9="),	/* bits that fall away */
		STR("Zm9v\n"), STR("Zm\n9"), STR(" Zm9"), STR("Zm-_"),
		STR("Zm9\0"), STR("Zm9v===="),
	};
	AUTO(buf) struct buf b;
	struct err e;

	(void)state;
	buf_init(&b, 100);
	buf_put_str(&b, "kept");
	for (size_t i = 0; i < COUNT(bad); i++) {
		if (base64_get(bad[i], &b, &e) == 0)
			fail_msg("taken: %.*s", (int)bad[i].n, bad[i].p);
		assert_int_equal(e.code, ERR_FORMAT);
		assert_string_equal(buf_cstr(&b), "kept");
	}
}

static void
base64_stops_at_the_room_there_is(void **state)
{
	AUTO(buf) struct buf b;
	struct err e;

	(void)state;
	buf_init(&b, 2);
	assert_int_equal(base64_get(STR("Zm9v"), &b, &e), -1);
	assert_int_equal(e.code, ERR_TOOBIG);
}

static void
hostile_text_comes_out_harmless(void **state)
{
	const struct {
		struct str	 in;
		const char	*out;
	} t[] = {
		{ STR(""), "" },
		{ STR("plain text ~"), "plain text ~" },
		{ STR("a\\b"), "a\\\\b" },
		{ STR("\x1b]52;c;aGk=\x07"), "\\x1b]52;c;aGk=\\x07" },
		{ STR("\x1b[2J\x1b[H"), "\\x1b[2J\\x1b[H" },
		{ STR("a\nb\rc\td\0e"), "a\\x0ab\\x0dc\\x09d\\x00e" },
		{ STR("\x7f\x08"), "\\x7f\\x08" },
		/* C1: the one-byte CSI as UTF-8, and raw */
		{ STR("\xc2\x9b" "2J"), "\\u{009B}2J" },
		{ STR("\x9b" "2J"), "\\x9b2J" },
		{ STR("\xc2\x80\xc2\x9f"), "\\u{0080}\\u{009F}" },
		/* bidi: override, isolate, marks, Arabic letter mark */
		{ STR("a\xe2\x80\xae" "txt.exe"), "a\\u{202E}txt.exe" },
		{ STR("\xe2\x81\xa6\xe2\x81\xa9"), "\\u{2066}\\u{2069}" },
		{ STR("\xe2\x80\x8e\xe2\x80\x8f\xd8\x9c"),
		  "\\u{200E}\\u{200F}\\u{061C}" },
		/* zero width: space, non-joiner, joiner, word joiner, BOM */
		{ STR("a\xe2\x80\x8b" "b"), "a\\u{200B}b" },
		{ STR("\xe2\x80\x8c\xe2\x80\x8d"), "\\u{200C}\\u{200D}" },
		{ STR("\xe2\x81\xa0\xef\xbb\xbf"), "\\u{2060}\\u{FEFF}" },
		{ STR("\xc2\xad"), "\\u{00AD}" },
		/* line and paragraph separators, tags, variation selectors */
		{ STR("\xe2\x80\xa8\xe2\x80\xa9"), "\\u{2028}\\u{2029}" },
		{ STR("\xf3\xa0\x81\x81"), "\\u{E0041}" },
		{ STR("\xef\xb8\x8f"), "\\u{FE0F}" },
		{ STR("\xe3\x85\xa4"), "\\u{3164}" },
		/* malformed: alone, cut, overlong, surrogate, beyond */
		{ STR("\x80\xff\xfe"), "\\x80\\xff\\xfe" },
		{ STR("\xe2\x82"), "\\xe2\\x82" },
		{ STR("\xe2\x82z"), "\\xe2\\x82z" },
		{ STR("\xc0\xaf\xc1\xbf"), "\\xc0\\xaf\\xc1\\xbf" },
		{ STR("\xe0\x9b\x9b"), "\\xe0\\x9b\\x9b" },
		{ STR("\xed\xa0\x80"), "\\xed\\xa0\\x80" },
		{ STR("\xf4\x90\x80\x80"), "\\xf4\\x90\\x80\\x80" },
		{ STR("\xf8\x88\x80\x80\x80"), "\\xf8\\x88\\x80\\x80\\x80" },
		/* what people write stays */
		{ STR("Gr\xc3\xbc\xc3\x9f" "e"), "Gr\xc3\xbc\xc3\x9f" "e" },
		{ STR("\xd7\xa9\xd7\x9c"), "\xd7\xa9\xd7\x9c" },
		{ STR("\xe6\x97\xa5\xe6\x9c\xac"), "\xe6\x97\xa5\xe6\x9c\xac" },
		{ STR("\xf0\x9f\xa7\xa4"), "\xf0\x9f\xa7\xa4" },
	};

	(void)state;
	for (size_t i = 0; i < COUNT(t); i++) {
		AUTO(buf) struct buf b;

		buf_init(&b, 200);
		escape_put(&b, t[i].in, 200);
		assert_string_equal(buf_cstr(&b), t[i].out);
	}
}

static void
every_byte_alone_comes_out_printable(void **state)
{
	(void)state;
	for (unsigned c = 0; c < 256; c++) {
		uint8_t byte = (uint8_t)c;
		AUTO(buf) struct buf b;

		buf_init(&b, 10);
		escape_put(&b, (struct str){ (const char *)&byte, 1 }, 10);
		assert_true(b.n > 0);
		for (size_t i = 0; i < b.n; i++)
			assert_in_range(b.p[i], 0x20, 0x7e);
	}
}

/* ${cp} as UTF-8, by another way than the decoder's. */
static size_t
encode(uint32_t cp, char *p)
{
	if (cp < 0x80) {
		p[0] = (char)cp;
		return 1;
	}
	if (cp < 0x800) {
		p[0] = (char)(0xc0 + cp / 64);
		p[1] = (char)(0x80 + cp % 64);
		return 2;
	}
	if (cp < 0x10000) {
		p[0] = (char)(0xe0 + cp / 4096);
		p[1] = (char)(0x80 + cp / 64 % 64);
		p[2] = (char)(0x80 + cp % 64);
		return 3;
	}
	p[0] = (char)(0xf0 + cp / 262144);
	p[1] = (char)(0x80 + cp / 4096 % 64);
	p[2] = (char)(0x80 + cp / 64 % 64);
	p[3] = (char)(0x80 + cp % 64);
	return 4;
}

static void
every_character_is_decoded_and_every_surrogate_refused(void **state)
{
	char p[4];

	(void)state;
	for (uint32_t cp = 0; cp <= 0x110010; cp++) {
		size_t n = encode(cp, p);
		struct str s = { p, n };
		uint32_t got = 0xffffffff;
		int good = cp <= 0x10ffff && (cp < 0xd800 || cp > 0xdfff);

		if (utf8_next(s, &got) != (good ? n : 0) ||
		    got != (good ? cp : 0xffffffff) ||
		    utf8_valid(s) != (good && cp != 0))
			fail_msg("U+%04X", cp);
		s.n--;
		if (utf8_next(s, &got) != 0)
			fail_msg("U+%04X, cut", cp);
	}
}

static void
escaped_text_is_cut_at_a_whole_character(void **state)
{
	const struct {
		struct str	 in;
		size_t		 max;
		const char	*out;
	} t[] = {
		{ STR("abcdef"), 6, "abcdef" },
		{ STR("abcdefg"), 6, "abc..." },
		{ STR("\x1b\x1b"), 8, "\\x1b\\x1b" },
		{ STR("\x1b\x1b"), 7, "\\x1b..." },
		{ STR("\x1b\x1b"), 6, "..." },
		{ STR("ab\xc3\xa4xy"), 6, "ab\xc3\xa4xy" },
		{ STR("ab\xc3\xa4xyz"), 6, "ab..." },
		{ STR("abcd"), 3, "..." },
		{ STR("abcd"), 2, ".." },
		{ STR("abcd"), 0, "" },
		{ STR("ab"), 2, "ab" },
	};

	(void)state;
	for (size_t i = 0; i < COUNT(t); i++) {
		AUTO(buf) struct buf b;

		buf_init(&b, 200);
		buf_put_str(&b, "<");
		escape_put(&b, t[i].in, t[i].max);
		assert_string_equal(buf_cstr(&b) + 1, t[i].out);
		assert_int_equal(b.p[0], '<');
	}
}

static void
a_full_buffer_stays_failed(void **state)
{
	AUTO(buf) struct buf b;

	(void)state;
	buf_init(&b, 4);
	escape_put(&b, STR("abcdefgh"), 6);
	assert_int_equal(b.failed, ERR_TOOBIG);
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(hex_comes_back_as_it_went),
		cmocka_unit_test(only_one_hex_text_is_taken_for_given_bytes),
		cmocka_unit_test(base64_gives_the_vectors_of_rfc_4648),
		cmocka_unit_test(base64_comes_back_at_every_length),
		cmocka_unit_test(only_one_base64_text_is_taken_for_given_bytes),
		cmocka_unit_test(base64_stops_at_the_room_there_is),
		cmocka_unit_test(hostile_text_comes_out_harmless),
		cmocka_unit_test(every_byte_alone_comes_out_printable),
		cmocka_unit_test(
		    every_character_is_decoded_and_every_surrogate_refused),
		cmocka_unit_test(escaped_text_is_cut_at_a_whole_character),
		cmocka_unit_test(a_full_buffer_stays_failed),
	};

	return cmocka_run_group_tests_name("text", tests, NULL, NULL);
}
