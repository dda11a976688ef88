/* SPDX-License-Identifier: ISC */
/*
 * source_db.c - reading the database of a state directory for verification.
 * It is asked plainly, in the order of its keys; nothing of the journal's own
 * code stands between its rows and the checks.
 */
#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "base/limits.h"

#include "journal/derive.h"
#include "journal/head.h"
#include "journal/source_db.h"
#include "journal/sql.h"
#include "journal/tilecut.h"

struct source_db {
	struct db	*db;
	struct head	 head;
	int		 have_head;
	struct commit_row last;
	uint8_t		 install[INSTALL_ID_BYTES];
	uint64_t	 next;		/* record */
	uint64_t	 tiles;		/* complete ones that were compared */
	struct stmt	*records, *commits, *sealed, *ids;
	int		 machine;	/* whose ids are being read */
};

/* Ask once, then row by row: 1, 0 at the end, -1. */
static int
next_row(struct source_db *d, struct stmt **s, const char *sql, struct err *e)
{
	if (*s == NULL && db_query(d->db, sql, NOVALS, s, e))
		return -1;
	return stmt_next(d->db, *s, e);
}

/* ---- the end of the log ------------------------------------------------- */

#define COMMIT_SELECT							\
	"SELECT c.no, c.size, c.root, c.epoch, c.mac, s.sig"		\
	" FROM commit_row c LEFT JOIN key k ON k.use = 4"		\
	" AND k.epoch = c.epoch LEFT JOIN commit_sig s"			\
	" ON s.no = c.no AND s.key = k.id"

static int
load_commit(struct stmt *s, struct commit_row *c, struct err *e)
{
	c->no = (uint64_t)stmt_int(s, 0);
	c->size = (uint64_t)stmt_int(s, 1);
	c->epoch = (uint32_t)stmt_int(s, 3);
	if (stmt_null(s, 5))
		return err_say(e, ERR_CORRUPT,
		    "the signature of commit %" PRIu64 " is missing", c->no);
	return stmt_copy(s, 2, c->root.b, sizeof(c->root.b), e) ||
	    stmt_copy(s, 4, c->mac, sizeof(c->mac), e) ||
	    stmt_copy(s, 5, c->sig, sizeof(c->sig), e) ? -1 : 0;
}

/* One row, or CORRUPT. */
static int
one_row(struct source_db *d, const char *sql, const struct val *v, size_t n,
    struct stmt **s, struct err *e)
{
	int got;

	if (db_query(d->db, sql, v, n, s, e))
		return -1;
	got = stmt_next(d->db, *s, e);
	return got == 1 ? 0 : got < 0 ? -1 :
	    err_say(e, ERR_CORRUPT, "the database has no whole commit");
}

static int
load_end(struct source_db *d, struct err *e)
{
	AUTO(stmt) struct stmt *s = NULL, *first = NULL;
	struct bytes b;

	if (one_row(d, COMMIT_SELECT " ORDER BY c.no DESC LIMIT 1", NOVALS, &s,
	    e) || load_commit(s, &d->last, e) ||
	    one_row(d, "SELECT bytes FROM record ORDER BY idx LIMIT 1", NOVALS,
	    &first, e))
		return -1;
	b = stmt_blob(first, 0);
	if (b.n < RECORD_HEADER)
		return err_say(e, ERR_CORRUPT, "the first record is none");
	memcpy(d->install, b.p + 16, sizeof(d->install));
	return 0;
}

/* The note that the newest commit row stands for, under the epoch key. */
static int
get_checkpoint(void *ctx, struct buf *note, struct err *e)
{
	struct source_db *d = ctx;
	AUTO(stmt) struct stmt *s = NULL;
	struct checkpoint c = { .size = d->last.size, .root = d->last.root };
	uint8_t pub[PUB_BYTES];

	(void)origin_str(d->install, d->have_head ? d->head.incarnation : 0,
	    c.origin);
	if (one_row(d, "SELECT pub FROM key WHERE use = 4 AND epoch = ?",
	    VALS(VI(d->last.epoch)), &s, e) ||
	    stmt_copy(s, 0, pub, sizeof(pub), e))
		return -1;
	checkpoint_text(&c, note);
	buf_put_u8(note, '\n');
	note_sig_put(note, c.origin, pub, d->last.sig);
	return buf_ok(note, "checkpoint", e);
}

/* ---- rows --------------------------------------------------------------- */

