/* SPDX-License-Identifier: ISC */
/*
 * launch.c - the launch policy as bytes: a title, then every member in the
 * order of the struct.  Both ends are of one build, so there is no version in
 * it; the decoder trusts nothing all the same.
 */
#include <stdlib.h>

#include "base/limits.h"
#include "sandbox/launch.h"

#define TITLE	"glove/launch/1"
#define NONE	0xffffffffu		/* the length of what is not there */

enum { STRINGS_MAX = CHANGE_ENTRIES_MAX };

static void
put_block(struct buf *b, struct bytes v)
{
	buf_put_u32(b, (uint32_t)v.n);
	buf_put(b, v.p, v.n);
}

/* With its NUL, so that the reader can point at it. */
static void
put_string(struct buf *b, const char *s)
{
	if (s == NULL)
		buf_put_u32(b, NONE);
	else
		put_block(b, bytes_of(s, strlen(s) + 1));
}

static void
put_strings(struct buf *b, const char *const *v, size_t n)
{
	buf_put_u32(b, (uint32_t)n);
	for (size_t i = 0; i < n; i++)
		put_string(b, v[i]);
}

int
launch_encode(const struct launch *l, struct buf *b, struct err *e)
{
	buf_put_str(b, TITLE);
	buf_put_u8(b, (uint8_t)l->kind);
	buf_put(b, l->session.b, ID_BYTES);
	buf_put(b, l->subject.b, ID_BYTES);
	put_string(b, l->receipt);
	buf_put(b, l->log_pub, PUB_BYTES);
	put_string(b, l->origin);
	buf_put_u8(b, (uint8_t)l->mode);
	put_string(b, l->workspace);
	buf_put_u64(b, l->workspace_dev);
	buf_put_u64(b, l->workspace_ino);
	put_string(b, l->state);
	put_string(b, l->undo);

	put_strings(b, l->argv, l->argc);
	put_strings(b, l->env, l->envc);
	put_string(b, l->cwd);
	put_strings(b, l->ro, l->nro);
	put_string(b, l->git_name);
	put_string(b, l->git_email);
	put_string(b, l->attach_path);
	buf_put_u8(b, l->terminal != 0);
	buf_put_u16(b, l->rows);
	buf_put_u16(b, l->cols);
	buf_put(b, l->token, sizeof(l->token));
	buf_put_u8(b, l->wait_client != 0);
	buf_put_u8(b, l->tied != 0);
	buf_put_u64(b, (uint64_t)l->ends_real_us);
	buf_put_u64(b, (uint64_t)l->ends_boot_us);
	buf_put_u64(b, (uint64_t)l->grace_us);
	buf_put_u64(b, (uint64_t)l->orphan_grace_us);

	put_block(b, l->manifest);
	put_strings(b, l->paths, l->npaths);
	return buf_ok(b, "launch policy", e);
}

static const char *
get_string(struct cur *c)
{
	const uint32_t n = cur_u32(c);
	struct bytes v;

	if (n == NONE || c->failed)
		return NULL;
	v = cur_take(c, n);
	if (v.n == 0 || memchr(v.p, '\0', v.n) != v.p + v.n - 1) {
		c->failed = 1;
		return NULL;
	}
	return (const char *)v.p;
}

static int
get_flag(struct cur *c)
{
	const uint8_t v = cur_u8(c);

	if (v > 1)
		c->failed = 1;
	return v;
}

/* NULL behind the last, as exec wants it. */
static int
get_strings(struct cur *c, size_t max, const char *const **out, size_t *n,
    struct err *e)
{
	const size_t count = cur_u32(c);
	const char **v;

	if (c->failed || count > max || count > c->n)
		return err_set(e, ERR_FORMAT, "a list of the launch policy");
	if ((v = calloc(count + 1, sizeof(*v))) == NULL)
		return err_set(e, ERR_NOMEM, "launch policy");
	*out = v;
	*n = count;
	for (size_t i = 0; i < count; i++)
		if ((v[i] = get_string(c)) == NULL)
			return err_set(e, ERR_FORMAT,
			    "a list of the launch policy");
	return 0;
}

