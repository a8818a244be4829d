#include "analysis/compare.h"

#include <math.h>

#include "tests/unit/unit.h"

static const double low[] = {1, 2, 3, 4, 5, 6, 7, 8, 9, 10};
static const double high[] = {11, 12, 13, 14, 15, 16, 17, 18, 19, 20};

START_TEST(separate_sets_have_the_known_exact_p)
{
	ck_assert_double_eq_tol(compare_mann_whitney(low, 3, high, 3), 2.0 / 20, 1e-12);
	ck_assert_double_eq_tol(compare_mann_whitney(low, 4, high, 4), 2.0 / 70, 1e-12);
	ck_assert_double_eq_tol(compare_mann_whitney(high, 5, low, 5), 2.0 / 252, 1e-12);
	ck_assert_double_eq_tol(compare_mann_whitney(low, 2, high, 8), 2.0 / 45, 1e-12);
}
END_TEST

START_TEST(the_least_p_is_that_of_separate_sets)
{
	for (size_t n = 1; n <= 10; n++)
		for (size_t m = 1; m <= 10; m++)
			ck_assert_double_eq_tol(compare_p_least(n, m),
				compare_mann_whitney(low, n, high, m), 1e-12);
}
END_TEST

START_TEST(a_worked_example_without_ties)
{
	/* U = 5; of 252 deals 1 + 1 + 2 + 3 + 5 + 7 have U = 0 to 5, as many the other
	 * end. */
	static const double a[] = {1, 2, 3, 6, 8};
	static const double b[] = {4, 5, 7, 9, 10};

	ck_assert_double_eq_tol(compare_mann_whitney(a, 5, b, 5), 38.0 / 252, 1e-12);
	ck_assert_double_eq_tol(compare_mann_whitney(b, 5, a, 5), 38.0 / 252, 1e-12);
}
END_TEST

START_TEST(ties_are_dealt_exactly)
{
	/* Ranks 1.5 1.5 3 against 4.5 4.5 6: the sums 6 and 15 are the outermost ones of
	 * 20 deals. */
	static const double a[] = {1, 1, 2};
	static const double b[] = {3, 3, 4};
	static const double same[] = {7, 7, 7};

	ck_assert_double_eq_tol(compare_mann_whitney(a, 3, b, 3), 2.0 / 20, 1e-12);
	ck_assert_double_eq_tol(compare_mann_whitney(same, 3, same, 3), 1, 1e-12);
}
END_TEST

START_TEST(the_largest_sets_are_still_exact)
{
	double a[COMPARE_MAX];
	double b[COMPARE_MAX];

	for (size_t i = 0; i < COMPARE_MAX; i++) {
		a[i] = (double)i;
		b[i] = (double)i + 0.5;
	}
	ck_assert_double_gt(compare_mann_whitney(a, COMPARE_MAX, b, COMPARE_MAX), 0.7);
	for (size_t i = 0; i < COMPARE_MAX; i++)
		b[i] += 1000;
	ck_assert_double_eq_tol(compare_mann_whitney(a, COMPARE_MAX, b, COMPARE_MAX) /
					compare_p_least(COMPARE_MAX, COMPARE_MAX),
		1, 1e-9);
}
END_TEST

START_TEST(medians_of_odd_and_even_numbers)
{
	static const double x[] = {9, 1, 5, 3};

	ck_assert_double_eq(compare_median(x, 3), 5);
	ck_assert_double_eq(compare_median(x, 4), 4);
	ck_assert_double_eq(compare_median(x, 1), 9);
	ck_assert(isnan(compare_median(x, 0)));
}
END_TEST

START_TEST(one_run_on_a_side_is_never_a_verdict)
{
	struct comparison c;

	compare_sets(low, 1, high, 5, true, &c);
	ck_assert_str_eq(verdict_name(c.verdict), "single run");
	ck_assert(isnan(c.p));
	compare_sets(low, 5, high, 1, true, &c);
	ck_assert_int_eq(c.verdict, VERDICT_SINGLE_RUN);
	ck_assert_double_eq(c.a, 3);
	ck_assert_double_eq(c.b, 11);
	ck_assert_double_eq_tol(c.difference_percent, 800.0 / 3, 1e-9);
}
END_TEST

START_TEST(three_repeats_cannot_show_a_difference_and_four_can)
{
	struct comparison c;

	compare_sets(low, 3, high, 3, true, &c);
	ck_assert_str_eq(verdict_name(c.verdict), "no difference shown");
	ck_assert_double_eq_tol(c.p_least, 0.1, 1e-12);
	compare_sets(low, 4, high, 4, true, &c);
	ck_assert_str_eq(verdict_name(c.verdict), "better");
	ck_assert_double_eq_tol(c.p, 0.0286, 1e-4);
}
END_TEST

START_TEST(the_direction_of_the_figure_decides_what_is_better)
{
	struct comparison c;

	compare_sets(low, 5, high, 5, false, &c);
	ck_assert_str_eq(verdict_name(c.verdict), "worse");
	compare_sets(high, 5, low, 5, false, &c);
	ck_assert_int_eq(c.verdict, VERDICT_BETTER);
	compare_sets(high, 5, low, 5, true, &c);
	ck_assert_int_eq(c.verdict, VERDICT_WORSE);
}
END_TEST

START_TEST(a_side_without_values_has_no_verdict)
{
	struct comparison c;

	compare_sets(low, 0, high, 5, true, &c);
	ck_assert_str_eq(verdict_name(c.verdict), "no data");
	ck_assert(isnan(c.a) && isnan(c.difference_percent));
}
END_TEST

START_TEST(four_repeats_on_each_side_are_needed)
{
	ck_assert_uint_eq(compare_repeats(), 4);
	ck_assert_double_le(compare_p_least(4, 4), COMPARE_ALPHA);
	ck_assert_double_gt(compare_p_least(3, 3), COMPARE_ALPHA);
}
END_TEST

int
main(void)
{
	TCase *tc = tcase_create("compare");

	tcase_add_test(tc, separate_sets_have_the_known_exact_p);
	tcase_add_test(tc, the_least_p_is_that_of_separate_sets);
	tcase_add_test(tc, a_worked_example_without_ties);
	tcase_add_test(tc, ties_are_dealt_exactly);
	tcase_add_test(tc, the_largest_sets_are_still_exact);
	tcase_add_test(tc, medians_of_odd_and_even_numbers);
	tcase_add_test(tc, one_run_on_a_side_is_never_a_verdict);
	tcase_add_test(tc, three_repeats_cannot_show_a_difference_and_four_can);
	tcase_add_test(tc, the_direction_of_the_figure_decides_what_is_better);
	tcase_add_test(tc, a_side_without_values_has_no_verdict);
	tcase_add_test(tc, four_repeats_on_each_side_are_needed);
	return unit_run("compare", tc);
}
