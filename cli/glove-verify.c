/* SPDX-License-Identifier: ISC */
/*
 * glove-verify.c - the auditor's program: check an export or a receipt, on any
 * machine, without gloved, without SQLite, without a line of signing code.
 */
#include <getopt.h>
#include <stdio.h>
#include <string.h>

#include "base/clock.h"
#include "cli/audit.h"

static const char usage[] =
"usage: glove-verify [OPTIONS] EXPORT-DIRECTORY | RECEIPT\n"
"\n"
"  --key KEY         trust this root key (glove key export), or for a receipt\n"
"                    the log key; may be repeated; @FILE: one key a line\n"
"  --against FILE    a checkpoint from elsewhere: the log must contain it\n"
"  --mac-key FILE    the first MAC key, as it was escrowed to you\n"
"  --all-signatures  check every commit's signature, not one an epoch\n"
"  --require witness not witnessed is not good enough\n"
"  --json            one JSON object\n"
"\n"
"It exits with 0 VALID, 1 INVALID or REVOKED KEY, 7 INCOMPLETE, UNTRUSTED KEY\n"
"or CANNOT CHECK, 2 wrong use, 3 nothing there.\n";

static const struct option options[] = {
	{ "key", required_argument, NULL, 'k' },
	{ "against", required_argument, NULL, 'a' },
	{ "mac-key", required_argument, NULL, 'm' },
	{ "all-signatures", no_argument, NULL, 's' },
	{ "require", required_argument, NULL, 'r' },
	{ "json", no_argument, NULL, 'j' },
	{ "help", no_argument, NULL, 'h' },
	{ "version", no_argument, NULL, 'V' },
	{ NULL, 0, NULL, 0 }
};

struct call {
	struct audit	 audit;
	int		 json;
	const char	*only;		/* text to print instead */
};

static int
option(struct call *c, int o, struct err *e)
{
	switch (o) {
	case 'k':
		return audit_key_arg(&c->audit, optarg, e);
	case 'a':
		return audit_against(&c->audit, optarg, e);
	case 'm':
		return audit_mac_key(&c->audit, optarg, e);
	case 's':
		c->audit.o.all_signatures = 1;
		return 0;
	case 'r':
		if (strcmp(optarg, "witness") != 0)
			return err_say(e, ERR_USAGE,
			    "--require takes the word witness");
		c->audit.o.require_witness = 1;
		return 0;
	case 'j':
		c->json = 1;
		return 0;
	case 'h':
		c->only = usage;
		return 0;
	case 'V':
		c->only = "glove-verify " GLOVE_VERSION "\n";
		return 0;
	default:
		return err_say(e, ERR_USAGE,
		    "an unknown option, or one without its value");
	}
}

static int
look(struct call *c, const char *path, struct report *r, struct err *e)
{
	switch (audit_kind(path)) {
	case AUDIT_EXPORT:
		return audit_export(&c->audit, path, r, e);
	case AUDIT_RECEIPT:
		return audit_receipt(&c->audit, path, r, e);
	case AUDIT_STATE:
		(void)err_say(e, ERR_UNSUPPORTED, "%s is a state directory, and"
		    " this program reads exports", path);
		return err_fix(e, "glove verify %.200s", path);
	case AUDIT_NOTHING:
		break;
	}
	return err_say(e, ERR_NOTFOUND, "there is no %s", path);
}

static int
run(struct call *c, int argc, char *argv[], struct out *out, int *code,
    struct err *e)
{
	int64_t from = clock_now().boot_us;
	struct report r;
	int o;

	opterr = 0;
	while ((o = getopt_long(argc, argv, "", options, NULL)) != -1)
		if (option(c, o, e))
			return -1;
	if (c->only != NULL) {
		out_put(out, c->only);
		return 0;
	}
	if (argc - optind != 1)
		return err_say(e, ERR_USAGE,
		    "name one export directory or receipt; see --help");
	if (look(c, argv[optind], &r, e))
		return -1;
	audit_say(out, c->json, &r, argv[optind], clock_now().boot_us - from);
	*code = report_exit(&r, &c->audit.o);
	return 0;
}

int
main(int argc, char *argv[])
{
	struct call c = { .json = 0 };
	struct out out, note;
	struct err e, flush;
	int code = 0;

	audit_init(&c.audit, STDERR_FILENO);
	out_init(&out, STDOUT_FILENO, OUT_COLOR_AUTO);
	out_init(&note, STDERR_FILENO, OUT_COLOR_AUTO);
	if (run(&c, argc, argv, &out, &code, &e) || out_flush(&out, &e)) {
		code = err_exit(e.code);
		out_error(&note, c.json, &e, code, NULL);
		(void)!out_flush(&note, &flush);
	}
	out_done(&out);
	out_done(&note);
	audit_done(&c.audit);
	return code;
}
