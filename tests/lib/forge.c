/* SPDX-License-Identifier: ISC */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <sodium.h>

#include "journal/verify.h"
#include "tests/lib/forge.h"

/* A test that cannot be set up is no test. */
static void
must(int failed, const struct err *e)
{
	if (!failed)
		return;
	(void)fprintf(stderr, "forge: %s\n", e->msg);
	abort();
}

static void *
must_alloc(void *p)
{
	if (p == NULL)
		abort();
	return p;
}

static void
make_key(struct forge_key *k)
{
	id_random(&k->id);
	(void)crypto_sign_keypair(k->pub, k->sec);
}

static struct subject *
subject_of(struct forge *f, int machine, const struct id *id)
{
	if (machine == MACHINE_LOG)
		return f->has_self ? &f->self : NULL;
	for (size_t i = 0; i < f->nsubjects; i++)
		if (f->subject[i].machine == machine &&
		    id_eq(&f->subject[i].id, id))
			return &f->subject[i];
	return NULL;
}

void
forge_draft(struct forge *f, int machine, const struct id *id, int event,
    struct record *r)
{
	const struct subject *s;
	struct step step;
	struct err e;

	memset(r, 0, sizeof(*r));
	r->machine = (uint8_t)machine;
	if (id != NULL)
		r->subject = *id;
	s = subject_of(f, machine, &r->subject);
	r->index = f->n;
	memcpy(r->install, f->install, sizeof(r->install));
	r->time_us = f->clock_us += 1000;
	r->boottime_us = f->clock_us / 2;
	r->boot_id[0] = 1;
	r->subject_seq = s == NULL ? 0 : s->seq + 1;
	r->prev = s == NULL ? RECORD_NO_PREV : s->last;
	r->event = (uint8_t)event;
	r->from = (uint8_t)(s == NULL ? 0 : s->state);
	r->actor = ACTOR_SERVICE;
	must(machine_step(machine, r->from, event, &step, &e), &e);
	r->to = (uint8_t)step.to;
}

uint64_t
forge_add(struct forge *f, const struct record *r)
{
	AUTO(buf) struct buf b;
	struct subject *s = subject_of(f, r->machine, &r->subject), fresh;
	struct hash leaf;
	struct err e;

	buf_init(&b, RECORD_MAX);
	must(record_encode(r, &b, &e), &e);
	if (f->n + 2 > f->cap) {
		f->cap = f->cap == 0 ? 256 : f->cap * 2;
		f->off = must_alloc(realloc(f->off, f->cap * sizeof(*f->off)));
	}
	f->off[f->n] = f->bytes.n;
	buf_put(&f->bytes, b.p, b.n);
	f->off[++f->n] = f->bytes.n;
	tree_leaf(buf_bytes(&b), &leaf);
	tree_append(&f->edge, &leaf);
	/* A spoiled record may not fold; then its subject stays. */
	if (s != NULL) {
		(void)!fold(r, 0, s, &e);
	} else if (fold(r, 1, &fresh, &e) == 0) {
		if (r->machine == MACHINE_LOG) {
			f->self = fresh;
			f->has_self = 1;
		} else {
			if (f->nsubjects == FORGE_SUBJECTS)
				abort();
			f->subject[f->nsubjects++] = fresh;
		}
	}
	return f->n - 1;
}

void
forge_fields(struct forge *f, const struct fields *fields, uint64_t index,
    struct record *r, uint8_t digest[][32])
{
	for (int tag = 1; tag < FIELD_END; tag++) {
		const struct field_info *info = field_info(tag);
		struct bytes v = info == NULL ? (struct bytes){ NULL, 0 } :
		    fields_get(fields, tag);
		struct sealed_row *row;
		uint8_t *copy;

		if (v.p == NULL)
			continue;
		if (info->sealed) {
			f->sealed = must_alloc(realloc(f->sealed,
			    (f->nsealed + 1) * sizeof(*f->sealed)));
			row = &f->sealed[f->nsealed++];
			copy = must_alloc(malloc(v.n + 1));
			memcpy(copy, v.p, v.n);
			*row = (struct sealed_row){ .index = index, .tag = tag,
			    .value = { copy, v.n } };
			randombytes_buf(row->salt, sizeof(row->salt));
			sealed_digest(tag, row->salt, v, digest[r->nfields]);
			v = bytes_of(digest[r->nfields], 32);
		}
		r->field[r->nfields++] = (struct tlv){ (uint16_t)tag, v };
	}
}

