/* SPDX-License-Identifier: ISC */
#ifndef CLI_AUDIT_H
#define CLI_AUDIT_H

#include "base/progress.h"
#include "cli/out.h"
#include "journal/verify.h"

/*
 * What `glove verify' and `glove-verify' share: which keys are trusted, what
 * there is to check, and saying what it came to.  Needs no SQLite and no
 * signing code.
 */
enum { AUDIT_KEYS_MAX = 4096 };

struct audit {
	struct verify_opts	 o;
	struct trusted		*trusted;
	struct buf		 against;
	uint8_t			 mac_key[32];
	struct progress		 progress;
	int			 progress_fd;	/* -1: none wanted */
	int			 begun;
};

void audit_init(struct audit *a, int progress_fd);
void audit_done(struct audit *a);
static inline void auto_audit(struct audit *a) { audit_done(a); }

/* audit_key(a, key, how, e): trust a verifier key, of a root or of a log. */
int audit_key(struct audit *a, struct str key, enum trust how, struct err *e)
    MUST_CHECK;
/* audit_key_arg: what --key takes: a key, or @FILE with one a line. */
int audit_key_arg(struct audit *a, const char *arg, struct err *e) MUST_CHECK;
/* audit_against: the note in ${path} has to be a part of what is checked. */
int audit_against(struct audit *a, const char *path, struct err *e) MUST_CHECK;
/* audit_mac_key: 64 hex digits in ${path}. */
int audit_mac_key(struct audit *a, const char *path, struct err *e) MUST_CHECK;

enum audit_kind { AUDIT_NOTHING, AUDIT_EXPORT, AUDIT_STATE, AUDIT_RECEIPT };
/* audit_kind: what ${path} is; NULL is NOTHING. */
enum audit_kind audit_kind(const char *path);

/* The answer is in ${r}; an error is that there was nothing to look at. */
void audit_source(struct audit *a, const struct source *s, struct report *r);
int audit_export(struct audit *a, const char *path, struct report *r,
    struct err *e) MUST_CHECK;
int audit_receipt(struct audit *a, const char *path, struct report *r,
    struct err *e) MUST_CHECK;

/* audit_say(o, json, r, subject, us): the report, into ${o}. */
void audit_say(struct out *o, int json, const struct report *r,
    const char *subject, int64_t us);

#endif
