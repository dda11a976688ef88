/* SPDX-License-Identifier: ISC */
/*
 * gloved_loop.c - one loop: whatever is ready is dispatched, then one turn of
 * the engine, then the answers are written and the timers set.
 */
#include <errno.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "base/log.h"

#include "cli/gloved_int.h"

enum {
	AFTER_ALL = SD_EVENT_PRIORITY_NORMAL + 10,
	SETTLE_US = 1000000,		/* quiet for so long: checkpoint the WAL */
	ACCURACY_US = 1000,
	FLOOR_US = 50000		/* what cannot be done now is not spun on */
};

void
loop_wake(void *ctx)
{
	struct gloved *g = ctx;

	(void)sd_event_source_set_enabled(g->turn, SD_EVENT_ONESHOT);
}

static void
leave(struct gloved *g, int code)
{
	g->exit_code = code;
	(void)sd_event_exit(g->loop, code);
}

static int
is_busy(const struct gloved *g)
{
	return g->peers != NULL || engine_live(g->engine) > 0 ||
	    world_count(g->world) > 0;
}

static int64_t
least(int64_t a, int64_t b)
{
	return a < b ? a : b;
}

/* Microseconds until something has to be looked at again. */
static int64_t
next_due(struct gloved *g, struct now now)
{
	int64_t left = engine_due(g->engine, now), at;

	at = control_sweep(g->control, now);
	if (at != INT64_MAX)
		left = least(left, at - now.boot_us);
	if (g->unsettled)
		left = least(left, SETTLE_US);
	if (!is_busy(g) && g->opt.idle_exit_s > 0)
		left = least(left, g->idle_us + g->opt.idle_exit_s * 1000000 -
		    now.boot_us);
	if (g->deaf)
		left = least(left, SETTLE_US);
	return left < FLOOR_US ? FLOOR_US : left;
}

static void
set_timers(struct gloved *g)
{
	struct now now = clock_now();
	int64_t left;

	if (is_busy(g))
		g->idle_us = now.boot_us;
	left = next_due(g, now);
	if (left == INT64_MAX) {
		(void)sd_event_source_set_enabled(g->timer, SD_EVENT_OFF);
		(void)sd_event_source_set_enabled(g->wall, SD_EVENT_OFF);
		return;
	}
	(void)sd_event_source_set_time(g->timer, (uint64_t)(now.boot_us + left));
	(void)sd_event_source_set_time(g->wall, (uint64_t)(now.real_us + left));
	(void)sd_event_source_set_enabled(g->timer, SD_EVENT_ONESHOT);
	(void)sd_event_source_set_enabled(g->wall, SD_EVENT_ONESHOT);
}

void
loop_turn(struct gloved *g)
{
	uint64_t before = journal_commits(g->journal);
	struct err e;

	if (engine_turn(g->engine, clock_now(), &e)) {
		log_event(LOG_LEVEL_ERROR, "turn_failed", "err=%s: %s",
		    err_name(e.code), e.msg);
		clients_flush(g);
		leave(g, err_exit(e.code));
		return;
	}
	if (journal_commits(g->journal) != before)
		g->unsettled = 1;
	clients_flush(g);
	if (engine_pending(g->engine) > 0)
		loop_wake(g);
	if (engine_leaving(g->engine))
		leave(g, 0);
	set_timers(g);
}

static int
on_turn(sd_event_source *s, void *ctx)
{
	(void)s;
	loop_turn(ctx);
	return 0;
}

static int
on_time(sd_event_source *s, uint64_t usec, void *ctx)
{
	struct gloved *g = ctx;
	struct now now = clock_now();
	struct err e;

	(void)s;
	(void)usec;
	clients_hear(g);
	if (engine_tick(g->engine, now, &e))
		log_event(LOG_LEVEL_WARN, "tick_failed", "err=%s: %s",
		    err_name(e.code), e.msg);
	if (g->unsettled && engine_pending(g->engine) == 0) {
		g->unsettled = 0;
		if (journal_idle(g->journal, &e))
			log_event(LOG_LEVEL_WARN, "checkpoint_failed", "err=%s: %s",
			    err_name(e.code), e.msg);
	}
	if (!is_busy(g) && g->opt.idle_exit_s > 0 &&
	    now.boot_us - g->idle_us >= g->opt.idle_exit_s * 1000000) {
		log_event(LOG_LEVEL_INFO, "idle", "seconds=%lld",
		    (long long)g->opt.idle_exit_s);
		leave(g, 0);
		return 0;
	}
	loop_wake(g);
	return 0;
}

static int
on_signal(sd_event_source *s, const struct signalfd_siginfo *si, void *ctx)
{
	(void)s;
	log_event(LOG_LEVEL_INFO, "signal", "number=%u", si->ssi_signo);
	leave(ctx, 0);
	return 0;
}

static int
add_sources(struct gloved *g)
{
	static const int signals[] = { SIGTERM, SIGINT, SIGHUP };
	sigset_t set;
	int rc;

	(void)sigemptyset(&set);
	for (size_t i = 0; i < sizeof(signals) / sizeof(signals[0]); i++)
		(void)sigaddset(&set, signals[i]);
	(void)sigprocmask(SIG_BLOCK, &set, NULL);
	for (size_t i = 0; i < sizeof(signals) / sizeof(signals[0]); i++)
		if ((rc = sd_event_add_signal(g->loop, NULL, signals[i], on_signal,
		    g)) < 0)
			return rc;
	if ((rc = sd_event_add_defer(g->loop, &g->turn, on_turn, g)) < 0 ||
	    (rc = sd_event_source_set_priority(g->turn, AFTER_ALL)) < 0 ||
	    (rc = sd_event_add_time(g->loop, &g->timer, CLOCK_BOOTTIME, 0,
	    ACCURACY_US, on_time, g)) < 0 ||
	    (rc = sd_event_source_set_enabled(g->timer, SD_EVENT_OFF)) < 0 ||
	    (rc = sd_event_add_time(g->loop, &g->wall, CLOCK_REALTIME, 0,
	    ACCURACY_US, on_time, g)) < 0)
		return rc;
	return sd_event_source_set_enabled(g->wall, SD_EVENT_OFF);
}

int
loop_new(struct gloved *g, struct err *e)
{
	int rc;

	if ((rc = sd_event_new(&g->loop)) < 0 || (rc = add_sources(g)) < 0) {
		errno = -rc;
		return err_set(e, ERR_SYS, "event loop");
	}
	g->idle_us = clock_now().boot_us;
	return 0;
}

void
loop_free(struct gloved *g)
{
	g->turn = sd_event_source_disable_unref(g->turn);
	g->timer = sd_event_source_disable_unref(g->timer);
	g->wall = sd_event_source_disable_unref(g->wall);
	g->loop = sd_event_unref(g->loop);
}
