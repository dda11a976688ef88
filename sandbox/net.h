/* SPDX-License-Identifier: ISC */
#ifndef SANDBOX_NET_H
#define SANDBOX_NET_H

#include "base/auto.h"
#include "base/err.h"

/*
 * net_loopback(e): in a network namespace of our own, bring up lo and give it
 * a second address beside 127.0.0.1: without one, resolvers asked with
 * AI_ADDRCONFIG find that the machine has no IPv4.  There is no route, so
 * everything else is ENETUNREACH by the kernel's own word.
 */
int net_loopback(struct err *e) MUST_CHECK;

#endif
