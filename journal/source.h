/* SPDX-License-Identifier: ISC */
#ifndef JOURNAL_SOURCE_H
#define JOURNAL_SOURCE_H

#include "journal/fold.h"
#include "journal/sign.h"

/*
 * Where a history comes from: an export directory, a running gloved, a copy of
 * a state directory, memory.  Everything is pulled, in order, once, so that a
 * verification of any length runs in bounded memory.
 */
struct commit_row {
	uint64_t	no, size;
	struct hash	root;
	uint32_t	epoch;
	uint8_t		sig[SIG_BYTES];
	uint8_t		mac[MAC_BYTES];
};

struct sealed_row {
	uint64_t	index;
	int		tag;
	uint8_t		salt[32];
	struct bytes	value;		/* borrowed until the next call */
};

/* Up to 256 hashes of one level, from leaf (or tile) n * 256 on. */
struct tile {
	unsigned	level;		/* 0: leaf hashes */
	uint64_t	n;
	unsigned	width;		/* 1..256; less only at the right edge */
	const struct hash *hash;
};

/*
 * Every operation may be NULL: the source does not have such a thing.  Those
 * that iterate answer 1 with the next one, 0 at the end, -1 with *e: CORRUPT
 * or FORMAT for bytes that are wrong, NOTFOUND for what is missing, anything
 * else for what could not be read.
 */
struct source_ops {
	/* checkpoint: the newest signed note; the first call of all. */
	int (*checkpoint)(void *ctx, struct buf *note, struct err *e);
	int (*record)(void *ctx, struct bytes *b, struct err *e);
	int (*commit)(void *ctx, struct commit_row *c, struct err *e);
	/* sealed: ascending by index, then tag. */
	int (*sealed)(void *ctx, struct sealed_row *s, struct err *e);
	/* derived: the stored state, any order; after the last record. */
	int (*derived)(void *ctx, struct subject *s, struct err *e);
	/* receipt: the text of one; before the first record. */
	int (*receipt)(void *ctx, struct buf *text, struct err *e);
	/* blob: what its name says, and what its bytes are; before records. */
	int (*blob)(void *ctx, uint8_t name[32], uint8_t digest[32],
	    struct err *e);
	/* tile: 0 if the stored one has just these hashes. */
	int (*tile)(void *ctx, const struct tile *t, struct err *e);
	/* finish: 0 if all else is as it should be, given the key history as
	 * keys_put() writes it. */
	int (*finish)(void *ctx, struct str keys, struct err *e);
};

struct source {
	const struct source_ops	*ops;
	void			*ctx;
	/* Somebody outside the records who knows how many there are, or NULL:
	 * "the head file". */
	const char		*size_from;
	uint64_t		 size;
	const char		*finish_says; /* what is right if finish is */
	int			 live;	/* it may grow while it is read */
	int			 epoch_only; /* no log key's signature: it never
					 * left gloved */
};

/* commit_line_put, commit_line_parse: a line of the file `commits': number,
 * size, root, epoch, signature, MAC; numbers decimal, the rest in hex, one
 * blank between, LF at the end (not part of ${line}). */
void commit_line_put(struct buf *b, const struct commit_row *c);
int commit_line_parse(struct str line, struct commit_row *c, struct err *e)
    MUST_CHECK;
/* sealed_line_put, sealed_line_parse: a line of sealed.jsonl; FORMAT for what
 * sealed_line_put() would not have written.  ${value} holds what is decoded. */
void sealed_line_put(struct buf *b, const struct sealed_row *s);
int sealed_line_parse(struct str line, struct buf *value, struct sealed_row *s,
    struct err *e) MUST_CHECK;

/* source_dir: an export directory, see export.h; ${path} is for messages. */
struct source_dir;
int source_dir_open(const char *path, struct source_dir **d, struct source *s,
    struct err *e) MUST_CHECK;
void source_dir_close(struct source_dir *d);	/* NULL is fine */
static inline void auto_source_dir(struct source_dir **d) { source_dir_close(*d); }

#endif
