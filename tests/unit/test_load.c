#include "runner/load.h"

#include <errno.h>
#include <poll.h>
#include <stdatomic.h>
#include <stdio.h>

#include "analysis/cut.h"
#include "common/clock.h"
#include "tests/unit/chi2.h"
#include "tests/unit/played_clock.h"
#include "tests/unit/unit.h"

#define SEEN_MAX 4096

/* Longer than any try to stop a load takes, in time that passes as fast as it is used. */
#define FOR_EVER_NS (10000000 * NS_PER_S)

static struct load_result r;
static struct sample total; /* sum of the measured samples */
static unsigned n_samples, n_warmup, n_measured;
static uint32_t next_second;
static int64_t last_mono_end;
static int reader_ms; /* what each sample costs its reader, in real time */
static struct sample last;
static uint64_t seen[SEEN_MAX];
static atomic_uint n_seen;

static void
add_sample(void *arg, const struct sample *s)
{
	(void)arg;
	poll(NULL, 0, reader_ms);
	ck_assert_uint_eq(s->second, next_second);
	if (n_samples != 0)
		ck_assert_int_eq(s->mono_ns, last_mono_end);
	last_mono_end = s->mono_ns + s->length_ns;
	next_second += (uint32_t)((s->length_ns + NS_PER_S - 1) / NS_PER_S);
	n_samples++;
	last = *s;
	if ((s->flags & SAMPLE_WARMUP) != 0) {
		n_warmup++;
		return;
	}
	n_measured++;
	total.dropped += s->dropped;
	total.length_ns += s->length_ns;
	for (int d = 0; d < DIRECTIONS; d++) {
		total.ops[d] += s->ops[d];
		total.bytes[d] += s->bytes[d];
		total.errors[d] += s->errors[d];
		hist_merge(&total.service[d], &s->service[d]);
		hist_merge(&total.response[d], &s->response[d]);
	}
}

static struct load
null_load(const char *script)
{
	struct load l = {
		.fd = -1,
		.engine = &engine_null,
		.engine_script = script,
		.workload = {.in_flight = 16, .workers = 1},
		.length = 1 << 30,
		.align_bytes = 512,
		.measure_ns = 100 * NS_PER_MS,
		.seed = 1,
		.point = 3,
		.on_sample = add_sample,
	};

	memset(&total, 0, sizeof(total));
	n_samples = n_warmup = n_measured = next_second = 0;
	n_seen = 0;
	workload_plain(&l.workload, 100, 100, 4096);
	return l;
}

static void
run(const struct load *l, enum load_end want)
{
	struct err e = {0};

	OK(load_run(l, &r, &e));
	ck_assert_int_eq(r.end, want);
}

/* I/Os that took 20 ms or more. */
static uint64_t
slow(const struct hist *h)
{
	uint64_t n = 0;

	for (unsigned i = hist_index(20000000); i < HIST_BUCKETS; i++)
		n += h->count[i];
	return n;
}

/* An engine that notes offsets and is null otherwise. */
static int
noting_submit(struct engine *g, struct io *const io[], unsigned n)
{
	for (unsigned i = 0; i < n && n_seen < SEEN_MAX; i++) {
		seen[n_seen] = io[i]->offset;
		n_seen++;
	}
	return engine_null.submit(g, io, n);
}

static bool
until_noted(void *arg)
{
	(void)arg;
	return n_seen < SEEN_MAX;
}

static struct engine_ops
noting_engine(void)
{
	struct engine_ops ops = engine_null;

	ops.submit = noting_submit;
	return ops;
}

START_TEST(a_closed_loop_keeps_in_flight_full)
{
	struct load l = null_load("delay=1ms");
	double mean, edge;

	run(&l, LOAD_DONE);
	ck_assert_int_eq(r.length_ns, l.measure_ns);
	ck_assert_double_le(r.in_flight_mean, 16.001);
	ck_assert_double_ge(r.in_flight_mean, 15.9);
	/* Little's law, but for what was in flight at the two ends. */
	mean = (double)r.service[DIR_READ].sum_ns / (double)r.length_ns;
	edge = (double)r.service[DIR_READ].max_ns;
	ck_assert_double_eq_tol(mean, r.in_flight_mean, 16 * edge / (double)r.length_ns);
	ck_assert_uint_ge(r.service[DIR_READ].min_ns, 1000000);
	ck_assert_uint_eq(r.ops[DIR_WRITE], 0);
	ck_assert_uint_eq(r.response[DIR_READ].n, 0);
	ck_assert_uint_eq(r.bytes[DIR_READ], r.ops[DIR_READ] * 4096);
	ck_assert_uint_eq(last.in_flight, 16);
	ck_assert_uint_eq(r.late.n, 0);
	ck_assert_uint_eq(last.point, 3);
	ck_assert_str_eq(r.engine, "null: delay=1ms");
}
END_TEST

