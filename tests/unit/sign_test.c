/* SPDX-License-Identifier: ISC */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>
#include <sodium.h>

#include "base/text.h"
#include "journal/sign.h"

/* ---- the example of golang.org/x/mod/sumdb/note ------------------------- */

static const char peter_key[] =
    "PeterNeumann+c74f20a3+ARpc2QcUPDhMQegwxbzhKqiBfsVkmqq/LDE4izWy10TW";
static const char peter_secret[] =
    "AYEKFALVFGyNhPJEMzD1QIDr+Y7hfZx09iUvxdXHKDFz";
static const char peter_sig[] = "\xe2\x80\x94 PeterNeumann x08go/ZJkuBS9UG/Sffc"
    "vIAQxVBtiFupLLr8pAcElZInNIuGUgYN1FFYC2pZSNXgKvqfqdngotpRZb6KE6RyyBwJnAM=\n";
static const char enoch_key[] =
    "EnochRoot+af0cfe78+ATtqJ7zOtqQtYqOo0CpvDXNlMhV3HeJDpjrASKGLWdop";
static const char enoch_sig[] = "\xe2\x80\x94 EnochRoot rwz+eBzmZa0SO3NbfRGzPCpD"
    "ckykFXSdeX+MNtCOXm2/5n2tiOHp+vAF1aGrQ5ovTG01oOTGwnWLox33WWd1RvMc+QQ=\n";
static const char text[] =
    "If you think cryptography is the answer to your problem,\n"
    "then you don't know what your problem is.\n";

struct who {
	char	name[ORIGIN_MAX];
	uint8_t	pub[PUB_BYTES];
};

static struct who
who(const char *key)
{
	struct who w;
	struct err e;

	assert_int_equal(0, note_verifier_parse(str_of(key), w.name, w.pub, &e));
	return w;
}

static int
check(const char *msg, const char *sigs, const struct who *w)
{
	struct err e;

	if (note_check(str_of(msg), str_of(sigs), w->name, w->pub, &e) == 0)
		return 0;
	return e.code;
}

static void
the_example_note_is_made_byte_for_byte(void **state)
{
	struct who peter = who(peter_key);
	AUTO(buf) struct buf b, seed;
	uint8_t pub[PUB_BYTES], sec[SEC_BYTES], sig[SIG_BYTES];
	struct err e;

	(void)state;
	buf_init(&b, 1000);
	buf_init(&seed, 33);
	assert_int_equal(0, base64_get(str_of(peter_secret), &seed, &e));
	(void)crypto_sign_seed_keypair(pub, sec, seed.p + 1);
	assert_memory_equal(peter.pub, pub, sizeof(pub));
	note_sign(str_of(text), sec, sig);
	note_sig_put(&b, peter.name, pub, sig);
	assert_string_equal(peter_sig, buf_cstr(&b));
	buf_reset(&b);
	note_verifier_put(&b, "PeterNeumann", pub);
	assert_string_equal(peter_key, buf_cstr(&b));
	assert_int_equal(0xc74f20a3, note_key_id("PeterNeumann", pub));
	assert_int_equal(0, note_sig_check(str_of(text), sig, pub, &e));
	sig[0] ^= 1;
	assert_int_equal(-1, note_sig_check(str_of(text), sig, pub, &e));
	assert_int_equal(ERR_SIGNATURE, e.code);
}

static void
each_signer_of_a_note_is_found(void **state)
{
	struct who peter = who(peter_key), enoch = who(enoch_key);
	char both[400];

	(void)state;
	(void)snprintf(both, sizeof(both), "%s%s", peter_sig, enoch_sig);
	assert_int_equal(0, check(text, peter_sig, &peter));
	assert_int_equal(0, check(text, both, &peter));
	assert_int_equal(0, check(text, both, &enoch));
	assert_int_equal(ERR_SIGNATURE, check(text, peter_sig, &enoch));
	assert_int_equal(ERR_SIGNATURE, check(text, "", &peter));
	(void)strcpy(enoch.name, peter.name);
	assert_int_equal(ERR_SIGNATURE, check(text, both, &enoch));
}

