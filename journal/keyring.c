/* SPDX-License-Identifier: ISC */
/*
 * keyring.c - the keys of one installation.
 *
 * K1  a key that signs is durable: its slot was synced before it was used
 * K2  at most one epoch key is in use; which one, the journal decides
 * K3  a retired epoch key is erased in memory and on disk
 */
#include <sys/stat.h>

#include <assert.h>
#include <dirent.h>
#include <fcntl.h>
#include <string.h>

#include <sodium.h>

#include "base/fd.h"

#include "journal/keyfile.h"
#include "journal/keyring.h"
#include "journal/keyslot.h"

/* All of it from sodium_malloc(): locked, not dumped, between guard pages. */
struct keyring {
	int		dir;
	uint8_t		install[16];
	int		present[KEYUSE_END];
	struct keyfile	file[KEYUSE_END];	/* not EPOCH */
	struct keyslot	slot[2];
	int		active;			/* slot in use, -1 none yet */
	uint8_t		page[KEYSLOT_BYTES];
};

static const char next_file[] = "root-next.key";
static const char *const files[KEYUSE_END] = {
	[KEYUSE_ROOT] = "root.key",
	[KEYUSE_RECOVERY] = "recovery.key",
	[KEYUSE_LOG] = "log.key"
};

/* ---- create, open, close ------------------------------------------------ */

void
keyring_close(struct keyring *k)
{
	if (k == NULL)
		return;
	if (k->dir >= 0)
		(void)close(k->dir);
	sodium_free(k);
}

static int
new_ring(int keysfd, struct keyring **out, struct err *e)
{
	AUTO(keyring) struct keyring *k = NULL;
	struct stat st;

	if (sodium_init() < 0)
		return err_set(e, ERR_BUG, "libsodium does not start");
	if ((k = sodium_malloc(sizeof(*k))) == NULL)
		return err_set(e, ERR_NOMEM, "keyring");
	memset(k, 0, sizeof(*k));
	k->active = -1;
	k->dir = fcntl(keysfd, F_DUPFD_CLOEXEC, 0);
	if (k->dir < 0 || fstat(k->dir, &st) != 0)
		return err_set(e, ERR_SYS, "keys directory");
	if (!S_ISDIR(st.st_mode) || st.st_uid != geteuid() ||
	    st.st_mode & 077) {
		(void)err_say(e, ERR_CONFIG, "the keys directory belongs to"
		    " user %u and has mode %04o; it must be yours and 0700",
		    st.st_uid, st.st_mode & 07777);
		return err_fix(e, "chmod 700 the directory keys, if nobody"
		    " else can have been in it");
	}
	*out = TAKE(k);
	return 0;
}

static int
empty(int dir, struct err *e)
{
	struct dirent *d;
	int fd = openat(dir, ".", O_RDONLY | O_DIRECTORY | O_CLOEXEC), n = 0;
	DIR *p = fd < 0 ? NULL : fdopendir(fd);

	if (p == NULL) {
		(void)err_set(e, ERR_SYS, "keys directory");
		if (fd >= 0)
			(void)close(fd);
		return -1;
	}
	while (n == 0 && (d = readdir(p)) != NULL)
		n = strcmp(d->d_name, ".") != 0 && strcmp(d->d_name, "..") != 0;
	(void)closedir(p);
	if (n != 0)
		return err_say(e, ERR_CONFIG, "there are keys already");
	return 0;
}

