/* SPDX-License-Identifier: ISC */
/* start.c - what a start finds, and what it may settle by itself. */
#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <string.h>
#include <sys/stat.h>

#include "base/limits.h"

#include "journal/inside.h"

struct journal *
start_new(void)
{
	struct journal *j = calloc(1, sizeof(*j));

	if (j == NULL)
		return NULL;
	j->homefd = j->lockfd = j->headfd = -1;
	buf_init(&j->scratch, 4096);
	buf_init(&j->txn.bytes, 64 << 20);
	return j;
}

/* ---- what the database says --------------------------------------------- */

static int
open_db(struct journal *j, struct err *e)
{
	struct db_opts o = { .read_only = j->read_only };
	char path[PATH_BYTES_MAX + 1];

	if (files_path(j->homefd, "journal.db", path, sizeof(path), e) ||
	    db_open(path, &o, &j->db, e) || sql_check(j->db, e) ||
	    sql_keep(j->db, e))
		return -1;
	return 0;
}

/* GENESIS: who this log is, and that its root key says so. */
static int
read_genesis(struct journal *j, struct err *e)
{
	AUTO(buf) struct buf b;
	struct record r;
	struct bytes root, log, salt;
	uint8_t id[16];

	buf_init(&b, RECORD_MAX);
	if (journal_record(j, 0, &b, e) || record_decode(buf_bytes(&b), &r, e))
		return -1;
	root = record_field(&r, FIELD_PUBLIC_KEY);
	log = record_field(&r, FIELD_LOG_KEY);
	salt = record_field(&r, FIELD_INSTALL_SALT);
	if (r.machine != MACHINE_LOG || r.event != LOG_EV_genesis ||
	    root.n != PUB_BYTES || log.n != PUB_BYTES || salt.n != 32)
		return err_set(e, ERR_CORRUPT, "record 0 is no genesis");
	install_id_of(root.p, salt.p, id);
	if (memcmp(id, r.install, sizeof(id)) != 0)
		return err_set(e, ERR_CORRUPT, "record 0 is of another install");
	memcpy(j->install, id, sizeof(j->install));
	memcpy(j->root_pub, root.p, PUB_BYTES);
	memcpy(j->log_pub, log.p, PUB_BYTES);
	return 0;
}

static int
last_commit(struct journal *j, struct journal_commit *c, struct err *e)
{
	int64_t n, no;

	if (db_number(j->db, "SELECT max(no) FROM commit_row", &no, e) ||
	    db_number(j->db, "SELECT max(idx) + 1 FROM record", &n, e) ||
	    commit_load(j, (uint64_t)no, c, e))
		return -1;
	if ((uint64_t)n != c->size)
		return err_set(e, ERR_CORRUPT, "%" PRId64 " records where the"
		    " last commit has %" PRIu64, n, c->size);
	j->at.size = c->size;
	j->at.commits = c->no + 1;
	return 0;
}

static int
load_tree(struct journal *j, const struct journal_commit *c, struct err *e)
{
	struct tiles_ctx ctx = { &j->tiles, j->db };
	struct tree_reader reader = tiles_reader(&ctx);
	struct hash root;

	if (tiles_load(&j->tiles, j->db, c->size, e) ||
	    tree_edge_load(&reader, c->size, &j->edge, e))
		return -1;
	tree_root(&j->edge, &root);
	if (memcmp(&root, &c->root, sizeof(root)) != 0)
		return err_set(e, ERR_CORRUPT, "the root of commit %" PRIu64,
		    c->no);
	return 0;
}

/* Machine 0 has no derived row; the last record of a commit is a footer. */
static int
load_log(struct journal *j, uint64_t *incarnation, struct err *e)
{
	AUTO(buf) struct buf b;
	struct record r;

	buf_init(&b, RECORD_MAX);
	if (journal_record(j, j->at.size - 1, &b, e) ||
	    record_decode(buf_bytes(&b), &r, e))
		return -1;
	if (r.machine != MACHINE_LOG || r.event != LOG_EV_commit_footer)
		return err_set(e, ERR_CORRUPT, "record %" PRIu64 " is no footer",
		    r.index);
	if (record_u64(&r, FIELD_INCARNATION, incarnation))
		return err_set(e, ERR_CORRUPT, "a footer without incarnation");
	j->at.log_last = r.index;
	j->at.log_seq = r.subject_seq + 1;
	return 0;
}

