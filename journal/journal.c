/* SPDX-License-Identifier: ISC */
/* journal.c - small questions, commits by number, the end. */
#include <assert.h>
#include <inttypes.h>
#include <stdlib.h>

#include "journal/inside.h"

const uint8_t *
journal_install(const struct journal *j)
{
	return j->install;
}

const char *
journal_origin(const struct journal *j)
{
	return j->origin;
}

uint64_t
journal_size(const struct journal *j)
{
	return j->at.size;
}

const uint8_t *
journal_log_pub(const struct journal *j)
{
	return j->log_pub;
}

const uint8_t *
journal_root_pub(const struct journal *j)
{
	return j->root_pub;
}

uint64_t
journal_commits(const struct journal *j)
{
	return j->at.commits;
}

int
journal_unclean(const struct journal *j)
{
	return j->unclean;
}

int
journal_poisoned(const struct journal *j)
{
	return j->poisoned || db_broken(j->db);
}

int
journal_commit_row(struct journal *j, uint64_t no, struct journal_commit *c,
    struct err *e)
{
	return no > INT64_MAX ? err_set(e, ERR_NOTFOUND, "commit %" PRIu64, no) :
	    commit_load(j, no, c, e);
}

/* Sizes only grow, so halving finds it. */
int
journal_commit_of(struct journal *j, uint64_t index, uint64_t *no,
    struct err *e)
{
	uint64_t lo = 0, hi = j->at.commits;

	if (index >= j->at.size)
		return err_set(e, ERR_NOTFOUND, "record %" PRIu64, index);
	while (lo < hi) {
		uint64_t mid = lo + (hi - lo) / 2;
		struct journal_commit c;

		if (commit_load(j, mid, &c, e))
			return -1;
		if (c.size > index)
			hi = mid;
		else
			lo = mid + 1;
	}
	*no = lo;
	return 0;
}

int
journal_check_derived(struct journal *j, struct err *e)
{
	return derive_check(j->db, e);
}

int
journal_stop(struct journal *j, struct err *e)
{
	AUTO(txn) struct journal_txn *t = NULL;
	struct draft down = { .machine = MACHINE_SERVICE,
	    .event = SERVICE_EV_stop, .actor = ACTOR_SERVICE,
	    .expect_from = -1, .removal = 1 };

	if (!j->at.started)
		return 0;
	memcpy(down.subject.b, j->install, ID_BYTES);
	if (txn_open(j, &t, e) || append_own(t, &down, e))
		return -1;
	t->at.started = 0;
	return commit_own(&t, e);
}

void
journal_close(struct journal *j)
{
	struct err e;

	if (j == NULL)
		return;
	assert(!j->in_txn);
	if (j->db != NULL) {
		(void)!journal_idle(j, &e);
		db_close(j->db);
	}
	keyring_close(j->keys);
	auto_fd(&j->headfd);
	auto_fd(&j->lockfd);
	buf_done(&j->scratch);
	buf_done(&j->txn.bytes);
	free(j->txn.entry);
	explicit_bzero(&j->head, sizeof(j->head));
	explicit_bzero(j->salt, sizeof(j->salt));
	free(j);
}
