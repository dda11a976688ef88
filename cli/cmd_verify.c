/* SPDX-License-Identifier: ISC */
/*
 * glove verify: the journal of this user, a state directory, an export or a
 * receipt.  What this host remembers stands in known_installs, which the CLI
 * keeps; a journal never vouches for itself.
 */
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "base/clock.h"
#include "base/fd.h"
#include "base/text.h"
#include "cli/audit.h"
#include "cli/cli.h"
#include "cli/remote.h"
#include "journal/source_db.h"

enum { LIST_BYTES_MAX = 1 << 20, ROOT_WORD = 2 };

/* The n-th word of a line; empty if there is none. */
static struct str
word(struct str line, int n)
{
	const char *blank;

	while (n-- > 0) {
		blank = line.n == 0 ? NULL : memchr(line.p, ' ', line.n);
		if (blank == NULL)
			return STR("");
		line.n -= (size_t)(blank - line.p) + 1;
		line.p = blank + 1;
	}
	blank = line.n == 0 ? NULL : memchr(line.p, ' ', line.n);
	if (blank != NULL)
		line.n = (size_t)(blank - line.p);
	return line;
}

/* Keys of a list in the configuration directory; a missing list is empty, a
 * line that is no key is passed over: trusting less is safe. */
static int
trust_list(const struct cli *c, struct audit *a, const char *name, int n,
    enum trust how, struct err *e)
{
	AUTO(buf) struct buf b;
	char path[PATH_BYTES_MAX + 32];
	struct str rest, line;
	struct err ignore;

	buf_init(&b, LIST_BYTES_MAX);
	(void)snprintf(path, sizeof(path), "%s/%s", c->home.config, name);
	if (access(path, F_OK) != 0)
		return 0;
	if (fd_file(AT_FDCWD, path, &b, e))
		return -1;
	rest = (struct str){ (const char *)b.p, b.n };
	while (rest.n != 0) {
		if (note_line(&rest, &line)) {
			line = rest;
			rest.n = 0;
		}
		(void)!audit_key(a, word(line, n), how, &ignore);
	}
	return 0;
}

static int
options(struct cli *c, struct audit *a, struct err *e)
{
	const char *key, *path;
	size_t at = 0;

	while ((key = args_next(&c->args, FLAG_KEY, &at)) != NULL)
		if (audit_key_arg(a, key, e))
			return -1;
	if ((path = args_text(&c->args, FLAG_AGAINST, NULL)) != NULL &&
	    audit_against(a, path, e))
		return -1;
	if ((path = args_text(&c->args, FLAG_MAC_KEY, NULL)) != NULL &&
	    audit_mac_key(a, path, e))
		return -1;
	a->o.all_signatures = args_has(&c->args, FLAG_ALL_SIGNATURES);
	a->o.require_witness = args_has(&c->args, FLAG_REQUIRE);
	return cli_home(c, e) ||
	    trust_list(c, a, "pins", 0, TRUST_PINNED, e) ? -1 : 0;
}

/* The log key of the gloved that answers, if its root key is known here. */
static int
trust_log(struct cli *c, struct audit *a, struct err *e)
{
	const struct json *hello;
	struct trusted t = { .how = TRUST_HOST };
	AUTO(buf) struct buf key;
	char name[ORIGIN_MAX];
	struct str install, log;

	buf_init(&key, 256);
	if (cli_connect(c, e))
		return -1;
	hello = client_hello(c->client);
	if (json_get_str(hello, "install", &install, e) ||
	    json_get_str(hello, "log_key", &log, e) ||
	    hex_get(install, t.install, sizeof(t.install), e) ||
	    hex_get(log, t.log_pub, sizeof(t.log_pub), e))
		return -1;
	note_verifier_put(&key, origin_str(t.install, 0, name), t.log_pub);
	if (buf_ok(&key, "log key", e))
		return -1;
	return audit_key(a, (struct str){ (const char *)key.p, key.n },
	    TRUST_HOST, e);
}

static int
look_receipt(struct cli *c, struct audit *a, const char *path,
    struct report *r, struct err *e)
{
	struct err ignore;

	if (audit_receipt(a, path, r, e))
		return -1;
	/* Only if nobody else vouches for it is gloved asked. */
	if (r->answer != ANSWER_UNTRUSTED || trust_log(c, a, &ignore))
		return 0;
	return audit_receipt(a, path, r, e);
}

static int
look_state(struct audit *a, const char *path, struct report *r, struct err *e)
{
	AUTO(source_db) struct source_db *d = NULL;
	struct source s;

	if (source_db_open(path, &d, &s, e))
		return -1;
	audit_source(a, &s, r);
	return 0;
}

/* The journal of the gloved that runs, or is started for it. */
static int
look_live(struct cli *c, struct audit *a, struct report *r, struct err *e)
{
	AUTO(remote) struct remote *m = NULL;
	struct source s;

	if (remote_open(c, &m, &s, e) ||
	    trust_list(c, a, "known_installs", ROOT_WORD, TRUST_HOST, e))
		return -1;
	audit_source(a, &s, r);
	return 0;
}

static int
look(struct cli *c, struct audit *a, char subject[ID_TEXT_MAX],
    const char **what, struct report *r, struct err *e)
{
	const unsigned any = ID_BIT(ID_SESSION) | ID_BIT(ID_EXPOSURE) |
	    ID_BIT(ID_CHANGE) | ID_BIT(ID_KEY) | ID_BIT(ID_SERVICE);
	const char *arg = c->args.n == 0 ? NULL : c->args.v[0];
	enum audit_kind kind = audit_kind(ids_path(arg));

	*what = kind == AUDIT_NOTHING ? subject : arg;
	if (kind == AUDIT_NOTHING && arg != NULL && strchr(arg, '/') != NULL)
		return err_say(e, ERR_NOTFOUND, "there is no %s", arg);
	if (kind == AUDIT_NOTHING && arg != NULL &&
	    ids_resolve(c, arg, any, 0, subject, e))
		return -1;
	if (kind == AUDIT_NOTHING)
		return look_live(c, a, r, e);
	if (kind == AUDIT_RECEIPT)
		return look_receipt(c, a, arg, r, e);
	if (trust_list(c, a, "known_installs", ROOT_WORD, TRUST_HOST, e))
		return -1;
	return kind == AUDIT_STATE ? look_state(a, arg, r, e) :
	    audit_export(a, arg, r, e);
}

int
cmd_verify(struct cli *c, struct err *e)
{
	AUTO(audit) struct audit a;
	int64_t from = clock_now().boot_us;
	char subject[ID_TEXT_MAX] = "";
	struct report r;
	const char *what;

	audit_init(&a, c->quiet ? -1 : STDERR_FILENO);
	if (options(c, &a, e) || look(c, &a, subject, &what, &r, e))
		return -1;
	audit_say(&c->out, c->json, &r, what, clock_now().boot_us - from);
	c->exit = report_exit(&r, &a.o);
	return 0;
}
