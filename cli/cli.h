/* SPDX-License-Identifier: ISC */
#ifndef CLI_CLI_H
#define CLI_CLI_H

#include "base/json.h"
#include "cli/args.h"
#include "cli/out.h"

/* What every command is given.  main() owns it. */
struct cli {
	struct args	 args;
	struct out	 out;		/* data */
	struct out	 note;		/* everything for people: standard error */
	int		 json, quiet, verbose, wide, utc, no_input;
	int		 stdin_absent;	/* descriptor 0 was closed */
	int		 exit;		/* what to exit with if nothing failed */
	int		 exit_failed;	/* what to exit with if something did; 0: as err.def says */
};

#endif