/* The columns are a copy of what stands in the header, for finding things. */
static int
same_columns(struct stmt *s, uint64_t index, struct bytes b)
{
	static const uint8_t zeros[ID_BYTES];
	struct cur c = cur_of(b);
	uint64_t prev;

	if (b.n < RECORD_HEADER || (uint64_t)stmt_int(s, 0) != index ||
	    stmt_int(s, 1) != b.p[5] || !bytes_eq(stmt_blob(s, 2),
	    bytes_of(b.p[5] == 0 ? zeros : b.p + 70, ID_BYTES)))
		return 0;
	(void)cur_take(&c, 80);
	if (stmt_int(s, 3) != cur_u32(&c))
		return 0;
	prev = cur_u64(&c);
	if (stmt_null(s, 4) ? prev != RECORD_NO_PREV :
	    (uint64_t)stmt_int(s, 4) != prev)
		return 0;
	return stmt_int(s, 5) == b.p[92] && stmt_int(s, 6) == b.p[93] &&
	    stmt_int(s, 7) == b.p[94] &&
	    stmt_int(s, 8) == (b.p[7] & RECORD_REFUSED);
}

static int
get_record(void *ctx, struct bytes *b, struct err *e)
{
	struct source_db *d = ctx;
	int got = next_row(d, &d->records, "SELECT idx, machine, subject,"
	    " subject_seq, prev, event, from_st, to_st, refused, bytes"
	    " FROM record ORDER BY idx", e);

	if (got != 1)
		return got;
	*b = stmt_blob(d->records, 9);
	if (!same_columns(d->records, d->next, *b))
		return err_say(e, ERR_CORRUPT, "the columns of record %" PRIu64
		    " are not what its bytes say", d->next);
	d->next++;
	return 1;
}

static int
get_commit(void *ctx, struct commit_row *c, struct err *e)
{
	struct source_db *d = ctx;
	int got = next_row(d, &d->commits, COMMIT_SELECT " ORDER BY c.no", e);

	return got != 1 ? got : load_commit(d->commits, c, e) ? -1 : 1;
}

static int
get_sealed(void *ctx, struct sealed_row *row, struct err *e)
{
	struct source_db *d = ctx;
	int got = next_row(d, &d->sealed, "SELECT idx, tag, salt, value"
	    " FROM sealed ORDER BY idx, tag", e);

	if (got != 1)
		return got;
	row->index = (uint64_t)stmt_int(d->sealed, 0);
	row->tag = (int)stmt_int(d->sealed, 1);
	row->value = stmt_blob(d->sealed, 3);
	return stmt_copy(d->sealed, 2, row->salt, sizeof(row->salt), e) ? -1 : 1;
}

static int
get_derived(void *ctx, struct subject *out, struct err *e)
{
	struct source_db *d = ctx;
	struct id id;
	char sql[64];
	int got, found;

	for (;; d->machine++) {
		if (d->machine >= MACHINE_END)
			return 0;
		if (d->machine == MACHINE_LOG || !machine_valid(d->machine))
			continue;
		(void)snprintf(sql, sizeof(sql), "SELECT id FROM %s",
		    machine_name(d->machine));
		if ((got = next_row(d, &d->ids, sql, e)) != 0)
			break;
		stmt_free(TAKE(d->ids));
	}
	if (got < 0 || stmt_copy(d->ids, 0, id.b, sizeof(id.b), e) ||
	    derive_get(d->db, d->machine, &id, out, &found, e))
		return -1;
	return found ? 1 : err_say(e, ERR_CORRUPT, "a row of the table %s",
	    machine_name(d->machine));
}

/* Only complete tiles are stored, each with its root. */
static int
check_tile(void *ctx, const struct tile *t, struct err *e)
{
	struct source_db *d = ctx;
	AUTO(stmt) struct stmt *s = NULL;
	struct tree_edge edge = { .size = 0 };
	struct hash root;

	if (t->width != TILE_WIDTH)
		return 0;
	for (unsigned i = 0; i < TILE_WIDTH; i++)
		tree_append(&edge, &t->hash[i]);
	tree_root(&edge, &root);
	if (one_row(d, "SELECT hashes, root FROM tile WHERE level = ? AND n = ?",
	    VALS(VI(t->level), VI(t->n)), &s, e) ||
	    !bytes_eq(stmt_blob(s, 0),
	    bytes_of(t->hash, TILE_WIDTH * sizeof(*t->hash))) ||
	    !bytes_eq(stmt_blob(s, 1), BYTES(root.b)))
		return err_say(e, ERR_CORRUPT, "tile %u/%" PRIu64 " of the"
		    " database does not hold the hashes of the records",
		    t->level, t->n);
	d->tiles++;
	return 0;
}

