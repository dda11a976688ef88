/* SPDX-License-Identifier: ISC */
/* reply.c - pieces of gloved's answers, and how people see them. */
#include <string.h>

#include "base/num.h"
#include "cli/cli.h"

struct str
reply_str(const struct json *o, const char *key)
{
	struct str s = STR("");
	struct err ignore;

	(void)!json_opt_str(o, key, &s, &ignore);
	return s;
}

int64_t
reply_int(const struct json *o, const char *key, int64_t otherwise)
{
	int64_t n;

	return json_int(json_get(o, key), &n) == 0 ? n : otherwise;
}

int
reply_bool(const struct json *o, const char *key)
{
	struct err ignore;
	int v = 0;

	(void)!json_opt_bool(o, key, &v, &ignore);
	return v;
}

int64_t
reply_time(const struct json *o, const char *key)
{
	struct str s = reply_str(o, key);
	struct err ignore;
	int64_t us;

	return rfc3339_parse(s, &us, &ignore) == 0 ? us : 0;
}

static int
plain(struct str s)
{
	static const char safe[] = "abcdefghijklmnopqrstuvwxyz"
	    "ABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789@%+=:,./_-";

	for (size_t i = 0; i < s.n; i++)
		if (strchr(safe, s.p[i]) == NULL)
			return 0;
	return s.n > 0;
}

void
reply_command(struct buf *b, const struct json *list)
{
	struct str s;

	for (size_t i = 0; i < json_len(list); i++) {
		if (i > 0)
			buf_put_str(b, " ");
		if (json_text(json_at(list, i), &s) != 0)
			continue;
		if (plain(s)) {
			buf_put(b, s.p, s.n);
			continue;
		}
		buf_put_str(b, "'");
		for (size_t k = 0; k < s.n; k++)
			if (s.p[k] == '\'')
				buf_put_str(b, "'\\''");
			else
				buf_put(b, &s.p[k], 1);
		buf_put_str(b, "'");
	}
}

void
path_put(const struct cli *c, struct buf *b, struct str path)
{
	size_t n = strlen(c->home.user);

	if (n > 1 && path.n >= n && memcmp(path.p, c->home.user, n) == 0 &&
	    (path.n == n || path.p[n] == '/')) {
		buf_put_str(b, "~");
		buf_put(b, path.p + n, path.n - n);
	} else {
		buf_put(b, path.p, path.n);
	}
}
