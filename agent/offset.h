/*
 * offset - how far this node's wall clock is from the controller's, and how well that is
 * known.
 *
 * Each reconcile is an exchange of four times: when the report left and the answer came,
 * by this node; how long the controller held it and when it answered, by the controller.
 * What is left of the round trip is the way there and back; taken as of equal length, the
 * clocks differ by the middle of it, by half of it at most (RFC 5905, section 8). The
 * exchange with the least doubt counts; doubt grows with age by the frequency tolerance
 * of RFC 5905 (PHI, 15 ppm). Pure; main loop only.
 */
#ifndef AGENT_OFFSET_H
#define AGENT_OFFSET_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define OFFSET_SAMPLES 8
#define OFFSET_DRIFT 15e-6

/* A wall clock that moved by more than this against the monotonic one was set. */
#define OFFSET_STEP_NS 10000000

/* One exchange, ns. */
struct offset_exchange {
	int64_t sent_mono, got_mono; /* this node's monotonic clock */
	int64_t got_wall;	     /* this node's wall clock, with got_mono */
	int64_t answered_wall;	     /* the controller's wall clock */
	int64_t held;		     /* by the controller */
};

struct offset_sample {
	int64_t ahead_ns; /* this node's wall clock less the controller's */
	int64_t round_ns;
	int64_t got_mono;
};

/* Plain data, {0} to begin with. */
struct offset {
	struct offset_sample samples[OFFSET_SAMPLES];
	size_t n, next;
	int64_t wall_less_mono;
};

/* offset_add takes an exchange; one that cannot be (less than no time under way, no time
 * of the controller) is left out. What was known is forgotten when the wall clock was set
 * meanwhile. */
void offset_add(struct offset *o, const struct offset_exchange *x);

/* offset_best returns the offset and its doubt (+-), ns; false while nothing is known. */
bool offset_best(const struct offset *o, int64_t now_mono, int64_t *ret_ahead_ns,
	int64_t *ret_doubt_ns);

#endif
