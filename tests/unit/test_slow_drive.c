/* Drives by script that are slow in one way each: is each seen for what it is? */
#include <sched.h>
#include <stdatomic.h>
#include <stdio.h>

#include "analysis/sanity.h"
#include "analysis/shape.h"
#include "common/str.h"
#include "runner/seconds.h"
#include "runner/worker.h"
#include "tests/unit/played_clock.h"
#include "tests/unit/unit.h"

#define IN_FLIGHT 64
/* Seconds that the worker may be ahead of their reader: fewer than it has room for. */
#define AHEAD 8

static struct workload workload;
static struct shape shape;
static struct str why;
static struct engine_ops patient;
static int64_t end_ns;	 /* of the measured time, which has a slot each second */
static atomic_int taken; /* seconds */

/* The null engine in a time that waits for the reader of its seconds. */
static int
patient_reap(struct engine *g, struct io *ret_io[], unsigned max, int64_t wait_ns)
{
	while (played_ns < end_ns && played_ns / NS_PER_S - 2 > taken + AHEAD)
		sched_yield();
	return engine_null.reap(g, ret_io, max, wait_ns);
}

/* Takes all seconds of a load. */
static void
play(const struct worker_config *c, struct seconds *s)
{
	struct worker_slot *slot;
	struct worker *w;
	struct err e = {0};
	bool done;

	taken = 0;
	end_ns = 2 * NS_PER_S + c->warmup_ns + c->measure_ns;
	OK(worker_new(&w, c, &e));
	OK(worker_open(w, &e));
	worker_start(w, 2 * NS_PER_S, 0);
	do {
		done = worker_is_done(w);
		while ((slot = worker_slot(w)) != NULL) {
			ck_assert_uint_eq(slot->s.flags & SAMPLE_MERGED, 0);
			seconds_add(s, &slot->s);
			worker_pop(w);
			taken++;
		}
	} while (!done);
	worker_free(w);
}

/* Loads the device for n seconds; rate 0: closed loop. Sets shape, returns its flags. */
static unsigned
flags_of(const char *script, double rate, int n)
{
	struct worker_config c = {.ops = &patient,
		.engine = {.fd = -1, .depth = IN_FLIGHT, .script = script},
		.pattern = {.length = 1 << 30,
			.workload = &workload,
			.seed = 1,
			.shares = 1},
		.warmup_ns = NS_PER_S,
		.measure_ns = n * NS_PER_S,
		.point = 1,
		.arrival = {.kind = ARRIVALS_POISSON,
			.rate = rate,
			.phase = 0.5,
			.span_ns = {NS_PER_S, n * NS_PER_S},
			.seed = 7,
			.backlog_max = 1 << 20}};
	struct sanity s = {.seconds = n, .shape = &shape};
	struct seconds seconds = {0};
	unsigned flags;

	workload_plain(&workload, 100, 100, 4096);
	patient = engine_null;
	patient.reap = patient_reap;
	play(&c, &seconds);
	ck_assert_uint_eq(seconds.n, (size_t)n);
	seconds_shape(&seconds, rate > 0, IN_FLIGHT, &shape);
	seconds_fini(&seconds);
	flags = sanity_flags(&s);
	str_reset(&why);
	for (unsigned bit = 1; bit <= flags; bit <<= 1)
		if ((flags & bit) != 0)
			sanity_reason(&s, (enum sanity_flag)bit, &why);
	return flags;
}

static void
says(const char *part)
{
	ck_assert_msg(strstr(str_text(&why), part) != NULL, "%s", str_text(&why));
}

static void
teardown(void)
{
	str_fini(&why);
}

/* 64 in flight of 1 ms are 64,000 a second; the warm-up is the first second. */
START_TEST(a_cliff_in_time_is_a_cliff)
{
	ck_assert_uint_eq(flags_of("delay=1ms,cliff=4ms@7s", 0, 12), SANITY_CLIFF);
	ck_assert_double_eq(shape.cliff_at_s, 6);
	ck_assert_double_eq_tol(shape.cliff_from / shape.cliff_to, 4, 0.05);
	says("6 s into the point, after 1.5");
}
END_TEST

START_TEST(a_cliff_in_bytes_is_a_cliff)
{
	/* 1250 MiB are 320,000 I/Os: 5 s */
	ck_assert_uint_eq(flags_of("delay=1ms,cliff=3ms@1250MiB", 0, 12), SANITY_CLIFF);
	ck_assert_double_eq(shape.cliff_at_s, 4);
}
END_TEST

