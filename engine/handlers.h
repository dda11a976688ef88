/* SPDX-License-Identifier: ISC */
#ifndef ENGINE_HANDLERS_H
#define ENGINE_HANDLERS_H

#include "engine/ask.h"
#include "engine/world.h"

/* The handler of each row of control.def; in h_*.c, by topic. */
#define REQUEST(code, method, handler, who, flags, params, result, doc) \
	ask_handler handle_##handler;
#include "engine/control.def"

#endif
