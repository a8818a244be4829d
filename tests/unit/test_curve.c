#include "analysis/curve.h"

#include <math.h>

#include "analysis/figure.h"
#include "analysis/knee.h"
#include "analysis/line.h"
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

START_TEST(a_load_that_is_catching_up_is_neither_peak_nor_operating_point)
{
	struct curve_point p[N];
	struct curve_facts f;

	sorted_ramp(p);
	/* 80 % more than was offered: a backlog */
	p[2].iops = 1620;
	p[2].flags = SANITY_CATCHING_UP;
	ck_assert(curve_find(p, N, &f));
	ck_assert_uint_eq(p[f.peak].point, 6);
	ck_assert_uint_eq(p[f.best].point, 5);
	ck_assert_ptr_null(f.no_best);
	ck_assert_double_eq(f.fall_percent, 0);
	ck_assert_ptr_eq(figure_point(FIGURE_PEAK_IOPS, p, N), &p[f.peak]);
	p[3].flags = SANITY_SATURATED;
	p[4].flags = p[5].flags = SANITY_CATCHING_UP;
	ck_assert(curve_find(p, N, &f));
	ck_assert_uint_eq(p[f.peak].point, 1);
	ck_assert_str_eq(f.no_best,
		"every offered load that reached 95 % of the peak was saturated or "
		"catching up");
	/* its latency is no part of the knee */
	ck_assert_str_eq(f.no_knee,
		"fewer than 3 loads that are neither saturated nor catching up");
}
END_TEST

START_TEST(a_curve_of_loads_that_catch_up_has_no_peak)
{
	struct curve_point p = ramp[5];
	struct curve_facts f;
	size_t peak;

	p.flags = SANITY_CATCHING_UP;
	ck_assert(!curve_peak(&p, 1, &peak));
	ck_assert(!curve_find(&p, 1, &f));
	ck_assert_str_eq(f.no_best,
		"every load was still catching up with a backlog of its warm-up");
	ck_assert_ptr_null(figure_point(FIGURE_PEAK_IOPS, &p, 1));
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
	ck_assert_str_eq(f.no_best, "no point has completed an I/O");
	ck_assert_str_eq(f.no_fall, f.no_best);
	ck_assert_str_eq(f.no_knee, f.no_best);
	p.iops = (double)NAN;
	ck_assert(!curve_find(&p, 1, &f));
}
END_TEST

START_TEST(the_fall_is_to_the_least_above_the_peak)
{
	struct curve_point p[N];
	struct curve_facts f;

	sorted_ramp(p);
	ck_assert(curve_find(p, N, &f));
	ck_assert_ptr_null(f.no_fall);
	ck_assert_uint_eq(p[f.fall].point, 7);
	ck_assert_double_eq(f.fall_percent, 0);
	p[5].iops = 750;
	ck_assert(curve_find(p, N, &f));
	ck_assert_uint_eq(p[f.fall].point, 7);
	ck_assert_double_eq(f.fall_percent, 25);
	/* the peak at 90 %: 100 % has less than 110 % */
	p[2].iops = 2000;
	p[4].iops = 500;
	ck_assert(curve_find(p, N, &f));
	ck_assert_uint_eq(p[f.fall].point, 6);
	ck_assert_double_eq(f.fall_percent, 75);
	/* equal ones: the lowest load; one that is not known is none */
	p[3].iops = 500;
	p[5].iops = (double)NAN;
	ck_assert(curve_find(p, N, &f));
	ck_assert_uint_eq(p[f.fall].point, 5);
}
END_TEST

START_TEST(there_is_no_fall_to_a_load_that_is_catching_up)
{
	struct curve_point p[N];
	struct curve_facts f;

	sorted_ramp(p);
	p[2].iops = 2000;
	p[4].iops = 500;
	p[4].flags = SANITY_CATCHING_UP;
	ck_assert(curve_find(p, N, &f));
	ck_assert_ptr_null(f.no_fall);
	ck_assert_uint_ne(f.fall, 4);
	for (size_t i = 3; i < N; i++)
		p[i].flags = SANITY_CATCHING_UP;
	ck_assert(curve_find(p, N, &f));
	ck_assert_str_eq(f.no_fall, "every load above the peak was catching up");
}
END_TEST

