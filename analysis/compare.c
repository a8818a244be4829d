#include "analysis/compare.h"

#include <assert.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

/* Twice the largest possible rank sum of one side: twice the ranks stay whole with ties.
 */
#define SUM_MAX (2 * COMPARE_MAX * (2 * COMPARE_MAX + 1) + 1)

static const char *const verdict_names[] = {
	[VERDICT_NONE] = "no data",
	[VERDICT_SINGLE_RUN] = "single run",
	[VERDICT_NOT_SHOWN] = "no difference shown",
	[VERDICT_BETTER] = "better",
	[VERDICT_WORSE] = "worse",
};

const char *
verdict_name(enum verdict v)
{
	return verdict_names[v];
}

static int
by_value(const void *va, const void *vb)
{
	double a = *(const double *)va;
	double b = *(const double *)vb;

	return a < b ? -1 : a > b;
}

double
compare_median(const double *x, size_t n)
{
	double sorted[2 * COMPARE_MAX];

	assert(n <= 2 * COMPARE_MAX);
	if (n == 0)
		return (double)NAN;
	memcpy(sorted, x, n * sizeof(x[0]));
	qsort(sorted, n, sizeof(sorted[0]), by_value);
	return n % 2 == 1 ? sorted[n / 2] : (sorted[n / 2 - 1] + sorted[n / 2]) / 2;
}

/* Twice the rank of v among all values; equal values share the mean of their ranks. */
static size_t
rank2(double v, const double *a, size_t n_a, const double *b, size_t n_b)
{
	size_t below = 0;
	size_t equal = 0;

	for (size_t i = 0; i < n_a; i++) {
		below += a[i] < v;
		equal += a[i] == v;
	}
	for (size_t i = 0; i < n_b; i++) {
		below += b[i] < v;
		equal += b[i] == v;
	}
	return 2 * below + equal + 1;
}

/*
 * The share of all choices of n_a out of the n ranks whose sum is at least as far from
 * the mean as observed. ways[k][s] counts the choices of k ranks that sum to s; ranks are
 * taken one after the other, so that ties need no special case.
 */
static double
tail_share(const size_t *ranks, size_t n, size_t n_a, size_t observed)
{
	double(*ways)[SUM_MAX] = calloc(n_a + 1, sizeof(*ways));
	size_t mean = n_a * (n + 1); /* of twice the rank sum */
	size_t distance = observed > mean ? observed - mean : mean - observed;
	double far = 0;
	double all = 0;
	size_t total = 0;

	if (ways == NULL)
		abort();
	ways[0][0] = 1;
	for (size_t i = 0; i < n; i++) {
		total += ranks[i];
		for (size_t k = i + 1 < n_a ? i + 1 : n_a; k > 0; k--)
			for (size_t s = ranks[i]; s <= total; s++)
				ways[k][s] += ways[k - 1][s - ranks[i]];
	}
	for (size_t s = 0; s <= total; s++) {
		all += ways[n_a][s];
		if ((s > mean ? s - mean : mean - s) >= distance)
			far += ways[n_a][s];
	}
	free(ways);
	return far / all;
}

double
compare_mann_whitney(const double *a, size_t n_a, const double *b, size_t n_b)
{
	size_t ranks[2 * COMPARE_MAX];
	size_t observed = 0;

	assert(n_a >= 1 && n_a <= COMPARE_MAX && n_b >= 1 && n_b <= COMPARE_MAX);
	for (size_t i = 0; i < n_a; i++) {
		ranks[i] = rank2(a[i], a, n_a, b, n_b);
		observed += ranks[i];
	}
	for (size_t i = 0; i < n_b; i++)
		ranks[n_a + i] = rank2(b[i], a, n_a, b, n_b);
	return tail_share(ranks, n_a + n_b, n_a, observed);
}

double
compare_p_least(size_t n_a, size_t n_b)
{
	double choices = 1;

	for (size_t i = 1; i <= n_a; i++)
		choices = choices * (double)(n_b + i) / (double)i;
	return fmin(1, 2 / choices);
}

size_t
compare_repeats(void)
{
	size_t n = 1;

	while (n < COMPARE_MAX && compare_p_least(n, n) > COMPARE_ALPHA)
		n++;
	return n;
}

static enum verdict
judge(const struct comparison *c, bool higher_is_better)
{
	if (c->n_a == 0 || c->n_b == 0)
		return VERDICT_NONE;
	if (c->n_a == 1 || c->n_b == 1)
		return VERDICT_SINGLE_RUN;
	if (c->p > COMPARE_ALPHA || c->a == c->b)
		return VERDICT_NOT_SHOWN;
	return (c->b > c->a) == higher_is_better ? VERDICT_BETTER : VERDICT_WORSE;
}

void
compare_sets(const double *a, size_t n_a, const double *b, size_t n_b,
	bool higher_is_better, struct comparison *ret_c)
{
	struct comparison c = {
		.n_a = n_a, .n_b = n_b, .p = (double)NAN, .p_least = (double)NAN};

	c.a = compare_median(a, n_a);
	c.b = compare_median(b, n_b);
	c.difference_percent = c.a > 0 ? (c.b - c.a) / c.a * 100 : (double)NAN;
	if (n_a > 1 && n_b > 1) {
		c.p = compare_mann_whitney(a, n_a, b, n_b);
		c.p_least = compare_p_least(n_a, n_b);
	}
	c.verdict = judge(&c, higher_is_better);
	*ret_c = c;
}
