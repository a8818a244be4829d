#include "analysis/shape.h"

#include <math.h>
#include <stdint.h>
#include <stdio.h>

#include "tests/unit/unit.h"

#define SECONDS_MAX 400
#define IN_FLIGHT 16

static struct shape_second s[SECONDS_MAX];
static size_t n;
static uint64_t seed;

/* Even in [-1, 1): a multiplier and increment of D. Knuth (MMIX). */
static double
noise(void)
{
	seed = seed * UINT64_C(6364136223846793005) + UINT64_C(1442695040888963407);
	return (double)(seed >> 11) / 0x1p52 - 1;
}

/* About normal, of standard deviation 1: a sum of 12 even numbers (Irwin and Hall). */
static double
normal(void)
{
	double sum = 0;

	for (int i = 0; i < 12; i++)
		sum += noise() / 2;
	return sum;
}

/* A second of a closed loop with that rate. */
static void
add(double iops)
{
	ck_assert_uint_lt(n, SECONDS_MAX);
	s[n++] = (struct shape_second){.seconds = 1,
		.ops = iops,
		.bytes = iops * 4096,
		.mean_s = iops > 0 ? IN_FLIGHT / iops : 0,
		.max_s = iops > 0 ? 4 * IN_FLIGHT / iops : 0,
		.held = 1,
		.waiting = true};
}

static void
setup(void)
{
	n = 0;
	seed = 20261201;
}

static struct shape
look(bool open_loop)
{
	struct shape r;

	shape_find(s, n, open_loop, IN_FLIGHT, &r);
	return r;
}

static bool
is_plain(const struct shape *r)
{
	return !r->cliff && r->spells == 0 && r->stalls == 0;
}

START_TEST(a_fall_to_a_lower_level_is_a_cliff)
{
	struct shape r;

	for (int i = 0; i < 60; i++)
		add((i < 40 ? 10000 : 3000) * (1 + 0.05 * normal()));
	r = look(false);
	ck_assert(r.cliff && r.rate);
	ck_assert_double_eq(r.cliff_at_s, 40);
	ck_assert_double_eq_tol(r.cliff_from, 10000, 200);
	ck_assert_double_eq_tol(r.cliff_to, 3000, 100);
	ck_assert_double_eq_tol(r.cliff_after_bytes, 40 * 10000 * 4096.0, 1e8);
	ck_assert_uint_eq(r.spells + r.stalls, 0);
}
END_TEST

START_TEST(a_cliff_is_seen_near_either_end)
{
	static const int at[] = {3, 57};

	for (size_t k = 0; k < 2; k++) {
		n = 0;
		for (int i = 0; i < 60; i++)
			add((i < at[k] ? 10000 : 5000) * (1 + 0.02 * normal()));
		ck_assert(look(false).cliff);
	}
}
END_TEST

/* The load hides the fall from the rate. */
START_TEST(a_cliff_under_an_offered_load_shows_in_the_service_time)
{
	struct shape r;

	for (int i = 0; i < 30; i++) {
		add(1000);
		s[n - 1].mean_s = (i < 12 ? 100e-6 : 300e-6) * (1 + 0.05 * normal());
	}
	r = look(true);
	ck_assert(r.cliff && !r.rate);
	ck_assert_double_eq(r.cliff_at_s, 12);
	ck_assert_double_eq_tol(1 / r.cliff_to, 300e-6, 10e-6);
	ck_assert(!look(false).cliff);
}
END_TEST

START_TEST(a_steady_decline_a_rise_and_a_small_fall_are_no_cliff)
{
	struct shape r;

	for (int i = 0; i < 60; i++)
		add(10000 - 100 * i + 50 * noise());
	r = look(false);
	ck_assert(is_plain(&r));
	n = 0;
	for (int i = 0; i < 60; i++)
		add((i < 30 ? 3000 : 10000) + 50 * noise());
	ck_assert(!look(false).cliff);
	n = 0;
	for (int i = 0; i < 60; i++)
		add((i < 30 ? 10000 : 8500) + 50 * noise());
	ck_assert(!look(false).cliff);
}
END_TEST

START_TEST(a_dip_that_ends_is_no_cliff)
{
	for (int i = 0; i < 40; i++)
		add((i >= 20 && i < 26 ? 4000 : 10000) * (1 + 0.02 * normal()));
	ck_assert(!look(false).cliff);
	ck_assert_uint_eq(look(false).spells, 0);
}
END_TEST

START_TEST(slow_spells_that_come_again_are_told_with_both_levels)
{
	struct shape r;

	for (int i = 0; i < 60; i++)
		add((i % 10 >= 7 ? 4000 : 10000) * (1 + 0.05 * normal()));
	r = look(false);
	ck_assert(!r.cliff);
	ck_assert_uint_eq(r.spells, 6);
	ck_assert_double_eq(r.spells_s, 18);
	ck_assert_double_eq_tol(r.fast, 10000, 200);
	ck_assert_double_eq_tol(r.slow, 4000, 100);
	ck_assert_uint_eq(r.stalls, 0);
}
END_TEST

/* Spells of 2.5 s do not begin with a second. */
START_TEST(spells_need_not_fit_the_seconds)
{
	struct shape r;

	for (int i = 0; i < 60; i++) {
		int at = i % 10;

		add((at < 2 ? 4000 : at == 2 ? 7000 : 10000) * (1 + 0.03 * normal()));
	}
	r = look(false);
	ck_assert_uint_ge(r.spells, 5);
	ck_assert(!r.cliff);
}
END_TEST