START_TEST(the_maximum_counts_as_full_load_for_the_fall)
{
	struct curve_point p[N];
	struct curve_facts f;

	sorted_ramp(p);
	p[6].iops = 2000;
	ck_assert(curve_find(p, N, &f));
	ck_assert_uint_eq(p[f.fall].point, 7);
	ck_assert_double_eq(f.fall_percent, 50);
	/* without a load above 100 % nothing lies beyond it */
	p[5] = p[6];
	ck_assert(curve_find(p, N - 1, &f));
	ck_assert_str_eq(f.no_fall, "no load above the peak was measured");
	ck_assert(curve_find(ramp + 5, 1, &f));
	ck_assert_str_eq(f.no_fall, "no load above the peak was measured");
	/* without the maximum the peak is one of the loads */
	ck_assert(curve_find(ramp + 1, N - 1, &f));
	ck_assert_uint_eq(ramp[1 + f.fall].point, 7);
}
END_TEST

/* The figure of Kneedle's paper, -1/x + 5 with its knee at 2/9, turned around to rise
 * ever more: the knee is at 7/9. */
START_TEST(the_knee_of_kneedles_own_example_is_found)
{
	static const double paper[] = {
		-5, .263, 1.897, 2.692, 3.163, 3.475, 3.696, 3.861, 3.989, 4.091};
	double x[10];
	double y[10];
	size_t knee;

	for (int i = 0; i < 10; i++) {
		x[i] = i / 9.0;
		y[i] = 5.091 - paper[9 - i];
	}
	ck_assert(knee_find(x, y, 10, &knee));
	ck_assert_uint_eq(knee, 7);
}
END_TEST

START_TEST(a_line_and_noise_have_no_knee)
{
	static const double x[] = {10, 20, 30, 40, 50};
	static const double line[] = {100, 200, 300, 400, 500};
	static const double noise[] = {100, 101, 100, 104, 102};
	static const double concave[] = {100, 400, 450, 470, 480};
	static const double turn[] = {100, 100, 100, 100, 500};
	/* it stands out by just the distance between points, 1/4: not more */
	static const double faint[] = {100, 200, 200, 350, 500};
	size_t knee;

	ck_assert(!knee_find(x, line, 5, &knee));
	ck_assert(!knee_find(x, noise, 5, &knee));
	ck_assert(!knee_find(x, concave, 5, &knee));
	ck_assert(!knee_find(x, faint, 5, &knee));
	ck_assert(!knee_find(x, turn, 2, &knee));
	ck_assert(!knee_find(x, turn, 0, &knee));
	ck_assert(knee_find(x, turn, 5, &knee));
	ck_assert_uint_eq(knee, 3);
}
END_TEST

START_TEST(of_two_knees_the_one_that_stands_out_most_counts)
{
	static const double x[] = {0, 10, 20, 30, 40, 50, 60, 70, 80, 90, 100};
	/* d: .1 .2 .3, -.1 after the first step, then .5 before the last */
	static const double y[] = {
		100, 100, 100, 100, 600, 600, 600, 600, 600, 600, 1100};
	size_t knee;

	ck_assert(knee_find(x, y, 11, &knee));
	ck_assert_uint_eq(knee, 9);
}
END_TEST

START_TEST(the_knee_of_a_curve_leaves_saturated_loads_out)
{
	struct curve_point p[N];
	struct curve_facts f;

	sorted_ramp(p);
	ck_assert(curve_find(p, N, &f));
	ck_assert_ptr_null(f.no_knee);
	ck_assert_uint_eq(p[f.knee].point, 5);
	p[4].flags = p[5].flags = SANITY_SATURATED;
	ck_assert(curve_find(p, N, &f));
	ck_assert_ptr_null(f.no_knee);
	ck_assert_uint_eq(p[f.knee].point, 3);
	p[3].flags = SANITY_SATURATED;
	p[2].response.mean = 101;
	ck_assert(curve_find(p, N, &f));
	ck_assert_str_eq(
		f.no_knee, "the mean response does not double before saturation");
	p[1].response.mean = (double)NAN;
	ck_assert(curve_find(p, N, &f));
	ck_assert_str_eq(f.no_knee,
		"fewer than 3 loads that are neither saturated nor catching up");
}
END_TEST

