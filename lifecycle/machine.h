/* SPDX-License-Identifier: ISC */
#ifndef LIFECYCLE_MACHINE_H
#define LIFECYCLE_MACHINE_H

#include "base/auto.h"
#include "base/err.h"
#include "base/id.h"

/*
 * Every state machine of Glove, made from the tables beside this file.  The
 * table is the transition function: nothing else decides what follows what.
 */
enum machine {
#define MACHINE(code, NAME, name, id, doc) MACHINE_##NAME = (code),
#include "lifecycle/machine.def"
	MACHINE_END
};

#define STATE(code, NAME, name, kind, doc) SESSION_##NAME = (code),
enum session_state { SESSION_NONE,
#include "lifecycle/session.def"
	SESSION_STATE_END };
#define EVENT(code, NAME, who, doc)	SESSION_EV_##NAME = (code),
enum session_event { SESSION_EV_NONE,
#include "lifecycle/session.def"
	SESSION_EVENT_END };

#define STATE(code, NAME, name, kind, doc) EXPOSURE_##NAME = (code),
enum exposure_state { EXPOSURE_NONE,
#include "lifecycle/exposure.def"
	EXPOSURE_STATE_END };
#define EVENT(code, NAME, who, doc)	EXPOSURE_EV_##NAME = (code),
enum exposure_event { EXPOSURE_EV_NONE,
#include "lifecycle/exposure.def"
	EXPOSURE_EVENT_END };

#define STATE(code, NAME, name, kind, doc) CHANGE_##NAME = (code),
enum change_state { CHANGE_NONE,
#include "lifecycle/change.def"
	CHANGE_STATE_END };
#define EVENT(code, NAME, who, doc)	CHANGE_EV_##NAME = (code),
enum change_event { CHANGE_EV_NONE,
#include "lifecycle/change.def"
	CHANGE_EVENT_END };

#define STATE(code, NAME, name, kind, doc) KEY_##NAME = (code),
enum key_state { KEY_NONE,
#include "lifecycle/key.def"
	KEY_STATE_END };
#define EVENT(code, NAME, who, doc)	KEY_EV_##NAME = (code),
enum key_event { KEY_EV_NONE,
#include "lifecycle/key.def"
	KEY_EVENT_END };

#define STATE(code, NAME, name, kind, doc) SERVICE_##NAME = (code),
enum service_state { SERVICE_NONE,
#include "lifecycle/service.def"
	SERVICE_STATE_END };
#define EVENT(code, NAME, who, doc)	SERVICE_EV_##NAME = (code),
enum service_event { SERVICE_EV_NONE,
#include "lifecycle/service.def"
	SERVICE_EVENT_END };

enum log_state { LOG_NONE };
#define EVENT(code, NAME, who, doc)	LOG_EV_##NAME = (code),
enum log_event_code { LOG_EV_NONE,
#include "lifecycle/log.def"
	LOG_EVENT_END };

enum effect {
#define EFFECT(code, NAME, doc, recovery) EFFECT_##NAME = (code),
#include "lifecycle/effect.def"
	EFFECT_END
};

enum end_cause { CAUSE_NONE,
#define CAUSE(code, NAME, word, exit, doc) CAUSE_##NAME = (code),
#include "lifecycle/cause.def"
	CAUSE_END
};

enum mode { MODE_NONE,
#define MODE(code, NAME, word, doc) MODE_##NAME = (code),
#include "lifecycle/mode.def"
	MODE_END
};

enum key_use { KEYUSE_NONE,
#define KEYUSE(code, NAME, word, doc) KEYUSE_##NAME = (code),
#include "lifecycle/keyuse.def"
	KEYUSE_END
};

enum actor { ACTOR_NONE,
#define ACTOR(code, NAME, word, doc) ACTOR_##NAME = (code),
#include "lifecycle/actor.def"
	ACTOR_END
};

struct step {
	int		to;
	enum effect	effect;
};

/*
 * machine_step(machine, from, event, step, e): the only place a state changes.
 * Pure: no clock, no I/O, no memory.  Total: any three integers are answered.
 * ${from} 0 is "does not exist yet".
 *
 * Fails with ILLEGAL, leaving *${step} alone.
 */
int machine_step(int machine, int from, int event, struct step *step,
    struct err *e) MUST_CHECK;

/*
 * machine_owed(owed, from, to, effect): what a subject owes after a move, if it
 * owed ${owed} before; the rule of defaults.def.
 */
enum effect machine_owed(enum effect owed, int from, int to, enum effect effect);

int machine_valid(int machine);			/* 1 if there is such a one */
int machine_final(int machine, int state);	/* 1 if nothing leads on */
int machine_states(int machine);		/* one past the highest code */
int machine_events(int machine);
enum id_kind machine_id_kind(int machine);
int machine_of_id(enum id_kind kind);		/* -1 if none */

/* Names and sentences; static, never NULL. */
const char *machine_name(int machine);			/* "session" */
const char *machine_state_name(int machine, int state);	/* "running" */
const char *machine_state_doc(int machine, int state);
const char *machine_event_name(int machine, int event);	/* "start_intent" */
const char *machine_event_doc(int machine, int event);
const char *effect_name(int effect);
const char *cause_word(int cause);		/* "exited" */
const char *cause_doc(int cause);
int cause_exit(int cause);			/* 0: the child's own code */
const char *mode_word(int mode);		/* "staged" */
int mode_parse(const char *word);		/* enum mode, or 0 */
const char *keyuse_word(int use);
const char *actor_word(int actor);

/* machine_state_find(machine, name): the code, or 0. */
int machine_state_find(int machine, const char *name);

/*
 * The rows of link.def.
 */
enum link_rule { LINK_MUTUAL, LINK_CAUSE };
struct link {
	int		machine, event;
	int		other, other_event;
	enum link_rule	rule;
};
/* link_find(rule, machine, event, other, other_event): the row, or NULL. */
const struct link *link_find(enum link_rule rule, int machine, int event,
    int other, int other_event);
/* link_required(machine, event): the MUTUAL row that it cannot be without. */
const struct link *link_required(int machine, int event);

#endif
