/* SPDX-License-Identifier: ISC */
/*
 * genesis.c - the first state of a journal, all of it or nothing.
 *
 *	new.tmp/	being made; left by a crash, it is thrown away
 *	new/		whole and synced; its files are moved to their places,
 *			and a crash on the way only means to go on moving
 *
 * So the state directory never holds a database without its head, and a head
 * that is missing is never taken for a journal that is new.
 */
#include <sys/random.h>
#include <sys/stat.h>

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>

#include "base/fd.h"

#include "journal/inside.h"

static const char *const parts[] = {
	"keys", "journal.db-wal", "journal.db", "head",
};
enum { NPARTS = sizeof(parts) / sizeof(parts[0]) };

static int
first_record(struct journal_txn *t, struct err *e)
{
	AUTO(fields) struct fields f;
	AUTO(buf) struct buf msg;
	struct keyring *k = t->j->keys;
	struct draft d = { .machine = MACHINE_LOG, .event = LOG_EV_genesis,
	    .actor = ACTOR_SERVICE, .fields = &f, .expect_from = -1 };
	uint8_t sig[SIG_BYTES];

	fields_init(&f);
	fields_bytes(&f, FIELD_PUBLIC_KEY,
	    bytes_of(keyring_pub(k, KEYUSE_ROOT), PUB_BYTES));
	fields_bytes(&f, FIELD_INSTALL_SALT,
	    bytes_of(keyring_install_salt(k), 32));
	fields_bytes(&f, FIELD_NEXT_ROOT, bytes_of(keyring_next_root(k), 32));
	fields_bytes(&f, FIELD_RECOVERY_KEY,
	    bytes_of(keyring_pub(k, KEYUSE_RECOVERY), PUB_BYTES));
	fields_bytes(&f, FIELD_LOG_KEY,
	    bytes_of(keyring_pub(k, KEYUSE_LOG), PUB_BYTES));
	fields_u64(&f, FIELD_INCARNATION, 0);
	fields_u64(&f, FIELD_REDUCER, REDUCER);
	fields_text(&f, FIELD_VERSION, STR(GLOVE_VERSION));

	/* Signed is the record as it would be without the signature. */
	buf_init(&msg, RECORD_MAX);
	if (append_preview(t, &d, &msg, e))
		return -1;
	keyring_sign(k, KEYUSE_ROOT, LABEL_GENESIS, buf_bytes(&msg), sig);
	fields_bytes(&f, FIELD_GENESIS_SIG, BYTES(sig));
	return append_own(t, &d, e);
}

static int
first_commit(struct journal *j, struct err *e)
{
	AUTO(txn) struct journal_txn *t = NULL;
	static const enum key_use uses[] = { KEYUSE_ROOT, KEYUSE_RECOVERY,
	    KEYUSE_LOG, KEYUSE_EPOCH };

	if (txn_open(j, &t, e) || first_record(t, e))
		return -1;
	for (size_t i = 0; i < sizeof(uses) / sizeof(uses[0]); i++)
		if (enrol_key(t, uses[i], keyring_pub(j->keys, uses[i]), 0, e))
			return -1;
	return commit_own(&t, e);
}

/* An empty file of ours alone, before SQLite makes one that is less so. */
static int
make_file(int dirfd, const char *name, int flags, int *fd, struct err *e)
{
	*fd = openat(dirfd, name, O_RDWR | O_CREAT | O_EXCL | O_CLOEXEC |
	    O_NOFOLLOW | flags, 0600);
	return *fd < 0 ? err_set(e, ERR_SYS, "%s", name) : 0;
}

/* A head file of two empty slots; head_write() fills them. */
static int
make_head(struct journal *j, int dirfd, struct err *e)
{
	static const uint8_t empty[2 * HEAD_SLOT];

	if (make_file(dirfd, "head", O_DSYNC, &j->headfd, e) ||
	    fd_pwrite_full(j->headfd, empty, sizeof(empty), 0, e))
		return -1;
	memcpy(j->head.install, j->install, sizeof(j->install));
	head_machine(j->head.machine);
	if (getrandom(j->head.key, sizeof(j->head.key), 0) !=
	    (ssize_t)sizeof(j->head.key))
		return err_set(e, ERR_SYS, "getrandom");
	return 0;
}

