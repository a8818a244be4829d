/* Tests that take over a demand, as a runner does them. */
#include "runner/rounds.h"

#include "tests/unit/steps_rig.h"

static struct rounds_cell chosen[1];

/* Two tests behind the rounds, now of writes with 1 and with 4 in flight: the first takes
 * the max of their demands, the second the min. */
static void
add_choices(void)
{
	cells[0].workload.streams[0] = cells[1].workload.streams[0];
	cells[0].workload.in_flight = 1;
	chosen[0] = cells[1];
	snprintf(chosen[0].workload.id, sizeof(chosen[0].workload.id), "w");
	for (int i = 3; i < 5; i++) {
		steps[i].kind = STEP_ROUNDS;
		snprintf(steps[i].test, sizeof(steps[i].test), i == 3 ? "high" : "low");
		steps[i].rounds = (struct rounds){.cells = chosen,
			.n_cells = 1,
			.choice = {"iops", i == 3 ? ROUNDS_PICK_MAX : ROUNDS_PICK_MIN,
				i == 3 ? NS_PER_S : 0},
			.window = 3,
			.max_rounds = 2};
	}
	program.n_steps = 5;
}

/* What the nth event of that name says of the choice. */
static const json_t *
choice(const char *name, int n)
{
	const json_t *o = event(name, n);

	ck_assert_ptr_nonnull(o);
	return json_object_get(o, "choice");
}

START_TEST(a_test_takes_over_the_demand_that_was_chosen)
{
	struct steps_result r;
	unsigned last;

	add_choices();
	r = run("delay=100us");
	ck_assert_msg(r.end == STEPS_DONE, "%s", r.reason);
	ck_assert_str_eq(json_text_of(choice("note", 1), "cell"), "iops/r0");
	ck_assert(number(choice("note", 1), "in_flight") == 4);
	ck_assert(number(choice("note", 1), "iops") > 1000);
	ck_assert_str_eq(json_text_of(choice("note", 2), "cell"), "iops/r100");
	ck_assert(json_equal(choice("note", 1), choice("steady", 2)));
	ck_assert(json_equal(choice("note", 2), choice("steady", 3)));
	ck_assert_ptr_null(choice("steady", 1));
	ck_assert_str_eq(json_text_of(event("steady", 3), "verdict"), "not_judged");
	/* and is measured: two rounds of each, at the end */
	last = r.points;
	ck_assert(number(point((int)last), "in_flight") == 1);
	ck_assert_str_eq(json_text_of(point((int)last), "workload"), "low/w");
	ck_assert(number(point((int)last - 2), "in_flight") == 4);
	ck_assert_str_eq(json_text_of(point((int)last - 2), "workload"), "high/w");
	/* the program is as it was */
	ck_assert_uint_eq(chosen[0].workload.in_flight, 4);
}
END_TEST

START_TEST(a_demand_that_cannot_be_chosen_is_no_failure)
{
	struct steps_result r;
	const json_t *o;

	add_choices();
	steps[3].rounds.choice.mean_below_ns = 1;
	r = run("delay=100us");
	ck_assert_msg(r.end == STEPS_DONE, "%s", r.reason);
	o = event("steady", 2);
	ck_assert_str_eq(json_text_of(o, "test"), "high");
	ck_assert_str_eq(json_text_of(o, "ended_by"), "no_choice");
	ck_assert_str_eq(json_text_of(o, "verdict"), "not_judged");
	ck_assert(number(o, "rounds") == 0);
	ck_assert_str_eq(json_text_of(choice("steady", 2), "text"),
		"nothing is measured: no mean of iops is below 1ns");
	ck_assert_str_eq(json_text_of(event("step.end", 4), "state"), "done");
	/* the next one has its min */
	ck_assert(number(event("steady", 3), "rounds") == 2);
}
END_TEST

/* In the matrix, behind two rounds of it, and in the test that takes over. */
START_TEST(a_runner_that_was_ended_chooses_the_same_again)
{
	struct steps_result r;

	add_choices();
	steps[2].rounds.range_percent = 1e-9;
	steps[2].rounds.max_rounds = 6;
	run_and_die("delay=100us", 1 + 2 * 2 + 1);
	run_and_die("delay=100us", 1 + 2 * 2 + 1 + 3 * 2 + 1);
	r = run("delay=100us");
	ck_assert_msg(r.end == STEPS_DONE, "%s", r.reason);
	ck_assert(number(event("run.resumed", 2), "step") == 4);
	ck_assert(json_equal(choice("note", 1), choice("note", 2)));
	ck_assert(json_equal(choice("note", 1), choice("steady", 2)));
	ck_assert(number(choice("note", 2), "in_flight") == 4);
	ck_assert_str_eq(json_text_of(choice("note", 3), "cell"), "iops/r100");
	ck_assert(number(event("steady", 2), "void_rounds") == 1);
	ck_assert(number(event("steady", 2), "rounds") == 2);
}
END_TEST

int
main(void)
{
	TCase *tc = tcase_create("choice_run");

	tcase_add_checked_fixture(tc, setup, teardown);
	tcase_set_timeout(tc, 30);
	tcase_add_test(tc, a_test_takes_over_the_demand_that_was_chosen);
	tcase_add_test(tc, a_demand_that_cannot_be_chosen_is_no_failure);
	tcase_add_test(tc, a_runner_that_was_ended_chooses_the_same_again);
	return unit_run("choice_run", tc);
}
