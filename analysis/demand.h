/*
 * demand - which operating point of a drive is its lowest, highest and middle one.
 *
 * A point of demand is so many workers with so many I/Os in flight. Less demand is fewer
 * I/Os in flight, of equal ones fewer workers, then what comes first. Pure.
 */
#ifndef ANALYSIS_DEMAND_H
#define ANALYSIS_DEMAND_H

#include <stddef.h>
#include <stdint.h>

#include "common/rounds.h"

struct demand_point {
	uint32_t in_flight; /* over all workers */
	uint32_t workers;
	double iops;	    /* not above 0: not known, and the point is passed over */
	double lat_mean_ns; /* of the service */
};

enum demand_verdict {
	DEMAND_CHOSEN,
	DEMAND_UNKNOWN,	  /* nothing is known of any point */
	DEMAND_NONE_BELOW /* no mean is below the limit */
};

/*
 * demand_choose picks one of n points. The min is that with the least demand. The max has
 * the most IOPS of those whose mean is below mean_below_ns; the mid, of the same, IOPS
 * nearest to the middle between those of min and max. Of equal ones that with less demand
 * is taken. *ret_i is set when one is chosen.
 */
enum demand_verdict demand_choose(const struct demand_point *points, size_t n,
	enum rounds_pick pick, int64_t mean_below_ns, size_t *ret_i);

#endif
