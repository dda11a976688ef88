/* SPDX-License-Identifier: ISC */
#ifndef SANDBOX_SELF_H
#define SANDBOX_SELF_H

#include <stdint.h>

#include "base/buf.h"
#include "sandbox/mounts.h"

enum {
#define CHECK(bit, name, need, doc) SELF_##name = (bit),
#include "sandbox/self.def"
	SELF_END
};

/*
 * self_test(m, l, abi, found, e): run by the held agent, after everything and
 * before its gate: *${found} has a bit for each row of self.def that holds.
 * SANDBOX, naming the first that must hold and does not.
 */
int self_test(const struct mounts *m, const struct launch *l, int abi,
    uint64_t *found, struct err *e) MUST_CHECK;

/* self_put(b, found, abi): "landlock-abi 7\nidentity\ncaps\n...": one line a
 * row that holds, "! name" for one that does not. */
void self_put(struct buf *b, uint64_t found, int abi);

#endif
