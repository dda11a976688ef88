/* SPDX-License-Identifier: ISC */
#ifndef TESTS_LIB_BOXED_H
#define TESTS_LIB_BOXED_H

#include "sandbox/box.h"

/*
 * A workspace on the host, and boxes around programs in it.  Failures fail the
 * running test.
 */
struct boxed {
	char		 dir[64];	/* everything of this test */
	char		 ws[96];
	char		 state[96];
};

struct boxed_result {
	int	status;		/* as wait(2), or -1 - errno of exec */
	char	out[8192];
};

int boxed_setup(void **state);		/* cmocka fixtures */
int boxed_teardown(void **state);
/* boxed_run: a command on the host, which must succeed */
void boxed_run(const char *fmt, ...) __attribute__((format(printf, 1, 2)));
/* boxed_launch: a staged session of that command in the workspace */
struct launch boxed_launch(const struct boxed *w, const char *const *argv);
/* boxed_wait: run it, without a client, to the end */
void boxed_wait(const struct launch *l, struct boxed_result *r);
void boxed_sh(struct launch *l, const char *script, struct boxed_result *r);
/* boxed_says: the script ends well and says exactly this */
void boxed_says(void **state, enum mode mode, const char *script,
    const char *want);

#endif
