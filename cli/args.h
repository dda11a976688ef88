/* SPDX-License-Identifier: ISC */
#ifndef CLI_ARGS_H
#define CLI_ARGS_H

#include <stdint.h>

#include "base/auto.h"
#include "cli/command.h"

enum { ARGS_FLAGS_MAX = 256 };	/* flags in one call */

/* A command line, read by command.def.  Everything is borrowed from argv. */
struct args {
	const struct command *command;	/* NULL: only flags were given */
	const char	**v;		/* the arguments */
	size_t		 n;
	size_t		 nuses;
	struct {
		enum flag_code	flag;
		const char	*value;	/* NULL for a SWITCH */
	} uses[ARGS_FLAGS_MAX];
};

/*
 * args_parse(argc, argv, a, e): ${argv} without the program's name.  Strict:
 * unknown flags and commands, missing and surplus arguments, values that are
 * not what their type says are USAGE, with what was perhaps meant as the fix.
 * After an error ${a} holds the flags understood so far; args_done() either way.
 */
int args_parse(int argc, char *const *argv, struct args *a, struct err *e)
    MUST_CHECK;
void args_done(struct args *a);
static inline void auto_args(struct args *a) { args_done(a); }

int args_has(const struct args *a, enum flag_code flag);
/* The last value given; ${otherwise} if there is none. */
const char *args_text(const struct args *a, enum flag_code flag,
    const char *otherwise);
int64_t args_us(const struct args *a, enum flag_code flag, int64_t otherwise);
int64_t args_count(const struct args *a, enum flag_code flag, int64_t otherwise);
/* args_next(a, flag, at): the next value of a LIST, *${at} from 0; NULL. */
const char *args_next(const struct args *a, enum flag_code flag, size_t *at);

#endif
