/* SPDX-License-Identifier: ISC */
/*
 * sign_verify.c - checking signatures and MACs, and the messages they are over.
 * Signed notes: C2SP signed-note; checkpoints: C2SP tlog-checkpoint.
 */
#include <stdio.h>
#include <string.h>

#include <sodium.h>

#include "base/num.h"
#include "base/text.h"

#include "journal/sign.h"

enum { NOTE_ED25519 = 0x01, KEY_ID_BYTES = 4, NOTE_SIGS_MAX = 64 };

static const char dash[] = "\xe2\x80\x94 ";	/* U+2014 and a space */

int
sig_check(const char *label, struct bytes msg, const uint8_t sig[SIG_BYTES],
    const uint8_t pub[PUB_BYTES], struct err *e)
{
	uint8_t m[SIG_MSG_MAX];
	size_t n = strlen(label) + 1;

	if (n > SIG_LABEL_MAX || msg.n > RECORD_MAX)
		return err_set(e, ERR_TOOBIG, "a signed message");
	memcpy(m, label, n);
	if (msg.n != 0)
		memcpy(m + n, msg.p, msg.n);
	if (crypto_sign_verify_detached(sig, m, n + msg.n, pub) != 0)
		return err_set(e, ERR_SIGNATURE, "%s", label);
	return 0;
}

int
note_sig_check(struct str text, const uint8_t sig[SIG_BYTES],
    const uint8_t pub[PUB_BYTES], struct err *e)
{
	if (crypto_sign_verify_detached(sig, (const uint8_t *)text.p, text.n,
	    pub) != 0)
		return err_set(e, ERR_SIGNATURE, "checkpoint");
	return 0;
}

char *
origin_str(const uint8_t install[16], uint32_t incarnation,
    char out[ORIGIN_MAX])
{
	char hex[33];

	(void)snprintf(out, ORIGIN_MAX, "glove/%s/%u",
	    hex_str(bytes_of(install, 16), hex), incarnation);
	return out;
}

char *
key_name_str(const uint8_t install[16], const char *word, char out[ORIGIN_MAX])
{
	char hex[33];

	(void)snprintf(out, ORIGIN_MAX, "glove/%s/%s",
	    hex_str(bytes_of(install, 16), hex), word);
	return out;
}

int
install_of_name(struct str name, uint8_t install[16], struct err *e)
{
	const struct str head = STR("glove/");
	uint8_t id[16];

	if (name.n < head.n + 33 || memcmp(name.p, head.p, head.n) != 0 ||
	    name.p[head.n + 32] != '/' ||
	    hex_get((struct str){ name.p + head.n, 32 }, id, sizeof(id), e))
		return err_say(e, ERR_FORMAT,
		    "this is not the name of an installation: it should read"
		    " glove/32 hex digits/...");
	memcpy(install, id, sizeof(id));
	return 0;
}

void
install_id_of(const uint8_t root_pub[PUB_BYTES], const uint8_t salt[32],
    uint8_t out[16])
{
	uint8_t h[SHA256_BYTES];
	struct digest d;

	digest_init(&d, "glove/install/1");
	digest_bytes(&d, bytes_of(root_pub, PUB_BYTES));
	digest_bytes(&d, bytes_of(salt, 32));
	digest_final(&d, h);
	memcpy(out, h, 16);
}

void
epoch_cert_msg(const uint8_t install[16], uint32_t incarnation, uint32_t epoch,
    const uint8_t pub[PUB_BYTES], struct buf *out)
{
	buf_put(out, install, 16);
	buf_put_u32(out, incarnation);
	buf_put_u32(out, epoch);
	buf_put(out, pub, PUB_BYTES);
}

/* ---- lines -------------------------------------------------------------- */

int
note_line(struct str *s, struct str *out)
{
	const char *lf = s->n == 0 ? NULL : memchr(s->p, '\n', s->n);

	if (lf == NULL)
		return -1;
	*out = (struct str){ s->p, (size_t)(lf - s->p) };
	s->p += out->n + 1;
	s->n -= out->n + 1;
	return 0;
}

/* A key name: text, not empty, no blank, no control byte, no plus sign. */
static int
name_ok(struct str s)
{
	for (size_t i = 0; i < s.n; i++)
		if ((uint8_t)s.p[i] <= ' ' || s.p[i] == '+' || s.p[i] == 0x7f)
			return 0;
	return s.n != 0 && utf8_valid(s);
}