uint64_t
forge_event(struct forge *f, int machine, const struct id *id, int event,
    const struct fields *fields)
{
	uint8_t digest[RECORD_FIELDS_MAX][32];
	struct record r;

	forge_draft(f, machine, id, event, &r);
	if (fields != NULL)
		forge_fields(f, fields, r.index, &r, digest);
	return forge_add(f, &r);
}

static void
genesis(struct forge *f)
{
	AUTO(fields) struct fields v;
	AUTO(buf) struct buf msg;
	uint8_t digest[RECORD_FIELDS_MAX][32], sig[SIG_BYTES];
	struct record r;
	struct err e;

	fields_init(&v);
	fields_bytes(&v, FIELD_PUBLIC_KEY, BYTES(f->root.pub));
	fields_bytes(&v, FIELD_INSTALL_SALT, BYTES(f->salt));
	fields_bytes(&v, FIELD_LOG_KEY, BYTES(f->log.pub));
	forge_draft(f, MACHINE_LOG, NULL, LOG_EV_genesis, &r);
	forge_fields(f, &v, 0, &r, digest);
	buf_init(&msg, RECORD_MAX);
	must(record_encode(&r, &msg, &e), &e);
	sig_make(LABEL_GENESIS, buf_bytes(&msg), f->root.sec, sig);
	fields_bytes(&v, FIELD_GENESIS_SIG, BYTES(sig));
	r.nfields = 0;
	forge_fields(f, &v, 0, &r, digest);
	(void)forge_add(f, &r);
}

void
forge_epoch(struct forge *f)
{
	struct forge_key *k = &f->epoch[f->nepochs];
	AUTO(fields) struct fields v;
	AUTO(buf) struct buf msg;
	uint8_t sig[SIG_BYTES];

	if (f->nepochs == FORGE_EPOCHS)
		abort();
	make_key(k);
	buf_init(&msg, 256);
	epoch_cert_msg(f->install, 0, (uint32_t)f->nepochs, k->pub, &msg);
	sig_make(LABEL_LOG_KEY, buf_bytes(&msg), f->log.sec, sig);
	fields_init(&v);
	fields_u64(&v, FIELD_KEY_USE, KEYUSE_EPOCH);
	fields_bytes(&v, FIELD_PUBLIC_KEY, BYTES(k->pub));
	fields_u64(&v, FIELD_EPOCH, f->nepochs);
	fields_bytes(&v, FIELD_CERTIFICATE, BYTES(sig));
	(void)forge_event(f, MACHINE_KEY, &k->id, KEY_EV_enrol, &v);
	if (f->nepochs != 0)
		(void)forge_event(f, MACHINE_KEY, &f->epoch[f->nepochs - 1].id,
		    KEY_EV_retire, NULL);
	f->nepochs++;
}

static void
sign(const struct forge *f, const struct commit_row *row, struct buf *text,
    uint8_t sig[SIG_BYTES])
{
	struct checkpoint c = { .size = row->size, .root = row->root };

	memcpy(c.origin, f->origin, sizeof(c.origin));
	checkpoint_text(&c, text);
	note_sign((struct str){ (const char *)text->p, text->n },
	    f->epoch[row->epoch].sec, sig);
}

