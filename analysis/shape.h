/*
 * shape - what the seconds of a point say of the drive: a cliff, slow spells, a stall.
 * Pure.
 *
 * A mean hides all three. Judged is the speed of each second: operations per second in a
 * closed loop, where the drive sets the pace; the inverse of the mean service time under
 * an offered load, where it does not.
 *
 * Stall: nothing ended for a while, and everything then in flight waited for it. The
 * longest service time of a second lies SHAPE_STALL_S above the median of all seconds'
 * longest and is more than SHAPE_STALL_TIMES that median, and at least SHAPE_STALL_HELD
 * of what could be in flight (the limit, or fewer when fewer came in that time) took
 * more than half of it; or the last seconds have no operation, with some in flight.
 * Seconds of a stall are left out of the rest.
 *
 * Cliff: the point has two levels, the later one lower by a fifth at least (median of
 * one against the other), SHAPE_SIGMAS times the scatter apart (1.4826 x the median
 * absolute deviation from the level, the standard deviation of normal noise), nine in
 * ten seconds on their level's side of the middle; and two levels describe the seconds
 * better than a line does, with at most half of its squared residuals: a steady decline
 * is no cliff.
 *
 * Spells: no cliff, but two levels that take turns, so that at least two stretches are
 * slow with fast ones between: the slow level at most SHAPE_SLOW of the fast one, the
 * two SHAPE_SPELL_SIGMAS standard deviations within them apart (the best cut of even
 * noise gives 3.5: sqrt(12)), each with a twentieth of the seconds at least. The cut is
 * that of N. Otsu, A Threshold Selection Method from Gray-Level Histograms, IEEE Trans.
 * SMC 9 (1979).
 */
#ifndef ANALYSIS_SHAPE_H
#define ANALYSIS_SHAPE_H

#include <stdbool.h>
#include <stddef.h>

#define SHAPE_STALL_S 0.2
#define SHAPE_STALL_TIMES 3
#define SHAPE_STALL_HELD 0.4

/* Fewer seconds than this have no shape, and fewer than that no spells. */
#define SHAPE_SECONDS_MIN 8
#define SHAPE_SPELL_SECONDS_MIN 20

#define SHAPE_FALL 0.8
#define SHAPE_SIGMAS 4
#define SHAPE_LEVEL_SECONDS_MIN 3
#define SHAPE_ON_SIDE 0.9
#define SHAPE_LINE 0.5

#define SHAPE_SLOW 0.75
#define SHAPE_SPELL_SIGMAS 5
#define SHAPE_SPELL_PART 0.05

/* One second of the measured time, or some merged. */
struct shape_second {
	double seconds;	      /* its length, > 0 */
	double ops, bytes;    /* that ended in it, of all kinds */
	double mean_s, max_s; /* their service times; 0 without any */
	double held;	      /* of them, took more than half of max_s */
	bool waiting;	      /* some were in flight or waiting at its end */
};

struct shape {
	size_t seconds; /* that were judged; below SHAPE_SECONDS_MIN nothing is */
	bool rate;	/* speeds are operations per second, else per second of service */

	bool cliff;
	double cliff_at_s;	     /* from the start of the measured time */
	double cliff_after_bytes;    /* moved in it before */
	double cliff_from, cliff_to; /* speeds before and after */

	unsigned spells; /* slow ones, 0: none */
	double spells_s; /* their time together */
	double fast, slow;

	unsigned stalls;
	double stall_s, stall_at_s; /* of the longest: length, and about when it began */
};

/*
 * shape_find judges n seconds in their order. open_loop: a load was offered. in_flight:
 * the most that may be. Time O(n log n).
 */
void shape_find(const struct shape_second *s, size_t n, bool open_loop, double in_flight,
	struct shape *ret_shape);

#endif
