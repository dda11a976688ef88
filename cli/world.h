/* SPDX-License-Identifier: ISC */
#ifndef CLI_WORLD_H
#define CLI_WORLD_H

#include <sys/resource.h>
#include <systemd/sd-event.h>

#include "base/proc.h"
#include "engine/engine.h"

/*
 * The real world behind struct effect_ops: one glove-sandbox a session or job,
 * a channel to each, and what they say as news for the engine.
 */
struct world;

struct world_opts {
	sd_event	*loop;		/* borrowed */
	const char	*home;		/* absolute, the state directory */
	int		 homefd;	/* open; stays the caller's */
	const char	*attach_dir;	/* absolute, made and ours */
	const char	*sandbox;	/* path of glove-sandbox */
	struct rlimit	 nofile;	/* that it gets: not ours, which is raised */
	struct journal	*journal;	/* borrowed: its keys and origin */
	void		(*wake)(void *cookie);	/* there is something to commit */
	void		*cookie;
};

int world_new(const struct world_opts *o, struct world **w, struct err *e)
    MUST_CHECK;
void world_free(struct world *w);	/* lets go of every supervisor */
static inline void auto_world(struct world **w) { world_free(*w); }

void world_ops(struct world *w, struct effect_ops *ops);
/* world_serves(w, en): who is told what runtimes say. */
void world_serves(struct world *w, struct engine *en);
size_t world_count(const struct world *w);	/* runtimes at hand */

#endif