/* ---- the head file ------------------------------------------------------ */

static int
same_as_head(const struct source_db *d)
{
	const struct head *h = &d->head;
	const struct commit_row *c = &d->last;

	return h->commit_no == c->no && h->epoch == c->epoch &&
	    memcmp(h->root.b, c->root.b, sizeof(h->root.b)) == 0 &&
	    memcmp(h->sig, c->sig, sizeof(h->sig)) == 0 &&
	    memcmp(h->mac, c->mac, sizeof(h->mac)) == 0;
}

/* One commit after the head: a crash came between; the ratchet tells. */
static int
follows_head(const struct source_db *d)
{
	struct checkpoint c = { .size = d->last.size, .root = d->last.root };
	AUTO(buf) struct buf text;
	uint8_t mac[MAC_BYTES];

	(void)origin_str(d->install, d->head.incarnation, c.origin);
	buf_init(&text, 512);
	checkpoint_text(&c, &text);
	commit_mac(d->head.key, (struct str){ (const char *)text.p, text.n },
	    d->last.sig, mac);
	return d->last.no == d->head.commit_no + 1 &&
	    memcmp(mac, d->last.mac, sizeof(mac)) == 0;
}

static int
finish(void *ctx, struct str keys, struct err *e)
{
	struct source_db *d = ctx;
	int64_t n;

	(void)keys;
	if (db_number(d->db, "SELECT count(*) FROM tile", &n, e))
		return -1;
	if ((uint64_t)n != d->tiles && d->next == d->last.size)
		return err_say(e, ERR_CORRUPT, "there are %" PRId64 " tiles in"
		    " the database, and %" PRIu64 " belong there", n, d->tiles);
	if (!d->have_head || d->head.size > d->last.size)
		return 0;	/* the second is said under completeness */
	if (memcmp(d->head.install, d->install, sizeof(d->install)) != 0)
		return err_say(e, ERR_CORRUPT,
		    "the head file is of another installation");
	if (d->head.size == d->last.size ? same_as_head(d) : follows_head(d))
		return 0;
	return err_say(e, ERR_CORRUPT, "head file and database are two"
	    " histories: one of them was put back or written by somebody else");
}

static int
open_head(struct source_db *d, int dirfd, struct err *e)
{
	AUTO(fd) int fd = openat(dirfd, "head",
	    O_RDONLY | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC);
	int good;

	if (fd < 0)
		return errno == ENOENT ? 0 : err_set(e, ERR_SYS, "head");
	if (head_read(fd, &d->head, &good, e))
		return err_wrap(e, "head file");
	d->have_head = 1;
	return 0;
}

int
source_db_open(const char *path, struct source_db **out, struct source *s,
    struct err *e)
{
	static const struct source_ops ops = {
		.checkpoint = get_checkpoint, .record = get_record,
		.commit = get_commit, .sealed = get_sealed,
		.derived = get_derived, .tile = check_tile, .finish = finish,
	};
	AUTO(source_db) struct source_db *d = calloc(1, sizeof(*d));
	AUTO(fd) int dirfd = open(path, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	struct db_opts o = { .read_only = 1 };
	char file[PATH_BYTES_MAX + 1];

	if (d == NULL)
		return err_set(e, ERR_NOMEM, "%s", path);
	if (dirfd < 0)
		return err_set(e, errno == ENOENT ? ERR_NOTFOUND : ERR_SYS,
		    "%s", path);
	if (snprintf(file, sizeof(file), "%s/journal.db", path) >=
	    (int)sizeof(file))
		return err_set(e, ERR_TOOBIG, "%s", path);
	if (open_head(d, dirfd, e) || db_open(file, &o, &d->db, e) ||
	    sql_check(d->db, e) || sql_keep(d->db, e) || load_end(d, e))
		return -1;
	*s = (struct source){ .ops = &ops, .ctx = d, .epoch_only = 1,
	    .size = d->head.size, .finish_says = d->have_head ?
	    "head file, tiles and columns agree with the records" :
	    "tiles and columns agree with the records; there is no head file" };
	if (d->have_head)
		s->size_from = "the head file";
	*out = TAKE(d);
	return 0;
}

void
source_db_close(struct source_db *d)
{
	if (d == NULL)
		return;
	stmt_free(d->records);
	stmt_free(d->commits);
	stmt_free(d->sealed);
	stmt_free(d->ids);
	db_close(d->db);
	explicit_bzero(&d->head, sizeof(d->head));
	free(d);
}
