/* SPDX-License-Identifier: ISC */
#include <errno.h>
#include <fcntl.h>
#include <linux/capability.h>
#include <string.h>
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
	static const char *const sets[] = {
		"\nCapInh:\t", "\nCapPrm:\t", "\nCapEff:\t", "\nCapBnd:\t",
		"\nCapAmb:\t"
	};
	char text[4096];
	AUTO(fd) int fd = open("/proc/self/status", O_RDONLY | O_CLOEXEC);
	const ssize_t n = read(fd, text, sizeof(text) - 1);

	if (n <= 0)
		return 1;
	text[n] = '\0';
	for (size_t i = 0; i < sizeof(sets) / sizeof(sets[0]); i++) {
		const char *at = strstr(text, sets[i]);

		if (at == NULL)
			return 1;
		at += strlen(sets[i]);
		if (at[strspn(at, "0")] != '\n')
			return 1;
	}
	return 0;
}
