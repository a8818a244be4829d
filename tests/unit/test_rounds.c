#include "runner/rounds.h"

#include "tests/unit/steps_rig.h"

static const json_t *
tracked(const json_t *o)
{
	return json_array_get(json_object_get(o, "tracking"), 0);
}

START_TEST(rounds_go_on_until_they_are_steady)
{
	struct steps_result r;
	const json_t *end, *t;

	steps[2].rounds.max_rounds = 25; /* a host that is busy takes more of them */
	r = run("delay=100us");
	ck_assert_msg(r.end == STEPS_DONE, "%s", r.reason);
	end = event("steady", 1);
	ck_assert_ptr_nonnull(end);
	ck_assert_str_eq(json_text_of(end, "verdict"), "steady");
	ck_assert_str_eq(json_text_of(end, "ended_by"), "steady");
	ck_assert_str_eq(json_text_of(end, "test"), "iops");
	ck_assert(number(end, "last_round") - number(end, "first_round") == 2);
	ck_assert(number(end, "rounds") == number(end, "last_round"));
	ck_assert_uint_eq(r.points, 1 + 2 * (unsigned)number(end, "rounds"));
	t = tracked(end);
	ck_assert_str_eq(json_text_of(t, "cell"), "iops/r0");
	ck_assert_str_eq(json_text_of(t, "metric"), "iops");
	ck_assert_uint_eq(json_array_size(json_object_get(t, "values")), 3);
	ck_assert(number(t, "mean") > 1000);
	ck_assert(number(t, "range_ratio") <= 0.9 && number(t, "slope_ratio") <= 0.9);
	ck_assert(json_is_true(json_object_get(t, "steady")));
	/* the first round, and its points */
	end = event("round.end", 1);
	ck_assert(number(end, "round") == 1 && number(end, "first_point") == 2);
	ck_assert(json_is_null(json_object_get(end, "void")));
	ck_assert_str_eq(json_text_of(end, "verdict"), "not_yet");
	ck_assert(json_is_null(json_object_get(tracked(end), "mean")));
	ck_assert_str_eq(json_text_of(point(2), "workload"), "iops/r100");
	ck_assert_str_eq(json_text_of(point(3), "workload"), "iops/r0");
	ck_assert_str_eq(json_text_of(point(5), "test"), "iops");
	ck_assert(number(point(5), "round") == 2 && number(point(5), "cell") == 2);
	ck_assert_double_eq_tol(number(tracked(event("round.end", 2)), "value"),
		strtod(json_string_value(json_array_get(
			       json_object_get(point(5), "ops"), DIR_WRITE)),
			NULL) *
			1e9 / strtod(json_text_of(point(5), "length_ns"), NULL),
		1e-6);
}
END_TEST

START_TEST(what_is_not_reached_is_a_verdict_and_the_run_goes_on)
{
	struct steps_result r;
	const json_t *end;

	steps[2].rounds.range_percent = 1e-9;
	r = run("delay=100us");
	ck_assert_msg(r.end == STEPS_DONE, "%s", r.reason);
	end = event("steady", 1);
	ck_assert_str_eq(json_text_of(end, "verdict"), "not_reached");
	ck_assert_str_eq(json_text_of(end, "ended_by"), "max_rounds");
	ck_assert(number(end, "rounds") == 5 && number(end, "first_round") == 3);
	ck_assert(number(tracked(end), "range_ratio") > 1e-11);
	ck_assert_ptr_nonnull(json_object_get(tracked(end), "slope_ratio"));
	ck_assert_str_eq(json_text_of(event("step.end", 3), "state"), "done");
}
END_TEST

START_TEST(without_tracking_all_rounds_are_measured_and_nothing_is_judged)
{
	struct steps_result r;
	const json_t *end;

	steps[2].rounds.n_tracked = 0;
	steps[2].rounds.max_rounds = 2;
	r = run("delay=100us");
	ck_assert_msg(r.end == STEPS_DONE, "%s", r.reason);
	end = event("steady", 1);
	ck_assert_str_eq(json_text_of(end, "verdict"), "not_judged");
	ck_assert(json_is_null(json_object_get(end, "first_round")));
	ck_assert(number(end, "rounds") == 2);
	ck_assert_uint_eq(r.points, 5);
}
END_TEST

START_TEST(no_round_begins_once_enough_was_written)
{
	struct steps_result r;
	const json_t *end;

	steps[2].rounds.stop_bytes = 1;
	r = run("delay=100us");
	ck_assert_msg(r.end == STEPS_DONE, "%s", r.reason);
	end = event("steady", 1);
	ck_assert_str_eq(json_text_of(end, "verdict"), "not_reached");
	ck_assert_str_eq(json_text_of(end, "ended_by"), "stop_bytes");
	ck_assert(number(end, "rounds") == 1);
	ck_assert_str_ne(json_text_of(end, "written_bytes"), "0");
}
END_TEST