/* All that was offered is done, in flight or waiting at the end. */
START_TEST(an_open_loop_offers_exactly_its_rate)
{
	for (int kind = ARRIVALS_POISSON; kind <= ARRIVALS_FIXED; kind++) {
		struct load l = null_load("delay=50us");
		uint64_t ops;

		l.offered_iops = 20000;
		l.arrivals = (enum arrivals)kind;
		run(&l, LOAD_DONE);
		ops = r.ops[DIR_READ];
		ck_assert_uint_eq(ops + last.in_flight + last.backlog, 2000);
		ck_assert_uint_eq(r.dropped, 0);
		ck_assert_uint_gt(ops, 1980);
		ck_assert_uint_eq(r.response[DIR_READ].n, ops);
		ck_assert_uint_ge(
			r.response[DIR_READ].min_ns, r.service[DIR_READ].min_ns);
		ck_assert_uint_ge(r.service[DIR_READ].min_ns, 50000);
	}
}
END_TEST

START_TEST(each_rate_is_met_within_a_thousandth)
{
	static const double rates[] = {10, 33, 100, 977, 1000, 9999, 50000, 90000};

	for (int kind = ARRIVALS_POISSON; kind <= ARRIVALS_FIXED; kind++)
		for (size_t i = 0; i < sizeof(rates) / sizeof(rates[0]); i++) {
			/* The device does 100,000 a second: the last rate is 90 % of it.
			 */
			struct load l = null_load("iops=100000");
			double offered = rates[i] * 10;

			l.offered_iops = rates[i];
			l.arrivals = (enum arrivals)kind;
			l.workload.in_flight = 128;
			l.measure_ns = 10 * NS_PER_S;
			run(&l, LOAD_DONE);
			ck_assert_double_eq_tol(
				(double)r.ops[DIR_READ], offered, 1 + offered / 1000);
			ck_assert_uint_eq(r.dropped, 0);
		}
}
END_TEST

START_TEST(a_mix_keeps_rate_and_shares)
{
	struct load l = null_load("delay=20us");
	double ops;

	l.offered_iops = 50000;
	l.workload.streams[0].read_percent = 97;
	l.workload.workers = 2;
	run(&l, LOAD_DONE);
	ops = (double)(r.ops[DIR_READ] + r.ops[DIR_WRITE]);
	ck_assert_double_eq(ops + last.in_flight + (double)last.backlog, 5000);
	/* Five standard deviations of 5,000 draws. */
	ck_assert_double_eq_tol((double)r.ops[DIR_READ], ops * 0.97, 61);
}
END_TEST

/* How many of the I/Os of both sizes, 4 KiB and 64 KiB, were large. */
static double
large_ones(void)
{
	uint64_t ops = r.ops[DIR_READ] + r.ops[DIR_WRITE];
	uint64_t bytes = r.bytes[DIR_READ] + r.bytes[DIR_WRITE];

	ck_assert_uint_eq((bytes - ops * 4096) % (65536 - 4096), 0);
	return (double)((bytes - ops * 4096) / (65536 - 4096));
}

/*
 * Ten seconds at 1,000 a second: with blocks of two sizes, or of few writes, generators
 * that give each direction or each size a rate of its own miss rate and shares. Here the
 * rate is exact, and the shares are within five standard deviations.
 */