START_TEST(everything_that_waits_for_one_pause_is_a_stall)
{
	struct shape r;

	for (int i = 0; i < 20; i++)
		add(10000 * (1 + 0.05 * normal()));
	/* 600 ms in the ninth second */
	s[8].ops = 4000;
	s[8].max_s = 0.6;
	s[8].held = IN_FLIGHT;
	r = look(false);
	ck_assert_uint_eq(r.stalls, 1);
	ck_assert_double_eq(r.stall_s, 0.6);
	ck_assert(!r.cliff && r.spells == 0);
	/* one I/O that took so long while the others went on is none */
	s[8].held = 1;
	ck_assert_uint_eq(look(false).stalls, 0);
}
END_TEST

START_TEST(a_stall_over_seconds_is_neither_a_cliff_nor_spells)
{
	struct shape r;

	for (int i = 0; i < 20; i++)
		add(10000 * (1 + 0.05 * normal()));
	for (int i = 5; i < 8; i++)
		s[i] = (struct shape_second){.seconds = 1, .waiting = true};
	s[8].max_s = 3.4;
	s[8].held = IN_FLIGHT;
	r = look(false);
	ck_assert_uint_eq(r.stalls, 1);
	ck_assert_double_eq(r.stall_s, 3.4);
	ck_assert_double_eq_tol(r.stall_at_s, 4.6, 0.01);
	ck_assert(!r.cliff && r.spells == 0);
}
END_TEST

START_TEST(a_stall_may_last_to_the_end)
{
	struct shape r;

	for (int i = 0; i < 20; i++)
		add(10000);
	for (int i = 16; i < 20; i++)
		s[i] = (struct shape_second){.seconds = 1, .waiting = true};
	r = look(false);
	ck_assert_uint_eq(r.stalls, 1);
	ck_assert_double_eq(r.stall_s, 4);
	ck_assert_double_eq(r.stall_at_s, 16);
	ck_assert(!r.cliff);
	/* where nothing was asked for, nothing is missing */
	for (int i = 16; i < 20; i++)
		s[i].waiting = false;
	r = look(true);
	ck_assert(is_plain(&r));
}
END_TEST

/* With 512 in flight on a slow drive every I/O takes half a second. */
START_TEST(long_queues_are_no_stall)
{
	struct shape r;

	for (int i = 0; i < 30; i++) {
		add(1000 * (1 + 0.1 * normal()));
		s[n - 1].max_s = 0.5 + 0.2 * noise();
		s[n - 1].held = 900;
	}
	r = look(false);
	ck_assert(is_plain(&r));
}
END_TEST

START_TEST(few_seconds_have_no_shape)
{
	struct shape r;

	r = look(false);
	ck_assert(is_plain(&r));
	add(10000);
	r = look(false);
	ck_assert(is_plain(&r));
	ck_assert_uint_eq(r.seconds, 1);
	for (int i = 0; i < 6; i++)
		add(i < 3 ? 10000 : 100);
	r = look(false);
	ck_assert(is_plain(&r));
}
END_TEST

START_TEST(a_short_last_second_and_a_point_of_zeros_are_judged_fairly)
{
	struct shape r;

	for (int i = 0; i < 20; i++)
		add(10000);
	add(10);
	s[n - 1].seconds = 0.01;
	r = look(false);
	ck_assert(is_plain(&r));
	n = 0;
	for (int i = 0; i < 20; i++)
		s[n++] = (struct shape_second){.seconds = 1, .waiting = true};
	r = look(false);
	ck_assert(is_plain(&r)); /* a point without one I/O is told otherwise */
}
END_TEST

/* Normal and even noise, some of it wide, over points of several lengths. */
START_TEST(noise_has_no_shape)
{
	static const size_t lengths[] = {8, 12, 16, 30, 60, 300};
	unsigned wrong = 0, looks = 0;

	for (size_t k = 0; k < sizeof(lengths) / sizeof(lengths[0]); k++) {
		for (int round = 0; round < 500; round++) {
			double cv = 0.02 * (1 + round % 10);
			struct shape r;

			n = 0;
			while (n < lengths[k])
				add(10000 *
					fmax(0.1,
						1 + cv * (round % 2 == 0 ? normal()
									 : 1.7 * noise())));
			r = look(false);
			looks++;
			wrong += !is_plain(&r);
		}
	}
	printf("noise: %u of %u points have a shape (seed 20261201)\n", wrong, looks);
	ck_assert_uint_le(wrong, looks / 500);
}
END_TEST

int
main(void)
{
	TCase *tc = tcase_create("shape");

	tcase_add_checked_fixture(tc, setup, NULL);
	tcase_add_test(tc, a_fall_to_a_lower_level_is_a_cliff);
	tcase_add_test(tc, a_cliff_is_seen_near_either_end);
	tcase_add_test(tc, a_cliff_under_an_offered_load_shows_in_the_service_time);
	tcase_add_test(tc, a_steady_decline_a_rise_and_a_small_fall_are_no_cliff);
	tcase_add_test(tc, a_dip_that_ends_is_no_cliff);
	tcase_add_test(tc, slow_spells_that_come_again_are_told_with_both_levels);
	tcase_add_test(tc, spells_need_not_fit_the_seconds);
	tcase_add_test(tc, everything_that_waits_for_one_pause_is_a_stall);
	tcase_add_test(tc, a_stall_over_seconds_is_neither_a_cliff_nor_spells);
	tcase_add_test(tc, a_stall_may_last_to_the_end);
	tcase_add_test(tc, long_queues_are_no_stall);
	tcase_add_test(tc, few_seconds_have_no_shape);
	tcase_add_test(tc, a_short_last_second_and_a_point_of_zeros_are_judged_fairly);
	tcase_add_test(tc, noise_has_no_shape);
	return unit_run("shape", tc);
}
