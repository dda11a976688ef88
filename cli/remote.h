/* SPDX-License-Identifier: ISC */
#ifndef CLI_REMOTE_H
#define CLI_REMOTE_H

#include "cli/cli.h"
#include "journal/export.h"
#include "journal/source.h"

/*
 * The journal of a running gloved as a source: its bytes come over the control
 * socket, and whoever reads them checks them.
 */
struct remote;

/* remote_open(c, r, s, e): connects if need be. */
int remote_open(struct cli *c, struct remote **r, struct source *s,
    struct err *e) MUST_CHECK;
void remote_close(struct remote *r);	/* NULL is fine */
static inline void auto_remote(struct remote **r) { remote_close(*r); }

/* remote_from(r, s, from): what an export takes from it. */
void remote_from(struct remote *r, const struct source *s,
    struct export_from *from);

#endif