START_TEST(slow_mixes_keep_rate_and_shares)
{
	for (unsigned i = 0; i < 8; i++) {
		struct load l = null_load("delay=100us");
		struct flow *s = &l.workload.streams[0];
		bool sizes = i % 2 == 0;
		double ops;

		l.offered_iops = 1000;
		l.measure_ns = 10 * NS_PER_S;
		l.arrivals = i / 2 % 2 == 0 ? ARRIVALS_POISSON : ARRIVALS_FIXED;
		l.workload.workers = 1 + i / 4;
		s->read_percent = sizes ? 50 : 97;
		for (int d = 0; sizes && d < DATA_DIRECTIONS; d++)
			s->blocks[d] = (struct block_mix){2, {{4096, 50}, {65536, 50}}};
		run(&l, LOAD_DONE);
		ops = (double)(r.ops[DIR_READ] + r.ops[DIR_WRITE]);
		ck_assert_double_eq(ops + last.in_flight + (double)last.backlog, 10000);
		ck_assert_double_ge(ops, 9990);
		ck_assert_uint_eq(r.dropped, 0);
		if (sizes)
			ck_assert_double_eq_tol(large_ones(), ops / 2, 250);
		ck_assert_double_eq_tol((double)r.ops[DIR_READ],
			ops * s->read_percent / 100, sizes ? 250 : 85.3);
	}
}
END_TEST

/* The worker cannot run for 100 of 400 ms: who came meanwhile has waited. */
START_TEST(a_pause_of_the_host_shows_in_response_not_in_service)
{
	struct load l = null_load("delay=50us,pause=100ms@100ms");

	l.offered_iops = 2000;
	l.arrivals = ARRIVALS_FIXED;
	l.measure_ns = 300 * NS_PER_MS;
	l.workload.in_flight = 256;
	run(&l, LOAD_DONE);
	ck_assert_uint_ge(hist_percentile(&r.response[DIR_READ], 0.99), 80000000);
	ck_assert_uint_ge(slow(&r.response[DIR_READ]), 120);
	ck_assert_uint_lt(slow(&r.service[DIR_READ]), slow(&r.response[DIR_READ]) / 2);
	ck_assert_uint_eq(r.dropped, 0);
	/* The load itself was late: 200 of 600 arrivals by 50 ms on average. */
	ck_assert_int_ge(r.late.max_ns, 80 * NS_PER_MS);
	ck_assert_double_gt(late_mean_ns(&r.late), 10e6);
	ck_assert_uint_gt(r.late.n, 400);
}
END_TEST

/* The worker is stopped for 2 of 6 s: 2,000 of 6,000 arrivals wait for it, and the
 * response time of no fewer than one in three shows it; each I/O was fast. */
START_TEST(two_seconds_that_the_host_stood_still_are_not_omitted)
{
	struct load l = null_load("delay=50us,pause=2s@2s");

	l.offered_iops = 1000;
	l.workload.in_flight = 4096;
	l.measure_ns = 6 * NS_PER_S;
	run(&l, LOAD_DONE);
	ck_assert_uint_eq(r.ops[DIR_READ] + last.in_flight, 6000);
	ck_assert_uint_ge(hist_percentile(&r.response[DIR_READ], 0.99), 1900000000);
	ck_assert_uint_ge(slow(&r.response[DIR_READ]), 1900);
	ck_assert_uint_ge(r.response[DIR_READ].max_ns, 1990000000);
	ck_assert_uint_lt(hist_percentile(&r.service[DIR_READ], 0.99), 100000);
	ck_assert_uint_eq(r.dropped, 0);
	ck_assert_int_ge(r.late.max_ns, 1990 * NS_PER_MS);
}
END_TEST

/* The device does nothing for 100 of 400 ms: four I/Os see it, all others wait. */
START_TEST(a_stall_of_the_device_is_not_hidden_by_who_could_not_start)
{
	struct load l = null_load("delay=50us,stall=100ms@100ms");

	l.offered_iops = 2000;
	l.arrivals = ARRIVALS_FIXED;
	l.measure_ns = 300 * NS_PER_MS;
	l.workload.in_flight = 4;
	run(&l, LOAD_DONE);
	ck_assert_uint_ge(r.service[DIR_READ].max_ns, 50000000);
	ck_assert_uint_ge(slow(&r.response[DIR_READ]), 120);
	ck_assert_uint_lt(slow(&r.service[DIR_READ]), slow(&r.response[DIR_READ]) / 2);
	ck_assert_uint_ge(r.backlog_max, 150);
	/* That was the device: the load was in time as long as it could be. */
	ck_assert_int_lt(r.late.max_ns, 80 * NS_PER_MS);
	ck_assert_double_lt(late_mean_ns(&r.late), 10e6);
	ck_assert_uint_gt(r.late.n, 0);
	ck_assert_uint_lt(r.late.n, r.response[DIR_READ].n - 150);
}
END_TEST

