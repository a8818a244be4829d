#include "analysis/knee.h"

#include <math.h>

/* The extent of a curve, and so its scale. */
struct frame {
	const double *x, *y;
	double x_low, x_span, y_low, y_span;
};

static struct frame
frame_of(const double *x, const double *y, size_t n)
{
	double low = y[0];
	double high = y[0];

	for (size_t i = 1; i < n; i++) {
		low = fmin(low, y[i]);
		high = fmax(high, y[i]);
	}
	return (struct frame){x, y, x[0], x[n - 1] - x[0], low, high - low};
}

static double
difference(const struct frame *f, size_t i)
{
	return (f->x[i] - f->x_low) / f->x_span - (f->y[i] - f->y_low) / f->y_span;
}

static bool
is_candidate(const struct frame *f, size_t i)
{
	return difference(f, i) > difference(f, i + 1) &&
	       difference(f, i) >= difference(f, i - 1);
}

/* Whether the difference falls below the threshold of i on the way to lower x. */
static bool
stands_out(const struct frame *f, size_t i, size_t n)
{
	double threshold = difference(f, i) - KNEE_SENSITIVITY / (double)(n - 1);

	for (size_t k = i; k-- > 0;) {
		if (difference(f, k) < threshold)
			return true;
		if (k > 0 && is_candidate(f, k))
			return false;
	}
	return false;
}

bool
knee_find(const double *x, const double *y, size_t n, size_t *ret_i)
{
	struct frame f;
	bool found = false;

	if (n < 3)
		return false;
	f = frame_of(x, y, n);
	if (!(f.x_span > 0) || !(f.y_low > 0) || f.y_low + f.y_span < KNEE_RISE * f.y_low)
		return false;
	for (size_t i = 1; i + 1 < n; i++) {
		if (!is_candidate(&f, i) || !stands_out(&f, i, n) ||
			(found && difference(&f, i) <= difference(&f, *ret_i)))
			continue;
		*ret_i = i;
		found = true;
	}
	return found;
}
