/*
 * left - how long runs still take, by what their suite says of all that is to do.
 *
 * What is done are points that have ended. Nothing is known of failures, of repeated
 * attempts, of preparation that will be found needless, nor of other campaigns that wait
 * for the same drives. Inside read jobs.
 */
#ifndef CONTROLLER_LEFT_H
#define CONTROLLER_LEFT_H

#include <stdbool.h>
#include <stdint.h>

struct err;
struct suite;
struct suite_drive;
struct tx;

/* left_fill_rate returns how fast a drive of that kind is filled, bytes per second: a
 * careful guess, for durations only. */
uint64_t left_fill_rate(const char *kind);

/* Where an attempt is; the suite's steps before it are done. */
struct left_place {
	uint32_t step;	 /* of its latest point; 0: it has none yet */
	uint32_t points; /* of the step that are done */
};

/* left_place reads where an attempt is; 0: of no attempt. ERR_STORE. */
int left_place(struct tx *t, int64_t attempt, struct left_place *ret_p, struct err *e);

/*
 * left_campaign estimates how long the runs of a campaign still take: drives side by
 * side, as many as their nodes allow. *ret_ns is -1 when its suite cannot be read.
 * *ret_at_most: its tests may end before. ERR_STORE.
 */
int left_campaign(struct tx *t, int64_t campaign, int64_t *ret_ns, bool *ret_at_most,
	struct err *e);

#endif
