#include "runner/steps.h"

#include <math.h>
#include <semaphore.h>
#include <stdatomic.h>
#include <stdio.h>
#include <time.h>
#include <unistd.h>

#include "common/clock.h"
#include "common/json.h"
#include "common/log.h"
#include "common/program.h"
#include "runner/engine.h"
#include "runner/outbox.h"
#include "tests/unit/told_rig.h"

#define MS NS_PER_MS

#define TEMPLATE "/var/tmp/ssdlab-steps-XXXXXX"

static char dir[] = TEMPLATE;
static struct step steps[3];
static struct program program;
static int verified;	   /* calls of verify */
static int verify_fails;   /* the call that fails, from 1 */
static int ticks, stop_at; /* calls of tick; the one that stops, from 1 */

/*
 * A host that is slow to set a load up, and then stands still from its first sleep on for
 * longer than the load, whose I/Os it keeps from ending. Its time is played: one
 * clock for all threads that goes on whenever it is read. Linked in by --wrap.
 */
static struct engine_ops slow_host;
static bool host_stops, stood;
/* A drive or kernel that does not know these, bits 1 << enum operation; set: it is one.
 */
static struct engine_ops poor_drive;
static unsigned not_known;
static sem_t host_stood; /* once it goes on */
static _Atomic int64_t played_ns;

int __real_nanosleep(const struct timespec *length, struct timespec *ret_left);
int __wrap_nanosleep(const struct timespec *length, struct timespec *ret_left);
int64_t __real_clock_mono(void);
int64_t __wrap_clock_mono(void);
int __real_clock_nanosleep(
	clockid_t id, int flags, const struct timespec *until, struct timespec *ret_left);
int __wrap_clock_nanosleep(
	clockid_t id, int flags, const struct timespec *until, struct timespec *ret_left);

int64_t
__wrap_clock_mono(void)
{
	if (host_stops)
		return atomic_fetch_add(&played_ns, 100) + 100;
	return __real_clock_mono();
}

int
__wrap_clock_nanosleep(
	clockid_t id, int flags, const struct timespec *until, struct timespec *ret_left)
{
	int64_t now = played_ns, end = until->tv_sec * NS_PER_S + until->tv_nsec;

	if (!host_stops)
		return __real_clock_nanosleep(id, flags, until, ret_left);
	while (now < end && !atomic_compare_exchange_weak(&played_ns, &now, end))
		;
	return 0;
}

/* The first sleep of the load's supervisor: the host stands still. */
int
__wrap_nanosleep(const struct timespec *length, struct timespec *ret_left)
{
	if (host_stops && !stood) {
		stood = true;
		played_ns += 1200 * MS;
		sem_post(&host_stood);
	}
	return __real_nanosleep(length, ret_left);
}

static int
open_slowly(struct engine **ret_g, const struct engine_config *c, struct err *e)
{
	played_ns += 500 * MS;
	return engine_null.open(ret_g, c, e);
}

static int
reap_after_the_stop(struct engine *g, struct io *ret_io[], unsigned max, int64_t wait_ns)
{
	while (sem_wait(&host_stood) != 0)
		;
	sem_post(&host_stood);
	return engine_null.reap(g, ret_io, max, wait_ns);
}

static void
play_a_slow_host(void)
{
	slow_host = engine_null;
	slow_host.open = open_slowly;
	slow_host.reap = reap_after_the_stop;
	sem_init(&host_stood, 0, 0);
	played_ns = NS_PER_S;
	stood = false;
	host_stops = true;
}

static int
open_poorly(struct engine **ret_g, const struct engine_config *c, struct err *e)
{
	if ((c->operations & not_known) == 0)
		return engine_null.open(ret_g, c, e);
	err_set(e, ERR_STATE, "the drive knows no trim");
	return err_fix(e, "leave the trims out");
}

static int
verify(void *arg, struct drive_id *ret_seen, struct err *e)
{
	(void)arg;
	*ret_seen = program.drive;
	if (++verified == verify_fails)
		return err_set(e, ERR_IO, "the drive is gone");
	return 0;
}

