/* SPDX-License-Identifier: ISC */
#include <string.h>

#include "cli/cli.h"
#include "cli/help.h"

int
cmd_completion(struct cli *c, struct err *e)
{
	static const struct {
		const char	*shell;
		void		(*print)(struct out *o);
	} shells[] = {
		{ "bash", completion_bash },
		{ "zsh", completion_zsh },
		{ "fish", completion_fish },
	};

	for (size_t i = 0; i < sizeof(shells) / sizeof(shells[0]); i++)
		if (strcmp(c->args.v[0], shells[i].shell) == 0) {
			shells[i].print(&c->out);
			return 0;
		}
	(void)err_say(e, ERR_USAGE, "no completions for \"%s\"", c->args.v[0]);
	return err_fix(e, "bash, zsh or fish");
}
