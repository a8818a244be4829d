/*
 * keeper_priv - what the two halves of keeper share: keeper.c minds what runs,
 * keeper_start.c starts and finds it.
 */
#ifndef AGENT_KEEPER_PRIV_H
#define AGENT_KEEPER_PRIV_H

#include "agent/keeper.h"
#include "common/clock.h"
#include "common/err.h"
#include "common/log.h"

/* A step that failed (full disk, spool still locked) is tried again after this time. */
#define KEEPER_RETRY_NS (5 * NS_PER_S)

struct keeper {
	struct keeper_env env;
	char *runs_dir;
	char *fence_dir;
	struct ward *first;			/* by id */
	int64_t swept_mono;			/* when old spools were last looked at */
	int64_t full_said_mono, late_said_mono; /* 0: never */
	uint64_t late;		 /* attempt whose start came too late last, 0 for none */
	struct loop_timer *soon; /* NULL: not set */
	char damaged[160];	 /* an attempt that cannot be read, "" without one */
};

/* ward_find returns the ward of an attempt that was not set aside, or NULL. */
struct ward *ward_find(const struct keeper *k, uint64_t attempt);

/* ward_add takes a into the list; the ward is the keeper's. */
struct ward *ward_add(struct keeper *k, struct attempt *a);

/* ward_remove takes a ward out of the list and frees it. */
void ward_remove(struct ward *w);

/* ward_drop_socket closes the connection to its runner, if there is one. */
void ward_drop_socket(struct ward *w);

/* ward_tell says that the ward looks different to others. */
void ward_tell(struct ward *w);

/* ward_say logs a failure of the ward unless it is the one that was logged last. */
void ward_say(
	struct ward *w, enum log_level level, const char *event, const struct err *e);

/* ward_stuck notes, and logs as ward_say, that a step failed; it is tried again later. */
void ward_stuck(struct ward *w, const struct err *e);

/* ward_step steps and tells. false when that failed: logged, to be tried again. */
bool ward_step(struct ward *w, enum attempt_event ev);

/*
 * ward_restart starts the runner of an attempt again that is proven to be gone, where it
 * can go on. true: it was, or the next tick is to look again.
 */
bool ward_restart(struct ward *w);

/*
 * ward_give_way sets a forgotten attempt aside, whose number comes again for another.
 * false when that failed: logged, to be tried again.
 */
bool ward_give_way(struct ward *w);

/* ward_watch has the loop watch w->proc. */
void ward_watch(struct ward *w);

/* ward_tick does what is due for a ward that may have a process. */
void ward_tick(struct ward *w);

#endif
