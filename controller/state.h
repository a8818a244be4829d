/*
 * state - one state variable of one object: the table decides, the row changes, the log
 * knows.
 *
 * The only place that writes a state; each object's module has the function that calls
 * it. Called inside write jobs.
 */
#ifndef CONTROLLER_STATE_H
#define CONTROLLER_STATE_H

#include <stdint.h>

#include "common/fsm.h"

struct err;
struct tx;

/* All static. */
struct state_variable {
	const char *object;   /* "run": word of the log and of events */
	char letter;	      /* of its ids, 0 for none */
	const char *variable; /* "state" */
	const struct fsm *fsm;
	const char *select; /* SQL: the state by id ?1 */
	const char *update; /* SQL: new state ?1 by id ?2 */
};

struct state_change {
	int64_t id;
	int event;
	const char *why;   /* a sentence, or "" */
	const char *actor; /* who did it */
	/* answers of state_apply */
	int from, to;
};

/*
 * state_apply applies an event and logs the transition. A change to the same state is no
 * change: nothing is written. ERR_STATE when the event is not legal now, ERR_NOTFOUND,
 * ERR_STORE.
 */
int state_apply(struct tx *t, const struct state_variable *v, struct state_change *c,
	struct err *e);

#endif
