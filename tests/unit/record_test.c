/* SPDX-License-Identifier: ISC */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include "base/text.h"
#include "journal/tree.h"
#include "tests/lib/gen.h"

/* ---- the bytes ---------------------------------------------------------- */

/* Written by another program, from formats alone. */
static const char golden[] =
    "474c56310103000000000000000000d3101112131415161718191a1b1c1d1e1f"
    "00066190228d148000000001ad274801b0b1b2b3b4b5b6b7b8b9babbbcbdbebf"
    "0000000000000102030405060708090a0000000200000000000000cf02010102"
    "e0e1e2e3e4e5e6e7e8e9eaebecedeeef000700010000000800000000000003e8"
    "0004000000202be23c585f15e5fd3279d0663036dd9f6e634f4225ef326fc83f"
    "b874dbb81a0f0008000000205a5a5a5a5a5a5a5a5a5a5a5a5a5a5a5a5a5a5a5a"
    "5a5a5a5a5a5a5a5a5a5a5a5a0016000000080000000000000003001e0000000a"
    "3132333435363738393a00340000000b736563636f6d7020c3a40a003f000000"
    "03010203";
static const char golden_leaf[] =
    "32dc9bb9c30c784122d0e2753944254b20b70b72c73b3c141d7de1710f539a84";
enum { GOLDEN = (sizeof(golden) - 1) / 2 };

static void
get_golden(uint8_t out[GOLDEN])
{
	struct err e;

	assert_int_equal(0, hex_get(STR(golden), out, GOLDEN, &e));
}

static void
the_golden_record_reads_as_it_was_written(void **state)
{
	uint8_t b[GOLDEN];
	char hex[2 * SHA256_BYTES + 1];
	struct record r;
	struct hash leaf;
	struct err e;
	uint64_t v;

	(void)state;
	get_golden(b);
	assert_int_equal(0, record_decode(BYTES(b), &r, &e));
	assert_int_equal(3, r.machine);
	assert_int_equal(211, r.index);
	assert_int_equal(1796121543120000, r.time_us);
	assert_int_equal(7200000001, r.boottime_us);
	assert_int_equal(0x10, r.install[0]);
	assert_int_equal(0xbf, r.boot_id[15]);
	assert_int_equal(10, r.subject.b[9]);
	assert_int_equal(2, r.subject_seq);
	assert_int_equal(207, r.prev);
	assert_int_equal(2, r.event);
	assert_int_equal(1, r.from);
	assert_int_equal(1, r.to);
	assert_int_equal(2, r.actor);
	assert_int_equal(0xe0, r.request[0]);
	assert_int_equal(7, r.nfields);
	assert_int_equal(0, record_u64(&r, FIELD_ACTOR_UID, &v));
	assert_int_equal(1000, v);
	assert_int_equal(-1, record_u64(&r, FIELD_REASON, &v));
	assert_int_equal(-1, record_u64(&r, FIELD_COUNT, &v));
	assert_int_equal(-1, record_u64(&r, FIELD_NONCE, &v));
	assert_int_equal(-1, record_u64(&r, FIELD_END, &v));
	assert_int_equal(0x5a, record_field(&r, FIELD_NONCE).p[31]);
	assert_null(record_field(&r, FIELD_COUNT).p);
	tree_leaf(BYTES(b), &leaf);
	assert_string_equal(golden_leaf, hex_str(BYTES(leaf.b), hex));
}

/* ---- round trips -------------------------------------------------------- */

static void
assert_same(const struct record *a, const struct record *b)
{
	assert_memory_equal(a->install, b->install, sizeof(a->install));
	assert_memory_equal(a->boot_id, b->boot_id, sizeof(a->boot_id));
	assert_memory_equal(a->request, b->request, sizeof(a->request));
	assert_true(id_eq(&a->subject, &b->subject));
	assert_true(a->flags == b->flags && a->machine == b->machine &&
	    a->index == b->index && a->time_us == b->time_us &&
	    a->boottime_us == b->boottime_us && a->prev == b->prev &&
	    a->subject_seq == b->subject_seq && a->event == b->event &&
	    a->from == b->from && a->to == b->to && a->actor == b->actor);
	assert_int_equal(a->nfields, b->nfields);
	for (size_t i = 0; i < a->nfields; i++) {
		assert_int_equal(a->field[i].tag, b->field[i].tag);
		assert_true(bytes_eq(a->field[i].v, b->field[i].v));
	}
}

