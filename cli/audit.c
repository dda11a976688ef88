/* SPDX-License-Identifier: ISC */
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>

#include "base/fd.h"
#include "base/limits.h"
#include "base/text.h"
#include "cli/audit.h"
#include "journal/receipt.h"

enum { KEYS_TEXT_MAX = 1 << 20, NOTE_BYTES_MAX = 64 << 10 };

void
audit_init(struct audit *a, int progress_fd)
{
	memset(a, 0, sizeof(*a));
	a->progress_fd = progress_fd;
	buf_init(&a->against, NOTE_BYTES_MAX);
}

void
audit_done(struct audit *a)
{
	if (a->begun)
		progress_done(&a->progress);
	free(a->trusted);
	buf_done(&a->against);
}

int
audit_key(struct audit *a, struct str key, enum trust how, struct err *e)
{
	struct trusted t = { .how = how }, *p;
	char name[ORIGIN_MAX], root[ORIGIN_MAX];
	uint8_t pub[PUB_BYTES];

	if (note_verifier_parse(key, name, pub, e) ||
	    install_of_name(str_of(name), t.install, e))
		return -1;
	/* The name says which key it is: .../root, or the origin of the log. */
	(void)key_name_str(t.install, keyuse_word(KEYUSE_ROOT), root);
	t.has_root = strcmp(name, root) == 0;
	t.has_log = !t.has_root;
	memcpy(t.has_root ? t.root_pub : t.log_pub, pub, sizeof(pub));
	if (a->o.ntrusted == AUDIT_KEYS_MAX)
		return err_set(e, ERR_TOOBIG, "the list of keys");
	p = realloc(a->trusted, (a->o.ntrusted + 1) * sizeof(*p));
	if (p == NULL)
		return err_set(e, ERR_NOMEM, "keys");
	p[a->o.ntrusted++] = t;
	a->trusted = p;
	a->o.trusted = p;
	return 0;
}

static int
load(const char *path, struct buf *b, struct err *e)
{
	return fd_file(AT_FDCWD, path, b, e);
}

int
audit_key_arg(struct audit *a, const char *arg, struct err *e)
{
	AUTO(buf) struct buf b;
	struct str rest, line;

	buf_init(&b, KEYS_TEXT_MAX);
	if (arg[0] != '@')
		return audit_key(a, str_of(arg), TRUST_PINNED, e);
	if (load(arg + 1, &b, e))
		return -1;
	rest = (struct str){ (const char *)b.p, b.n };
	while (rest.n != 0) {
		if (note_line(&rest, &line)) {
			line = rest;
			rest.n = 0;
		}
		if (line.n != 0 && line.p[0] != '#' &&
		    audit_key(a, line, TRUST_PINNED, e))
			return err_wrap(e, "%s", arg + 1);
	}
	return 0;
}

int
audit_against(struct audit *a, const char *path, struct err *e)
{
	buf_reset(&a->against);
	if (load(path, &a->against, e))
		return -1;
	a->o.against = (struct str){ (const char *)a->against.p, a->against.n };
	return a->against.n != 0 ? 0 :
	    err_say(e, ERR_FORMAT, "%s is empty", path);
}

int
audit_mac_key(struct audit *a, const char *path, struct err *e)
{
	AUTO(buf) struct buf b;
	struct str text;

	buf_init(&b, 256);
	if (load(path, &b, e))
		return -1;
	text = (struct str){ (const char *)b.p, b.n };
	if (text.n != 0 && text.p[text.n - 1] == '\n')
		text.n--;
	if (hex_get(text, a->mac_key, sizeof(a->mac_key), e))
		return err_say(e, ERR_FORMAT,
		    "%s does not hold 64 hexadecimal digits", path);
	a->o.mac_key = a->mac_key;
	return 0;
}

static int
has(const char *path, const char *name)
{
	char whole[PATH_BYTES_MAX + 1];
	struct stat st;

	return snprintf(whole, sizeof(whole), "%s/%s", path, name) <
	    (int)sizeof(whole) && stat(whole, &st) == 0;
}

enum audit_kind
audit_kind(const char *path)
{
	struct stat st;

	if (path == NULL || stat(path, &st))
		return AUDIT_NOTHING;
	if (S_ISREG(st.st_mode))
		return AUDIT_RECEIPT;
	if (!S_ISDIR(st.st_mode))
		return AUDIT_NOTHING;
	/* An export that lost its checkpoint is still one. */
	return has(path, "journal.db") ? AUDIT_STATE : AUDIT_EXPORT;
}

static void
on_progress(void *ctx, uint64_t done, uint64_t total)
{
	struct audit *a = ctx;

	if (!a->begun)
		progress_init(&a->progress, a->progress_fd, "verify", "records",
		    (int64_t)total);
	a->begun = 1;
	progress_at(&a->progress, (int64_t)done);
}

void
audit_source(struct audit *a, const struct source *s, struct report *r)
{
	if (a->progress_fd >= 0) {
		a->o.progress = on_progress;
		a->o.progress_ctx = a;
	}
	verify_run(s, &a->o, r);
	if (a->begun)
		progress_done(&a->progress);
	a->begun = 0;
}

int
audit_export(struct audit *a, const char *path, struct report *r,
    struct err *e)
{
	AUTO(source_dir) struct source_dir *d = NULL;
	struct source s;

	if (source_dir_open(path, &d, &s, e))
		return -1;
	audit_source(a, &s, r);
	return 0;
}

int
audit_receipt(struct audit *a, const char *path, struct report *r,
    struct err *e)
{
	AUTO(buf) struct buf b;

	buf_init(&b, RECEIPT_MAX);
	if (load(path, &b, e))
		return -1;
	verify_receipt((struct str){ (const char *)b.p, b.n }, &a->o, r);
	return 0;
}

void
audit_say(struct out *o, int json, const struct report *r,
    const char *subject, int64_t us)
{
	AUTO(json) struct json *j = NULL;
	AUTO(buf) struct buf b;

	buf_init(&b, 64 << 10);
	if (json) {
		j = report_json(r, subject, us);
		out_json(o, j);
		return;
	}
	report_put(&b, r, subject, us);
	if (buf_cstr(&b) != NULL)
		out_put(o, buf_cstr(&b));
}
