/* SPDX-License-Identifier: ISC */
#ifndef ENGINE_ASK_H
#define ENGINE_ASK_H

#include <sys/types.h>

#include "base/clock.h"
#include "base/id.h"
#include "base/json.h"

/* Who is on the other end, as the kernel says it (SO_PEERCRED). */
struct principal {
	uid_t	uid;
	gid_t	gid;
	pid_t	pid;
	char	name[64];	/* of the user; "" if unknown */
};

struct engine;
struct ask;
struct start;

/* A handler: 0 and the answer (or the promise of one) in ${a}, or -1. */
typedef int ask_handler(struct engine *en, struct ask *a, struct err *e);

enum request_who { WHO_ANY, WHO_OWNER, WHO_ADMIN };
enum request_flag { REQ_READ = 1, REQ_WRITE = 2, REQ_REMOVAL = 4, REQ_WAITS = 8 };

/* A row of control.def. */
struct request {
	int		 code;
	const char	*method;
	ask_handler	*handle;
	enum request_who who;
	int		 flags;
	const char	*params;
	const char	*result;
	const char	*doc;
};

/* request_find(method): its row, or NULL. */
const struct request *request_find(struct str method);
/* request_at(i): the i-th row, or NULL: for help and tests. */
const struct request *request_at(size_t i);
/*
 * request_check(r, params, e): FORMAT, naming the key, unless ${params} (an
 * object, or NULL) has what the row asks for and nothing else.
 */
int request_check(const struct request *r, const struct json *params,
    struct err *e) MUST_CHECK;

/*
 * One request on its way through the engine.  Whoever makes it (control.c)
 * gives it away with engine_ask() and gets it back, answered, once.
 */
struct ask {
	struct ask		*next;
	uint64_t		 conn;		/* of which connection */
	struct json		*id;		/* NULL: a notification, not answered */
	const struct request	*req;
	struct json		*params;	/* checked; may be NULL */
	struct principal	 who;

	struct json		*result;	/* the answer, if err.code is OK */
	struct json		*data;		/* more about the error, or NULL */
	struct err		 err;

	/* between handler and answer; the engine's own */
	int			 machine;	/* what it is about; -1: nothing yet */
	struct id		 subject;
	int			 event;		/* that it tried; 0: nothing */
	int			 waits;		/* until the subject has settled */
	int			 keep;		/* an error whose records stay */
	uint64_t		 index;		/* its first record ... */
	int			 recorded;	/* ... if it made one */
	uint8_t			 request[16], body[32];
	int			 has_request;
	int			 in_doubt;	/* it saw what is not yet durable */
	struct start		*start;		/* session.start: what to build */
	ask_handler		*finish;	/* after the commit, before the answer */
};

struct ask *ask_new(uint64_t conn, struct principal who, struct err *e);
void ask_free(struct ask *a);		/* NULL is fine */
static inline void auto_ask(struct ask **a) { ask_free(*a); }

#endif