static void
assert_round_trip(const struct record *r)
{
	AUTO(buf) struct buf once, twice;
	struct record back;
	struct err e;

	buf_init(&once, RECORD_MAX);
	buf_init(&twice, RECORD_MAX);
	assert_int_equal(0, record_encode(r, &once, &e));
	assert_int_equal(0, record_decode(buf_bytes(&once), &back, &e));
	assert_same(r, &back);
	assert_int_equal(0, record_encode(&back, &twice, &e));
	assert_true(bytes_eq(buf_bytes(&once), buf_bytes(&twice)));
}

static void
records_survive_the_round_trip(void **state)
{
	struct gen g = { 1 };
	AUTO(buf) struct buf mem;
	struct record r;

	(void)state;
	buf_init(&mem, RECORD_MAX);
	for (uint64_t i = 0; i < 3000; i++) {
		gen_record(&g, i, &mem, &r);
		assert_round_trip(&r);
	}
}

/* A record of an exposure, the third of its kind, without fields. */
static struct record
plain(void)
{
	struct record r = { .machine = 3, .index = 9, .subject = { { 1 } },
	    .subject_seq = 2, .prev = 5, .event = 2, .from = 1, .to = 1,
	    .actor = 2 };

	memset(r.install, 7, sizeof(r.install));
	return r;
}

static void
every_field_of_the_table_survives_alone(void **state)
{
	struct gen g = { 2 };

	(void)state;
	for (int tag = 0; tag <= FIELD_END; tag++) {
		AUTO(buf) struct buf mem;
		struct record r = plain();

		buf_init(&mem, RECORD_MAX);
		if (field_info(tag) == NULL)
			continue;
		buf_put_u8(&mem, 0);
		gen_value(&g, tag, &mem);
		r.nfields = 1;
		r.field[0].tag = (uint16_t)tag;
		r.field[0].v = bytes_of(mem.p + 1, mem.n - 1);
		assert_round_trip(&r);
	}
}

static void
the_largest_record_survives_and_one_byte_more_does_not(void **state)
{
	static uint8_t big[RECORD_MAX];
	AUTO(buf) struct buf b;
	struct record r = plain();
	struct err e;

	(void)state;
	r.nfields = 1;
	r.field[0].tag = FIELD_LIMITS;
	r.field[0].v = bytes_of(big, RECORD_MAX - RECORD_HEADER - 6);
	assert_round_trip(&r);
	r.field[0].v.n++;
	buf_init(&b, 2 * RECORD_MAX);
	assert_int_equal(-1, record_encode(&r, &b, &e));
	assert_int_equal(ERR_TOOBIG, e.code);
	assert_int_equal(0, b.n);
	/* Nor one whose length wraps. */
	r.field[0].v.n = SIZE_MAX - RECORD_HEADER - 5;
	assert_int_equal(-1, record_encode(&r, &b, &e));
	assert_int_equal(ERR_TOOBIG, e.code);
	assert_int_equal(0, b.n);
}

/* ---- damage ------------------------------------------------------------- */

static void
every_truncation_is_refused(void **state)
{
	struct gen g = { 3 };
	AUTO(buf) struct buf mem, b;
	struct record r, back;
	struct err e;

	(void)state;
	buf_init(&mem, RECORD_MAX);
	buf_init(&b, RECORD_MAX);
	for (uint64_t i = 0; i < 60; i++) {
		gen_record(&g, i, &mem, &r);
		buf_reset(&b);
		assert_int_equal(0, record_encode(&r, &b, &e));
		for (size_t n = 0; n < b.n; n++) {
			AUTO(mem) uint8_t *cut = malloc(n + 1);

			assert_non_null(cut);
			memcpy(cut, b.p, n);	/* its own, for the sanitizer */
			assert_int_equal(-1, record_decode(bytes_of(cut, n),
			    &back, &e));
			assert_int_equal(ERR_FORMAT, e.code);
		}
	}
}

