/* SPDX-License-Identifier: ISC */
/* A supervisor with a real sandbox under it; gloved is played. */
#include <fcntl.h>
#include <setjmp.h>
#include <signal.h>
#include <stdarg.h>
#include <stddef.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cmocka.h>

#include "tests/lib/played.h"

static void
without_the_receipt_of_an_intent_nothing_is_built(void **state)
{
	struct played *w = *state;
	struct channel_msg m;
	AUTO(buf) struct buf b;

	buf_init(&b, sizeof(w->intent) - 1);
	played_receipt(w, SESSION_EV_prepare, NULL, &b);
	memset(w->intent, 0, sizeof(w->intent));
	memcpy(w->intent, b.p, b.n);
	played_launch(w, "echo > ran");
	played_hear(w, MSG_FAILED, &m);
	assert_int_equal(played_number(&m, CF_CODE), ERR_ILLEGAL);
}

static void
a_session_runs_says_what_it_changed_and_leaves(void **state)
{
	struct played *w = *state;
	AUTO(manifest) struct manifest *found = NULL;
	AUTO(buf) struct buf b;
	struct channel_msg m;
	struct err e;

	played_launch(w, "echo x > ran; exit 5");
	played_await_ready(w);
	assert_false(proc_gone(&w->init, 50));
	assert_false(played_ran(w));
	played_open_gate(w);
	played_hear(w, MSG_ENDED, &m);
	assert_int_equal(played_number(&m, CF_CAUSE), CAUSE_EXITED);
	assert_int_equal(played_number(&m, CF_STATUS), 5);
	assert_int_equal(played_number(&m, CF_FILES), 1);
	assert_int_equal(played_number(&m, CF_ADDED), 1);
	assert_int_equal(played_number(&m, CF_SIGNALS), 0);
	assert_true(proc_gone(&w->init, 0));
	buf_init(&b, 1 << 20);
	assert_true(m.fd >= 0);
	assert_int_equal(lseek(m.fd, 0, SEEK_SET), 0);
	assert_int_equal(fd_read_all(m.fd, &b, &e), 0);
	(void)close(m.fd);
	assert_int_equal(manifest_decode(buf_bytes(&b), &found, &e), 0);
	assert_int_equal(found->n, 1);
	assert_string_equal(found->v[0].path.p, "ran");
	played_finish(w);
}

static void
a_gate_receipt_for_another_nonce_opens_nothing(void **state)
{
	struct played *w = *state;
	struct channel_msg m;

	played_launch(w, "echo > ran");
	played_await_ready(w);
	w->nonce[0] ^= 1;
	played_open_gate(w);
	played_hear(w, MSG_ENDED, &m);
	assert_int_equal(played_number(&m, CF_CAUSE), CAUSE_FAILED);
	assert_false(played_ran(w));
	played_finish(w);
}

static void
when_gloved_goes_before_the_gate_nothing_ever_runs(void **state)
{
	struct played *w = *state;

	played_launch(w, "echo > ran");
	played_await_ready(w);
	(void)close(w->channel);
	w->channel = -1;
	assert_true(proc_gone(&w->init, PLAYED_WAIT_MS));
	assert_int_equal(waitpid(w->pid, NULL, 0), w->pid);
	w->pid = 0;
	assert_false(played_ran(w));
}

static void
stop_asks_first_and_kills_after_the_grace(void **state)
{
	struct played *w = *state;
	struct channel_msg m, stop;
	struct err e;

	played_start(w, "trap '' TERM; echo > ran; while :; do sleep 1; done");
	played_until_it_runs(w);
	channel_init(&stop, MSG_STOP);
	channel_set_u64(&stop, CF_GRACE_US, 300000);
	channel_set_u64(&stop, CF_CAUSE, CAUSE_REVOKED);
	assert_int_equal(channel_send(w->channel, &stop, &e), 0);
	assert_false(proc_gone(&w->init, 100));
	played_hear(w, MSG_ENDED, &m);
	assert_int_equal(played_number(&m, CF_CAUSE), CAUSE_REVOKED);
	assert_int_equal(played_number(&m, CF_STATUS), 137);
	assert_int_equal(played_number(&m, CF_SIGNALS), 3);
	auto_fd(&m.fd);
	played_finish(w);
}