START_TEST(a_round_with_failed_ios_is_void)
{
	struct steps_result r;
	const json_t *end;

	program.n_steps = 1;
	program.steps = steps + 2;
	program.max_errors = 1000000;
	steps[2].rounds.max_rounds = 3;
	r = run("delay=100us,error=EIO/100");
	ck_assert_msg(r.end == STEPS_DONE, "%s", r.reason);
	end = event("round.end", 3);
	ck_assert_msg(strstr(json_text_of(end, "void"), "I/Os failed") != NULL, "%s",
		json_text_of(end, "void"));
	end = event("steady", 1);
	ck_assert_str_eq(json_text_of(end, "verdict"), "not_reached");
	ck_assert(number(end, "void_rounds") == 3);
	ck_assert(json_is_null(json_object_get(end, "first_round")));
	ck_assert(json_is_null(json_object_get(tracked(end), "mean")));
}
END_TEST

START_TEST(a_pause_is_waited_for_and_no_gap)
{
	struct steps_result r;
	int64_t begin = clock_mono();

	steps[2].rounds.max_rounds = 3;
	cells[0].pause_ns = cells[1].pause_ns = 50 * MS;
	r = run("delay=100us");
	ck_assert_msg(r.end == STEPS_DONE, "%s", r.reason);
	ck_assert_int_gt(clock_mono() - begin, 3 * 2 * 150 * MS);
	ck_assert(number(event("steady", 1), "void_rounds") == 0);
}
END_TEST

START_TEST(a_stop_in_a_pause_ends_the_run_at_once)
{
	struct steps_result r;

	program.n_steps = 1;
	program.steps = steps + 2;
	cells[0].pause_ns = 3600 * NS_PER_S;
	stop_at = 40;
	r = run("delay=100us");
	ck_assert_int_eq(r.end, STEPS_CANCELLED);
	ck_assert_str_eq(r.reason, "sr said stop");
	ck_assert_str_eq(json_text_of(event("round.end", 1), "void"),
		"the run ended in this round");
	ck_assert_ptr_null(event("steady", 1));
	ck_assert_str_eq(json_text_of(event("step.end", 1), "state"), "stopped");
}
END_TEST

START_TEST(cells_that_are_left_out_are_told)
{
	char left_out[1][WORKLOAD_ID_MAX] = {"half-k"};
	struct steps_result r;

	steps[2].rounds.left_out = left_out;
	steps[2].rounds.n_left_out = 1;
	steps[2].rounds.n_cells = 0;
	steps[2].rounds.n_tracked = 0;
	r = run("delay=100us");
	ck_assert_msg(r.end == STEPS_DONE, "%s", r.reason);
	ck_assert_uint_eq(r.points, 1);
	ck_assert_str_eq(json_string_value(json_array_get(
				 json_object_get(event("note", 1), "left_out"), 0)),
		"iops/half-k");
	ck_assert_msg(strstr(json_text_of(event("note", 1), "text"),
			      "1 of 1 cells are left out") != NULL,
		"%s", json_text_of(event("note", 1), "text"));
	ck_assert_ptr_null(event("steady", 1));
}
END_TEST

/* Point 3 is the cell that polls; the reads before it are that which looks whether the
 * drive answers at all. */
START_TEST(polls_of_health_are_told_with_the_cell_that_they_ran_beside)
{
	const json_t *polls;
	struct steps_result r;

	cells[1].poll_health_ns = MS;
	steps[2].rounds.n_tracked = 0;
	steps[2].rounds.max_rounds = 1;
	polled = 3;
	fails_at = 3;
	r = run("delay=100us");
	ck_assert_msg(r.end == STEPS_DONE, "%s", r.reason);
	ck_assert_ptr_null(json_object_get(point(1), "health_polls"));
	ck_assert_ptr_null(json_object_get(point(2), "health_polls"));
	polls = json_object_get(point(3), "health_polls");
	ck_assert_str_eq(json_text_of(polls, "period_ns"), "1000000");
	ck_assert_int_ge(atoi(json_text_of(polls, "polls")), 4);
	ck_assert_int_eq(atoi(json_text_of(polls, "polls")), atomic_load(&reads) - 1);
	ck_assert_str_eq(json_text_of(polls, "failed"), "1");
	ck_assert_str_eq(json_text_of(polls, "why"), "read 3 failed");
	ck_assert(number(polls, "mean_ns") > 0);
	ck_assert(number(polls, "max_ns") >= number(polls, "mean_ns"));
}
END_TEST

