/* SPDX-License-Identifier: ISC */
/*
 * Each thing that the receiver of a grant insists on stands in a table below:
 * a receipt that is right in all but this, and the answer it must get.  Each
 * row fails if its check is taken out of receipt.c.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>
#include <sodium.h>

#include "base/text.h"
#include "journal/receipt.h"
#include "lifecycle/machine.h"

/* ---- a log of eleven records -------------------------------------------- */

enum { SIZE = 11, AT = 6, LEVELS = 4 };

struct log {
	uint8_t		pub[PUB_BYTES], sec[SEC_BYTES];		/* log key */
	uint8_t		epub[PUB_BYTES], esec[SEC_BYTES];	/* epoch key */
	char		origin[ORIGIN_MAX];	/* in the checkpoint */
	char		signer[ORIGIN_MAX];	/* in the signature line */
	uint8_t		install[16];		/* in the origin */
	struct record	record;			/* the one to prove */
	uint8_t		nonce[32], generation[8];
	uint64_t	index;			/* where the receipt says it is */
	struct hash	node[LEVELS][SIZE];
	struct buf	bytes;
};

static int
read_node(void *ctx, unsigned level, uint64_t n, struct hash *out,
    struct err *e)
{
	const struct log *l = ctx;

	(void)e;
	*out = l->node[level][n];
	return 0;
}

static void
log_init(struct log *l)
{
	static const uint8_t install[16] = { 0xaa, 1 };

	memset(l, 0, sizeof(*l));
	(void)crypto_sign_keypair(l->pub, l->sec);
	(void)crypto_sign_keypair(l->epub, l->esec);
	memcpy(l->install, install, sizeof(install));
	(void)origin_str(install, 0, l->origin);
	(void)origin_str(install, 0, l->signer);
	memset(l->nonce, 0x77, sizeof(l->nonce));
	l->generation[7] = 3;
	l->index = AT;
	l->record = (struct record){ .machine = MACHINE_SESSION, .index = AT,
	    .subject = { { 9 } }, .subject_seq = 1, .prev = 2,
	    .event = SESSION_EV_gate_open, .from = SESSION_STARTING,
	    .to = SESSION_RUNNING, .actor = ACTOR_RUNTIME, .nfields = 2 };
	memcpy(l->record.install, install, sizeof(install));
	memset(l->record.boot_id, 0xb0, sizeof(l->record.boot_id));
	l->record.field[0] = (struct tlv){ FIELD_NONCE, BYTES(l->nonce) };
	l->record.field[1] = (struct tlv){ FIELD_GENERATION,
	    BYTES(l->generation) };
	buf_init(&l->bytes, RECORD_MAX);
}

/* The receipt of l->record, as text, with the signatures of both keys. */
static void
log_receipt(struct log *l, struct buf *out)
{
	const struct tree_reader reader = { read_node, l };
	AUTO(buf) struct buf text, sigs;
	struct tree_edge t = { .size = 0 };
	struct receipt r = { .index = l->index };
	uint8_t sig[SIG_BYTES];
	struct err e;

	buf_init(&text, 1000);
	buf_init(&sigs, 1000);
	buf_reset(&l->bytes);
	assert_int_equal(0, record_encode(&l->record, &l->bytes, &e));
	for (uint8_t i = 0; i < SIZE; i++) {
		tree_leaf(i == AT ? buf_bytes(&l->bytes) : bytes_of(&i, 1),
		    &l->node[0][i]);
		tree_append(&t, &l->node[0][i]);
	}
	for (unsigned k = 1; k < LEVELS; k++)
		for (size_t i = 0; i < (size_t)SIZE >> k; i++)
			tree_node(&l->node[k - 1][2 * i],
			    &l->node[k - 1][2 * i + 1], &l->node[k][i]);
	assert_int_equal(0, tree_prove(&reader, AT, SIZE, r.proof, &r.nproof,
	    &e));
	r.record = buf_bytes(&l->bytes);
	r.checkpoint.size = SIZE;
	tree_root(&t, &r.checkpoint.root);
	(void)strcpy(r.checkpoint.origin, l->origin);
	checkpoint_text(&r.checkpoint, &text);
	r.text = (struct str){ (const char *)text.p, text.n };
	note_sign(r.text, l->esec, sig);
	note_sig_put(&sigs, l->signer, l->epub, sig);
	note_sign(r.text, l->sec, sig);
	note_sig_put(&sigs, l->signer, l->pub, sig);
	r.sigs = (struct str){ (const char *)sigs.p, sigs.n };
	receipt_put(out, &r);
	assert_int_equal(0, buf_ok(out, "receipt", &e));
}

