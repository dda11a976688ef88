/* SPDX-License-Identifier: ISC */
/* Clients of a session: what they get, and what they cannot do. */
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
a_client_has_the_whole_output_and_the_status(void **state)
{
	struct played *w = *state;
	struct channel_msg m;
	uint8_t last[8], in[] = { ATTACH_INPUT, 'h', 'e', 'y', '\n' };
	uint8_t eof = ATTACH_EOF;
	char out[256];
	int s;

	w->l.wait_client = 1;
	played_start(w, "read a; echo got $a; echo err >&2; cat; exit 6");
	s = played_dial(w);
	played_first(w, s);
	played_tell(s, in, sizeof(in));
	played_tell(s, &eof, 1);
	played_hear(w, MSG_ENDED, &m);
	assert_int_equal(played_number(&m, CF_STATUS), 6);
	played_say(w, MSG_DONE, 0, (struct bytes){ NULL, 0 });
	(void)played_listen_to(s, out, sizeof(out), last);
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
	struct played *w = *state;
	struct channel_msg m;
	uint8_t last[8], in[] = { ATTACH_INPUT, '\n' };
	char out[512];
	int s;

	w->l.wait_client = 1;
	w->l.terminal = 1;
	played_start(w, "read a; stty size; tty");
	s = played_dial(w);
	played_first(w, s);
	played_tell(s, in, sizeof(in));
	played_hear(w, MSG_ENDED, &m);
	played_say(w, MSG_DONE, 0, (struct bytes){ NULL, 0 });
	(void)played_listen_to(s, out, sizeof(out), last);
	assert_non_null(strstr(out, "30 100\r\n/dev/pts/0\r\n"));
	(void)close(s);
}

static void
a_client_with_a_wrong_token_is_refused_and_hurts_nobody(void **state)
{
	struct played *w = *state;
	struct channel_msg m;
	uint8_t last[8], junk[3] = { 200, 1, 2 }, eof = ATTACH_EOF;
	char out[256];
	int s, t, u;

	w->l.wait_client = 1;
	w->l.tied = 1;
	played_start(w, "cat; echo fine");
	s = played_dial(w);
	w->l.token[0] ^= 1;
	played_first(w, s);
	(void)played_listen_to(s, out, sizeof(out), last);
	assert_int_equal(last[0], ATTACH_REFUSED);
	assert_int_equal(last[1] << 8 | last[2], ERR_DENIED);
	w->l.token[0] ^= 1;
	u = played_dial(w);
	played_tell(u, junk, sizeof(junk));
	(void)played_listen_to(u, out, sizeof(out), last);
	assert_int_equal(last[0], ATTACH_REFUSED);
	t = played_dial(w);
	played_first(w, t);
	played_tell(t, &eof, 1);
	played_hear(w, MSG_ENDED, &m);
	played_say(w, MSG_DONE, 0, (struct bytes){ NULL, 0 });
	(void)played_listen_to(t, out, sizeof(out), last);
	assert_string_equal(out, "fine\n");
	(void)close(s);
	(void)close(t);
	(void)close(u);
}

static void
a_tied_session_ends_with_its_client(void **state)
{
	struct played *w = *state;
	struct channel_msg m;
	int s;

	w->l.wait_client = 1;
	w->l.tied = 1;
	played_start(w, "echo > ran; sleep 1000");
	s = played_dial(w);
	played_first(w, s);
	played_until_it_runs(w);
	(void)close(s);
	played_hear(w, MSG_ENDED, &m);
	assert_int_equal(played_number(&m, CF_CAUSE), CAUSE_CLIENT);
	auto_fd(&m.fd);
	played_finish(w);
}

/* Ask for a nonce, show the receipt of ${recorded}, send ${script}. */
static int
exec_second(struct played *w, const char *recorded, const char *script)
{
	const char *const argv[] = { "/bin/sh", "-c", recorded };
	AUTO(buf) struct buf b, rc;
	uint8_t ask = ATTACH_ASK, nonce[33];
	int s = played_dial(w);

	played_tell(s, &ask, 1);
	played_readable(s);
	assert_int_equal(recv(s, nonce, sizeof(nonce), 0), 33);
	buf_init(&b, ATTACH_MAX);
	buf_init(&rc, ATTACH_MAX);
	played_order(w, argv, 3);
	played_receipt(w, SESSION_EV_exec, nonce + 1, &rc);
	buf_put_u8(&b, ATTACH_EXEC);
	buf_put_u8(&b, 0);
	buf_put_u32(&b, 0);
	buf_put_u32(&b, (uint32_t)rc.n);
	buf_put(&b, rc.p, rc.n);
	buf_put_u32(&b, 3);
	buf_put(&b, "/bin/sh\0-c", 11);
	buf_put(&b, script, strlen(script) + 1);
	buf_put_u32(&b, 1);
	buf_put(&b, "X=why", 6);
	played_tell(s, b.p, b.n);
	return s;
}

static void
a_second_command_runs_in_the_same_sandbox(void **state)
{
	static const char script[] = "touch second; cat; echo $X; exit 3";
	struct played *w = *state;
	struct channel_msg m;
	uint8_t eof = ATTACH_EOF, last[8];
	char out[256];
	int s;

	played_start(w, "echo > ran; sleep 2; test -e second && exit 9");
	played_until_it_runs(w);
	s = exec_second(w, script, script);
	played_tell(s, &eof, 1);	/* before it has started */
	(void)played_listen_to(s, out, sizeof(out), last);
	assert_string_equal(out, "why\n");
	assert_int_equal(last[0], ATTACH_EXIT);
	assert_int_equal(last[2] << 8 | last[3], 3);
	(void)close(s);
	played_hear(w, MSG_ENDED, &m);
	assert_int_equal(played_number(&m, CF_STATUS), 9);
	auto_fd(&m.fd);
	played_finish(w);
}

static void
a_command_that_was_not_recorded_is_not_run(void **state)
{
	struct played *w = *state;
	struct channel_msg m;
	uint8_t last[8];
	char out[256];
	int s;

	played_start(w, "echo > ran; sleep 1; test ! -e second && exit 9");
	played_until_it_runs(w);
	s = exec_second(w, "ls", "touch second");
	(void)played_listen_to(s, out, sizeof(out), last);
	assert_int_equal(last[0], ATTACH_REFUSED);
	assert_int_equal(last[1] << 8 | last[2], ERR_ILLEGAL);
	(void)close(s);
	played_hear(w, MSG_ENDED, &m);
	assert_int_equal(played_number(&m, CF_STATUS), 9);
	auto_fd(&m.fd);
	played_finish(w);
}

int
main(void)
{
#define T(name) \
	cmocka_unit_test_setup_teardown(name, played_setup, played_teardown)
	const struct CMUnitTest tests[] = {
		T(a_client_has_the_whole_output_and_the_status),
		T(a_terminal_has_the_size_of_its_client),
		T(a_client_with_a_wrong_token_is_refused_and_hurts_nobody),
		T(a_tied_session_ends_with_its_client),
		T(a_second_command_runs_in_the_same_sandbox),
		T(a_command_that_was_not_recorded_is_not_run),
	};

	return cmocka_run_group_tests_name("attach", tests, NULL, NULL);
}