static const char *
tick(void *arg)
{
	(void)arg;
	return ++ticks >= stop_at && stop_at > 0 ? "sr said stop" : NULL;
}

/* How the drive looks; NULL: nobody can tell. */
static const char *looks;

static int
witness(void *arg, char *ret_text, struct err *e)
{
	(void)arg;
	if (looks == NULL)
		return err_set(e, ERR_IO, "it cannot be read");
	snprintf(ret_text, WITNESS_MAX, "%s", looks);
	return 0;
}

static void
setup(void)
{
	static const struct step example[] = {
		{.kind = STEP_IDENTIFY},
		{.kind = STEP_FILL,
			.passes = 2,
			.workload = {.id = "fill", .in_flight = 4, .workers = 1}},
		{.kind = STEP_WORKLOAD,
			.workload = {.id = "4k-random-read",
				.in_flight = 8,
				.workers = 1},
			.ramp = {.maximum_measure_ns = 200 * MS,
				.measure_ns = 100 * MS,
				.arrivals = ARRIVALS_FIXED,
				.load_percent = {50, 100},
				.n_loads = 2}},
	};

	memcpy(dir, TEMPLATE, sizeof(dir));
	ck_assert_ptr_nonnull(mkdtemp(dir));
	host_stops = false;
	not_known = 0;
	verified = verify_fails = ticks = stop_at = 0;
	told_none();
	log_set_level(LOG_LEVEL_ERR);
	memcpy(steps, example, sizeof(steps));
	workload_plain(&steps[1].workload, 0, 0, 131072);
	workload_plain(&steps[2].workload, 100, 100, 4096);
	program = (struct program){.run = 1,
		.attempt = 1,
		.fence = 1,
		.seed = 5,
		.max_errors = 50,
		.drive = {DRIVE_FILE, "m", "s", "", "", 4 << 20, 512, -1, true},
		.region_length = 1 << 20,
		.steps = steps,
		.n_steps = 3};
}

static void
teardown(void)
{
	told_remove(dir);
}

/* Executes the program on a device by script, and reads what it left. */
static struct steps_result
run(const char *script)
{
	struct control_status status = {.load_percent = (double)NAN};
	struct steps_env env = {.program = &program,
		.fd = -1,
		.engine = host_stops	   ? &slow_host
			  : not_known != 0 ? &poor_drive
					   : engine_named("null"),
		.engine_script = script,
		.status = &status,
		.verify = verify,
		.witness = witness,
		.tick = tick};
	struct steps_result r;
	struct err e = {0};

	OK(outbox_open(&env.outbox, dir, &e));
	steps_run(&env, &r);
	outbox_sync(env.outbox);
	ck_assert(outbox_is_settled(env.outbox));
	outbox_close(env.outbox);
	told_read(dir);
	return r;
}

/* The names of the records in order: the event's, or "point". */
static const char *
story(void)
{
	static char text[1024];
	size_t n = 0;

	text[0] = '\0';
	for (int i = 0; i < n_records; i++)
		n += (size_t)snprintf(text + n, sizeof(text) - n, "%s%s",
			i > 0 ? " " : "",
			records[i].kind == RECORD_POINT
				? "point"
				: json_text_of(records[i].doc, "event"));
	return text;
}

