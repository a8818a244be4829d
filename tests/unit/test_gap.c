/* Time in which nothing is done between the loads of rounds, however it passes. */
#include <math.h>
#include <stdio.h>

#include "common/clock.h"
#include "common/json.h"
#include "common/log.h"
#include "common/program.h"
#include "common/spool.h"
#include "runner/engine.h"
#include "runner/load.h"
#include "runner/outbox.h"
#include "runner/reading.h"
#include "runner/steps.h"
#include "tests/unit/unit.h"

#define ROUNDS 3

/* Linked in by --wrap: which look at the drive takes 31 s, from 1. Only until the next
 * load begins, whose threads have a clock, too. */
static int slow_reading, n_readings;
static int64_t skipped_ns;

static struct rounds_cell cell;
static struct step step;
static struct program program;
static char why_void[ROUNDS][200]; /* "" of those that count */
static int n_rounds;

int64_t __real_clock_mono(void);
int64_t __wrap_clock_mono(void);
void __real_reading_take(const struct reading_place *p, struct reading *ret_r);
void __wrap_reading_take(const struct reading_place *p, struct reading *ret_r);
int __real_load_run(const struct load *l, struct load_result *ret_r, struct err *e);
int __wrap_load_run(const struct load *l, struct load_result *ret_r, struct err *e);
void __real_outbox_event(struct outbox *o, const char *name, json_t *doc);
void __wrap_outbox_event(struct outbox *o, const char *name, json_t *doc);

int64_t
__wrap_clock_mono(void)
{
	return __real_clock_mono() + skipped_ns;
}

void
__wrap_reading_take(const struct reading_place *p, struct reading *ret_r)
{
	if (++n_readings == slow_reading)
		skipped_ns = 31 * NS_PER_S;
	__real_reading_take(p, ret_r);
}

int
__wrap_load_run(const struct load *l, struct load_result *ret_r, struct err *e)
{
	skipped_ns = 0;
	return __real_load_run(l, ret_r, e);
}

void
__wrap_outbox_event(struct outbox *o, const char *name, json_t *doc)
{
	if (strcmp(name, "round.end") == 0) {
		ck_assert_int_lt(n_rounds, ROUNDS);
		snprintf(why_void[n_rounds++], sizeof(why_void[0]), "%s",
			json_text_of(doc, "void"));
	}
	__real_outbox_event(o, name, doc);
}

static int
verify(void *arg, struct drive_id *ret_seen, struct err *e)
{
	(void)arg;
	(void)e;
	*ret_seen = program.drive;
	return 0;
}

static const char *
tick(void *arg)
{
	(void)arg;
	return NULL;
}

/* Measures three rounds of one cell; each looks at the drive before and behind it. */
static void
run(int slow)
{
	char dir[] = "/var/tmp/ssdlab-gap-XXXXXX";
	struct control_status status = {.load_percent = (double)NAN};
	struct steps_env env = {.program = &program,
		.fd = -1,
		.engine = engine_named("null"),
		.engine_script = "delay=100us",
		.status = &status,
		.verify = verify,
		.tick = tick};
	struct steps_result r;
	struct err e = {0};

	log_set_level(LOG_LEVEL_ERR);
	slow_reading = slow;
	n_readings = n_rounds = 0;
	skipped_ns = 0;
	memset(&cell, 0, sizeof(cell));
	workload_plain(&cell.workload, 100, 100, 4096);
	snprintf(cell.workload.id, sizeof(cell.workload.id), "r");
	cell.workload.in_flight = cell.workload.workers = 1;
	cell.measure_ns = 100 * NS_PER_MS;
	step = (struct step){.kind = STEP_ROUNDS,
		.test = "t",
		.rounds = {.cells = &cell, .n_cells = 1, .max_rounds = ROUNDS}};
	program = (struct program){.run = 1,
		.attempt = 1,
		.fence = 1,
		.seed = 5,
		.max_errors = 50,
		.drive = {DRIVE_FILE, "m", "s", "", "", 4 << 20, 512, -1, true},
		.region_length = 1 << 20,
		.steps = &step,
		.n_steps = 1};
	ck_assert_ptr_nonnull(mkdtemp(dir));
	OK(outbox_open(&env.outbox, dir, &e));
	steps_run(&env, &r);
	outbox_sync(env.outbox);
	outbox_close(env.outbox);
	OK(spool_remove(dir, &e));
	ck_assert_msg(r.end == STEPS_DONE, "%s", r.reason);
	ck_assert_int_eq(n_rounds, ROUNDS);
}

START_TEST(rounds_without_a_gap_count)
{
	run(0);
	for (int i = 0; i < ROUNDS; i++)
		ck_assert_str_eq(why_void[i], "");
}
END_TEST

/* Of the second round the third look is that before it, of the first the second is that
 * behind it: both are before the second load. */
START_TEST(what_it_takes_to_look_at_the_drive_is_a_gap_too)
{
	run(2 + _i);
	ck_assert_str_eq(why_void[0], "");
	ck_assert_str_eq(why_void[1], "t/r: nothing was done for 31.0 s before it");
	ck_assert_str_eq(why_void[2], "");
}
END_TEST

int
main(void)
{
	TCase *tc = tcase_create("gap");

	tcase_set_timeout(tc, 60);
	tcase_add_test(tc, rounds_without_a_gap_count);
	tcase_add_loop_test(tc, what_it_takes_to_look_at_the_drive_is_a_gap_too, 0, 2);
	return unit_run("gap", tc);
}
