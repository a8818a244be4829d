#include "analysis/demand.h"

#include <math.h>
#include <stdbool.h>

static bool
is_less_demand(const struct demand_point *a, const struct demand_point *b)
{
	if (a->in_flight != b->in_flight)
		return a->in_flight < b->in_flight;
	return a->workers < b->workers;
}

/* The known point with the least demand; n: none is known. */
static size_t
find_min(const struct demand_point *points, size_t n)
{
	size_t best = n;

	for (size_t i = 0; i < n; i++)
		if (points[i].iops > 0 &&
			(best == n || is_less_demand(&points[i], &points[best])))
			best = i;
	return best;
}

/* Of the known points with a mean below the limit, that whose IOPS are nearest to these;
 * n: there is none. */
static size_t
find_nearest(const struct demand_point *points, size_t n, double iops, double limit_ns)
{
	size_t best = n;
	double least = 0;

	for (size_t i = 0; i < n; i++) {
		double away = fabs(points[i].iops - iops);

		if (!(points[i].iops > 0) || !(points[i].lat_mean_ns < limit_ns))
			continue;
		if (best < n &&
			(away > least || (away >= least && !is_less_demand(&points[i],
								   &points[best]))))
			continue;
		best = i;
		least = away;
	}
	return best;
}

enum demand_verdict
demand_choose(const struct demand_point *points, size_t n, enum rounds_pick pick,
	int64_t mean_below_ns, size_t *ret_i)
{
	double limit = (double)mean_below_ns, most = 0;
	size_t min = find_min(points, n);
	size_t max;

	if (min == n)
		return DEMAND_UNKNOWN;
	*ret_i = min;
	if (pick == ROUNDS_PICK_MIN)
		return DEMAND_CHOSEN;
	for (size_t i = 0; i < n; i++)
		if (points[i].iops > most && points[i].lat_mean_ns < limit)
			most = points[i].iops;
	max = find_nearest(points, n, most, limit);
	if (max == n)
		return DEMAND_NONE_BELOW;
	*ret_i = max;
	if (pick == ROUNDS_PICK_MID)
		*ret_i = find_nearest(points, n, (points[min].iops + most) / 2, limit);
	return DEMAND_CHOSEN;
}