static void
a_changed_byte_of_a_note_is_refused(void **state)
{
	struct who peter = who(peter_key);
	char t[sizeof(text)], s[sizeof(peter_sig)];

	(void)state;
	memcpy(t, text, sizeof(t));
	memcpy(s, peter_sig, sizeof(s));
	for (size_t i = 0; i < sizeof(t) - 1; i++) {
		t[i] ^= 4;
		assert_int_equal(ERR_SIGNATURE, check(t, s, &peter));
		t[i] ^= 4;
	}
	for (size_t i = 0; i < sizeof(s) - 1; i++) {
		s[i] ^= 4;
		assert_int_not_equal(0, check(t, s, &peter));
		s[i] ^= 4;
	}
	for (size_t n = 1; n < sizeof(s) - 1; n++) {
		s[n] = '\0';
		assert_int_equal(ERR_FORMAT, check(t, s, &peter));
		s[n] = peter_sig[n];
	}
}

static void
a_line_that_is_no_signature_is_refused(void **state)
{
	static const char *const lines[] = {
		"\n", "x\n", "\xe2\x80\x94 \n", "\xe2\x80\x94 a\n",
		"\xe2\x80\x94 a \n", "\xe2\x80\x94  AAAAAAA=\n",
		"\xe2\x80\x94 a+b AAAAAAA=\n", "\xe2\x80\x94 a AAAA\n",
		"\xe2\x80\x94 a AAAAAA==\n", "\xe2\x80\x94 a AAAAAAA= \n",
		"\xe2\x80\x94 a b AAAAAAA=\n", "- a AAAAAAA=\n",
		"\xe2\x80\x94\xc2\xa0 AAAAAAA=\n", "\xe2\x80\x94 \xff AAAAAAA=\n",
		" \xe2\x80\x94 a AAAAAAA=\n", "\xe2\x80\x94 a AAAAAAA=\r\n",
		"\xe2\x80\x94 a\x7f AAAAAAA=\n", "\xe2\x80\x94 a\tb AAAAAAA=\n",
	};
	struct who peter = who(peter_key);
	char s[300];

	(void)state;
	(void)snprintf(s, sizeof(s), "%s\xe2\x80\x94 a AAAAAAA=\n", peter_sig);
	assert_int_equal(0, check(text, s, &peter));
	for (size_t i = 0; i < sizeof(lines) / sizeof(lines[0]); i++) {
		(void)snprintf(s, sizeof(s), "%s%s", peter_sig, lines[i]);
		assert_int_equal(ERR_FORMAT, check(text, s, &peter));
	}
}

static void
every_line_of_a_key_must_be_right(void **state)
{
	struct who peter = who(peter_key);
	static const uint8_t short_sig[8] = { 0xc7, 0x4f, 0x20, 0xa3, 1 };
	AUTO(buf) struct buf b;
	uint8_t sig[SIG_BYTES] = { 1 };

	(void)state;
	buf_init(&b, 20000);
	buf_put_str(&b, peter_sig);
	buf_put_str(&b, peter_sig);
	assert_int_equal(0, check(text, buf_cstr(&b), &peter));
	note_sig_put(&b, peter.name, peter.pub, sig);
	assert_int_equal(ERR_SIGNATURE, check(text, buf_cstr(&b), &peter));
	buf_reset(&b);
	buf_put_str(&b, peter_sig);
	buf_putf(&b, "\xe2\x80\x94 PeterNeumann ");
	base64_put(&b, BYTES(short_sig));
	buf_put_str(&b, "\n");
	assert_int_equal(ERR_SIGNATURE, check(text, buf_cstr(&b), &peter));
}

static void
sixteen_signatures_are_read_and_a_flood_is_not(void **state)
{
	struct who peter = who(peter_key);
	AUTO(buf) struct buf b;

	(void)state;
	buf_init(&b, 20000);
	for (int i = 0; i < 63; i++)
		buf_put_str(&b, enoch_sig);
	buf_put_str(&b, peter_sig);
	assert_int_equal(0, check(text, buf_cstr(&b), &peter));
	buf_put_str(&b, enoch_sig);
	assert_int_equal(ERR_TOOBIG, check(text, buf_cstr(&b), &peter));
}

