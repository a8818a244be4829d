#include "analysis/cut.h"

#include <math.h>

#include "tests/unit/unit.h"

#define US 1000
#define MS 1000000

static struct hist service[DIRECTIONS], response[DIRECTIONS], unfinished;

static void
setup(void)
{
	memset(service, 0, sizeof(service));
	memset(response, 0, sizeof(response));
	memset(&unfinished, 0, sizeof(unfinished));
}

static void
add(struct hist *h, unsigned n, uint64_t ns)
{
	while (n-- > 0)
		hist_add(h, ns);
}

static double
factor(void)
{
	return cut_factor(service, response, &unfinished);
}

START_TEST(with_no_percentile_there_is_nothing_to_say)
{
	add(&unfinished, 100, MS);
	ck_assert(isnan(factor()));
	add(&service[DIR_READ], 19, US);
	ck_assert(isnan(factor())); /* the median wants 10 beyond it */
	add(&service[DIR_WRITE], 1, US);
	ck_assert_double_gt(factor(), 900);
}
END_TEST

START_TEST(those_that_took_no_longer_change_nothing)
{
	add(&service[DIR_READ], 60000, 100 * US);
	ck_assert_double_eq(factor(), 1);
	add(&unfinished, 128, 100 * US);
	ck_assert_double_eq(factor(), 1);
	add(&unfinished, 128, 50 * US); /* the median would fall, which hides nothing */
	ck_assert_double_eq(factor(), 1);
}
END_TEST

START_TEST(a_stall_at_the_end_shows_in_the_percentile_it_would_reach)
{
	/* 60 s at 1,000/s, of which the last half second never ended: 0.8 % */
	add(&service[DIR_READ], 59500, 100 * US);
	add(&response[DIR_READ], 59500, 100 * US);
	for (unsigned i = 1; i <= 500; i++)
		hist_add(&unfinished, i * MS);
	/* p99.9 of 60,000 lies 60 below the top, at 440 ms instead of 100 us; with
	 * 59,500 it is the highest percentile that is told. */
	ck_assert_double_eq_tol(factor(), 4400, 4400 / 64.);
	/* 5 of them reach no percentile that is told. */
	memset(&unfinished, 0, sizeof(unfinished));
	add(&unfinished, 5, 500 * MS);
	ck_assert_double_lt(factor(), 1 + 1 / 64.);
}
END_TEST

START_TEST(open_loops_go_by_response_times)
{
	add(&service[DIR_READ], 1000, 100 * US);
	add(&response[DIR_READ], 1000, 100 * MS);
	add(&unfinished, 1000, 100 * MS);
	ck_assert_double_eq(factor(), 1);
}
END_TEST

int
main(void)
{
	TCase *tc = tcase_create("cut");

	tcase_add_checked_fixture(tc, setup, NULL);
	tcase_add_test(tc, with_no_percentile_there_is_nothing_to_say);
	tcase_add_test(tc, those_that_took_no_longer_change_nothing);
	tcase_add_test(tc, a_stall_at_the_end_shows_in_the_percentile_it_would_reach);
	tcase_add_test(tc, open_loops_go_by_response_times);
	return unit_run("cut", tc);
}
