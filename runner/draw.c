#include "runner/draw.h"

#include <assert.h>
#include <math.h>

#include "common/share.h"

/* The golden ratio less one. */
#define GOLDEN 0.6180339887498949

/* A share of 2^64; UINT64_MAX for all of it. */
static uint64_t
share_of_all(double x)
{
	return x >= 1 ? UINT64_MAX : (uint64_t)(x * 0x1p64);
}

void
alias_init(struct alias *a, const double *weights, size_t n)
{
	double scaled[ALIAS_MAX];
	double sum = 0;
	size_t low[ALIAS_MAX] = {0}, high[ALIAS_MAX] = {0};
	size_t n_low = 0;
	size_t n_high = 0;

	assert(n > 0 && n <= ALIAS_MAX);
	a->n = (uint32_t)n;
	for (size_t i = 0; i < n; i++)
		sum += weights[i];
	for (size_t i = 0; i < n; i++) {
		scaled[i] = weights[i] / sum * (double)n;
		if (scaled[i] < 1)
			low[n_low++] = i;
		else
			high[n_high++] = i;
		a->keep[i] = UINT64_MAX;
		a->other[i] = (uint8_t)i;
	}
	/* Each outcome below the mean is filled up by one above it. */
	while (n_low > 0 && n_high > 0) {
		size_t i = low[--n_low];
		size_t k = high[n_high - 1];

		a->keep[i] = share_of_all(scaled[i]);
		a->other[i] = (uint8_t)k;
		scaled[k] -= 1 - scaled[i];
		if (scaled[k] < 1) {
			n_high--;
			low[n_low++] = k;
		}
	}
}

/*
 * The integral of h(x) = x^-theta: (x^(1 - theta) - 1) / (1 - theta), and log(x) for
 * theta 1, which expm1 reaches without losing digits.
 */
static double
integral(double theta, double x)
{
	double log_x = log(x);
	double t = (1 - theta) * log_x;

	return fabs(t) > 1e-8 ? expm1(t) / (1 - theta) : log_x * (1 + t / 2);
}

/* Its inverse. */
static double
inverse(double theta, double y)
{
	double t = (1 - theta) * y;

	if (t < -1)
		t = -1; /* only by rounding */
	return exp(fabs(t) > 1e-8 ? log1p(t) / (1 - theta) : y * (1 - t / 2));
}

static double
weight(double theta, double x)
{
	return exp(-theta * log(x));
}

/* The sum of the first n weights; far out, that of each rank is the integral over it. */
static double
sum_of_weights(double theta, uint64_t n)
{
	uint64_t exact = n < 100 ? n : 100;
	double sum = 0;

	for (uint64_t k = exact; k > 0; k--)
		sum += weight(theta, (double)k);
	if (n == exact)
		return sum;
	return sum + integral(theta, (double)n + 0.5) -
	       integral(theta, (double)exact + 0.5);
}

double
zipf_share(double theta, uint64_t n, uint64_t m)
{
	return m >= n ? 1 : sum_of_weights(theta, m) / sum_of_weights(theta, n);
}

void
zipf_init(struct zipf *z, uint64_t n, double theta)
{
	assert(n > 0 && theta > 0);
	z->theta = theta;
	z->n = (double)n;
	z->low = integral(theta, 1.5) - 1;
	z->high = integral(theta, z->n + 0.5);
	z->near = 2 - inverse(theta, integral(theta, 2.5) - weight(theta, 2));
}

uint64_t
zipf_draw(const struct zipf *z, struct rng *r)
{
	for (;;) {
		double u = (double)(rng_next(r) >> 11) * 0x1p-53;
		double y = z->high + u * (z->low - z->high);
		double x = inverse(z->theta, y);
		double k = floor(x + 0.5);

		if (k < 1)
			k = 1;
		else if (!(k <= z->n))
			k = z->n;
		if (k - x <= z->near ||
			y >= integral(z->theta, k + 0.5) - weight(z->theta, k))
			return (uint64_t)k;
	}
}

void
scatter_init(struct scatter *s, uint64_t n)
{
	assert(n > 0);
	s->n = n;
	s->factor = (uint64_t)((double)n * GOLDEN);
	if (s->factor == 0)
		s->factor = 1;
	while (share_divisor(s->factor, n) != 1)
		s->factor++;
}
