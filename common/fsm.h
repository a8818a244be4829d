/*
 * fsm - state machines as tables: what a row is, and how to look one up.
 *
 * A table file (*_tbl.h) holds rows STATE(NAME, "name"), EVENT(NAME, "name") and
 * EDGE(FROM, EVENT, TO). It is included several times, each time with the macros that the
 * includer needs; the others expand to nothing. Enums, names, checks and tests are all
 * made from the same rows. Pure.
 */
#ifndef COMMON_FSM_H
#define COMMON_FSM_H

#include <stddef.h>
#include <string.h>

struct fsm_edge {
	int from, event, to;
};

/* All pointers are to static tables. */
struct fsm {
	const char *const *states; /* names by number */
	int n_states;
	const char *const *events; /* names by number */
	int n_events;
	const struct fsm_edge *edges;
	size_t n_edges;
};

/* fsm_next returns the state that event leads to, -1 when the event is not legal. */
static inline int
fsm_next(const struct fsm *f, int from, int event)
{
	for (size_t i = 0; i < f->n_edges; i++)
		if (f->edges[i].from == from && f->edges[i].event == event)
			return f->edges[i].to;
	return -1;
}

/* fsm_state returns the number of a state by name, -1 when there is none. name may be
 * NULL.
 */
static inline int
fsm_state(const struct fsm *f, const char *name)
{
	for (int i = 0; name != NULL && i < f->n_states; i++)
		if (strcmp(f->states[i], name) == 0)
			return i;
	return -1;
}

/* FSM_INIT makes a struct fsm of three static arrays. */
#define FSM_INIT(states_, events_, edges_)                                          \
	{                                                                           \
		.states = (states_),                                                \
		.n_states = (int)(sizeof(states_) / sizeof((states_)[0])),          \
		.events = (events_),                                                \
		.n_events = (int)(sizeof(events_) / sizeof((events_)[0])),          \
		.edges = (edges_), .n_edges = sizeof(edges_) / sizeof((edges_)[0]), \
	}

#endif
