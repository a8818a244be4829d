#include "analysis/steady.h"

#include <math.h>

#include "tests/unit/unit.h"

/* SNIA PTS 2.0.2: 5 rounds, 20 % and 10 %. */
static const struct steady_rule pts = {5, 20, 10};

static const struct {
	double y[5];
	double mean, range, slope;
	bool steady;
} windows[] = {
	{{100, 102, 98, 101, 99}, 100, 4, -0.3, true},
	{{100, 105, 110, 115, 120}, 110, 20, 5, false}, /* the line rises by 20 > 11 */
	{{90, 110, 90, 110, 90}, 98, 20, 0, false},	/* 20 > 19.6 */
	{{0, 0, 0, 0, 0}, 0, 0, 0, false},
	{{-100, -100, -100, -100, -100}, -100, 0, 0, false},
	/* at the limits, both */
	{{100, 90, 100, 110, 100}, 100, 20, 2, true},
	{{95, 97.5, 100, 102.5, 105}, 100, 10, 2.5, true},
	{{95, 97.5, 100, 102.5, 105.5}, 100.1, 10.5, 2.6, false},
	{{105, 102.5, 100, 97.5, 95}, 100, 10, -2.5, true},
	{{89, 100, 111, 100, 100}, 100, 22, 2.2, false},
	{{7, 7, 7, 7, 7}, 7, 0, 0, true},
};

START_TEST(a_window_is_steady_by_range_and_slope)
{
	struct steady_fit f;

	steady_fit(&pts, windows[_i].y, 5, 1, &f);
	ck_assert_double_eq_tol(f.mean, windows[_i].mean, 1e-9);
	ck_assert_double_eq_tol(f.range, windows[_i].range, 1e-9);
	ck_assert_double_eq_tol(f.slope, windows[_i].slope, 1e-9);
	ck_assert_double_eq_tol(f.rise, 4 * fabs(windows[_i].slope), 1e-9);
	ck_assert_double_eq_tol(f.range_allowed, 0.2 * windows[_i].mean, 1e-9);
	ck_assert_double_eq_tol(f.rise_allowed, 0.1 * windows[_i].mean, 1e-9);
	ck_assert_int_eq(f.steady, windows[_i].steady);
	if (windows[_i].mean > 0) {
		ck_assert_double_eq_tol(f.range_ratio, f.range / f.mean, 1e-12);
		ck_assert_double_eq_tol(f.slope_ratio, f.rise / f.mean, 1e-12);
	} else {
		ck_assert(isnan(f.range_ratio) && isnan(f.slope_ratio));
	}
}
END_TEST

START_TEST(the_line_is_over_the_numbers_of_the_rounds)
{
	static const double y[] = {106, 107, 108, 109, 110};
	static const double v[] = {1, 2, 1, 2, 1};
	struct steady_fit f;

	/* rounds 6..10: y = 100 + round */
	steady_fit(&pts, y, 5, 6, &f);
	ck_assert_double_eq_tol(f.slope, 1, 1e-12);
	ck_assert_double_eq_tol(f.intercept, 100, 1e-9);
	ck_assert_double_eq_tol(f.correlation, 1, 1e-12);
	steady_fit(&pts, v, 5, 1, &f);
	ck_assert_double_eq_tol(f.correlation, 0, 1e-12);
	steady_fit(&pts, windows[10].y, 5, 1, &f);
	ck_assert(isnan(f.correlation));
}
END_TEST

START_TEST(what_is_no_number_is_never_steady)
{
	double y[] = {100, 100, 100, 100, 100};
	struct steady_fit f;

	for (size_t i = 0; i < 5; i++) {
		y[i] = (double)NAN;
		steady_fit(&pts, y, 5, 1, &f);
		ck_assert(!f.steady && isnan(f.range));
		y[i] = (double)INFINITY;
		steady_fit(&pts, y, 5, 1, &f);
		ck_assert(!f.steady);
		y[i] = 100;
	}
}
END_TEST

/* Adds rounds of one variable from *round on. */
static void
add(struct steady *s, uint32_t *round, const double *values, size_t n)
{
	for (size_t i = 0; i < n; i++)
		steady_add(s, (*round)++, &values[i]);
}