static int
name_copy(struct str s, char out[ORIGIN_MAX])
{
	if (!name_ok(s) || s.n >= ORIGIN_MAX)
		return -1;
	memcpy(out, s.p, s.n);
	out[s.n] = '\0';
	return 0;
}

/* ---- checkpoints -------------------------------------------------------- */

void
checkpoint_text(const struct checkpoint *c, struct buf *out)
{
	buf_putf(out, "%s\n%llu\n", c->origin, (unsigned long long)c->size);
	base64_put(out, BYTES(c->root.b));
	buf_put_u8(out, '\n');
}

int
hash_parse(struct str s, struct hash *out, struct err *e)
{
	AUTO(buf) struct buf b;

	buf_init(&b, SHA256_BYTES);
	if (base64_get(s, &b, e) || b.n != SHA256_BYTES)
		return err_say(e, ERR_FORMAT,
		    "a line should be a hash of 32 bytes in base64");
	memcpy(out->b, b.p, SHA256_BYTES);
	return 0;
}

int
checkpoint_parse(struct str note, struct checkpoint *out, struct str *text,
    struct str *rest, struct err *e)
{
	struct str s = note, origin, size, root, empty;
	struct checkpoint c;
	int64_t n;

	if (note_line(&s, &origin) || note_line(&s, &size) ||
	    note_line(&s, &root) || note_line(&s, &empty) || empty.n != 0)
		return err_say(e, ERR_FORMAT,
		    "a checkpoint is three lines and an empty one");
	if (name_copy(origin, c.origin))
		return err_say(e, ERR_FORMAT, "the origin of a checkpoint is"
		    " not a name");
	if (num_parse(size, 0, INT64_MAX, &n, e))
		return err_say(e, ERR_FORMAT, "the size of a checkpoint is not"
		    " a number");
	if (hash_parse(root, &c.root, e))
		return err_wrap(e, "root of a checkpoint");
	c.size = (uint64_t)n;
	*out = c;
	*text = (struct str){ note.p, (size_t)(empty.p - note.p) };
	*rest = s;
	return 0;
}

/* ---- keys and signatures of notes --------------------------------------- */

uint32_t
note_key_id(const char *name, const uint8_t pub[PUB_BYTES])
{
	static const uint8_t sep[2] = { '\n', NOTE_ED25519 };
	uint8_t h[SHA256_BYTES];
	struct sha256 s;
	struct cur c;

	sha256_init(&s);
	sha256_update(&s, name, strlen(name));
	sha256_update(&s, sep, sizeof(sep));
	sha256_update(&s, pub, PUB_BYTES);
	sha256_final(&s, h);
	c = cur_of(BYTES(h));
	return cur_u32(&c);
}

void
note_verifier_put(struct buf *b, const char *name, const uint8_t pub[PUB_BYTES])
{
	uint8_t key[1 + PUB_BYTES];

	key[0] = NOTE_ED25519;
	memcpy(key + 1, pub, PUB_BYTES);
	buf_putf(b, "%s+%08x+", name, note_key_id(name, pub));
	base64_put(b, BYTES(key));
}

/* Split ${s} at its first ${sep}, which belongs to neither part. */
static int
cut(struct str s, char sep, struct str *left, struct str *right)
{
	const char *at = s.n == 0 ? NULL : memchr(s.p, sep, s.n);

	if (at == NULL)
		return -1;
	*left = (struct str){ s.p, (size_t)(at - s.p) };
	*right = (struct str){ at + 1, s.n - left->n - 1 };
	return 0;
}

