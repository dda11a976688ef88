/* SPDX-License-Identifier: ISC */
#ifndef CLI_RUN_H
#define CLI_RUN_H

#include "cli/cli.h"
#include "cli/pump.h"
#include "cli/surroundings.h"

/* A session that `glove run` starts, and what became of it. */
struct run {
	/* what is asked for */
	size_t		  argc;
	const char	*const *argv;
	const char	 *path;		/* the workspace */
	const char	 *cwd;
	const char	 *mode;
	char		  exposure[ID_TEXT_MAX]; /* "": lease the path */
	const char	 *name;		/* or NULL */
	int64_t		  ttl_s;	/* 0: the usual */
	int		  terminal;
	int		  detach;
	const char	 *const *env;	/* NULL-ended, see env_build() */
	struct shown	  shown;

	/* what came of it */
	char		  id[ID_TEXT_MAX];
	int64_t		  ends_us;
	int		  sock;		/* -1 */
	struct pump_end	  end;
};

/* run_start(c, r, e): gloved starts it and we are its first client; with
 * r->detach there is no client. */
int run_start(struct cli *c, struct run *r, struct err *e) MUST_CHECK;
void run_done(struct run *r);
static inline void auto_run(struct run *r) { run_done(r); }

/* run_exit(end): what the program exits with, by cause.def. */
int run_exit(const struct pump_end *end);

/* What a person is told before and after, and a script: glove.run/1.  ${show} is
 * session.show, or NULL if there is none. */
void run_header(struct cli *c, const struct run *r);
void run_summary(struct cli *c, const struct run *r, const struct json *show);
void run_json(struct cli *c, const struct run *r, const struct json *show);

/* receipt_id(c, record, id, e): "rcp_...", the id of the receipt of a record. */
int receipt_id(struct cli *c, int64_t record, char id[ID_TEXT_MAX],
    struct err *e) MUST_CHECK;

#endif
