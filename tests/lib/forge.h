/* SPDX-License-Identifier: ISC */
#ifndef TESTS_LIB_FORGE_H
#define TESTS_LIB_FORGE_H

#include "journal/verify.h"

/*
 * Histories made by hand, with all the keys: good ones, and ones that a thief
 * of every key could make.  In memory; needs no journal.
 */
enum { FORGE_EPOCHS = 8, FORGE_SUBJECTS = 64 };

struct forge_key {
	struct id	id;
	uint8_t		pub[PUB_BYTES], sec[SEC_BYTES];
};

struct forge {
	struct forge_key root, log, epoch[FORGE_EPOCHS];
	size_t		 nepochs;	/* enrolled */
	size_t		 signer;	/* epoch that signs the next commit */
	uint8_t		 install[16], salt[32], mac_key[32], first_mac_key[32];
	char		 origin[ORIGIN_MAX];

	struct buf	 bytes;		/* the records, one after the other */
	size_t		*off;		/* n + 1 of them */
	size_t		 n, cap;
	struct tree_edge edge;
	struct commit_row *commit;
	size_t		 ncommits, capcommits;
	struct subject	 subject[FORGE_SUBJECTS];
	size_t		 nsubjects;
	struct subject	 self;		/* machine 0 */
	int		 has_self;
	struct sealed_row *sealed;	/* values are malloc()ed */
	size_t		 nsealed;
	struct buf	 note;		/* the signed checkpoint */
	int64_t		 clock_us;
	struct id	 session;	/* the last one of forge_story() */
};

extern const char forge_blob[];		/* the only blob there is */

void forge_init(struct forge *f);	/* keys and GENESIS; no commit yet */
void forge_done(struct forge *f);

/* forge_draft(f, machine, id, event, r): what the tables say comes next; the
 * caller may spoil it. */
void forge_draft(struct forge *f, int machine, const struct id *id, int event,
    struct record *r);
/* forge_add(f, r): append *${r} as it is; returns its index. */
uint64_t forge_add(struct forge *f, const struct record *r);
/* forge_event: both, with fields (may be NULL); sealed ones are sealed. */
uint64_t forge_event(struct forge *f, int machine, const struct id *id,
    int event, const struct fields *fields);
/* forge_fields(f, fields, r): put them into *${r}; sealed values are kept for
 * record ${index}. */
void forge_fields(struct forge *f, const struct fields *fields,
    uint64_t index, struct record *r, uint8_t digest[][32]);
void forge_epoch(struct forge *f);	/* enrol the next epoch key, retire the old */
void forge_commit(struct forge *f);	/* footer, signature, MAC */
void forge_publish(struct forge *f);	/* the checkpoint of what is there */

/* forge_story(f, sessions): a whole small history, committed and published;
 * three epochs if there are enough sessions. */
void forge_story(struct forge *f, size_t sessions);

struct bytes forge_record(const struct forge *f, size_t i);	/* borrowed */

/* Reading it: a source with cursors of its own. */
struct forge_source {
	const struct forge *f;
	size_t		 record, commit, sealed, derived;
	size_t		 records;	/* only so many are shown */
	int		 no_derived;
};
void forge_source(const struct forge *f, struct forge_source *fs,
    struct source *s);
/* forge_from(fs, s, from): what an export takes from it. */
struct export_from;
void forge_from(struct forge_source *fs, const struct source *s,
    struct export_from *from);
/* forge_receipt: of record ${index} under the published checkpoint. */
void forge_receipt(const struct forge *f, uint64_t index, struct buf *text);
/* forge_trust(f, t): as if its root key were pinned. */
void forge_trust(const struct forge *f, struct trusted *t);


/* forge_look(f, n, r): verify it with its key pinned; the first ${n} records are
 * shown.  forge_print: the report, into the test's output. */
enum answer forge_look(const struct forge *f, size_t n, struct report *r);
void forge_print(const struct report *r);
/* forge_fails: INVALID, and the check that says so is ${c}; or the test fails. */
void forge_fails(const struct forge *f, enum check c);

#endif
