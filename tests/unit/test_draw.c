#include "runner/draw.h"

#include <stdio.h>

#include "tests/unit/chi2.h"

enum { DRAWS = 200000 };

static unsigned count[4096];

START_TEST(outcomes_have_their_weights)
{
	static const struct {
		size_t n;
		double weights[ALIAS_MAX];
	} cases[] = {
		{2, {97, 3}},
		{2, {1, 1}},
		{3, {0.001, 50, 49.999}},
		{12, {4, 1, 1, 1, 1, 1, 1, 67, 10, 7, 3, 3}},
		{16, {1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15, 16}},
	};

	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		struct alias a;
		struct rng r;
		char what[40];

		rng_init(&r, i, 0);
		alias_init(&a, cases[i].weights, cases[i].n);
		memset(count, 0, sizeof(count));
		for (unsigned k = 0; k < DRAWS; k++)
			count[alias_draw(&a, &r)]++;
		snprintf(what, sizeof(what), "weights %zu", i);
		chi2_want(what, count, cases[i].weights, cases[i].n);
	}
}
END_TEST

START_TEST(one_outcome_costs_no_draw)
{
	static const double weight = 3;
	struct alias a;
	struct rng r, same;

	rng_init(&r, 1, 0);
	same = r;
	alias_init(&a, &weight, 1);
	ck_assert_uint_eq(alias_draw(&a, &r), 0);
	ck_assert_uint_eq(rng_next(&r), rng_next(&same));
}
END_TEST

static const double thetas[] = {0.1, 0.5, 0.99, 1, 1.1, 1.5, 2, 5};

/* An assertion for each of millions of draws would take longer than all the rest. */
static void
want_rank(uint64_t rank, uint64_t n)
{
	if (rank < 1 || rank > n)
		ck_abort_msg("rank %llu of %llu", (unsigned long long)rank,
			(unsigned long long)n);
}

START_TEST(ranks_have_the_weights_of_zipf)
{
	static const uint64_t sizes[] = {1, 2, 3, 10, 1000, 4096};
	static double weights[4096];

	for (size_t i = 0; i < sizeof(sizes) / sizeof(sizes[0]); i++) {
		struct zipf z;
		struct rng r;
		char what[60];

		rng_init(&r, 11, sizes[i]);
		zipf_init(&z, sizes[i], thetas[_i]);
		memset(count, 0, sizeof(count));
		for (unsigned k = 0; k < DRAWS; k++) {
			uint64_t rank = zipf_draw(&z, &r);

			want_rank(rank, sizes[i]);
			count[rank - 1]++;
		}
		for (uint64_t k = 0; k < sizes[i]; k++)
			weights[k] = pow((double)(k + 1), -thetas[_i]);
		snprintf(what, sizeof(what), "theta %g of %llu", thetas[_i],
			(unsigned long long)sizes[i]);
		if (sizes[i] > 1)
			chi2_want(what, count, weights, sizes[i]);
	}
}
END_TEST

/* The sum of k^-theta for 1..n: the first thousand, and Euler and Maclaurin's formula. */
static double
harmonic(double n, double theta)
{
	const double m = 1000;
	double sum = 0;
	double rest;

	for (double k = 1; k < m; k++)
		sum += pow(k, -theta);
	rest = fabs(theta - 1) < 1e-9
		       ? log(n / m)
		       : (pow(n, 1 - theta) - pow(m, 1 - theta)) / (1 - theta);
	return sum + rest + (pow(m, -theta) + pow(n, -theta)) / 2 +
	       theta * (pow(m, -theta - 1) - pow(n, -theta - 1)) / 12;
}

START_TEST(large_drives_have_the_same_law)
{
	const uint64_t n = UINT64_C(1) << 35; /* 16 TiB in sectors */
	double theta = thetas[_i];
	double sums[3] = {harmonic(1e3, theta),
		harmonic(1e7, theta) - harmonic(1e3, theta),
		harmonic((double)n, theta) - harmonic(1e7, theta)};
	struct zipf z;
	struct rng r;

	rng_init(&r, 12, 0);
	zipf_init(&z, n, theta);
	memset(count, 0, sizeof(count));
	for (unsigned k = 0; k < DRAWS; k++) {
		uint64_t rank = zipf_draw(&z, &r);

		want_rank(rank, n);
		count[rank <= 1000 ? 0 : rank <= 10000000 ? 1 : 2]++;
	}
	if (theta < 3)
		chi2_want("large", count, sums, 3);
	else
		ck_assert_uint_gt(count[0], DRAWS - 10);
}
END_TEST

START_TEST(the_share_of_the_first_ranks_is_their_weight)
{
	static const uint64_t firsts[] = {1, 2, 99, 100, 101, 127, 5000, 99999, 100000};
	double theta = thetas[_i], sum = 0,
	       sums[sizeof(firsts) / sizeof(firsts[0])] = {0};
	size_t next = 0;

	for (uint64_t k = 1; k <= 100000; k++) {
		sum += pow((double)k, -theta);
		if (k == firsts[next])
			sums[next++] = sum;
	}
	for (size_t i = 0; i < next; i++)
		ck_assert_double_eq_tol(
			zipf_share(theta, 100000, firsts[i]), sums[i] / sum, 1e-5);
	ck_assert_double_eq_tol(zipf_share(theta, 1, 1), 1, 1e-12);
	ck_assert_double_le(zipf_share(theta, UINT64_C(1) << 40, 4095), 1);
}
END_TEST

START_TEST(each_place_has_one_rank)
{
	for (uint64_t n = 1; n <= 3000; n++) {
		static unsigned char seen[3000];
		struct scatter s;

		memset(seen, 0, sizeof(seen));
		scatter_init(&s, n);
		for (uint64_t rank = 1; rank <= n; rank++) {
			uint64_t place = scatter_place(&s, rank);

			if (place >= n || seen[place]++ != 0)
				ck_abort_msg("rank %llu of %llu",
					(unsigned long long)rank, (unsigned long long)n);
		}
	}
}
END_TEST

/* Of h points on a ring the nearest two are no less than n / (2.7 h) apart. */
START_TEST(hot_ranks_lie_apart)
{
	static const uint64_t sizes[] = {1000, 65536, 1000003, UINT64_C(1) << 35};

	for (size_t i = 0; i < sizeof(sizes) / sizeof(sizes[0]); i++) {
		struct scatter s;

		scatter_init(&s, sizes[i]);
		for (uint64_t a = 1; a <= 20; a++)
			for (uint64_t b = a + 1; b <= 20; b++) {
				uint64_t x = scatter_place(&s, a);
				uint64_t y = scatter_place(&s, b);
				uint64_t gap = x > y ? x - y : y - x;

				if (gap > sizes[i] / 2)
					gap = sizes[i] - gap;
				ck_assert_uint_gt(gap, sizes[i] / 60);
			}
	}
}
END_TEST

int
main(void)
{
	TCase *tc = tcase_create("draw");
	int n = (int)(sizeof(thetas) / sizeof(thetas[0]));

	tcase_set_timeout(tc, 60);
	tcase_add_test(tc, outcomes_have_their_weights);
	tcase_add_test(tc, one_outcome_costs_no_draw);
	tcase_add_loop_test(tc, ranks_have_the_weights_of_zipf, 0, n);
	tcase_add_loop_test(tc, large_drives_have_the_same_law, 0, n);
	tcase_add_loop_test(tc, the_share_of_the_first_ranks_is_their_weight, 0, n);
	tcase_add_test(tc, each_place_has_one_rank);
	tcase_add_test(tc, hot_ranks_lie_apart);
	return unit_run("draw", tc);
}
