/* SPDX-License-Identifier: ISC */
#ifndef TESTS_LIB_HOME_H
#define TESTS_LIB_HOME_H

#include <stdint.h>

#include "journal/journal.h"

/* A journal in a directory of its own that goes away with it. */
struct home {
	char		 dir[48];
	int		 fd;
	struct journal	*j;		/* NULL: not open */
	enum verdict	 verdict;	/* of the last home_open() */
};

/* home_make(h): a fresh directory in $TMPDIR, else in memory, with a new journal;
 * home_free() closes and removes. */
void home_make(struct home *h);
/* home_dir: only the directory. */
void home_dir(struct home *h);
void home_free(struct home *h);
/* home_open(h, e): close it if it is open, open it again. */
int home_open(struct home *h, struct err *e) MUST_CHECK;
void home_close(struct home *h);
/* home_remove(dir): all of it. */
void home_remove(const char *dir);

/* What has to work, or the test ends with the reason. */
#define must(call) do {							\
	if (call)							\
		fail_msg("%s: %s (%s:%d) %s", #call, e.msg, e.file,	\
		    e.line, e.why);					\
} while (0)

/* One move without fields. */
int home_move(struct journal_txn *t, int machine, const struct id *id,
    int event, struct err *e) MUST_CHECK;
/* home_expose: a lease, with its facts and a sealed path. */
int home_expose(struct journal_txn *t, const struct id *id, uint64_t *index,
    struct err *e) MUST_CHECK;
/* home_commit: and the proofs thrown away. */
int home_commit(struct journal_txn *t, struct err *e) MUST_CHECK;
/* home_write(h, id, index, e): one home_expose() in a transaction. */
int home_write(struct home *h, const struct id *id, uint64_t *index,
    struct err *e) MUST_CHECK;

/* A random legal history, made from the tables; the same for the same seed. */
struct walk {
	uint64_t	seed;
	size_t		n;
	struct { int machine; struct id id; } subject[256];
};
/* walk_step(w, j, t, e): one move, or a pair that link.def binds together. */
int walk_step(struct walk *w, struct journal *j, struct journal_txn *t,
    struct err *e) MUST_CHECK;
uint64_t walk_random(struct walk *w);

#endif
