/* SPDX-License-Identifier: ISC */
/*
 * filter.c - the system call filter as it was built with the program: loading
 * it costs a hundredth of what building it does, and needs no library.
 */
#include <linux/filter.h>
#include <linux/seccomp.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "sandbox/seccomp.h"

static const uint8_t program[] = {
#include "filter.h"
};

struct bytes
filter_shipped(void)
{
	return BYTES(program);
}

int
filter_load(struct bytes prog, struct err *e)
{
	struct sock_filter code[BPF_MAXINSNS];
	struct sock_fprog p = { .filter = code };

	if (prog.n == 0 || prog.n % sizeof(code[0]) != 0 ||
	    prog.n > sizeof(code))
		return err_set(e, ERR_FORMAT, "system call filter");
	memcpy(code, prog.p, prog.n);
	p.len = (unsigned short)(prog.n / sizeof(code[0]));
	if (syscall(SYS_seccomp, SECCOMP_SET_MODE_FILTER, 0, &p) != 0)
		return err_set(e, ERR_SYS, "seccomp");
	return 0;
}
