#include "analysis/sanity.h"

#include <math.h>

#include "tests/unit/unit.h"

START_TEST(a_good_point_has_no_flags)
{
	struct sanity s = {.iops = 981,
		.offered_iops = 1000,
		.littles_n = 10,
		.in_flight_mean = 10.9};

	ck_assert_uint_eq(sanity_flags(&s), 0);
}
END_TEST

START_TEST(what_is_not_known_raises_no_flag)
{
	struct sanity s = {.iops = 10,
		.offered_iops = (double)NAN,
		.littles_n = (double)NAN,
		.in_flight_mean = (double)NAN};

	ck_assert_uint_eq(sanity_flags(&s), 0);
	s.in_flight_mean = 5;
	ck_assert_uint_eq(sanity_flags(&s), 0);
}
END_TEST

/* 1,000 offered for 10 s, 8 in flight at most. */
static struct sanity
offered(double iops, double backlog_max)
{
	return (struct sanity){.iops = iops,
		.offered_iops = 1000,
		.seconds = 10,
		.in_flight = 8,
		.backlog_max = backlog_max,
		.littles_n = (double)NAN,
		.in_flight_mean = (double)NAN};
}

START_TEST(a_load_that_was_not_done_is_saturated)
{
	struct sanity s = offered(981, 0);

	ck_assert_uint_eq(sanity_flags(&s), 0);
	s.iops = 979;
	ck_assert_uint_eq(sanity_flags(&s), SANITY_SATURATED);
	/* what is in flight at the end of a short point is not missing */
	s.seconds = 0.3;
	ck_assert_uint_eq(sanity_flags(&s), 0);
	s.offered_iops = (double)NAN;
	s.seconds = 10;
	ck_assert_uint_eq(sanity_flags(&s), 0);
}
END_TEST

START_TEST(a_backlog_that_grew_is_saturation_and_a_burst_is_none)
{
	struct sanity s = offered(1000, 100); /* 0.1 s of the rate, 12 times in flight */

	ck_assert_uint_eq(sanity_flags(&s), 0);
	s.backlog_max = 101;
	ck_assert_uint_eq(sanity_flags(&s), SANITY_SATURATED);
	s.in_flight = 11;
	ck_assert_uint_eq(sanity_flags(&s), 0);
	s.offered_iops = (double)NAN;
	s.backlog_max = 1e9;
	ck_assert_uint_eq(sanity_flags(&s), 0);
}
END_TEST

START_TEST(a_load_that_was_late_by_its_own_fault_is_told)
{
	/* 10 in flight at 1,000/s: 10 ms each */
	struct sanity s = offered(1000, 0);

	s.in_flight_mean = 10;
	s.littles_n = 10;
	s.late_mean_ns = 0.9e6;
	ck_assert_uint_eq(sanity_flags(&s), 0);
	s.late_mean_ns = 1.1e6;
	ck_assert_uint_eq(sanity_flags(&s), SANITY_LATE_LOAD);
	ck_assert_str_eq(sanity_name(SANITY_LATE_LOAD), "late");
	s.late_mean_ns = (double)NAN;
	ck_assert_uint_eq(sanity_flags(&s), 0);
}
END_TEST

START_TEST(a_point_that_its_end_cut_is_told_unless_it_is_saturated)
{
	struct sanity s = offered(1000, 0);

	s.unfinished_factor = 2;
	ck_assert_uint_eq(sanity_flags(&s), 0);
	s.unfinished_factor = 2.1;
	ck_assert_uint_eq(sanity_flags(&s), SANITY_CUT);
	ck_assert_str_eq(sanity_name(SANITY_CUT), "cut");
	s.backlog_max = 1e6;
	ck_assert_uint_eq(sanity_flags(&s), SANITY_SATURATED);
}
END_TEST

START_TEST(a_point_that_its_node_missed_a_part_of_is_told)
{
	struct sanity s = offered(1000, 0);

	s.seconds = 60;
	s.missed_seconds = 1.2;
	ck_assert_uint_eq(sanity_flags(&s), 0);
	s.missed_seconds = 1.3;
	ck_assert_uint_eq(sanity_flags(&s), SANITY_STALLED);
	ck_assert_str_eq(sanity_name(SANITY_STALLED), "stalled");
	/* What came meanwhile says nothing of the drive; more than that does. */
	s.backlog_max = 1300 + 100;
	s.unfinished_factor = 100;
	ck_assert_uint_eq(sanity_flags(&s), SANITY_STALLED);
	s.backlog_max = 1300 + 101;
	ck_assert_uint_eq(sanity_flags(&s), SANITY_STALLED | SANITY_SATURATED);
}
END_TEST

START_TEST(each_fault_has_its_flag)
{
	struct sanity s = {.iops = 900,
		.offered_iops = 1000,
		.seconds = 1,
		.littles_n = 8,
		.in_flight_mean = 10,
		.errors = 1,
		.dropped = 1};

	ck_assert_uint_eq(sanity_flags(&s),
		SANITY_ERRORS | SANITY_DROPPED | SANITY_SATURATED | SANITY_LITTLES_LAW);
	ck_assert_str_eq(sanity_name(SANITY_ERRORS), "errors");
	ck_assert_str_eq(sanity_name(SANITY_DROPPED), "dropped");
	ck_assert_str_eq(sanity_name(SANITY_SATURATED), "saturated");
	ck_assert_str_eq(sanity_name(SANITY_LITTLES_LAW), "littles-law");
}
END_TEST

int
main(void)
{
	TCase *tc = tcase_create("sanity");

	tcase_add_test(tc, a_good_point_has_no_flags);
	tcase_add_test(tc, what_is_not_known_raises_no_flag);
	tcase_add_test(tc, a_load_that_was_not_done_is_saturated);
	tcase_add_test(tc, a_backlog_that_grew_is_saturation_and_a_burst_is_none);
	tcase_add_test(tc, a_load_that_was_late_by_its_own_fault_is_told);
	tcase_add_test(tc, a_point_that_its_end_cut_is_told_unless_it_is_saturated);
	tcase_add_test(tc, a_point_that_its_node_missed_a_part_of_is_told);
	tcase_add_test(tc, each_fault_has_its_flag);
	return unit_run("sanity", tc);
}
