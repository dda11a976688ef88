/* SPDX-License-Identifier: ISC */
#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <setjmp.h>
#include <signal.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cmocka.h>
#include <sodium.h>

#include "journal/tree.h"
#include "tests/lib/played.h"

static const uint8_t install[16] = { 0xaa, 1 };
static const char *const env[] = {
	"PATH=/usr/bin:/bin", "HOME=/home/agent", NULL
};

/* ---- a log --------------------------------------------------------------- */

struct leaves {
	uint64_t	at;
	struct hash	leaf;
};

static int
read_node(void *ctx, unsigned level, uint64_t n, struct hash *out,
    struct err *e)
{
	const struct leaves *l = ctx;
	const uint8_t byte = (uint8_t)n;
	struct hash a, b;

	if (level == 0) {
		tree_leaf(bytes_of(&byte, 1), out);
		if (n == l->at)
			*out = l->leaf;
		return 0;
	}
	if (read_node(ctx, level - 1, 2 * n, &a, e) ||
	    read_node(ctx, level - 1, 2 * n + 1, &b, e))
		return -1;
	tree_node(&a, &b, out);
	return 0;
}

void
played_order(struct played *w, const char *const *argv, size_t argc)
{
	struct digest d;

	digest_init(&d, "glove/argv/1");
	for (size_t i = 0; i < argc; i++)
		digest_str(&d, str_of(argv[i]));
	digest_final(&d, w->command);
	w->orders = 1;
}

void
played_receipt(struct played *w, int event, const uint8_t *nonce, struct buf *out)
{
	struct leaves l = { .at = w->next };
	const struct tree_reader reader = { read_node, &l };
	struct record r = { .machine = MACHINE_SESSION, .index = w->next,
	    .subject = w->l.session, .subject_seq = 1, .prev = 0,
	    .event = (uint8_t)event, .from = 1, .to = 1,
	    .actor = ACTOR_RUNTIME };
	struct receipt rc = { .index = w->next, .checkpoint.size = w->next + 1 };
	struct tree_edge t = { .size = 0 };
	AUTO(buf) struct buf bytes, text, sigs;
	uint8_t sig[SIG_BYTES];
	struct err e;

	w->next++;
	buf_init(&bytes, RECORD_MAX);
	buf_init(&text, 4096);
	buf_init(&sigs, 4096);
	memcpy(r.install, install, sizeof(install));
	assert_int_equal(clock_boot_id(r.boot_id, &e), 0);
	if (nonce != NULL) {
		r.nfields = 1;
		r.field[0] = (struct tlv){ FIELD_NONCE, bytes_of(nonce, 32) };
	}
	if (w->orders)
		r.field[r.nfields++] = (struct tlv){ FIELD_ARGV_DIGEST,
		    BYTES(w->command) };
	w->orders = 0;
	if (record_encode(&r, &bytes, &e))
		fail_msg("%s", e.msg);
	tree_leaf(buf_bytes(&bytes), &l.leaf);
	for (uint64_t i = 0; i < rc.checkpoint.size; i++) {
		struct hash h;

		(void)!read_node(&l, 0, i, &h, &e);
		tree_append(&t, &h);
	}
	assert_int_equal(tree_prove(&reader, l.at, rc.checkpoint.size,
	    rc.proof, &rc.nproof, &e), 0);
	tree_root(&t, &rc.checkpoint.root);
	rc.record = buf_bytes(&bytes);
	(void)strcpy(rc.checkpoint.origin, w->origin);
	checkpoint_text(&rc.checkpoint, &text);
	rc.text = (struct str){ (const char *)text.p, text.n };
	note_sign(rc.text, w->sec, sig);
	note_sig_put(&sigs, w->origin, w->pub, sig);
	rc.sigs = (struct str){ (const char *)sigs.p, sigs.n };
	receipt_put(out, &rc);
	assert_int_equal(buf_ok(out, "receipt", &e), 0);
}

/* ---- a world -------------------------------------------------------------- */

void
played_run(const char *fmt, ...)
{
	char cmd[512];
	va_list ap;

	va_start(ap, fmt);
	(void)vsnprintf(cmd, sizeof(cmd), fmt, ap);
	va_end(ap);
	if (system(cmd) != 0)
		fail_msg("%s", cmd);
}

