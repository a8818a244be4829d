/*
 * curve - the load ramp of one workload: where it starts, where it peaks, where to run
 * it, what it loses beyond, where its latency turns. Latency lines are in line.h.
 *
 * Pure. A figure that is not known is NAN and never wins anything.
 */
#ifndef ANALYSIS_CURVE_H
#define ANALYSIS_CURVE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* Latency in ns; NAN when too few I/Os support the figure or there were none. */
struct curve_latency {
	double mean, p50, p99, p99_9;
};

struct curve_point {
	uint32_t point;	     /* number in the attempt, from 1 */
	double load_percent; /* of the maximum; NAN: the uncontrolled maximum itself, or a
				rate (curve_is_rate) */
	double offered_iops; /* NAN when nothing was offered */
	double iops;
	double bytes_per_second;
	struct curve_latency service;  /* completion - submission */
	struct curve_latency response; /* completion - intended start; NAN in closed loops
					*/
	unsigned flags;		       /* enum sanity_flag */
};

/* Indexes into the points that curve_find was given. */
struct curve_facts {
	size_t first;	      /* lowest load */
	const char *no_first; /* as no_best */
	/* most I/Os per second of those not catching up; of equal ones the lowest load */
	size_t peak;
	const char *no_peak; /* as no_best */
	/* lowest offered load without a backlog (SANITY_BACKLOG) that has CURVE_BEST of
	 * the peak */
	size_t best;
	const char *no_best; /* why there is no such load, a constant; NULL: there is */
	/*
	 * Of the loads above the peak's that are not catching up the one with the least
	 * I/Os per second, of equal ones the lowest; what that is less than the peak, in
	 * percent of it. The uncontrolled maximum counts as the load of 100 %: loads are
	 * shares of it.
	 */
	size_t fall;
	double fall_percent;
	const char *no_fall; /* as no_best */
	/* knee_find of the mean response over the load, without loads with a backlog */
	size_t knee;
	const char *no_knee; /* as no_best */
};

/* The share of the peak that a best operating point must reach. */
#define CURVE_BEST 0.95

/* curve_is_rate says whether a rate was offered that is no share of a maximum. A curve
 * has either such points alone or none. */
bool curve_is_rate(const struct curve_point *p);

/* curve_load returns the load of a point: in percent of the maximum, I/Os per second of a
 * rate; NAN of the uncontrolled maximum. */
double curve_load(const struct curve_point *p);

/* curve_sort orders n points by load; the uncontrolled maximum comes last. */
void curve_sort(struct curve_point *points, size_t n);

/* curve_peak finds the peak alone, as curve_find. A load that is catching up is never
 * the peak: what it did beyond its offer was offered earlier. Nor is a rate: the drive
 * did what it was asked for, and how much more it can do was not measured. */
bool curve_peak(const struct curve_point *points, size_t n, size_t *ret_peak);

/*
 * curve_find finds the facts of n points in the order of curve_sort. false when there is
 * no peak, as no point that is not catching up has completed an I/O, or all are rates;
 * no_peak, no_best and no_fall say so then, and where there is nothing but catching up
 * and points without an I/O, no_first and no_knee, too.
 */
bool curve_find(
	const struct curve_point *points, size_t n, struct curve_facts *ret_facts);

/* curve_at returns the point of exactly that load, or NULL. Borrowed from points. */
const struct curve_point *curve_at(
	const struct curve_point *points, size_t n, double load_percent);

#endif
