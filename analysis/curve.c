#include "analysis/curve.h"

#include <math.h>
#include <stdlib.h>

#include "analysis/knee.h"
#include "analysis/sanity.h"
#include "common/xalloc.h"

bool
curve_is_rate(const struct curve_point *p)
{
	return isnan(p->load_percent) && p->offered_iops > 0;
}

double
curve_load(const struct curve_point *p)
{
	return curve_is_rate(p) ? p->offered_iops : p->load_percent;
}

static int
by_load(const void *va, const void *vb)
{
	const struct curve_point *a = va;
	const struct curve_point *b = vb;
	double la = isnan(curve_load(a)) ? HUGE_VAL : curve_load(a);
	double lb = isnan(curve_load(b)) ? HUGE_VAL : curve_load(b);

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
	unsigned seen = 0;

	f->no_best = "no load was offered";
	for (size_t i = 0; i < n; i++) {
		if (isnan(points[i].load_percent))
			continue;
		if (seen == 0)
			f->no_best = "no offered load reached 95 % of the peak";
		if (!(points[i].iops >= enough))
			continue;
		if ((points[i].flags & SANITY_BACKLOG) != 0) {
			seen |= points[i].flags;
			f->no_best = (seen & SANITY_CATCHING_UP) == 0
					     ? "every offered load that reached 95 % of "
					       "the peak was saturated"
					     : "every offered load that reached 95 % of "
					       "the peak was saturated or catching up";
			continue;
		}
		f->best = i;
		f->no_best = NULL;
		return;
	}
}

static void
find_fall(const struct curve_point *points, size_t n, struct curve_facts *f)
{
	const struct curve_point *peak = &points[f->peak];
	double from = isnan(peak->load_percent) ? 100 : peak->load_percent;

	f->no_fall = "no load above the peak was measured";
	for (size_t i = 0; i < n; i++) {
		if (!(points[i].load_percent > from) || isnan(points[i].iops))
			continue;
		if ((points[i].flags & SANITY_CATCHING_UP) != 0) {
			if (f->no_fall != NULL)
				f->no_fall = "every load above the peak was catching up";
			continue;
		}
		if (f->no_fall == NULL && points[i].iops >= points[f->fall].iops)
			continue;
		f->fall = i;
		f->no_fall = NULL;
	}
	if (f->no_fall == NULL)
		f->fall_percent = (peak->iops - points[f->fall].iops) / peak->iops * 100;
}

/* Whether the latency of a point is one of the drive at that load: with a backlog it
 * tells for how long that grew. */
static bool
has_latency(const struct curve_point *p)
{
	return !isnan(curve_load(p)) && p->response.mean > 0 &&
	       (p->flags & SANITY_BACKLOG) == 0;
}

static void
find_knee(const struct curve_point *points, size_t n, struct curve_facts *f)
{
	double *x = xcalloc(n, sizeof(*x));
	double *y = xcalloc(n, sizeof(*y));
	size_t *at = xcalloc(n, sizeof(*at));
	double low = HUGE_VAL;
	double high = 0;
	size_t used = 0;
	size_t knee;

	for (size_t i = 0; i < n; i++) {
		if (!has_latency(&points[i]) ||
			(used > 0 && !(curve_load(&points[i]) > x[used - 1])))
			continue;
		low = fmin(low, points[i].response.mean);
		high = fmax(high, points[i].response.mean);
		x[used] = curve_load(&points[i]);
		y[used] = points[i].response.mean;
		at[used++] = i;
	}
	f->no_knee = NULL;
	if (used < 3)
		f->no_knee = "fewer than 3 loads that are neither saturated nor "
			     "catching up";
	else if (high < KNEE_RISE * low)
		f->no_knee = "the mean response does not double before saturation";
	else if (knee_find(x, y, used, &knee))
		f->knee = at[knee];
	else
		f->no_knee = "no load stands out";
	free(x);
	free(y);
	free(at);
}

bool
curve_peak(const struct curve_point *points, size_t n, size_t *ret_peak)
{
	double peak = 0;

	for (size_t i = 0; i < n; i++) {
		if (!(points[i].iops > peak) || curve_is_rate(&points[i]) ||
			(points[i].flags & SANITY_CATCHING_UP) != 0)
			continue;
		peak = points[i].iops;
		*ret_peak = i;
	}
	return peak > 0;
}

static const char *
why_no_peak(const struct curve_point *points, size_t n)
{
	for (size_t i = 0; i < n; i++)
		if (points[i].iops > 0)
			return "every load was still catching up with a backlog of its "
			       "warm-up";
	return "no point has completed an I/O";
}

bool
curve_find(const struct curve_point *points, size_t n, struct curve_facts *ret_facts)
{
	struct curve_facts f = {0};

	if (n > 0 && curve_is_rate(&points[0])) {
		f.no_peak = f.no_best = f.no_fall =
			"rates were offered as they are, and no maximum was measured";
		find_knee(points, n, &f);
		*ret_facts = f;
		return false;
	}
	if (!curve_peak(points, n, &f.peak)) {
		f.no_first = f.no_peak = f.no_best = f.no_fall = f.no_knee = why_no_peak(
			points, n);
		*ret_facts = f;
		return false;
	}
	find_best(points, n, CURVE_BEST * points[f.peak].iops, &f);
	find_fall(points, n, &f);
	find_knee(points, n, &f);
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
