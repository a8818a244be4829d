/* Runners that measure in rounds are started again for the same attempt. */
#include <sys/wait.h>

#include "agent/fence.h"
#include "tests/unit/keeper_rig.h"
#include "tests/unit/log_rig.h"

static const char fails[] = "#!/bin/sh\nexit 3\n";

static struct step step;
static struct rounds_cell cell;
static pid_t before; /* the process that was ended last */

/* As setup, with a program that measures in rounds. */
static void
begin(void)
{
	setup();
	workload_plain(&cell.workload, 100, 100, 4096);
	snprintf(cell.workload.id, sizeof(cell.workload.id), "r");
	cell.workload.in_flight = cell.workload.workers = 1;
	cell.measure_ns = NS_PER_S;
	step = (struct step){.kind = STEP_ROUNDS,
		.test = "t",
		.rounds = {.cells = &cell,
			.n_cells = 1,
			.window = 5,
			.range_percent = 20,
			.slope_percent = 10,
			.max_rounds = 1}};
	program.steps = &step;
}

static const struct ward *
ward(void)
{
	const struct ward *w = keeper_first(keeper);

	ck_assert_ptr_nonnull(w);
	return w;
}

/* Either another process runs, or the attempt has ended. */
static void
on_change(void *arg)
{
	const struct attempt *a = ward()->a;

	(void)arg;
	keeper_tick(keeper);
	if (a->state == ATTEMPT_EXITED || (a->pid != before && a->pid != 0))
		loop_stop(loop);
}

static void
await_change(void)
{
	struct loop_timer *poll = loop_timer_start(
		loop, 0, 5 * NS_PER_MS, on_change, NULL);
	struct loop_timer *deadline = loop_timer_start(
		loop, 20 * NS_PER_S, 0, on_deadline, NULL);
	struct err e = {0};

	OK(loop_run(loop, &e));
	loop_timer_stop(loop, poll);
	loop_timer_stop(loop, deadline);
}

static void
kill_runner(void)
{
	before = ward()->a->pid;
	ck_assert(spawn_signal(&ward()->proc, SIGKILL));
	await_change();
}

/* A record in the spool, as a runner leaves it. */
static void
leave_record(enum record_kind kind)
{
	static const char text[] = "{\"event\":\"step.start\",\"step\":1}";
	struct spool *s;
	struct err e = {0};
	char dir[256];
	uint64_t cut;

	attempt_spool(ward()->a, dir, sizeof(dir));
	OK(spool_open(&s, dir, &cut, &e));
	OK(spool_append(s, kind, text, sizeof(text) - 1, NULL, &e));
	OK(spool_sync(s, &e));
	spool_close(s);
}

START_TEST(a_killed_runner_is_started_again_three_times)
{
	struct spool_reader *r;
	struct spool_record rec;
	struct err e = {0};
	char dir[256];
	json_t *doc;

	log_catch();
	start();
	leave_record(RECORD_EVENT);
	for (unsigned i = 1; i <= ATTEMPT_RESTARTS_MAX; i++) {
		kill_runner();
		ck_assert_uint_eq(ward()->a->restarts, i);
		ck_assert(spawn_alive(ward()->a));
		ck_assert_uint_eq(keeper_running(keeper), 1);
		ck_assert_uint_eq(ward()->a->fence, 100);
	}
	ck_assert_uint_eq(log_caught("runner.restart"), ATTEMPT_RESTARTS_MAX);
	kill_runner();
	ck_assert_int_eq(ward()->a->state, ATTEMPT_EXITED);
	attempt_spool(ward()->a, dir, sizeof(dir));
	OK(spool_reader_open(&r, dir, 2, &e));
	ck_assert_int_eq(spool_reader_next(r, &rec, &e), 1);
	ck_assert_int_eq(rec.kind, RECORD_RESULT);
	OK(json_parse((const char *)rec.payload, rec.len, &doc, &e));
	ck_assert_str_eq(json_text_of(doc, "reason"),
		"runner was killed by signal 9, and 3 times before");
	json_decref(doc);
	spool_reader_close(r);
}
END_TEST

