#include "analysis/demand.h"

#include <math.h>
#include <string.h>

#include "common/clock.h"
#include "tests/unit/unit.h"

#define MS 1e6
#define LIMIT (5 * NS_PER_MS)

/* Rises with the demand, and falls behind 16 in flight; 32 are over the limit. */
static const struct demand_point matrix[] = {
	{32, 4, 40000, 8 * MS},
	{16, 4, 50000, 3 * MS},
	{8, 4, 42000, 1 * MS},
	{16, 2, 36000, 2 * MS},
	{4, 2, 29000, 0.5 * MS},
	{4, 1, 31000, 0.5 * MS},
	{1, 1, 10000, 0.1 * MS},
};
#define N (sizeof(matrix) / sizeof(matrix[0]))

/* The number of the point; -1 and the verdict when there is none. */
static int
pick(const struct demand_point *points, size_t n, enum rounds_pick p,
	enum demand_verdict expected)
{
	size_t i = 77;

	ck_assert_int_eq(demand_choose(points, n, p, LIMIT, &i), expected);
	return expected == DEMAND_CHOSEN ? (int)i : -1;
}

START_TEST(the_max_has_the_most_iops_with_a_mean_below_the_limit)
{
	struct demand_point p[N];

	ck_assert_int_eq(pick(matrix, N, ROUNDS_PICK_MAX, DEMAND_CHOSEN), 1);
	memcpy(p, matrix, sizeof(p));
	p[0].iops = 90000;
	ck_assert_int_eq(pick(p, N, ROUNDS_PICK_MAX, DEMAND_CHOSEN), 1);
	/* the limit itself is not below it */
	p[1].lat_mean_ns = 5 * MS;
	ck_assert_int_eq(pick(p, N, ROUNDS_PICK_MAX, DEMAND_CHOSEN), 2);
	p[1].lat_mean_ns = 5 * MS - 1;
	ck_assert_int_eq(pick(p, N, ROUNDS_PICK_MAX, DEMAND_CHOSEN), 1);
}
END_TEST

START_TEST(the_min_has_the_least_demand_whatever_it_does)
{
	struct demand_point p[N];

	ck_assert_int_eq(pick(matrix, N, ROUNDS_PICK_MIN, DEMAND_CHOSEN), 6);
	memcpy(p, matrix, sizeof(p));
	p[6].iops = 99999;
	p[6].lat_mean_ns = 9 * MS;
	ck_assert_int_eq(pick(p, N, ROUNDS_PICK_MIN, DEMAND_CHOSEN), 6);
	/* of as many in flight, fewer workers */
	ck_assert_int_eq(pick(matrix, 6, ROUNDS_PICK_MIN, DEMAND_CHOSEN), 5);
}
END_TEST

START_TEST(the_mid_is_nearest_to_the_middle_between_min_and_max)
{
	struct demand_point p[N];

	/* between 10,000 and 50,000; 29,000 and 31,000 are as near: fewer workers */
	ck_assert_int_eq(pick(matrix, N, ROUNDS_PICK_MID, DEMAND_CHOSEN), 5);
	memcpy(p, matrix, sizeof(p));
	p[4].iops = 29001;
	ck_assert_int_eq(pick(p, N, ROUNDS_PICK_MID, DEMAND_CHOSEN), 4);
	/* one above the limit is none, however near */
	p[0].iops = 30000;
	ck_assert_int_eq(pick(p, N, ROUNDS_PICK_MID, DEMAND_CHOSEN), 4);
	/* with nothing between, both are as near */
	p[1] = matrix[1];
	p[2] = matrix[6];
	ck_assert_int_eq(pick(p + 1, 2, ROUNDS_PICK_MID, DEMAND_CHOSEN), 1);
}
END_TEST

START_TEST(of_equal_points_that_with_less_demand_and_then_the_first_is_taken)
{
	const struct demand_point same[] = {
		{8, 8, 500, MS}, {8, 2, 500, MS}, {8, 2, 500, MS}, {16, 1, 500, MS}};

	for (int p = ROUNDS_PICK_MAX; p <= ROUNDS_PICK_MIN; p++)
		ck_assert_int_eq(pick(same, 4, (enum rounds_pick)p, DEMAND_CHOSEN), 1);
}
END_TEST

START_TEST(a_point_alone_is_all_three)
{
	for (int p = ROUNDS_PICK_MAX; p <= ROUNDS_PICK_MIN; p++)
		ck_assert_int_eq(
			pick(matrix + 6, 1, (enum rounds_pick)p, DEMAND_CHOSEN), 0);
}
END_TEST

START_TEST(with_no_mean_below_the_limit_there_is_only_a_min)
{
	const struct demand_point slow[] = {{4, 2, 90, 40 * MS}, {1, 1, 80, 12 * MS}};

	ck_assert_int_eq(pick(slow, 2, ROUNDS_PICK_MAX, DEMAND_NONE_BELOW), -1);
	ck_assert_int_eq(pick(slow, 2, ROUNDS_PICK_MID, DEMAND_NONE_BELOW), -1);
	ck_assert_int_eq(pick(slow, 2, ROUNDS_PICK_MIN, DEMAND_CHOSEN), 1);
}
END_TEST

START_TEST(points_that_are_not_known_are_passed_over)
{
	const struct demand_point holes[] = {{1, 1, 0, (double)NAN},
		{2, 2, (double)NAN, (double)NAN}, {4, 4, 100, (double)NAN},
		{8, 8, 90, MS}};

	ck_assert_int_eq(pick(holes, 4, ROUNDS_PICK_MAX, DEMAND_CHOSEN), 3);
	ck_assert_int_eq(pick(holes, 4, ROUNDS_PICK_MID, DEMAND_CHOSEN), 3);
	ck_assert_int_eq(pick(holes, 4, ROUNDS_PICK_MIN, DEMAND_CHOSEN), 2);
	for (int p = ROUNDS_PICK_MAX; p <= ROUNDS_PICK_MIN; p++) {
		pick(holes, 2, (enum rounds_pick)p, DEMAND_UNKNOWN);
		pick(holes, 0, (enum rounds_pick)p, DEMAND_UNKNOWN);
	}
}
END_TEST

int
main(void)
{
	TCase *tc = tcase_create("demand");

	tcase_add_test(tc, the_max_has_the_most_iops_with_a_mean_below_the_limit);
	tcase_add_test(tc, the_min_has_the_least_demand_whatever_it_does);
	tcase_add_test(tc, the_mid_is_nearest_to_the_middle_between_min_and_max);
	tcase_add_test(
		tc, of_equal_points_that_with_less_demand_and_then_the_first_is_taken);
	tcase_add_test(tc, a_point_alone_is_all_three);
	tcase_add_test(tc, with_no_mean_below_the_limit_there_is_only_a_min);
	tcase_add_test(tc, points_that_are_not_known_are_passed_over);
	return unit_run("demand", tc);
}