static struct line_answer
under(const struct curve_point *p, size_t n, enum line_latency latency, double ns)
{
	struct line_answer a;

	line_find(p, n, (struct line){latency, ns}, &a);
	return a;
}

START_TEST(a_line_between_two_loads_is_interpolated)
{
	struct curve_point p[N];
	struct line_answer a;

	sorted_ramp(p);
	/* response means 51 85 400 700 9000 99000 at 10 50 90 95 100 110 % */
	a = under(p, N, LINE_MEAN, 550);
	ck_assert_int_eq((int)a.state, LINE_FOUND);
	ck_assert(a.interpolated && !a.lower_over);
	ck_assert_double_eq(a.load_percent, 92.5);
	ck_assert_double_eq(a.offered_iops, 925);
	ck_assert_double_eq(a.iops, 951.5);
	ck_assert_str_eq(a.why, "");
	/* p99 is twice that, p99.9 three times */
	a = under(p, N, LINE_P99, 1100);
	ck_assert_double_eq(a.load_percent, 92.5);
	a = under(p, N, LINE_P99_9, 1650);
	ck_assert_double_eq(a.load_percent, 92.5);
	/* on a point: nothing to interpolate */
	a = under(p, N, LINE_MEAN, 700);
	ck_assert_double_eq(a.load_percent, 95);
	ck_assert(!a.interpolated);
}
END_TEST

START_TEST(all_and_none_are_answers_without_numbers)
{
	struct curve_point p[N];
	struct line_answer a;

	sorted_ramp(p);
	a = under(p, N, LINE_MEAN, 1e9);
	ck_assert_int_eq((int)a.state, LINE_ALL);
	ck_assert(isnan(a.load_percent) && isnan(a.iops) && isnan(a.offered_iops));
	a = under(p, N, LINE_MEAN, 50);
	ck_assert_int_eq((int)a.state, LINE_NONE);
	ck_assert(isnan(a.load_percent) && isnan(a.iops));
	/* one point */
	a = under(p, 1, LINE_MEAN, 51);
	ck_assert_int_eq((int)a.state, LINE_ALL);
	a = under(p, 1, LINE_MEAN, 50.9);
	ck_assert_int_eq((int)a.state, LINE_NONE);
	/* the maximum alone offers nothing */
	a = under(p + N - 1, 1, LINE_MEAN, 1e9);
	ck_assert_int_eq((int)a.state, LINE_UNKNOWN);
	ck_assert_str_eq(a.why, "no load was offered");
	a = under(p, 0, LINE_MEAN, 1e9);
	ck_assert_str_eq(a.why, "no load was offered");
	ck_assert_str_eq(line_state_name(a.state), "unknown");
	ck_assert_str_eq(line_latency_name(LINE_P99_9), "p99.9");
}
END_TEST

START_TEST(a_percentile_that_is_not_known_is_on_no_side)
{
	struct curve_point p[N];
	struct line_answer a;

	sorted_ramp(p);
	p[0].response.p99 = (double)NAN;
	a = under(p, N, LINE_P99, 1100);
	ck_assert_double_eq(a.load_percent, 92.5);
	/* not all are known to be under it */
	a = under(p, N, LINE_P99, 1e9);
	ck_assert_int_eq((int)a.state, LINE_FOUND);
	ck_assert_double_eq(a.load_percent, 110);
	ck_assert(!a.interpolated);
	ck_assert_str_eq(a.why, "it is the highest load");
	a = under(p, N, LINE_P99, 10);
	ck_assert_int_eq((int)a.state, LINE_UNKNOWN);
	ck_assert_str_eq(a.why,
		"no load is known to lie under it, and too few I/Os support the figure "
		"at some");
	/* nothing is interpolated across it */
	p[3].response.p99 = (double)NAN;
	a = under(p, N, LINE_P99, 1100);
	ck_assert_double_eq(a.load_percent, 90);
	ck_assert(!a.interpolated);
	ck_assert_str_eq(a.why, "too few I/Os support the figure at the next load");
	for (size_t i = 0; i < N; i++)
		p[i].response.p99 = (double)NAN;
	a = under(p, N, LINE_P99, 1100);
	ck_assert_int_eq((int)a.state, LINE_UNKNOWN);
	ck_assert_str_eq(a.why, "too few I/Os support the figure");
}
END_TEST

