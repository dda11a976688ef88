/* SPDX-License-Identifier: ISC */
#include <sys/stat.h>

#include <dirent.h>
#include <fcntl.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

#include <cmocka.h>

#include "base/fd.h"
#include "base/text.h"
#include "journal/keyring.h"

enum { SLOT = 4096 };

/* ---- a directory of keys ------------------------------------------------ */

struct dir {
	char	path[64];
	int	fd;
};

static int
setup(void **state)
{
	struct dir *d = calloc(1, sizeof(*d));

	if (d == NULL)
		return -1;
	(void)strcpy(d->path, "/tmp/keyring_test.XXXXXX");
	if (mkdtemp(d->path) == NULL ||
	    (d->fd = open(d->path, O_RDONLY | O_DIRECTORY | O_CLOEXEC)) < 0)
		return -1;
	*state = d;
	return 0;
}

static int
teardown(void **state)
{
	struct dir *d = *state;
	struct dirent *f;
	DIR *p = opendir(d->path);

	while (p != NULL && (f = readdir(p)) != NULL)
		if (f->d_name[0] != '.' || strlen(f->d_name) > 2)
			(void)unlinkat(d->fd, f->d_name, 0);
	if (p != NULL)
		(void)closedir(p);
	(void)close(d->fd);
	(void)rmdir(d->path);
	free(d);
	return 0;
}

static struct keyring *
create(struct dir *d)
{
	struct keyring *k = NULL;
	struct err e;

	if (keyring_create(d->fd, &k, &e))
		fail_msg("%s", e.msg);
	return k;
}

static struct keyring *
reopen(struct dir *d, struct keyring *k)
{
	struct err e;

	keyring_close(k);
	k = NULL;
	if (keyring_open(d->fd, &k, &e))
		fail_msg("%s", e.msg);
	return k;
}

static void
assert_refused(struct dir *d)
{
	struct keyring *k = NULL;
	struct err e;

	assert_int_equal(-1, keyring_open(d->fd, &k, &e));
	assert_int_equal(ERR_CONFIG, e.code);
	assert_null(k);
}

static void
load(struct dir *d, const char *name, struct buf *b)
{
	struct err e;

	buf_init(b, 3 * SLOT);
	assert_int_equal(0, fd_file(d->fd, name, b, &e));
}

static void
store(struct dir *d, const char *name, const struct buf *b)
{
	struct err e;

	assert_int_equal(0, fd_replace(d->fd, name, buf_bytes(b), 0600, &e));
}

/* 1 if slot ${i} of epoch.key is all zeros. */
static int
slot_free(struct dir *d, int i)
{
	static const uint8_t zeros[SLOT];
	AUTO(buf) struct buf b;

	load(d, "epoch.key", &b);
	assert_int_equal(2 * SLOT, b.n);
	return memcmp(b.p + i * SLOT, zeros, SLOT) == 0;
}

/* ---- files -------------------------------------------------------------- */

static void
a_new_keyring_has_every_key_and_files_of_mode_0600(void **state)
{
	static const char *const names[] = { "root.key", "root-next.key",
		"recovery.key", "log.key", "epoch.key" };
	struct dir *d = *state;
	AUTO(keyring) struct keyring *k = create(d);
	struct stat st;

	for (size_t i = 0; i < 5; i++) {
		assert_int_equal(0, fstatat(d->fd, names[i], &st, 0));
		assert_int_equal(0600, st.st_mode & 07777);
	}
	for (int u = 1; u < KEYUSE_END; u++) {
		assert_true(keyring_has(k, (enum key_use)u));
		assert_non_null(keyring_pub(k, (enum key_use)u));
	}
	assert_false(keyring_has(k, KEYUSE_NONE));
	assert_false(keyring_has(k, KEYUSE_END));
	assert_int_equal(0, keyring_epoch(k));
	assert_false(slot_free(d, 0));
	assert_true(slot_free(d, 1));
}

static void
no_two_keys_are_alike(void **state)
{
	AUTO(keyring) struct keyring *k = create(*state);

	for (int u = 1; u < KEYUSE_END; u++)
		for (int v = 1; v < u; v++)
			assert_memory_not_equal(keyring_pub(k, (enum key_use)u),
			    keyring_pub(k, (enum key_use)v), PUB_BYTES);
}

