/* SPDX-License-Identifier: ISC */
/* keyslot.c - the two slots of epoch.key. */
#include <sys/stat.h>

#include <errno.h>
#include <fcntl.h>
#include <string.h>

#include <linux/openat2.h>
#include <sodium.h>

#include "base/fd.h"

#include "journal/keyfile.h"
#include "journal/keyslot.h"

enum {
	SEED_BYTES = crypto_sign_SEEDBYTES,
	OFF_EPOCH = 8, OFF_PUB = 16, OFF_SUM = 48,
	OFF_SEED = 80, OFF_REST = 112
};

static const char file[] = "epoch.key";
static const uint8_t magic[8] = { 'G', 'L', 'V', 'E', 'P', 'C', 'H', '1' };

void
keyslot_make(struct keyslot *s, uint32_t epoch)
{
	(void)crypto_sign_keypair(s->pub, s->sec);
	s->epoch = epoch;
	s->present = s->dirty = 1;
}

int
keyslot_create(int dir, struct err *e)
{
	static const uint8_t zeros[2 * KEYSLOT_BYTES];

	return fd_replace(dir, file, BYTES(zeros), 0600, e);
}

static int
open_file(int dir, int flags, int *fd, struct err *e)
{
	AUTO(fd) int f = -1;

	if (fd_openat2(dir, file, flags | O_NONBLOCK | O_NOCTTY, 0,
	    RESOLVE_BENEATH | RESOLVE_NO_SYMLINKS, &f, e)) {
		if (e->sys != ENOENT)
			return -1;
		(void)err_say(e, ERR_CONFIG, "%s is missing", file);
		return err_fix(e, "put it back: nothing can be signed without it");
	}
	if (keyfile_owned(f, file, e))
		return -1;
	*fd = TAKE_FD(f);
	return 0;
}

/* The secret key begins with its seed. */
static void
put(const struct keyslot *s, uint8_t *page)
{
	memset(page, 0, KEYSLOT_BYTES);
	if (!s->present)
		return;
	memcpy(page, magic, sizeof(magic));
	for (int i = 0; i < 4; i++)
		page[OFF_EPOCH + i] = (uint8_t)(s->epoch >> (24 - 8 * i));
	memcpy(page + OFF_PUB, s->pub, PUB_BYTES);
	sha256_of(bytes_of(page, OFF_SUM), page + OFF_SUM);
	memcpy(page + OFF_SEED, s->sec, SEED_BYTES);
}

int
keyslot_write(int dir, int i, const struct keyslot *s, uint8_t *page,
    struct err *e)
{
	AUTO(fd) int fd = -1;
	int rc;

	if (open_file(dir, O_WRONLY, &fd, e))
		return -1;
	put(s, page);
	rc = fd_pwrite_full(fd, page, KEYSLOT_BYTES,
	    (int64_t)i * KEYSLOT_BYTES, e);
	sodium_memzero(page, KEYSLOT_BYTES);
	if (rc == 0 && fdatasync(fd) != 0)
		rc = err_set(e, ERR_SYS, "fdatasync %s", file);
	return rc;
}

static void
get(const uint8_t *page, struct keyslot *s)
{
	struct cur c = { page + OFF_EPOCH, 4, 0 };
	uint8_t sum[SHA256_BYTES];

	memset(s, 0, sizeof(*s));
	s->dirty = !sodium_is_zero(page, KEYSLOT_BYTES);
	sha256_of(bytes_of(page, OFF_SUM), sum);
	if (memcmp(page, magic, sizeof(magic)) != 0 ||
	    memcmp(page + OFF_SUM, sum, sizeof(sum)) != 0 ||
	    !sodium_is_zero(page + OFF_REST, KEYSLOT_BYTES - OFF_REST))
		return;
	s->epoch = cur_u32(&c);
	(void)crypto_sign_seed_keypair(s->pub, s->sec, page + OFF_SEED);
	s->present = memcmp(s->pub, page + OFF_PUB, PUB_BYTES) == 0;
	if (!s->present)
		sodium_memzero(s->sec, sizeof(s->sec));
}

int
keyslot_read(int dir, struct keyslot s[2], uint8_t *page, struct err *e)
{
	AUTO(fd) int fd = -1;
	struct stat st;

	if (open_file(dir, O_RDONLY, &fd, e))
		return -1;
	if (fstat(fd, &st) != 0)
		return err_set(e, ERR_SYS, "fstat %s", file);
	if (st.st_size != 2 * KEYSLOT_BYTES)
		return err_say(e, ERR_CONFIG, "%s is %lld bytes long, not %d",
		    file, (long long)st.st_size, 2 * KEYSLOT_BYTES);
	for (int i = 0; i < 2; i++) {
		if (fd_pread_full(fd, page, KEYSLOT_BYTES,
		    (int64_t)i * KEYSLOT_BYTES, e))
			return -1;
		get(page, &s[i]);
	}
	sodium_memzero(page, KEYSLOT_BYTES);
	return 0;
}