START_TEST(points_run_over_the_attempt_and_loads_refer_to_the_maximum)
{
	struct steps_result r = run("delay=100us");
	double maximum;

	ck_assert_msg(r.end == STEPS_DONE, "%s", r.reason);
	ck_assert_str_eq(r.reason, "");
	ck_assert_ptr_null(r.class);
	ck_assert_uint_eq(r.points, 5);
	ck_assert_str_eq(story(),
		"step.start step.end step.start point.start point point.start point "
		"step.end step.start point.start point point.start point point.start "
		"point step.end");
	ck_assert_int_eq(verified, 3);
	for (int i = 1; i <= 5; i++) {
		ck_assert(number(point(i), "point") == i);
		ck_assert(number(point(i), "step") == (i <= 2 ? 2 : 3));
		ck_assert_str_eq(json_text_of(point(i), "state"), "done");
		ck_assert_uint_eq(strtoull(json_text_of(point(i), "seed"), NULL, 10),
			5 + (i <= 2 ? 2 : 3) * 1000003ULL + (unsigned)i);
	}
	ck_assert_str_eq(json_text_of(point(1), "workload"), "fill");
	ck_assert_str_eq(json_string_value(json_array_get(
				 json_object_get(point(2), "bytes"), DIR_WRITE)),
		"4194304");
	ck_assert_str_eq(json_text_of(point(2), "written_bytes"), "4194304");
	ck_assert_str_eq(json_text_of(point(3), "written_bytes"), "0");
	ck_assert(json_is_null(json_object_get(point(3), "load_percent")));
	ck_assert(json_is_null(json_object_get(point(3), "offered_iops")));
	ck_assert(json_is_null(json_object_get(point(3), "late_mean_ns")));
	ck_assert(json_is_null(json_object_get(point(3), "late_max_ns")));
	ck_assert_ptr_nonnull(json_object_get(point(4), "drain_ns"));
	ck_assert(number(point(4), "late_mean_ns") <= number(point(4), "late_max_ns"));
	ck_assert(number(point(4), "load_percent") == 50);
	maximum = number(point(4), "reference_iops");
	ck_assert(maximum > 1000);
	ck_assert(number(point(4), "offered_iops") == program_round_target(maximum / 2));
	ck_assert(number(point(5), "offered_iops") == program_round_target(maximum));
	ck_assert_int_ge(n_samples, 5);
}
END_TEST

START_TEST(what_the_drive_does_not_know_fails_before_anything_is_written)
{
	struct steps_result r;

	poor_drive = engine_null;
	poor_drive.open = open_poorly;
	not_known = 1U << OP_TRIM;
	steps[2].workload.streams[0].read_percent = 50;
	steps[2].workload.streams[0].operation = OP_TRIM;
	r = run("delay=100us");
	ck_assert_int_eq(r.end, STEPS_FAILED);
	ck_assert_str_eq(r.class, "recipe");
	ck_assert_str_eq(r.reason, "the drive knows no trim; leave the trims out");
	ck_assert_uint_eq(r.points, 0);
	ck_assert_str_eq(story(), "");
}
END_TEST

START_TEST(what_the_drive_knows_is_measured)
{
	struct steps_result r;

	poor_drive = engine_null;
	poor_drive.open = open_poorly;
	not_known = 1U << OP_FLUSH;
	steps[2].workload.streams[0].read_percent = 50;
	steps[2].workload.streams[0].operation = OP_TRIM;
	r = run("delay=100us");
	ck_assert_msg(r.end == STEPS_DONE, "%s", r.reason);
	ck_assert_uint_eq(r.points, 5);
}
END_TEST

/* The text of the event of that name, "" when there is none. */
static const char *
text_of(const char *event)
{
	for (int i = 0; i < n_records; i++)
		if (strcmp(json_text_of(records[i].doc, "event"), event) == 0)
			return json_text_of(records[i].doc, "text");
	return "";
}

START_TEST(a_fill_is_skipped_when_the_drive_is_as_it_was_left)
{
	struct steps_result r;

	steps[1].unless = (struct unless){12, "boot a written 8"};
	looks = "boot a written 8";
	r = run("delay=100us");
	ck_assert_msg(r.end == STEPS_DONE, "%s", r.reason);
	ck_assert_uint_eq(r.points, 3);
	ck_assert_str_eq(text_of("prepare.skipped"),
		"r12 left the drive so, nothing has written to it since");
	ck_assert_str_eq(text_of("prepare.repeated"), "");
	ck_assert_int_eq(verified, 3);
}
END_TEST