START_TEST(a_drive_that_is_slow_to_tell_its_health_holds_up_neither_load_nor_loop)
{
	struct steps_result r;

	cells[1].poll_health_ns = MS;
	steps[2].rounds.n_tracked = 0;
	steps[2].rounds.max_rounds = 1;
	cells[1].measure_ns = NS_PER_S;
	health_stops = true;
	r = run("delay=100us");
	ck_assert_msg(r.end == STEPS_DONE, "%s", r.reason);
	ck_assert_str_eq(json_text_of(point(3), "state"), "done");
	ck_assert(json_is_null(json_object_get(event("round.end", 1), "void")));
}
END_TEST

START_TEST(a_drive_that_does_not_tell_its_health_is_not_written_to_for_polls)
{
	struct steps_result r;

	cells[1].poll_health_ns = MS;
	fails_at = 1;
	r = run("delay=100us");
	ck_assert_int_eq(r.end, STEPS_FAILED);
	ck_assert_str_eq(r.class, "recipe");
	ck_assert_str_eq(r.reason,
		"the drive's health, which a test polls, cannot be read: read 1 failed; "
		"leave the test out with \"workloads\"");
	ck_assert_uint_eq(r.points, 0);
}
END_TEST

START_TEST(a_test_without_health_to_poll_says_so)
{
	char left_out[1][WORKLOAD_ID_MAX] = {"poll-1s"};
	struct steps_result r;

	steps[2].rounds.left_out = left_out;
	steps[2].rounds.n_left_out = 1;
	steps[2].rounds.left_out_for_health = true;
	steps[2].rounds.n_cells = 0;
	steps[2].rounds.n_tracked = 0;
	r = run("delay=100us");
	ck_assert_msg(r.end == STEPS_DONE, "%s", r.reason);
	ck_assert_str_eq(json_text_of(event("note", 1), "text"),
		"1 of 1 cells are left out: the drive has no log of its health that the "
		"test could poll");
}
END_TEST

START_TEST(a_runner_that_was_ended_goes_on_with_the_next_round)
{
	struct steps_result r;
	int resumed = -1, last = 0;

	steps[2].rounds.range_percent = 1e-9;	   /* all rounds are measured */
	run_and_die("delay=100us", 1 + 2 * 2 + 2); /* the second cell of round 3 */
	r = run("delay=100us");
	ck_assert_msg(r.end == STEPS_DONE, "%s", r.reason);
	/* the fill is not done again, and no number of a point comes twice */
	ck_assert_uint_eq(r.points, 1 + 2 * 2 + 2 + 2 * 2);
	for (int i = 0; i < n_records; i++) {
		if (records[i].kind == RECORD_POINT) {
			ck_assert(number(records[i].doc, "point") > last);
			last = (int)number(records[i].doc, "point");
		}
		if (strcmp(json_text_of(records[i].doc, "event"), "run.resumed") == 0)
			resumed = i;
	}
	ck_assert_int_gt(resumed, 0);
	ck_assert(number(records[resumed].doc, "step") == 3);
	ck_assert(number(records[resumed].doc, "rounds") == 2);
	/* five rounds in all, the one that was cut is void */
	for (int i = 1; i <= 5; i++) {
		const json_t *end = event("round.end", i);

		ck_assert(number(end, "round") == i);
		ck_assert(json_is_null(json_object_get(end, "void")) == (i != 3));
	}
	ck_assert_msg(strstr(json_text_of(event("round.end", 3), "void"),
			      "the runner was ended in this round") != NULL,
		"%s", json_text_of(event("round.end", 3), "void"));
	ck_assert(number(event("round.end", 3), "first_point") == 6);
	ck_assert(number(event("steady", 1), "void_rounds") == 1);
	ck_assert(number(event("steady", 1), "rounds") == 5);
	/* only rounds 4 and 5 are in the window */
	ck_assert(number(event("steady", 1), "first_round") == 4);
	ck_assert_ptr_null(event("steady", 2));
}
END_TEST

