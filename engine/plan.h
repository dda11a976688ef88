/* SPDX-License-Identifier: ISC */
#ifndef ENGINE_PLAN_H
#define ENGINE_PLAN_H

#include "base/sha256.h"
#include "engine/internal.h"

/*
 * What a session is asked to be, as canonical JSON: fields in one order, no
 * white space, integers only.  Its digest stands in the session's records.
 */

/* plan_put(s, scope, ttl_s, b): append the canonical plan of ${s} to ${b}. */
void plan_put(const struct start *s, const uint8_t scope[32], int64_t ttl_s,
    struct buf *b);
void plan_digest(struct bytes plan, uint8_t out[SHA256_BYTES]);

/* D("glove/scope/1", install, exposure, dev, ino, mount, mode, uid, label):
 * neither end nor generation, so that a renewal keeps it. */
void scope_digest(const struct engine *en, const struct id *exposure,
    const struct place *p, enum mode mode, uid_t uid, const char *label,
    uint8_t out[SHA256_BYTES]);

/*
 * place_allowed(p, home, e): may such a directory be exposed at all?  Never /,
 * trees of the kernel, a bare home, our own state, or a place of secrets.
 */
int place_allowed(const struct place *p, const char *home, struct err *e) MUST_CHECK;

/* shown_allowed(path, home, e): may that be shown read-only?  Whoever asks has
 * named it, so only the whole machine and our own keys are refused. */
int shown_allowed(const char *path, const char *home, struct err *e) MUST_CHECK;

#endif