START_TEST(a_fill_is_repeated_when_anything_may_have_changed_the_drive)
{
	static const char *const texts[] = {
		"since r12 left the drive 2 sectors were written to it",
		"it cannot be told whether it is as r12 left it: it cannot be read",
		"a step before it has changed the drive"};
	static const char *const now[] = {"boot a written 10", NULL, "boot a written 8"};

	steps[1].unless = (struct unless){12, "boot a written 8"};
	steps[1].passes = 1;
	looks = now[_i];
	if (_i == 2)
		steps[0] = steps[2];
	if (_i == 2)
		steps[0].ramp.n_loads = 0;
	ck_assert_uint_eq(run("delay=100us").points, _i == 2 ? 5 : 4);
	ck_assert_str_eq(text_of("prepare.repeated"), texts[_i]);
	ck_assert_str_eq(text_of("prepare.skipped"), "");
}
END_TEST

START_TEST(points_tell_with_which_data_they_wrote)
{
	struct steps_result r;

	program.data = (struct data_shares){62.5, 20};
	r = run("delay=100us");
	ck_assert_msg(r.end == STEPS_DONE, "%s", r.reason);
	for (int i = 1; i <= 5; i++) {
		ck_assert_double_eq(number(point(i), "compress_percent"), 62.5);
		ck_assert_double_eq(number(point(i), "dedupe_percent"), 20);
	}
}
END_TEST

START_TEST(points_tell_what_their_seconds_look_like)
{
	ck_assert_int_eq(run("delay=100us").end, STEPS_DONE);
	for (int i = 1; i <= 5; i++) {
		const json_t *shape = json_object_get(point(i), "shape");

		ck_assert_double_ge(number(shape, "seconds"), 1);
		ck_assert_str_eq(
			json_text_of(shape, "speed"), i <= 3 ? "iops" : "service");
		ck_assert_uint_eq(json_object_size(shape), 2);
		ck_assert_double_eq(number(point(i), "workers"), 1);
	}
}
END_TEST

START_TEST(a_program_with_impossible_data_is_a_bad_recipe)
{
	struct steps_result r;

	program.data.compress_percent = 101;
	r = run("delay=100us");
	ck_assert_int_eq(r.end, STEPS_FAILED);
	ck_assert_str_eq(r.class, "recipe");
	ck_assert_msg(strstr(r.reason, "0% to 100%") != NULL, "%s", r.reason);
}
END_TEST

START_TEST(loads_below_ten_a_second_are_skipped_with_a_note)
{
	struct steps_result r;

	program.steps = steps + 2;
	program.n_steps = 1;
	steps[2].workload.in_flight = 1;
	steps[2].ramp.load_percent[0] = 0.5;
	r = run("delay=5ms");
	ck_assert_msg(r.end == STEPS_DONE, "%s", r.reason);
	ck_assert_uint_eq(r.points, 2);
	ck_assert_str_eq(
		story(), "step.start point.start point note point.start point step.end");
}
END_TEST

START_TEST(rates_are_offered_as_they_are_and_without_a_maximum)
{
	struct steps_result r;

	program.steps = steps + 2;
	program.n_steps = 1;
	steps[2].ramp = (struct ramp){
		.measure_ns = 100 * MS, .rate_iops = {333, 1001}, .n_rates = 2};
	r = run("delay=100us");
	ck_assert_msg(r.end == STEPS_DONE && r.points == 2, "%s", r.reason);
	ck_assert(json_is_null(json_object_get(point(2), "load_percent")));
	ck_assert(number(point(2), "offered_iops") == 1001);
}
END_TEST

START_TEST(a_maximum_of_nothing_is_a_failure_of_the_drive)
{
	struct steps_result r;

	program.steps = steps + 2;
	program.n_steps = 1;
	r = run("delay=400ms");
	ck_assert_int_eq(r.end, STEPS_FAILED);
	ck_assert_str_eq(r.class, "drive");
	ck_assert_msg(strstr(r.reason, "not one I/O ended") != NULL, "%s", r.reason);
}
END_TEST