static void
a_changed_byte_is_refused_or_is_another_record(void **state)
{
	struct gen g = { 4 };
	AUTO(buf) struct buf mem, b, again;
	struct record r, back;
	struct err e;
	int refused = 0, other = 0;

	(void)state;
	buf_init(&mem, RECORD_MAX);
	buf_init(&b, RECORD_MAX);
	buf_init(&again, RECORD_MAX);
	for (uint64_t i = 0; i < 6; i++) {
		gen_record(&g, i, &mem, &r);
		buf_reset(&b);
		assert_int_equal(0, record_encode(&r, &b, &e));
		for (size_t at = 0; at < b.n; at++)
			for (int x = 1; x < 256; x++) {
				b.p[at] ^= (uint8_t)x;
				if (record_decode(buf_bytes(&b), &back, &e)) {
					refused++;
				} else {
					buf_reset(&again);
					assert_int_equal(0, record_encode(&back,
					    &again, &e));
					assert_true(bytes_eq(buf_bytes(&b),
					    buf_bytes(&again)));
					other++;
				}
				b.p[at] ^= (uint8_t)x;
			}
	}
	assert_true(refused > 0 && other > 0);
}

/* Offsets into the golden record. */
static const struct damage {
	const char	*what;
	size_t		 at;
	uint8_t		 value;
	int		 code;
} damages[] = {
	{ "the magic", 0, 'g', ERR_FORMAT },
	{ "version 0", 4, 0, ERR_FORMAT },
	{ "a later version", 4, 2, ERR_VERSION },
	{ "the log with the subject of another", 5, 0, ERR_FORMAT },
	{ "the critical flag", 6, 0x80, ERR_VERSION },
	{ "refused without a code", 7, 1, ERR_FORMAT },
	{ "time before 1970", 32, 0xff, ERR_FORMAT },
	{ "boot time before the boot", 40, 0xff, ERR_FORMAT },
	{ "a subject that is longer", 64, 1, ERR_FORMAT },
	{ "a subject that is longer by its last byte", 69, 1, ERR_FORMAT },
	{ "the first of its subject, with a previous", 83, 0, ERR_FORMAT },
	{ "a previous that is not before", 91, 211, ERR_FORMAT },
	{ "one field less", 113, 6, ERR_FORMAT },
	{ "one field more", 113, 8, ERR_FORMAT },
	{ "far too many fields", 112, 0xff, ERR_FORMAT },
	{ "a field that there is not", 115, 0, ERR_FORMAT },
	{ "another field that there is not", 114, 0xff, ERR_FORMAT },
	{ "fields that descend", 115, 9, ERR_FORMAT },
	{ "a field twice", 115, 4, ERR_FORMAT },
	{ "a field of a wrong size", 119, 7, ERR_FORMAT },
	{ "a field that is longer than the rest", 116, 1, ERR_FORMAT },
	{ "text that is not UTF-8", 249, 0xff, ERR_FORMAT },
	{ "text with a NUL", 240, 0, ERR_FORMAT },
};

static void
each_kind_of_damage_has_its_answer(void **state)
{
	(void)state;
	for (size_t i = 0; i < sizeof(damages) / sizeof(damages[0]); i++) {
		const struct damage *d = &damages[i];
		uint8_t b[GOLDEN];
		struct record r;
		struct err e;

		get_golden(b);
		assert_int_not_equal(b[d->at], d->value);
		b[d->at] = d->value;
		if (record_decode(BYTES(b), &r, &e) == 0 || e.code != d->code)
			fail_msg("%s was accepted or named %s", d->what,
			    err_name(e.code));
	}
}

static void
bytes_after_the_last_field_are_refused(void **state)
{
	uint8_t b[GOLDEN + 1] = { 0 };
	struct record r;
	struct err e;

	(void)state;
	get_golden(b);
	assert_int_equal(0, record_decode(bytes_of(b, GOLDEN), &r, &e));
	assert_int_equal(-1, record_decode(BYTES(b), &r, &e));
	assert_int_equal(ERR_FORMAT, e.code);
}

