/* SPDX-License-Identifier: ISC */
/*
 * emit - print what the tables say: emit sql | dot | man
 * Runs during the build; nothing installs it.
 */
#include <stdio.h>
#include <string.h>

#include "lifecycle/dot.h"
#include "lifecycle/machine.h"

/*
 * A CASE is looked through in place; an IN of more than two would be built as a
 * tree of its own with each row that is inserted.
 */
static void
sql_edge(int machine, int from, int event, const struct step *step)
{
	printf("\t\t\tWHEN %d THEN 1\t-- %s: %s %s %s\n",
	    event * 256 + step->to, machine_name(machine),
	    machine_state_name(machine, from),
	    machine_event_name(machine, event),
	    machine_state_name(machine, step->to));
}

static void
sql_edges(int machine)
{
	struct step step;
	struct err e;

	for (int from = 0; from < machine_states(machine); from++) {
		int n = 0;

		for (int ev = 1; ev < machine_events(machine); ev++) {
			if (machine_step(machine, from, ev, &step, &e))
				continue;
			if (n++ == 0)
				printf("\t\tWHEN %d THEN CASE event * 256 + to_st\n",
				    machine * 256 + from);
			sql_edge(machine, from, ev, &step);
		}
		if (n > 0)
			printf("\t\t\tELSE 0 END\n");
	}
}

static void
sql_states(int machine)
{
	for (int i = 1; i < machine_states(machine); i++)
		if (machine_state_doc(machine, i)[0] != '\0')
			printf(" WHEN %d THEN 1", i);
}

static void
sql_facts(int machine)
{
#define FACT(column, type, field, doc)						\
	printf("\t%s\t%s,\t-- %s\n", #column, #type, doc);
	switch (machine) {
	case MACHINE_SESSION:
#include "lifecycle/session.def"
		break;
	case MACHINE_EXPOSURE:
#define FACT(column, type, field, doc)						\
	printf("\t%s\t%s,\t-- %s\n", #column, #type, doc);
#include "lifecycle/exposure.def"
		break;
	case MACHINE_CHANGE:
#define FACT(column, type, field, doc)						\
	printf("\t%s\t%s,\t-- %s\n", #column, #type, doc);
#include "lifecycle/change.def"
		break;
	case MACHINE_KEY:
#define FACT(column, type, field, doc)						\
	printf("\t%s\t%s,\t-- %s\n", #column, #type, doc);
#include "lifecycle/key.def"
		break;
	case MACHINE_SERVICE:
#define FACT(column, type, field, doc)						\
	printf("\t%s\t%s,\t-- %s\n", #column, #type, doc);
#include "lifecycle/service.def"
		break;
	default:
		break;
	}
}

static void
sql(void)
{
	puts("-- made by lifecycle/emit from the tables; do not edit\n"
	    "CREATE TABLE record (\n"
	    "\tidx\tINTEGER PRIMARY KEY,\n"
	    "\tmachine\tINTEGER NOT NULL,\n"
	    "\tsubject\tBLOB NOT NULL,\n"
	    "\tsubject_seq\tINTEGER NOT NULL,\n"
	    "\tprev\tINTEGER,\t-- record of this subject before, NULL: none\n"
	    "\tevent\tINTEGER NOT NULL,\n"
	    "\tfrom_st\tINTEGER NOT NULL,\n"
	    "\tto_st\tINTEGER NOT NULL,\n"
	    "\trefused\tINTEGER NOT NULL,\n"
	    "\tbytes\tBLOB NOT NULL,\n"
	    "\tCONSTRAINT record_edge CHECK (CASE refused WHEN 1 THEN from_st = to_st\n"
	    "\t    WHEN 0 THEN CASE machine * 256 + from_st");
	for (int m = 0; m < MACHINE_END; m++)
		if (machine_valid(m))
			sql_edges(m);
	puts("\t\tELSE 0 END ELSE 0 END)\n) STRICT;");
	for (int m = 1; m < MACHINE_END; m++) {
		if (!machine_valid(m))
			continue;
		printf("CREATE TABLE %s (\t-- derived: replay gives the same\n"
		    "\tid\tBLOB NOT NULL PRIMARY KEY CHECK (length(id) = 10),\n"
		    "\tstate\tINTEGER NOT NULL CONSTRAINT %s_state CHECK (CASE state\n"
		    "\t    WHEN 0 THEN 1",	/* refused attempts, no more */
		    machine_name(m), machine_name(m));
		sql_states(m);
		puts(" ELSE 0 END),\n"
		    "\tseq\tINTEGER NOT NULL,\t-- subject_seq of the last record\n"
		    "\tfirst\tINTEGER NOT NULL,\t-- index of the record that made it\n"
		    "\tlast\tINTEGER NOT NULL,\t-- index of the last record\n"
		    "\tborn_us\tINTEGER NOT NULL,\t-- Unix time of the record that made it\n"
		    "\tmoved_us\tINTEGER NOT NULL,\t-- Unix time of its last move");
		sql_facts(m);
		printf("\towed\tINTEGER NOT NULL\t-- effect.def\n) STRICT;\n"
		    "CREATE INDEX %s_owed ON %s (owed) WHERE owed <> 0;\n"
		    "CREATE INDEX %s_state ON %s (state, born_us);\n",
		    machine_name(m), machine_name(m), machine_name(m),
		    machine_name(m));
	}
}

static void
dot(void)
{
	(void)machine_dot(stdout);
}

static void
man(void)
{
	for (int m = 1; m < MACHINE_END; m++) {
		if (!machine_valid(m))
			continue;
		printf(".Ss %s\n.Bl -tag -width applying\n", machine_name(m));
		for (int s = 1; s < machine_states(m); s++)
			if (machine_state_doc(m, s)[0] != '\0')
				printf(".It Cm %s%s\n%s.\n",
				    machine_state_name(m, s),
				    machine_final(m, s) ? " Pq final" : "",
				    machine_state_doc(m, s));
		puts(".El\n.Pp\nMoves:\n.Bl -tag -width start_intent");
		for (int v = 1; v < machine_events(m); v++)
			if (machine_event_doc(m, v)[0] != '\0')
				printf(".It Cm %s\n%s.\n",
				    machine_event_name(m, v),
				    machine_event_doc(m, v));
		puts(".El");
	}
}

int
main(int argc, char *argv[])
{
	static const struct {
		const char	*name;
		void		(*run)(void);
	} outs[] = { { "sql", sql }, { "dot", dot }, { "man", man } };

	for (size_t i = 0; argc == 2 && i < sizeof(outs) / sizeof(outs[0]); i++)
		if (strcmp(argv[1], outs[i].name) == 0) {
			outs[i].run();
			return fflush(stdout) == 0 ? 0 : 74;
		}
	fprintf(stderr, "usage: emit sql | dot | man\n");
	return 2;
}