START_TEST(a_host_that_was_stopped_is_no_failure_of_the_drive)
{
	struct steps_result r;

	program.steps = steps + 2;
	program.n_steps = 1;
	play_a_slow_host();
	r = run("delay=400ms");
	ck_assert_int_eq(r.end, STEPS_FAILED);
	ck_assert_str_eq(r.class, "infra");
	ck_assert_msg(
		strstr(r.reason,
			"did not run the test for 1 s (stopped or overloaded)") != NULL,
		"%s", r.reason);
}
END_TEST

/* The number before the word in the reason of a failed run, 0 when it is not there. */
static unsigned
count_of(const struct steps_result *r, const char *word)
{
	const char *at = strstr(r->reason, word);

	while (at != NULL && at > r->reason && strchr("0123456789 ", at[-1]) != NULL)
		at--;
	return at != NULL ? (unsigned)strtoul(at, NULL, 10) : 0;
}

START_TEST(the_reason_tells_the_kinds_of_errors)
{
	struct steps_result r;
	unsigned all, timeouts, halves;

	program.steps = steps + 2;
	program.n_steps = 1;
	r = run("delay=50us,error=ETIMEDOUT/2,short=3");
	ck_assert_str_eq(r.class, "drive");
	all = count_of(&r, "(");
	timeouts = count_of(&r, "timeout");
	halves = count_of(&r, "short)");
	ck_assert_msg(all > program.max_errors, "%s", r.reason);
	ck_assert_msg(halves > 0 && timeouts > halves, "%s", r.reason);
	ck_assert_msg(timeouts + halves == all, "%s", r.reason);
	ck_assert_msg(strstr(r.reason, ", the first at byte ") != NULL, "%s", r.reason);
}
END_TEST

START_TEST(a_maximum_that_the_host_has_cut_into_is_none)
{
	struct steps_result r;

	program.steps = steps + 2;
	program.n_steps = 1;
	steps[2].ramp.maximum_measure_ns = 4000 * MS;
	play_a_slow_host();
	r = run("delay=50us");
	ck_assert_int_eq(r.end, STEPS_FAILED);
	ck_assert_str_eq(r.class, "infra");
	ck_assert_msg(strstr(r.reason, "this host did not run the test for ") != NULL,
		"%s", r.reason);
	ck_assert_uint_eq(r.points, 1);
	ck_assert_int_gt(
		strtoll(json_text_of(point(1), "missed_ns"), NULL, 10), 1000 * MS);
}
END_TEST

START_TEST(too_many_errors_end_the_run_with_the_first)
{
	struct steps_result r;

	program.steps = steps + 2;
	program.n_steps = 1;
	r = run("delay=50us,error=EIO/2");
	ck_assert_int_eq(r.end, STEPS_FAILED);
	ck_assert_str_eq(r.class, "drive");
	ck_assert_msg(strstr(r.reason, "4k-random-read: more I/Os failed") != NULL &&
			      strstr(r.reason, "Input/output error") != NULL,
		"%s", r.reason);
	ck_assert_uint_eq(r.points, 1);
	ck_assert_str_eq(json_text_of(point(1), "state"), "failed");
	ck_assert_str_eq(json_text_of(point(1), "first_error"), "Input/output error");
}
END_TEST

START_TEST(a_drive_that_goes_away_is_named)
{
	struct steps_result r;

	program.steps = steps + 2;
	program.n_steps = 1;
	r = run("delay=50us,error=ENODEV/1");
	ck_assert_str_eq(r.class, "drive");
	ck_assert_msg(strstr(r.reason, "the drive is gone") != NULL, "%s", r.reason);
}
END_TEST

START_TEST(each_step_wants_to_know_that_this_is_the_drive)
{
	struct steps_result r;

	verify_fails = 2;
	r = run("delay=100us");
	ck_assert_int_eq(r.end, STEPS_FAILED);
	ck_assert_str_eq(r.class, "drive");
	ck_assert_str_eq(r.reason, "the drive is gone");
	ck_assert_uint_eq(r.points, 0);
	ck_assert_str_eq(story(), "step.start step.end step.start step.end");
}
END_TEST