static void
a_keyring_is_not_made_over_another(void **state)
{
	struct dir *d = *state;
	struct keyring *k = NULL;
	struct err e;

	keyring_close(create(d));
	assert_int_equal(-1, keyring_create(d->fd, &k, &e));
	assert_int_equal(ERR_CONFIG, e.code);
	assert_null(k);
}

static void
every_key_comes_back_and_signs(void **state)
{
	struct dir *d = *state;
	AUTO(keyring) struct keyring *k = create(d);
	uint8_t pub[KEYUSE_END][PUB_BYTES], id[16], again[16], salt[32];
	uint8_t sig[SIG_BYTES];
	const struct str note = STR("a note\n");
	struct err e;

	for (int u = 1; u < KEYUSE_END; u++)
		memcpy(pub[u], keyring_pub(k, (enum key_use)u), PUB_BYTES);
	keyring_install_id(k, id);
	memcpy(salt, keyring_install_salt(k), sizeof(salt));
	k = reopen(d, k);
	for (int u = 1; u < KEYUSE_END; u++) {
		assert_memory_equal(pub[u], keyring_pub(k, (enum key_use)u),
		    PUB_BYTES);
		keyring_sign(k, (enum key_use)u, LABEL_GENESIS,
		    bytes_of("x", 1), sig);
		assert_int_equal(0, sig_check(LABEL_GENESIS, bytes_of("x", 1),
		    sig, pub[u], &e));
		keyring_sign_note(k, (enum key_use)u, note, sig);
		assert_int_equal(0, note_sig_check(note, sig, pub[u], &e));
	}
	keyring_install_id(k, again);
	assert_memory_equal(id, again, sizeof(id));
	assert_memory_equal(salt, keyring_install_salt(k), sizeof(salt));
	install_id_of(pub[KEYUSE_ROOT], salt, again);
	assert_memory_equal(id, again, sizeof(id));
}

/* The line of ${word} in a key file, without the word, NUL-ended. */
static const char *
line_of(struct buf *b, const char *word)
{
	char *at, *end;

	assert_non_null(buf_cstr(b));
	at = strstr((char *)b->p, word);
	assert_non_null(at);
	at += strlen(word);
	end = strchr(at, '\n');
	assert_non_null(end);
	*end = '\0';
	return at;
}

static void
root_commits_to_the_root_after_it(void **state)
{
	struct dir *d = *state;
	AUTO(keyring) struct keyring *k = create(d);
	AUTO(buf) struct buf b;
	char name[ORIGIN_MAX];
	uint8_t pub[PUB_BYTES], sum[32];
	struct err e;

	load(d, "root-next.key", &b);
	assert_int_equal(0, note_verifier_parse(str_of(line_of(&b, "\npub ")),
	    name, pub, &e));
	sha256_of(BYTES(pub), sum);
	assert_memory_equal(sum, keyring_next_root(k), sizeof(sum));
	assert_memory_not_equal(pub, keyring_pub(k, KEYUSE_ROOT), PUB_BYTES);
}

static void
the_pub_line_is_a_pin(void **state)
{
	struct dir *d = *state;
	AUTO(keyring) struct keyring *k = create(d);
	AUTO(buf) struct buf root, log;
	char name[ORIGIN_MAX], want[ORIGIN_MAX];
	uint8_t pub[PUB_BYTES], id[16];
	struct err e;

	keyring_install_id(k, id);
	load(d, "root.key", &root);
	assert_int_equal(0, note_verifier_parse(str_of(line_of(&root,
	    "\npub ")), name, pub, &e));
	assert_string_equal(key_name_str(id, "root", want), name);
	assert_memory_equal(keyring_pub(k, KEYUSE_ROOT), pub, PUB_BYTES);
	load(d, "log.key", &log);
	assert_int_equal(0, note_verifier_parse(str_of(line_of(&log, "\npub ")),
	    name, pub, &e));
	assert_string_equal(origin_str(id, 0, want), name);
	assert_memory_equal(keyring_pub(k, KEYUSE_LOG), pub, PUB_BYTES);
}