int
note_verifier_parse(struct str s, char name[ORIGIN_MAX],
    uint8_t pub[PUB_BYTES], struct err *e)
{
	AUTO(buf) struct buf b;
	struct str who, id, key, rest;
	char n[ORIGIN_MAX];
	uint8_t want[KEY_ID_BYTES];
	struct cur c = { want, sizeof(want), 0 };

	buf_init(&b, 1 + PUB_BYTES);
	if (cut(s, '+', &who, &rest) || cut(rest, '+', &id, &key) ||
	    name_copy(who, n) || hex_get(id, want, sizeof(want), e) ||
	    base64_get(key, &b, e) || b.n != 1 + PUB_BYTES ||
	    b.p[0] != NOTE_ED25519)
		return err_say(e, ERR_FORMAT, "this is not a public key: it"
		    " should read name+id+base64");
	if (note_key_id(n, b.p + 1) != cur_u32(&c))
		return err_say(e, ERR_FORMAT,
		    "the id of public key %s is not that of its bytes", n);
	memcpy(name, n, ORIGIN_MAX);
	memcpy(pub, b.p + 1, PUB_BYTES);
	return 0;
}

void
note_sig_put(struct buf *b, const char *name, const uint8_t pub[PUB_BYTES],
    const uint8_t sig[SIG_BYTES])
{
	uint32_t id = note_key_id(name, pub);
	uint8_t v[KEY_ID_BYTES + SIG_BYTES] = { (uint8_t)(id >> 24),
	    (uint8_t)(id >> 16), (uint8_t)(id >> 8), (uint8_t)id };

	memcpy(v + KEY_ID_BYTES, sig, SIG_BYTES);
	buf_put_str(b, dash);
	buf_putf(b, "%s ", name);
	base64_put(b, BYTES(v));
	buf_put_u8(b, '\n');
}

/* One signature line: its name, and key id and signature into ${v}. */
static int
sig_line(struct str l, struct str *name, struct buf *v, struct err *e)
{
	const size_t n = sizeof(dash) - 1;
	struct str b64;

	buf_reset(v);
	if (l.n < n || memcmp(l.p, dash, n) != 0 ||
	    cut((struct str){ l.p + n, l.n - n }, ' ', name, &b64) ||
	    !name_ok(*name) || base64_get(b64, v, e) || v->n <= KEY_ID_BYTES)
		return err_say(e, ERR_FORMAT,
		    "a line should be a signature and is not");
	return 0;
}

int
note_check(struct str text, struct str sigs, const char *name,
    const uint8_t pub[PUB_BYTES], struct err *e)
{
	const uint32_t id = note_key_id(name, pub);
	AUTO(buf) struct buf v;
	struct str l, who;
	struct cur c;
	int found = 0;

	buf_init(&v, NOTE_SIG_MAX);
	for (int i = 0; sigs.n != 0; i++) {
		if (i == NOTE_SIGS_MAX)
			return err_set(e, ERR_TOOBIG, "the signatures");
		if (note_line(&sigs, &l))
			return err_say(e, ERR_FORMAT,
			    "a signature line is cut short");
		if (sig_line(l, &who, &v, e))
			return -1;
		c = cur_of(buf_bytes(&v));
		if (!str_eq(who, str_of(name)) || cur_u32(&c) != id)
			continue;
		if (c.n != SIG_BYTES)
			return err_set(e, ERR_SIGNATURE, "%s", name);
		if (note_sig_check(text, c.p, pub, e))
			return err_wrap(e, "%s", name);
		found = 1;
	}
	if (!found)
		return err_say(e, ERR_SIGNATURE,
		    "there is no signature by %s under the key %08x", name, id);
	return 0;
}

/* ---- the chain of MACs -------------------------------------------------- */

void
commit_mac(const uint8_t key[32], struct str text,
    const uint8_t sig[SIG_BYTES], uint8_t mac[MAC_BYTES])
{
	static const char label[] = "glove/commit-mac/1";
	crypto_generichash_state s;

	(void)crypto_generichash_init(&s, key, 32, MAC_BYTES);
	(void)crypto_generichash_update(&s, (const uint8_t *)label,
	    sizeof(label) - 1);
	(void)crypto_generichash_update(&s, (const uint8_t *)text.p, text.n);
	(void)crypto_generichash_update(&s, sig, SIG_BYTES);
	(void)crypto_generichash_final(&s, mac, MAC_BYTES);
	sodium_memzero(&s, sizeof(s));
}

void
mac_evolve(uint8_t key[32])
{
	static const char label[] = "glove/evolve/1";
	uint8_t next[32];

	(void)crypto_generichash(next, sizeof(next), (const uint8_t *)label,
	    sizeof(label) - 1, key, 32);
	memcpy(key, next, sizeof(next));
	sodium_memzero(next, sizeof(next));
}
