/* SPDX-License-Identifier: ISC */
/*
 * verify_keys.c - who may have signed what.
 *
 * The root key signs GENESIS, GENESIS names the log key, the log key certifies
 * epoch keys, an epoch key signs the commits of its span: from the commit
 * after the one that enrolled it (the first: with it) up to the one that
 * enrols the next.  The install id is a digest of the root key, so no other
 * root key can stand behind the same log.
 */
#include <inttypes.h>
#include <string.h>

#include "journal/verify_int.h"

/* A field of exactly ${n} bytes, or -1. */
static int
take(const struct record *r, int tag, void *to, size_t n)
{
	struct bytes b = record_field(r, tag);

	if (b.n != n)
		return -1;
	memcpy(to, b.p, n);
	return 0;
}

/* GENESIS as it was signed: without its signature. */
static int
genesis_check(const struct record *r, const uint8_t root_pub[PUB_BYTES],
    const uint8_t sig[SIG_BYTES], struct err *e)
{
	AUTO(buf) struct buf msg;
	struct record bare = *r;

	bare.nfields = 0;
	for (size_t i = 0; i < r->nfields; i++)
		if (r->field[i].tag != FIELD_GENESIS_SIG)
			bare.field[bare.nfields++] = r->field[i];
	buf_init(&msg, RECORD_MAX);
	return record_encode(&bare, &msg, e) ||
	    sig_check(LABEL_GENESIS, buf_bytes(&msg), sig, root_pub, e) ? -1 : 0;
}

static void
genesis(struct verify *v, const struct record *r)
{
	struct keys *k = &v->keys;
	uint8_t salt[32], sig[SIG_BYTES], id[INSTALL_ID_BYTES];
	struct err e;

	if (r->index != 0) {
		check_fail(v, CHECK_SIGNATURE, "record %" PRIu64
		    " is a second beginning", r->index);
		return;
	}
	if (take(r, FIELD_PUBLIC_KEY, k->root_pub, PUB_BYTES) ||
	    take(r, FIELD_LOG_KEY, k->log_pub, PUB_BYTES) ||
	    take(r, FIELD_INSTALL_SALT, salt, sizeof(salt)) ||
	    take(r, FIELD_GENESIS_SIG, sig, sizeof(sig))) {
		check_fail(v, CHECK_SIGNATURE,
		    "the first record does not name its keys");
		return;
	}
	k->has_recovery = take(r, FIELD_RECOVERY_KEY, k->recovery_pub,
	    PUB_BYTES) == 0;
	install_id_of(k->root_pub, salt, id);
	if (memcmp(id, r->install, sizeof(id)) != 0)
		check_fail(v, CHECK_SIGNATURE,
		    "the install id is not that of the root key");
	if (genesis_check(r, k->root_pub, sig, &e))
		check_fail(v, CHECK_SIGNATURE,
		    "the first record is not signed by its root key");
	memcpy(v->r->pub, k->root_pub, PUB_BYTES);
	memcpy(v->r->install, r->install, sizeof(v->r->install));
	v->r->key_use = KEYUSE_ROOT;
	k->have_genesis = 1;
}

static int
grow(struct keys *k)
{
	size_t cap = k->cap == 0 ? 16 : k->cap * 2;
	struct key_span *p;

	if (k->n < k->cap)
		return 0;
	if (cap > KEYS_MAX || (p = realloc(k->key, cap * sizeof(*p))) == NULL)
		return -1;
	k->key = p;
	k->cap = cap;
	return 0;
}

static int
certified(const struct verify *v, const struct record *r,
    const struct key_span *s)
{
	AUTO(buf) struct buf msg;
	uint8_t sig[SIG_BYTES];
	struct err e;

	buf_init(&msg, 256);
	epoch_cert_msg(r->install, v->incarnation, s->epoch, s->pub, &msg);
	return take(r, FIELD_CERTIFICATE, sig, sizeof(sig)) == 0 &&
	    buf_ok(&msg, "certificate", &e) == 0 &&
	    sig_check(LABEL_LOG_KEY, buf_bytes(&msg), sig, v->keys.log_pub,
	    &e) == 0;
}

/* A key other than an epoch key has to be the one that GENESIS names. */
static int
named(const struct keys *k, const struct key_span *s)
{
	if (s->use == KEYUSE_ROOT)
		return memcmp(s->pub, k->root_pub, PUB_BYTES) == 0;
	if (s->use == KEYUSE_LOG)
		return memcmp(s->pub, k->log_pub, PUB_BYTES) == 0;
	return s->use == KEYUSE_RECOVERY && k->has_recovery &&
	    memcmp(s->pub, k->recovery_pub, PUB_BYTES) == 0;
}

