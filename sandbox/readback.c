/* SPDX-License-Identifier: ISC */
/*
 * readback.c - what the kernel says is mounted, against the plan.
 */
#include <fcntl.h>
#include <string.h>
#include <unistd.h>

#include "base/fd.h"
#include "sandbox/mounts.h"
#include "sandbox/plan.h"

enum { MOUNTINFO_MAX = 256 << 10, EXPECT_MAX = MOUNTS_MAX + 32 };

struct expect {
	const char	*to;
	int		 ro;
	int		 below;		/* more of the same kind may be below */
	int		 seen;
};

struct expected {
	size_t		 n;
	struct expect	 x[EXPECT_MAX];
};

static void
expect(struct expected *w, const char *to, int ro, int below)
{
	if (w->n < EXPECT_MAX)
		w->x[w->n++] = (struct expect){ to, ro, below, 0 };
}

static void
expect_plan(struct expected *w, const struct mounts *m, const struct launch *l)
{
	expect(w, "/", 1, 0);
	expect(w, "/proc", 0, 0);
	for (int i = 0; i < PLAN_COVERED; i++)
		if (access(plan_covered[i], F_OK) == 0)
			expect(w, plan_covered[i], 1, 0);
	for (size_t i = 0; i < plan_new_count; i++)
		expect(w, plan_new[i].to, 0, 0);
	for (size_t i = 0; i < m->n; i++) {
		if (m->m[i].kind == MOUNT_SHOWN)
			expect(w, m->m[i].to, 1, 1);
		if (m->m[i].kind == MOUNT_LAYER)
			expect(w, m->m[i].to, 1, 0);
		if (m->m[i].kind == MOUNT_DEVICE)
			expect(w, m->m[i].to, 0, 0);
	}
	for (int i = 0; i < LAYERS_MAX; i++)
		if (m->layers[i].to != NULL)
			expect(w, m->layers[i].to, l->mode == MODE_RO, 0);
}

/* The next word of a line, in place; "\040" is a blank (proc(5)). */
static char *
word(char **line)
{
	char *start = *line, *to = start, *s = start;

	for (; *s != '\0' && *s != ' '; s++) {
		if (s[0] == '\\' && strspn(s + 1, "01234567") >= 3) {
			*to++ = (char)((s[1] - '0') << 6 | (s[2] - '0') << 3 |
			    (s[3] - '0'));
			s += 3;
		} else
			*to++ = *s;
	}
	*line = *s == ' ' ? s + 1 : s;
	*to = '\0';
	return start;
}

static int
below(const char *at, const char *to)
{
	size_t n = strlen(to);

	return strncmp(at, to, n) == 0 && at[n] == '/';
}

static int
has_option(const char *options, const char *name)
{
	size_t n = strlen(name);

	for (const char *s = options; s != NULL; s = strchr(s, ',')) {
		if (*s == ',')
			s++;
		if (strncmp(s, name, n) == 0 && (s[n] == ',' || s[n] == '\0'))
			return 1;
	}
	return 0;
}

static int
check_line(struct expected *w, char *line, struct err *e)
{
	const char *at, *options;
	struct expect *x = NULL;

	for (int i = 0; i < 4; i++)
		(void)word(&line);	/* ids, device, root */
	at = word(&line);
	options = word(&line);
	for (size_t i = 0; i < w->n && x == NULL; i++)
		if (strcmp(w->x[i].to, at) == 0 ||
		    (w->x[i].below && below(at, w->x[i].to)))
			x = &w->x[i];
	if (x == NULL)
		return err_say(e, ERR_SANDBOX, "%s is mounted and should not be",
		    at);
	if ((x->ro && !has_option(options, "ro")) ||
	    !has_option(options, "nosuid"))
		return err_say(e, ERR_SANDBOX, "%s is mounted %s", at, options);
	if (strcmp(x->to, at) == 0)
		x->seen = 1;
	return 0;
}

int
mounts_check(const struct mounts *m, const struct launch *l, struct err *e)
{
	struct expected w = { .n = 0 };
	AUTO(buf) struct buf b;
	AUTO(fd) int fd = open("/proc/self/mountinfo", O_RDONLY | O_CLOEXEC);
	char *line, *next;

	buf_init(&b, MOUNTINFO_MAX);
	if (fd < 0)
		return err_set(e, ERR_SYS, "mountinfo");
	if (fd_read_all(fd, &b, e) || buf_cstr(&b) == NULL)
		return -1;
	expect_plan(&w, m, l);
	for (line = (char *)b.p; *line != '\0'; line = next) {
		next = line + strcspn(line, "\n");
		if (*next == '\n')
			*next++ = '\0';
		if (check_line(&w, line, e))
			return -1;
	}
	for (size_t i = 0; i < w.n; i++)
		if (!w.x[i].seen)
			return err_say(e, ERR_SANDBOX, "%s is not mounted",
			    w.x[i].to);
	return 0;
}