static void
a_public_key_that_is_not_one_is_refused(void **state)
{
	static const char *const keys[] = { "", "+", "++", "PeterNeumann",
		"PeterNeumann+c74f20a3", "PeterNeumann+c74f20a3+",
		"+c74f20a3+ARpc2QcUPDhMQegwxbzhKqiBfsVkmqq/LDE4izWy10TW",
		"PeterNeumann+c74f20a4+ARpc2QcUPDhMQegwxbzhKqiBfsVkmqq/LDE4izWy10TW",
		"PeterNeumann+C74F20A3+ARpc2QcUPDhMQegwxbzhKqiBfsVkmqq/LDE4izWy10TW",
		"PeterNeumann+c74f20a3+Ahpc2QcUPDhMQegwxbzhKqiBfsVkmqq/LDE4izWy10TW",
		"PeterNeumann+c74f20a3+ARpc2QcUPDhMQegwxbzhKqiBfsVkmqq/LDE4izWy10TWAAAA",
		"PeterNeumanm+c74f20a3+ARpc2QcUPDhMQegwxbzhKqiBfsVkmqq/LDE4izWy10TW",
		"Peter Neumann+c74f20a3+ARpc2QcUPDhMQegwxbzhKqiBfsVkmqq/LDE4izWy10TW",
		"PeterNeumann+c74f20a3+ARpc2QcUPDhMQegwxbzhKqiBfsVkmqq/LDE4izWy10TW\n" };
	struct who peter = who(peter_key), w;
	char name[ORIGIN_MAX + 1] = "";
	AUTO(buf) struct buf b;
	struct err e;

	(void)state;
	/* 63 characters are a name, 64 are not. */
	buf_init(&b, 200);
	memset(name, 'a', ORIGIN_MAX);
	note_verifier_put(&b, name + 1, peter.pub);
	assert_int_equal(0, note_verifier_parse(str_of(buf_cstr(&b)), w.name,
	    w.pub, &e));
	buf_reset(&b);
	note_verifier_put(&b, name, peter.pub);
	assert_int_equal(-1, note_verifier_parse(str_of(buf_cstr(&b)), w.name,
	    w.pub, &e));
	for (size_t i = 0; i < sizeof(keys) / sizeof(keys[0]); i++) {
		assert_int_equal(-1, note_verifier_parse(str_of(keys[i]),
		    w.name, w.pub, &e));
		assert_int_equal(ERR_FORMAT, e.code);
	}
}

/* ---- checkpoints -------------------------------------------------------- */

/* The example of C2SP tlog-checkpoint. */
#define ORIGIN "example.com/behind-the-sofa"
#define ROOT "CsUYapGGPo4dkMgIAUqom/Xajj7h2fB2MPA3j2jxq2I="
#define LINE "\xe2\x80\x94 example.com/behind-the-sofa Az3grlgtzPICa5OS8npVmf1M" \
    "yq/5IZniMp+ZJurmRDeOoRDe4URYN7u5/Zhcyv2q1gGzGku9nTo+zyWE+xeMcTOAYQ8=\n"

static void
the_example_checkpoint_is_read_and_written(void **state)
{
	const char body[] = ORIGIN "\n20852163\n" ROOT "\n";
	const char note[] = ORIGIN "\n20852163\n" ROOT "\n\n" LINE;
	AUTO(buf) struct buf b;
	struct checkpoint c;
	struct str t, rest;
	struct err e;

	(void)state;
	buf_init(&b, 1000);
	assert_int_equal(0, checkpoint_parse(STR(note), &c, &t, &rest, &e));
	assert_string_equal(ORIGIN, c.origin);
	assert_int_equal(20852163, c.size);
	assert_int_equal(0x0a, c.root.b[0]);
	assert_int_equal(0x62, c.root.b[31]);
	assert_true(str_eq(STR(body), t));
	assert_true(str_eq(STR(LINE), rest));
	checkpoint_text(&c, &b);
	assert_string_equal(body, buf_cstr(&b));
}

