#include "runner/choice.h"

#include <stdio.h>
#include <string.h>

#include "common/clock.h"
#include "common/json.h"
#include "common/program.h"
#include "tests/unit/unit.h"

static struct rounds_cell matrix[3], measured[1];
static struct step steps[3];
static struct program program;
static struct figures figures;
static struct hist service[DIRECTIONS];
static struct choice choice;

static void
set_cell(struct rounds_cell *c, const char *id, double read, uint32_t workers,
	uint32_t in_flight)
{
	memset(c, 0, sizeof(*c));
	workload_plain(&c->workload, read, 100, 8192);
	snprintf(c->workload.id, sizeof(c->workload.id), "%s", id);
	c->workload.workers = workers;
	c->workload.in_flight = in_flight;
}

/* A matrix of two points behind writes, and a test that takes the max of it. */
static void
setup(void)
{
	set_cell(&matrix[0], "pre", 0, 8, 64);
	set_cell(&matrix[1], "t4-q4", 65, 4, 16);
	set_cell(&matrix[2], "t1-q1", 65, 1, 1);
	set_cell(&measured[0], "r65", 65, 4, 16);
	memset(steps, 0, sizeof(steps));
	steps[0].kind = STEP_IDENTIFY;
	steps[1].kind = steps[2].kind = STEP_ROUNDS;
	snprintf(steps[1].test, sizeof(steps[1].test), "matrix");
	steps[1].rounds = (struct rounds){.cells = matrix,
		.n_cells = 3,
		.tracked = {{1, ROUNDS_IOPS}},
		.n_tracked = 1};
	snprintf(steps[2].test, sizeof(steps[2].test), "high");
	steps[2].rounds = (struct rounds){.cells = measured,
		.n_cells = 1,
		.choice = {"matrix", ROUNDS_PICK_MAX, 5 * NS_PER_MS}};
	program = (struct program){.steps = steps, .n_steps = 3};
	memset(&figures, 0, sizeof(figures));
	choice.doc = NULL;
}

static void
teardown(void)
{
	figures_fini(&figures);
	json_decref(choice.doc);
}

/* A second of a cell with so many I/Os, reads and writes in halves. */
static void
measure(uint32_t round, uint32_t cell, uint64_t ops, uint64_t lat_ns)
{
	const struct figure x = {.step = 2,
		.round = round,
		.cell = cell,
		.ops = ops,
		.length_ns = NS_PER_S};

	for (int d = 0; d < DIRECTIONS; d++)
		hist_reset(&service[d]);
	for (uint64_t i = 0; i < ops; i++)
		hist_add(&service[i % 2], lat_ns);
	figures_add(&figures, &x, service);
}

static void
measure_round(uint32_t round, uint64_t many, uint64_t few)
{
	measure(round, 1, 5000, 10000);
	measure(round, 2, many, 4 * NS_PER_MS);
	measure(round, 3, few, NS_PER_MS);
}

static void
end(const char *verdict, int first, int last)
{
	json_t *o = json_pack("{s:i, s:s, s:o, s:o}", "step", 2, "verdict", verdict,
		"first_round", first > 0 ? json_integer(first) : json_null(),
		"last_round", last > 0 ? json_integer(last) : json_null());

	figures_end(&figures, o);
	json_decref(o);
}

static const char *
choose(enum rounds_pick pick)
{
	steps[2].rounds.choice.pick = pick;
	json_decref(choice.doc);
	choice_make(&program, 3, &figures, &choice);
	return json_text_of(choice.doc, "text");
}