START_TEST(a_cliff_under_a_load_that_the_drive_still_does_is_a_cliff)
{
	ck_assert_uint_eq(flags_of("delay=200us,cliff=800us@7s", 5000, 12), SANITY_CLIFF);
	ck_assert(!shape.rate);
	says("the drive went from 2");
	says("us of service time");
}
END_TEST

/* The first is half over when the measured time begins. */
START_TEST(a_throttle_is_spells)
{
	ck_assert_uint_eq(flags_of("delay=1ms,throttle=3ms@2s/6s", 0, 30), SANITY_SPELLS);
	ck_assert_uint_eq(shape.spells, 6);
	ck_assert_double_eq_tol(shape.fast / shape.slow, 3, 0.1);
	says("6 slow spells, ");
}
END_TEST

START_TEST(a_throttle_under_an_offered_load_is_spells)
{
	ck_assert_uint_eq(flags_of("delay=200us,throttle=900us@1500ms/6s", 5000, 30),
		SANITY_SPELLS);
	ck_assert_uint_eq(shape.spells, 6);
}
END_TEST

START_TEST(a_stall_is_a_stall)
{
	static const char *const lengths[] = {"300ms", "900ms", "2500ms"};

	for (size_t i = 0; i < 3; i++) {
		char script[64];
		double want = strtod(lengths[i], NULL) / 1e3;

		snprintf(script, sizeof(script), "delay=1ms,stall=%s@5300ms", lengths[i]);
		ck_assert_msg(flags_of(script, 0, 12) == SANITY_DRIVE_STALL, "%s: %s",
			script, str_text(&why));
		ck_assert_uint_eq(shape.stalls, 1);
		ck_assert_double_eq_tol(shape.stall_s, want, 0.01);
		ck_assert_double_eq_tol(shape.stall_at_s, 4.3, 1);
		ck_assert_uint_eq(flags_of(script, 5000, 12), SANITY_DRIVE_STALL);
	}
}
END_TEST

START_TEST(a_stall_to_the_end_is_a_stall)
{
	ck_assert_uint_eq(
		flags_of("delay=1ms,stall=20s@7500ms", 0, 10), SANITY_DRIVE_STALL);
	ck_assert_double_ge(shape.stall_s, 3);
}
END_TEST

START_TEST(an_even_drive_has_no_flag)
{
	ck_assert_uint_eq(flags_of("delay=1ms", 0, 12), 0);
	ck_assert_uint_eq(flags_of("delay=200us", 5000, 12), 0);
	ck_assert_uint_eq(flags_of("delay=200us", 50, 30), 0);
	ck_assert_uint_eq(flags_of("iops=20000", 0, 12), 0);
}
END_TEST

START_TEST(a_script_that_makes_no_sense_is_refused)
{
	static const struct {
		const char *script, *why;
	} cases[] = {
		{"cliff=1ms", "\"1ms\" is not DELAY@START"},
		{"cliff=1ms@soon", "\"soon\" is neither a time nor a size"},
		{"throttle=1ms@2s", "\"2s\" is not DELAY@LENGTH/PERIOD"},
		{"throttle=1ms@2s/2s", "a spell of 2s/2s is not shorter than its period"},
		{"stall=1ms", "\"1ms\" is not LENGTH@START"},
	};
	struct err e = {0};

	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		struct engine_config c = {
			.fd = -1, .depth = 1, .script = cases[i].script};
		struct engine *g;

		FAILS(engine_null.open(&g, &c, &e), ERR_INVALID, cases[i].why);
	}
}
END_TEST

int
main(void)
{
	TCase *tc = tcase_create("slow_drive");

	tcase_add_checked_fixture(tc, NULL, teardown);
	tcase_set_timeout(tc, 60);
	tcase_add_test(tc, a_cliff_in_time_is_a_cliff);
	tcase_add_test(tc, a_cliff_in_bytes_is_a_cliff);
	tcase_add_test(tc, a_cliff_under_a_load_that_the_drive_still_does_is_a_cliff);
	tcase_add_test(tc, a_throttle_is_spells);
	tcase_add_test(tc, a_throttle_under_an_offered_load_is_spells);
	tcase_add_test(tc, a_stall_is_a_stall);
	tcase_add_test(tc, a_stall_to_the_end_is_a_stall);
	tcase_add_test(tc, an_even_drive_has_no_flag);
	tcase_add_test(tc, a_script_that_makes_no_sense_is_refused);
	return unit_run("slow_drive", tc);
}