START_TEST(above_saturation_in_flight_is_bounded_and_the_rest_waits)
{
	struct load l = null_load("iops=2000");

	l.offered_iops = 10000;
	l.workload.in_flight = 4;
	run(&l, LOAD_DONE);
	ck_assert_uint_le(r.ops[DIR_READ], 205);
	ck_assert_uint_eq(last.in_flight, 4);
	ck_assert_uint_eq(r.ops[DIR_READ] + last.in_flight + last.backlog, 1000);
	ck_assert_uint_ge(r.backlog_max, 600);
	ck_assert_uint_eq(r.unfinished.n, last.in_flight + last.backlog);
	ck_assert_uint_gt(r.response[DIR_READ].max_ns, 10 * r.service[DIR_READ].min_ns);
	ck_assert_double_gt(r.in_flight_mean, 3.5);
}
END_TEST

START_TEST(a_stall_that_lasts_to_the_end_is_kept)
{
	/* The last 2 of 6 s: no histogram of the point has them. */
	struct load l = null_load("delay=100us,stall=10s@4s");

	l.offered_iops = 1000;
	l.measure_ns = 6 * NS_PER_S;
	run(&l, LOAD_DONE);
	ck_assert_uint_eq(r.response[DIR_READ].n + r.unfinished.n, 6000);
	ck_assert_uint_lt(r.response[DIR_READ].max_ns, 10 * NS_PER_MS);
	ck_assert_uint_gt(r.unfinished.n, 1900);
	ck_assert_uint_gt(r.unfinished.max_ns, 2 * NS_PER_S);
	ck_assert_double_gt(cut_factor(r.service, r.response, &r.unfinished), 1000);
}
END_TEST

static bool
refuse(void *arg)
{
	(void)arg;
	return false;
}

int __real_nanosleep(const struct timespec *length, struct timespec *ret_left);
int __wrap_nanosleep(const struct timespec *length, struct timespec *ret_left);
static bool stands_still; /* in its next sleep */

int
__wrap_nanosleep(const struct timespec *length, struct timespec *ret_left)
{
	if (stands_still)
		played_ns += 1300 * NS_PER_MS;
	stands_still = false;
	return __real_nanosleep(length, ret_left);
}

START_TEST(time_that_the_process_did_not_run_is_told)
{
	struct load l = null_load("delay=10000s");

	l.measure_ns = FOR_EVER_NS;
	l.on_tick = refuse;
	stands_still = true;
	run(&l, LOAD_STOPPED);
	ck_assert_int_ge(r.missed_ns, 1300 * NS_PER_MS);
	ck_assert_int_lt(r.missed_ns, 1310 * NS_PER_MS);
	ck_assert_int_le(r.missed_measure_ns, r.missed_ns);
	ck_assert_int_ge(r.missed_measure_ns, 1290 * NS_PER_MS);
}
END_TEST

START_TEST(a_stopped_load_drains)
{
	struct load l = null_load(_i == 0 ? "delay=200d" : "delay=200d,pause=100d@0s");

	l.on_tick = refuse;
	l.measure_ns = FOR_EVER_NS;
	reader_ms = 5; /* which makes it slower than the worker */
	run(&l, LOAD_STOPPED);
	ck_assert_int_lt(r.length_ns, FOR_EVER_NS / 2);
	ck_assert_int_gt(r.length_ns, 0);
	ck_assert(r.drain_ns > NS_PER_S && r.drain_ns < 100 * NS_PER_S);
	ck_assert_uint_eq(last.in_flight, 16);
	ck_assert_ptr_null(r.reason);
}
END_TEST

START_TEST(errors_are_counted_by_kind_with_the_first)
{
	struct load l = null_load("delay=100us,error=ENOSPC/100,short=7777,again=30");
	uint64_t errors;

	l.max_errors = 1000000;
	run(&l, LOAD_DONE);
	errors = r.faults[LOAD_FAULT_SPACE] + r.faults[LOAD_FAULT_SHORT];
	ck_assert_uint_gt(r.faults[LOAD_FAULT_SPACE], 0);
	ck_assert_uint_eq(r.errors[DIR_READ], errors);
	ck_assert_int_eq(r.first_error, ENOSPC);
	ck_assert_uint_lt(r.first_error_offset, l.length);
	ck_assert_uint_eq(total.errors[DIR_READ], errors);
	/* A failed I/O is in no histogram; one told to come again is no failure. */
	ck_assert_uint_eq(r.service[DIR_READ].n, r.ops[DIR_READ]);
	ck_assert_uint_eq(r.faults[LOAD_FAULT_OTHER], 0);
}
END_TEST

