/*
 * event - what happened, append-only: events for people (SSE) and transitions for the
 * record.
 *
 * Called inside write jobs.
 */
#ifndef CONTROLLER_EVENT_H
#define CONTROLLER_EVENT_H

#include <jansson.h>
#include <stdint.h>

struct err;
struct tx;

/*
 * event_add appends an event: name "run.state", topic "run:r12" (or "campaign:c3",
 * "node:n1", "drive:d4"), data an object, whose reference is taken. Notifies
 * NOTIFY_EVENTS.
 */
int event_add(
	struct tx *t, const char *name, const char *topic, json_t *data, struct err *e);

/* One change of one state variable. All texts are borrowed for the call. */
struct transition {
	const char *object; /* "campaign", "run", "node", "drive", "lease" */
	int64_t id;
	const char *variable; /* "state", "admin", "observed", "occupancy" */
	const char *from, *to;
	const char *why;   /* a sentence, or "" */
	const char *actor; /* a token's name, "scheduler", or a node's id */
};

/*
 * event_transition appends one row to the log of state changes and the event OBJECT.state
 * with {id, variable, from, to, why} under the object's topic.
 */
int event_transition(struct tx *t, const struct transition *x, struct err *e);

#endif
