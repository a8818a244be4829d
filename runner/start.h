/*
 * start - waits for the instant at which the runs of a group begin their steps.
 *
 * The instant is one of this node's wall clock. It is turned into one of the monotonic
 * clock once, so that a clock that is set meanwhile changes nothing. One thread.
 */
#ifndef RUNNER_START_H
#define RUNNER_START_H

#include <stdint.h>

struct outbox;
struct program_start;

/* An instant that is farther ahead than this is not one that was agreed: a clock was set,
 * and nothing is waited for. */
#define START_WAIT_MAX_NS INT64_C(600000000000)

/*
 * start_wait waits for the instant of s and tells the outbox how late that was (event
 * "start"). Returns early, and tells nothing, when tick, which is called at least 10
 * times a second, says why the run is to stop. Without an instant nothing happens.
 */
void start_wait(const struct program_start *s, struct outbox *o,
	const char *(*tick)(void *arg), void *arg);

#endif
