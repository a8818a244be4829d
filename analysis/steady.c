#include "analysis/steady.h"

#include <assert.h>
#include <math.h>
#include <string.h>

/* Sums over a window; x is the number of the round, counted from the window's middle. */
struct sums {
	double y, xx, xy, yy; /* yy: around the mean of y */
	double low, high;
};

static struct sums
add_up(const double *values, uint32_t n)
{
	struct sums s = {.low = values[0], .high = values[0]};
	double middle = (n - 1) / 2.0;

	for (uint32_t i = 0; i < n; i++) {
		double x = i - middle;

		s.y += values[i];
		s.xx += x * x;
		s.xy += x * values[i];
		/* written so that a NAN is kept */
		s.low = values[i] < s.low || isnan(values[i]) ? values[i] : s.low;
		s.high = values[i] > s.high || isnan(values[i]) ? values[i] : s.high;
	}
	for (uint32_t i = 0; i < n; i++)
		s.yy += (values[i] - s.y / n) * (values[i] - s.y / n);
	return s;
}

/* The figures of a window that is not full. */
static void
unknown(struct steady_fit *f)
{
	const double none = (double)NAN;

	*f = (struct steady_fit){
		none, none, none, none, none, none, none, none, none, none, false};
}

/*
 * The comparisons are multiplied out, so that whole numbers at the limit are judged
 * exactly: range * 100 * n <= range_percent * sum, and the same for the rise,
 * |xy / xx| * (n - 1).
 */
void
steady_fit(const struct steady_rule *rule, const double *values, uint32_t n,
	uint32_t first, struct steady_fit *ret_fit)
{
	struct sums s;
	struct steady_fit *f = ret_fit;

	assert(n >= 2 && n <= STEADY_WINDOW_MAX);
	s = add_up(values, n);
	f->mean = s.y / n;
	f->range = s.high - s.low;
	f->range_allowed = rule->range_percent / 100 * f->mean;
	f->slope = s.xy / s.xx;
	f->intercept = f->mean - f->slope * (first + (n - 1) / 2.0);
	f->correlation = s.yy > 0 ? s.xy / sqrt(s.xx * s.yy) : (double)NAN;
	f->rise = fabs(f->slope) * (n - 1);
	f->rise_allowed = rule->slope_percent / 100 * f->mean;
	f->range_ratio = f->mean > 0 ? f->range / f->mean : (double)NAN;
	f->slope_ratio = f->mean > 0 ? f->rise / f->mean : (double)NAN;
	f->steady = isfinite(s.y) && s.y > 0 &&
		    f->range * 100 * n <= rule->range_percent * s.y &&
		    fabs(s.xy) * (n - 1) * 100 * n <= rule->slope_percent * s.y * s.xx;
}

void
steady_init(struct steady *s, const struct steady_rule *rule, size_t n_tracked)
{
	assert(rule->window >= 2 && rule->window <= STEADY_WINDOW_MAX);
	assert(n_tracked >= 1 && n_tracked <= STEADY_TRACKED_MAX);
	memset(s, 0, sizeof(*s));
	s->rule = *rule;
	s->n_tracked = n_tracked;
}

void
steady_void(struct steady *s)
{
	s->n = 0;
}

void
steady_add(struct steady *s, uint32_t round, const double *values)
{
	if (s->n > 0 && round != s->last + 1)
		s->n = 0;
	s->last = round;
	for (size_t k = 0; k < s->n_tracked; k++) {
		if (s->n == s->rule.window)
			memmove(s->values[k], s->values[k] + 1,
				(s->n - 1) * sizeof(s->values[k][0]));
		s->values[k][s->n < s->rule.window ? s->n : s->n - 1] = values[k];
	}
	if (s->n < s->rule.window)
		s->n++;
}

enum steady_verdict
steady_judge(const struct steady *s, bool over, struct steady_fit *ret_fits)
{
	bool all = s->n == s->rule.window;

	for (size_t k = 0; k < s->n_tracked; k++) {
		unknown(&ret_fits[k]);
		if (s->n == s->rule.window)
			steady_fit(&s->rule, s->values[k], s->n, s->last - s->n + 1,
				&ret_fits[k]);
		all = all && ret_fits[k].steady;
	}
	if (all)
		return STEADY_REACHED;
	return over ? STEADY_NOT_REACHED : STEADY_NOT_YET;
}

bool
steady_is_standard(const struct steady_rule *rule, uint32_t rounds)
{
	return rule->window == STEADY_WINDOW && rounds == STEADY_ROUNDS &&
	       fabs(rule->range_percent - STEADY_RANGE_PERCENT) < 1e-9 &&
	       fabs(rule->slope_percent - STEADY_SLOPE_PERCENT) < 1e-9;
}

const char *
steady_verdict_name(enum steady_verdict v)
{
	static const char *const names[] = {
		[STEADY_NOT_YET] = "not_yet",
		[STEADY_REACHED] = "steady",
		[STEADY_NOT_REACHED] = "not_reached",
	};

	return names[v];
}