/* 40 % reads, 30 % trims, 20 % zeroes, 10 % flushes; blocks of 4 KiB. */
static void
set_operations(struct workload *w)
{
	static const struct {
		enum operation operation;
		double share, read;
	} streams[] = {
		{OP_TRIM, 70, 400.0 / 7},
		{OP_WRITE_ZEROES, 20, 0},
		{OP_FLUSH, 10, 0},
	};

	workload_plain(w, 0, 100, 4096);
	w->n_streams = 3;
	for (size_t i = 0; i < 3; i++) {
		w->streams[i] = w->streams[0];
		w->streams[i].operation = streams[i].operation;
		w->streams[i].share_percent = streams[i].share;
		w->streams[i].read_percent = streams[i].read;
	}
}

START_TEST(each_operation_is_counted_for_itself)
{
	static const double shares[DIRECTIONS] = {40, 0, 30, 20, 10};
	struct load l = null_load("delay=100us");
	unsigned ops[DIRECTIONS];

	set_operations(&l.workload);
	l.offered_iops = 10000;
	l.measure_ns = 2 * NS_PER_S;
	run(&l, LOAD_DONE);
	for (int d = 0; d < DIRECTIONS; d++) {
		ops[d] = (unsigned)r.ops[d];
		ck_assert_uint_eq(r.service[d].n, r.ops[d]);
		ck_assert_uint_eq(r.response[d].n, r.ops[d]);
		ck_assert_uint_eq(total.ops[d], r.ops[d]);
		ck_assert_uint_eq(total.service[d].n, r.ops[d]);
		ck_assert_uint_eq(
			r.bytes[d], d == DIR_FLUSH ? 0 : r.ops[d] * UINT64_C(4096));
		ck_assert_uint_eq(r.errors[d], 0);
	}
	chi2_want("operations", ops, shares, DIRECTIONS);
	ck_assert_uint_eq(r.ops[DIR_WRITE], 0);
	/* Zeroes are written, trims are not. */
	ck_assert_uint_eq(r.written_bytes, r.bytes[DIR_ZERO]);
}
END_TEST

START_TEST(errors_of_each_operation_are_its_own)
{
	struct load l = null_load("delay=100us,error=ENOSPC/10");
	uint64_t errors = 0;

	set_operations(&l.workload);
	l.max_errors = 1000000;
	run(&l, LOAD_DONE);
	for (int d = 0; d < DIRECTIONS; d++) {
		ck_assert_int_eq(r.errors[d] > 0, d != DIR_WRITE);
		ck_assert_uint_eq(total.errors[d], r.errors[d]);
		ck_assert_uint_eq(r.service[d].n, r.ops[d]);
		errors += r.errors[d];
	}
	ck_assert_uint_eq(errors, r.faults[LOAD_FAULT_SPACE]);
}
END_TEST

START_TEST(a_failed_flush_is_told_though_it_has_no_length)
{
	struct load l = null_load("delay=100us,error=EIO/1");

	set_operations(&l.workload);
	l.workload.streams[0] = l.workload.streams[2];
	l.workload.streams[0].share_percent = 100;
	l.workload.n_streams = 1;
	run(&l, LOAD_FAILED);
	ck_assert_int_eq(r.first_error, EIO);
	ck_assert_uint_gt(r.errors[DIR_FLUSH], 0);
	ck_assert_uint_eq(r.ops[DIR_FLUSH], 0);
}
END_TEST

START_TEST(more_errors_than_allowed_fail_the_load)
{
	for (uint32_t workers = 1; workers <= 2; workers++) {
		struct load l = null_load("delay=100us,error=EIO/10");

		l.max_errors = 5;
		l.measure_ns = FOR_EVER_NS;
		l.workload.workers = workers;
		run(&l, LOAD_FAILED);
		ck_assert_uint_gt(r.faults[LOAD_FAULT_MEDIA], 5);
		ck_assert_int_eq(r.first_error, EIO);
		ck_assert_str_eq(r.reason, "more I/Os failed than are allowed");
	}
}
END_TEST