static int
get_run(struct cur *c, struct launch *l, struct err *e)
{
	if (get_strings(c, ARGV_MAX, &l->argv, &l->argc, e) ||
	    get_strings(c, ARGV_MAX, &l->env, &l->envc, e))
		return -1;
	l->cwd = get_string(c);
	if (get_strings(c, LAUNCH_RO_MAX, &l->ro, &l->nro, e))
		return -1;
	l->git_name = get_string(c);
	l->git_email = get_string(c);
	l->attach_path = get_string(c);
	l->terminal = get_flag(c);
	l->rows = cur_u16(c);
	l->cols = cur_u16(c);
	cur_copy(c, l->token, sizeof(l->token));
	l->wait_client = get_flag(c);
	l->tied = get_flag(c);
	l->ends_real_us = (int64_t)cur_u64(c);
	l->ends_boot_us = (int64_t)cur_u64(c);
	l->grace_us = (int64_t)cur_u64(c);
	l->orphan_grace_us = (int64_t)cur_u64(c);
	return 0;
}

static int
get_all(struct cur *c, struct launch *l, struct err *e)
{
	struct bytes title = cur_take(c, sizeof(TITLE) - 1);

	if (c->failed || memcmp(title.p, TITLE, title.n) != 0)
		return err_set(e, ERR_FORMAT, "launch policy");
	l->kind = (enum launch_kind)cur_u8(c);
	cur_copy(c, l->session.b, ID_BYTES);
	cur_copy(c, l->subject.b, ID_BYTES);
	l->receipt = get_string(c);
	cur_copy(c, l->log_pub, PUB_BYTES);
	l->origin = get_string(c);
	l->mode = (enum mode)cur_u8(c);
	l->workspace = get_string(c);
	l->workspace_dev = cur_u64(c);
	l->workspace_ino = cur_u64(c);
	l->state = get_string(c);
	l->undo = get_string(c);
	if (get_run(c, l, e))
		return -1;
	l->manifest = cur_take(c, cur_u32(c));
	return get_strings(c, STRINGS_MAX, &l->paths, &l->npaths, e);
}

/* What no launch can be without. */
static int
whole(const struct launch *l)
{
	if (l->receipt == NULL || l->origin == NULL || l->state == NULL ||
	    l->state[0] != '/')
		return 0;
	switch (l->kind) {
	case LAUNCH_RUN:
		return l->argc > 0 && l->workspace != NULL &&
		    l->workspace[0] == '/' && l->cwd != NULL &&
		    l->cwd[0] == '/' && l->attach_path != NULL &&
		    (l->mode == MODE_RO || l->mode == MODE_STAGED) &&
		    l->grace_us >= 0 && l->orphan_grace_us >= 0;
	case LAUNCH_APPLY:
	case LAUNCH_UNDO:
		return l->workspace != NULL && l->workspace[0] == '/' &&
		    l->undo != NULL && l->undo[0] == '/';
	case LAUNCH_CLEAN:
		return 1;
	}
	return 0;
}

int
launch_decode(struct bytes b, struct launch *l, struct err *e)
{
	struct launch got = { .kind = 0 };
	struct cur c = cur_of(b);

	if (get_all(&c, &got, e)) {
		launch_done(&got);
		return -1;
	}
	if (c.failed || c.n != 0 || !whole(&got)) {
		launch_done(&got);
		return err_set(e, ERR_FORMAT, "launch policy");
	}
	*l = got;
	return 0;
}

void
launch_done(struct launch *l)
{
	const char *const *const lists[] = { l->argv, l->env, l->ro, l->paths };

	for (size_t i = 0; i < sizeof(lists) / sizeof(lists[0]); i++)
		free((void *)(uintptr_t)lists[i]);
	l->argv = l->env = l->ro = l->paths = NULL;
	l->argc = l->envc = l->nro = l->npaths = 0;
}