static void
an_agent_that_heeds_the_signal_ends_by_itself(void **state)
{
	struct played *w = *state;
	struct channel_msg m, stop;
	struct err e;

	played_start(w, "trap 'exit 3' TERM; echo > ran; while :; do sleep .05; done");
	played_until_it_runs(w);
	channel_init(&stop, MSG_STOP);
	channel_set_u64(&stop, CF_GRACE_US, 20000000);
	channel_set_u64(&stop, CF_CAUSE, CAUSE_STOPPED);
	assert_int_equal(channel_send(w->channel, &stop, &e), 0);
	played_hear(w, MSG_ENDED, &m);
	assert_int_equal(played_number(&m, CF_CAUSE), CAUSE_STOPPED);
	assert_int_equal(played_number(&m, CF_STATUS), 3);
	assert_int_equal(played_number(&m, CF_SIGNALS), 1);
	auto_fd(&m.fd);
	played_finish(w);
}

static void
its_time_is_over_on_either_clock(void **state)
{
	struct played *w = *state;
	struct channel_msg m;

	w->l.ends_boot_us = clock_now().boot_us + 400000;
	w->l.ends_real_us = clock_now().real_us + 3600000000;
	played_start(w, "sleep 1000");
	played_hear(w, MSG_ENDED, &m);
	assert_int_equal(played_number(&m, CF_CAUSE), CAUSE_EXPIRED);
	played_finish(w);
}

static void
an_orphan_ends_after_its_grace_and_leaves_word(void **state)
{
	struct played *w = *state;
	AUTO(fd) int dir = -1;
	AUTO(buf) struct buf b;
	struct channel_msg m;
	struct err e;

	w->l.orphan_grace_us = 300000;
	played_start(w, "echo > ran; sleep 1000");
	played_until_it_runs(w);
	(void)close(w->channel);
	w->channel = -1;
	assert_false(proc_gone(&w->init, 100));
	assert_true(proc_gone(&w->init, PLAYED_WAIT_MS));
	assert_int_equal(waitpid(w->pid, NULL, 0), w->pid);
	w->pid = 0;
	assert_true((dir = open(w->state, O_RDONLY | O_DIRECTORY)) >= 0);
	buf_init(&b, CHANNEL_MAX);
	if (fd_file(dir, "outcome", &b, &e))
		fail_msg("%s", e.msg);
	assert_int_equal(channel_decode(buf_bytes(&b), &m, &e), 0);
	assert_int_equal(m.type, MSG_ENDED);
	assert_int_equal(played_number(&m, CF_CAUSE), CAUSE_LOST);
	assert_int_equal(played_number(&m, CF_FILES), 1);
	assert_int_equal(faccessat(dir, "manifest", F_OK, 0), 0);
}

static void
a_new_gloved_adopts_a_session_and_hears_its_end(void **state)
{
	struct played *w = *state;
	AUTO(buf) struct buf b;
	struct channel_msg m;
	uint8_t hello = ATTACH_ASK, nonce[33];
	struct err e;
	int s, sv[2];

	played_start(w, "echo > ran; sleep 0.7; exit 4");
	played_until_it_runs(w);
	(void)close(w->channel);
	assert_int_equal(fd_pair(sv, &e), 0);
	w->channel = sv[0];
	s = played_dial(w);
	played_tell(s, &hello, 1);
	played_readable(s);
	assert_int_equal(recv(s, nonce, sizeof(nonce), 0), 33);
	assert_int_equal(nonce[0], ATTACH_CHALLENGE);
	buf_init(&b, ATTACH_MAX);
	buf_put_u8(&b, ATTACH_ADOPT);
	played_receipt(w, SESSION_EV_adopt, nonce + 1, &b);
	assert_int_equal(fd_send(s, buf_bytes(&b), &sv[1], 1, &e), 0);
	(void)close(sv[1]);
	played_hear(w, MSG_STATE, &m);
	assert_int_equal(played_number(&m, CF_STATE), 2);
	assert_int_equal(played_number(&m, CF_PID), w->pid);
	assert_int_equal(played_number(&m, CF_INIT_PID), w->init.pid);
	played_hear(w, MSG_ENDED, &m);
	assert_int_equal(played_number(&m, CF_STATUS), 4);
	auto_fd(&m.fd);
	(void)close(s);
	played_finish(w);
}

int
main(void)
{
#define T(name) \
	cmocka_unit_test_setup_teardown(name, played_setup, played_teardown)
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
	};

	return cmocka_run_group_tests_name("supervisor", tests, NULL, NULL);
}