START_TEST(nothing_is_interpolated_to_a_saturated_load)
{
	struct curve_point p[N];
	struct line_answer a;

	sorted_ramp(p);
	p[3].flags = SANITY_SATURATED;
	a = under(p, N, LINE_MEAN, 550);
	ck_assert_double_eq(a.load_percent, 90);
	ck_assert_double_eq(a.iops, 948);
	ck_assert(!a.interpolated);
	ck_assert_str_eq(a.why, "the next load is saturated");
	/* a saturated load is never under a line, however short the point was */
	p[3].response.mean = 10;
	a = under(p, N, LINE_MEAN, 550);
	ck_assert_double_eq(a.load_percent, 90);
	for (size_t i = 0; i < N; i++)
		p[i].flags = SANITY_SATURATED;
	a = under(p, N, LINE_MEAN, 1e9);
	ck_assert_int_eq((int)a.state, LINE_NONE);
}
END_TEST

START_TEST(the_latency_of_a_load_that_is_catching_up_is_on_no_side_of_a_line)
{
	struct curve_point p[N];
	struct line_answer a;

	sorted_ramp(p);
	p[3].flags = SANITY_CATCHING_UP;
	a = under(p, N, LINE_MEAN, 550);
	ck_assert_double_eq(a.load_percent, 90);
	ck_assert(!a.interpolated);
	ck_assert_str_eq(a.why, "the next load was catching up with a backlog");
	/* not all are known to be under it */
	a = under(p, N, LINE_MEAN, 1e9);
	ck_assert_int_eq((int)a.state, LINE_FOUND);
	p[0].flags = SANITY_CATCHING_UP;
	a = under(p, N, LINE_MEAN, 10);
	ck_assert_int_eq((int)a.state, LINE_UNKNOWN);
	ck_assert_str_eq(a.why,
		"no load is known to lie under it, and some were catching up with a "
		"backlog");
	ck_assert_uint_gt(a.loads_over, 0);
}
END_TEST

