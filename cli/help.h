/* SPDX-License-Identifier: ISC */
#ifndef CLI_HELP_H
#define CLI_HELP_H

#include "cli/out.h"
#include "cli/command.h"

/* Everything that is said about the commands, from command.def. */
void help_all(struct out *o);
void help_command(struct out *o, const struct command *cmd);
struct json *help_json(const struct command *only);	/* NULL: all */

void completion_bash(struct out *o);
void completion_zsh(struct out *o);
void completion_fish(struct out *o);

#endif
