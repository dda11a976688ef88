/* SPDX-License-Identifier: ISC */
/*
 * A supervisor with a real sandbox under it and a gloved and clients that are
 * played here.  Its log has one key, and as many records as are asked for.
 */
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

#include "base/clock.h"
#include "base/fd.h"
#include "base/proc.h"
#include "journal/tree.h"
#include "sandbox/attach.h"
#include "sandbox/changes.h"
#include "sandbox/channel.h"
#include "sandbox/supervisor.h"

enum { WAIT_MS = 10000 };

struct world {
	char		 dir[64], ws[96], state[96], sock[96];
	uint8_t		 pub[PUB_BYTES], sec[SEC_BYTES];
	char		 origin[ORIGIN_MAX];
	uint64_t	 next;		/* index of the next record */
	char		 intent[RECEIPT_MAX / 8];
	struct launch	 l;
	const char	*argv[4];
	pid_t		 pid;		/* the supervisor */
	int		 channel;
	struct buf	 in;
	struct channel_msg ready;
	uint8_t		 nonce[32];
	struct proc	 init;
};

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

static void
receipt(struct world *w, int event, const uint8_t *nonce, struct buf *out)
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

static void __attribute__((format(printf, 1, 2)))
run(const char *fmt, ...)
{
	char cmd[512];
	va_list ap;

	va_start(ap, fmt);
	(void)vsnprintf(cmd, sizeof(cmd), fmt, ap);
	va_end(ap);
	if (system(cmd) != 0)
		fail_msg("%s", cmd);
}

