/* SPDX-License-Identifier: ISC */
/* classify.c - database against head file: the verdicts of verdict.def. */
#include <string.h>

#include "journal/inside.h"

enum { OPEN, REFUSE };

static const struct {
	const char	*name;
	int		 action;
	const char	*doc;
} verdicts[VERDICT_END] = {
#define VERDICT(code, NAME, action, doc) [code] = { #NAME, action, doc },
#include "journal/verdict.def"
};

static int
known(int verdict)
{
	return verdict > 0 && verdict < VERDICT_END &&
	    verdicts[verdict].name != NULL;
}

const char *
verdict_name(int verdict)
{
	return known(verdict) ? verdicts[verdict].name : "UNKNOWN";
}

const char *
verdict_doc(int verdict)
{
	return known(verdict) ? verdicts[verdict].doc : "";
}

int
verdict_opens(int verdict)
{
	return known(verdict) && verdicts[verdict].action == OPEN;
}

static int
same_commit(const struct head *h, const struct journal_commit *c)
{
	return h->size == c->size && h->epoch == c->epoch &&
	    memcmp(&h->root, &c->root, sizeof(h->root)) == 0 &&
	    memcmp(h->sig, c->sig, SIG_BYTES) == 0 &&
	    memcmp(h->mac, c->mac, MAC_BYTES) == 0;
}

/* Is ${c} signed by its epoch's key and next in the MAC chain after ${h}? */
static int
follows(struct journal *j, const struct head *h, const struct journal_commit *c)
{
	AUTO(buf) struct buf b;
	struct checkpoint cp = { .size = c->size, .root = c->root };
	uint8_t mac[MAC_BYTES];
	struct str text;
	struct err e;

	buf_init(&b, 1024);
	memcpy(cp.origin, j->origin, sizeof(cp.origin));
	checkpoint_text(&cp, &b);
	text = (struct str){ (const char *)b.p, b.n };
	if (b.failed || note_sig_check(text, c->sig, c->pub, &e))
		return 0;
	commit_mac(h->key, text, c->sig, mac);
	return memcmp(mac, c->mac, MAC_BYTES) == 0;
}

enum verdict
classify(struct journal *j, const struct journal_commit *last)
{
	const struct head *h = &j->head;
	struct journal_commit at;
	struct err e;

	if (memcmp(h->install, j->install, sizeof(h->install)) != 0)
		return VERDICT_FORK;
	if (h->commit_no > last->no)
		return VERDICT_LOST_TAIL;
	if (commit_load(j, h->commit_no, &at, &e))
		return VERDICT_CORRUPT;
	if (!same_commit(h, &at))
		return VERDICT_FORK;
	if (h->commit_no == last->no)
		return VERDICT_CLEAN;
	if (h->commit_no + 1 < last->no)
		return VERDICT_HEAD_STALE;
	return follows(j, h, last) ? VERDICT_CRASH_WINDOW : VERDICT_MAC_BAD;
}

void
head_advance(struct head *h, const struct journal_commit *c)
{
	h->commit_no = c->no;
	h->size = c->size;
	h->root = c->root;
	h->epoch = c->epoch;
	memcpy(h->sig, c->sig, SIG_BYTES);
	memcpy(h->mac, c->mac, MAC_BYTES);
	h->mac_no++;
	mac_evolve(h->key);
}
