/* SPDX-License-Identifier: ISC */
/*
 * End the process, or fail the call, at every seam of the journal and at every
 * time it is passed, and look at what is left:
 *
 *	what was acknowledged is there, signed, and reproduces its root (J1)
 *	the derived tables are a replay of the records (J2)
 *	the start says CLEAN or CRASH_WINDOW, and the one after it CLEAN
 */
#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/wait.h>

#include <fcntl.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
#include <cmocka.h>

#include "faultinject/fi.h"
#include "tests/lib/home.h"

enum { COMMITS = 5, MOVES = 3, HITS_MAX = 64 };

/* What the child has been told, where its death does not reach. */
struct told {
	uint64_t	size;		/* acknowledged records */
	uint64_t	commits;	/* acknowledged commits */
	int		failed;		/* calls that said no */
	int		unknown;	/* commits of which nobody knows */
	int		done;		/* it came to its end */
};

static int
turn(struct journal *j, struct walk *w, struct told *told, struct err *e)
{
	AUTO(txn) struct journal_txn *t = NULL;

	if (journal_begin(j, &t, e))
		return -1;
	for (int i = 0; i < MOVES; i++) {
		if (journal_save(t, e))
			return -1;
		if (walk_step(w, j, t, e) || journal_keep(t, e)) {
			struct err e2;

			told->failed++;
			if (journal_undo(t, &e2))
				return -1;
		}
	}
	if (told->commits == COMMITS / 2 && journal_epoch_roll(t, e))
		return -1;
	return home_commit(TAKE(t), e);
}

/* A short life: begin, commit, end in order. */
static void
live(int dirfd, struct told *told)
{
	struct journal_opts o = { .homefd = dirfd, .create = 1 };
	struct walk w = { .seed = 20261201 };
	struct journal *j;
	enum verdict v;
	struct err e;

	if (journal_open(&o, &j, &v, &e)) {
		told->failed++;
		_exit(0);
	}
	told->size = journal_size(j);
	told->commits = journal_commits(j);
	for (int i = 0; i < COMMITS; i++) {
		if (turn(j, &w, told, &e) == 0) {
			told->size = journal_size(j);
			told->commits = journal_commits(j);
			continue;
		}
		told->failed++;
		told->unknown += e.code == ERR_UNKNOWN;
		if (journal_poisoned(j))
			break;
	}
	if (journal_stop(j, &e)) {
		told->failed++;
		told->unknown += e.code == ERR_UNKNOWN;
	}
	journal_close(j);
	told->done = 1;
	_exit(0);
}

/* The checkpoint of each commit is signed, and the last has all records. */
static void
check_commits(struct journal *j)
{
	struct err e;

	for (uint64_t no = 0; no < journal_commits(j); no++) {
		AUTO(buf) struct buf b;
		struct journal_commit c;
		struct checkpoint cp = { .size = 0 };

		buf_init(&b, 1024);
		must(journal_commit_row(j, no, &c, &e));
		cp.size = c.size;
		cp.root = c.root;
		strcpy(cp.origin, journal_origin(j));
		checkpoint_text(&cp, &b);
		must(note_sig_check((struct str){ (const char *)b.p, b.n },
		    c.sig, c.pub, &e));
		if (no + 1 == journal_commits(j))
			assert_int_equal(c.size, journal_size(j));
	}
}

struct tree {
	struct tree_edge edge;
};

static int
grow(void *ctx, uint64_t index, struct bytes b, struct err *e)
{
	struct tree *t = ctx;
	struct hash leaf;

	(void)e;
	assert_int_equal(index, t->edge.size);
	tree_leaf(b, &leaf);
	tree_append(&t->edge, &leaf);
	return 0;
}

static void
check_root(struct journal *j)
{
	struct tree t = { .edge = { .size = 0 } };
	struct journal_commit c;
	struct hash root;
	struct err e;

	must(journal_history(j, 0, NULL, 0, grow, &t, &e));
	must(journal_commit_row(j, journal_commits(j) - 1, &c, &e));
	tree_root(&t.edge, &root);
	assert_memory_equal(&root, &c.root, sizeof(root));
}

/* What is left is whole, and goes on. */
static void
check_rest(struct home *h, const struct told *told)
{
	struct err e;
	struct id id;
	uint64_t size;

	must(home_open(h, &e));
	if (told->size == 0)
		assert_true(h->verdict == VERDICT_NEW ||
		    h->verdict == VERDICT_CLEAN);
	else
		assert_true(h->verdict == VERDICT_CLEAN ||
		    h->verdict == VERDICT_CRASH_WINDOW);
	assert_true(journal_size(h->j) >= told->size);
	/* At most the one commit that was under way. */
	assert_true(journal_commits(h->j) <= told->commits + 1 ||
	    told->size == 0);
	if (told->unknown == 0 && told->done)
		assert_int_equal(h->verdict, VERDICT_CLEAN);
	must(journal_check_derived(h->j, &e));
	check_commits(h->j);
	check_root(h->j);
	size = journal_size(h->j);
	must(home_open(h, &e));
	assert_int_equal(h->verdict, VERDICT_CLEAN);
	assert_int_equal(journal_size(h->j), size);
	id_random(&id);
	must(home_write(h, &id, NULL, &e));
	must(journal_stop(h->j, &e));
	must(home_open(h, &e));
	assert_int_equal(h->verdict, VERDICT_CLEAN);
	assert_false(journal_unclean(h->j));
}

/* 1 if the fault was met. */
static int
survives(enum fi_point point, enum fi_mode mode, int countdown,
    struct told *told)
{
	struct home h = { .fd = -1 };
	int status;
	pid_t pid;

	memset(told, 0, sizeof(*told));
	home_dir(&h);
	assert_true((pid = fork()) >= 0);
	if (pid == 0) {
		fi_arm(point, mode, countdown);
		live(h.fd, told);
	}
	assert_int_equal(pid, waitpid(pid, &status, 0));
	assert_true(WIFEXITED(status));
	assert_true(WEXITSTATUS(status) == 0 ||
	    WEXITSTATUS(status) == FI_CRASH_STATUS);
	check_rest(&h, told);
	home_free(&h);
	return WEXITSTATUS(status) == FI_CRASH_STATUS || told->failed > 0;
}

static void
the_journal_survives_every_fault_at_every_commit(void **state)
{
	struct told *told = mmap(NULL, sizeof(*told), PROT_READ | PROT_WRITE,
	    MAP_SHARED | MAP_ANONYMOUS, -1, 0);
	int n = 0;

	(void)state;
	assert_true(told != MAP_FAILED);
	for (int p = FI_JOURNAL_BEGIN; p <= FI_JOURNAL_HEAD; p++)
		for (int mode = FI_FAIL; mode <= FI_CRASH; mode++) {
			int hit = 0;

			while (survives((enum fi_point)p, (enum fi_mode)mode,
			    hit, told))
				assert_true(++hit < HITS_MAX);
			/* It is met at the first commit and at each later one. */
			if (hit <= COMMITS)
				fail_msg("%s was met %d times",
				    fi_name((enum fi_point)p), hit);
			n += hit;
		}
	print_message("%d faults survived\n", n);
	munmap(told, sizeof(*told));
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(the_journal_survives_every_fault_at_every_commit),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
