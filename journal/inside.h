/* SPDX-License-Identifier: ISC */
#ifndef JOURNAL_INSIDE_H
#define JOURNAL_INSIDE_H

/*
 * What the files of the journal share and nobody else sees.
 *
 * Everything that a COMMIT would change in memory stands in struct
 * journal_txn until it has returned (J3); publishing is then a copy.
 */
#include "journal/db.h"
#include "journal/derive.h"
#include "journal/head.h"
#include "journal/journal.h"
#include "journal/keyring.h"
#include "journal/sql.h"
#include "journal/tiles.h"

/* Where the log is: what one commit moves on. */
struct position {
	uint64_t	size;		/* records */
	uint64_t	commits;
	uint32_t	log_seq;	/* next subject_seq of machine 0 */
	uint64_t	log_last;	/* newest record of machine 0 */
	int		started;	/* this process has its SERVICE record */
};

/* A record of the open transaction. */
struct entry {
	size_t		off, n;		/* in txn->bytes */
	struct hash	leaf;
	int		ours;		/* 1: not the caller's, no proof of it */
	int		linked;		/* 1: names another record */
};

struct journal_txn {
	struct journal	*j;
	struct now	 now;
	struct position	 at;		/* what it will be */
	struct buf	 bytes;		/* of the records, one after the other */
	struct entry	*entry;
	size_t		 nentry, cap;
	uint64_t	 base;		/* index of entry[0] */
	size_t		 checked;	/* entries whose links are whole */
	int		 broken;	/* a move failed half way: undo or drop it */
	int		 roll;		/* it enrols the next epoch key */
	int		 own;		/* worth a commit without the caller's */
	struct {			/* journal_save() */
		struct position	 at;
		size_t		 nentry, nbytes, checked;
		int		 roll, own, held;
	} save;
	struct tree_edge edge;		/* these two only once it commits */
	struct tiles	 tiles;
};

struct journal {
	struct db	*db;
	struct keyring	*keys;		/* NULL: read only */
	int		 lockfd, headfd, homefd;
	int		 read_only, unclean, restart, poisoned, in_txn;
	char		 origin[ORIGIN_MAX];
	uint8_t		 install[16], boot_id[16];
	uint8_t		 root_pub[PUB_BYTES], log_pub[PUB_BYTES];
	struct head	 head;		/* the newest commit */
	uint32_t	 epoch;		/* of the key that signs the next commit */
	uint64_t	 epoch_first;	/* commit that enrolled it */
	int64_t		 epoch_since_us;
	int		 epoch_unclean;	/* it saw a crash: time for the next */
	struct position	 at;
	struct tree_edge edge;
	struct tiles	 tiles;
	struct buf	 scratch;
	uint8_t		 salt[32 * 16];	/* random bytes, from the end on */
	size_t		 salts;		/* how many are left */
	int		 live;		/* 1: started; a refused start writes nothing */
	int		 room;		/* see room.c */
	int64_t		 room_tried_us;
	struct journal_txn txn;
};

/* txn.c */
int txn_open(struct journal *j, struct journal_txn **t, struct err *e) MUST_CHECK;
int txn_alive(const struct journal_txn *t, struct err *e) MUST_CHECK;

/* append.c: a record of the journal's own, of which nobody gets a proof. */
int append_own(struct journal_txn *t, const struct draft *d, struct err *e) MUST_CHECK;
/* append_preview: the bytes that ${d} would become now; nothing is written. */
int append_preview(struct journal_txn *t, const struct draft *d, struct buf *b,
    struct err *e) MUST_CHECK;

/* links.c: do the records since the last time name each other as they must? */
int append_links(struct journal_txn *t, struct err *e) MUST_CHECK;

/* commit.c */
int commit_own(struct journal_txn **t, struct err *e) MUST_CHECK;
int commit_load(struct journal *j, uint64_t no, struct journal_commit *c,
    struct err *e) MUST_CHECK;

/* enrol.c */
int enrol_key(struct journal_txn *t, enum key_use use,
    const uint8_t pub[PUB_BYTES], uint32_t epoch, struct err *e) MUST_CHECK;
void enrol_rolled(struct journal_txn *t);

/* genesis.c: make a journal in the state directory, all of it or nothing. */
int genesis_make(int homefd, struct err *e) MUST_CHECK;
/* genesis_settle: what an interrupted genesis_make() left. */
int genesis_settle(int homefd, struct err *e) MUST_CHECK;

/* classify.c: which row of verdict.def; and ${h} on to the commit after it. */
enum verdict classify(struct journal *j, const struct journal_commit *last);
void head_advance(struct head *h, const struct journal_commit *c);

/* start.c */
struct journal *start_new(void);

/* files.c */
struct found {
	int	db, head, keys;		/* 1: there */
};
/* files_path: where a directory is, for SQLite, which wants to know. */
int files_path(int dirfd, const char *name, char *out, size_t n, struct err *e)
    MUST_CHECK;
int files_private(int fd, struct err *e) MUST_CHECK;
int files_lock(struct journal *j, struct err *e) MUST_CHECK;
int files_settle(struct journal *j, struct found *f, struct err *e) MUST_CHECK;

/* room.c */
int room_make(struct journal *j, struct err *e) MUST_CHECK;
void room_retry(struct journal *j);
void room_after(struct journal *j);

#endif
