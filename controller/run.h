/*
 * run - the life of runs and of their attempts.
 *
 * Only run_change and attempt_change write these states, by the rows of run_tbl.h and
 * attempt_tbl.h. A run is final only by evidence: its result with all records before it,
 * a node that does not know the attempt any more, or a person. Called inside write jobs.
 */
#ifndef CONTROLLER_RUN_H
#define CONTROLLER_RUN_H

#include <jansson.h>
#include <stdbool.h>
#include <stdint.h>

#include "common/fsm.h"

struct err;
struct tx;

enum run_state {
#define STATE(name, text) RUN_##name,
#include "controller/run_tbl.h"
	RUN_STATES
};

enum run_event {
#define EVENT(name, text) RUN_DO_##name,
#include "controller/run_tbl.h"
	RUN_EVENTS
};

enum attempt_state {
#define STATE(name, text) ATTEMPT_##name,
#include "controller/attempt_tbl.h"
	ATTEMPT_STATES
};

enum attempt_event {
#define EVENT(name, text) ATTEMPT_DO_##name,
#include "controller/attempt_tbl.h"
	ATTEMPT_EVENTS
};

extern const struct fsm run_fsm;
extern const struct fsm attempt_fsm;

/* run_is_final says whether nothing can happen to a run in this state any more. */
bool run_is_final(enum run_state s);

/*
 * run_change applies an event and its bookkeeping: times, the flag unknown; when the run
 * becomes final its campaign is looked at as well. why becomes the run's reason when the
 * state is final. ERR_STATE when the event is not legal now, ERR_NOTFOUND.
 */
int run_change(struct tx *t, int64_t run, enum run_event ev, const char *why,
	const char *actor, struct err *e);

/* attempt_change applies an event to an attempt and notes the time. ERR_STATE,
 * ERR_NOTFOUND. */
int attempt_change(struct tx *t, int64_t attempt, enum attempt_event ev, const char *why,
	const char *actor, struct err *e);

/*
 * run_collected ends the run of an attempt that has exited and whose records are all
 * here: done, failed, cancelled or tried again as its result says. The attempt is sealed
 * and its node told to forget it. Does nothing while something is missing, or when it was
 * done before.
 */
int run_collected(struct tx *t, int64_t attempt, struct err *e);

/*
 * run_lose gives an attempt up for good, and its run with it: nothing will come of it any
 * more. What becomes of its lease is for the caller to say.
 */
int run_lose(
	struct tx *t, int64_t attempt, const char *why, const char *actor, struct err *e);

/*
 * run_cancel wants a run to end: at once when it waits, through its node when it is
 * active. One whose runner has ended is given up as lost when its node is lost, and else
 * ends as its result says. why is the run's reason from then on, and what its node is
 * told. Nothing happens to a final run, or the second time.
 */
int run_cancel(
	struct tx *t, int64_t run, const char *why, const char *actor, struct err *e);

/*
 * run_reject ends a waiting run that no program can be made for: failed(recipe). why:
 * what is wrong with what is stored.
 */
int run_reject(
	struct tx *t, int64_t run, const char *why, const char *actor, struct err *e);

/* run_withdraw ends a cancelled run whose attempt its node has never seen. */
int run_withdraw(struct tx *t, int64_t attempt, const char *actor, struct err *e);

#endif
