#include "analysis/cut.h"

#include <math.h>

#include "common/hist.h"

/* The percentiles of struct lat_metrics. */
static const double told[] = {0.5, 0.9, 0.95, 0.99, 0.999, 0.9999, 0.99999};

/* All operations: those that did not end are not told apart either. */
static struct hist
merged(const struct hist h[DIRECTIONS])
{
	struct hist all = h[0];

	for (int d = 1; d < DIRECTIONS; d++)
		hist_merge(&all, &h[d]);
	return all;
}

double
cut_factor(const struct hist service[DIRECTIONS], const struct hist response[DIRECTIONS],
	const struct hist *unfinished)
{
	struct hist seen = merged(response);
	struct hist whole;
	double most = (double)NAN;

	if (seen.n == 0)
		seen = merged(service);
	whole = seen;
	hist_merge(&whole, unfinished);
	for (size_t i = 0; i < sizeof(told) / sizeof(told[0]); i++) {
		double before, factor;

		if (!hist_percentile_known(&seen, told[i]))
			break;
		before = fmax(1, (double)hist_percentile(&seen, told[i]));
		factor = (double)hist_percentile(&whole, told[i]) / before;
		most = fmax(most, fmax(1, factor));
	}
	return most;
}
