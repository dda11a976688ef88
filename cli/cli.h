/* SPDX-License-Identifier: ISC */
#ifndef CLI_CLI_H
#define CLI_CLI_H

#include "base/id.h"
#include "base/json.h"
#include "cli/args.h"
#include "cli/home.h"
#include "cli/out.h"
#include "engine/client.h"

/* What every command is given.  main() owns it. */
struct cli {
	struct args	 args;
	struct out	 out;		/* data */
	struct out	 note;		/* everything for people: standard error */
	int		 json, quiet, verbose, wide, utc, no_input;
	int		 exit;		/* what to exit with if nothing failed */
	int		 exit_failed;	/* if something did; 0: as err.def says */
	struct home	 home;
	struct client	*client;	/* NULL until the first call */
	struct json	*steps;		/* of a dry run, for --json; else NULL */
};

/*
 * cli_home(c, e): find the directories; done by cli_connect() too.
 * cli_connect(c, e): connect to gloved, starting a private one if none
 * answers, and see that its root key is the one we know.
 */
int cli_home(struct cli *c, struct err *e) MUST_CHECK;
int cli_connect(struct cli *c, struct err *e) MUST_CHECK;

/* cli_root_key(c, b, e): the root verifier key of the connected gloved, as it
 * is pinned. */
int cli_root_key(const struct cli *c, struct buf *b, struct err *e) MUST_CHECK;

/*
 * cli_call(c, method, params, result, e): one request within --timeout; takes
 * ${params}.  cli_wait(): the same, for what may take long; no limit unless
 * --timeout is given.
 */
int cli_call(struct cli *c, const char *method, struct json *params,
    struct json **result, struct err *e) MUST_CHECK;
int cli_wait(struct cli *c, const char *method, struct json *params,
    struct json **result, struct err *e) MUST_CHECK;
int cli_timeout_ms(const struct cli *c);

/* An object with the id; and, of a request that writes, --reason and
 * --request-id. */
struct json *cli_id(const char *id);
struct json *cli_write(const struct cli *c, const char *id);
/* One --request-id names one request: USAGE with several arguments. */
int cli_one_request(const struct cli *c, struct err *e) MUST_CHECK;

/*
 * would(c, verb, what): one step that -n does not take; would_end(): nothing was
 * changed.  Always 0, to be returned.
 */
void would(struct cli *c, const char *verb, struct str what);
int would_end(struct cli *c);

/* cli_yes(c, question, e): 0 after --yes or a y at the terminal.  UNASKED
 * (5) if nobody can be asked, REFUSED (6) after any other answer. */
int cli_yes(struct cli *c, const char *question, struct err *e) MUST_CHECK;

/*
 * ids_resolve(c, text, kinds, care, out, e): what a person typed as the full
 * id of one thing.  ${kinds} is a mask of ID_BIT; "-" is the last session that
 * ran in this directory.  With ${care}, for verbs that cannot be taken back,
 * the type or six characters must be there.  NOTFOUND, AMBIGUOUS with what it
 * may be.
 */
#define ID_BIT(kind) (1u << (kind))
int ids_resolve(struct cli *c, const char *text, unsigned kinds, int care,
    char out[ID_TEXT_MAX], struct err *e) MUST_CHECK;
/* ids_short(c, id, out): the shortest that is unique, at least 4 characters and
 * the type; the whole with --wide or if gloved does not say. */
char *ids_short(struct cli *c, struct str id, char out[ID_TEXT_MAX]);
enum id_kind ids_kind(struct str id);
/* ids_path(text): ${text} if it may be a path; NULL for what begins as an id
 * does, since an agent can make a file of any name here: say ./ses_... */
const char *ids_path(const char *text);

/* Reading replies: a value that is missing or of another type is the default. */
struct str reply_str(const struct json *o, const char *key);	/* "" */
int64_t reply_int(const struct json *o, const char *key, int64_t otherwise);
int reply_bool(const struct json *o, const char *key);
int64_t reply_time(const struct json *o, const char *key);	/* us; 0 */
/* A list of words as one line, quoted as a shell wants them. */
void reply_command(struct buf *b, const struct json *list);

/* Paths below the home directory as ~/... */
void path_put(const struct cli *c, struct buf *b, struct str path);

#endif
