/* SPDX-License-Identifier: ISC */
#include <errno.h>
#include <fcntl.h>
#include <unistd.h>

#include "base/fd.h"
#include "sandbox/etc.h"
#include "sandbox/plan.h"

enum { ETC_FILE_MAX = 32 << 10 };

static const struct {
	const char	*path;
	const char	*text;
} files[] = {
	{ "/etc/passwd",
	    "root:x:0:0:root:/root:/usr/sbin/nologin\n"
	    "agent:x:1000:1000:agent:" PLAN_HOME ":/bin/bash\n"
	    "nobody:x:65534:65534:nobody:/nonexistent:/usr/sbin/nologin\n" },
	{ "/etc/group",
	    "root:x:0:\n"
	    "tty:x:5:\n"
	    "agent:x:1000:\n"
	    "nogroup:x:65534:\n" },
	{ "/etc/shells", "/bin/sh\n/bin/bash\n" },
	{ "/etc/hostname", "glove\n" },
	{ "/etc/hosts",
	    "127.0.0.1\tlocalhost\n"
	    "127.0.1.1\tglove\n" },
	{ "/etc/resolv.conf", "nameserver 127.0.0.1\n" },
	{ "/etc/nsswitch.conf",
	    "passwd: files\n"
	    "group: files\n"
	    "shadow: files\n"
	    "hosts: files dns\n"
	    "networks: files\n"
	    "protocols: files\n"
	    "services: files\n" },
};

static int
put(const char *path, struct bytes text, struct err *e)
{
	AUTO(fd) int fd = open(path, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC |
	    O_NOFOLLOW, 0644);

	if (fd < 0)
		return err_set(e, ERR_SYS, "%s", path);
	return fd_write_all(fd, text.p, text.n, e);
}

/* A value as git-config(1) reads it back, whatever is in it. */
static void
put_value(struct buf *b, const char *key, const char *value)
{
	buf_putf(b, "\t%s = \"", key);
	for (const char *s = value; *s != '\0'; s++) {
		if (*s == '\n')
			buf_put_str(b, "\\n");
		else if (*s == '"' || *s == '\\') {
			buf_put_u8(b, '\\');
			buf_put_u8(b, (uint8_t)*s);
		} else
			buf_put_u8(b, (uint8_t)*s);
	}
	buf_put_str(b, "\"\n");
}

static int
put_git(const struct launch *l, struct err *e)
{
	AUTO(buf) struct buf b;

	buf_init(&b, ETC_FILE_MAX);
	if (l->git_name != NULL || l->git_email != NULL)
		buf_put_str(&b, "[user]\n");
	if (l->git_name != NULL)
		put_value(&b, "name", l->git_name);
	if (l->git_email != NULL)
		put_value(&b, "email", l->git_email);
	/* Files of other owners are nobody's in here. */
	buf_put_str(&b, "[safe]\n");
	put_value(&b, "directory", l->workspace);
	buf_put_str(&b, "[init]\n\tdefaultBranch = main\n");
	if (buf_ok(&b, "/etc/gitconfig", e))
		return -1;
	return put("/etc/gitconfig", buf_bytes(&b), e);
}

int
etc_write(const struct launch *l, struct err *e)
{
	for (size_t i = 0; i < sizeof(files) / sizeof(files[0]); i++)
		if (put(files[i].path, bytes_of_str(str_of(files[i].text)), e))
			return -1;
	return put_git(l, e);
}
