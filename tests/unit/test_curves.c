/* The handler that shows the curves of a run, and figures read from them. */
#include "common/json.h"
#include "controller/api.h"
#include "tests/unit/data_rig.h"
#include "tests/unit/result_rig.h"

START_TEST(a_curve_has_its_facts)
{
	json_t *doc;

	add_done_run(1, 1, 1, 20000);
	doc = good(api_curves_get, 0, "run=r1");
	ck_assert_uint_eq(json_array_size(json_object_get(doc, "workloads")), 1);
	IS(doc, "/suite", "\"four-corners@1\"");
	IS(doc, "/drive/serial", "\"S1\"");
	IS(doc, "/workloads/0/first/load_percent", "10.0");
	IS(doc, "/workloads/0/peak/iops", "20000.0");
	IS(doc, "/workloads/0/peak/load_percent", "null");
	IS(doc, "/workloads/0/best/load_percent", "100.0");
	IS(doc, "/workloads/0/best/service/lat_mean_ns", "300.0");
	IS(doc, "/workloads/0/best/flags", "[]");
	IS(doc, "/workloads/0/best_reason", "\"\"");
	IS(doc, "/workloads/0/points/3/point", "2");
	json_decref(doc);
	doc = good(api_curves_get, 0, "run=r1&workload=4k-random-read");
	ck_assert_uint_eq(json_array_size(json_object_get(doc, "workloads")), 1);
	json_decref(doc);
	refused(api_curves_get, 0, "run=r1&workload=other", ERR_NOTFOUND,
		"no results of a workload other");
	rig_exec("UPDATE point SET meta = json_set(meta, '$.backlog_max', 9000000)"
		 " WHERE load_percent = 100");
	doc = good(api_curves_get, 0, "run=r1");
	IS(doc, "/workloads/0/points/2/flags", "[\"saturated\"]");
	IS(doc, "/workloads/0/best", "null");
	IS(doc, "/workloads/0/best_reason",
		"\"every offered load that reached 95 % of the peak was saturated\"");
	json_decref(doc);
	refused(api_curves_get, 0, "", ERR_INVALID, "run is missing");
	refused(api_curves_get, 0, "run=r7", ERR_NOTFOUND, "no run r7");
	refused(api_curves_get, 0, "run=x", ERR_INVALID, "no id");
}
END_TEST

START_TEST(a_curve_tells_its_fall_its_knee_and_loads_under_lines)
{
	json_t *doc;
	struct err e;

	/* response means 200 400 600 at 10 50 100 % */
	add_done_run(1, 1, 1, 20000);
	doc = good(api_curves_get, 0, "run=r1");
	IS(doc, "/workloads/0/operations", "[\"read\"]");
	IS(doc, "/workloads/0/fall", "null");
	IS(doc, "/workloads/0/fall_reason", "\"no load above the peak was measured\"");
	IS(doc, "/workloads/0/knee", "null");
	IS(doc, "/workloads/0/knee_reason", "\"no load stands out\"");
	IS(doc, "/workloads/0/lines/0/latency", "\"mean\"");
	IS(doc, "/workloads/0/lines/0/line_ns", "1000000.0");
	IS(doc, "/workloads/0/lines/0/state", "\"all\"");
	IS(doc, "/workloads/0/lines/0/iops", "null");
	IS(doc, "/workloads/0/lines/1/line_ns", "2000000.0");
	IS(doc, "/workloads/0/lines/2/latency", "\"p99.9\"");
	IS(doc, "/workloads/0/lines/2/line_ns", "5000000.0");
	json_decref(doc);
	doc = good(api_curves_get, 0, "run=r1&lat_mean_ns=500,100&lat_p99_ns=400");
	ck_assert_uint_eq(
		json_array_size(json_object_get(
			json_array_get(json_object_get(doc, "workloads"), 0), "lines")),
		3);
	IS(doc, "/workloads/0/lines/0/state", "\"found\"");
	IS(doc, "/workloads/0/lines/0/load_percent", "75.0");
	IS(doc, "/workloads/0/lines/0/iops", "14600.0");
	IS(doc, "/workloads/0/lines/0/interpolated", "true");
	IS(doc, "/workloads/0/lines/1/state", "\"none\"");
	IS(doc, "/workloads/0/lines/1/load_percent", "null");
	IS(doc, "/workloads/0/lines/2/latency", "\"p99\"");
	IS(doc, "/workloads/0/lines/2/interpolated", "false");
	json_decref(doc);
	rig_exec("UPDATE point SET metrics = json_set(metrics, '$.write_iops', 1)"
		 " WHERE load_percent = 50");
	doc = good(api_curves_get, 0, "run=r1");
	IS(doc, "/workloads/0/operations", "[\"read\",\"write\"]");
	json_decref(doc);
	rig_exec("UPDATE point SET metrics = json_set(metrics, '$.read_iops', 0)");
	doc = good(api_curves_get, 0, "run=r1");
	IS(doc, "/workloads/0/operations", "[\"write\"]");
	json_decref(doc);
	rig_exec("UPDATE point SET iops = 30000, offered_iops = 30000,"
		 " meta = json_set(meta, '$.offered_iops', 30000.0)"
		 " WHERE load_percent = 50");
	rig_exec("UPDATE point SET response_mean_ns = 220 WHERE load_percent = 50");
	doc = good(api_curves_get, 0, "run=r1");
	IS(doc, "/workloads/0/fall/percent", "36.0");
	IS(doc, "/workloads/0/fall/load_percent", "100.0");
	IS(doc, "/workloads/0/fall_reason", "\"\"");
	json_decref(doc);
	refused(api_curves_get, 0, "run=r1&lat_p99_ns=1ms", ERR_INVALID, "lat_p99_ns");
	refused(api_curves_get, 0, "run=r1&lat_mean_ns=00000000000000000000200000",
		ERR_INVALID, "lat_mean_ns: \"00000000000000000000...\" has more than 23");
	refused(api_curves_get, 0, "run=r1&lat_mean_ns=500,", ERR_INVALID,
		"lat_mean_ns: there is no number after the last comma");
	refused(api_curves_get, 0, "run=r1&lat_mean_ns=,500", ERR_INVALID, "lat_mean_ns");
	refused(api_curves_get, 0, "run=r1&lat_mean_ns=", ERR_INVALID, "lat_mean_ns");
	refused(api_curves_get, 0, "run=r1&lat_p50_ns=1", ERR_INVALID, "lat_p50_ns");
	ck_assert_ptr_null(get(api_curves_get, 0,
		"run=r1&lat_p99_ns=1,2,3,4,5,6,7,8,9,10,11,12,13,14,15,16,17", &e));
	ck_assert_str_eq(e.text, "query parameter lat_p99_ns: more than 16 lines");
}
END_TEST