static void
a_failed_decode_leaves_the_result_alone(void **state)
{
	uint8_t b[GOLDEN];
	struct record r, before;
	struct err e;

	(void)state;
	get_golden(b);
	b[249] = 0xff;
	memset(&r, 0xa5, sizeof(r));
	memcpy(&before, &r, sizeof(r));
	assert_int_equal(-1, record_decode(BYTES(b), &r, &e));
	assert_memory_equal(&before, &r, sizeof(r));
}

static void
flags_that_are_not_critical_are_kept(void **state)
{
	struct record r = plain();

	(void)state;
	r.flags = 0x7ffe;
	assert_round_trip(&r);
}

/* ---- the writer refuses what the reader would --------------------------- */

static void
assert_not_written(const struct record *r, int code)
{
	AUTO(buf) struct buf b;
	struct err e;

	buf_init(&b, 2 * RECORD_MAX);
	assert_int_equal(-1, record_encode(r, &b, &e));
	assert_int_equal(code, e.code);
	assert_int_equal(0, b.n);
}

static void
wrong_headers_are_not_written(void **state)
{
	struct record r;

	(void)state;
	r = plain(), r.flags = 0x8000;
	assert_not_written(&r, ERR_VERSION);
	r = plain(), r.time_us = -1;
	assert_not_written(&r, ERR_FORMAT);
	r = plain(), r.boottime_us = -1;
	assert_not_written(&r, ERR_FORMAT);
	r = plain(), r.machine = 0;
	assert_not_written(&r, ERR_FORMAT);
	r = plain(), r.subject_seq = 0;
	assert_not_written(&r, ERR_FORMAT);
	r = plain(), r.prev = RECORD_NO_PREV;
	assert_not_written(&r, ERR_FORMAT);
	r = plain(), r.prev = r.index;
	assert_not_written(&r, ERR_FORMAT);
	r = plain(), r.nfields = RECORD_FIELDS_MAX + 1;
	assert_not_written(&r, ERR_FORMAT);
}

static void
a_refused_attempt_moves_nothing_and_says_why(void **state)
{
	static const uint8_t code[] = "ILLEGAL";
	struct record r = plain();

	(void)state;
	r.flags = RECORD_REFUSED;
	assert_not_written(&r, ERR_FORMAT);
	r.nfields = 1;
	r.field[0].tag = FIELD_CODE;
	r.field[0].v = bytes_of(code, sizeof(code) - 1);
	assert_round_trip(&r);
	r.to = 2;
	assert_not_written(&r, ERR_FORMAT);
	r.to = r.from;
	r.field[0].v.n = 0;
	assert_not_written(&r, ERR_FORMAT);
}

static void
fields_of_a_wrong_size_are_not_written(void **state)
{
	static const uint8_t zeros[100];

	(void)state;
	for (int tag = 1; tag < FIELD_END; tag++) {
		const struct field_info *info = field_info(tag);
		struct record r = plain();
		size_t size;

		if (info == NULL)
			continue;
		size = info->sealed ? 32 : field_type_size(info->type);
		if (size == 0)
			continue;
		r.nfields = 1;
		r.field[0].tag = (uint16_t)tag;
		r.field[0].v = bytes_of(zeros, size - 1);
		assert_not_written(&r, ERR_FORMAT);
		r.field[0].v = bytes_of(zeros, size + 1);
		assert_not_written(&r, ERR_FORMAT);
	}
}

static void
fields_out_of_order_are_not_written(void **state)
{
	static const uint8_t v[8];
	struct record r = plain();

	(void)state;
	r.nfields = 2;
	r.field[0] = (struct tlv){ FIELD_COUNT, BYTES(v) };
	r.field[1] = (struct tlv){ FIELD_COUNT, BYTES(v) };
	assert_not_written(&r, ERR_FORMAT);
	r.field[1].tag = FIELD_ACTOR_UID;
	assert_not_written(&r, ERR_FORMAT);
	r.field[1].tag = FIELD_END;
	assert_not_written(&r, ERR_FORMAT);
	r.field[1].tag = FIELD_OWNER_UID;
	assert_round_trip(&r);
}

static void
a_record_without_fields_is_the_header(void **state)
{
	struct record r = plain();
	AUTO(buf) struct buf b;
	struct err e;

	(void)state;
	buf_init(&b, RECORD_MAX);
	assert_int_equal(0, record_encode(&r, &b, &e));
	assert_int_equal(RECORD_HEADER, b.n);
	assert_round_trip(&r);
}

