/* SPDX-License-Identifier: ISC */
#include <string.h>

#include "engine/plan.h"

static struct json *
texts(const char *const *v, size_t n)
{
	struct json *l = json_make_array();

	for (size_t i = 0; i < n; i++)
		json_add_str(l, str_of(v[i]));
	return l;
}

static struct json *
exposures(const struct start *s, const uint8_t scope[32])
{
	struct json *l = json_make_array(), *x = json_make_object();

	set_id(x, "id", MACHINE_EXPOSURE, &s->exposure);
	json_set_hex(x, "scope", bytes_of(scope, 32));
	json_set_cstr(x, "mode", mode_word((int)s->mode));
	json_add(l, x);
	return l;
}

void
plan_put(const struct start *s, const uint8_t scope[32], int64_t ttl_s,
    struct buf *b)
{
	AUTO(json) struct json *o = json_make_object();

	json_set_cstr(o, "schema", "glove.plan/1");
	json_set_cstr(o, "runtime", "command");
	json_set(o, "command", texts(s->argv, s->argc));
	json_set_cstr(o, "cwd", s->cwd);
	json_set(o, "exposures", exposures(s, scope));
	json_set(o, "read_only", texts(s->ro, s->nro));
	json_set_bool(o, "terminal", s->terminal);
	json_set_cstr(o, "limits", "default");
	json_set(o, "egress", json_make_array());
	json_set_cstr(o, "tools", "none");
	json_set_int(o, "ttl_s", ttl_s);
	json_set_time(o, "not_after", s->ends_real_us);
	json_put(b, o);
}

void
plan_digest(struct bytes plan, uint8_t out[SHA256_BYTES])
{
	struct digest d;

	digest_init(&d, "glove/plan/1");
	digest_bytes(&d, plan);
	digest_final(&d, out);
}

void
scope_digest(const struct engine *en, const struct id *exposure,
    const struct place *p, enum mode mode, uid_t uid, const char *label,
    uint8_t out[SHA256_BYTES])
{
	struct digest d;

	digest_init(&d, "glove/scope/1");
	digest_bytes(&d, bytes_of(journal_install(en->j), INSTALL_ID_BYTES));
	digest_bytes(&d, BYTES(exposure->b));
	digest_u64(&d, p->dev);
	digest_u64(&d, p->ino);
	digest_u64(&d, p->mount);
	digest_u64(&d, (uint64_t)mode);
	digest_u64(&d, uid);
	digest_str(&d, str_of(label));
	digest_final(&d, out);
}

/* ---- what may be exposed ------------------------------------------------- */

/* Exposing one of these, or anything above it, shows the machine. */
static const char *const trees[] = {
	"/bin", "/boot", "/dev", "/etc", "/lib", "/lib64", "/proc", "/root/.ssh",
	"/run", "/sbin", "/sys", "/usr", "/var/lib", "/var/run", NULL
};

/* Places of secrets, wherever they are. */
static const char *const secrets[] = {
	".ssh", ".gnupg", ".aws", ".azure", ".kube", ".docker", ".password-store",
	".netrc", ".config", "keyrings", NULL
};

/* 1 if ${path} is ${tree} or below it. */
static int
below(const char *path, const char *tree)
{
	size_t n = strlen(tree);

	return strncmp(path, tree, n) == 0 && (path[n] == '\0' || path[n] == '/');
}

static int
has_component(const char *path, const char *name)
{
	size_t n = strlen(name);

	for (const char *p = path; (p = strchr(p, '/')) != NULL;) {
		p++;
		if (strncmp(p, name, n) == 0 && (p[n] == '/' || p[n] == '\0'))
			return 1;
	}
	return 0;
}

/* /root, /home/NAME, and /home itself. */
static int
is_bare_home(const char *path)
{
	const char *rest;

	if (strcmp(path, "/root") == 0 || strcmp(path, "/home") == 0)
		return 1;
	if (strncmp(path, "/home/", 6) != 0)
		return 0;
	rest = path + 6;
	return strchr(rest, '/') == NULL;
}

static int
deny(const struct place *p, const char *why, struct err *e)
{
	(void)err_say(e, ERR_DENIED, "%.256s is not exposed", p->path);
	(void)err_why(e, "%s", why);
	return err_fix(e, "choose the directory of one project");
}

int
place_allowed(const struct place *p, const char *home, struct err *e)
{
	if (p->path[0] != '/' || p->path[1] == '\0')
		return deny(p, "it is the whole machine", e);
	for (size_t i = 0; trees[i] != NULL; i++)
		if (below(p->path, trees[i]))
			return deny(p, "it belongs to the system", e);
	if (is_bare_home(p->path))
		return deny(p, "it is a whole home directory", e);
	for (size_t i = 0; secrets[i] != NULL; i++)
		if (has_component(p->path, secrets[i]))
			return deny(p, "keys and settings are kept there", e);
	if (below(p->path, home) || below(home, p->path))
		return deny(p, "Glove's own state is there", e);
	return 0;
}

static int
ends_in(const char *path, const char *end)
{
	size_t n = strlen(path), k = strlen(end);

	return n >= k && strcmp(path + n - k, end) == 0;
}

/* Absolute, and without a part that leads elsewhere than it reads. */
static int
is_plain(const char *path)
{
	return path[0] == '/' && strstr(path, "//") == NULL &&
	    strstr(path, "/./") == NULL && strstr(path, "/../") == NULL &&
	    !ends_in(path, "/.") && !ends_in(path, "/..");
}

int
shown_allowed(const char *path, const char *home, struct err *e)
{
	if (!is_plain(path))
		return err_say(e, ERR_USAGE,
		    "%.256s is not a plain absolute path", path);
	if (path[1] != '\0' && !below(path, home) && !below(home, path))
		return 0;
	(void)err_say(e, ERR_DENIED, "%.256s is not shown", path);
	return err_why(e, path[1] == '\0' ? "it is the whole machine" :
	    "Glove's own state, with its keys, is there");
}