static void
a_checkpoint_that_is_not_one_is_refused(void **state)
{
	static const char *const notes[] = { "", "\n", "\n\n\n\n",
		ORIGIN "\n1\n" ROOT "\n", ORIGIN "\n1\n\n" LINE,
		"\n1\n" ROOT "\n\n" LINE, "a b\n1\n" ROOT "\n\n" LINE,
		"a+b\n1\n" ROOT "\n\n" LINE, "a\tb\n1\n" ROOT "\n\n" LINE,
		"a\xff\n1\n" ROOT "\n\n" LINE, ORIGIN "\n01\n" ROOT "\n\n" LINE,
		ORIGIN "\n-1\n" ROOT "\n\n" LINE, ORIGIN "\n+1\n" ROOT "\n\n" LINE,
		ORIGIN "\n\n" ROOT "\n\n" LINE, ORIGIN "\n 1\n" ROOT "\n\n" LINE,
		ORIGIN "\n0x1\n" ROOT "\n\n" LINE, ORIGIN "\n1\r\n" ROOT "\n\n" LINE,
		ORIGIN "\n99999999999999999999\n" ROOT "\n\n" LINE,
		ORIGIN "\n9223372036854775808\n" ROOT "\n\n" LINE,
		ORIGIN "\n1\nAAAA\n\n" LINE, ORIGIN "\n1\n" ROOT "A\n\n" LINE,
		ORIGIN "\n1\n" ROOT " \n\n" LINE, ORIGIN "\n1\n\n\n" LINE,
		ORIGIN "\n1\n" ROOT "\nextension\n\n" LINE,
		"a234567890123456789012345678901234567890123456789012345678901234"
		"\n1\n" ROOT "\n\n" LINE };
	struct checkpoint c;
	struct str t, rest;
	struct err e;

	(void)state;
	for (size_t i = 0; i < sizeof(notes) / sizeof(notes[0]); i++) {
		if (checkpoint_parse(str_of(notes[i]), &c, &t, &rest, &e) == 0)
			fail_msg("accepted: %s", notes[i]);
		assert_int_equal(ERR_FORMAT, e.code);
	}
	assert_int_equal(0, checkpoint_parse(STR(ORIGIN
	    "\n9223372036854775807\n" ROOT "\n\n"), &c, &t, &rest, &e));
	assert_int_equal(INT64_MAX, c.size);
	assert_int_equal(0, checkpoint_parse(STR(ORIGIN "\n0\n" ROOT "\n\n"), &c,
	    &t, &rest, &e));
	assert_int_equal(0, c.size);
}

/* ---- other signatures --------------------------------------------------- */

static void
a_signature_is_for_one_label_and_one_message(void **state)
{
	static const uint8_t msg[] = "a message";
	static uint8_t big[RECORD_MAX + 1];
	uint8_t pub[PUB_BYTES], sec[SEC_BYTES], sig[SIG_BYTES], m[sizeof(msg)];
	struct err e;

	(void)state;
	(void)crypto_sign_keypair(pub, sec);
	sig_make(LABEL_GENESIS, BYTES(msg), sec, sig);
	assert_int_equal(0, sig_check(LABEL_GENESIS, BYTES(msg), sig, pub, &e));
	assert_int_equal(-1, sig_check(LABEL_LOG_KEY, BYTES(msg), sig, pub, &e));
	assert_int_equal(ERR_SIGNATURE, e.code);
	assert_int_equal(-1, sig_check(LABEL_GENESIS, bytes_of(msg, 3), sig, pub,
	    &e));
	for (size_t i = 0; i < SIG_BYTES; i++) {
		sig[i] ^= 0x10;
		assert_int_equal(-1, sig_check(LABEL_GENESIS, BYTES(msg), sig,
		    pub, &e));
		sig[i] ^= 0x10;
	}
	for (size_t i = 0; i < sizeof(m); i++) {
		memcpy(m, msg, sizeof(m));
		m[i] ^= 1;
		assert_int_equal(-1, sig_check(LABEL_GENESIS, BYTES(m), sig, pub,
		    &e));
	}
	/* It is not a signature of the bytes alone, as that of a note is. */
	assert_int_equal(-1, note_sig_check((struct str){ (const char *)msg,
	    sizeof(msg) }, sig, pub, &e));
	sig_make("a", bytes_of("b", 1), sec, sig);
	assert_int_equal(-1, sig_check("ab", bytes_of("", 0), sig, pub, &e));
	sig_make(LABEL_GENESIS, bytes_of(big, RECORD_MAX), sec, sig);
	assert_int_equal(0, sig_check(LABEL_GENESIS, bytes_of(big, RECORD_MAX),
	    sig, pub, &e));
	assert_int_equal(-1, sig_check(LABEL_GENESIS, BYTES(big), sig, pub, &e));
	assert_int_equal(ERR_TOOBIG, e.code);
	assert_int_equal(-1, sig_check("a label of more than thirty-one bytes",
	    BYTES(msg), sig, pub, &e));
	assert_int_equal(ERR_TOOBIG, e.code);
}

