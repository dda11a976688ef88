/* SPDX-License-Identifier: ISC */
/* dot.c - the tables as a graph; drawn from them, so it cannot be out of date. */
#include "lifecycle/dot.h"
#include "lifecycle/machine.h"

static void
edge(FILE *f, int m, int from, int event)
{
	struct step step;
	struct err e;

	if (machine_step(m, from, event, &step, &e))
		return;
	fprintf(f, "\t\"%s %s\" -> \"%s %s\" [label=\"%s\"", machine_name(m),
	    machine_state_name(m, from), machine_name(m),
	    machine_state_name(m, step.to), machine_event_name(m, event));
	if (step.effect > EFFECT_DONE)
		fprintf(f, " xlabel=\"%s\"", effect_name((int)step.effect));
	fprintf(f, "];\n");
}

int
machine_dot(FILE *f)
{
	fprintf(f, "digraph glove {\n\trankdir=LR;\n");
	for (int m = 1; m < MACHINE_END; m++) {
		if (!machine_valid(m))
			continue;
		for (int s = 1; s < machine_states(m); s++)
			if (machine_state_doc(m, s)[0] != '\0')
				fprintf(f, "\t\"%s %s\" [shape=%s, tooltip=\"%s\"];\n",
				    machine_name(m), machine_state_name(m, s),
				    machine_final(m, s) ? "doublecircle" : "box",
				    machine_state_doc(m, s));
		for (int s = 0; s < machine_states(m); s++)
			for (int ev = 1; ev < machine_events(m); ev++)
				edge(f, m, s, ev);
	}
	fprintf(f, "}\n");
	return fflush(f) == 0 && !ferror(f) ? 0 : -1;
}