START_TEST(the_last_rounds_are_the_window)
{
	static const double rising[] = {10, 50, 80, 100};
	static const double flat[] = {102, 98, 101, 99};
	struct steady_fit f;
	struct steady s;
	uint32_t round = 1;

	steady_init(&s, &pts, 1);
	ck_assert_int_eq(steady_judge(&s, false, &f), STEADY_NOT_YET);
	add(&s, &round, rising, 4);
	ck_assert_int_eq(steady_judge(&s, false, &f), STEADY_NOT_YET);
	ck_assert(isnan(f.mean) && isnan(f.range_ratio));
	add(&s, &round, flat, 3);
	ck_assert_int_eq(steady_judge(&s, false, &f), STEADY_NOT_YET);
	ck_assert_double_eq_tol(f.mean, (80 + 100 + 102 + 98 + 101) / 5.0, 1e-9);
	add(&s, &round, flat + 3, 1);
	/* rounds 4 to 8: 100, 102, 98, 101, 99 */
	ck_assert_int_eq(steady_judge(&s, false, &f), STEADY_REACHED);
	ck_assert_double_eq_tol(f.mean, 100, 1e-9);
	ck_assert_double_eq_tol(f.intercept, 100 + 0.3 * 6, 1e-9);
	ck_assert_uint_eq(s.last, 8);
}
END_TEST

START_TEST(a_void_round_restarts_the_window)
{
	static const double flat[] = {100, 100, 100, 100, 100};
	struct steady_fit f;
	struct steady s;
	uint32_t round = 1;

	steady_init(&s, &pts, 1);
	add(&s, &round, flat, 4);
	steady_void(&s);
	round++;
	add(&s, &round, flat, 4);
	ck_assert_int_eq(steady_judge(&s, false, &f), STEADY_NOT_YET);
	add(&s, &round, flat, 1);
	ck_assert_int_eq(steady_judge(&s, false, &f), STEADY_REACHED);
	/* a hole in the numbers is a round that was not told */
	steady_init(&s, &pts, 1);
	round = 1;
	add(&s, &round, flat, 4);
	round++;
	add(&s, &round, flat, 1);
	ck_assert_int_eq(steady_judge(&s, false, &f), STEADY_NOT_YET);
	ck_assert_uint_eq(s.n, 1);
}
END_TEST

START_TEST(all_tracked_variables_must_be_steady)
{
	static const double both[5][2] = {
		{100, 100}, {100, 105}, {100, 110}, {100, 115}, {100, 120}};
	struct steady_fit f[2];
	struct steady s;

	steady_init(&s, &pts, 2);
	for (uint32_t i = 0; i < 5; i++)
		steady_add(&s, i + 1, both[i]);
	ck_assert_int_eq(steady_judge(&s, false, f), STEADY_NOT_YET);
	ck_assert(f[0].steady && !f[1].steady);
	for (uint32_t i = 0; i < 5; i++)
		steady_add(&s, i + 6, both[4]);
	ck_assert_int_eq(steady_judge(&s, false, f), STEADY_REACHED);
}
END_TEST

START_TEST(not_reached_is_a_verdict_with_its_figures)
{
	struct steady_fit f;
	struct steady s;
	uint32_t round = 1;

	steady_init(&s, &pts, 1);
	add(&s, &round, windows[1].y, 5);
	ck_assert_int_eq(steady_judge(&s, true, &f), STEADY_NOT_REACHED);
	ck_assert_double_eq_tol(f.slope_ratio, 20.0 / 110, 1e-12);
	ck_assert_str_eq(steady_verdict_name(STEADY_NOT_REACHED), "not_reached");
	ck_assert_str_eq(steady_verdict_name(STEADY_NOT_YET), "not_yet");
	ck_assert_str_eq(steady_verdict_name(STEADY_REACHED), "steady");
	/* a window that is steady when the test is over is steady */
	add(&s, &round, windows[0].y, 5);
	ck_assert_int_eq(steady_judge(&s, true, &f), STEADY_REACHED);
}
END_TEST

START_TEST(a_window_can_have_another_length)
{
	static const struct steady_rule three = {3, 20, 10};
	static const double y[] = {95, 100, 105};
	struct steady_fit f;

	/* slope 5 over 2 steps: 10 <= 10 */
	steady_fit(&three, y, 3, 1, &f);
	ck_assert(f.steady);
	ck_assert_double_eq_tol(f.rise, 10, 1e-12);
}
END_TEST

int
main(void)
{
	TCase *tc = tcase_create("steady");

	tcase_add_loop_test(tc, a_window_is_steady_by_range_and_slope, 0,
		(int)(sizeof(windows) / sizeof(windows[0])));
	tcase_add_test(tc, the_line_is_over_the_numbers_of_the_rounds);
	tcase_add_test(tc, what_is_no_number_is_never_steady);
	tcase_add_test(tc, the_last_rounds_are_the_window);
	tcase_add_test(tc, a_void_round_restarts_the_window);
	tcase_add_test(tc, all_tracked_variables_must_be_steady);
	tcase_add_test(tc, not_reached_is_a_verdict_with_its_figures);
	tcase_add_test(tc, a_window_can_have_another_length);
	return unit_run("steady", tc);
}
