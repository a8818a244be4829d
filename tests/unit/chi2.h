/*
 * chi2 - do counts agree with shares? Pearson's test at the 0.1 % level.
 *
 * With fixed seeds an answer never changes.
 */
#ifndef TESTS_UNIT_CHI2_H
#define TESTS_UNIT_CHI2_H

#include <math.h>
#include <stddef.h>

#include "tests/unit/unit.h"

/*
 * The value that chi-square with df degrees of freedom exceeds once in a thousand times,
 * a little too large for few of them: E. B. Wilson and M. M. Hilferty, "The distribution
 * of chi-square", PNAS 17, 1931. For 10: 29.6; tables say 29.588.
 */
static inline double
chi2_bound(double df)
{
	double x = 2 / (9 * df);

	return df * pow(1 - x + 3.0902 * sqrt(x), 3);
}

/*
 * Wants that n counts have the given weights, of any sum. Neighbours are taken together
 * until 10 or more are expected, as the test demands.
 */
static inline void
chi2_want(const char *what, const unsigned *count, const double *weight, size_t n)
{
	double sum = 0;
	double all = 0;
	double seen = 0;
	double want = 0;
	double chi2 = 0;
	double cells = 0;

	for (size_t i = 0; i < n; i++) {
		sum += weight[i];
		all += count[i];
	}
	for (size_t i = 0; i < n; i++) {
		seen += count[i];
		want += weight[i] / sum * all;
		if (want < 10 && i + 1 < n)
			continue;
		chi2 += (seen - want) * (seen - want) / want;
		cells++;
		seen = want = 0;
	}
	ck_assert_msg(cells > 1, "%s: one cell says nothing", what);
	ck_assert_msg(chi2 < chi2_bound(cells - 1), "%s: chi-square %g of %g cells", what,
		chi2, cells);
}

#endif