/* Runs whose workload trims, with a flush, and does nothing else. */
static void
add_trim_run(int64_t id, int64_t drive, int ops)
{
	struct ingest_answer answer;
	struct err e = {0};

	rig_add_run((struct rig_run){.id = id,
		.drive = drive,
		.suite = 1,
		.repeat = id,
		.state = "done",
		.attempt = "sealed"});
	feed_reset();
	feed_start((uint64_t)id, (uint64_t)(100 + id));
	feed_trims(1, "trims", -1, ops, 900);
	feed_trims(2, "trims", 50, ops / 2, 300);
	OK(feed_send(drive, &answer, &e));
}

START_TEST(trims_alone_have_a_curve_of_their_own)
{
	json_t *doc;

	add_trim_run(1, 1, 2000);
	add_trim_run(2, 2, 4000);
	doc = good(api_curves_get, 0, "run=r1&lat_mean_ns=700");
	IS(doc, "/workloads/0/operations", "[\"trim\",\"flush\"]");
	IS(doc, "/workloads/0/peak/iops", "2001.0");
	IS(doc, "/workloads/0/peak/bytes_per_second", "131072000.0");
	IS(doc, "/workloads/0/peak/service/lat_mean_ns", "904.047976012");
	IS(doc, "/workloads/0/peak/service/lat_p99_ns", "903.0");
	IS(doc, "/workloads/0/peak/service/lat_p99.9_ns", "null");
	IS(doc, "/workloads/0/peak/response/lat_mean_ns", "null");
	IS(doc, "/workloads/0/points/0/response/lat_p50_ns", "607.0");
	/* all that was offered was done */
	IS(doc, "/workloads/0/points/0/flags", "[]");
	IS(doc, "/workloads/0/lines/0/state", "\"all\"");
	json_decref(doc);
	doc = good(api_rankings_get, 0, "workload=trims");
	IS(doc, "/items/0/drive/serial", "\"S2\"");
	IS(doc, "/items/0/value", "4001.0");
	IS(doc, "/items/1/value", "2001.0");
	IS(doc, "/items/1/flags", "[]");
	json_decref(doc);
	doc = good(api_rankings_get, 0, "workload=trims&metric=lat_p99_ns@peak");
	IS(doc, "/items/0/value", "903.0");
	json_decref(doc);
	doc = good(api_comparisons_get, 0, "a=d1&b=d2");
	IS(doc, "/workloads/0/metrics/0/a", "2001.0");
	IS(doc, "/workloads/0/metrics/0/b", "4001.0");
	json_decref(doc);
}
END_TEST

START_TEST(a_comparison_tells_at_which_loads_its_figures_are)
{
	json_t *doc;

	add_done_run(1, 1, 1, 20000);
	add_done_run(2, 1, 1, 20000);
	add_done_run(3, 1, 1, 20000);
	add_done_run(4, 2, 1, 30000);
	rig_exec("UPDATE point SET iops = 40000, offered_iops = 40000,"
		 " meta = json_set(meta, '$.offered_iops', 40000.0)"
		 " WHERE load_percent IN (10, 100) AND attempt_id IN"
		 " (SELECT id FROM attempt WHERE run_id = 1 + (load_percent > 50))");
	doc = good(api_comparisons_get, 0, "a=d1&b=d2");
	IS(doc, "/workloads/0/metrics/0/metric", "\"peak_iops\"");
	IS(doc, "/workloads/0/metrics/0/loads_a", "[10.0,100.0,null]");
	IS(doc, "/workloads/0/metrics/0/loads_b", "[null]");
	IS(doc, "/workloads/0/metrics/5/loads_a", "[50.0]");
	json_decref(doc);
	doc = good(api_rankings_get, 0, "workload=4k-random-read");
	IS(doc, "/repeats_needed", "4");
	IS(doc, "/rankings/0/repeats_needed", "4");
	json_decref(doc);
}
END_TEST

