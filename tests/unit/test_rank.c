#include "analysis/rank.h"

#include <math.h>

#include "tests/unit/unit.h"

START_TEST(higher_values_come_first_and_ties_share_a_rank)
{
	struct rank_entry e[] = {{.value = 50, .index = 0}, {.value = 100, .index = 1},
		{.value = 25, .index = 2}, {.value = 50, .index = 3}};
	static const size_t index[] = {1, 0, 3, 2};
	static const size_t rank[] = {1, 2, 2, 4};
	static const double percent[] = {100, 50, 50, 25};

	rank_order(e, 4, true);
	for (size_t i = 0; i < 4; i++) {
		ck_assert_uint_eq(e[i].index, index[i]);
		ck_assert_uint_eq(e[i].rank, rank[i]);
		ck_assert_double_eq(e[i].percent_of_best, percent[i]);
	}
}
END_TEST

START_TEST(lower_values_come_first_where_lower_is_better)
{
	struct rank_entry e[] = {{.value = 200, .index = 0}, {.value = 100, .index = 1}};

	rank_order(e, 2, false);
	ck_assert_uint_eq(e[0].index, 1);
	ck_assert_double_eq(e[0].percent_of_best, 100);
	ck_assert_double_eq(e[1].percent_of_best, 50);
	ck_assert_uint_eq(e[1].rank, 2);
}
END_TEST

START_TEST(a_best_of_zero_gives_no_percentages)
{
	struct rank_entry e[] = {{.value = 0, .index = 0}, {.value = 0, .index = 1}};

	rank_order(e, 2, true);
	ck_assert(isnan(e[0].percent_of_best) && isnan(e[1].percent_of_best));
	ck_assert_uint_eq(e[1].rank, 1);
	rank_order(e, 0, true);
}
END_TEST

int
main(void)
{
	TCase *tc = tcase_create("rank");

	tcase_add_test(tc, higher_values_come_first_and_ties_share_a_rank);
	tcase_add_test(tc, lower_values_come_first_where_lower_is_better);
	tcase_add_test(tc, a_best_of_zero_gives_no_percentages);
	return unit_run("rank", tc);
}
