/* SPDX-License-Identifier: ISC */
#include <stddef.h>
#include <string.h>

#include "lifecycle/machine.h"

/* Every table has the same shape: [state or 0][event]. */
struct edge {
	unsigned char	legal;
	unsigned char	to;
	unsigned char	effect;
};

enum { INITIAL, LIVE, FINAL };

struct state_info {
	const char	*name;
	int		 kind;
	const char	*doc;
};

struct event_info {
	const char	*name;
	const char	*doc;
};

static const struct edge log_edges[1][LOG_EVENT_END] = {
#define EDGE(from, event, to, effect) \
	[LOG_##from][LOG_EV_##event] = { 1, LOG_##to, EFFECT_##effect },
#include "lifecycle/log.def"
};
static const struct state_info log_states[1] = {
	[0] = { .name = NULL },		/* the log has no states */
#define STATE(code, NAME, name, kind, doc) [code] = { name, kind, doc },
#include "lifecycle/log.def"
};
static const struct event_info log_events[LOG_EVENT_END] = {
#define EVENT(code, NAME, who, doc) [code] = { #NAME, doc },
#include "lifecycle/log.def"
};

static const struct edge session_edges[SESSION_STATE_END][SESSION_EVENT_END] = {
#define EDGE(from, event, to, effect) \
	[SESSION_##from][SESSION_EV_##event] = { 1, SESSION_##to, EFFECT_##effect },
#include "lifecycle/session.def"
};
static const struct state_info session_states[SESSION_STATE_END] = {
#define STATE(code, NAME, name, kind, doc) [code] = { name, kind, doc },
#include "lifecycle/session.def"
};
static const struct event_info session_events[SESSION_EVENT_END] = {
#define EVENT(code, NAME, who, doc) [code] = { #NAME, doc },
#include "lifecycle/session.def"
};

static const struct edge exposure_edges[EXPOSURE_STATE_END][EXPOSURE_EVENT_END] = {
#define EDGE(from, event, to, effect) \
	[EXPOSURE_##from][EXPOSURE_EV_##event] = { 1, EXPOSURE_##to, EFFECT_##effect },
#include "lifecycle/exposure.def"
};
static const struct state_info exposure_states[EXPOSURE_STATE_END] = {
#define STATE(code, NAME, name, kind, doc) [code] = { name, kind, doc },
#include "lifecycle/exposure.def"
};
static const struct event_info exposure_events[EXPOSURE_EVENT_END] = {
#define EVENT(code, NAME, who, doc) [code] = { #NAME, doc },
#include "lifecycle/exposure.def"
};

static const struct edge change_edges[CHANGE_STATE_END][CHANGE_EVENT_END] = {
#define EDGE(from, event, to, effect) \
	[CHANGE_##from][CHANGE_EV_##event] = { 1, CHANGE_##to, EFFECT_##effect },
#include "lifecycle/change.def"
};
static const struct state_info change_states[CHANGE_STATE_END] = {
#define STATE(code, NAME, name, kind, doc) [code] = { name, kind, doc },
#include "lifecycle/change.def"
};
static const struct event_info change_events[CHANGE_EVENT_END] = {
#define EVENT(code, NAME, who, doc) [code] = { #NAME, doc },
#include "lifecycle/change.def"
};

static const struct edge key_edges[KEY_STATE_END][KEY_EVENT_END] = {
#define EDGE(from, event, to, effect) \
	[KEY_##from][KEY_EV_##event] = { 1, KEY_##to, EFFECT_##effect },
#include "lifecycle/key.def"
};
static const struct state_info key_states[KEY_STATE_END] = {
#define STATE(code, NAME, name, kind, doc) [code] = { name, kind, doc },
#include "lifecycle/key.def"
};
static const struct event_info key_events[KEY_EVENT_END] = {
#define EVENT(code, NAME, who, doc) [code] = { #NAME, doc },
#include "lifecycle/key.def"
};

static const struct edge service_edges[SERVICE_STATE_END][SERVICE_EVENT_END] = {
#define EDGE(from, event, to, effect) \
	[SERVICE_##from][SERVICE_EV_##event] = { 1, SERVICE_##to, EFFECT_##effect },
#include "lifecycle/service.def"
};
static const struct state_info service_states[SERVICE_STATE_END] = {
#define STATE(code, NAME, name, kind, doc) [code] = { name, kind, doc },
#include "lifecycle/service.def"
};
static const struct event_info service_events[SERVICE_EVENT_END] = {
#define EVENT(code, NAME, who, doc) [code] = { #NAME, doc },
#include "lifecycle/service.def"
};
static const struct table {
	const char		*name;
	enum id_kind		 id;
	int			 nstate, nevent;
	const struct edge	*edges;
	const struct state_info	*states;
	const struct event_info	*events;
} tables[MACHINE_END] = {
#define LOG_STATE_END 1
#define MACHINE(code, NAME, name, id, doc) [code] = { #name, ID_##id,	\
	NAME##_STATE_END, NAME##_EVENT_END, &name##_edges[0][0],		\
	name##_states, name##_events },
#include "lifecycle/machine.def"
};

static const struct table *
table_of(int machine)
{
	if (machine < 0 || machine >= MACHINE_END || tables[machine].name == NULL)
		return NULL;
	return &tables[machine];
}

static const struct state_info *
state_of(int machine, int state)
{
	const struct table *t = table_of(machine);

	if (t == NULL || state <= 0 || state >= t->nstate ||
	    t->states[state].name == NULL)
		return NULL;
	return &t->states[state];
}

static const struct event_info *
event_of(int machine, int event)
{
	const struct table *t = table_of(machine);

	if (t == NULL || event <= 0 || event >= t->nevent ||
	    t->events[event].name == NULL)
		return NULL;
	return &t->events[event];
}

int
machine_step(int machine, int from, int event, struct step *step, struct err *e)
{
	const struct table *t = table_of(machine);
	const struct edge *edge;

	if (t == NULL || from < 0 || from >= t->nstate || event <= 0 ||
	    event >= t->nevent)
		return err_set(e, ERR_ILLEGAL, "machine %d, state %d, event %d",
		    machine, from, event);
	edge = &t->edges[(size_t)from * (size_t)t->nevent + (size_t)event];
	if (!edge->legal)
		return err_set(e, ERR_ILLEGAL, "%s while the %s %s",
		    machine_event_name(machine, event), t->name,
		    from == 0 ? "does not exist" :
		    machine_state_name(machine, from));
	*step = (struct step){ edge->to, (enum effect)edge->effect };
	return 0;
}

enum effect
machine_owed(enum effect owed, int from, int to, enum effect effect)
{
	if (effect == EFFECT_DONE)
		return EFFECT_NONE;
	if (effect == EFFECT_NONE)
		return from == to ? owed : EFFECT_NONE;
	return effect;
}

int
machine_valid(int machine)
{
	return table_of(machine) != NULL;
}

int
machine_final(int machine, int state)
{
	const struct state_info *s = state_of(machine, state);

	return s != NULL && s->kind == FINAL;
}

int
machine_states(int machine)
{
	const struct table *t = table_of(machine);

	return t == NULL ? 0 : t->nstate;
}

int
machine_events(int machine)
{
	const struct table *t = table_of(machine);

	return t == NULL ? 0 : t->nevent;
}

enum id_kind
machine_id_kind(int machine)
{
	const struct table *t = table_of(machine);

	return t == NULL ? ID_NONE : t->id;
}

int
machine_of_id(enum id_kind kind)
{
	for (int m = 1; m < MACHINE_END; m++)
		if (tables[m].name != NULL && tables[m].id == kind)
			return m;
	return -1;
}

const char *
machine_name(int machine)
{
	const struct table *t = table_of(machine);

	return t == NULL ? "(no such machine)" : t->name;
}

const char *
machine_state_name(int machine, int state)
{
	const struct state_info *s = state_of(machine, state);

	if (state == 0)
		return "none";
	return s == NULL ? "(no such state)" : s->name;
}

const char *
machine_state_doc(int machine, int state)
{
	const struct state_info *s = state_of(machine, state);

	return s == NULL ? "" : s->doc;
}

const char *
machine_event_name(int machine, int event)
{
	const struct event_info *v = event_of(machine, event);

	return v == NULL ? "(no such event)" : v->name;
}

const char *
machine_event_doc(int machine, int event)
{
	const struct event_info *v = event_of(machine, event);

	return v == NULL ? "" : v->doc;
}

int
machine_state_find(int machine, const char *name)
{
	for (int i = 1; i < machine_states(machine); i++)
		if (strcmp(machine_state_name(machine, i), name) == 0)
			return i;
	return 0;
}

static const struct link links[] = {
#define LINK(machine, event, other, other_event, rule, doc)		\
	{ MACHINE_##machine, machine##_EV_##event, MACHINE_##other,		\
	    other##_EV_##other_event, LINK_##rule },
#include "lifecycle/link.def"
};

const struct link *
link_find(enum link_rule rule, int machine, int event, int other,
    int other_event)
{
	for (size_t i = 0; i < sizeof(links) / sizeof(links[0]); i++) {
		const struct link *l = &links[i];

		if (l->rule == rule && l->machine == machine &&
		    l->event == event && l->other == other &&
		    l->other_event == other_event)
			return l;
	}
	return NULL;
}

const struct link *
link_required(int machine, int event)
{
	for (size_t i = 0; i < sizeof(links) / sizeof(links[0]); i++)
		if (links[i].rule == LINK_MUTUAL &&
		    links[i].machine == machine && links[i].event == event)
			return &links[i];
	return NULL;
}
