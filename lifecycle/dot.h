/* SPDX-License-Identifier: ISC */
#ifndef LIFECYCLE_DOT_H
#define LIFECYCLE_DOT_H

#include <stdio.h>

/* machine_dot(f): every machine as one graph for dot(1); 0, or -1 if ${f}
 * cannot be written. */
int machine_dot(FILE *f);

#endif