START_TEST(the_number_of_restarts_outlives_the_agent)
{
	struct err e = {0};

	start();
	leave_record(RECORD_EVENT);
	kill_runner();
	keeper_free(keeper);
	keeper = keeper_new(&env);
	OK(keeper_load(keeper, &e));
	ck_assert_uint_eq(ward()->a->restarts, 1);
	ck_assert(spawn_alive(ward()->a));
}
END_TEST

/* It may be wanted no more, and its drive be somebody's: the controller has to say. */
START_TEST(one_that_dies_while_the_agent_is_away_goes_on_when_it_is_wanted)
{
	struct err e = {0};
	pid_t pid;

	start();
	leave_record(RECORD_EVENT);
	pid = ward()->a->pid;
	keeper_free(keeper);
	ck_assert_int_eq(kill(pid, SIGKILL), 0);
	waitpid(pid, NULL, 0);
	keeper = keeper_new(&env);
	before = pid;
	OK(keeper_load(keeper, &e));
	for (int i = 0; i < 10; i++)
		keeper_tick(keeper);
	ck_assert_uint_eq(ward()->a->restarts, 0);
	ck_assert(attempt_has_process(ward()->a->state));
	ck_assert(!spawn_alive(ward()->a));
	keeper_keep(keeper, 15);
	await_change();
	ck_assert_uint_eq(ward()->a->restarts, 1);
	ck_assert(spawn_alive(ward()->a));
}
END_TEST

START_TEST(one_that_has_told_its_result_is_not_started_again)
{
	start();
	leave_record(RECORD_RESULT);
	kill_runner();
	ck_assert_int_eq(ward()->a->state, ATTEMPT_EXITED);
	ck_assert_uint_eq(ward()->a->restarts, 0);
}
END_TEST

START_TEST(one_that_was_stopped_is_not_started_again)
{
	start();
	leave_record(RECORD_EVENT);
	keeper_stop(keeper, 15, "enough");
	kill_runner();
	ck_assert_int_eq(ward()->a->state, ATTEMPT_EXITED);
	ck_assert_uint_eq(ward()->a->restarts, 0);
}
END_TEST

START_TEST(one_that_ends_by_itself_without_a_result_is_not_started_again)
{
	struct err e = {0};

	OK(disk_write(runner, fails, strlen(fails), 0700, &e));
	before = 0;
	start();
	before = ward()->a->pid;
	await_change();
	ck_assert_int_eq(ward()->a->state, ATTEMPT_EXITED);
	ck_assert_uint_eq(ward()->a->restarts, 0);
}
END_TEST

START_TEST(one_with_a_ramp_is_not_started_again)
{
	step = (struct step){.kind = STEP_IDENTIFY};
	start();
	leave_record(RECORD_EVENT);
	kill_runner();
	ck_assert_int_eq(ward()->a->state, ATTEMPT_EXITED);
}
END_TEST

START_TEST(records_that_are_gone_end_the_attempt)
{
	start();
	leave_record(RECORD_EVENT);
	keeper_progress(keeper, 15, 7, 7);
	kill_runner();
	ck_assert_int_eq(ward()->a->state, ATTEMPT_EXITED);
	ck_assert(ward()->a->spool_lost);
}
END_TEST

int
main(void)
{
	TCase *tc = tcase_create("restart");

	tcase_add_checked_fixture(tc, begin, teardown);
	tcase_set_timeout(tc, 60);
	tcase_add_test(tc, a_killed_runner_is_started_again_three_times);
	tcase_add_test(tc, the_number_of_restarts_outlives_the_agent);
	tcase_add_test(
		tc, one_that_dies_while_the_agent_is_away_goes_on_when_it_is_wanted);
	tcase_add_test(tc, one_that_has_told_its_result_is_not_started_again);
	tcase_add_test(tc, one_that_was_stopped_is_not_started_again);
	tcase_add_test(tc, one_that_ends_by_itself_without_a_result_is_not_started_again);
	tcase_add_test(tc, one_with_a_ramp_is_not_started_again);
	tcase_add_test(tc, records_that_are_gone_end_the_attempt);
	return unit_run("restart", tc);
}