static void
the_zero_key_signs_nothing(void **state)
{
	static const uint8_t pub[PUB_BYTES], sig[SIG_BYTES];
	struct err e;

	(void)state;
	assert_int_equal(-1, sig_check(LABEL_GENESIS, bytes_of("x", 1), sig, pub,
	    &e));
	assert_int_equal(-1, note_sig_check(STR("x\n"), sig, pub, &e));
}

/* Made by Python's hashlib. */
static void
the_mac_is_that_of_another_program(void **state)
{
	const struct str t = STR("glove/00/0\n1\nxx\n");
	uint8_t key[32], sig[SIG_BYTES], mac[MAC_BYTES];
	char hex[65];

	(void)state;
	for (uint8_t i = 0; i < 32; i++)
		key[i] = i;
	memset(sig, 0xab, sizeof(sig));
	commit_mac(key, t, sig, mac);
	assert_string_equal("cced8722ff2c6468cc42afb2f0ccc9a1e80779cf7eca814a"
	    "5ef66a1e8bf924d3", hex_str(BYTES(mac), hex));
	mac_evolve(key);
	assert_string_equal("f3ad9f3a966922b922a4cf07170ea0b383b4b71ec9f74f21"
	    "ea091b1afc982d1d", hex_str(BYTES(key), hex));
}

/* ---- names -------------------------------------------------------------- */

static void
names_carry_the_install_id(void **state)
{
	uint8_t pub[PUB_BYTES], salt[32], id[16], back[16];
	char name[ORIGIN_MAX], hex[33];
	struct err e;

	(void)state;
	memset(pub, 7, sizeof(pub));
	memset(salt, 9, sizeof(salt));
	install_id_of(pub, salt, id);
	assert_string_equal("ff1888deac3462233a7257b8bacf5ccc",
	    hex_str(BYTES(id), hex));
	assert_string_equal("glove/ff1888deac3462233a7257b8bacf5ccc/0",
	    origin_str(id, 0, name));
	assert_string_equal("glove/ff1888deac3462233a7257b8bacf5ccc/4294967295",
	    origin_str(id, UINT32_MAX, name));
	assert_int_equal(0, install_of_name(str_of(name), back, &e));
	assert_memory_equal(id, back, sizeof(id));
	assert_string_equal("glove/ff1888deac3462233a7257b8bacf5ccc/root",
	    key_name_str(id, "root", name));
	assert_int_equal(-1, install_of_name(STR("glove/ff18/0"), back, &e));
	assert_int_equal(-1, install_of_name(
	    STR("glove/ff1888deac3462233a7257b8bacf5ccc"), back, &e));
	assert_int_equal(-1, install_of_name(
	    STR("glove/FF1888deac3462233a7257b8bacf5ccc/0"), back, &e));
	assert_int_equal(-1, install_of_name(
	    STR("other/ff1888deac3462233a7257b8bacf5ccc/0"), back, &e));
}

static void
an_epoch_certificate_is_over_fixed_bytes(void **state)
{
	AUTO(buf) struct buf b;
	uint8_t id[16], pub[PUB_BYTES];

	(void)state;
	buf_init(&b, 100);
	memset(id, 1, sizeof(id));
	memset(pub, 2, sizeof(pub));
	epoch_cert_msg(id, 3, 0x01020304, pub, &b);
	assert_int_equal(56, b.n);
	assert_memory_equal("\1\0\0\0\3\1\2\3\4\2", b.p + 15, 10);
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(the_example_note_is_made_byte_for_byte),
		cmocka_unit_test(each_signer_of_a_note_is_found),
		cmocka_unit_test(a_changed_byte_of_a_note_is_refused),
		cmocka_unit_test(a_line_that_is_no_signature_is_refused),
		cmocka_unit_test(every_line_of_a_key_must_be_right),
		cmocka_unit_test(sixteen_signatures_are_read_and_a_flood_is_not),
		cmocka_unit_test(a_public_key_that_is_not_one_is_refused),
		cmocka_unit_test(the_example_checkpoint_is_read_and_written),
		cmocka_unit_test(a_checkpoint_that_is_not_one_is_refused),
		cmocka_unit_test(a_signature_is_for_one_label_and_one_message),
		cmocka_unit_test(the_zero_key_signs_nothing),
		cmocka_unit_test(the_mac_is_that_of_another_program),
		cmocka_unit_test(names_carry_the_install_id),
		cmocka_unit_test(an_epoch_certificate_is_over_fixed_bytes),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
