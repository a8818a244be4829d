#include "runner/worker.h"

#include <stdio.h>
#include <time.h>

#include "common/clock.h"
#include "tests/unit/unit.h"

/* Seconds of 2 ms, so that many pass in a moment. */
#define SECOND_NS (2 * NS_PER_MS)

static struct workload workload;

static struct worker_config
config(const char *script)
{
	workload_plain(&workload, 100, 100, 4096);
	return (struct worker_config){
		.ops = &engine_null,
		.engine = {.fd = -1, .depth = 8, .script = script},
		.pattern = {.length = 1 << 30,
			.workload = &workload,
			.seed = 1,
			.shares = 1},
		.measure_ns = 40 * SECOND_NS,
		.point = 1,
		.second_ns = SECOND_NS,
	};
}

static struct worker *
started(const struct worker_config *c)
{
	struct worker *w;
	struct err e = {0};

	OK(worker_new(&w, c, &e));
	OK(worker_open(w, &e));
	worker_start(w, clock_mono(), clock_wall());
	return w;
}

/* Looks until the worker is done, without taking slots; fails after a minute. */
static void
wait_done(const struct worker *w)
{
	const struct timespec pause = {0, NS_PER_MS};
	int64_t deadline = clock_mono() + 60 * NS_PER_S;

	while (!worker_is_done(w)) {
		ck_assert_int_lt(clock_mono(), deadline);
		nanosleep(&pause, NULL);
	}
}

START_TEST(a_reader_that_is_late_gets_merged_seconds_and_loses_nothing)
{
	struct worker_config c = config("delay=50us");
	struct worker *w = started(&c);
	struct worker_slot *slot;
	uint64_t ops = 0;
	uint32_t second = 0;
	bool merged = false;
	int64_t length = 0;

	wait_done(w);
	while ((slot = worker_slot(w)) != NULL) {
		ck_assert_uint_eq(slot->s.second, second);
		if (slot->end_second > second + 1)
			ck_assert_uint_ne(slot->s.flags & SAMPLE_MERGED, 0);
		merged = merged || (slot->s.flags & SAMPLE_MERGED) != 0;
		second = slot->end_second;
		length += slot->s.length_ns;
		ops += slot->s.ops[DIR_READ];
		ck_assert_uint_eq(slot->s.service[DIR_READ].n, slot->s.ops[DIR_READ]);
		worker_pop(w);
	}
	ck_assert(merged);
	ck_assert_uint_eq(second, 40);
	ck_assert_int_eq(length, c.measure_ns);
	ck_assert_int_eq(worker_report(w)->measured_ns, c.measure_ns);
	ck_assert_uint_gt(ops, 0);
	worker_free(w);
}
END_TEST

START_TEST(warm_up_is_never_merged_into_measured_time)
{
	struct worker_config c = config("delay=50us");
	struct worker *w;
	struct worker_slot *slot;
	int64_t measured = 0;

	c.warmup_ns = 20 * SECOND_NS;
	c.measure_ns = 5 * SECOND_NS + SECOND_NS / 2;
	w = started(&c);
	wait_done(w);
	while ((slot = worker_slot(w)) != NULL) {
		if ((slot->s.flags & SAMPLE_WARMUP) == 0) {
			ck_assert_uint_ge(slot->s.second, 20);
			measured += slot->s.length_ns;
		} else {
			ck_assert_uint_le(slot->end_second, 20);
		}
		worker_pop(w);
	}
	ck_assert_int_eq(measured, c.measure_ns);
	worker_free(w);
}
END_TEST

START_TEST(seconds_without_progress_are_slots_of_zeros)
{
	struct worker_config c = config("delay=20us,pause=20ms@10ms");
	struct worker *w;
	struct worker_slot *slot;
	unsigned zeros = 0;
	uint32_t second = 0;

	c.measure_ns = 15 * SECOND_NS;
	w = started(&c);
	wait_done(w);
	while ((slot = worker_slot(w)) != NULL) {
		ck_assert_uint_eq(slot->s.second, second++);
		ck_assert_int_eq(slot->s.length_ns, SECOND_NS);
		zeros += slot->s.ops[DIR_READ] == 0;
		worker_pop(w);
	}
	ck_assert_uint_eq(second, 15);
	ck_assert_uint_ge(zeros, 8);
	worker_free(w);
}
END_TEST

START_TEST(a_worker_that_was_never_started_can_be_freed)
{
	struct worker_config c = config(NULL);
	struct worker *w;
	struct err e = {0};

	OK(worker_new(&w, &c, &e));
	worker_free(w);
	OK(worker_new(&w, &c, &e));
	OK(worker_open(w, &e));
	worker_free(w);
	worker_free(NULL);
	c.engine.script = "nonsense";
	OK(worker_new(&w, &c, &e));
	FAILS(worker_open(w, &e), ERR_INVALID, "unknown word \"nonsense\"");
	worker_free(w);
}
END_TEST

int
main(void)
{
	TCase *tc = tcase_create("worker");

	tcase_set_timeout(tc, 120);
	tcase_add_test(tc, a_reader_that_is_late_gets_merged_seconds_and_loses_nothing);
	tcase_add_test(tc, warm_up_is_never_merged_into_measured_time);
	tcase_add_test(tc, seconds_without_progress_are_slots_of_zeros);
	tcase_add_test(tc, a_worker_that_was_never_started_can_be_freed);
	return unit_run("worker", tc);
}
