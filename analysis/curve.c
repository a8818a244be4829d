#include "analysis/curve.h"

#include <math.h>
#include <stdlib.h>

#include "analysis/sanity.h"

static int
by_load(const void *va, const void *vb)
{
	const struct curve_point *a = va;
	const struct curve_point *b = vb;
	double la = isnan(a->load_percent) ? HUGE_VAL : a->load_percent;
	double lb = isnan(b->load_percent) ? HUGE_VAL : b->load_percent;

	if (la != lb)
		return la < lb ? -1 : 1;
	return a->point < b->point ? -1 : a->point > b->point;
}

void
curve_sort(struct curve_point *points, size_t n)
{
	if (n > 0)
		qsort(points, n, sizeof(points[0]), by_load);
}

static void
find_best(
	const struct curve_point *points, size_t n, double enough, struct curve_facts *f)
{
	f->no_best = "no offered load reached 95 % of the peak";
	for (size_t i = 0; i < n; i++) {
		if (isnan(points[i].load_percent) || !(points[i].iops >= enough))
			continue;
		if ((points[i].flags & SANITY_SATURATED) != 0) {
			f->no_best = "every offered load that reached 95 % of the peak "
				     "was saturated";
			continue;
		}
		f->best = i;
		f->no_best = NULL;
		return;
	}
}

bool
curve_find(const struct curve_point *points, size_t n, struct curve_facts *ret_facts)
{
	struct curve_facts f = {0};
	double peak = 0;

	for (size_t i = 0; i < n; i++) {
		if (!(points[i].iops > peak))
			continue;
		peak = points[i].iops;
		f.peak = i;
	}
	if (!(peak > 0))
		return false;
	find_best(points, n, CURVE_BEST * peak, &f);
	*ret_facts = f;
	return true;
}

const struct curve_point *
curve_at(const struct curve_point *points, size_t n, double load_percent)
{
	for (size_t i = 0; i < n; i++)
		if (fabs(points[i].load_percent - load_percent) < 1e-6)
			return &points[i];
	return NULL;
}
