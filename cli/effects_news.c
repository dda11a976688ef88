/* SPDX-License-Identifier: ISC */
/* effects_news.c - a message of the channel as news: typed, bounded, nothing
 * in it is parsed that an agent wrote. */
#include <string.h>

#include "cli/world_int.h"

enum { TEXT_MAX = 1024, BINDING_MAX = 48 << 10 };

static int
get_text(const struct channel_msg *m, int tag, size_t max, struct str *s,
    struct err *e)
{
	struct bytes b;

	if (channel_get(m, tag, &b, e))
		return -1;
	if (b.n > max)
		return err_set(e, ERR_TOOBIG, "message");
	*s = (struct str){ (const char *)b.p, b.n };
	return 0;
}

static int
get_small(const struct channel_msg *m, int tag, int *v, struct err *e)
{
	uint64_t n;

	if (channel_u64(m, tag, &n, e))
		return -1;
	*v = n > 65535 ? 65535 : (int)n;
	return 0;
}

static int
get_ready(const struct channel_msg *m, struct news *n, struct err *e)
{
	struct bytes nonce;

	n->kind = NEWS_READY;
	if (channel_get(m, CF_NONCE, &nonce, e) ||
	    channel_u64(m, CF_INIT_PID, &n->init_pid, e) ||
	    channel_u64(m, CF_INIT_START, &n->init_start, e) ||
	    channel_u64(m, CF_PIDNS, &n->pidns, e) ||
	    channel_u64(m, CF_PID, &n->supervisor_pid, e) ||
	    channel_u64(m, CF_START_TICKS, &n->supervisor_start, e) ||
	    get_text(m, CF_BINDING, BINDING_MAX, &n->binding, e) ||
	    get_text(m, CF_ENFORCED, TEXT_MAX, &n->enforced, e))
		return -1;
	if (nonce.n != sizeof(n->nonce))
		return err_set(e, ERR_FORMAT, "nonce");
	memcpy(n->nonce, nonce.p, sizeof(n->nonce));
	return 0;
}

static int
get_ended(const struct channel_msg *m, struct bytes manifest, struct news *n,
    struct err *e)
{
	struct bytes digest;

	n->kind = NEWS_ENDED;
	if (get_small(m, CF_CAUSE, &n->cause, e) ||
	    channel_u64(m, CF_STATUS, &n->status, e) ||
	    channel_u64(m, CF_LAST_WRITE_US, &n->last_write_us, e) ||
	    channel_u64(m, CF_DURATION_US, &n->duration_us, e) ||
	    channel_u64(m, CF_SIGNALS, &n->signals, e))
		return -1;
	if (manifest.n == 0)
		return 0;
	if (channel_u64(m, CF_FILES, &n->files, e) ||
	    channel_u64(m, CF_ADDED, &n->added, e) ||
	    channel_u64(m, CF_REMOVED, &n->removed, e) ||
	    channel_get(m, CF_DIGEST, &digest, e))
		return -1;
	if (digest.n != sizeof(n->digest) || n->files == 0)
		return err_set(e, ERR_FORMAT, "manifest");
	memcpy(n->digest, digest.p, sizeof(n->digest));
	n->has_change = 1;
	n->manifest = manifest;
	return 0;
}

static int
get_failed(const struct runtime *rt, const struct channel_msg *m, struct news *n,
    struct err *e)
{
	if (get_small(m, CF_CODE, &n->code, e) ||
	    get_text(m, CF_TEXT, TEXT_MAX, &n->text, e))
		return -1;
	n->kind = NEWS_FAILED;
	if (rt->worker) {
		n->kind = NEWS_RESULT;
		n->code = WORK_PARTIAL;
	}
	return 0;
}

static int
get_result(const struct channel_msg *m, struct news *n, struct err *e)
{
	struct err none;

	n->kind = NEWS_RESULT;
	n->text = STR("");
	if (get_small(m, CF_CAUSE, &n->code, e))
		return -1;
	if (n->code > WORK_CONFLICT)
		return err_set(e, ERR_FORMAT, "result");
	if (channel_u64(m, CF_FILES, &n->files, &none))
		n->files = 0;
	if (m->v[CF_TEXT].p != NULL)
		return get_text(m, CF_TEXT, TEXT_MAX, &n->text, e);
	return 0;
}

int
message_news(const struct runtime *rt, const struct channel_msg *m,
    struct bytes manifest, struct news *n, struct err *e)
{
	*n = (struct news){ .subject = rt->subject };
	if (rt->worker && m->type != MSG_RESULT && m->type != MSG_FAILED)
		return err_set(e, ERR_FORMAT, "message %d of a worker", m->type);
	switch (m->type) {
	case MSG_READY:
		return get_ready(m, n, e);
	case MSG_ENDED:
		return get_ended(m, manifest, n, e);
	case MSG_FAILED:
		return get_failed(rt, m, n, e);
	case MSG_RESULT:
		if (rt->worker)
			return get_result(m, n, e);
		break;
	default:
		break;
	}
	return err_set(e, ERR_FORMAT, "message %d", m->type);
}
