/* SPDX-License-Identifier: ISC */
/*
 * verify_bench.c - records a second through every check, beside the hashing
 * that this takes at the least.
 *
 *	H	leaf and node hashes of the same bytes alone
 *	last	tree, commits, machines, links and stored state; one signature
 *		an epoch, the rest by their digests
 *	all	every commit's signature, beside Ed25519 alone
 *
 * Best of several rounds, CPU time: others use the machine too.
 */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "journal/verify.h"
#include "tests/lib/forge.h"

enum { RECORDS = 100000, A_COMMIT = 4, ROUNDS = 5, GOAL = 600000 };

static double
seconds(void)
{
	struct timespec t;

	(void)clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &t);
	return (double)t.tv_sec + (double)t.tv_nsec / 1e9;
}

/* Leases that are renewed, four records a commit, as a busy day makes them. */
static void
prepare(struct forge *f)
{
	struct id exp[16];

	forge_init(f);
	for (size_t i = 0; i < 16; i++) {
		id_random(&exp[i]);
		(void)forge_event(f, MACHINE_EXPOSURE, &exp[i],
		    EXPOSURE_EV_expose, NULL);
	}
	forge_commit(f);
	while (f->n < RECORDS) {
		AUTO(fields) struct fields v;

		fields_init(&v);
		fields_u64(&v, FIELD_ACTOR_UID, 1000);
		fields_u64(&v, FIELD_ACTOR_PID, f->n);
		fields_text(&v, FIELD_REASON, STR("more time"));
		fields_u64(&v, FIELD_GENERATION, f->n);
		fields_u64(&v, FIELD_ENDS_REAL_US, 1764585000000000);
		fields_u64(&v, FIELD_ENDS_BOOT_US, 4711);
		(void)forge_event(f, MACHINE_EXPOSURE, &exp[f->n % 16],
		    EXPOSURE_EV_renew, &v);
		if (f->n % A_COMMIT == A_COMMIT - 1)
			forge_commit(f);
	}
	forge_commit(f);
	forge_publish(f);
}

static double
hashing(const struct forge *f)
{
	double from = seconds();
	uint8_t node[65] = { 1 };
	struct hash h;

	for (size_t i = 0; i < f->n; i++) {
		sha256_of(forge_record(f, i), h.b);
		memcpy(node + 1, h.b, sizeof(h.b));
		sha256_of(BYTES(node), h.b);
	}
	return seconds() - from;
}

static double
verify(const struct forge *f, int all)
{
	struct trusted t;
	struct verify_opts o = { .trusted = &t, .ntrusted = 1,
	    .all_signatures = all };
	struct forge_source fs;
	struct source_ops ops;
	struct report r;
	struct source s;
	double from;

	forge_trust(f, &t);
	forge_source(f, &fs, &s);
	/* Of a whole log nothing is disclosed, as a rule. */
	ops = *s.ops;
	ops.sealed = NULL;
	s.ops = &ops;
	from = seconds();
	verify_run(&s, &o, &r);
	if (r.answer != ANSWER_NOT_WITNESSED)
		abort();
	return seconds() - from;
}

static double
signatures(const struct forge *f)
{
	double from = seconds();
	struct err e;

	/* Of another text each fails; what it costs is the same. */
	for (size_t i = 0; i < f->ncommits; i++)
		if (note_sig_check(STR("glove/00000000000000000000000000000000/0"
		    "\n100000\nAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAA=\n"),
		    f->commit[i].sig, f->epoch[0].pub, &e) == 0)
			abort();
	return seconds() - from;
}

static double
least(double a, double b)
{
	return a == 0 || b < a ? b : a;
}

int
main(void)
{
	struct forge f;
	double h = 0, last = 0, all = 0, sigs = 0, n;

	prepare(&f);
	for (int i = 0; i < ROUNDS; i++) {
		h = least(h, hashing(&f));
		last = least(last, verify(&f, 0));
	}
	all = verify(&f, 1);
	sigs = signatures(&f);
	n = (double)f.n;
	printf("verify: %zu records, %zu bytes each, %zu commits\n", f.n,
	    f.bytes.n / f.n, f.ncommits);
	printf("  H     %9.0f records/s\n", n / h);
	printf("  last  %9.0f records/s   %.2f H   (goal %d, 0.30 H)\n", n / last,
	    h / last, GOAL);
	printf("  all   %9.0f signatures/s %.2f Ed25519   (goal 0.80)\n",
	    (double)f.ncommits / all, sigs / all);
	forge_done(&f);
	return 0;
}