static void
root_and_recovery_may_be_away(void **state)
{
	struct dir *d = *state;
	AUTO(keyring) struct keyring *k = create(d);
	uint8_t id[16], again[16];

	keyring_install_id(k, id);
	assert_int_equal(0, unlinkat(d->fd, "root.key", 0));
	assert_int_equal(0, unlinkat(d->fd, "root-next.key", 0));
	assert_int_equal(0, unlinkat(d->fd, "recovery.key", 0));
	k = reopen(d, k);
	assert_false(keyring_has(k, KEYUSE_ROOT));
	assert_null(keyring_pub(k, KEYUSE_ROOT));
	assert_null(keyring_pub(k, KEYUSE_RECOVERY));
	assert_null(keyring_install_salt(k));
	assert_null(keyring_next_root(k));
	assert_true(keyring_has(k, KEYUSE_LOG));
	keyring_install_id(k, again);
	assert_memory_equal(id, again, sizeof(id));
}

static void
log_and_epoch_may_not_be_away(void **state)
{
	struct dir *d = *state;

	keyring_close(create(d));
	assert_int_equal(0, renameat(d->fd, "log.key", d->fd, "log.away"));
	assert_refused(d);
	assert_int_equal(0, renameat(d->fd, "log.away", d->fd, "log.key"));
	assert_int_equal(0, renameat(d->fd, "epoch.key", d->fd, "epoch.away"));
	assert_refused(d);
}

static void
files_that_others_may_read_are_refused(void **state)
{
	static const char *const names[] = { "root.key", "recovery.key",
		"log.key", "epoch.key" };
	struct dir *d = *state;

	keyring_close(create(d));
	for (size_t i = 0; i < 4; i++)
		for (mode_t bit = 1; bit <= 040; bit <<= 1) {
			assert_int_equal(0, fchmodat(d->fd, names[i],
			    0600 | bit, 0));
			assert_refused(d);
			assert_int_equal(0, fchmodat(d->fd, names[i], 0600, 0));
		}
	keyring_close(reopen(d, NULL));
	assert_int_equal(0, fchmod(d->fd, 0750));
	assert_refused(d);
	assert_int_equal(0, fchmod(d->fd, 0700));
	keyring_close(reopen(d, NULL));
}

static void
files_of_another_user_are_refused(void **state)
{
	struct dir *d = *state;

	if (geteuid() != 0) {
		print_message("SKIP needs root to give a file away\n");
		skip();
	}
	keyring_close(create(d));
	assert_int_equal(0, fchownat(d->fd, "log.key", 65534, 65534, 0));
	assert_refused(d);
	assert_int_equal(0, fchownat(d->fd, "log.key", 0, 0, 0));
	assert_int_equal(0, fchownat(d->fd, "epoch.key", 65534, 65534, 0));
	assert_refused(d);
	assert_int_equal(0, fchownat(d->fd, "epoch.key", 0, 0, 0));
	assert_int_equal(0, fchown(d->fd, 65534, 65534));
	assert_refused(d);
	assert_int_equal(0, fchown(d->fd, 0, 0));
	keyring_close(reopen(d, NULL));
}

static void
links_and_other_things_are_refused(void **state)
{
	struct dir *d = *state;
	struct keyring *k = NULL;
	struct err e;

	keyring_close(create(d));
	assert_int_equal(0, renameat(d->fd, "log.key", d->fd, "real"));
	assert_int_equal(0, symlinkat("real", d->fd, "log.key"));
	assert_int_equal(-1, keyring_open(d->fd, &k, &e));
	assert_int_equal(0, unlinkat(d->fd, "log.key", 0));
	assert_int_equal(0, linkat(d->fd, "real", d->fd, "log.key", 0));
	assert_refused(d);
	assert_int_equal(0, unlinkat(d->fd, "log.key", 0));
	assert_int_equal(0, mkfifoat(d->fd, "log.key", 0600));
	assert_refused(d);
}

static void
every_changed_byte_of_a_key_file_is_refused(void **state)
{
	static const char *const names[] = { "root.key", "recovery.key",
		"log.key" };
	struct dir *d = *state;

	keyring_close(create(d));
	for (size_t i = 0; i < 3; i++) {
		AUTO(buf) struct buf b;

		load(d, names[i], &b);
		for (size_t at = 0; at < b.n; at++) {
			b.p[at] ^= 1;
			store(d, names[i], &b);
			assert_refused(d);
			b.p[at] ^= 1;
		}
		for (size_t n = b.n, cut = n; cut-- > 0;) {
			b.n = cut;
			store(d, names[i], &b);
			assert_refused(d);
			b.n = n;
		}
		buf_put_u8(&b, '\n');
		store(d, names[i], &b);
		assert_refused(d);
		b.n--;
		store(d, names[i], &b);
		keyring_close(reopen(d, NULL));
	}
}

