#include "runner/arrival.h"

#include <math.h>
#include <stdio.h>

#include "common/clock.h"
#include "tests/unit/unit.h"

#define START INT64_C(1000000000000)

static struct arrival_config
config(enum arrivals kind, double rate, int64_t warmup_ns, int64_t measure_ns)
{
	return (struct arrival_config){
		.kind = kind,
		.rate = rate,
		.phase = 0.5,
		.span_ns = {warmup_ns, measure_ns},
		.seed = 7,
		.backlog_max = 1U << 20,
	};
}

static struct arrival *
started(const struct arrival_config *c)
{
	struct arrival *a = arrival_new(c);

	arrival_start(a, START);
	return a;
}

START_TEST(a_rate_is_met_exactly_in_each_span)
{
	static const double rates[] = {10, 333.3, 1000, 123456, 2000000};
	const int64_t warmup = 200 * NS_PER_MS;
	const int64_t measure = 300 * NS_PER_MS;

	for (int kind = ARRIVALS_POISSON; kind <= ARRIVALS_FIXED; kind++) {
		for (size_t i = 0; i < sizeof(rates) / sizeof(rates[0]); i++) {
			struct arrival_config c = config(
				(enum arrivals)kind, rates[i], warmup, measure);
			struct arrival *a = started(&c);
			double first, all;

			arrival_advance(a, START + warmup - 1);
			first = arrival_waiting(a);
			arrival_advance(a, START + warmup + measure - 1);
			all = arrival_waiting(a);
			ck_assert_double_eq_tol(first, rates[i] * 0.2, 0.51);
			ck_assert_double_eq_tol(all - first, rates[i] * 0.3, 1.01);
			ck_assert_int_eq(arrival_next(a), INT64_MAX);
			arrival_free(a);
		}
	}
}
END_TEST

START_TEST(fixed_arrivals_are_even_and_workers_interleave)
{
	struct arrival_config c = config(ARRIVALS_FIXED, 1000, 0, NS_PER_S);
	struct arrival *a[2];
	int64_t last = START - 250000;

	for (unsigned i = 0; i < 2; i++) {
		c.phase = (i + 0.5) / 2;
		a[i] = started(&c);
		arrival_advance(a[i], START + NS_PER_S);
		ck_assert_uint_eq(arrival_waiting(a[i]), 1000);
	}
	for (unsigned i = 0; i < 2000; i++) {
		int64_t due = arrival_take(a[i % 2]);

		ck_assert_int_eq(due - last, 500000);
		last = due;
	}
	arrival_free(a[0]);
	arrival_free(a[1]);
}
END_TEST

static int
by_value(const void *a, const void *b)
{
	const double *x = a;
	const double *y = b;

	return (*x > *y) - (*x < *y);
}

/* Kolmogorov and Smirnov: the gaps are exponential. */
START_TEST(poisson_gaps_are_exponential)
{
	enum { N = 20000 };
	static double gaps[N];
	struct arrival_config c = config(ARRIVALS_POISSON, N, 0, NS_PER_S);
	struct arrival *a = started(&c);
	int64_t last = START;
	double worst = 0;

	arrival_advance(a, START + NS_PER_S);
	ck_assert_uint_eq(arrival_waiting(a), N);
	for (unsigned i = 0; i < N; i++) {
		int64_t due = arrival_take(a);

		ck_assert_int_ge(due, last);
		gaps[i] = (double)(due - last) / 1e9 * N;
		last = due;
	}
	ck_assert_int_lt(last, START + NS_PER_S);
	qsort(gaps, N, sizeof(gaps[0]), by_value);
	for (unsigned i = 0; i < N; i++) {
		double model = 1 - exp(-gaps[i]);
		double above = fabs((i + 1.0) / N - model);
		double below = fabs((double)i / N - model);

		worst = fmax(worst, fmax(above, below));
	}
	/* The bound of the 0.1 % level; the seed is fixed. */
	ck_assert_double_lt(worst, 1.95 / sqrt(N));
	arrival_free(a);
}
END_TEST

/* Counts per millisecond spread as in a Poisson process: variance equals mean. */
START_TEST(poisson_counts_spread_as_they_should)
{
	enum { SLICES = 5000 };
	struct arrival_config c = config(ARRIVALS_POISSON, 20000, 0, SLICES * NS_PER_MS);
	struct arrival *a = started(&c);
	double sum = 0;
	double squares = 0;
	unsigned before = 0;

	for (int i = 1; i <= SLICES; i++) {
		double n;

		arrival_advance(a, START + i * NS_PER_MS);
		n = arrival_waiting(a) - before;
		before = arrival_waiting(a);
		sum += n;
		squares += n * n;
	}
	sum /= SLICES;
	ck_assert_double_eq_tol(sum, 20, 0.001);
	ck_assert_double_eq_tol(squares / SLICES - sum * sum, 20, 2);
	arrival_free(a);
}
END_TEST

START_TEST(same_seed_same_times)
{
	struct arrival_config c = config(ARRIVALS_POISSON, 5000, NS_PER_S, NS_PER_S);
	struct arrival *a = started(&c);
	struct arrival *b = started(&c);
	struct arrival *other;

	c.seed++;
	other = started(&c);
	arrival_advance(a, START + 2 * NS_PER_S);
	for (unsigned i = 0; i < 10000; i++) {
		int64_t due = arrival_take(a);

		ck_assert_int_eq(arrival_next(b), due);
		arrival_advance(b, due);
		ck_assert_int_eq(arrival_take(b), due);
	}
	arrival_advance(other, START + 2 * NS_PER_S);
	arrival_start(a, START);
	ck_assert_int_ne(arrival_take(other), arrival_next(a));
	arrival_free(a);
	arrival_free(b);
	arrival_free(other);
}
END_TEST

START_TEST(a_full_backlog_drops_the_newest_and_counts_them)
{
	struct arrival_config c = config(ARRIVALS_FIXED, 1000, 0, NS_PER_S);
	struct arrival *a;

	c.backlog_max = 8;
	a = started(&c);
	ck_assert_uint_eq(arrival_advance(a, START + 20 * NS_PER_MS), 12);
	ck_assert_uint_eq(arrival_waiting(a), 8);
	ck_assert_int_eq(arrival_take(a), START + 500000);
	ck_assert_uint_eq(arrival_advance(a, START + 22 * NS_PER_MS), 1);
	for (unsigned i = 1; i < 8; i++)
		ck_assert_int_eq(arrival_take(a), START + i * NS_PER_MS + 500000);
	ck_assert_int_eq(arrival_take(a), START + 20 * NS_PER_MS + 500000);
	ck_assert_uint_eq(arrival_waiting(a), 0);
	arrival_free(a);
	arrival_free(NULL);
}
END_TEST

int
main(void)
{
	TCase *tc = tcase_create("arrival");

	tcase_add_test(tc, a_rate_is_met_exactly_in_each_span);
	tcase_add_test(tc, fixed_arrivals_are_even_and_workers_interleave);
	tcase_add_test(tc, poisson_gaps_are_exponential);
	tcase_add_test(tc, poisson_counts_spread_as_they_should);
	tcase_add_test(tc, same_seed_same_times);
	tcase_add_test(tc, a_full_backlog_drops_the_newest_and_counts_them);
	return unit_run("arrival", tc);
}
