/*
 * polls - reads a drive's health again and again while a load runs, as an agent that
 * monitors drives does, and measures how long each answer takes.
 *
 * On a thread of its own (runner/chore.h): neither the workers of the load nor the loop
 * that looks after them ever wait for an answer.
 */
#ifndef RUNNER_POLLS_H
#define RUNNER_POLLS_H

#include <jansson.h>
#include <stdint.h>

struct err;
struct polls;

#define POLLS_WHY_MAX 200

/* What was read between start and stop. */
struct polls_report {
	int64_t period_ns;	 /* from an answer to the next read; 0: nobody polled */
	uint64_t n;		 /* reads that have ended */
	uint64_t failed;	 /* of them, without an answer */
	int64_t sum_ns, max_ns;	 /* how long all of them took */
	char why[POLLS_WHY_MAX]; /* what the first that failed says; "" when none did */
};

/*
 * polls_start begins to poll, the first time when period_ns, not 0, are over: read asks
 * the drive once and waits for its answer, on the other thread. Errors: ERR_STATE without
 * a thread.
 */
int polls_start(struct polls **ret_p, int (*read)(void *arg, struct err *e), void *arg,
	int64_t period_ns, struct err *e);

/* polls_stop waits for a read that is under way, ends the thread, tells what there was,
 * and frees; of NULL nobody polled. */
void polls_stop(struct polls *p, struct polls_report *ret_r);

/* polls_json makes the member "health_polls" of a POINT (schema/wire.md). New reference.
 */
json_t *polls_json(const struct polls_report *r);

#endif