static void
enrol(struct verify *v, const struct record *r)
{
	struct keys *k = &v->keys;
	struct key_span s = { .id = r->subject, .from = r->index,
	    .until = UINT64_MAX, .since = UINT64_MAX };
	uint64_t use, epoch = 0;

	if (record_u64(r, FIELD_KEY_USE, &use) || use == KEYUSE_NONE ||
	    use >= KEYUSE_END || take(r, FIELD_PUBLIC_KEY, s.pub, PUB_BYTES) ||
	    (use == KEYUSE_EPOCH && (record_u64(r, FIELD_EPOCH, &epoch) ||
	    epoch > UINT32_MAX))) {
		check_fail(v, CHECK_SIGNATURE,
		    "record %" PRIu64 " enrols a key and does not say which",
		    r->index);
		return;
	}
	s.use = (enum key_use)use;
	s.epoch = (uint32_t)epoch;
	if (s.use == KEYUSE_EPOCH ? !certified(v, r, &s) : !named(k, &s)) {
		check_fail(v, CHECK_SIGNATURE, "record %" PRIu64
		    " enrols a key that the key above it did not certify",
		    r->index);
		return;
	}
	if (grow(k)) {
		check_fail(v, CHECK_SIGNATURE, "too many keys");
		return;
	}
	if (s.use == KEYUSE_EPOCH) {
		if (s.epoch < k->next_epoch)
			check_fail(v, CHECK_KEY_ORDER, "record %" PRIu64
			    " enrols epoch %u again", r->index, s.epoch);
		k->next_epoch = (uint64_t)s.epoch + 1;
		k->active = k->n;
	}
	k->key[k->n++] = s;
}

static struct key_span *
find(struct keys *k, const struct id *id)
{
	/* Newest first: it is the one that is retired, as a rule. */
	for (size_t i = k->n; i-- > 0;)
		if (id_eq(&k->key[i].id, id))
			return &k->key[i];
	return NULL;
}

static void
key_event(struct verify *v, const struct record *r)
{
	struct key_span *s;

	if (r->event == KEY_EV_enrol || r->event == KEY_EV_activate) {
		enrol(v, r);
		return;
	}
	if ((s = find(&v->keys, &r->subject)) == NULL)
		return;		/* announced only; the machine check watches it */
	if (r->event == KEY_EV_retire) {
		s->until = r->index;
		if (v->keys.active != SIZE_MAX &&
		    s == &v->keys.key[v->keys.active])
			v->keys.active = SIZE_MAX;
	} else if (r->event == KEY_EV_compromise &&
	    record_u64(r, FIELD_SINCE_INDEX, &s->since)) {
		s->since = 0;	/* nothing of it is believed */
	}
}

void
keys_record(struct verify *v, const struct record *r)
{
	if (r->flags & RECORD_REFUSED)
		return;
	if (r->machine == MACHINE_LOG && r->event == LOG_EV_genesis)
		genesis(v, r);
	else if (r->machine == MACHINE_KEY)
		key_event(v, r);
}

struct key_span *
keys_commit(struct verify *v, uint64_t epoch, uint64_t size)
{
	struct keys *k = &v->keys;
	size_t signer = v->commits.n == 0 ? k->active : k->signer;

	if (signer == SIZE_MAX) {
		check_fail(v, CHECK_KEY_ORDER, "no key is active at record %"
		    PRIu64, size);
		return NULL;
	}
	if (k->key[signer].epoch != epoch) {
		check_fail(v, CHECK_KEY_ORDER, "the commit that ends at record %"
		    PRIu64 " is of epoch %" PRIu64 ", and the key of epoch %u"
		    " is in force there", size, epoch, k->key[signer].epoch);
		return NULL;
	}
	k->key[signer].signed_size = size;
	return &k->key[signer];
}

void
keys_next(struct verify *v)
{
	v->keys.signer = v->keys.active;
}

/* A key that is not believed from some record on must not have signed it. */
static void
revoked(struct verify *v)
{
	char id[ID_TEXT_MAX];

	for (size_t i = 0; i < v->keys.n; i++) {
		const struct key_span *s = &v->keys.key[i];

		if (s->signed_size <= s->since)
			continue;
		check_revoked(v, "%s is not believed from record %" PRIu64
		    " on, and signed up to record %" PRIu64,
		    id_str(ID_KEY, &s->id, id), s->since, s->signed_size - 1);
	}
}

void
keys_end(struct verify *v)
{
	const struct verify_opts *o = v->o;
	const struct keys *k = &v->keys;

	v->r->trust = TRUST_FILE;
	for (size_t i = 0; i < o->ntrusted && k->have_genesis; i++) {
		const struct trusted *t = &o->trusted[i];

		if (memcmp(t->install, v->r->install, sizeof(t->install)) == 0 &&
		    ((t->has_root &&
		    memcmp(t->root_pub, k->root_pub, PUB_BYTES) == 0) ||
		    (t->has_log &&
		    memcmp(t->log_pub, k->log_pub, PUB_BYTES) == 0)) &&
		    t->how > v->r->trust)
			v->r->trust = t->how;
	}
	revoked(v);
}

void
keys_put(struct buf *b, const struct keys *k, const uint8_t install[16])
{
	char id[ID_TEXT_MAX], origin[ORIGIN_MAX], name[ORIGIN_MAX];

	(void)origin_str(install, 0, origin);
	buf_put_str(b, "# key  use  from record  until record  public key\n");
	for (size_t i = 0; i < k->n; i++) {
		const struct key_span *s = &k->key[i];

		buf_putf(b, "%s %s %" PRIu64 " ",
		    id_str(ID_KEY, &s->id, id), keyuse_word((int)s->use), s->from);
		if (s->until == UINT64_MAX)
			buf_put_str(b, "- ");
		else
			buf_putf(b, "%" PRIu64 " ", s->until);
		note_verifier_put(b, s->use == KEYUSE_EPOCH ||
		    s->use == KEYUSE_LOG ? origin :
		    key_name_str(install, keyuse_word((int)s->use), name), s->pub);
		buf_put_u8(b, '\n');
	}
}

void
keys_done(struct keys *k)
{
	free(k->key);
}
