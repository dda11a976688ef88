/* SPDX-License-Identifier: ISC */
/* enrol.c - keys as records: the first ones, and the next epoch's. */
#include <string.h>

#include "journal/inside.h"

enum {
	EPOCH_COMMITS	= 10000,	/* an epoch key signs at most these */
	EPOCH_DAYS	= 30
};

static void
key_id(const uint8_t pub[PUB_BYTES], struct id *id)
{
	uint8_t sum[SHA256_BYTES];

	sha256_of(bytes_of(pub, PUB_BYTES), sum);
	memcpy(id->b, sum, ID_BYTES);
}

int
enrol_key(struct journal_txn *t, enum key_use use, const uint8_t pub[PUB_BYTES],
    uint32_t epoch, struct err *e)
{
	AUTO(fields) struct fields f;
	AUTO(buf) struct buf msg;
	struct journal *j = t->j;
	struct draft d = { .machine = MACHINE_KEY, .event = KEY_EV_enrol,
	    .actor = ACTOR_SERVICE, .fields = &f, .expect_from = -1 };
	uint8_t cert[SIG_BYTES];

	key_id(pub, &d.subject);
	fields_init(&f);
	buf_init(&msg, SIG_MSG_MAX);
	fields_u64(&f, FIELD_KEY_USE, use);
	fields_bytes(&f, FIELD_PUBLIC_KEY, bytes_of(pub, PUB_BYTES));
	if (use == KEYUSE_EPOCH) {
		epoch_cert_msg(j->install, j->head.incarnation, epoch, pub, &msg);
		if (buf_ok(&msg, "certificate", e))
			return -1;
		keyring_sign(j->keys, KEYUSE_LOG, LABEL_LOG_KEY,
		    buf_bytes(&msg), cert);
		fields_u64(&f, FIELD_EPOCH, epoch);
		fields_bytes(&f, FIELD_CERTIFICATE, BYTES(cert));
	}
	return append_own(t, &d, e);
}

/*
 * The commit that enrols the next key is the last one that the old key signs.
 * The new one is on disk before it is named; the old one is erased after.
 */
int
journal_epoch_roll(struct journal_txn *t, struct err *e)
{
	struct journal *j = t->j;
	struct draft retire = { .machine = MACHINE_KEY,
	    .event = KEY_EV_retire, .actor = ACTOR_SERVICE, .expect_from = -1 };
	uint8_t pub[PUB_BYTES];

	if (!keyring_has(j->keys, KEYUSE_LOG))
		return err_set(e, ERR_UNSUPPORTED, "the log key is not here");
	if (t->roll)
		return 0;
	key_id(keyring_pub(j->keys, KEYUSE_EPOCH), &retire.subject);
	if (keyring_epoch_next(j->keys, pub, e) ||
	    append_own(t, &retire, e) ||
	    enrol_key(t, KEYUSE_EPOCH, pub, j->epoch + 1, e))
		return -1;
	t->roll = t->own = 1;
	return 0;
}

/* After the commit.  An old key that cannot be erased waits for the next
 * start, which erases whatever key the journal does not name. */
void
enrol_rolled(struct journal_txn *t)
{
	struct journal *j = t->j;
	struct err e;

	(void)!keyring_epoch_activate(j->keys, &e);
	j->epoch++;
	j->epoch_first = j->head.commit_no;
	j->epoch_since_us = t->now.real_us;
	j->epoch_unclean = 0;
}

int
journal_epoch_due(const struct journal *j)
{
	int64_t age_us = clock_now().real_us - j->epoch_since_us;

	return !j->read_only && (j->epoch_unclean ||
	    j->at.commits - j->epoch_first > EPOCH_COMMITS ||
	    age_us > (int64_t)EPOCH_DAYS * 86400 * 1000000);
}