/* What a receiver asks for that sent the nonce and saw the intent. */
static struct receipt_want
wanted(const struct log *l)
{
	struct receipt_want w = { .machine = MACHINE_SESSION,
	    .event = SESSION_EV_gate_open, .subject = { { 9 } },
	    .check_nonce = 1, .after = 2, .min_size = SIZE,
	    .min_generation = 3 };

	memcpy(w.log_pub, l->pub, sizeof(w.log_pub));
	(void)origin_str(l->install, 0, w.origin);
	memset(w.nonce, 0x77, sizeof(w.nonce));
	memset(w.boot_id, 0xb0, sizeof(w.boot_id));
	return w;
}

static int
verify(const struct buf *text, const struct receipt_want *w)
{
	AUTO(committed) struct committed *c = NULL;
	uint64_t size = 0;
	struct err e;

	if (receipt_verify((struct str){ (const char *)text->p, text->n }, w,
	    &c, &size, &e)) {
		assert_null(c);
		assert_int_equal(0, size);
		return e.code;
	}
	assert_non_null(c);
	assert_int_equal(SIZE, size);
	return 0;
}

/* ---- the table: what is wanted differs ---------------------------------- */

#define WANT(NAME, ...) \
static void want_##NAME(struct receipt_want *w) { __VA_ARGS__; }
WANT(another_log_key, w->log_pub[0] ^= 1)
WANT(no_log_key, memset(w->log_pub, 0, sizeof(w->log_pub)))
WANT(another_incarnation, (void)origin_str((const uint8_t[16]){ 0xaa, 1 }, 1,
    w->origin))
WANT(no_origin, w->origin[0] = '\0')
WANT(another_machine, w->machine = MACHINE_EXPOSURE)
WANT(another_event, w->event = SESSION_EV_adopt)
WANT(another_subject, w->subject.b[9] = 1)
WANT(another_nonce, w->nonce[31] ^= 1)
WANT(zero_nonce, memset(w->nonce, 0, sizeof(w->nonce)))
WANT(another_boot, w->boot_id[15] ^= 1)
WANT(after_itself, w->after = AT)
WANT(larger_log, w->min_size = SIZE + 1)
WANT(later_generation, w->min_generation = 4)

static const struct {
	const char	*what;
	void		(*change)(struct receipt_want *w);
	int		 code;
} wants[] = {
	{ "another log key is pinned", want_another_log_key, ERR_SIGNATURE },
	{ "no log key is pinned", want_no_log_key, ERR_SIGNATURE },
	{ "the origin is another incarnation", want_another_incarnation,
	    ERR_SIGNATURE },
	{ "no origin is given", want_no_origin, ERR_SIGNATURE },
	{ "machine", want_another_machine, ERR_ILLEGAL },
	{ "event", want_another_event, ERR_ILLEGAL },
	{ "subject", want_another_subject, ERR_ILLEGAL },
	{ "nonce", want_another_nonce, ERR_STALE },
	{ "a nonce of zeros is a nonce", want_zero_nonce, ERR_STALE },
	{ "boot id", want_another_boot, ERR_STALE },
	{ "after: not later than the intent", want_after_itself, ERR_STALE },
	{ "min_size: the log shrank", want_larger_log, ERR_STALE },
	{ "min_generation", want_later_generation, ERR_STALE },
};

static void
a_receipt_that_is_not_what_was_wanted_is_refused(void **state)
{
	AUTO(buf) struct buf text;
	struct log l;

	(void)state;
	buf_init(&text, RECEIPT_MAX);
	log_init(&l);
	log_receipt(&l, &text);
	for (size_t i = 0; i < sizeof(wants) / sizeof(wants[0]); i++) {
		struct receipt_want w = wanted(&l);

		assert_int_equal(0, verify(&text, &w));
		wants[i].change(&w);
		if (verify(&text, &w) != wants[i].code)
			fail_msg("%s: %s", wants[i].what,
			    err_name(verify(&text, &w)));
	}
	buf_done(&l.bytes);
}

/* ---- the table: what is signed differs ---------------------------------- */

#define LOG(NAME, ...) \
static void log_##NAME(struct log *l) { __VA_ARGS__; }
LOG(other_origin, l->origin[6] = '0')
LOG(other_index, l->record.index++)
LOG(other_install, l->record.install[0] ^= 1)
LOG(other_position, l->index++)
LOG(refused, l->record.flags = RECORD_REFUSED; l->record.from = l->record.to;
    l->record.nfields = 3; l->record.field[2] = l->record.field[1];
    l->record.field[1] = l->record.field[0];
    l->record.field[0] = (struct tlv){ FIELD_CODE, { l->nonce, 7 } })
