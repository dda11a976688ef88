/* SPDX-License-Identifier: ISC */
#ifndef CLI_GLOVED_INT_H
#define CLI_GLOVED_INT_H

/* What the files of gloved share; nobody else includes this. */

#include "base/limits.h"
#include "cli/world.h"
#include "engine/control.h"

enum { DIR_ROOM = PATH_BYTES_MAX + 1 };

struct options {
	char	home[DIR_ROOM], socket[DIR_ROOM];
	int	ready_fd;		/* -1: nobody waits */
	int64_t	idle_exit_s;		/* 0: never */
};

/* A connection: its descriptor and its number in the control. */
struct peer_conn {
	struct peer_conn *next;
	struct gloved	*g;
	int		 fd;
	uint64_t	 conn;
	sd_event_source	*source;
	uint32_t	 events;
};

struct gloved {
	struct options	 opt;
	struct rlimit	 nofile;	/* as we found it */
	int		 homefd;
	char		 attach_dir[DIR_ROOM];
	char		 sandbox[DIR_ROOM];
	struct journal	*journal;
	enum verdict	 verdict;
	sd_event	*loop;
	struct world	*world;
	struct engine	*engine;
	struct control	*control;

	int		 listenfd;
	sd_event_source	*listener;
	int		 deaf;		/* no descriptors left: nobody is let in */
	struct peer_conn *peers;

	sd_event_source	*turn;		/* after everything that is ready */
	sd_event_source	*timer;		/* boot clock */
	sd_event_source	*wall;		/* real time, when it is set forward */
	int64_t		 idle_us;	/* boot clock: since when nothing is to do */
	int		 unsettled;	/* journal_idle() has something to do */
	int		 exit_code;
};

/* gloved_home.c: directories, and where our programs are. */
int home_prepare(struct gloved *g, struct err *e) MUST_CHECK;
int attach_dir_prepare(struct gloved *g, struct err *e) MUST_CHECK;
int dir_make(const char *path, struct err *e) MUST_CHECK;	/* 0700, and ours */
int program_find(const char *name, char out[DIR_ROOM], struct err *e) MUST_CHECK;

/* gloved_clients.c: the control socket. */
int clients_listen(struct gloved *g, struct err *e) MUST_CHECK;
void clients_flush(struct gloved *g);	/* write what is pending, close what is over */
void clients_hear(struct gloved *g);	/* let people in again */
void clients_close(struct gloved *g);	/* the door, then everybody */

/* gloved_loop.c */
int loop_new(struct gloved *g, struct err *e) MUST_CHECK;
void loop_free(struct gloved *g);
void loop_wake(void *g);		/* a turn is due */
/* loop_turn(g): commit, act, answer, flush, and set the timers. */
void loop_turn(struct gloved *g);

#endif
