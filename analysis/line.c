#include "analysis/line.h"

#include <assert.h>
#include <math.h>

#include "analysis/sanity.h"

static const char *const latency_names[LINE_LATENCIES] = {
	[LINE_MEAN] = "mean",
	[LINE_P99] = "p99",
	[LINE_P99_9] = "p99.9",
};

static const char *const state_names[] = {
	[LINE_FOUND] = "found",
	[LINE_ALL] = "all",
	[LINE_NONE] = "none",
	[LINE_UNKNOWN] = "unknown",
};

const char *
line_latency_name(enum line_latency l)
{
	assert((unsigned)l < LINE_LATENCIES);
	return latency_names[l];
}

const char *
line_state_name(enum line_state s)
{
	return state_names[s];
}

static double
latency_of(const struct curve_point *p, enum line_latency l)
{
	const double values[LINE_LATENCIES] = {
		[LINE_MEAN] = p->response.mean,
		[LINE_P99] = p->response.p99,
		[LINE_P99_9] = p->response.p99_9,
	};

	return values[l];
}

/* On which side of the line a load lies. */
enum side { SIDE_UNDER, SIDE_OVER, SIDE_UNKNOWN, SIDE_CATCHING_UP, SIDES };

static enum side
side_of(const struct curve_point *p, struct line line)
{
	double ns = latency_of(p, line.latency);

	if ((p->flags & SANITY_SATURATED) != 0)
		return SIDE_OVER;
	if ((p->flags & SANITY_CATCHING_UP) != 0)
		return SIDE_CATCHING_UP;
	if (isnan(ns))
		return SIDE_UNKNOWN;
	return ns <= line.ns ? SIDE_UNDER : SIDE_OVER;
}

/* a + t * (b - a), exactly a for t = 0 also where b is not known. */
static double
between(double a, double b, double t)
{
	return t > 0 ? a + t * (b - a) : a;
}

/* From a, under the line, to the next load b, over it and not saturated. */
static void
interpolate(const struct curve_point *a, const struct curve_point *b, struct line line,
	struct line_answer *ret_a)
{
	double low = latency_of(a, line.latency);
	double t = (line.ns - low) / (latency_of(b, line.latency) - low);

	ret_a->load_percent = between(a->load_percent, b->load_percent, t);
	ret_a->offered_iops = between(a->offered_iops, b->offered_iops, t);
	ret_a->iops = between(a->iops, b->iops, t);
	ret_a->interpolated = t > 0;
}

/* The answer at the load last, next being the one above it, or NULL. */
static void
answer_at(const struct curve_point *last, const struct curve_point *next,
	struct line line, struct line_answer *ret_a)
{
	ret_a->state = LINE_FOUND;
	ret_a->load_percent = last->load_percent;
	ret_a->offered_iops = last->offered_iops;
	ret_a->iops = last->iops;
	if (next == NULL)
		ret_a->why = "it is the highest load";
	else if ((next->flags & SANITY_SATURATED) != 0)
		ret_a->why = "the next load is saturated";
	else if ((next->flags & SANITY_CATCHING_UP) != 0)
		ret_a->why = "the next load was catching up with a backlog";
	else if (isnan(latency_of(next, line.latency)))
		ret_a->why = "too few I/Os support the figure at the next load";
	else
		interpolate(last, next, line, ret_a);
}

static void
answer_without(const size_t count[SIDES], struct line_answer *ret_a)
{
	if (count[SIDE_OVER] + count[SIDE_UNKNOWN] + count[SIDE_CATCHING_UP] == 0) {
		ret_a->why = "no load was offered";
	} else if (count[SIDE_CATCHING_UP] > 0) {
		ret_a->why = "no load is known to lie under it, and some were catching "
			     "up with a backlog";
	} else if (count[SIDE_UNKNOWN] > 0) {
		ret_a->why = count[SIDE_OVER] == 0
				     ? "too few I/Os support the figure"
				     : "no load is known to lie under it, and too few "
				       "I/Os support the figure at some";
	} else {
		ret_a->state = LINE_NONE;
	}
}

void
line_find(const struct curve_point *points, size_t n, struct line line,
	struct line_answer *ret_a)
{
	const struct curve_point *last = NULL;
	const struct curve_point *next = NULL;
	size_t count[SIDES] = {0};
	size_t over_below = 0;

	*ret_a = (struct line_answer){
		.state = LINE_UNKNOWN,
		.load_percent = (double)NAN,
		.offered_iops = (double)NAN,
		.iops = (double)NAN,
		.why = "",
	};
	for (size_t i = 0; i < n && !isnan(curve_load(&points[i])); i++) {
		enum side side = side_of(&points[i], line);

		count[side]++;
		if (side == SIDE_UNDER) {
			last = &points[i];
			next = NULL;
			over_below = count[SIDE_OVER];
		} else if (next == NULL) {
			next = &points[i];
		}
	}
	ret_a->lower_over = over_below > 0;
	ret_a->loads_over = count[SIDE_OVER];
	if (last == NULL)
		answer_without(count, ret_a);
	else if (count[SIDE_OVER] + count[SIDE_UNKNOWN] + count[SIDE_CATCHING_UP] == 0)
		ret_a->state = LINE_ALL;
	else
		answer_at(last, next, line, ret_a);
}
