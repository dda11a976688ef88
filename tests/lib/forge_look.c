/* SPDX-License-Identifier: ISC */
/* forge_look.c - what the verifier says of a forged history. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include "tests/lib/forge.h"

/* Verify ${f}, of which the first ${n} records are shown, with its key pinned. */
enum answer
forge_look(const struct forge *f, size_t n, struct report *r)
{
	struct forge_source fs;
	struct source s;
	struct trusted t;
	struct verify_opts o = { .trusted = &t, .ntrusted = 1 };

	forge_source(f, &fs, &s);
	fs.records = n;
	forge_trust(f, &t);
	verify_run(&s, &o, r);
	return r->answer;
}

void
forge_print(const struct report *r)
{
	AUTO(buf) struct buf b;

	buf_init(&b, 65536);
	report_put(&b, r, "", 0);
	print_message("%s", buf_cstr(&b));
}

/* The verdict is INVALID, and the check that says so is ${c}. */
void
forge_fails(const struct forge *f, enum check c)
{
	struct report r;

	if (forge_look(f, f->n, &r) != ANSWER_INVALID ||
	    r.line[c].outcome != OUTCOME_FAIL) {
		forge_print(&r);
		fail_msg("not found by check %s", check_word((int)c));
	}
}
