/* SPDX-License-Identifier: ISC */
/* words.c - what the small tables say, by code. */
#include <stddef.h>
#include <string.h>

#include "lifecycle/machine.h"

struct word {
	const char	*word;
	const char	*doc;
	int		 exit;
};

static const struct word effects[EFFECT_END] = {
#define EFFECT(code, NAME, doc, recovery) [code] = { #NAME, doc, 0 },
#include "lifecycle/effect.def"
};
static const struct word causes[CAUSE_END] = {
#define CAUSE(code, NAME, word, exit, doc) [code] = { word, doc, exit },
#include "lifecycle/cause.def"
};
static const struct word modes[MODE_END] = {
#define MODE(code, NAME, word, doc) [code] = { word, doc, 0 },
#include "lifecycle/mode.def"
};
static const struct word uses[KEYUSE_END] = {
#define KEYUSE(code, NAME, word, doc) [code] = { word, doc, 0 },
#include "lifecycle/keyuse.def"
};
static const struct word actors[ACTOR_END] = {
#define ACTOR(code, NAME, word, doc) [code] = { word, doc, 0 },
#include "lifecycle/actor.def"
};

static const struct word *
at(const struct word *table, int end, int code)
{
	static const struct word unknown = { "unknown", "", 0 };

	if (code < 0 || code >= end || table[code].word == NULL)
		return &unknown;
	return &table[code];
}

const char *
effect_name(int effect)
{
	return at(effects, EFFECT_END, effect)->word;
}

const char *
cause_word(int cause)
{
	return at(causes, CAUSE_END, cause)->word;
}

const char *
cause_doc(int cause)
{
	return at(causes, CAUSE_END, cause)->doc;
}

int
cause_exit(int cause)
{
	return at(causes, CAUSE_END, cause)->exit;
}

const char *
mode_word(int mode)
{
	return at(modes, MODE_END, mode)->word;
}

int
mode_parse(const char *word)
{
	for (int i = 1; i < MODE_END; i++)
		if (modes[i].word != NULL && strcmp(modes[i].word, word) == 0)
			return i;
	return 0;
}

const char *
keyuse_word(int use)
{
	return at(uses, KEYUSE_END, use)->word;
}

const char *
actor_word(int actor)
{
	return at(actors, ACTOR_END, actor)->word;
}
