/* SPDX-License-Identifier: ISC */
/*
 * end.c - the last thing a supervisor has to say: how it ended and what it
 * changed.  If gloved is not there to hear, the same message, byte for byte,
 * lies in the session's directory as "outcome", with the manifest beside it.
 */
#include <errno.h>
#include <fcntl.h>
#include <linux/openat2.h>
#include <string.h>
#include <unistd.h>

#include "base/fd.h"
#include "base/log.h"
#include "base/text.h"
#include "sandbox/changes.h"
#include "sandbox/mounts.h"
#include "sandbox/supervisor_impl.h"

#define OUTCOME		"outcome"
#define MANIFEST	"manifest"

enum { TEXT_SHOWN_MAX = 1024 };

static int
open_dir(const char *path, const char *name, int *fd, struct err *e)
{
	AUTO(fd) int dir = -1;

	if (fd_openat2(AT_FDCWD, path, O_RDONLY | O_DIRECTORY, 0,
	    RESOLVE_NO_SYMLINKS, &dir, e))
		return -1;
	if (name == NULL) {
		*fd = TAKE_FD(dir);
		return 0;
	}
	return fd_openat2(dir, name, O_RDONLY | O_DIRECTORY, 0,
	    RESOLVE_NO_SYMLINKS | RESOLVE_BENEATH, fd, e);
}

/* What the session changed, into ${m} and as bytes into ${b}; 0 entries: no
 * bytes. */
static int
changes_of(const struct supervisor *s, struct channel_msg *m, struct buf *b,
    uint8_t digest[SHA256_BYTES], struct err *e)
{
	const struct changes_scan_options scan = {
		.since_ns = s->mounted.real_us * 1000
	};
	const struct changes_diff_options totals = { .form = CHANGES_STAT };
	AUTO(manifest) struct manifest *found = NULL;
	AUTO(fd) int upper = -1;
	const int lower = s->lower;
	struct changes_sum sum;

	if (open_dir(s->l->state, "upper", &upper, e) ||
	    changes_scan(upper, lower, &scan, &found, e))
		return -1;
	if (found->n == 0)
		return 0;
	if (changes_diff(upper, lower, found, &totals, &sum, e) ||
	    manifest_encode(found, b, e) ||
	    manifest_digest(found, digest, e))
		return -1;
	channel_set_u64(m, CF_FILES, found->n);
	channel_set_u64(m, CF_ADDED, (uint64_t)sum.added);
	channel_set_u64(m, CF_REMOVED, (uint64_t)sum.removed);
	channel_set(m, CF_DIGEST, bytes_of(digest, SHA256_BYTES));
	return 0;
}

static void
write_down(const struct supervisor *s, const struct channel_msg *m,
    struct bytes manifest)
{
	AUTO(buf) struct buf b;
	AUTO(fd) int dir = -1;
	struct err e;

	buf_init(&b, CHANNEL_MAX);
	/* The outcome last: where it is, the manifest is. */
	if (open_dir(s->l->state, NULL, &dir, &e) ||
	    channel_encode(m, &b, &e) ||
	    (manifest.n != 0 &&
	    fd_replace(dir, MANIFEST, manifest, 0600, &e)) ||
	    fd_replace(dir, OUTCOME, buf_bytes(&b), 0600, &e))
		log_event(LOG_LEVEL_ERROR, "outcome_lost", "err=%s",
		    e.msg);
}

void
supervisor_forget_outcome(const struct supervisor *s)
{
	AUTO(fd) int dir = -1;
	struct err e;

	if (open_dir(s->l->state, NULL, &dir, &e) == 0) {
		(void)unlinkat(dir, OUTCOME, 0);
		(void)unlinkat(dir, MANIFEST, 0);
	}
}

void
supervisor_notices(const struct supervisor *s, struct client *c)
{
	AUTO(buf) struct buf b;
	AUTO(fd) int objects = -1;
	struct err e;

	/* Everything git does touches an index; objects are what counts. */
	if (s->common == NULL || open_dir(s->l->state,
	    MOUNTS_COMMON "/upper/objects", &objects, &e))
		return;
	buf_init(&b, ATTACH_DATA_MAX);
	buf_put_str(&b, "what git committed is in this session's copy of ");
	escape_put(&b, str_of(s->common), 512);
	buf_put_str(&b, ": apply takes the files, not the commits");
	client_say(c, ATTACH_NOTICE, buf_bytes(&b));
}

static void
describe(const struct supervisor *s, struct channel_msg *m)
{
	const int64_t ran = s->opened.boot_us == 0 ? 0 :
	    s->ended.boot_us - s->opened.boot_us;

	channel_init(m, MSG_ENDED);
	channel_set_u64(m, CF_CAUSE, (uint64_t)s->cause);
	channel_set_u64(m, CF_STATUS, (uint64_t)s->status);
	channel_set_u64(m, CF_LAST_WRITE_US, (uint64_t)s->ended.real_us);
	channel_set_u64(m, CF_DURATION_US, (uint64_t)ran);
	channel_set_u64(m, CF_SIGNALS, s->signals);
}

void
supervisor_end(struct supervisor *s)
{
	struct channel_msg m;
	AUTO(buf) struct buf manifest;
	AUTO(buf) struct buf text;
	AUTO(fd) int memory = -1;
	uint8_t digest[SHA256_BYTES];
	struct err e;

	buf_init(&manifest, BLOB_MAX);
	buf_init(&text, TEXT_SHOWN_MAX);
	describe(s, &m);
	if (s->l->mode == MODE_STAGED && s->opened.boot_us != 0 &&
	    (changes_of(s, &m, &manifest, digest, &e) ||
	    (manifest.n != 0 &&
	    fd_memfd(MANIFEST, buf_bytes(&manifest), &memory, &e)))) {
		/* They are still there, only not counted: say so. */
		describe(s, &m);
		escape_put(&text, str_of(e.msg), TEXT_SHOWN_MAX);
		channel_set_u64(&m, CF_CODE, (uint64_t)e.code);
		channel_set(&m, CF_TEXT, buf_bytes(&text));
		log_event(LOG_LEVEL_ERROR, "changes_unread", "err=%s", e.msg);
	}
	m.fd = memory;
	if (s->channel >= 0 && channel_send(s->channel, &m, &e) == 0)
		return;
	m.fd = -1;
	write_down(s, &m, buf_bytes(&manifest));
}