START_TEST(a_curve_that_dips_is_answered_at_its_highest_load_under_the_line)
{
	struct curve_point p[N];
	struct line_answer a;

	sorted_ramp(p);
	/* idle states: slower at low load */
	p[0].response.mean = 600;
	a = under(p, N, LINE_MEAN, 550);
	ck_assert_double_eq(a.load_percent, 92.5);
	ck_assert(a.interpolated && a.lower_over);
	/* under it again at the end */
	p[5].response.mean = 500;
	a = under(p, N, LINE_MEAN, 550);
	ck_assert_int_eq((int)a.state, LINE_FOUND);
	ck_assert_double_eq(a.load_percent, 110);
	ck_assert(!a.interpolated && a.lower_over);
	ck_assert_str_eq(a.why, "it is the highest load");
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

/* Rates as an attempt writes them, the drive keeping up with all but the last. */
static void
rates(struct curve_point p[4])
{
	static const double iops[] = {100, 5000, 20000, 21000};
	static const double offered[] = {100, 5000, 20000, 30000};
	static const double mean[] = {50, 60, 900, 99000};

	for (uint32_t i = 0; i < 4; i++)
		p[i] = (struct curve_point){.point = i + 1,
			.load_percent = (double)NAN,
			.offered_iops = offered[i],
			.iops = iops[i],
			.bytes_per_second = iops[i] * 4096,
			.service = LATENCY(mean[i]),
			.response = LATENCY(mean[i])};
	p[3].flags = SANITY_SATURATED;
	curve_sort(p, 4);
}

START_TEST(rates_have_no_peak_and_are_ordered_by_what_was_offered)
{
	struct curve_point p[4];
	struct line_answer a;
	struct curve_facts f;
	size_t peak;

	rates(p);
	ck_assert_uint_eq(p[0].point, 1);
	ck_assert_uint_eq(p[3].point, 4);
	ck_assert(!curve_peak(p, 4, &peak));
	ck_assert(!curve_find(p, 4, &f));
	ck_assert_ptr_null(f.no_first);
	ck_assert_uint_eq(f.first, 0);
	ck_assert_str_eq(
		f.no_peak, "rates were offered as they are, and no maximum was measured");
	ck_assert_str_eq(f.no_best, f.no_peak);
	ck_assert_str_eq(f.no_fall, f.no_peak);
	ck_assert_str_eq(f.no_knee, "no load stands out");
	line_find(p, 4, (struct line){LINE_MEAN, 480}, &a);
	ck_assert_int_eq((int)a.state, LINE_FOUND);
	ck_assert(a.interpolated);
	ck_assert(isnan(a.load_percent));
	ck_assert_double_eq(a.offered_iops, 12500);
	p[3].flags = 0;
	ck_assert(!curve_find(p, 4, &f));
	ck_assert_ptr_null(f.no_knee);
	ck_assert_uint_eq(p[f.knee].point, 3);
}
END_TEST

START_TEST(figures_of_rates_are_read_at_the_highest)
{
	struct curve_point p[4];

	rates(p);
	ck_assert_double_eq(figure_of(FIGURE_RATE_IOPS, p, 4), 21000);
	ck_assert_double_eq(figure_of(FIGURE_MEAN_RATE, p, 4), 99000);
	ck_assert_double_eq(figure_of(FIGURE_P99_RATE, p, 3), 1800);
	ck_assert(!figure_applies(FIGURE_PEAK_IOPS, p, 4));
	ck_assert(isnan(figure_of(FIGURE_PEAK_IOPS, p, 4)));
	ck_assert(isnan(figure_of(FIGURE_MEAN_50, p, 4)));
	ck_assert(!figure_applies(FIGURE_RATE_IOPS, ramp, N));
	ck_assert(isnan(figure_of(FIGURE_RATE_IOPS, ramp, N)));
	ck_assert(!figure_applies(FIGURE_RATE_IOPS, ramp, 0));
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
	tcase_add_test(
		tc, a_load_that_is_catching_up_is_neither_peak_nor_operating_point);
	tcase_add_test(tc, a_curve_of_loads_that_catch_up_has_no_peak);
	tcase_add_test(
		tc, the_latency_of_a_load_that_is_catching_up_is_on_no_side_of_a_line);
	tcase_add_test(tc, the_uncontrolled_maximum_counts_for_the_peak);
	tcase_add_test(tc, a_single_point_is_first_and_peak);
	tcase_add_test(tc, a_curve_without_ios_has_no_facts);
	tcase_add_test(tc, the_fall_is_to_the_least_above_the_peak);
	tcase_add_test(tc, there_is_no_fall_to_a_load_that_is_catching_up);
	tcase_add_test(tc, the_maximum_counts_as_full_load_for_the_fall);
	tcase_add_test(tc, the_knee_of_kneedles_own_example_is_found);
	tcase_add_test(tc, a_line_and_noise_have_no_knee);
	tcase_add_test(tc, of_two_knees_the_one_that_stands_out_most_counts);
	tcase_add_test(tc, the_knee_of_a_curve_leaves_saturated_loads_out);
	tcase_add_test(tc, a_line_between_two_loads_is_interpolated);
	tcase_add_test(tc, all_and_none_are_answers_without_numbers);
	tcase_add_test(tc, a_percentile_that_is_not_known_is_on_no_side);
	tcase_add_test(tc, nothing_is_interpolated_to_a_saturated_load);
	tcase_add_test(
		tc, a_curve_that_dips_is_answered_at_its_highest_load_under_the_line);
	tcase_add_test(tc, figures_read_service_at_the_peak_and_response_at_half_load);
	tcase_add_test(tc, rates_have_no_peak_and_are_ordered_by_what_was_offered);
	tcase_add_test(tc, figures_of_rates_are_read_at_the_highest);
	tcase_add_test(tc, a_figure_of_a_point_that_was_not_measured_is_not_known);
	tcase_add_test(tc, figures_are_found_by_name);
	return unit_run("curve", tc);
}