static void
footer(struct forge *f)
{
	const struct commit_row *last =
	    f->ncommits == 0 ? NULL : &f->commit[f->ncommits - 1];
	AUTO(fields) struct fields v;
	uint8_t seal[SHA256_BYTES] = { 0 }, empty[SHA256_BYTES];
	struct sha256 s;

	sha256_of((struct bytes){ NULL, 0 }, empty);
	if (last != NULL) {
		sha256_init(&s);
		sha256_update(&s, last->sig, sizeof(last->sig));
		sha256_update(&s, last->mac, sizeof(last->mac));
		sha256_final(&s, seal);
	}
	fields_init(&v);
	fields_u64(&v, FIELD_EPOCH, f->signer);
	fields_u64(&v, FIELD_COMMIT_NO, f->ncommits);
	fields_u64(&v, FIELD_PREV_SIZE, last == NULL ? 0 : last->size);
	fields_bytes(&v, FIELD_PREV_ROOT,
	    last == NULL ? BYTES(empty) : BYTES(last->root.b));
	fields_bytes(&v, FIELD_PREV_SEAL, BYTES(seal));
	fields_u64(&v, FIELD_INCARNATION, 0);
	fields_u64(&v, FIELD_MAC_NO, f->ncommits);
	fields_u64(&v, FIELD_REDUCER, REDUCER);
	(void)forge_event(f, MACHINE_LOG, NULL, LOG_EV_commit_footer, &v);
}

void
forge_commit(struct forge *f)
{
	struct commit_row *row;
	AUTO(buf) struct buf text;

	footer(f);
	if (f->ncommits == f->capcommits) {
		f->capcommits = f->capcommits == 0 ? 64 : f->capcommits * 2;
		f->commit = must_alloc(realloc(f->commit,
		    f->capcommits * sizeof(*f->commit)));
	}
	row = &f->commit[f->ncommits];
	*row = (struct commit_row){ .no = f->ncommits, .size = f->n,
	    .epoch = (uint32_t)f->signer };
	tree_root(&f->edge, &row->root);
	buf_init(&text, 512);
	sign(f, row, &text, row->sig);
	commit_mac(f->mac_key, (struct str){ (const char *)text.p, text.n },
	    row->sig, row->mac);
	mac_evolve(f->mac_key);
	f->ncommits++;
	f->signer = f->nepochs - 1;
}

void
forge_publish(struct forge *f)
{
	const struct commit_row *row = &f->commit[f->ncommits - 1];
	uint8_t sig[SIG_BYTES];
	struct str text;
	struct buf *b = &f->note;

	buf_reset(b);
	sign(f, row, b, sig);
	buf_put_str(b, "\n");
	note_sig_put(b, f->origin, f->epoch[row->epoch].pub, sig);
	text = (struct str){ (const char *)b->p, 0 };
	/* The text ends before the empty line. */
	text.n = (size_t)((const uint8_t *)memmem(b->p, b->n, "\n\n", 2) -
	    b->p) + 1;
	note_sign(text, f->log.sec, sig);
	note_sig_put(b, f->origin, f->log.pub, sig);
}

void
forge_init(struct forge *f)
{
	memset(f, 0, sizeof(*f));
	buf_init(&f->bytes, (size_t)1 << 31);
	buf_init(&f->note, 4096);
	make_key(&f->root);
	make_key(&f->log);
	randombytes_buf(f->salt, sizeof(f->salt));
	randombytes_buf(f->mac_key, sizeof(f->mac_key));
	memcpy(f->first_mac_key, f->mac_key, sizeof(f->mac_key));
	install_id_of(f->root.pub, f->salt, f->install);
	(void)origin_str(f->install, 0, f->origin);
	f->clock_us = 1764585000000000;
	genesis(f);
	forge_epoch(f);
}

void
forge_done(struct forge *f)
{
	for (size_t i = 0; i < f->nsealed; i++)
		free((void *)(uintptr_t)f->sealed[i].value.p);
	free(f->sealed);
	free(f->off);
	free(f->commit);
	buf_done(&f->bytes);
	buf_done(&f->note);
}

struct bytes
forge_record(const struct forge *f, size_t i)
{
	return bytes_of(f->bytes.p + f->off[i], f->off[i + 1] - f->off[i]);
}