/* Everything inside ${dirfd}, which is empty. */
static int
fill(int dirfd, struct err *e)
{
	AUTO(journal) struct journal *j = NULL;
	AUTO(fd) int keysfd = -1, dbfd = -1;
	struct db_opts o = { .create = 1 };
	char path[PATH_BYTES_MAX + 1];

	if ((j = start_new()) == NULL)
		return err_set(e, ERR_NOMEM, "journal");
	j->homefd = dirfd;
	if (clock_boot_id(j->boot_id, e) ||
	    fd_mkdir_open(dirfd, "keys", 0700, &keysfd, e) ||
	    keyring_create(keysfd, &j->keys, e))
		return -1;
	keyring_install_id(j->keys, j->install);
	(void)origin_str(j->install, 0, j->origin);
	if (make_head(j, dirfd, e) ||
	    make_file(dirfd, "journal.db", 0, &dbfd, e) ||
	    files_path(dirfd, "journal.db", path, sizeof(path), e) ||
	    db_open(path, &o, &j->db, e) || sql_create(j->db, e) ||
	    sql_keep(j->db, e))
		return -1;
	j->room = 1;
	/* Both slots, so that a torn one is not the only one. */
	if (first_commit(j, e) || head_write(j->headfd, &j->head, e) ||
	    room_make(j, e) || db_checkpoint(j->db, e))
		return -1;
	return 0;
}

static int
sync_dir(int fd, const char *name, struct err *e)
{
	return fsync(fd) ? err_set(e, ERR_SYS, "fsync %s", name) : 0;
}

static int
exists(int dirfd, const char *name)
{
	struct stat st;

	return fstatat(dirfd, name, &st, AT_SYMLINK_NOFOLLOW) == 0;
}

/* Throw away ${name}: at most two levels, made by us. */
static void
drop(int dirfd, const char *name)
{
	AUTO(fd) int fd = openat(dirfd, name,
	    O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
	DIR *dir;
	struct dirent *d;

	if (fd >= 0 && (dir = fdopendir(fd)) != NULL) {
		while ((d = readdir(dir)) != NULL) {
			if (strcmp(d->d_name, ".") == 0 ||
			    strcmp(d->d_name, "..") == 0)
				continue;
			if (unlinkat(fd, d->d_name, 0) && errno == EISDIR)
				drop(fd, d->d_name);
		}
		fd = -1;
		(void)closedir(dir);
	}
	(void)unlinkat(dirfd, name, AT_REMOVEDIR);
}

/* From new/ to where they belong; what has arrived is never overwritten. */
static int
move_in(int homefd, struct err *e)
{
	AUTO(fd) int from = -1;

	if (fd_mkdir_open(homefd, "new", 0700, &from, e))
		return -1;
	for (size_t i = 0; i < NPARTS; i++) {
		if (!exists(from, parts[i]))
			continue;
		if (renameat2(from, parts[i], homefd, parts[i],
		    RENAME_NOREPLACE))
			return err_set(e, ERR_SYS, "new/%s", parts[i]);
	}
	if (sync_dir(homefd, "the state directory", e) ||
	    sync_dir(from, "new", e))
		return -1;
	if (unlinkat(homefd, "new", AT_REMOVEDIR))
		return err_set(e, ERR_SYS, "rmdir new");
	return sync_dir(homefd, "the state directory", e);
}

int
genesis_settle(int homefd, struct err *e)
{
	if (exists(homefd, "new.tmp"))
		drop(homefd, "new.tmp");
	return exists(homefd, "new") ? move_in(homefd, e) : 0;
}

int
genesis_make(int homefd, struct err *e)
{
	AUTO(fd) int fd = -1;

	if (fd_mkdir_open(homefd, "new.tmp", 0700, &fd, e) || fill(fd, e) ||
	    sync_dir(fd, "new.tmp", e))
		return -1;
	if (renameat2(homefd, "new.tmp", homefd, "new", RENAME_NOREPLACE))
		return err_set(e, ERR_SYS, "new.tmp");
	if (sync_dir(homefd, "the state directory", e))
		return -1;
	return move_in(homefd, e);
}
