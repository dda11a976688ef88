/* SPDX-License-Identifier: ISC */
#include "base/sha256.h"
#include "base/text.h"
#include "sandbox/binding.h"
#include "sandbox/plan.h"
#include "sandbox/seccomp.h"

enum { SHOWN_MAX = 512 };

static void
put_hex(struct buf *b, const char *key, const uint8_t d[SHA256_BYTES])
{
	buf_putf(b, "%s ", key);
	hex_put(b, bytes_of(d, SHA256_BYTES));
	buf_put_u8(b, '\n');
}

static void
put_list(struct buf *b, const char *key, const char *label,
    const char *const *v, size_t n)
{
	struct digest d;
	uint8_t out[SHA256_BYTES];

	digest_init(&d, label);
	for (size_t i = 0; i < n; i++)
		digest_str(&d, str_of(v[i]));
	digest_final(&d, out);
	put_hex(b, key, out);
}

static void
put_text(struct buf *b, const char *key, const char *text)
{
	buf_putf(b, "%s ", key);
	escape_put(b, str_of(text), SHOWN_MAX);
	buf_put_u8(b, '\n');
}

int
binding_put(struct buf *b, const struct launch *l, const char *common,
    struct err *e)
{
	struct digest d;
	uint8_t out[SHA256_BYTES];

	put_text(b, "command", l->argv[0]);
	put_list(b, "argv", "glove/argv/1", l->argv, l->argc);
	put_list(b, "env", "glove/env/1", l->env, l->envc);
	put_text(b, "cwd", l->cwd);
	buf_putf(b, "terminal %d\n", l->terminal);
	buf_putf(b, "workspace %s %llu:%llu\n", mode_word((int)l->mode),
	    (unsigned long long)l->workspace_dev,
	    (unsigned long long)l->workspace_ino);
	if (common != NULL)
		put_text(b, "repository", common);
	for (size_t i = 0; i < l->nro; i++)
		put_text(b, "read-only", l->ro[i]);
	for (size_t i = 0; i < plan_new_count; i++)
		buf_putf(b, "private %s %s\n", plan_new[i].type,
		    plan_new[i].to);
	buf_put_str(b, "network none\n");
	buf_putf(b, "ends %lld\n", (long long)l->ends_real_us);
	digest_init(&d, "glove/filter/1");
	digest_bytes(&d, filter_shipped());
	digest_final(&d, out);
	put_hex(b, "filter", out);
	return buf_ok(b, "launch binding", e);
}