LOG(no_nonce, l->record.field[0] = l->record.field[1]; l->record.nfields = 1)
LOG(no_generation, l->record.nfields = 1)
LOG(other_key, (void)crypto_sign_keypair(l->epub, l->sec))

static const struct {
	const char	*what;
	void		(*change)(struct log *l);
	int		 code;
} logs[] = {
	{ "the checkpoint is of another origin", log_other_origin, ERR_ILLEGAL },
	{ "the record says another index", log_other_index, ERR_SIGNATURE },
	{ "the record is of another install", log_other_install, ERR_ILLEGAL },
	{ "the receipt says another index", log_other_position, ERR_SIGNATURE },
	{ "the attempt was refused", log_refused, ERR_ILLEGAL },
	{ "no nonce", log_no_nonce, ERR_STALE },
	{ "no generation", log_no_generation, ERR_ILLEGAL },
	{ "signed by another", log_other_key, ERR_SIGNATURE },
};

static void
a_log_that_says_something_else_is_refused(void **state)
{
	(void)state;
	for (size_t i = 0; i < sizeof(logs) / sizeof(logs[0]); i++) {
		AUTO(buf) struct buf text;
		struct receipt_want w;
		struct log l;

		buf_init(&text, RECEIPT_MAX);
		log_init(&l);
		w = wanted(&l);
		logs[i].change(&l);
		log_receipt(&l, &text);
		if (verify(&text, &w) != logs[i].code)
			fail_msg("%s: %s", logs[i].what,
			    err_name(verify(&text, &w)));
		buf_done(&l.bytes);
	}
}

/* ---- what is not asked for is not checked ------------------------------- */

static void
the_zero_wish_checks_only_the_log(void **state)
{
	AUTO(committed) struct committed *c = NULL;
	AUTO(buf) struct buf text;
	struct receipt_want w = { .machine = 0 };
	struct log l;
	struct err e;
	uint64_t size;

	(void)state;
	buf_init(&text, RECEIPT_MAX);
	log_init(&l);
	log_refused(&l);
	l.record.nfields = 2;		/* and no generation */
	log_receipt(&l, &text);
	memcpy(w.log_pub, l.pub, sizeof(w.log_pub));
	(void)strcpy(w.origin, l.origin);
	assert_int_equal(0, receipt_verify((struct str){ (const char *)text.p,
	    text.n }, &w, &c, &size, &e));
	assert_int_equal(AT, committed_index(c));
	assert_int_equal(MACHINE_SESSION, committed_machine(c));
	assert_int_equal(SESSION_EV_gate_open, committed_event(c));
	assert_int_equal(SESSION_RUNNING, committed_to(c));
	assert_int_equal(9, committed_subject(c)->b[0]);
	assert_int_equal(2, committed_record(c)->nfields);
	/* Refused is not done. */
	assert_false(committed_is(c, MACHINE_SESSION, SESSION_EV_gate_open));
	buf_done(&l.bytes);
}

static void
a_proof_says_what_it_proves(void **state)
{
	AUTO(committed) struct committed *c = NULL;
	AUTO(buf) struct buf text;
	struct receipt_want w;
	struct log l;
	struct err e;
	uint64_t size;

	(void)state;
	buf_init(&text, RECEIPT_MAX);
	log_init(&l);
	log_receipt(&l, &text);
	w = wanted(&l);
	assert_int_equal(0, receipt_verify((struct str){ (const char *)text.p,
	    text.n }, &w, &c, &size, &e));
	/* It borrows from nothing of ours. */
	memset(text.p, 0, text.n);
	buf_done(&l.bytes);
	assert_true(committed_is(c, MACHINE_SESSION, SESSION_EV_gate_open));
	assert_false(committed_is(c, MACHINE_SESSION, SESSION_EV_ended));
	assert_false(committed_is(c, MACHINE_CHANGE, SESSION_EV_gate_open));
	assert_int_equal(0x77,
	    record_field(committed_record(c), FIELD_NONCE).p[31]);
}

/* ---- the form ----------------------------------------------------------- */

static void
a_receipt_is_written_as_it_is_read(void **state)
{
	AUTO(buf) struct buf text, scratch, again;
	struct receipt r;
	struct log l;
	struct err e;

	(void)state;
	buf_init(&text, RECEIPT_MAX);
	buf_init(&scratch, RECORD_MAX);
	buf_init(&again, RECEIPT_MAX);
	log_init(&l);
	log_receipt(&l, &text);
	assert_int_equal(0, receipt_parse((struct str){ (const char *)text.p,
	    text.n }, &scratch, &r, &e));
	assert_int_equal(AT, r.index);
	assert_int_equal(4, r.nproof);
	assert_true(bytes_eq(buf_bytes(&l.bytes), r.record));
	receipt_put(&again, &r);
	assert_true(bytes_eq(buf_bytes(&text), buf_bytes(&again)));
	buf_done(&l.bytes);
}