/* A done run with two rates that the drive kept up with. */
static void
add_rated_run(int64_t id, int64_t drive, uint64_t lat_ns)
{
	struct ingest_answer a;
	struct err e = {0};

	rig_add_run((struct rig_run){.id = id,
		.drive = drive,
		.suite = 1,
		.repeat = id,
		.state = "done",
		.attempt = "sealed"});
	feed_reset();
	feed_start((uint64_t)id, (uint64_t)(100 + id));
	feed_point(1, "rated", (double)NAN, 2000, lat_ns);
	feed_point(2, "rated", (double)NAN, 5000, lat_ns);
	feed_result("done");
	OK(feed_send(drive, &a, &e));
}

START_TEST(rates_are_compared_and_ranked_at_the_highest_and_have_no_peak)
{
	json_t *doc;

	add_rated_run(1, 1, 1000);
	add_rated_run(2, 2, 2000);
	doc = good(api_runs_points, 1, "");
	IS(doc, "/items/1/load_percent", "null");
	IS(doc, "/items/1/offered_iops", "5000.0");
	json_decref(doc);
	doc = good(api_curves_get, 0, "run=r1");
	IS(doc, "/workloads/0/first/offered_iops", "2000.0");
	IS(doc, "/workloads/0/peak", "null");
	IS(doc, "/workloads/0/peak_reason",
		"\"rates were offered as they are, and no maximum was measured\"");
	json_decref(doc);
	doc = good(api_comparisons_get, 0, "a=d1&b=d2");
	IS(doc, "/workloads/0/metrics/3", "(none)");
	IS(doc, "/workloads/0/metrics/0/metric", "\"iops@rate\"");
	IS(doc, "/workloads/0/metrics/0/a", "5000.0");
	IS(doc, "/workloads/0/metrics/0/loads_a", "[]");
	IS(doc, "/workloads/0/metrics/0/rates_a", "[5000.0]");
	IS(doc, "/workloads/0/metrics/1/metric", "\"lat_mean_ns@rate\"");
	IS(doc, "/workloads/0/metrics/1/difference_percent", "100.0");
	json_decref(doc);
	doc = good(api_rankings_get, 0, "metric=lat_mean_ns@rate&workload=rated");
	IS(doc, "/rate_iops", "5000.0");
	IS(doc, "/items/0/drive/id", "\"d1\"");
	IS(doc, "/items/1/percent_of_best", "50.0");
	json_decref(doc);
	doc = good(api_rankings_get, 0, "workload=rated");
	IS(doc, "/items", "[]");
	IS(doc, "/rate_iops", "null");
	IS(doc, "/fixed_rates", "true");
	IS(doc, "/excluded/0/why",
		"\"rates were offered as they are: iops@rate tells more of it\"");
	json_decref(doc);
	add_done_run(3, 1, 2, 20000);
	doc = good(api_rankings_get, 0, "metric=iops@rate&workload=4k-random-read");
	IS(doc, "/excluded/0/why", "\"all its loads are shares of a maximum\"");
	IS(doc, "/fixed_rates", "false");
	json_decref(doc);
}
END_TEST

START_TEST(a_maximum_that_its_node_cut_into_says_so)
{
	json_t *doc;

	add_done_run(1, 1, 1, 20000);
	rig_exec("UPDATE point SET meta = json_set(meta, '$.missed_ns', '30000000')"
		 " WHERE attempt_id = 1 AND point = 2");
	doc = good(api_curves_get, 0, "run=r1");
	IS(doc, "/workloads/0/points/3/load_percent", "null");
	IS(doc, "/workloads/0/points/3/flags", "[\"stalled\"]");
	json_decref(doc);
	doc = good(api_rankings_get, 0, "workload=4k-random-read");
	IS(doc, "/items/0/flags", "[\"stalled\"]");
	json_decref(doc);
}
END_TEST

int
main(void)
{
	TCase *tc = tcase_create("curves");

	tcase_add_checked_fixture(tc, data_up, data_down);
	tcase_set_timeout(tc, 60);
	tcase_add_test(tc, a_curve_has_its_facts);
	tcase_add_test(tc, a_curve_tells_its_fall_its_knee_and_loads_under_lines);
	tcase_add_test(tc, trims_alone_have_a_curve_of_their_own);
	tcase_add_test(tc, a_comparison_tells_at_which_loads_its_figures_are);
	tcase_add_test(tc, a_maximum_that_its_node_cut_into_says_so);
	tcase_add_test(tc, rates_are_compared_and_ranked_at_the_highest_and_have_no_peak);
	return unit_run("curves", tc);
}
