/* SPDX-License-Identifier: ISC */
#ifndef CLI_DOCTOR_H
#define CLI_DOCTOR_H

#include "cli/home.h"

enum doctor_need { DOCTOR_MUST, DOCTOR_SHOULD };
enum { DOCTOR_SAYS_MAX = 200 };

struct finding {
	const char	*name;		/* "overlay" */
	const char	*what;
	enum doctor_need need;
	const char	*fix;
	int		 ok;
	char		 says[DOCTOR_SAYS_MAX];	/* what was found */
};

/* doctor_try(i, h, f): try the i-th row of doctor.def for real; 0 at the end.
 * Nothing of it is left behind. */
int doctor_try(size_t i, const struct home *h, struct finding *f);

#endif