static void
every_changed_byte_and_every_truncation_is_refused(void **state)
{
	AUTO(buf) struct buf text;
	struct receipt_want w;
	struct log l;
	size_t epoch_at, epoch_end, n;

	(void)state;
	buf_init(&text, RECEIPT_MAX);
	log_init(&l);
	log_receipt(&l, &text);
	w = wanted(&l);
	/* The epoch key's signature is not the receiver's to check. */
	epoch_at = (size_t)(strstr(buf_cstr(&text), "\n\xe2\x80\x94 glove") -
	    (const char *)text.p) + 1;
	epoch_end = (size_t)((uint8_t *)memchr(text.p + epoch_at, '\n',
	    text.n - epoch_at) - text.p);
	for (size_t i = 0; i < text.n; i++)
		for (int bit = 0; bit < 8; bit++) {
			if (i >= epoch_at && i < epoch_end)
				continue;
			text.p[i] ^= (uint8_t)(1 << bit);
			if (verify(&text, &w) == 0)
				fail_msg("byte %zu, bit %d", i, bit);
			text.p[i] ^= (uint8_t)(1 << bit);
		}
	assert_int_equal(0, verify(&text, &w));
	for (n = text.n; text.n > 0;) {
		text.n--;
		assert_int_not_equal(0, verify(&text, &w));
	}
	text.n = n;
	buf_done(&l.bytes);
}

static void
a_proof_that_is_too_long_is_refused(void **state)
{
	AUTO(buf) struct buf b, scratch;
	struct hash h = { { 0 } };
	struct receipt r;
	struct err e;

	(void)state;
	buf_init(&b, 2 * RECEIPT_MAX);
	buf_init(&scratch, RECORD_MAX);
	buf_put_str(&b, "c2sp.org/tlog-proof@v1\nextra AAAA\nindex 0\n");
	for (int i = 0; i < PROOF_MAX + 1; i++) {
		base64_put(&b, BYTES(h.b));
		buf_put_str(&b, "\n");
	}
	buf_put_str(&b, "\nglove/x/0\n1\n");
	base64_put(&b, BYTES(h.b));
	buf_put_str(&b, "\n\n");
	assert_int_equal(-1, receipt_parse((struct str){ (const char *)b.p, b.n },
	    &scratch, &r, &e));
	assert_int_equal(ERR_FORMAT, e.code);
	while (b.n < RECEIPT_MAX + 1)
		buf_put_u8(&b, '\n');
	assert_int_equal(-1, receipt_parse((struct str){ (const char *)b.p, b.n },
	    &scratch, &r, &e));
	assert_int_equal(ERR_TOOBIG, e.code);
}

static void
a_record_over_the_limit_is_refused(void **state)
{
	static uint8_t zeros[RECORD_MAX + 1];
	AUTO(buf) struct buf b, scratch;
	struct receipt r;
	struct err e;

	(void)state;
	for (size_t n = RECORD_MAX; n <= RECORD_MAX + 1; n++) {
		buf_init(&b, RECEIPT_MAX);
		buf_init(&scratch, 2 * RECORD_MAX);
		buf_put_str(&b, "c2sp.org/tlog-proof@v1\nextra ");
		base64_put(&b, bytes_of(zeros, n));
		buf_put_str(&b, "\nindex 0\n\nglove/x/0\n1\n"
		    "AAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAA=\n\n");
		assert_int_equal(n == RECORD_MAX ? 0 : -1, receipt_parse(
		    (struct str){ (const char *)b.p, b.n }, &scratch, &r, &e));
		buf_done(&b);
		buf_done(&scratch);
	}
	assert_int_equal(ERR_FORMAT, e.code);
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_receipt_that_is_not_what_was_wanted_is_refused),
		cmocka_unit_test(a_log_that_says_something_else_is_refused),
		cmocka_unit_test(the_zero_wish_checks_only_the_log),
		cmocka_unit_test(a_proof_says_what_it_proves),
		cmocka_unit_test(a_receipt_is_written_as_it_is_read),
		cmocka_unit_test(every_changed_byte_and_every_truncation_is_refused),
		cmocka_unit_test(a_proof_that_is_too_long_is_refused),
		cmocka_unit_test(a_record_over_the_limit_is_refused),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