/* The files besides epoch.key, the log key last: with it all of them are. */
static int
create_files(struct keyring *k, struct err *e)
{
	struct keyfile *root = &k->file[KEYUSE_ROOT];
	struct keyfile *next = &k->file[KEYUSE_NONE];	/* not kept */

	for (int u = 0; u < KEYUSE_END; u++)
		if (u == KEYUSE_NONE || files[u] != NULL)
			keyfile_make(&k->file[u]);
	root->anchored = 1;
	randombytes_buf(root->salt, sizeof(root->salt));
	sha256_of(BYTES(next->pub), root->next);
	install_id_of(root->pub, root->salt, k->install);
	(void)key_name_str(k->install, keyuse_word(KEYUSE_ROOT), root->name);
	(void)key_name_str(k->install, keyuse_word(KEYUSE_ROOT), next->name);
	(void)key_name_str(k->install, keyuse_word(KEYUSE_RECOVERY),
	    k->file[KEYUSE_RECOVERY].name);
	(void)origin_str(k->install, 0, k->file[KEYUSE_LOG].name);
	if (keyfile_write(k->dir, next_file, KEYUSE_ROOT, next, e))
		return -1;
	sodium_memzero(next, sizeof(*next));
	for (int u = 1; u < KEYUSE_END; u++) {
		if (files[u] == NULL)
			continue;
		if (keyfile_write(k->dir, files[u], (enum key_use)u,
		    &k->file[u], e))
			return -1;
		k->present[u] = 1;
	}
	return 0;
}

int
keyring_create(int keysfd, struct keyring **out, struct err *e)
{
	AUTO(keyring) struct keyring *k = NULL;

	if (new_ring(keysfd, &k, e) || empty(k->dir, e))
		return -1;
	keyslot_make(&k->slot[0], 0);
	if (keyslot_create(k->dir, e) ||
	    keyslot_write(k->dir, 0, &k->slot[0], k->page, e) ||
	    create_files(k, e))
		return err_wrap(e, "make the first keys");
	k->active = 0;
	*out = TAKE(k);
	return 0;
}

/* Is root-next.key, if it is there, what root.key commits to? */
static int
next_root(struct keyring *k, struct err *e)
{
	struct keyfile *next = &k->file[KEYUSE_NONE];
	uint8_t sum[SHA256_BYTES];

	if (keyfile_read(k->dir, next_file, KEYUSE_ROOT, next, e))
		return e->code == ERR_NOTFOUND ? 0 : -1;
	sha256_of(BYTES(next->pub), sum);
	sodium_memzero(next, sizeof(*next));
	if (memcmp(sum, k->file[KEYUSE_ROOT].next, sizeof(sum)) != 0)
		return err_say(e, ERR_CONFIG,
		    "root.key does not name %s as the next", next_file);
	return 0;
}

/* Do the files belong to one installation, and the id to the root key? */
static int
one_install(struct keyring *k, struct err *e)
{
	const struct keyfile *root = &k->file[KEYUSE_ROOT];
	uint8_t id[16];

	if (install_of_name(str_of(k->file[KEYUSE_LOG].name), k->install, e))
		return err_say(e, ERR_CONFIG, "log.key does not bear the name"
		    " of an installation");
	for (int u = 1; u < KEYUSE_END; u++)
		if (k->present[u] &&
		    (install_of_name(str_of(k->file[u].name), id, e) ||
		    memcmp(id, k->install, sizeof(id)) != 0))
			return err_say(e, ERR_CONFIG,
			    "%s is of another installation", files[u]);
	if (!k->present[KEYUSE_ROOT])
		return 0;
	install_id_of(root->pub, root->salt, id);
	if (!root->anchored || memcmp(id, k->install, sizeof(id)) != 0)
		return err_say(e, ERR_CONFIG,
		    "root.key is not the root of this installation");
	return next_root(k, e);
}

int
keyring_open(int keysfd, struct keyring **out, struct err *e)
{
	AUTO(keyring) struct keyring *k = NULL;

	if (new_ring(keysfd, &k, e))
		return -1;
	for (int u = 1; u < KEYUSE_END; u++) {
		if (files[u] == NULL)
			continue;
		if (keyfile_read(k->dir, files[u], (enum key_use)u,
		    &k->file[u], e) == 0)
			k->present[u] = 1;
		else if (e->code != ERR_NOTFOUND)
			return -1;
	}
	if (!k->present[KEYUSE_LOG]) {
		(void)err_say(e, ERR_CONFIG, "log.key is missing");
		return err_fix(e, "put it back: nothing can be signed without it");
	}
	if (one_install(k, e) || keyslot_read(k->dir, k->slot, k->page, e))
		return -1;
	if (k->slot[0].present != k->slot[1].present)
		k->active = k->slot[1].present;
	*out = TAKE(k);
	return 0;
}