int
played_setup(void **state)
{
	struct played *w = calloc(1, sizeof(*w));
	AUTO(buf) struct buf intent;
	struct stat st;

	assert_non_null(w);
	(void)snprintf(w->dir, sizeof(w->dir), "/tmp/glove-sup.XXXXXX");
	assert_non_null(mkdtemp(w->dir));
	(void)snprintf(w->ws, sizeof(w->ws), "%s/ws", w->dir);
	(void)snprintf(w->state, sizeof(w->state), "%s/state", w->dir);
	(void)snprintf(w->sock, sizeof(w->sock), "%s/sock", w->dir);
	played_run("mkdir -p %s %s/upper %s/work; chmod 700 %s", w->ws, w->state,
	    w->state, w->state);
	assert_int_equal(stat(w->ws, &st), 0);
	(void)crypto_sign_keypair(w->pub, w->sec);
	(void)origin_str(install, 0, w->origin);
	w->next = 3;
	w->l = (struct launch){
		.kind = LAUNCH_RUN, .session = { { 9 } }, .subject = { { 9 } },
		.receipt = w->intent, .origin = w->origin,
		.mode = MODE_STAGED, .workspace = w->ws,
		.workspace_dev = st.st_dev, .workspace_ino = st.st_ino,
		.state = w->state, .argc = 3, .argv = w->argv, .envc = 2,
		.env = env, .cwd = w->ws, .attach_path = w->sock,
		.rows = 24, .cols = 80, .token = { 1, 2, 3 },
		.grace_us = 200000, .orphan_grace_us = 30 * 1000000
	};
	memcpy(w->l.log_pub, w->pub, sizeof(w->l.log_pub));
	w->argv[0] = "/bin/bash";
	w->argv[1] = "-c";
	buf_init(&intent, sizeof(w->intent) - 1);
	played_receipt(w, SESSION_EV_start_intent, NULL, &intent);
	memcpy(w->intent, intent.p, intent.n);
	buf_init(&w->in, CHANNEL_MAX);
	w->channel = -1;
	w->init = PROC_NONE;
	*state = w;
	return 0;
}

int
played_teardown(void **state)
{
	struct played *w = *state;
	char cmd[256];

	if (w->pid > 0) {
		(void)kill(w->pid, SIGKILL);
		(void)waitpid(w->pid, NULL, 0);
	}
	auto_fd(&w->channel);
	proc_done(&w->init);
	buf_done(&w->in);
	(void)snprintf(cmd, sizeof(cmd), "chmod -R u+rwx %s; rm -rf %s",
	    w->dir, w->dir);
	(void)!system(cmd);
	free(w);
	return 0;
}

void
played_launch(struct played *w, const char *script)
{
	struct sockaddr_un a = { .sun_family = AF_UNIX };
	struct err e;
	int sv[2], s;

	w->argv[2] = script;
	(void)snprintf(a.sun_path, sizeof(a.sun_path), "%s", w->sock);
	s = socket(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0);
	assert_int_equal(bind(s, (const struct sockaddr *)&a, sizeof(a)), 0);
	assert_int_equal(listen(s, 16), 0);
	assert_int_equal(fd_pair(sv, &e), 0);
	if ((w->pid = fork()) == 0) {
		(void)close(sv[0]);
		_exit(supervisor_run(&w->l, sv[1], s, &e) ? 1 : 0);
	}
	(void)close(s);
	(void)close(sv[1]);
	w->channel = sv[0];
}

void
played_readable(int fd)
{
	struct pollfd p = { .fd = fd, .events = POLLIN };

	if (poll(&p, 1, PLAYED_WAIT_MS) != 1)
		fail_msg("nothing was said for %d ms", PLAYED_WAIT_MS);
}

void
played_hear(struct played *w, int type, struct channel_msg *m)
{
	struct bytes text = { NULL, 0 };
	struct err e;

	played_readable(w->channel);
	if (channel_recv(w->channel, &w->in, m, &e))
		fail_msg("%s", e.msg);
	if (m->type != type)
		fail_msg("message %d: %.*s", m->type,
		    channel_get(m, CF_TEXT, &text, &e) == 0 ? (int)text.n : 0,
		    (const char *)text.p);
}