static void
keys_of_two_installations_do_not_mix(void **state)
{
	static const char *const names[] = { "root.key", "recovery.key",
		"log.key" };
	struct dir *d = *state;

	for (size_t i = 0; i < 3; i++) {
		struct dir *other;
		void *s = NULL;
		AUTO(buf) struct buf b;

		assert_int_equal(0, setup(&s));
		other = s;
		keyring_close(create(other));
		load(other, names[i], &b);
		(void)teardown(&s);
		if (i == 0)
			keyring_close(create(d));
		{
			AUTO(buf) struct buf own;

			load(d, names[i], &own);
			store(d, names[i], &b);
			assert_refused(d);
			store(d, names[i], &own);
		}
	}
	keyring_close(reopen(d, NULL));
}

/* ---- epochs ------------------------------------------------------------- */

static void
an_epoch_roll_erases_the_old_key(void **state)
{
	struct dir *d = *state;
	AUTO(keyring) struct keyring *k = create(d);
	uint8_t old[PUB_BYTES], next[PUB_BYTES];
	struct err e;

	for (uint32_t n = 1; n <= 5; n++) {
		memcpy(old, keyring_pub(k, KEYUSE_EPOCH), sizeof(old));
		assert_int_equal(0, keyring_epoch_next(k, next, &e));
		/* Made and durable, and not in use yet. */
		assert_memory_equal(old, keyring_pub(k, KEYUSE_EPOCH),
		    sizeof(old));
		assert_int_equal(n - 1, keyring_epoch(k));
		assert_false(slot_free(d, n % 2));
		assert_int_equal(0, keyring_epoch_activate(k, &e));
		assert_memory_equal(next, keyring_pub(k, KEYUSE_EPOCH),
		    sizeof(next));
		assert_int_equal(n, keyring_epoch(k));
		assert_true(slot_free(d, 1 - n % 2));
		k = reopen(d, k);
		assert_memory_equal(next, keyring_pub(k, KEYUSE_EPOCH),
		    sizeof(next));
		assert_int_equal(n, keyring_epoch(k));
		assert_int_equal(0, keyring_epoch_settle(k, next, &e));
	}
}

static void
after_a_crash_the_journal_decides_which_epoch_counts(void **state)
{
	struct dir *d = *state;
	uint8_t pub[2][PUB_BYTES], sig[SIG_BYTES];
	AUTO(buf) struct buf both;
	struct err e;

	{
		AUTO(keyring) struct keyring *k = create(d);

		memcpy(pub[0], keyring_pub(k, KEYUSE_EPOCH), PUB_BYTES);
		assert_int_equal(0, keyring_epoch_next(k, pub[1], &e));
		load(d, "epoch.key", &both);
	}
	for (int i = 0; i < 2; i++) {
		AUTO(keyring) struct keyring *k = NULL;

		store(d, "epoch.key", &both);
		k = reopen(d, k);
		/* Until it has, there is none. */
		assert_false(keyring_has(k, KEYUSE_EPOCH));
		assert_null(keyring_pub(k, KEYUSE_EPOCH));
		assert_int_equal(-1, keyring_epoch_activate(k, &e));
		assert_int_equal(ERR_BUG, e.code);
		assert_int_equal(0, keyring_epoch_settle(k, pub[i], &e));
		assert_memory_equal(pub[i], keyring_pub(k, KEYUSE_EPOCH),
		    PUB_BYTES);
		assert_int_equal(i, keyring_epoch(k));
		assert_true(slot_free(d, 1 - i));
		keyring_sign_note(k, KEYUSE_EPOCH, STR("x\n"), sig);
		assert_int_equal(0, note_sig_check(STR("x\n"), sig, pub[i], &e));
		k = reopen(d, k);
		assert_true(keyring_has(k, KEYUSE_EPOCH));
	}
}

static void
an_epoch_key_that_was_never_enrolled_is_made_anew(void **state)
{
	struct dir *d = *state;
	AUTO(keyring) struct keyring *k = create(d);
	uint8_t first[PUB_BYTES], second[PUB_BYTES];
	struct err e;

	assert_int_equal(-1, keyring_epoch_activate(k, &e));
	assert_int_equal(ERR_BUG, e.code);
	assert_int_equal(0, keyring_epoch_next(k, first, &e));
	assert_int_equal(0, keyring_epoch_next(k, second, &e));
	assert_memory_not_equal(first, second, PUB_BYTES);
	assert_int_equal(0, keyring_epoch_activate(k, &e));
	assert_memory_equal(second, keyring_pub(k, KEYUSE_EPOCH), PUB_BYTES);
	assert_int_equal(1, keyring_epoch(k));
}