/* ---- the table ---------------------------------------------------------- */

static void
the_table_is_ascending_and_names_are_unique(void **state)
{
	static const struct { int tag; const char *name; } rows[] = {
#define FIELD(tag, NAME, name, type, seal, doc) { tag, name },
#include "journal/field.def"
	};
	const size_t n = sizeof(rows) / sizeof(rows[0]);

	(void)state;
	for (size_t i = 0; i < n; i++) {
		assert_true(i == 0 || rows[i].tag > rows[i - 1].tag);
		assert_string_equal(rows[i].name, field_info(rows[i].tag)->name);
		assert_true(field_info(rows[i].tag)->doc[0] != '\0');
		/* What a record holds of it is checked as a digest. */
		assert_true(field_info(rows[i].tag)->type != FT_LIST ||
		    field_info(rows[i].tag)->sealed);
		assert_true(field_info(rows[i].tag)->type != FT_U64 ||
		    !field_info(rows[i].tag)->sealed);
		for (size_t k = 0; k < i; k++)
			assert_string_not_equal(rows[i].name, rows[k].name);
	}
	assert_null(field_info(0));
	assert_null(field_info(-1));
	assert_null(field_info(FIELD_END));
	assert_null(field_info(11));
}

/* ---- values on their way ------------------------------------------------ */

static void
fields_are_kept_ascending(void **state)
{
	static const char *const argv[] = { "codex", "", "-q" };
	AUTO(fields) struct fields f;
	struct err e;
	uint8_t h[32];

	(void)state;
	memset(h, 9, sizeof(h));
	fields_init(&f);
	fields_list(&f, FIELD_ARGV, argv, 3);
	fields_u64(&f, FIELD_ACTOR_UID, 1000);
	fields_bytes(&f, FIELD_PLAN_DIGEST, BYTES(h));
	fields_text(&f, FIELD_REASON, STR("wh\xc3\xbc"));
	assert_int_equal(0, fields_ok(&f, &e));
	assert_int_equal(4, f.n);
	for (size_t i = 1; i < f.n; i++)
		assert_true(f.f[i - 1].tag < f.f[i].tag);
	assert_true(bytes_eq(fields_get(&f, FIELD_ARGV),
	    bytes_of("codex\0\0-q\0", 10)));
	assert_true(bytes_eq(fields_get(&f, FIELD_ACTOR_UID),
	    bytes_of("\0\0\0\0\0\0\3\xe8", 8)));
	assert_true(bytes_eq(fields_get(&f, FIELD_PLAN_DIGEST), BYTES(h)));
	assert_true(bytes_eq(fields_at(&f, 1), bytes_of("wh\xc3\xbc", 4)));
	assert_null(fields_get(&f, FIELD_COUNT).p);
}

static void
text_that_is_not_utf8_is_escaped(void **state)
{
	AUTO(fields) struct fields f;
	struct err e;

	(void)state;
	fields_init(&f);
	fields_text(&f, FIELD_VERSION, STR("a\xff" "b"));
	fields_text(&f, FIELD_REASON, STR("a\0b"));
	assert_int_equal(0, fields_ok(&f, &e));
	assert_true(bytes_eq(fields_get(&f, FIELD_VERSION),
	    bytes_of("a\\xffb", 6)));
	assert_null(memchr(fields_get(&f, FIELD_REASON).p, 0,
	    fields_get(&f, FIELD_REASON).n));
}