uint64_t
played_number(const struct channel_msg *m, int tag)
{
	struct err e;
	uint64_t v;

	if (channel_u64(m, tag, &v, &e))
		fail_msg("%s", e.msg);
	return v;
}

void
played_await_ready(struct played *w)
{
	struct channel_msg m;
	struct bytes v;
	struct err e;

	played_hear(w, MSG_READY, &m);
	assert_int_equal(channel_get(&m, CF_NONCE, &v, &e), 0);
	memcpy(w->nonce, v.p, 32);
	assert_int_equal(played_number(&m, CF_PID), w->pid);
	assert_int_equal(proc_open_same((pid_t)played_number(&m, CF_INIT_PID),
	    (int64_t)played_number(&m, CF_INIT_START), &w->init, &e), 0);
	assert_true(played_number(&m, CF_PIDNS) != 0);
	assert_int_equal(channel_get(&m, CF_BINDING, &v, &e), 0);
	assert_int_equal(channel_get(&m, CF_ENFORCED, &v, &e), 0);
}

void
played_say(struct played *w, int type, int tag, struct bytes v)
{
	struct channel_msg m;
	struct err e;

	channel_init(&m, type);
	if (tag != 0)
		channel_set(&m, tag, v);
	assert_int_equal(channel_send(w->channel, &m, &e), 0);
}

void
played_open_gate(struct played *w)
{
	AUTO(buf) struct buf b;

	buf_init(&b, RECEIPT_MAX);
	played_receipt(w, SESSION_EV_gate_open, w->nonce, &b);
	played_say(w, MSG_GATE, CF_RECEIPT, buf_bytes(&b));
}

void
played_start(struct played *w, const char *script)
{
	played_launch(w, script);
	played_await_ready(w);
	played_open_gate(w);
}

void
played_finish(struct played *w)
{
	int status;

	played_say(w, MSG_DONE, 0, (struct bytes){ NULL, 0 });
	assert_int_equal(waitpid(w->pid, &status, 0), w->pid);
	w->pid = 0;
	assert_int_equal(status, 0);
	assert_true(proc_gone(&w->init, 0));
	assert_int_equal(access(w->sock, F_OK), -1);
}

int
played_ran(const struct played *w)
{
	char path[128];

	(void)snprintf(path, sizeof(path), "%s/upper/ran", w->state);
	return access(path, F_OK) == 0;
}

void
played_until_it_runs(const struct played *w)
{
	for (int i = 0; i < 500 && !played_ran(w); i++)
		(void)usleep(10000);
	assert_true(played_ran(w));
}

/* ---- clients --------------------------------------------------------------- */

int
played_dial(const struct played *w)
{
	struct sockaddr_un a = { .sun_family = AF_UNIX };
	int s = socket(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0);

	(void)snprintf(a.sun_path, sizeof(a.sun_path), "%s", w->sock);
	assert_int_equal(connect(s, (const struct sockaddr *)&a, sizeof(a)),
	    0);
	return s;
}

void
played_tell(int s, const void *p, size_t n)
{
	assert_int_equal(send(s, p, n, MSG_NOSIGNAL), n);
}

void
played_first(const struct played *w, int s)
{
	uint8_t b[1 + 32 + 4] = { ATTACH_FIRST };

	memcpy(b + 1, w->l.token, 32);
	b[34] = 30;
	b[36] = 100;
	played_tell(s, b, sizeof(b));
}

/* All output until the end; the last message. */
size_t
played_listen_to(int s, char *out, size_t max, uint8_t last[8])
{
	uint8_t b[ATTACH_DATA_MAX + 8];
	size_t n = 0;

	for (;;) {
		ssize_t k;

		played_readable(s);
		k = recv(s, b, sizeof(b), 0);
		if (k <= 0)
			break;
		if ((b[0] == ATTACH_OUTPUT || b[0] == ATTACH_ERRORS) &&
		    n + (size_t)k < max) {
			memcpy(out + n, b + 1, (size_t)k - 1);
			n += (size_t)k - 1;
		}
		memcpy(last, b, k < 8 ? (size_t)k : 8);
	}
	out[n] = '\0';
	return n;
}