START_TEST(samples_sum_to_the_result)
{
	struct load l = null_load("delay=100us,error=EIO/1000");

	l.workload.workers = 2;
	l.workload.streams[0].read_percent = 70;
	l.offered_iops = 20000;
	l.warmup_ns = 50 * NS_PER_MS;
	l.measure_ns = 1050 * NS_PER_MS;
	l.max_errors = 1000;
	run(&l, LOAD_DONE);
	ck_assert_uint_eq(n_warmup, 1);
	ck_assert_uint_eq(n_measured, 2);
	ck_assert_int_eq(total.length_ns, r.length_ns);
	for (int d = 0; d < DIRECTIONS; d++) {
		ck_assert_uint_eq(total.ops[d], r.ops[d]);
		ck_assert_uint_eq(total.bytes[d], r.bytes[d]);
		ck_assert_uint_eq(total.errors[d], r.errors[d]);
		ck_assert_uint_eq(total.service[d].n, r.ops[d]);
		ck_assert(memcmp(&total.service[d], &r.service[d],
				  sizeof(r.service[d])) == 0);
		ck_assert(memcmp(&total.response[d], &r.response[d],
				  sizeof(r.response[d])) == 0);
	}
	ck_assert_uint_eq(total.dropped, r.dropped);
	ck_assert_int_ge(last.wall_ns, r.start_wall_ns + 1050 * NS_PER_MS);
}
END_TEST

/* Each worker counts its own; the load adds them up. */
START_TEST(lateness_is_counted_of_all_workers)
{
	struct late all = {.n = 3, .sum_ns = 60, .max_ns = 40};
	struct late none = {0};

	late_add(&all, 0);
	ck_assert_double_eq(late_mean_ns(&all), 15);
	late_add(&none, 100);
	late_merge(&all, &none);
	ck_assert_uint_eq(all.n, 5);
	ck_assert_int_eq(all.max_ns, 100);
	ck_assert_double_eq(late_mean_ns(&all), 32);
	none = (struct late){0};
	ck_assert(isnan(late_mean_ns(&none)));
}
END_TEST

START_TEST(the_same_seed_gives_the_same_offsets)
{
	static uint64_t first[SEEN_MAX];
	struct engine_ops noting = noting_engine();

	for (unsigned round = 0; round < 3; round++) {
		struct load l = null_load(NULL);
		unsigned equal = 0;

		l.measure_ns = FOR_EVER_NS;
		l.on_tick = until_noted;
		l.seed = round < 2 ? 5 : 6;
		l.engine = &noting;
		run(&l, LOAD_STOPPED);
		ck_assert_uint_eq(n_seen, SEEN_MAX);
		if (round == 0)
			memcpy(first, seen, sizeof(first));
		for (unsigned i = 0; i < SEEN_MAX; i++)
			equal += first[i] == seen[i];
		if (round < 2)
			ck_assert_uint_eq(equal, SEEN_MAX);
		else
			ck_assert_uint_lt(equal, 10);
	}
}
END_TEST

START_TEST(one_pass_ends_when_all_is_written)
{
	struct load l = null_load("delay=10us");

	l.one_pass = 1000 * 4096 + 512;
	l.workload.workers = 0;
	l.measure_ns = 0;
	run(&l, LOAD_DONE);
	ck_assert_uint_eq(r.bytes[DIR_WRITE], l.one_pass);
	ck_assert_uint_eq(r.ops[DIR_WRITE], 1001);
	ck_assert_uint_eq(r.ops[DIR_READ], 0);
	ck_assert_uint_eq(total.bytes[DIR_WRITE], l.one_pass);
	ck_assert_int_gt(r.length_ns, 0);
}
END_TEST