START_TEST(a_stop_ends_the_point_and_the_run)
{
	struct steps_result r;

	steps[2].ramp.maximum_measure_ns = 60 * NS_PER_S;
	stop_at = 20;
	program.steps = steps + 2;
	program.n_steps = 1;
	r = run("delay=100us");
	ck_assert_int_eq(r.end, STEPS_CANCELLED);
	ck_assert_str_eq(r.reason, "sr said stop");
	ck_assert_ptr_null(r.class);
	ck_assert_str_eq(json_text_of(point(1), "state"), "stopped");
	ck_assert_str_eq(story(), "step.start point.start point step.end");
}
END_TEST

START_TEST(a_stop_before_the_first_step_starts_nothing)
{
	struct steps_result r;

	stop_at = 1;
	r = run("delay=100us");
	ck_assert_int_eq(r.end, STEPS_CANCELLED);
	ck_assert_int_eq(n_records, 0);
}
END_TEST

START_TEST(a_load_that_cannot_start_is_told)
{
	struct steps_result r;

	program.steps = steps + 2;
	program.n_steps = 1;
	r = run("delay=banana");
	ck_assert_int_eq(r.end, STEPS_FAILED);
	ck_assert_str_eq(r.class, "recipe");
	ck_assert_msg(strstr(r.reason, "banana") != NULL, "%s", r.reason);
	ck_assert_str_eq(story(), "step.start point.start step.end");
}
END_TEST

START_TEST(failures_have_a_class_and_their_cure)
{
	struct steps_result r = {0};
	struct err e = {0};

	err_set(&e, ERR_UNSAFE, "it is mounted");
	err_fix(&e, "unmount it");
	ck_assert_str_eq(steps_class(&e), "safety");
	steps_fail(&r, steps_class(&e), &e);
	ck_assert_str_eq(r.reason, "it is mounted; unmount it");
	e.class = ERR_NOTFOUND;
	ck_assert_str_eq(steps_class(&e), "infra");
	e.class = ERR_FULL;
	ck_assert_str_eq(steps_class(&e), "infra");
}
END_TEST

int
main(void)
{
	TCase *tc = tcase_create("steps");

	tcase_add_checked_fixture(tc, setup, teardown);
	tcase_set_timeout(tc, 30);
	tcase_add_test(tc, points_run_over_the_attempt_and_loads_refer_to_the_maximum);
	tcase_add_test(tc, what_the_drive_does_not_know_fails_before_anything_is_written);
	tcase_add_test(tc, what_the_drive_knows_is_measured);
	tcase_add_test(tc, a_fill_is_skipped_when_the_drive_is_as_it_was_left);
	tcase_add_loop_test(
		tc, a_fill_is_repeated_when_anything_may_have_changed_the_drive, 0, 3);
	tcase_add_test(tc, points_tell_with_which_data_they_wrote);
	tcase_add_test(tc, points_tell_what_their_seconds_look_like);
	tcase_add_test(tc, a_program_with_impossible_data_is_a_bad_recipe);
	tcase_add_test(tc, loads_below_ten_a_second_are_skipped_with_a_note);
	tcase_add_test(tc, rates_are_offered_as_they_are_and_without_a_maximum);
	tcase_add_test(tc, a_maximum_of_nothing_is_a_failure_of_the_drive);
	tcase_add_test(tc, a_host_that_was_stopped_is_no_failure_of_the_drive);
	tcase_add_test(tc, a_maximum_that_the_host_has_cut_into_is_none);
	tcase_add_test(tc, the_reason_tells_the_kinds_of_errors);
	tcase_add_test(tc, too_many_errors_end_the_run_with_the_first);
	tcase_add_test(tc, a_drive_that_goes_away_is_named);
	tcase_add_test(tc, each_step_wants_to_know_that_this_is_the_drive);
	tcase_add_test(tc, a_stop_ends_the_point_and_the_run);
	tcase_add_test(tc, a_stop_before_the_first_step_starts_nothing);
	tcase_add_test(tc, a_load_that_cannot_start_is_told);
	tcase_add_test(tc, failures_have_a_class_and_their_cure);
	return unit_run("steps", tc);
}
