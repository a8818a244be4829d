#include "analysis/metrics.h"

#include <math.h>

#include "tests/unit/unit.h"

static struct hist service[DIRECTIONS], response[DIRECTIONS];

static void
empty_all(void)
{
	for (int d = 0; d < DIRECTIONS; d++) {
		hist_reset(&service[d]);
		hist_reset(&response[d]);
	}
}

static double
real_of(const json_t *o, const char *name)
{
	const json_t *x = json_object_get(o, name);

	ck_assert_msg(json_is_real(x), "%s is no number", name);
	return json_real_value(x);
}

START_TEST(rates_are_per_second_of_measured_time)
{
	const uint64_t ops[DIRECTIONS] = {3000, 1000};
	const uint64_t bytes[DIRECTIONS] = {3000 * 4096, 1000 * 4096};
	struct point_metrics m;

	empty_all();
	for (unsigned i = 0; i < 3000; i++)
		hist_add(&service[DIR_READ], 100000);
	for (unsigned i = 0; i < 1000; i++)
		hist_add(&service[DIR_WRITE], 300000);
	metrics_compute(service, response, ops, bytes, 2000000000, &m);
	ck_assert_double_eq(m.iops, 2000);
	ck_assert_double_eq(m.read_iops, 1500);
	ck_assert_double_eq(m.write_bytes_per_second, 500 * 4096);
	ck_assert_double_eq(m.bytes_per_second, 2000 * 4096);
	ck_assert_double_eq(m.service.mean, 150000);
	ck_assert_double_eq(m.service_dir[DIR_WRITE].mean, 300000);
	ck_assert_double_eq_tol(m.littles_n, 2000 * 150e-6, 1e-9);
	ck_assert_uint_eq(m.response.n, 0);
	ck_assert(
		isnan(m.response.mean) && isnan(m.response.p50) && isnan(m.response.max));
}
END_TEST

START_TEST(percentiles_come_from_the_merged_counters)
{
	const uint64_t ops[DIRECTIONS] = {9900, 100};
	const uint64_t bytes[DIRECTIONS] = {0, 0};
	struct point_metrics m;

	empty_all();
	for (unsigned i = 0; i < 9900; i++)
		hist_add(&service[DIR_READ], 100);
	for (unsigned i = 0; i < 100; i++)
		hist_add(&service[DIR_WRITE], 1000000);
	metrics_compute(service, response, ops, bytes, 1000000000, &m);
	ck_assert_double_eq(m.service.p99, 100);
	ck_assert_double_eq(m.service.p99_9, 1000000);
	ck_assert(isnan(m.service_dir[DIR_READ].p99_9));
}
END_TEST

START_TEST(what_too_few_samples_support_is_null)
{
	const uint64_t ops[DIRECTIONS] = {1000, 0};
	const uint64_t bytes[DIRECTIONS] = {4096000, 0};
	struct point_metrics m;
	json_t *o, *s;

	empty_all();
	for (unsigned i = 0; i < 1000; i++)
		hist_add(&service[DIR_READ], 100);
	metrics_compute(service, response, ops, bytes, 1000000000, &m);
	o = metrics_to_json(&m);
	s = json_object_get(o, "service");
	ck_assert_double_eq(real_of(s, "lat_p99_ns"), 100);
	ck_assert(json_is_null(json_object_get(s, "lat_p99.9_ns")));
	ck_assert_str_eq(json_string_value(json_object_get(s, "n")), "1000");
	ck_assert_double_eq(real_of(s, "lat_max_ns"), 100);
	ck_assert_double_eq(real_of(json_object_get(s, "read"), "lat_mean_ns"), 100);
	ck_assert(json_is_null(
		json_object_get(json_object_get(s, "write"), "lat_mean_ns")));
	ck_assert(json_is_null(
		json_object_get(json_object_get(o, "response"), "lat_max_ns")));
	ck_assert_double_eq(real_of(o, "iops"), 1000);
	json_decref(o);
}
END_TEST

START_TEST(trims_and_flushes_are_told_apart_from_reads_and_writes)
{
	const uint64_t ops[DIRECTIONS] = {1000, 0, 500, 0, 20};
	const uint64_t bytes[DIRECTIONS] = {4096000, 0, 512000, 0, 0};
	struct point_metrics m;
	json_t *o, *s;

	empty_all();
	for (unsigned i = 0; i < 1000; i++)
		hist_add(&service[DIR_READ], 100);
	for (unsigned i = 0; i < 500; i++)
		hist_add(&service[DIR_TRIM], 2000);
	for (unsigned i = 0; i < 20; i++)
		hist_add(&service[DIR_FLUSH], 10000000);
	metrics_compute(service, response, ops, bytes, 500000000, &m);
	ck_assert_double_eq(m.iops, 2000);
	ck_assert_double_eq(m.all_iops, 3040);
	ck_assert_double_eq(m.bytes_per_second, 8192000);
	ck_assert_double_eq(m.service.max, 100);
	/* 0.2 ms, 1 ms and 200 ms of waiting in half a second */
	ck_assert_double_eq_tol(m.littles_n, (0.0001 + 0.001 + 0.2) / 0.5, 1e-9);
	o = metrics_to_json(&m);
	ck_assert_double_eq(real_of(o, "iops"), 2000);
	ck_assert_double_eq(real_of(o, "all_iops"), 3040);
	ck_assert_double_eq(real_of(o, "trim_iops"), 1000);
	ck_assert_double_eq(real_of(o, "trim_bytes_per_second"), 1024000);
	ck_assert_double_eq(real_of(o, "flush_iops"), 40);
	ck_assert_ptr_null(json_object_get(o, "flush_bytes_per_second"));
	ck_assert_ptr_null(json_object_get(o, "write_zeroes_iops"));
	s = json_object_get(o, "service");
	ck_assert_double_eq(real_of(json_object_get(s, "trim"), "lat_p50_ns"), 2000);
	ck_assert_double_eq(
		real_of(json_object_get(s, "flush"), "lat_mean_ns"), 10000000);
	ck_assert_ptr_null(json_object_get(s, "write_zeroes"));
	json_decref(o);
}
END_TEST

START_TEST(only_reads_and_writes_are_told_when_there_is_nothing_else)
{
	const uint64_t ops[DIRECTIONS] = {1000, 0};
	const uint64_t bytes[DIRECTIONS] = {4096000, 0};
	struct point_metrics m;
	json_t *o;

	empty_all();
	hist_add(&service[DIR_READ], 100);
	metrics_compute(service, response, ops, bytes, 1000000000, &m);
	o = metrics_to_json(&m);
	ck_assert_ptr_null(json_object_get(o, "all_iops"));
	ck_assert_ptr_null(json_object_get(o, "trim_iops"));
	ck_assert_ptr_null(json_object_get(json_object_get(o, "service"), "trim"));
	json_decref(o);
}
END_TEST

int
main(void)
{
	TCase *tc = tcase_create("metrics");

	tcase_add_test(tc, rates_are_per_second_of_measured_time);
	tcase_add_test(tc, percentiles_come_from_the_merged_counters);
	tcase_add_test(tc, what_too_few_samples_support_is_null);
	tcase_add_test(tc, trims_and_flushes_are_told_apart_from_reads_and_writes);
	tcase_add_test(tc, only_reads_and_writes_are_told_when_there_is_nothing_else);
	return unit_run("metrics", tc);
}
