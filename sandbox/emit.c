/* SPDX-License-Identifier: ISC */
/* emit.c - a build tool: the system call filter as a list of bytes. */
#include <stdio.h>

#include "sandbox/seccomp.h"

int
main(void)
{
	AUTO(buf) struct buf prog;
	struct err e;

	buf_init(&prog, 64 << 10);
	if (filter_build(&prog, &e)) {
		(void)fprintf(stderr, "emit: %s\n", e.msg);
		return 1;
	}
	for (size_t i = 0; i < prog.n; i++)
		(void)printf("%u,%c", prog.p[i],
		    i % 16 == 15 || i + 1 == prog.n ? '\n' : ' ');
	return fflush(stdout) != 0;
}
