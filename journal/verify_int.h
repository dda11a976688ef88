/* SPDX-License-Identifier: ISC */
#ifndef JOURNAL_VERIFY_INT_H
#define JOURNAL_VERIFY_INT_H

#include "journal/subjects.h"
#include "journal/tilecut.h"
#include "journal/verify.h"

/* What the parts of the verifier share; nobody else includes this. */

/* ---- keys: verify_keys.c ------------------------------------------------ */

struct key_span {
	struct id	id;
	enum key_use	use;
	uint8_t		pub[PUB_BYTES];
	uint32_t	epoch;
	int		certified;	/* by the log key, for an epoch key */
	uint64_t	from;		/* record that made it active */
	uint64_t	until;		/* record that retired it, or UINT64_MAX */
	uint64_t	since;		/* first record not believed, or UINT64_MAX */
	uint64_t	signed_size;	/* of the newest commit that it signed */
};

enum { KEYS_MAX = 1 << 20 };

struct keys {
	uint8_t		 root_pub[PUB_BYTES], log_pub[PUB_BYTES];
	uint8_t		 recovery_pub[PUB_BYTES];
	int		 have_genesis, has_recovery;
	struct key_span	*key;
	size_t		 n, cap;
	uint64_t	 next_epoch;	/* lowest number that is free */
	size_t		 active;	/* epoch key in force, or SIZE_MAX */
	size_t		 signer;	/* the one of the commit that is being read */
};

/* ---- subjects: verify_state.c ------------------------------------------- */

struct states {
	struct subjects	 all;
	uint64_t	 edges, refused;
	int		 compared;
};

/* ---- records that wait for the end of their commit: verify_links.c ------ */

struct pending {
	uint64_t	index;
	uint8_t		machine, event;
	struct id	subject;
	int		has_link, has_cause;
	uint64_t	link, cause;
	int		has_other;	/* it names a session: this */
	struct id	other;
};

struct links {
	struct pending	*p;
	size_t		 n, cap;
	struct pending	*cause;		/* what may be named as a cause, for good */
	size_t		 ncause, capcause;
	uint64_t	 linked, causes;
};

/* ---- receipts and blobs, read beforehand: verify_extra.c ---------------- */

enum { RECEIPTS_MAX = 1 << 16, BLOBS_MAX = 1 << 20 };

struct receipt_row {
	struct checkpoint checkpoint;
	char		*note;		/* text and signature lines */
	struct str	 text, sigs;	/* in it */
};

struct blob_row {
	uint8_t		name[32];
	int		named;		/* by a record */
};

struct extras {
	struct receipt_row *receipt;	/* ascending by size */
	size_t		 nreceipts, capreceipts, next;
	struct blob_row	*blob;		/* ascending by name */
	size_t		 nblobs, capblobs;
	struct sealed_row sealed;	/* the next one */
	int		 have_sealed;
	uint64_t	 nsealed;	/* fields in the records */
	uint64_t	 ndisclosed;
};

/* ---- commits: verify_commits.c ------------------------------------------ */

struct commits {
	uint64_t	n;
	uint64_t	size;		/* after the newest */
	struct hash	root;
	struct commit_row row;		/* stored, of the newest */
	int		have_row;
	size_t		signer;		/* key of the newest, or SIZE_MAX */
	int		checked;	/* its signature was */
	uint64_t	nchecked;
	uint8_t		mac_key[32];	/* of the next one */
};

struct verify {
	const struct source	 *src;
	const struct verify_opts *o;
	struct report		 *r;
	struct tilecut		 *tree;
	uint8_t			  install[INSTALL_ID_BYTES];	/* of record 0 */
	uint32_t		  incarnation;
	char			  origin[ORIGIN_MAX];

	struct buf		  note;		/* the source's checkpoint */
	struct checkpoint	  head;
	struct str		  text, sigs;
	struct checkpoint	  against;	/* origin empty: none */
	struct str		  against_text, against_sigs;
	int			  against_met;

	/* faults by kind; the worst one decides */
	int			  wrong, unreadable, revoked, missing;

	struct keys		  keys;
	struct states		  states;
	struct links		  links;
	struct extras		  extras;
	struct commits		  commits;
};

/* A fault is wrong, missing, revoked or unreadable; the first sentence of a
 * check stays. */
void check_fail(struct verify *v, enum check c, const char *fmt, ...)
    __attribute__((format(printf, 3, 4)));
void check_missing(struct verify *v, enum check c, const char *fmt, ...)
    __attribute__((format(printf, 3, 4)));
void check_revoked(struct verify *v, const char *fmt, ...)
    __attribute__((format(printf, 2, 3)));
/* check_source(v, c, e): the source failed with ${e}. */
void check_source(struct verify *v, enum check c, const struct err *e);
/* check_pass, check_skip: unless it has failed. */
void check_pass(struct verify *v, enum check c, const char *fmt, ...)
    __attribute__((format(printf, 3, 4)));
void check_skip(struct verify *v, enum check c, const char *fmt, ...)
    __attribute__((format(printf, 3, 4)));

/* verify_judge: what the faults come to. */
enum answer verify_judge(const struct verify *v);

void keys_record(struct verify *v, const struct record *r);
/* keys_commit(v, epoch, size): the key that signs this commit, or NULL. */
struct key_span *keys_commit(struct verify *v, uint64_t epoch, uint64_t size);
void keys_next(struct verify *v);	/* another commit begins */
void keys_end(struct verify *v);	/* trusted? revoked? */
/* keys_put: the key history, the file keys.txt of an export. */
void keys_put(struct buf *b, const struct keys *k, const uint8_t install[16]);
void keys_done(struct keys *k);

void states_record(struct verify *v, const struct record *r);
void states_compare(struct verify *v);	/* with the stored ones */

void links_record(struct verify *v, const struct record *r);
void links_commit(struct verify *v);	/* the commit is whole */
void links_done(struct links *l);

/* commits_record: after ${r} is in the tree; a footer closes a commit. */
void commits_record(struct verify *v, const struct record *r);
void commits_end(struct verify *v);

void extras_begin(struct verify *v);
void extras_record(struct verify *v, const struct record *r);
void extras_commit(struct verify *v, uint64_t size, const struct hash *root,
    const struct key_span *signer);
void extras_end(struct verify *v);
void extras_done(struct extras *x);

#endif
