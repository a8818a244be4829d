#include "analysis/sanity.h"

#include <math.h>

#include "analysis/shape.h"
#include "common/str.h"
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

START_TEST(a_load_that_did_more_than_was_offered_is_catching_up)
{
	struct sanity s = offered(1020, 0);

	ck_assert_uint_eq(sanity_flags(&s), 0);
	s.iops = 1021;
	ck_assert_uint_eq(sanity_flags(&s), SANITY_CATCHING_UP);
	ck_assert_uint_ne(SANITY_CATCHING_UP & SANITY_BACKLOG, 0);
	ck_assert_uint_ne(SANITY_SATURATED & SANITY_BACKLOG, 0);
	/* what was in flight at the start of a short point was offered before */
	s.seconds = 0.3;
	ck_assert_uint_eq(sanity_flags(&s), 0);
	s.in_flight = 6;
	ck_assert_uint_eq(sanity_flags(&s), SANITY_CATCHING_UP);
	/* no limit is known: none excuses it */
	s.in_flight = (double)NAN;
	ck_assert_uint_eq(sanity_flags(&s), SANITY_CATCHING_UP);
	s.offered_iops = (double)NAN;
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

/* Wants exactly this flag, under this name, with this sentence. */
static void
flagged(const struct sanity *s, enum sanity_flag f, const char *name, const char *why)
{
	struct str text = {0};

	ck_assert_uint_eq(sanity_flags(s), f);
	ck_assert_str_eq(sanity_name(f), name);
	sanity_reason(s, f, &text);
	ck_assert_str_eq(str_text(&text), why);
	str_fini(&text);
}

START_TEST(a_backlog_that_is_worked_off_is_told_as_such_and_not_as_saturation)
{
	struct sanity s = offered(5342, 15000);

	s.offered_iops = 3100;
	s.unfinished_factor = 100; /* nor is it cut */
	flagged(&s, SANITY_CATCHING_UP, "catching-up",
		"5342 I/Os per second were done though only 3100 were offered: the rest "
		"had waited since the warm-up, so neither rate nor response are those of "
		"this load; up to 15000 waited");
	s.backlog_max = (double)NAN;
	flagged(&s, SANITY_CATCHING_UP, "catching-up",
		"5342 I/Os per second were done though only 3100 were offered: the rest "
		"had waited since the warm-up, so neither rate nor response are those of "
		"this load");
}
END_TEST

START_TEST(saturation_is_told_by_what_is_missing_and_by_what_waited)
{
	struct sanity s = offered(900, (double)NAN);

	flagged(&s, SANITY_SATURATED, "saturated",
		"900 of 1000 offered I/Os per second were done");
	s = offered(1010, 5000);
	flagged(&s, SANITY_SATURATED, "saturated",
		"all 1000 offered I/Os per second were done, but up to 5000 waited, 5 s "
		"of arrivals");
	s = offered(900, 5000);
	flagged(&s, SANITY_SATURATED, "saturated",
		"900 of 1000 offered I/Os per second were done, and up to 5000 waited, "
		"5 s of arrivals");
}
END_TEST

/* 60 s of a closed loop with 16 in flight that one worker kept up. */
static struct sanity
closed(void)
{
	return (struct sanity){.iops = 1000,
		.offered_iops = (double)NAN,
		.seconds = 60,
		.littles_n = 16,
		.in_flight_mean = 16,
		.in_flight = 16,
		.workers = 1,
		.cpu_seconds = 60,
		.drive_in_flight = 15};
}

START_TEST(what_the_seconds_show_is_told_with_both_levels)
{
	struct sanity s = closed();
	struct shape h = {.rate = true,
		.cliff = true,
		.cliff_at_s = 31,
		.cliff_after_bytes = 4.2e9,
		.cliff_from = 10000,
		.cliff_to = 2000};

	s.shape = &h;
	flagged(&s, SANITY_CLIFF, "cliff",
		"the drive went from 10000 to 2000 I/Os per second 31 s into the point, "
		"after 4.2 GB, and stayed there");
	h = (struct shape){.spells = 4, .spells_s = 12, .fast = 1e4, .slow = 2e3};
	flagged(&s, SANITY_SPELLS, "spells",
		"the drive had 4 slow spells, 12 s in all, in which it went from 100 us "
		"to "
		"500 us of service time");
	h = (struct shape){.stalls = 1, .stall_s = 0.6, .stall_at_s = 8.25};
	flagged(&s, SANITY_DRIVE_STALL, "drive-stall",
		"the drive ended nothing for 600 ms, 8.25 s into the point");
	/* A node that did not run for as long sees the same. */
	s.missed_seconds = 0.5;
	ck_assert_uint_eq(sanity_flags(&s), 0);
}
END_TEST

START_TEST(a_worker_without_time_left_is_the_limit_when_the_drive_has_less_to_do)
{
	struct sanity s = closed();

	ck_assert_uint_eq(sanity_flags(&s), 0); /* it spins, and the drive is full */
	s.drive_in_flight = 8;
	flagged(&s, SANITY_CPU_BOUND, "processor-bound",
		"1 worker used 100 % of a processor each, and of 16 I/Os in flight the "
		"drive had only 8: the node was the limit");
	s.cpu_seconds = 50;
	ck_assert_uint_eq(sanity_flags(&s), 0);
	s.cpu_seconds = 60;
	s.drive_in_flight = 0; /* nobody counts it */
	ck_assert_uint_eq(sanity_flags(&s), 0);
	s = closed();
	s.in_flight_mean = s.littles_n = 1;
	s.drive_in_flight = 0.5;
	ck_assert_uint_eq(sanity_flags(&s), 0);
}
END_TEST

START_TEST(who_else_used_the_drive_is_told)
{
	struct sanity s = closed();

	s.other_written_bytes = 65536;
	s.other_read_bytes = 1048576;
	ck_assert_uint_eq(sanity_flags(&s), 0);
	s.other_written_bytes = 12e6;
	flagged(&s, SANITY_OTHERS, "other-io", "somebody else wrote 12 MB on the drive");
	s.other_read_bytes = 3e6;
	flagged(&s, SANITY_OTHERS, "other-io",
		"somebody else wrote 12 MB and read 3 MB on the drive");
	s.other_written_bytes = 0;
	s.read_bytes = 1e10;
	ck_assert_uint_eq(sanity_flags(&s), 0);
}
END_TEST

START_TEST(heat_is_told_by_what_the_drive_counted)
{
	struct sanity s = closed();

	s.temperature_c = 69;
	s.warning_c = 70;
	ck_assert_uint_eq(sanity_flags(&s), 0);
	s.temperature_c = 70;
	flagged(&s, SANITY_THROTTLED, "throttled",
		"the drive had 70 C, its warning temperature is 70 C");
	s.warning_c = 0; /* it names none */
	ck_assert_uint_eq(sanity_flags(&s), 0);
	s.thermal_transitions = 3;
	s.thermal_seconds = 12;
	flagged(&s, SANITY_THROTTLED, "throttled",
		"the drive went into a thermal state 3 times and spent 12 s in one");
}
END_TEST

START_TEST(a_link_below_what_the_drive_can_is_told_and_so_is_its_change)
{
	struct sanity s = closed();

	s.link = s.link_end = s.link_max = (struct sanity_link){16, 4};
	ck_assert_uint_eq(sanity_flags(&s), 0);
	s.link = s.link_end = (struct sanity_link){8, 4};
	flagged(&s, SANITY_LINK_SLOW, "link-slow",
		"the PCIe link ran at 8.0 GT/s x4; the drive can do 16.0 GT/s x4");
	s.link = s.link_max;
	s.link_end.gts = 16;
	s.link_end.width = 2;
	ck_assert_uint_eq(sanity_flags(&s), SANITY_LINK_SLOW | SANITY_LINK_CHANGED);
	/* what is not known is not below */
	s.link = s.link_end = (struct sanity_link){0, 0};
	ck_assert_uint_eq(sanity_flags(&s), 0);
	s.aer_correctable = 2;
	flagged(&s, SANITY_PCIE_ERRORS, "pcie-errors",
		"PCIe reported 2 correctable, 0 non-fatal and 0 fatal errors");
}
END_TEST

START_TEST(clocks_samples_and_starts_are_told)
{
	struct sanity s = closed();

	s.clock_step_seconds = -0.01;
	s.unsampled_seconds = 0.5;
	s.start_lag_seconds = 0.6;
	ck_assert_uint_eq(sanity_flags(&s), 0);
	s.clock_step_seconds = -2;
	flagged(&s, SANITY_CLOCK, "clock-step", "the node's wall clock was set 2 s back");
	s.clock_step_seconds = 0;
	s.unsampled_seconds = 20;
	flagged(&s, SANITY_UNSAMPLED_TIME, "samples-missing",
		"20 of 60 s have no sample");
	s.unsampled_seconds = 0;
	s.start_lag_seconds = 0.75;
	flagged(&s, SANITY_LATE_START, "late-start", "the first I/O came 750 ms late");
}
END_TEST

START_TEST(each_flag_has_a_word_of_its_own_and_a_sentence)
{
	const struct shape h = {0};
	struct sanity s = closed();
	unsigned all = 2 * SANITY_OWN_CRITERION - 1;

	s.shape = &h;
	for (unsigned a = 1; a <= SANITY_OWN_CRITERION; a <<= 1) {
		struct str text = {0};

		ck_assert_ptr_nonnull(sanity_name((enum sanity_flag)a));
		for (unsigned b = 1; b < a; b <<= 1)
			ck_assert_str_ne(sanity_name((enum sanity_flag)a),
				sanity_name((enum sanity_flag)b));
		sanity_reason(&s, (enum sanity_flag)a, &text);
		ck_assert_uint_ge(text.len, 10);
		str_fini(&text);
		all -= a;
	}
	ck_assert_uint_eq(all, 0);
	ck_assert_ptr_null(sanity_name((enum sanity_flag)(2 * SANITY_OWN_CRITERION)));
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
	tcase_add_test(tc, a_load_that_did_more_than_was_offered_is_catching_up);
	tcase_add_test(
		tc, a_backlog_that_is_worked_off_is_told_as_such_and_not_as_saturation);
	tcase_add_test(tc, saturation_is_told_by_what_is_missing_and_by_what_waited);
	tcase_add_test(tc, a_load_that_was_late_by_its_own_fault_is_told);
	tcase_add_test(tc, a_point_that_its_end_cut_is_told_unless_it_is_saturated);
	tcase_add_test(tc, a_point_that_its_node_missed_a_part_of_is_told);
	tcase_add_test(tc, each_fault_has_its_flag);
	tcase_add_test(tc, what_the_seconds_show_is_told_with_both_levels);
	tcase_add_test(tc,
		a_worker_without_time_left_is_the_limit_when_the_drive_has_less_to_do);
	tcase_add_test(tc, who_else_used_the_drive_is_told);
	tcase_add_test(tc, heat_is_told_by_what_the_drive_counted);
	tcase_add_test(tc, a_link_below_what_the_drive_can_is_told_and_so_is_its_change);
	tcase_add_test(tc, clocks_samples_and_starts_are_told);
	tcase_add_test(tc, each_flag_has_a_word_of_its_own_and_a_sentence);
	return unit_run("sanity", tc);
}
