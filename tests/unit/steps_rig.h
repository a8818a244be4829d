/*
 * steps_rig - a program with rounds, executed on the null engine by script.
 *
 * Its steps are identify, fill and the test "iops", which reads in cell 1 and writes in
 * cell 2; tests change it and may add two steps. run executes it and reads back what it
 * left in the spool; run_and_die ends it in the middle of a point first.
 */
#ifndef TESTS_UNIT_STEPS_RIG_H
#define TESTS_UNIT_STEPS_RIG_H

#include <math.h>
#include <sched.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/wait.h>
#include <unistd.h>

#include "common/clock.h"
#include "common/json.h"
#include "common/log.h"
#include "common/program.h"
#include "runner/engine.h"
#include "runner/outbox.h"
#include "runner/resume.h"
#include "runner/steps.h"
#include "tests/unit/told_rig.h"

#define MS NS_PER_MS
#define TEMPLATE "/var/tmp/ssdlab-rounds-XXXXXX"

static char dir[] = TEMPLATE;
static struct rounds_cell cells[2];
static struct step steps[5];
static struct program program;
static int ticks, stop_at; /* calls of tick; the one that stops, from 1 */
static uint32_t dies_at;   /* the point during which the runner is ended; 0: none */
static uint32_t polled;	   /* the point that waits for reads of health; 0: none */
static atomic_int reads, ticks_seen;
static int fails_at;	  /* the read that fails, from 1; 0: none */
static bool health_stops; /* the first poll waits until the loop has ticked */
static const struct control_status *seen;
static struct outbox *outbox;

static inline int
verify(void *arg, struct drive_id *ret_seen, struct err *e)
{
	(void)arg;
	(void)e;
	*ret_seen = program.drive;
	return 0;
}

/* Whether *n gets there in time. */
static inline bool
comes_to(atomic_int *n, int want)
{
	int64_t deadline = clock_mono() + 20 * NS_PER_S;

	while (atomic_load(n) < want && clock_mono() < deadline)
		sched_yield();
	return atomic_load(n) >= want;
}

/* A drive that plays its answer; that to the first poll may come only when the loop of
 * the load has gone on. */
static inline int
read_health(void *arg, struct err *e)
{
	int n = atomic_fetch_add(&reads, 1) + 1;

	(void)arg;
	if (n == fails_at)
		return err_set(e, ERR_IO, "read %d failed", n);
	if (health_stops && n == 2)
		ck_assert(comes_to(&ticks_seen, atomic_load(&ticks_seen) + 2));
	return 0;
}

/* Ends the process as SIGKILL would, with what it has told in the spool. */
static inline const char *
tick(void *arg)
{
	(void)arg;
	if (dies_at > 0 && seen->point == dies_at) {
		outbox_sync(outbox);
		_exit(9);
	}
	atomic_fetch_add(&ticks_seen, 1);
	if (polled > 0 && seen->point == polled && !health_stops)
		ck_assert(comes_to(&reads, 5));
	return ++ticks >= stop_at && stop_at > 0 ? "sr said stop" : NULL;
}

static inline void
setup(void)
{
	struct rounds *r = &steps[2].rounds;

	memcpy(dir, TEMPLATE, sizeof(dir));
	ck_assert_ptr_nonnull(mkdtemp(dir));
	ticks = stop_at = 0;
	told_none();
	dies_at = polled = 0;
	fails_at = 0;
	health_stops = false;
	atomic_store(&reads, 0);
	atomic_store(&ticks_seen, 0);
	log_set_level(LOG_LEVEL_ERR);
	memset(steps, 0, sizeof(steps));
	memset(cells, 0, sizeof(cells));
	steps[0].kind = STEP_IDENTIFY;
	steps[1].kind = STEP_FILL;
	steps[1].passes = 1;
	workload_plain(&steps[1].workload, 0, 0, 131072);
	snprintf(steps[1].workload.id, sizeof(steps[1].workload.id), "fill");
	steps[1].workload.in_flight = 4;
	steps[2].kind = STEP_ROUNDS;
	snprintf(steps[2].test, sizeof(steps[2].test), "iops");
	for (int i = 0; i < 2; i++) {
		workload_plain(&cells[i].workload, i == 0 ? 100 : 0, 100, 4096);
		snprintf(cells[i].workload.id, sizeof(cells[i].workload.id),
			i == 0 ? "r100" : "r0");
		cells[i].workload.in_flight = 4;
		cells[i].workload.workers = 1;
		cells[i].measure_ns = 100 * MS;
	}
	*r = (struct rounds){.cells = cells,
		.n_cells = 2,
		.tracked = {{1, ROUNDS_IOPS}},
		.n_tracked = 1,
		.window = 3,
		.range_percent = 90,
		.slope_percent = 90,
		.max_rounds = 5};
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

static inline void
teardown(void)
{
	told_remove(dir);
}

static inline struct steps_result
execute(const char *script)
{
	struct control_status status = {.load_percent = (double)NAN};
	struct resume resume;
	struct steps_env env = {.program = &program,
		.fd = -1,
		.engine = engine_named("null"),
		.engine_script = script,
		.status = &status,
		.verify = verify,
		.read_health = read_health,
		.tick = tick};
	struct steps_result r;
	struct err e = {0};

	seen = &status;
	OK(outbox_open(&outbox, dir, &e));
	OK(resume_read(dir, &resume, &e));
	outbox_count_samples(outbox, resume.samples);
	env.resume = resume.begun ? &resume : NULL;
	env.outbox = outbox;
	steps_run(&env, &r);
	outbox_sync(outbox);
	ck_assert(outbox_is_settled(outbox));
	outbox_close(outbox);
	resume_fini(&resume);
	return r;
}

/* Executes the program on a device by script, and reads what it left. */
static inline struct steps_result
run(const char *script)
{
	struct steps_result r = execute(script);

	told_read(dir);
	return r;
}

/* Executes it in a process that is ended in the middle of a point. */
static inline void
run_and_die(const char *script, uint32_t point)
{
	pid_t pid = fork();
	int status = 0;

	ck_assert_int_ge(pid, 0);
	if (pid == 0) {
		dies_at = point;
		execute(script);
		_exit(1);
	}
	ck_assert_int_eq(waitpid(pid, &status, 0), pid);
	ck_assert_int_eq(WEXITSTATUS(status), 9);
}

/* The nth event of that name, from 1. */
static inline json_t *
event(const char *name, int n)
{
	for (int i = 0; i < n_records; i++)
		if (records[i].kind == RECORD_EVENT &&
			strcmp(json_text_of(records[i].doc, "event"), name) == 0 &&
			--n == 0)
			return records[i].doc;
	return NULL;
}

#endif