static void
wrong_setters_fail_and_it_sticks(void **state)
{
	static const uint8_t h[32];
	static char big[FIELDS_BYTES_MAX + 1];
	struct err e;

	(void)state;
	for (int k = 0; k < 9; k++) {
		AUTO(fields) struct fields f;

		fields_init(&f);
		if (k == 0)
			fields_u64(&f, FIELD_REASON, 1);
		if (k == 1)
			fields_text(&f, FIELD_COUNT, STR("1"));
		if (k == 2)
			fields_bytes(&f, FIELD_NONCE, bytes_of(h, 31));
		if (k == 3)
			fields_bytes(&f, FIELD_COUNT, bytes_of(h, 8));
		if (k == 4)
			fields_u64(&f, FIELD_END, 1);
		if (k == 5)
			fields_list(&f, FIELD_REASON, NULL, 0);
		if (k == 6) {
			fields_u64(&f, FIELD_COUNT, 1);
			fields_u64(&f, FIELD_COUNT, 2);
		}
		if (k == 7) {
			memset(big, 'a', sizeof(big));
			fields_text(&f, FIELD_PLAN, (struct str){ big,
			    sizeof(big) });
		}
		if (k == 8)
			fields_bytes(&f, FIELD_END, bytes_of(h, 32));
		fields_u64(&f, FIELD_OWNER_UID, 1);
		assert_int_equal(-1, fields_ok(&f, &e));
		assert_int_equal(k == 7 ? ERR_TOOBIG : ERR_BUG, e.code);
	}
}

static void
more_fields_than_a_record_holds_are_refused(void **state)
{
	AUTO(fields) struct fields f;
	AUTO(buf) struct buf b;
	struct gen g = { 5 };
	int set = 0;
	struct err e;

	(void)state;
	fields_init(&f);
	buf_init(&b, RECORD_MAX);
	for (int tag = 1; tag < FIELD_END; tag++) {
		const struct field_info *info = field_info(tag);

		if (info == NULL || info->type == FT_LIST)
			continue;
		buf_reset(&b);
		gen_bytes(&g, buf_room(&b, 64), 64);
		if (info->type == FT_U64)
			fields_u64(&f, tag, 1);
		else if (info->type == FT_TEXT)
			fields_text(&f, tag, STR("x"));
		else
			fields_bytes(&f, tag, bytes_of(b.p,
			    info->type == FT_BYTES ? 5 :
			    field_type_size(info->type)));
		if (++set == RECORD_FIELDS_MAX)
			assert_int_equal(0, fields_ok(&f, &e));
	}
	assert_true(set > RECORD_FIELDS_MAX);
	assert_int_equal(-1, fields_ok(&f, &e));
	assert_int_equal(ERR_TOOBIG, e.code);
	assert_int_equal(RECORD_FIELDS_MAX, f.n);
}

static void
a_sealed_digest_is_that_of_the_formats(void **state)
{
	static const uint8_t path[] = "/home/u/app";
	uint8_t salt[32], out[32];
	char hex[65];

	(void)state;
	for (uint8_t i = 0; i < 32; i++)
		salt[i] = i;
	sealed_digest(FIELD_HOST_PATH, salt, bytes_of(path, sizeof(path) - 1),
	    out);
	assert_string_equal("5fa438900b64759a73c6a3ebfe07ba5fbaaec58a3a3f699e"
	    "b6bc4373e6213561", hex_str(BYTES(out), hex));
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(the_golden_record_reads_as_it_was_written),
		cmocka_unit_test(records_survive_the_round_trip),
		cmocka_unit_test(every_field_of_the_table_survives_alone),
		cmocka_unit_test(the_largest_record_survives_and_one_byte_more_does_not),
		cmocka_unit_test(a_record_without_fields_is_the_header),
		cmocka_unit_test(every_truncation_is_refused),
		cmocka_unit_test(a_changed_byte_is_refused_or_is_another_record),
		cmocka_unit_test(each_kind_of_damage_has_its_answer),
		cmocka_unit_test(bytes_after_the_last_field_are_refused),
		cmocka_unit_test(a_failed_decode_leaves_the_result_alone),
		cmocka_unit_test(flags_that_are_not_critical_are_kept),
		cmocka_unit_test(wrong_headers_are_not_written),
		cmocka_unit_test(a_refused_attempt_moves_nothing_and_says_why),
		cmocka_unit_test(fields_of_a_wrong_size_are_not_written),
		cmocka_unit_test(fields_out_of_order_are_not_written),
		cmocka_unit_test(the_table_is_ascending_and_names_are_unique),
		cmocka_unit_test(fields_are_kept_ascending),
		cmocka_unit_test(text_that_is_not_utf8_is_escaped),
		cmocka_unit_test(wrong_setters_fail_and_it_sticks),
		cmocka_unit_test(more_fields_than_a_record_holds_are_refused),
		cmocka_unit_test(a_sealed_digest_is_that_of_the_formats),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
