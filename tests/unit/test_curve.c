#include "analysis/curve.h"

#include <math.h>

#include "analysis/figure.h"
#include "analysis/sanity.h"
#include "tests/unit/unit.h"

#define LATENCY(m)                                                        \
	{                                                                 \
		.mean = (m), .p50 = (m), .p99 = 2 * (m), .p99_9 = 3 * (m) \
	}

/* A ramp with a peak at 100 %, as an attempt writes it: the maximum first. */
static const struct curve_point ramp[] = {
	{1, (double)NAN, (double)NAN, 990, 9900, LATENCY(900),
		{(double)NAN, (double)NAN, (double)NAN, (double)NAN}, 0},
	{2, 10, 100, 100, 1000, LATENCY(50), LATENCY(51), 0},
	{3, 50, 500, 500, 5000, LATENCY(80), LATENCY(85), 0},
	{4, 90, 900, 948, 9480, LATENCY(200), LATENCY(400), 0},
	{5, 95, 950, 955, 9550, LATENCY(250), LATENCY(700), 0},
	{6, 100, 1000, 1000, 10000, LATENCY(800), LATENCY(9000), 0},
	{7, 110, 1100, 1000, 10000, LATENCY(950), LATENCY(99000), 0},
};

#define N (sizeof(ramp) / sizeof(ramp[0]))

static void
sorted_ramp(struct curve_point *p)
{
	memcpy(p, ramp, sizeof(ramp));
	curve_sort(p, N);
}

START_TEST(points_are_ordered_by_load_and_the_maximum_comes_last)
{
	struct curve_point p[N];

	sorted_ramp(p);
	ck_assert_uint_eq(p[0].point, 2);
	ck_assert_uint_eq(p[5].point, 7);
	ck_assert_uint_eq(p[6].point, 1);
}
END_TEST

START_TEST(the_peak_is_the_lowest_load_with_the_most_ios)
{
	struct curve_point p[N];
	struct curve_facts f;

	sorted_ramp(p);
	ck_assert(curve_find(p, N, &f));
	ck_assert_uint_eq(p[f.first].point, 2);
	ck_assert_uint_eq(p[f.peak].point, 6);
}
END_TEST

START_TEST(the_best_operating_point_is_the_lowest_load_at_95_percent_of_the_peak)
{
	struct curve_point p[N];
	struct curve_facts f;

	sorted_ramp(p);
	ck_assert(curve_find(p, N, &f));
	ck_assert_ptr_null(f.no_best);
	ck_assert_uint_eq(p[f.best].point, 5);
}
END_TEST

START_TEST(a_saturated_load_is_no_operating_point)
{
	struct curve_point p[N];
	struct curve_facts f;

	sorted_ramp(p);
	p[3].flags = SANITY_SATURATED;
	ck_assert(curve_find(p, N, &f));
	ck_assert_uint_eq(p[f.best].point, 6);
	p[4].flags = p[5].flags = SANITY_SATURATED;
	ck_assert(curve_find(p, N, &f));
	ck_assert_str_eq(f.no_best,
		"every offered load that reached 95 % of the peak was saturated");
}
END_TEST

START_TEST(the_uncontrolled_maximum_counts_for_the_peak)
{
	struct curve_point p[N];
	struct curve_facts f;

	sorted_ramp(p);
	p[6].iops = 2000;
	ck_assert(curve_find(p, N, &f));
	ck_assert_uint_eq(p[f.peak].point, 1);
	ck_assert_str_eq(f.no_best, "no offered load reached 95 % of the peak");
}
END_TEST

START_TEST(a_single_point_is_first_and_peak)
{
	struct curve_facts f;

	ck_assert(curve_find(ramp, 1, &f));
	ck_assert_uint_eq(f.first + f.peak, 0);
	ck_assert_ptr_nonnull(f.no_best);
	ck_assert(curve_find(ramp + 1, 1, &f));
	ck_assert_ptr_null(f.no_best);
}
END_TEST