START_TEST(loads_that_cannot_be_are_refused)
{
	struct err e = {0};
	struct load l = null_load(NULL);

	l.workload.in_flight = 0;
	FAILS(load_run(&l, &r, &e), ERR_INVALID, "0 I/Os in flight");
	l.workload.in_flight = 5000;
	FAILS(load_run(&l, &r, &e), ERR_INVALID, "5000 I/Os in flight");
	l = null_load(NULL);
	l.workload.workers = 17;
	FAILS(load_run(&l, &r, &e), ERR_INVALID, "17 workers");
	l = null_load(NULL);
	workload_plain(&l.workload, 100, 100, 1536);
	l.align_bytes = 1024;
	FAILS(load_run(&l, &r, &e), ERR_INVALID, "no multiple");
	l = null_load(NULL);
	workload_plain(&l.workload, 100, 100, 16 << 20);
	l.workload.in_flight = 4096;
	FAILS(load_run(&l, &r, &e), ERR_INVALID, "8GiB");
	l = null_load(NULL);
	workload_plain(&l.workload, 100, 100, 0);
	FAILS(load_run(&l, &r, &e), ERR_INVALID, "a block is a multiple of 512 bytes");
	l = null_load(NULL);
	l.length = 4095;
	FAILS(load_run(&l, &r, &e), ERR_INVALID, "needs one block for each worker, 4096");
	l = null_load(NULL);
	l.one_pass = l.length + 4096;
	FAILS(load_run(&l, &r, &e), ERR_INVALID, "is more than the region");
	l = null_load(NULL);
	l.offset = 100;
	FAILS(load_run(&l, &r, &e), ERR_INVALID, "drive's blocks");
	l = null_load(NULL);
	l.measure_ns = 0;
	FAILS(load_run(&l, &r, &e), ERR_INVALID, "above 0");
	l = null_load(NULL);
	l.offered_iops = -1;
	FAILS(load_run(&l, &r, &e), ERR_INVALID, "rate of -1");
	l = null_load(NULL);
	l.workload.streams[0].read_percent = 101;
	FAILS(load_run(&l, &r, &e), ERR_INVALID, "0% to 100%");
	l = null_load(NULL);
	l.workload.n_streams = 0;
	FAILS(load_run(&l, &r, &e), ERR_INVALID, "1 to 8 streams");
	l = null_load(NULL);
	flow_set_jesd219(&l.workload.streams[0]);
	l.length = 16 * 4096;
	FAILS(load_run(&l, &r, &e), ERR_INVALID, "a zone of 3276B has no room");
	l.one_pass = l.length;
	FAILS(load_run(&l, &r, &e), ERR_INVALID, "one pass has one block size");
	l = null_load("delay=fast");
	FAILS(load_run(&l, &r, &e), ERR_INVALID, "script of the null engine");
	l = null_load(NULL);
	l.engine = &engine_sync;
	FAILS(load_run(&l, &r, &e), ERR_INVALID, "16 in flight need 16 workers, not 1");
	l.workload.workers = 16;
	FAILS(load_run(&l, &r, &e), ERR_INVALID, "not open");
}
END_TEST

int
main(void)
{
	TCase *tc = tcase_create("load");

	tcase_set_timeout(tc, 60);
	tcase_add_test(tc, a_closed_loop_keeps_in_flight_full);
	tcase_add_test(tc, an_open_loop_offers_exactly_its_rate);
	tcase_add_test(tc, each_rate_is_met_within_a_thousandth);
	tcase_add_test(tc, a_mix_keeps_rate_and_shares);
	tcase_add_test(tc, slow_mixes_keep_rate_and_shares);
	tcase_add_test(tc, a_pause_of_the_host_shows_in_response_not_in_service);
	tcase_add_test(tc, two_seconds_that_the_host_stood_still_are_not_omitted);
	tcase_add_test(tc, a_stall_of_the_device_is_not_hidden_by_who_could_not_start);
	tcase_add_test(tc, above_saturation_in_flight_is_bounded_and_the_rest_waits);
	tcase_add_test(tc, a_stall_that_lasts_to_the_end_is_kept);
	tcase_add_test(tc, time_that_the_process_did_not_run_is_told);
	tcase_add_loop_test(tc, a_stopped_load_drains, 0, 2);
	tcase_add_test(tc, errors_are_counted_by_kind_with_the_first);
	tcase_add_test(tc, each_operation_is_counted_for_itself);
	tcase_add_test(tc, errors_of_each_operation_are_its_own);
	tcase_add_test(tc, a_failed_flush_is_told_though_it_has_no_length);
	tcase_add_test(tc, more_errors_than_allowed_fail_the_load);
	tcase_add_test(tc, samples_sum_to_the_result);
	tcase_add_test(tc, lateness_is_counted_of_all_workers);
	tcase_add_test(tc, the_same_seed_gives_the_same_offsets);
	tcase_add_test(tc, one_pass_ends_when_all_is_written);
	tcase_add_test(tc, loads_that_cannot_be_are_refused);
	return unit_run("load", tc);
}