START_TEST(rounds_before_the_end_of_a_runner_count_when_it_was_ended_between_them)
{
	struct resume resume;
	struct steps_result r;
	struct err e = {0};

	/* in the first cell of round 3: the two before are whole */
	steps[2].rounds.max_rounds = 4;
	run_and_die("delay=100us", 1 + 2 * 2 + 1);
	OK(resume_read(dir, &resume, &e));
	ck_assert(resume.begun && !resume.has_result && !resume.step_done);
	ck_assert_uint_eq(resume.step, 3);
	ck_assert_uint_eq(resume.points, 6);
	ck_assert_uint_eq(resume.n_rounds, 2);
	ck_assert(resume.rounds[0].values[0] > 1000);
	ck_assert_uint_eq(resume.round_begun, 3);
	ck_assert_uint_gt(resume.written_bytes, 0);
	ck_assert(resume_is_possible(&resume, &program));
	program.steps = steps + 1;
	program.n_steps = 1;
	ck_assert(!resume_is_possible(&resume, &program));
	program.steps = steps;
	program.n_steps = 3;
	resume_fini(&resume);
	/* and ended again, in the fill's place of a second runner: round 4 */
	run_and_die("delay=100us", 7);
	r = run("delay=100us");
	ck_assert_msg(r.end == STEPS_DONE, "%s", r.reason);
	ck_assert(number(event("steady", 1), "void_rounds") == 2);
	ck_assert_str_eq(json_text_of(event("steady", 1), "ended_by"), "max_rounds");
	ck_assert_ptr_nonnull(event("run.resumed", 2));
}
END_TEST

START_TEST(a_fill_that_was_cut_is_done_again)
{
	struct steps_result r;

	steps[2].rounds.max_rounds = 25; /* a host that is busy takes more of them */
	run_and_die("delay=2ms", 1);
	r = run("delay=100us");
	ck_assert_msg(r.end == STEPS_DONE, "%s", r.reason);
	ck_assert(number(event("run.resumed", 1), "step") == 2);
	ck_assert_str_eq(json_text_of(point(1), "workload"), "fill");
	ck_assert(number(point(1), "point") == 2);
	ck_assert_str_eq(json_text_of(event("steady", 1), "verdict"), "steady");
}
END_TEST

static const struct {
	struct rounds_trouble t;
	const char *why;
} troubles[] = {
	{{"t/c", 0, 0, 60 * NS_PER_S, 0}, ""},
	{{"t/c", 3, 0, 60 * NS_PER_S, 0}, "t/c: 3 I/Os failed"},
	{{"t/c", 0, 999 * MS, NS_PER_S, 0}, ""},
	{{"t/c", 0, 1500 * MS, 2 * NS_PER_S, 0},
		"t/c: this host did not run the test for 1.5 s (stopped or overloaded)"},
	{{"t/c", 0, 1500 * MS, 60 * NS_PER_S, 0}, ""},
	{{"t/c", 0, 0, 60 * NS_PER_S, 30 * NS_PER_S}, ""},
	{{"t/c", 0, 0, 60 * NS_PER_S, 30 * NS_PER_S + 100 * MS},
		"t/c: nothing was done for 30.1 s before it"},
};

START_TEST(errors_stalls_and_gaps_make_a_round_void)
{
	char why[200];

	rounds_why_void(&troubles[_i].t, why, sizeof(why));
	ck_assert_str_eq(why, troubles[_i].why);
}
END_TEST

int
main(void)
{
	TCase *tc = tcase_create("rounds");

	tcase_add_checked_fixture(tc, setup, teardown);
	tcase_set_timeout(tc, 30);
	tcase_add_test(tc, rounds_go_on_until_they_are_steady);
	tcase_add_test(tc, what_is_not_reached_is_a_verdict_and_the_run_goes_on);
	tcase_add_test(
		tc, without_tracking_all_rounds_are_measured_and_nothing_is_judged);
	tcase_add_test(tc, no_round_begins_once_enough_was_written);
	tcase_add_test(tc, a_round_with_failed_ios_is_void);
	tcase_add_test(tc, a_pause_is_waited_for_and_no_gap);
	tcase_add_test(tc, a_stop_in_a_pause_ends_the_run_at_once);
	tcase_add_test(tc, cells_that_are_left_out_are_told);
	tcase_add_test(tc, polls_of_health_are_told_with_the_cell_that_they_ran_beside);
	tcase_add_test(tc,
		a_drive_that_is_slow_to_tell_its_health_holds_up_neither_load_nor_loop);
	tcase_add_test(
		tc, a_drive_that_does_not_tell_its_health_is_not_written_to_for_polls);
	tcase_add_test(tc, a_test_without_health_to_poll_says_so);
	tcase_add_test(tc, a_runner_that_was_ended_goes_on_with_the_next_round);
	tcase_add_test(tc,
		rounds_before_the_end_of_a_runner_count_when_it_was_ended_between_them);
	tcase_add_test(tc, a_fill_that_was_cut_is_done_again);
	tcase_add_loop_test(tc, errors_stalls_and_gaps_make_a_round_void, 0,
		(int)(sizeof(troubles) / sizeof(troubles[0])));
	return unit_run("rounds", tc);
}