/* ---- head and keys ------------------------------------------------------ */

/* Both slots afresh: what the cache shows may not be on disk. */
static int
rewrite_head(struct journal *j, struct err *e)
{
	if (head_write(j->headfd, &j->head, e) ||
	    head_write(j->headfd, &j->head, e)) {
		e->code = ERR_JOURNAL;
		return -1;
	}
	return 0;
}

static int
refuse(enum verdict v, enum verdict *out, struct err *e)
{
	*out = v;
	return err_say(e, ERR_RECOVER, "%s: %s", verdict_name((int)v),
	    verdict_doc((int)v));
}

static int
open_head(struct journal *j, enum verdict *v, struct err *e)
{
	uint8_t here[16];
	struct err why;
	int good;

	j->headfd = openat(j->homefd, "head", O_CLOEXEC | O_NOFOLLOW |
	    (j->read_only ? O_RDONLY : O_RDWR | O_DSYNC));
	if (j->headfd < 0 && errno != ENOENT)
		return err_set(e, ERR_SYS, "head");
	if (j->headfd < 0 || head_read(j->headfd, &j->head, &good, &why)) {
		if (!j->read_only)
			return refuse(VERDICT_HEAD_LOST, v, e);
		*v = VERDICT_HEAD_LOST;
		return 0;
	}
	head_machine(here);
	if (!j->read_only && memcmp(here, j->head.machine, sizeof(here)) != 0)
		return refuse(VERDICT_CLONED, v, e);
	return 0;
}

