/* SPDX-License-Identifier: ISC */
#include <sys/stat.h>

#include <fcntl.h>
#include <ftw.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "tests/lib/home.h"

static int
remove_one(const char *path, const struct stat *st, int flag, struct FTW *ftw)
{
	(void)st;
	(void)flag;
	(void)ftw;
	return remove(path);
}

void
home_remove(const char *dir)
{
	(void)nftw(dir, remove_one, 16, FTW_DEPTH | FTW_PHYS);
}

int
home_open(struct home *h, struct err *e)
{
	struct journal_opts o = { .homefd = h->fd, .create = 1 };

	home_close(h);
	return journal_open(&o, &h->j, &h->verdict, e);
}

void
home_close(struct home *h)
{
	journal_close(h->j);
	h->j = NULL;
}

void
home_dir(struct home *h)
{
	const char *tmp = getenv("TMPDIR");

	*h = (struct home){ .fd = -1 };
	(void)snprintf(h->dir, sizeof(h->dir), "%.20s/glove-home-XXXXXX",
	    tmp != NULL ? tmp : access("/dev/shm", W_OK) == 0 ? "/dev/shm" :
	    "/tmp");
	if (mkdtemp(h->dir) == NULL || (h->fd = open(h->dir,
	    O_RDONLY | O_DIRECTORY | O_CLOEXEC)) < 0) {
		perror(h->dir);
		abort();
	}
}

void
home_make(struct home *h)
{
	struct err e;

	home_dir(h);
	if (home_open(h, &e)) {
		fprintf(stderr, "%s (%s:%d) %s\n", e.msg, e.file, e.line, e.why);
		abort();
	}
}

void
home_free(struct home *h)
{
	home_close(h);
	(void)close(h->fd);
	home_remove(h->dir);
}

int
home_move(struct journal_txn *t, int machine, const struct id *id, int event,
    struct err *e)
{
	struct draft d = { .machine = machine, .subject = *id, .event = event,
	    .actor = ACTOR_OWNER, .expect_from = -1 };

	return journal_append(t, &d, NULL, e);
}

int
home_expose(struct journal_txn *t, const struct id *id, uint64_t *index,
    struct err *e)
{
	AUTO(fields) struct fields f;
	struct draft d = { .machine = MACHINE_EXPOSURE, .subject = *id,
	    .event = EXPOSURE_EV_expose, .actor = ACTOR_OWNER, .fields = &f,
	    .expect_from = 0 };
	uint8_t scope[32] = { 7 };

	fields_init(&f);
	fields_u64(&f, FIELD_OWNER_UID, 1000);
	fields_u64(&f, FIELD_MODE, MODE_STAGED);
	fields_u64(&f, FIELD_GENERATION, 1);
	fields_bytes(&f, FIELD_SCOPE_DIGEST, BYTES(scope));
	fields_text(&f, FIELD_HOST_PATH, STR("/home/u/app"));
	return journal_append(t, &d, index, e);
}

int
home_commit(struct journal_txn *t, struct err *e)
{
	struct committed **p;
	size_t n;

	if (journal_commit(&t, &p, &n, e))
		return -1;
	for (size_t i = 0; i < n; i++)
		committed_free(p[i]);
	free(p);
	return 0;
}

int
home_write(struct home *h, const struct id *id, uint64_t *index, struct err *e)
{
	AUTO(txn) struct journal_txn *t = NULL;

	if (journal_begin(h->j, &t, e) || home_expose(t, id, index, e))
		return -1;
	return home_commit(TAKE(t), e);
}