/* ---- epoch keys --------------------------------------------------------- */

static int
erase(struct keyring *k, int i, struct err *e)
{
	sodium_memzero(&k->slot[i], sizeof(k->slot[i]));
	k->slot[i].dirty = 1;
	if (keyslot_write(k->dir, i, &k->slot[i], k->page, e))
		return err_wrap(e, "erase an epoch key");
	k->slot[i].dirty = 0;
	return 0;
}

int
keyring_epoch_next(struct keyring *k, uint8_t pub[PUB_BYTES], struct err *e)
{
	struct keyslot *s;

	if (k->active < 0)
		return err_set(e, ERR_BUG, "the epoch key is not settled");
	s = &k->slot[1 - k->active];
	keyslot_make(s, k->slot[k->active].epoch + 1);
	if (keyslot_write(k->dir, 1 - k->active, s, k->page, e)) {
		s->present = 0;
		return err_wrap(e, "make an epoch key");
	}
	memcpy(pub, s->pub, PUB_BYTES);
	return 0;
}

int
keyring_epoch_activate(struct keyring *k, struct err *e)
{
	if (k->active < 0 || !k->slot[1 - k->active].present)
		return err_set(e, ERR_BUG, "there is no next epoch key");
	k->active = 1 - k->active;
	return erase(k, 1 - k->active, e);
}

int
keyring_epoch_settle(struct keyring *k, const uint8_t active[PUB_BYTES],
    struct err *e)
{
	for (int i = 0; i < 2; i++) {
		if (!k->slot[i].present ||
		    memcmp(k->slot[i].pub, active, PUB_BYTES) != 0)
			continue;
		k->active = i;
		return k->slot[1 - i].dirty ? erase(k, 1 - i, e) : 0;
	}
	return err_say(e, ERR_UNTRUSTED, "epoch.key does not hold the epoch"
	    " key that the journal names");
}

/* ---- use ---------------------------------------------------------------- */

static const uint8_t *
secret(const struct keyring *k, enum key_use use)
{
	/* Asking for a key that is not there is our own mistake. */
	assert(keyring_has(k, use));
	if (use == KEYUSE_EPOCH)
		return k->slot[k->active].sec;
	return k->file[use].sec;
}

int
keyring_has(const struct keyring *k, enum key_use use)
{
	if (use == KEYUSE_EPOCH)
		return k->active >= 0;
	return use > KEYUSE_NONE && use < KEYUSE_END && k->present[use];
}

const uint8_t *
keyring_pub(const struct keyring *k, enum key_use use)
{
	if (!keyring_has(k, use))
		return NULL;
	if (use == KEYUSE_EPOCH)
		return k->slot[k->active].pub;
	return k->file[use].pub;
}

uint32_t
keyring_epoch(const struct keyring *k)
{
	return k->active < 0 ? 0 : k->slot[k->active].epoch;
}

const uint8_t *
keyring_install_salt(const struct keyring *k)
{
	return k->present[KEYUSE_ROOT] ? k->file[KEYUSE_ROOT].salt : NULL;
}

const uint8_t *
keyring_next_root(const struct keyring *k)
{
	return k->present[KEYUSE_ROOT] ? k->file[KEYUSE_ROOT].next : NULL;
}

void
keyring_install_id(const struct keyring *k, uint8_t out[16])
{
	memcpy(out, k->install, sizeof(k->install));
}

void
keyring_sign(const struct keyring *k, enum key_use use, const char *label,
    struct bytes msg, uint8_t sig[SIG_BYTES])
{
	sig_make(label, msg, secret(k, use), sig);
}

void
keyring_sign_note(const struct keyring *k, enum key_use use, struct str text,
    uint8_t sig[SIG_BYTES])
{
	note_sign(text, secret(k, use), sig);
}
