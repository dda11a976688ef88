/* SPDX-License-Identifier: ISC */
#ifndef CLI_PAGER_H
#define CLI_PAGER_H

#include <sys/types.h>

#include "base/err.h"

/*
 * pager_open(fd, pid): $GLOVE_PAGER, $PAGER or less, reading from *${fd}; -1,
 * and *${pid} 0, if none is wanted or none can be started.
 */
int pager_open(int *fd, pid_t *pid);
/* pager_close(fd, pid): let it go on until the person has read. */
void pager_close(int fd, pid_t pid);

#endif