static int
setup(void **state)
{
	struct world *w = calloc(1, sizeof(*w));
	AUTO(buf) struct buf intent;
	struct stat st;

	assert_non_null(w);
	(void)snprintf(w->dir, sizeof(w->dir), "/tmp/glove-sup.XXXXXX");
	assert_non_null(mkdtemp(w->dir));
	(void)snprintf(w->ws, sizeof(w->ws), "%s/ws", w->dir);
	(void)snprintf(w->state, sizeof(w->state), "%s/state", w->dir);
	(void)snprintf(w->sock, sizeof(w->sock), "%s/sock", w->dir);
	run("mkdir -p %s %s/upper %s/work; chmod 700 %s", w->ws, w->state,
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
	receipt(w, SESSION_EV_start_intent, NULL, &intent);
	memcpy(w->intent, intent.p, intent.n);
	buf_init(&w->in, CHANNEL_MAX);
	w->channel = -1;
	w->init = PROC_NONE;
	*state = w;
	return 0;
}

static int
teardown(void **state)
{
	struct world *w = *state;
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

static void
launch(struct world *w, const char *script)
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

static void
readable(int fd)
{
	struct pollfd p = { .fd = fd, .events = POLLIN };

	if (poll(&p, 1, WAIT_MS) != 1)
		fail_msg("nothing was said for %d ms", WAIT_MS);
}

static void
hear(struct world *w, int type, struct channel_msg *m)
{
	struct bytes text = { NULL, 0 };
	struct err e;

	readable(w->channel);
	if (channel_recv(w->channel, &w->in, m, &e))
		fail_msg("%s", e.msg);
	if (m->type != type)
		fail_msg("message %d: %.*s", m->type,
		    channel_get(m, CF_TEXT, &text, &e) == 0 ? (int)text.n : 0,
		    (const char *)text.p);
}

static uint64_t
number(const struct channel_msg *m, int tag)
{
	struct err e;
	uint64_t v;

	if (channel_u64(m, tag, &v, &e))
		fail_msg("%s", e.msg);
	return v;
}

static void
await_ready(struct world *w)
{
	struct channel_msg m;
	struct bytes v;
	struct err e;

	hear(w, MSG_READY, &m);
	assert_int_equal(channel_get(&m, CF_NONCE, &v, &e), 0);
	memcpy(w->nonce, v.p, 32);
	assert_int_equal(number(&m, CF_PID), w->pid);
	assert_int_equal(proc_open_same((pid_t)number(&m, CF_INIT_PID),
	    (int64_t)number(&m, CF_INIT_START), &w->init, &e), 0);
	assert_true(number(&m, CF_PIDNS) != 0);
	assert_int_equal(channel_get(&m, CF_BINDING, &v, &e), 0);
	assert_int_equal(channel_get(&m, CF_ENFORCED, &v, &e), 0);
}

static void
say(struct world *w, int type, int tag, struct bytes v)
{
	struct channel_msg m;
	struct err e;

	channel_init(&m, type);
	if (tag != 0)
		channel_set(&m, tag, v);
	assert_int_equal(channel_send(w->channel, &m, &e), 0);
}

static void
open_gate(struct world *w)
{
	AUTO(buf) struct buf b;

	buf_init(&b, RECEIPT_MAX);
	receipt(w, SESSION_EV_gate_open, w->nonce, &b);
	say(w, MSG_GATE, CF_RECEIPT, buf_bytes(&b));
}

static void
start(struct world *w, const char *script)
{
	launch(w, script);
	await_ready(w);
	open_gate(w);
}

static void
finish(struct world *w)
{
	int status;

	say(w, MSG_DONE, 0, (struct bytes){ NULL, 0 });
	assert_int_equal(waitpid(w->pid, &status, 0), w->pid);
	w->pid = 0;
	assert_int_equal(status, 0);
	assert_true(proc_gone(&w->init, 0));
	assert_int_equal(access(w->sock, F_OK), -1);
}

static int
ran(const struct world *w)
{
	char path[128];

	(void)snprintf(path, sizeof(path), "%s/upper/ran", w->state);
	return access(path, F_OK) == 0;
}

static void
until_it_runs(const struct world *w)
{
	for (int i = 0; i < 500 && !ran(w); i++)
		(void)usleep(10000);
	assert_true(ran(w));
}

/* ---- clients --------------------------------------------------------------- */

static int
dial(const struct world *w)
{
	struct sockaddr_un a = { .sun_family = AF_UNIX };
	int s = socket(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0);

	(void)snprintf(a.sun_path, sizeof(a.sun_path), "%s", w->sock);
	assert_int_equal(connect(s, (const struct sockaddr *)&a, sizeof(a)),
	    0);
	return s;
}

static void
tell(int s, const void *p, size_t n)
{
	assert_int_equal(send(s, p, n, MSG_NOSIGNAL), n);
}

static void
first(const struct world *w, int s)
{
	uint8_t b[1 + 32 + 4] = { ATTACH_FIRST };

	memcpy(b + 1, w->l.token, 32);
	b[34] = 30;
	b[36] = 100;
	tell(s, b, sizeof(b));
}

/* All output until the end; the last message. */
static size_t
listen_to(int s, char *out, size_t max, uint8_t last[8])
{
	uint8_t b[ATTACH_DATA_MAX + 8];
	size_t n = 0;

	for (;;) {
		ssize_t k;

		readable(s);
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

/* ---- what must hold -------------------------------------------------------- */

static void
without_the_receipt_of_an_intent_nothing_is_built(void **state)
{
	struct world *w = *state;
	struct channel_msg m;
	AUTO(buf) struct buf b;

	buf_init(&b, sizeof(w->intent) - 1);
	receipt(w, SESSION_EV_prepare, NULL, &b);
	memset(w->intent, 0, sizeof(w->intent));
	memcpy(w->intent, b.p, b.n);
	launch(w, "echo > ran");
	hear(w, MSG_FAILED, &m);
	assert_int_equal(number(&m, CF_CODE), ERR_ILLEGAL);
}

static void
a_session_runs_says_what_it_changed_and_leaves(void **state)
{
	struct world *w = *state;
	AUTO(manifest) struct manifest *found = NULL;
	AUTO(buf) struct buf b;
	struct channel_msg m;
	struct err e;

	launch(w, "echo x > ran; exit 5");
	await_ready(w);
	assert_false(proc_gone(&w->init, 50));
	assert_false(ran(w));
	open_gate(w);
	hear(w, MSG_ENDED, &m);
	assert_int_equal(number(&m, CF_CAUSE), CAUSE_EXITED);
	assert_int_equal(number(&m, CF_STATUS), 5);
	assert_int_equal(number(&m, CF_FILES), 1);
	assert_int_equal(number(&m, CF_ADDED), 1);
	assert_int_equal(number(&m, CF_SIGNALS), 0);
	assert_true(proc_gone(&w->init, 0));
	buf_init(&b, 1 << 20);
	assert_true(m.fd >= 0);
	assert_int_equal(lseek(m.fd, 0, SEEK_SET), 0);
	assert_int_equal(fd_read_all(m.fd, &b, &e), 0);
	(void)close(m.fd);
	assert_int_equal(manifest_decode(buf_bytes(&b), &found, &e), 0);
	assert_int_equal(found->n, 1);
	assert_string_equal(found->v[0].path.p, "ran");
	finish(w);
}

static void
a_gate_receipt_for_another_nonce_opens_nothing(void **state)
{
	struct world *w = *state;
	struct channel_msg m;

	launch(w, "echo > ran");
	await_ready(w);
	w->nonce[0] ^= 1;
	open_gate(w);
	hear(w, MSG_ENDED, &m);
	assert_int_equal(number(&m, CF_CAUSE), CAUSE_FAILED);
	assert_false(ran(w));
	finish(w);
}

static void
when_gloved_goes_before_the_gate_nothing_ever_runs(void **state)
{
	struct world *w = *state;

	launch(w, "echo > ran");
	await_ready(w);
	(void)close(w->channel);
	w->channel = -1;
	assert_true(proc_gone(&w->init, WAIT_MS));
	assert_int_equal(waitpid(w->pid, NULL, 0), w->pid);
	w->pid = 0;
	assert_false(ran(w));
}

static void
stop_asks_first_and_kills_after_the_grace(void **state)
{
	struct world *w = *state;
	struct channel_msg m, stop;
	struct err e;

	start(w, "trap '' TERM; echo > ran; while :; do sleep 1; done");
	until_it_runs(w);
	channel_init(&stop, MSG_STOP);
	channel_set_u64(&stop, CF_GRACE_US, 300000);
	channel_set_u64(&stop, CF_CAUSE, CAUSE_REVOKED);
	assert_int_equal(channel_send(w->channel, &stop, &e), 0);
	assert_false(proc_gone(&w->init, 100));
	hear(w, MSG_ENDED, &m);
	assert_int_equal(number(&m, CF_CAUSE), CAUSE_REVOKED);
	assert_int_equal(number(&m, CF_STATUS), 137);
	assert_int_equal(number(&m, CF_SIGNALS), 3);
	auto_fd(&m.fd);
	finish(w);
}

static void
an_agent_that_heeds_the_signal_ends_by_itself(void **state)
{
	struct world *w = *state;
	struct channel_msg m, stop;
	struct err e;

	start(w, "trap 'exit 3' TERM; echo > ran; while :; do sleep .05; done");
	until_it_runs(w);
	channel_init(&stop, MSG_STOP);
	channel_set_u64(&stop, CF_GRACE_US, 20000000);
	channel_set_u64(&stop, CF_CAUSE, CAUSE_STOPPED);
	assert_int_equal(channel_send(w->channel, &stop, &e), 0);
	hear(w, MSG_ENDED, &m);
	assert_int_equal(number(&m, CF_CAUSE), CAUSE_STOPPED);
	assert_int_equal(number(&m, CF_STATUS), 3);
	assert_int_equal(number(&m, CF_SIGNALS), 1);
	auto_fd(&m.fd);
	finish(w);
}

static void
its_time_is_over_on_either_clock(void **state)
{
	struct world *w = *state;
	struct channel_msg m;

	w->l.ends_boot_us = clock_now().boot_us + 400000;
	w->l.ends_real_us = clock_now().real_us + 3600000000;
	start(w, "sleep 1000");
	hear(w, MSG_ENDED, &m);
	assert_int_equal(number(&m, CF_CAUSE), CAUSE_EXPIRED);
	finish(w);
}

static void
an_orphan_ends_after_its_grace_and_leaves_word(void **state)
{
	struct world *w = *state;
	AUTO(fd) int dir = -1;
	AUTO(buf) struct buf b;
	struct channel_msg m;
	struct err e;

	w->l.orphan_grace_us = 300000;
	start(w, "echo > ran; sleep 1000");
	until_it_runs(w);
	(void)close(w->channel);
	w->channel = -1;
	assert_false(proc_gone(&w->init, 100));
	assert_true(proc_gone(&w->init, WAIT_MS));
	assert_int_equal(waitpid(w->pid, NULL, 0), w->pid);
	w->pid = 0;
	assert_true((dir = open(w->state, O_RDONLY | O_DIRECTORY)) >= 0);
	buf_init(&b, CHANNEL_MAX);
	if (fd_file(dir, "outcome", &b, &e))
		fail_msg("%s", e.msg);
	assert_int_equal(channel_decode(buf_bytes(&b), &m, &e), 0);
	assert_int_equal(m.type, MSG_ENDED);
	assert_int_equal(number(&m, CF_CAUSE), CAUSE_LOST);
	assert_int_equal(number(&m, CF_FILES), 1);
	assert_int_equal(faccessat(dir, "manifest", F_OK, 0), 0);
}

static void
a_new_gloved_adopts_a_session_and_hears_its_end(void **state)
{
	struct world *w = *state;
	AUTO(buf) struct buf b;
	struct channel_msg m;
	uint8_t hello = ATTACH_ASK, nonce[33];
	struct err e;
	int s, sv[2];

	start(w, "echo > ran; sleep 0.7; exit 4");
	until_it_runs(w);
	(void)close(w->channel);
	assert_int_equal(fd_pair(sv, &e), 0);
	w->channel = sv[0];
	s = dial(w);
	tell(s, &hello, 1);
	readable(s);
	assert_int_equal(recv(s, nonce, sizeof(nonce), 0), 33);
	assert_int_equal(nonce[0], ATTACH_CHALLENGE);
	buf_init(&b, ATTACH_MAX);
	buf_put_u8(&b, ATTACH_ADOPT);
	receipt(w, SESSION_EV_adopt, nonce + 1, &b);
	assert_int_equal(fd_send(s, buf_bytes(&b), &sv[1], 1, &e), 0);
	(void)close(sv[1]);
	hear(w, MSG_STATE, &m);
	assert_int_equal(number(&m, CF_STATE), 2);
	assert_int_equal(number(&m, CF_PID), w->pid);
	assert_int_equal(number(&m, CF_INIT_PID), w->init.pid);
	hear(w, MSG_ENDED, &m);
	assert_int_equal(number(&m, CF_STATUS), 4);
	auto_fd(&m.fd);
	(void)close(s);
	finish(w);
}

static void
a_client_has_the_whole_output_and_the_status(void **state)
{
	struct world *w = *state;
	struct channel_msg m;
	uint8_t last[8], in[] = { ATTACH_INPUT, 'h', 'e', 'y', '\n' };
	uint8_t eof = ATTACH_EOF;
	char out[256];
	int s;

	w->l.wait_client = 1;
	start(w, "read a; echo got $a; echo err >&2; cat; exit 6");
	s = dial(w);
	first(w, s);
	tell(s, in, sizeof(in));
	tell(s, &eof, 1);
	hear(w, MSG_ENDED, &m);
	assert_int_equal(number(&m, CF_STATUS), 6);
	say(w, MSG_DONE, 0, (struct bytes){ NULL, 0 });
	(void)listen_to(s, out, sizeof(out), last);
	assert_non_null(strstr(out, "got hey\n"));
	assert_non_null(strstr(out, "err\n"));
	assert_int_equal(last[0], ATTACH_EXIT);
	assert_int_equal(last[1], CAUSE_EXITED);
	assert_int_equal(last[2] << 8 | last[3], 6);
	assert_int_equal(last[4], 1);
	(void)close(s);
	assert_int_equal(waitpid(w->pid, NULL, 0), w->pid);
	w->pid = 0;
}

static void
a_terminal_has_the_size_of_its_client(void **state)
{
	struct world *w = *state;
	struct channel_msg m;
	uint8_t last[8], in[] = { ATTACH_INPUT, '\n' };
	char out[512];
	int s;

	w->l.wait_client = 1;
	w->l.terminal = 1;
	start(w, "read a; stty size; tty");
	s = dial(w);
	first(w, s);
	tell(s, in, sizeof(in));
	hear(w, MSG_ENDED, &m);
	say(w, MSG_DONE, 0, (struct bytes){ NULL, 0 });
	(void)listen_to(s, out, sizeof(out), last);
	assert_non_null(strstr(out, "30 100\r\n/dev/pts/0\r\n"));
	(void)close(s);
}

static void
a_client_with_a_wrong_token_is_refused_and_hurts_nobody(void **state)
{
	struct world *w = *state;
	struct channel_msg m;
	uint8_t last[8], junk[3] = { 200, 1, 2 }, eof = ATTACH_EOF;
	char out[256];
	int s, t, u;

	w->l.wait_client = 1;
	w->l.tied = 1;
	start(w, "cat; echo fine");
	s = dial(w);
	w->l.token[0] ^= 1;
	first(w, s);
	(void)listen_to(s, out, sizeof(out), last);
	assert_int_equal(last[0], ATTACH_REFUSED);
	assert_int_equal(last[1] << 8 | last[2], ERR_DENIED);
	w->l.token[0] ^= 1;
	u = dial(w);
	tell(u, junk, sizeof(junk));
	(void)listen_to(u, out, sizeof(out), last);
	assert_int_equal(last[0], ATTACH_REFUSED);
	t = dial(w);
	first(w, t);
	tell(t, &eof, 1);
	hear(w, MSG_ENDED, &m);
	say(w, MSG_DONE, 0, (struct bytes){ NULL, 0 });
	(void)listen_to(t, out, sizeof(out), last);
	assert_string_equal(out, "fine\n");
	(void)close(s);
	(void)close(t);
	(void)close(u);
}

static void
a_tied_session_ends_with_its_client(void **state)
{
	struct world *w = *state;
	struct channel_msg m;
	int s;

	w->l.wait_client = 1;
	w->l.tied = 1;
	start(w, "echo > ran; sleep 1000");
	s = dial(w);
	first(w, s);
	until_it_runs(w);
	(void)close(s);
	hear(w, MSG_ENDED, &m);
	assert_int_equal(number(&m, CF_CAUSE), CAUSE_CLIENT);
	auto_fd(&m.fd);
	finish(w);
}

static void
a_second_command_runs_in_the_same_sandbox(void **state)
{
	struct world *w = *state;
	AUTO(buf) struct buf b, rc;
	struct channel_msg m;
	uint8_t ask = ATTACH_ASK, eof = ATTACH_EOF, nonce[33], last[8];
	char out[256];
	int s;

	start(w, "echo > ran; sleep 2; test -e second && exit 9");
	until_it_runs(w);
	s = dial(w);
	tell(s, &ask, 1);
	readable(s);
	assert_int_equal(recv(s, nonce, sizeof(nonce), 0), 33);
	buf_init(&b, ATTACH_MAX);
	buf_init(&rc, ATTACH_MAX);
	receipt(w, SESSION_EV_exec, nonce + 1, &rc);
	buf_put_u8(&b, ATTACH_EXEC);
	buf_put_u8(&b, 0);
	buf_put_u32(&b, 0);
	buf_put_u32(&b, (uint32_t)rc.n);
	buf_put(&b, rc.p, rc.n);
	buf_put_u32(&b, 3);
	buf_put(&b, "/bin/sh\0-c\0touch second; cat; echo $X; exit 3", 46);
	buf_put_u32(&b, 1);
	buf_put(&b, "X=why", 6);
	tell(s, b.p, b.n);
	tell(s, &eof, 1);	/* before it has started */
	(void)listen_to(s, out, sizeof(out), last);
	assert_string_equal(out, "why\n");
	assert_int_equal(last[0], ATTACH_EXIT);
	assert_int_equal(last[2] << 8 | last[3], 3);
	(void)close(s);
	hear(w, MSG_ENDED, &m);
	assert_int_equal(number(&m, CF_STATUS), 9);
	auto_fd(&m.fd);
	finish(w);
}

int
main(void)
{
#define T(name) cmocka_unit_test_setup_teardown(name, setup, teardown)
	const struct CMUnitTest tests[] = {
		T(without_the_receipt_of_an_intent_nothing_is_built),
		T(a_session_runs_says_what_it_changed_and_leaves),
		T(a_gate_receipt_for_another_nonce_opens_nothing),
		T(when_gloved_goes_before_the_gate_nothing_ever_runs),
		T(stop_asks_first_and_kills_after_the_grace),
		T(an_agent_that_heeds_the_signal_ends_by_itself),
		T(its_time_is_over_on_either_clock),
		T(an_orphan_ends_after_its_grace_and_leaves_word),
		T(a_new_gloved_adopts_a_session_and_hears_its_end),
		T(a_client_has_the_whole_output_and_the_status),
		T(a_terminal_has_the_size_of_its_client),
		T(a_client_with_a_wrong_token_is_refused_and_hurts_nobody),
		T(a_tied_session_ends_with_its_client),
		T(a_second_command_runs_in_the_same_sandbox),
	};

	return cmocka_run_group_tests_name("supervisor", tests, NULL, NULL);
}
