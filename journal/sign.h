/* SPDX-License-Identifier: ISC */
#ifndef JOURNAL_SIGN_H
#define JOURNAL_SIGN_H

#include "base/buf.h"
#include "base/limits.h"
#include "journal/tree.h"

/*
 * Signatures: Ed25519 over label, 0x00, message; one key, one kind of message.
 * sign.c makes them and is linked into gloved alone; sign_verify.c checks them.
 * Checkpoints are C2SP signed notes over tlog-checkpoint texts, whose message
 * is the note text itself.
 */
enum { SIG_BYTES = 64, PUB_BYTES = 32, SEC_BYTES = 64, MAC_BYTES = 32 };
enum {
	SIG_LABEL_MAX = 32,			/* with the zero byte */
	SIG_MSG_MAX = SIG_LABEL_MAX + RECORD_MAX,
	NOTE_SIG_MAX = 8192			/* one signature of a note */
};

#define LABEL_GENESIS	"glove/genesis-sig/1"	/* root over GENESIS without its sig */
#define LABEL_LOG_KEY	"glove/log-key-sig/1"	/* log over an epoch key */

int sig_check(const char *label, struct bytes msg, const uint8_t sig[SIG_BYTES],
    const uint8_t pub[PUB_BYTES], struct err *e) MUST_CHECK;
/* sig_make: ${sec} is libsodium's 64 bytes; cannot fail.  ${msg} is at most
 * RECORD_MAX bytes, which sig_check() refuses with TOOBIG. */
void sig_make(const char *label, struct bytes msg, const uint8_t sec[SEC_BYTES],
    uint8_t sig[SIG_BYTES]);

/* origin_str: "glove/<install id in hex>/<incarnation>". */
enum { ORIGIN_MAX = 64 };
char *origin_str(const uint8_t install[16], uint32_t incarnation,
    char out[ORIGIN_MAX]);

/* key_name_str: "glove/<install id in hex>/<word>": the name of a key that does
 * not sign checkpoints; ${word} as in keyuse.def. */
char *key_name_str(const uint8_t install[16], const char *word,
    char out[ORIGIN_MAX]);
/* install_of_name: the install id in such a name, or in an origin; FORMAT. */
int install_of_name(struct str name, uint8_t install[16], struct err *e)
    MUST_CHECK;

/* install_id_of: first 16 bytes of D("glove/install/1", root pub, salt). */
void install_id_of(const uint8_t root_pub[PUB_BYTES], const uint8_t salt[32],
    uint8_t out[16]);

struct checkpoint {
	char		origin[ORIGIN_MAX];
	uint64_t	size;
	struct hash	root;
};

/* checkpoint_text: the three lines that are signed. */
void checkpoint_text(const struct checkpoint *c, struct buf *out);
/* note_line: take the next line, without its LF, off ${s}; -1 if there is no LF. */
int note_line(struct str *s, struct str *line) MUST_CHECK;
/* hash_parse: 32 bytes in base64, nothing else. */
int hash_parse(struct str s, struct hash *out, struct err *e) MUST_CHECK;
/* checkpoint_parse: strict, no extension lines; ${rest} is what follows the
 * empty line (signature lines).  Sizes below 2^63. */
int checkpoint_parse(struct str note, struct checkpoint *c, struct str *text,
    struct str *rest, struct err *e) MUST_CHECK;

/* note_key_id: first 4 bytes of SHA-256(name, "\n", 0x01, pub), C2SP. */
uint32_t note_key_id(const char *name, const uint8_t pub[PUB_BYTES]);
/* note_verifier_put: "name+hhhhhhhh+base64(0x01, pub)", what a pin is. */
void note_verifier_put(struct buf *b, const char *name, const uint8_t pub[PUB_BYTES]);
int note_verifier_parse(struct str s, char name[ORIGIN_MAX],
    uint8_t pub[PUB_BYTES], struct err *e) MUST_CHECK;
/* note_sig_put: one signature line, "em-dash name base64(key id, sig)\n". */
void note_sig_put(struct buf *b, const char *name, const uint8_t pub[PUB_BYTES],
    const uint8_t sig[SIG_BYTES]);
/*
 * note_check(text, sigs, name, pub, e): is there a signature line by this key,
 * and is it right?  Lines of other keys are passed over, but each must be a
 * signature line (FORMAT), and there are at most 64 (TOOBIG).  SIGNATURE if
 * there is none, or one of this key does not verify.
 */
int note_check(struct str text, struct str sigs, const char *name,
    const uint8_t pub[PUB_BYTES], struct err *e) MUST_CHECK;
void note_sign(struct str text, const uint8_t sec[SEC_BYTES], uint8_t sig[SIG_BYTES]);
int note_sig_check(struct str text, const uint8_t sig[SIG_BYTES],
    const uint8_t pub[PUB_BYTES], struct err *e) MUST_CHECK;

/*
 * epoch_cert_msg: what the log key signs for an epoch key: install id,
 * incarnation (u32), epoch (u32), public key.
 */
void epoch_cert_msg(const uint8_t install[16], uint32_t incarnation,
    uint32_t epoch, const uint8_t pub[PUB_BYTES], struct buf *out);

/* commit_mac: BLAKE2b-256(key, "glove/commit-mac/1", text, sig). */
void commit_mac(const uint8_t key[32], struct str text,
    const uint8_t sig[SIG_BYTES], uint8_t mac[MAC_BYTES]);
/* mac_evolve: key = BLAKE2b-256(key, "glove/evolve/1"), in place. */
void mac_evolve(uint8_t key[32]);

#endif