static void
a_torn_slot_is_free_and_is_erased(void **state)
{
	struct dir *d = *state;
	uint8_t pub[PUB_BYTES], next[PUB_BYTES];
	AUTO(buf) struct buf b;
	struct err e;

	{
		AUTO(keyring) struct keyring *k = create(d);

		memcpy(pub, keyring_pub(k, KEYUSE_EPOCH), sizeof(pub));
		assert_int_equal(0, keyring_epoch_next(k, next, &e));
	}
	load(d, "epoch.key", &b);
	for (size_t at = SLOT; at < SLOT + 200; at++) {
		AUTO(keyring) struct keyring *k = NULL;

		b.p[at] ^= 0x20;
		store(d, "epoch.key", &b);
		k = reopen(d, k);
		assert_memory_equal(pub, keyring_pub(k, KEYUSE_EPOCH),
		    sizeof(pub));
		assert_int_equal(0, keyring_epoch_settle(k, pub, &e));
		assert_true(slot_free(d, 1));
		b.p[at] ^= 0x20;
	}
}

static void
a_clean_start_writes_nothing(void **state)
{
	struct dir *d = *state;
	AUTO(keyring) struct keyring *k = create(d);
	struct stat before, after;
	uint8_t pub[PUB_BYTES];
	struct err e;

	memcpy(pub, keyring_pub(k, KEYUSE_EPOCH), sizeof(pub));
	assert_int_equal(0, fstatat(d->fd, "epoch.key", &before, 0));
	k = reopen(d, k);
	assert_int_equal(0, keyring_epoch_settle(k, pub, &e));
	assert_int_equal(0, fstatat(d->fd, "epoch.key", &after, 0));
	assert_memory_equal(&before.st_mtim, &after.st_mtim,
	    sizeof(before.st_mtim));
}

static void
an_epoch_key_that_the_journal_does_not_know_is_refused(void **state)
{
	AUTO(keyring) struct keyring *k = create(*state);
	static const uint8_t other[PUB_BYTES] = { 1 };
	struct err e;

	assert_int_equal(-1, keyring_epoch_settle(k, other, &e));
	assert_int_equal(ERR_UNTRUSTED, e.code);
	assert_false(slot_free(*state, 0));
}

static void
an_epoch_file_of_another_size_is_refused(void **state)
{
	struct dir *d = *state;
	AUTO(buf) struct buf b;

	keyring_close(create(d));
	load(d, "epoch.key", &b);
	buf_put_u8(&b, 0);
	store(d, "epoch.key", &b);
	assert_refused(d);
	b.n = SLOT;
	store(d, "epoch.key", &b);
	assert_refused(d);
}

int
main(void)
{
#define TEST(f) cmocka_unit_test_setup_teardown(f, setup, teardown)
	const struct CMUnitTest tests[] = {
		TEST(a_new_keyring_has_every_key_and_files_of_mode_0600),
		TEST(no_two_keys_are_alike),
		TEST(a_keyring_is_not_made_over_another),
		TEST(every_key_comes_back_and_signs),
		TEST(root_commits_to_the_root_after_it),
		TEST(the_pub_line_is_a_pin),
		TEST(root_and_recovery_may_be_away),
		TEST(log_and_epoch_may_not_be_away),
		TEST(files_that_others_may_read_are_refused),
		TEST(files_of_another_user_are_refused),
		TEST(links_and_other_things_are_refused),
		TEST(every_changed_byte_of_a_key_file_is_refused),
		TEST(keys_of_two_installations_do_not_mix),
		TEST(an_epoch_roll_erases_the_old_key),
		TEST(after_a_crash_the_journal_decides_which_epoch_counts),
		TEST(an_epoch_key_that_was_never_enrolled_is_made_anew),
		TEST(a_torn_slot_is_free_and_is_erased),
		TEST(a_clean_start_writes_nothing),
		TEST(an_epoch_key_that_the_journal_does_not_know_is_refused),
		TEST(an_epoch_file_of_another_size_is_refused),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
