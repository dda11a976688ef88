/* SPDX-License-Identifier: ISC */
/* keyfile.c - one key on disk. */
#include <sys/stat.h>

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>

#include <linux/openat2.h>
#include <sodium.h>

#include "base/fd.h"
#include "base/text.h"

#include "journal/keyfile.h"

enum {
	PAGE = 4096,			/* a key file is shorter */
	SEED_BYTES = crypto_sign_SEEDBYTES,
	B64_MAX = 64			/* 32 bytes in base64, with the NUL */
};

/* Text of a key file passes through locked memory only. */
static void
auto_secret(char **p)
{
	sodium_free(*p);
}

void
keyfile_make(struct keyfile *k)
{
	(void)crypto_sign_keypair(k->pub, k->sec);
}

static char *
b64(const uint8_t in[32], char out[B64_MAX])
{
	return sodium_bin2base64(out, B64_MAX, in, 32,
	    sodium_base64_VARIANT_ORIGINAL);
}

int
keyfile_write(int dir, const char *file, enum key_use use,
    const struct keyfile *k, struct err *e)
{
	AUTO(secret) char *page = NULL;
	AUTO(buf) struct buf pub;
	char salt[B64_MAX], next[B64_MAX], *sec;
	int n;

	buf_init(&pub, 2 * ORIGIN_MAX);
	note_verifier_put(&pub, k->name, k->pub);
	if (buf_ok(&pub, file, e) || buf_cstr(&pub) == NULL)
		return err_set(e, ERR_NOMEM, "%s", file);
	if ((page = sodium_malloc(PAGE)) == NULL)
		return err_set(e, ERR_NOMEM, "%s", file);
	n = snprintf(page, PAGE, "glove-key/1\nuse %s\nalg ed25519\npub %s\n",
	    keyuse_word((int)use), buf_cstr(&pub));
	if (k->anchored)
		n += snprintf(page + n, PAGE - (size_t)n, "salt %s\nnext %s\n",
		    b64(k->salt, salt), b64(k->next, next));
	/* libsodium's secret key is the seed and then the public key. */
	sec = page + n + snprintf(page + n, PAGE - (size_t)n, "sec ");
	(void)b64(k->sec, sec);
	n = (int)(sec - page) + (int)strlen(sec);
	page[n++] = '\n';
	return fd_replace(dir, file, bytes_of(page, (size_t)n), 0600, e);
}

int
keyfile_owned(int fd, const char *name, struct err *e)
{
	struct stat st;

	if (fstat(fd, &st) != 0)
		return err_set(e, ERR_SYS, "fstat %s", name);
	if (!S_ISREG(st.st_mode) || st.st_nlink != 1)
		return err_say(e, ERR_CONFIG, "%s is not a plain file", name);
	if (st.st_uid != geteuid())
		return err_say(e, ERR_CONFIG, "%s belongs to user %u", name,
		    st.st_uid);
	if (st.st_mode & 077) {
		(void)err_say(e, ERR_CONFIG,
		    "%s has mode %04o, others may use it", name,
		    st.st_mode & 07777);
		return err_fix(e, "if nobody else can have read it:"
		    " chmod 600 %s; else treat the key as stolen", name);
	}
	return 0;
}

/* The value of the line "${word} value", which must come next. */
static int
value(struct str *s, const char *word, struct str *v)
{
	size_t n = strlen(word);
	struct str l;

	if (note_line(s, &l) || l.n <= n || memcmp(l.p, word, n) != 0 ||
	    l.p[n] != ' ')
		return -1;
	*v = (struct str){ l.p + n + 1, l.n - n - 1 };
	return 0;
}

static int
value32(struct str *s, const char *word, uint8_t out[32])
{
	struct str v;
	size_t n;

	if (value(s, word, &v) || sodium_base642bin(out, 32, v.p, v.n, NULL,
	    &n, NULL, sodium_base64_VARIANT_ORIGINAL) != 0 || n != 32)
		return -1;
	return 0;
}

/* ${seed}: 32 bytes of locked memory to work in. */
static int
parse(struct str s, enum key_use use, uint8_t seed[SEED_BYTES],
    struct keyfile *k, struct err *e)
{
	uint8_t pub[PUB_BYTES];
	struct str l, v;

	if (note_line(&s, &l) || !str_eq(l, STR("glove-key/1")) ||
	    value(&s, "use", &v) || !str_eq(v, str_of(keyuse_word((int)use))) ||
	    value(&s, "alg", &v) || !str_eq(v, STR("ed25519")) ||
	    value(&s, "pub", &v) || note_verifier_parse(v, k->name, k->pub, e))
		return -1;
	k->anchored = s.n > 5 && memcmp(s.p, "salt ", 5) == 0;
	if (k->anchored &&
	    (value32(&s, "salt", k->salt) || value32(&s, "next", k->next)))
		return -1;
	if (value32(&s, "sec", seed) || s.n != 0)
		return -1;
	(void)crypto_sign_seed_keypair(pub, k->sec, seed);
	return memcmp(pub, k->pub, sizeof(pub)) == 0 ? 0 : -1;
}

int
keyfile_read(int dir, const char *file, enum key_use use, struct keyfile *k,
    struct err *e)
{
	AUTO(secret) char *page = NULL;
	AUTO(fd) int fd = -1;
	ssize_t got, n = 0;

	if (fd_openat2(dir, file, O_RDONLY | O_NONBLOCK | O_NOCTTY, 0,
	    RESOLVE_BENEATH | RESOLVE_NO_SYMLINKS, &fd, e)) {
		if (e->sys == ENOENT)
			return err_set(e, ERR_NOTFOUND, "%s", file);
		return -1;
	}
	if (keyfile_owned(fd, file, e))
		return -1;
	if ((page = sodium_malloc(PAGE + SEED_BYTES)) == NULL)
		return err_set(e, ERR_NOMEM, "%s", file);
	while (n < PAGE && (got = read(fd, page + n, (size_t)(PAGE - n))) != 0) {
		if (got < 0 && errno != EINTR)
			return err_set(e, ERR_SYS, "read %s", file);
		n += got > 0 ? got : 0;
	}
	if (parse((struct str){ page, (size_t)n }, use, (uint8_t *)page + PAGE,
	    k, e)) {
		sodium_memzero(k, sizeof(*k));
		return err_say(e, ERR_CONFIG, "%s is not a %s key", file,
		    keyuse_word((int)use));
	}
	return 0;
}
