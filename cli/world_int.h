/* SPDX-License-Identifier: ISC */
#ifndef CLI_WORLD_INT_H
#define CLI_WORLD_INT_H

/* What effects*.c share; nobody else includes this. */

#include "cli/world.h"
#include "sandbox/channel.h"
#include "sandbox/launch.h"

/* A glove-sandbox at the other end of a channel. */
struct runtime {
	struct runtime	*next;
	struct world	*w;
	int		 worker;	/* a job on a change, not a session */
	struct id	 subject;	/* session, or change of a worker */
	struct id	 session;	/* of a worker: whose work it is */
	int		 channel;	/* -1: it is gone */
	sd_event_source	*source;
	struct proc	 supervisor;
	struct proc	 init;		/* first process inside, once known */
	sd_event_source	*death;		/* waits for it */
	int		 held;		/* not yet through its gate */
	int		 over;		/* its last word is said and taken */
	int		 counted;	/* what it changed is in that word */

	/* news that the journal could not take yet; said again later */
	struct buf	 in;
	struct channel_msg msg;
	struct buf	 manifest;
	int		 waiting;
	int		 lost;		/* what waits is its end, not a message */
	sd_event_source	*retry;
	sd_event_source	*patience;	/* it was told to end, and has this long */
};

struct world {
	struct world_opts o;
	char		*home, *attach_dir, *sandbox;
	struct engine	*en;
	struct runtime	*runtimes;

	/* between find() and the order to adopt */
	struct id	 found;
	struct identity	 found_who;
	int		 found_fd;
	struct buf	 outcome, outcome_manifest;
};

struct runtime *runtime_find(struct world *w, int worker, const struct id *subject);
struct runtime *runtime_new(struct world *w, int worker, const struct id *subject,
    struct err *e);
void runtime_free(struct runtime *rt);
/* runtime_listen(rt, e): from now on what comes on its channel is heard. */
int runtime_listen(struct runtime *rt, struct err *e) MUST_CHECK;
void runtime_ended(struct runtime *rt);	/* its end is durable: let it leave */

/* runtime_bury(rt): it is gone without a word; see that nothing of it is left,
 * then say so. */
void runtime_bury(struct runtime *rt);

/* runtime_hurry(rt, us): if it has not ended by then, it is buried. */
void runtime_hurry(struct runtime *rt, int64_t us);

/*
 * runtime_start(w, l, attach_fd, rt, e): a glove-sandbox with the policy ${l}.
 * ${attach_fd} -1: none.  The other end of ${rt}->channel is its.
 */
int runtime_start(struct world *w, const struct launch *l, int attach_fd,
    struct runtime *rt, struct err *e) MUST_CHECK;

/* message_news(m, manifest, n, e): what a message means; FORMAT. */
int message_news(const struct runtime *rt, const struct channel_msg *m,
    struct bytes manifest, struct news *n, struct err *e) MUST_CHECK;
/* manifest_read(fd, b, e): the whole of it, bounded; closes ${fd}. */
int manifest_read(int fd, struct buf *b, struct err *e) MUST_CHECK;

int world_look(void *cookie, const char *path, struct place *p, struct err *e);
int world_find(void *cookie, const struct id *session, const struct identity *who,
    struct found *f, struct err *e);
/* world_done(w, c, o): the outcome ${c} is durable. */
int world_done(struct world *w, const struct committed *c, const struct order *o);
/* world_adopt(w, o, e): hand the receipt to the supervisor found before. */
int world_adopt(struct world *w, const struct order *o, struct err *e) MUST_CHECK;

/* session_dir(w, session, out, n, e): its directory in the state directory. */
void session_dir(const struct world *w, const struct id *session, char *out,
    size_t n);
void attach_path(const struct world *w, const struct id *session, char *out,
    size_t n);

#endif
