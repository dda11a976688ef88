/* SPDX-License-Identifier: ISC */
#ifndef JOURNAL_VERIFY_H
#define JOURNAL_VERIFY_H

#include "journal/source.h"

/*
 * Verification: one pass over a source, each check answered with a sentence,
 * one word for all of it.  It trusts nothing that it reads, links no signing
 * code, and never stops at the first fault.
 */
enum check { CHECK_NONE,
#define CHECK(code, NAME, word, doc) CHECK_##NAME = (code),
#include "journal/check.def"
	CHECK_END
};
enum answer { ANSWER_NONE,
#define ANSWER(code, NAME, words, exit, doc) ANSWER_##NAME = (code),
#include "journal/answer.def"
	ANSWER_END
};
const char *check_word(int check);
const char *answer_words(int answer);
const char *answer_doc(int answer);
int answer_exit(int answer);

enum outcome { OUTCOME_SKIP, OUTCOME_PASS, OUTCOME_FAIL };
enum { CHECK_TEXT_MAX = 320 };

struct check_line {
	enum outcome	outcome;
	char		text[CHECK_TEXT_MAX];
};

/* How a root key came to be trusted. */
enum trust { TRUST_FILE, TRUST_HOST, TRUST_PINNED };

/* A key that somebody vouches for: root, log, or both of one installation. */
struct trusted {
	enum trust	how;		/* HOST or PINNED */
	uint8_t		install[16];
	int		has_root, has_log;
	uint8_t		root_pub[PUB_BYTES];
	uint8_t		log_pub[PUB_BYTES];
};

struct verify_opts {
	const struct trusted	*trusted;
	size_t			 ntrusted;
	struct str		 against;	/* a signed note from elsewhere, or empty */
	const uint8_t		*mac_key;	/* K(0), or NULL */
	int			 all_signatures;
	int			 require_witness;
	/* progress: now and then, if not NULL. */
	void (*progress)(void *ctx, uint64_t done, uint64_t total);
	void			*progress_ctx;
};

struct report {
	enum answer	  answer;
	enum trust	  trust;
	/* What all of it stands on: the root key that GENESIS names, or, of a
	 * receipt, the log key that signed it. */
	enum key_use	  key_use;	/* KEYUSE_NONE: none could be read */
	uint8_t		  install[16];
	uint8_t		  pub[PUB_BYTES];
	struct checkpoint checkpoint;	/* size 0 if it could not be read */
	uint64_t	  records, commits;
	struct check_line line[CHECK_END];
};

/* verify_run(s, o, r): always makes a report. */
void verify_run(const struct source *s, const struct verify_opts *o,
    struct report *r);

/*
 * verify_receipt(text, o, r): one receipt by itself.  It does not hold the key
 * that it is signed by: without a trusted log key of its installation the
 * signature stays unchecked, and the answer is UNTRUSTED KEY.
 */
void verify_receipt(struct str text, const struct verify_opts *o,
    struct report *r);

/* report_exit: what to exit with. */
int report_exit(const struct report *r, const struct verify_opts *o);
/* report_put: for people, as glove(1) shows it; report_json: one object.
 * ${subject} is what was asked about, "" for the log; ${us} what it took. */
void report_put(struct buf *b, const struct report *r, const char *subject,
    int64_t us);
struct json;
struct json *report_json(const struct report *r, const char *subject,
    int64_t us);

#endif