START_TEST(a_choice_is_made_by_the_figures_of_the_window)
{
	measure_round(1, 10, 900);
	measure_round(2, 200, 100);
	measure_round(3, 400, 100);
	measure_round(4, 10, 900);
	end("steady", 2, 3);
	ck_assert_str_eq(choose(ROUNDS_PICK_MAX),
		"max is matrix/t4-q4: 4 workers, 16 I/Os in flight, 300 I/Os per second "
		"with a mean of 4.000 ms");
	ck_assert(choice.made);
	ck_assert_uint_eq(choice.point.workers, 4);
	ck_assert_uint_eq(choice.point.in_flight, 16);
	ck_assert_str_eq(json_text_of(choice.doc, "cell"), "matrix/t4-q4");
	ck_assert_str_eq(json_text_of(choice.doc, "pick"), "max");
	ck_assert_double_eq(json_number_value(json_object_get(choice.doc, "iops")), 300);
	ck_assert_double_eq(
		json_number_value(json_object_get(choice.doc, "lat_mean_ns")), 4e6);
	choose(ROUNDS_PICK_MIN);
	ck_assert_str_eq(json_text_of(choice.doc, "cell"), "matrix/t1-q1");
	ck_assert_uint_eq(choice.point.in_flight, 1);
}
END_TEST

START_TEST(only_cells_with_the_i_os_that_are_tracked_are_chosen)
{
	measure_round(1, 300, 100);
	end("steady", 1, 1);
	choose(ROUNDS_PICK_MAX);
	ck_assert_str_eq(json_text_of(choice.doc, "cell"), "matrix/t4-q4");
	matrix[0].workload.streams[0].read_percent = 65;
	choose(ROUNDS_PICK_MAX);
	ck_assert_str_eq(json_text_of(choice.doc, "cell"), "matrix/pre");
}
END_TEST

START_TEST(what_cannot_be_chosen_says_why)
{
	const char *text;

	measure_round(1, 300, 100);
	ck_assert_str_eq(choose(ROUNDS_PICK_MIN),
		"nothing is measured: no round of matrix counts");
	end("not_reached", 0, 0);
	ck_assert_str_eq(choose(ROUNDS_PICK_MAX),
		"nothing is measured: no round of matrix counts");
	ck_assert(!choice.made && !json_has(choice.doc, "cell"));
	figures.windows[0] = (struct figure_window){2, 1, 1, false};
	text = choose(ROUNDS_PICK_MAX);
	ck_assert_msg(
		strstr(text, "ms, in a test that was not steady") != NULL, "%s", text);
	steps[2].rounds.choice.mean_below_ns = NS_PER_MS;
	ck_assert_str_eq(choose(ROUNDS_PICK_MID),
		"nothing is measured: no mean of matrix is below 1ms");
	ck_assert(!choice.made && !json_has(choice.doc, "workers"));
	ck_assert_str_eq(json_text_of(choice.doc, "from"), "matrix");
}
END_TEST

START_TEST(no_more_rounds_are_kept_than_a_window_can_have)
{
	for (uint32_t round = 1; round <= 3 * ROUNDS_WINDOW_MAX; round++)
		measure_round(round, round, 1);
	ck_assert_uint_eq(figures.n, 3 * ROUNDS_WINDOW_MAX);
	end("steady", 2 * ROUNDS_WINDOW_MAX + 1, 3 * ROUNDS_WINDOW_MAX);
	choose(ROUNDS_PICK_MAX);
	ck_assert_double_eq(json_number_value(json_object_get(choice.doc, "iops")),
		2.5 * ROUNDS_WINDOW_MAX + 0.5);
}
END_TEST

START_TEST(a_copy_is_a_whole_one)
{
	struct figures none = {0}, copy;

	measure_round(1, 300, 100);
	end("steady", 1, 1);
	figures_copy(&copy, &figures);
	figures_fini(&figures);
	figures = copy;
	ck_assert_ptr_nonnull(strstr(choose(ROUNDS_PICK_MAX), "300 I/Os per second"));
	figures_copy(&copy, &none);
	ck_assert_uint_eq(copy.n + copy.n_windows, 0);
	figures_fini(&copy);
}
END_TEST

int
main(void)
{
	TCase *tc = tcase_create("choice");

	tcase_add_checked_fixture(tc, setup, teardown);
	tcase_add_test(tc, a_choice_is_made_by_the_figures_of_the_window);
	tcase_add_test(tc, only_cells_with_the_i_os_that_are_tracked_are_chosen);
	tcase_add_test(tc, what_cannot_be_chosen_says_why);
	tcase_add_test(tc, no_more_rounds_are_kept_than_a_window_can_have);
	tcase_add_test(tc, a_copy_is_a_whole_one);
	return unit_run("choice", tc);
}
