/* SPDX-License-Identifier: ISC */
#ifndef CLI_RECORDS_H
#define CLI_RECORDS_H

#include "cli/cli.h"

/* Records of the journal, as gloved hands them out, one page after another. */

/*
 * records_each(c, subject, from, see, cookie, e): every record from ${from} on
 * (of one subject, or of all: NULL), oldest first.  ${see}: 0 go on, 1 enough,
 * -1 with ${e}.
 */
typedef int record_see(void *cookie, const struct json *record, struct err *e);
int records_each(struct cli *c, const char *subject, int64_t from,
    record_see *see, void *cookie, struct err *e) MUST_CHECK;

/* record_line(c, record, now_us): one line for a person on standard output. */
void record_line(struct cli *c, const struct json *record, int64_t now_us);
/* record_fields(c, record): what the fields say to a person; with --wide every
 * field as name=value. */
void record_fields(struct cli *c, const struct json *record);

#endif
