/*
 * compare - is B different from A? Two sets of repeats of one figure.
 *
 * The unit is a whole run: seconds within a run are correlated and are no repeats. The
 * test is Mann-Whitney's, two-sided, exact also with ties. A verdict is never better than
 * its numbers: one run on a side decides nothing. Pure.
 */
#ifndef ANALYSIS_COMPARE_H
#define ANALYSIS_COMPARE_H

#include <stdbool.h>
#include <stddef.h>

/* Most repeats on one side; callers take the newest ones. */
#define COMPARE_MAX 32

/* A difference is shown when chance alone gives it at most this often. */
#define COMPARE_ALPHA 0.05

enum verdict {
	VERDICT_NONE,	    /* a side has no value at all */
	VERDICT_SINGLE_RUN, /* a side has one value: no statement */
	VERDICT_NOT_SHOWN,
	VERDICT_BETTER, /* B is better than A */
	VERDICT_WORSE,
};

struct comparison {
	size_t n_a, n_b;
	double a, b;		   /* medians; NAN for none */
	double difference_percent; /* of B against A; NAN when not known */
	double p;	/* two-sided; NAN when a side has less than two values */
	double p_least; /* the smallest p that these numbers of repeats can give */
	enum verdict verdict;
};

/* verdict_name returns "no data", "single run", "no difference shown", "better" or
 * "worse". */
const char *verdict_name(enum verdict v);

/* compare_median returns the median of n values, NAN for none. x is left alone. */
double compare_median(const double *x, size_t n);

/*
 * compare_mann_whitney returns the exact two-sided p of n_a and n_b values, each
 * 1..COMPARE_MAX: the share of all ways to deal the values to both sides whose rank sum
 * lies at least as far from its mean as the one observed.
 */
double compare_mann_whitney(const double *a, size_t n_a, const double *b, size_t n_b);

/* compare_p_least returns compare_mann_whitney of two completely separate sets. */
double compare_p_least(size_t n_a, size_t n_b);

/* compare_repeats returns how many repeats each of two sides needs, at least, to show a
 * difference where both have the same number of them. */
size_t compare_repeats(void);

/*
 * compare_sets compares n_a values of A with n_b values of B, at most COMPARE_MAX each.
 * Values must be finite.
 */
void compare_sets(const double *a, size_t n_a, const double *b, size_t n_b,
	bool higher_is_better, struct comparison *ret_c);

#endif
