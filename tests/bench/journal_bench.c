/* SPDX-License-Identifier: ISC */
/*
 * What a durable transition costs, beside a raw 4 KiB fdatasync of the same
 * disk in the same run: a ratio says more than a rate.  n clients at once are
 * n transitions in one commit, as gloved's loop makes of them.
 *
 *	journal_bench [rounds]
 */
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "tests/lib/home.h"

enum { COMMITS = 300, ROUNDS_MAX = 31, NSIZE = 4 };
static const int sizes[NSIZE] = { 1, 16, 64, 100 };

static int64_t
now_ns(clockid_t clock)
{
	struct timespec ts;

	clock_gettime(clock, &ts);
	return ts.tv_sec * 1000000000LL + ts.tv_nsec;
}

static int
ascending(const void *a, const void *b)
{
	double x = *(const double *)a, y = *(const double *)b;

	return (x > y) - (x < y);
}

static double
at(double *v, size_t n, double part)
{
	qsort(v, n, sizeof(*v), ascending);
	return v[(size_t)((double)(n - 1) * part)];
}

static void
die(const char *what, const struct err *e)
{
	fprintf(stderr, "%s: %s (%s:%d) %s\n", what, e->msg, e->file, e->line,
	    e->why);
	exit(1);
}

/* Overwriting one page of a file that is as long as it will be. */
static double
raw_rate(const char *dir)
{
	static uint8_t page[4096];
	char path[80];
	int64_t t0;
	int fd;

	snprintf(path, sizeof(path), "%s/raw", dir);
	if ((fd = open(path, O_RDWR | O_CREAT | O_CLOEXEC, 0600)) < 0 ||
	    pwrite(fd, page, sizeof(page), 0) != sizeof(page) || fsync(fd)) {
		perror(path);
		exit(1);
	}
	t0 = now_ns(CLOCK_MONOTONIC);
	for (int i = 0; i < COMMITS; i++) {
		page[0] = (uint8_t)i;
		if (pwrite(fd, page, sizeof(page), 0) != sizeof(page) ||
		    fdatasync(fd)) {
			perror(path);
			exit(1);
		}
	}
	close(fd);
	return COMMITS * 1e9 / (double)(now_ns(CLOCK_MONOTONIC) - t0);
}

/* Closed in order, so that there is nothing to replay. */
static double
open_ms(struct home *h)
{
	struct err e;
	int64_t t0;

	if (journal_stop(h->j, &e))
		die("stop", &e);
	home_close(h);
	t0 = now_ns(CLOCK_MONOTONIC);
	if (home_open(h, &e))
		die("open", &e);
	return (double)(now_ns(CLOCK_MONOTONIC) - t0) / 1e6;
}

/* Every transition is one lease with five fields, one of them sealed. */
static double
commit_rate(struct home *h, int size, double us[COMMITS], double *cpu_us)
{
	int64_t t0 = now_ns(CLOCK_MONOTONIC);
	int64_t c0 = now_ns(CLOCK_PROCESS_CPUTIME_ID);
	struct err e;

	for (int i = 0; i < COMMITS; i++) {
		int64_t t1 = now_ns(CLOCK_MONOTONIC);
		struct journal_txn *t;

		if (journal_begin(h->j, &t, &e))
			die("begin", &e);
		for (int k = 0; k < size; k++) {
			struct id id;

			id_random(&id);
			if (journal_save(t, &e) || home_expose(t, &id, NULL, &e) ||
			    journal_keep(t, &e))
				die("append", &e);
		}
		if (home_commit(t, &e))
			die("commit", &e);
		us[i] = (double)(now_ns(CLOCK_MONOTONIC) - t1) / 1e3;
	}
	*cpu_us = (double)(now_ns(CLOCK_PROCESS_CPUTIME_ID) - c0) / 1e3 / COMMITS;
	return COMMITS * 1e9 / (double)(now_ns(CLOCK_MONOTONIC) - t0);
}

int
main(int argc, char *argv[])
{
	static double raw[ROUNDS_MAX], rate[NSIZE][ROUNDS_MAX];
	static double p50[NSIZE][ROUNDS_MAX], p99[NSIZE][ROUNDS_MAX];
	static double cpu[NSIZE][ROUNDS_MAX], us[COMMITS];
	size_t rounds = argc > 1 ? strtoul(argv[1], NULL, 10) : 5;
	struct home h;
	double f;

	if (rounds == 0 || rounds > ROUNDS_MAX) {
		fprintf(stderr, "usage: journal_bench [rounds]\n");
		return 2;
	}
	home_make(&h);
	for (size_t r = 0; r < rounds; r++) {
		raw[r] = raw_rate(h.dir);
		for (int s = 0; s < NSIZE; s++) {
			rate[s][r] = commit_rate(&h, sizes[s], us, &cpu[s][r]);
			p50[s][r] = at(us, COMMITS, 0.5);
			p99[s][r] = at(us, COMMITS, 0.99);
		}
	}
	f = at(raw, rounds, 0.5);
	printf("%s, medians of %zu rounds of %d commits; F = %.0f fdatasync/s\n",
	    h.dir, rounds, COMMITS, f);
	printf("at once  commits/s  p50 us  p99 us  cpu us  transitions/s    / F\n");
	for (int s = 0; s < NSIZE; s++) {
		double c = at(rate[s], rounds, 0.5);

		printf("%7d %10.0f %7.0f %7.0f %7.0f %14.0f %6.2f\n", sizes[s],
		    c, at(p50[s], rounds, 0.5), at(p99[s], rounds, 0.5),
		    at(cpu[s], rounds, 0.5), c * sizes[s], c * sizes[s] / f);
	}
	printf("%llu records, opened in %.1f ms\n",
	    (unsigned long long)journal_size(h.j), open_ms(&h));
	home_free(&h);
	return 0;
}
