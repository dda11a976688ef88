/* SPDX-License-Identifier: ISC */
#ifndef CLI_START_DAEMON_H
#define CLI_START_DAEMON_H

#include "engine/client.h"

/*
 * daemon_connect(home, socket, timeout_ms, c, e): connect to the gloved of the
 * state directory ${home} that listens on ${socket}; if none does, start one
 * and wait until it serves.  Of any number of callers at once exactly one
 * starts it.  What gloved itself says of why it cannot start comes back as the
 * same error.
 */
int daemon_connect(const char *home, const char *socket, int timeout_ms,
    struct client **c, struct err *e) MUST_CHECK;

#endif