START_TEST(a_curve_without_ios_has_no_facts)
{
	struct curve_point p = ramp[0];
	struct curve_facts f;

	ck_assert(!curve_find(ramp, 0, &f));
	p.iops = 0;
	ck_assert(!curve_find(&p, 1, &f));
	p.iops = (double)NAN;
	ck_assert(!curve_find(&p, 1, &f));
}
END_TEST

START_TEST(figures_read_service_at_the_peak_and_response_at_half_load)
{
	struct curve_point p[N];

	sorted_ramp(p);
	ck_assert_double_eq(figure_of(FIGURE_PEAK_IOPS, p, N), 1000);
	ck_assert_double_eq(figure_of(FIGURE_PEAK_BYTES, p, N), 10000);
	ck_assert_double_eq(figure_of(FIGURE_MEAN_PEAK, p, N), 800);
	ck_assert_double_eq(figure_of(FIGURE_P99_PEAK, p, N), 1600);
	ck_assert_double_eq(figure_of(FIGURE_P99_9_PEAK, p, N), 2400);
	ck_assert_double_eq(figure_of(FIGURE_MEAN_50, p, N), 85);
	ck_assert_double_eq(figure_of(FIGURE_P99_50, p, N), 170);
	ck_assert_double_eq(figure_point(FIGURE_P99_PEAK, p, N)->iops, 1000);
	ck_assert_double_eq(figure_point(FIGURE_P99_50, p, N)->load_percent, 50);
}
END_TEST

START_TEST(a_figure_of_a_point_that_was_not_measured_is_not_known)
{
	ck_assert(isnan(figure_of(FIGURE_MEAN_50, ramp, 2)));
	ck_assert(isnan(figure_of(FIGURE_PEAK_IOPS, ramp, 0)));
	ck_assert_ptr_null(figure_point(FIGURE_MEAN_50, ramp, 2));
	ck_assert_ptr_null(figure_point(FIGURE_PEAK_IOPS, ramp, 0));
}
END_TEST

START_TEST(figures_are_found_by_name)
{
	enum figure f;

	for (int i = 0; i < FIGURES; i++) {
		ck_assert(figure_from_name(figure_name((enum figure)i), &f));
		ck_assert_int_eq((int)f, i);
	}
	ck_assert(!figure_from_name("iops", &f));
	ck_assert_str_eq(figure_name(FIGURE_P99_9_PEAK), "lat_p99.9_ns@peak");
	ck_assert_str_eq(figure_title(FIGURE_P99_PEAK), "service p99 at peak");
	ck_assert_str_eq(figure_title(FIGURE_P99_50), "response p99 at 50 %");
	ck_assert_str_eq(figure_unit(FIGURE_P99_9_PEAK), "ns");
	ck_assert_str_eq(figure_better(FIGURE_P99_9_PEAK), "lower");
	ck_assert_str_eq(figure_better(FIGURE_PEAK_IOPS), "higher");
}
END_TEST

int
main(void)
{
	TCase *tc = tcase_create("curve");

	tcase_add_test(tc, points_are_ordered_by_load_and_the_maximum_comes_last);
	tcase_add_test(tc, the_peak_is_the_lowest_load_with_the_most_ios);
	tcase_add_test(tc,
		the_best_operating_point_is_the_lowest_load_at_95_percent_of_the_peak);
	tcase_add_test(tc, a_saturated_load_is_no_operating_point);
	tcase_add_test(tc, the_uncontrolled_maximum_counts_for_the_peak);
	tcase_add_test(tc, a_single_point_is_first_and_peak);
	tcase_add_test(tc, a_curve_without_ios_has_no_facts);
	tcase_add_test(tc, figures_read_service_at_the_peak_and_response_at_half_load);
	tcase_add_test(tc, a_figure_of_a_point_that_was_not_measured_is_not_known);
	tcase_add_test(tc, figures_are_found_by_name);
	return unit_run("curve", tc);
}
