/* SPDX-License-Identifier: ISC */
#ifndef CLI_PUMP_REFUSED_H
#define CLI_PUMP_REFUSED_H

#include "base/buf.h"

/* pump_refused(message, e): the error that a REFUSED names; always -1. */
int pump_refused(struct bytes message, struct err *e) MUST_CHECK;

#endif
