/* SPDX-License-Identifier: ISC */
#include <errno.h>
#include <linux/capability.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "sandbox/caps.h"

int
caps_drop(struct err *e)
{
	struct __user_cap_header_struct h = {
		.version = _LINUX_CAPABILITY_VERSION_3
	};
	struct __user_cap_data_struct none[2] = { { 0, 0, 0 }, { 0, 0, 0 } };

	/* The kernel may know more of them than the header did. */
	for (unsigned long c = 0; c < 64; c++)
		if (prctl(PR_CAPBSET_DROP, c, 0, 0, 0) != 0) {
			if (errno == EINVAL)
				break;
			return err_set(e, ERR_SYS, "capability bounding set");
		}
	if (prctl(PR_CAP_AMBIENT, PR_CAP_AMBIENT_CLEAR_ALL, 0, 0, 0) != 0)
		return err_set(e, ERR_SYS, "ambient capabilities");
	if (syscall(SYS_capset, &h, none) != 0)
		return err_set(e, ERR_SYS, "capset");
	return 0;
}

int
caps_any(void)
{
	struct __user_cap_header_struct h = {
		.version = _LINUX_CAPABILITY_VERSION_3
	};
	struct __user_cap_data_struct d[2] = { { 0, 0, 0 }, { 0, 0, 0 } };

	if (syscall(SYS_capget, &h, d) != 0)
		return 1;
	for (int i = 0; i < 2; i++)
		if (d[i].effective | d[i].permitted | d[i].inheritable)
			return 1;
	for (unsigned long c = 0; c < 64; c++) {
		int has = prctl(PR_CAPBSET_READ, c, 0, 0, 0);

		if (has < 0)
			break;
		if (has > 0 || prctl(PR_CAP_AMBIENT, PR_CAP_AMBIENT_IS_SET, c,
		    0, 0) > 0)
			return 1;
	}
	return 0;
}
