/* SPDX-License-Identifier: ISC */
/*
 * installs.c - which root keys this user has seen and which are trusted.
 *
 * known_installs, one a line:	install-id first-seen root-key state-directory
 * pins, one a line:		root-key
 *
 * The CLI keeps them, not gloved: a journal that was put in the place of
 * another must not be able to vouch for itself.
 */
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>

#include "base/fd.h"
#include "base/num.h"
#include "base/text.h"
#include "cli/home.h"

enum { LIST_MAX = 1 << 20 };

/* The next line of ${text}, which moves on; 0 at the end. */
static int
next_line(struct str *text, struct str *line)
{
	const char *nl;

	if (text->n == 0)
		return 0;
	nl = memchr(text->p, '\n', text->n);
	line->p = text->p;
	line->n = nl == NULL ? text->n : (size_t)(nl - text->p);
	text->p += line->n + (nl != NULL);
	text->n -= line->n + (nl != NULL);
	return 1;
}

/* The next word; what is left begins behind one blank. */
static struct str
word(struct str *line)
{
	const char *end = line->n == 0 ? NULL : memchr(line->p, ' ', line->n);
	struct str w = { line->p, end == NULL ? line->n :
	    (size_t)(end - line->p) };

	line->p += w.n + (end != NULL);
	line->n -= w.n + (end != NULL);
	return w;
}

int
lines_have(struct str text, struct str line)
{
	struct str l;

	while (next_line(&text, &l))
		if (str_eq(l, line))
			return 1;
	return 0;
}

/* A missing directory or file is an empty list. */
static int
read_list(const struct home *h, const char *name, struct buf *b, struct err *e)
{
	AUTO(fd) int dir = open(h->config, O_PATH | O_DIRECTORY | O_CLOEXEC);

	if (dir < 0 && errno == ENOENT)
		return 0;
	if (dir < 0)
		return err_set(e, ERR_SYS, "%s", h->config);
	if (faccessat(dir, name, F_OK, AT_SYMLINK_NOFOLLOW) != 0 &&
	    errno == ENOENT)
		return 0;
	if (fd_file(dir, name, b, e))
		return err_wrap(e, "%s", h->config);
	return 0;
}

static int
config_dir(const struct home *h, int *fd, struct err *e)
{
	char path[PATH_BYTES_MAX + 1];

	/* ~/.config itself may not be there yet. */
	(void)snprintf(path, sizeof(path), "%s", h->config);
	for (char *p = path + 1; (p = strchr(p, '/')) != NULL; p++) {
		*p = '\0';
		if (mkdir(path, 0700) != 0 && errno != EEXIST)
			return err_set(e, ERR_SYS, "%s", path);
		*p = '/';
	}
	return fd_mkdir_open(AT_FDCWD, path, 0700, fd, e);
}

static int
write_list(const struct home *h, const char *name, const struct buf *b,
    struct err *e)
{
	AUTO(fd) int dir = -1;

	if (buf_ok(b, name, e) || config_dir(h, &dir, e))
		return -1;
	return fd_replace(dir, name, buf_bytes(b), 0600, e);
}

static struct str
text_of(const struct buf *b)
{
	return (struct str){ (const char *)b->p, b->n };
}

int
pins_read(const struct home *h, struct buf *b, struct err *e)
{
	return read_list(h, "pins", b, e);
}

int
pins_add(const struct home *h, struct str key, struct err *e)
{
	AUTO(buf) struct buf b;

	buf_init(&b, LIST_MAX);
	if (pins_read(h, &b, e))
		return -1;
	if (lines_have(text_of(&b), key))
		return 0;
	if (b.n > 0 && b.p[b.n - 1] != '\n')
		buf_put_str(&b, "\n");
	buf_put(&b, key.p, key.n);
	buf_put_str(&b, "\n");
	return write_list(h, "pins", &b, e);
}

static int
another_root(const struct home *h, struct str was, struct str is, struct err *e)
{
	(void)err_say(e, ERR_UNTRUSTED, "the journal in %s is signed under"
	    " another root key than before", h->state);
	(void)err_why(e, "it was %.*s", (int)(was.n > 200 ? 200 : was.n),
	    was.p);
	return err_fix(e, "if you replaced the journal yourself:"
	    " glove key pin %.*s", (int)(is.n > 200 ? 200 : is.n), is.p);
}

/*
 * Everything of the list but this state directory, and it anew.
 */
static void
renew_line(struct buf *to, struct str list, struct str place, struct str install,
    struct str root_key, int64_t now_us)
{
	char since[RFC3339_MAX];
	struct str line;

	while (next_line(&list, &line)) {
		struct str rest = line;

		(void)word(&rest);
		(void)word(&rest);
		(void)word(&rest);
		if (line.n > 0 && !str_eq(rest, place)) {
			buf_put(to, line.p, line.n);
			buf_put_str(to, "\n");
		}
	}
	buf_putf(to, "%.*s %s %.*s %.*s\n", (int)install.n, install.p,
	    rfc3339_str(now_us, since), (int)root_key.n, root_key.p,
	    (int)place.n, place.p);
}

int
installs_check(const struct home *h, struct str install, struct str root_key,
    int64_t now_us, int *noted, struct err *e)
{
	AUTO(buf) struct buf known, pins, place, out;
	struct str list, line;

	buf_init(&known, LIST_MAX);
	buf_init(&pins, LIST_MAX);
	buf_init(&place, 4 * PATH_BYTES_MAX + 8);
	buf_init(&out, LIST_MAX);
	*noted = 0;
	escape_put(&place, str_of(h->state), 4 * PATH_BYTES_MAX);
	if (memchr(root_key.p, ' ', root_key.n) != NULL ||
	    memchr(root_key.p, '\n', root_key.n) != NULL)
		return err_say(e, ERR_FORMAT, "gloved's root key is not one word");
	if (read_list(h, "known_installs", &known, e))
		return -1;
	list = text_of(&known);
	while (next_line(&list, &line)) {
		struct str id = word(&line), key;

		(void)word(&line);
		key = word(&line);
		if (!str_eq(line, text_of(&place)))
			continue;
		if (str_eq(key, root_key) && str_eq(id, install))
			return 0;
		if (pins_read(h, &pins, e))
			return -1;
		if (!lines_have(text_of(&pins), root_key))
			return another_root(h, key, root_key, e);
	}
	renew_line(&out, text_of(&known), text_of(&place), install, root_key,
	    now_us);
	*noted = 1;
	return write_list(h, "known_installs", &out, e);
}