static int
open_keys(struct journal *j, struct err *e)
{
	AUTO(fd) int fd = openat(j->homefd, "keys",
	    O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
	AUTO(row) struct stmt *s = NULL;
	uint8_t active[PUB_BYTES];
	struct subject key;
	struct id id;
	int got, found;

	if (fd < 0) {
		(void)err_say(e, ERR_CONFIG, "the directory keys of the state"
		    " directory cannot be opened: %s", strerror(errno));
		return err_fix(e, "put it back: nothing can be signed without"
		    " log.key and epoch.key");
	}
	if (keyring_open(fd, &j->keys, e))
		return -1;
	if (memcmp(keyring_pub(j->keys, KEYUSE_LOG), j->log_pub, PUB_BYTES) != 0)
		return err_set(e, ERR_CONFIG, "log.key is not the key that the"
		    " journal names");
	got = db_first(j->db, SQL_KEY_ACTIVE, VALS(VI(KEYUSE_EPOCH),
	    VI(KEY_ACTIVE)), &s, e);
	if (got != 1)
		return got < 0 ? -1 : err_set(e, ERR_CORRUPT, "no epoch key");
	if (stmt_copy(s, 0, id.b, ID_BYTES, e) ||
	    stmt_copy(s, 1, active, sizeof(active), e) ||
	    keyring_epoch_settle(j->keys, active, e))
		return -1;
	if (derive_get(j->db, MACHINE_KEY, &id, &key, &found, e) ||
	    journal_commit_of(j, key.first, &j->epoch_first, e))
		return -1;
	j->epoch = (uint32_t)stmt_int(s, 2);
	j->epoch_since_us = key.born_us;
	return 0;
}

/* ---- open --------------------------------------------------------------- */

/* Was gloved up when it ended?  Then it did not end in order. */
static int
look_back(struct journal *j, enum verdict v, struct err *e)
{
	struct subject s;
	struct id id;
	int found;

	memcpy(id.b, j->install, ID_BYTES);
	if (derive_get(j->db, MACHINE_SERVICE, &id, &s, &found, e))
		return -1;
	j->restart = v == VERDICT_CRASH_WINDOW;
	j->unclean = j->restart || (found && s.state == SERVICE_UP);
	j->epoch_unclean = j->unclean;
	return 0;
}

/* A replay that differs is mended from the records, if a person said so. */
static int
check_derived(struct journal *j, int rebuild, enum verdict *v, struct err *e)
{
	struct err why;

	if (derive_check_live(j->db, &why) == 0)
		return 0;
	if (why.code != ERR_CORRUPT || db_damaged(j->db)) {
		*e = why;
		return -1;
	}
	if (!rebuild || j->read_only) {
		(void)refuse(VERDICT_STATE_DRIFT, v, e);
		return err_why(e, "%s", why.msg);
	}
	if (db_begin(j->db, e) || derive_rebuild(j->db, e) ||
	    db_commit(j->db, e) != DB_COMMITTED) {
		db_rollback(j->db);
		return -1;
	}
	return 0;
}

/* What went wrong inside the database, as a verdict. */
static int
damaged(struct journal *j, enum verdict *v, struct err *e)
{
	struct err why = *e;

	if (why.code != ERR_CORRUPT && why.code != ERR_FORMAT &&
	    why.code != ERR_NOTFOUND)
		return -1;
	(void)refuse(j->db == NULL || db_damaged(j->db) ? VERDICT_DB_DAMAGED :
	    VERDICT_CORRUPT, v, e);
	return err_why(e, "%s", why.msg);
}

static int
attach(struct journal *j, const struct journal_opts *o, enum verdict *v,
    struct err *e)
{
	struct journal_commit last;
	uint64_t incarnation;
	struct err e2;

	if (open_db(j, e) || read_genesis(j, e) || last_commit(j, &last, e) ||
	    load_log(j, &incarnation, e))
		return damaged(j, v, e);
	(void)origin_str(j->install, (uint32_t)incarnation, j->origin);
	if (*v != VERDICT_HEAD_LOST)
		*v = classify(j, &last);
	if (!verdict_opens((int)*v) && !j->read_only)
		return refuse(*v, v, e);
	if (load_tree(j, &last, e))
		return damaged(j, v, e);
	if (check_derived(j, o->rebuild, v, e))
		return -1;
	if (j->read_only) {
		head_advance(&j->head, &last);
		return 0;
	}
	if (open_keys(j, e) || look_back(j, *v, e))
		return -1;
	if (*v == VERDICT_CRASH_WINDOW)
		head_advance(&j->head, &last);
	if (rewrite_head(j, e))
		return -1;
	(void)!room_make(j, &e2);	/* without it only removals */
	j->live = 1;
	return 0;
}

static int
find_or_make(struct journal *j, const struct journal_opts *o,
    enum verdict *v, int *made, struct err *e)
{
	struct found f;
	struct stat st;

	*made = 0;
	if (!j->read_only && genesis_settle(j->homefd, e))
		return -1;
	if (files_settle(j, &f, e))
		return -1;
	/* An empty file would be made a database by looking at it. */
	if (f.db && !(f.head && fstatat(j->homefd, "journal.db", &st,
	    AT_SYMLINK_NOFOLLOW) == 0 && st.st_size == 0))
		return 0;
	if (f.head || f.keys)
		return refuse(VERDICT_LOST_ALL, v, e);
	if (!o->create || j->read_only)
		return err_say(e, ERR_NOTFOUND, "there is no journal here");
	*made = 1;
	return genesis_make(j->homefd, e);
}

int
journal_open(const struct journal_opts *o, struct journal **out,
    enum verdict *verdict, struct err *e)
{
	AUTO(journal) struct journal *j = NULL;
	enum verdict v = VERDICT_CLEAN;
	int made;

	if ((j = start_new()) == NULL)
		return err_set(e, ERR_NOMEM, "journal");
	j->homefd = o->homefd;
	j->read_only = o->read_only;
	if (clock_boot_id(j->boot_id, e) ||
	    (!o->read_only && (files_private(j->homefd, e) || files_lock(j, e))))
		return -1;
	if (find_or_make(j, o, &v, &made, e) || open_head(j, &v, e) ||
	    attach(j, o, &v, e)) {
		if (e->code == ERR_RECOVER)
			*verdict = v;
		return -1;
	}
	*verdict = made ? VERDICT_NEW : v;
	*out = TAKE(j);
	return 0;
}
