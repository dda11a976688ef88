/* SPDX-License-Identifier: ISC */
#include <string.h>

#include "cli/cli.h"
#include "cli/help.h"
#include "lifecycle/dot.h"
#include "lifecycle/machine.h"

static void
states(struct out *o, int m)
{
	out_style(o, STYLE_BOLD);
	out_putf(o, "\n%s\n", machine_name(m));
	out_style(o, STYLE_PLAIN);
	for (int s = 1; s < machine_states(m); s++)
		if (machine_state_doc(m, s)[0] != '\0')
			out_putf(o, "  %-12s %s%s\n", machine_state_name(m, s),
			    machine_state_doc(m, s),
			    machine_final(m, s) ? " (final)" : "");
	for (int s = 0; s < machine_states(m); s++)
		for (int ev = 1; ev < machine_events(m); ev++) {
			struct step step;
			struct err e;

			if (machine_step(m, s, ev, &step, &e) == 0)
				out_putf(o, "    %-12s %-14s %s\n", s == 0 ?
				    "-" : machine_state_name(m, s),
				    machine_event_name(m, ev),
				    machine_state_name(m, step.to));
		}
}

static int
lifecycle(struct cli *c, struct err *e)
{
	if (args_has(&c->args, FLAG_DOT)) {
		if (machine_dot(stdout) != 0)
			return err_set(e, ERR_SYS, "output");
		return 0;
	}
	out_put(&c->out, "What things can be, and what moves them.  Every move is a signed record.\n"
	    "As a graph: glove help lifecycle --dot | dot -Tsvg > lifecycle.svg\n");
	for (int m = 1; m < MACHINE_END; m++)
		if (machine_valid(m))
			states(&c->out, m);
	return 0;
}

/* `glove run --help` is about run, `glove help run` is about its argument. */
static int
subject(const struct cli *c, const struct command **cmd, struct err *e)
{
	const struct args *a = &c->args;
	const char *meant;
	char *words[2];
	int used = 0;

	*cmd = NULL;
	if (a->command == NULL)
		return 0;
	if (a->command->code != COMMAND_HELP || args_has(a, FLAG_HELP)) {
		*cmd = a->command;
		return 0;
	}
	if (a->n == 0)
		return 0;
	for (size_t i = 0; i < a->n; i++)
		words[i] = (char *)(uintptr_t)a->v[i];
	*cmd = command_find((int)a->n, words, &used);
	if (*cmd != NULL && used == (int)a->n)
		return 0;
	(void)err_say(e, ERR_USAGE, "there is no help on \"%s\"", a->v[0]);
	if ((meant = command_suggest(a->v[0])) != NULL)
		return err_fix(e, "perhaps: glove help %s", meant);
	return err_fix(e, "see: glove help");
}

int
cmd_help(struct cli *c, struct err *e)
{
	const struct args *a = &c->args;
	const struct command *cmd;

	if (a->command != NULL && a->command->code == COMMAND_HELP &&
	    a->n == 1 && strcmp(a->v[0], "lifecycle") == 0)
		return lifecycle(c, e);
	if (subject(c, &cmd, e))
		return -1;
	if (c->json) {
		AUTO(json) struct json *j = help_json(cmd);

		out_json(&c->out, j);
	} else if (cmd != NULL) {
		help_command(&c->out, cmd);
	} else {
		help_all(&c->out);
	}
	return 0;
}
