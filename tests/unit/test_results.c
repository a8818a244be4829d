/* The handlers that show results: points, series, histogram, curves, comparisons,
 * rankings. */
#include "common/json.h"
#include "controller/api.h"
#include "controller/session.h"
#include "tests/unit/data_rig.h"
#include "tests/unit/result_rig.h"

START_TEST(points_have_their_figures_and_flags)
{
	json_t *doc;

	add_done_run(1, 1, 1, 20000);
	doc = good(api_runs_points, 1, "");
	ck_assert_uint_eq(json_array_size(json_object_get(doc, "items")), 5);
	IS(doc, "/items/1/workload", "\"4k-random-read\"");
	IS(doc, "/items/1/load_percent", "null");
	IS(doc, "/items/1/state", "\"done\"");
	IS(doc, "/items/1/started", "\"2023-11-14T22:13:20.000Z\"");
	IS(doc, "/items/1/iops", "20000.0");
	IS(doc, "/items/1/bytes_per_second", "81920000.0");
	IS(doc, "/items/1/service/lat_p99_ns", "400.0");
	IS(doc, "/items/1/response/n", "\"0\"");
	IS(doc, "/items/1/errors", "0");
	IS(doc, "/items/1/flags", "[]");
	IS(doc, "/items/1/engine", "\"null\"");
	IS(doc, "/items/3/load_percent", "50.0");
	IS(doc, "/items/3/response/lat_mean_ns", "400.0");
	json_decref(doc);
	doc = good(api_runs_points, 1, "workload=fill");
	ck_assert_uint_eq(json_array_size(json_object_get(doc, "items")), 1);
	json_decref(doc);
	refused(api_runs_points, 9, "", ERR_NOTFOUND, "no run r9");
	refused(api_runs_points, 1, "worklod=fill", ERR_INVALID, "worklod");
}
END_TEST

START_TEST(flags_have_their_reasons)
{
	struct ingest_answer a;
	struct err e = {0};
	json_t *doc;

	rig_add_running();
	feed_reset();
	feed_start(1, 101);
	feed_marked(1, "4k-random-read");
	OK(feed_send(1, &a, &e));
	doc = good(api_runs_points, 1, "");
	IS(doc, "/items/0/flags",
		"[\"cliff\",\"spells\",\"drive-stall\",\"throttled\",\"link-slow\","
		"\"link-changed\",\"pcie-errors\",\"other-io\",\"clock-step\","
		"\"samples-missing\",\"late-start\"]");
	IS(doc, "/items/0/sampled_ns", "\"1000000000\"");
	IS(doc, "/items/0/reasons/0/flag", "\"cliff\"");
	IS(doc, "/items/0/reasons/0/text",
		"\"the drive went from 140 to 20 I/Os per second 40 s into the point, "
		"after 20 MB, and stayed there\"");
	IS(doc, "/items/0/reasons/2/text",
		"\"the drive ended nothing for 1.5 s, 7 s into the point; the longest of "
		"2 such stalls\"");
	IS(doc, "/items/0/reasons/3/text",
		"\"the drive went into a thermal state 1 times and spent 30 s in one and "
		"had 71 C, its warning temperature is 70 C\"");
	IS(doc, "/items/0/reasons/5/text",
		"\"the PCIe link changed from 8.0 GT/s x4 to 8.0 GT/s x2\"");
	IS(doc, "/items/0/reasons/7/text", "\"somebody else wrote 12 MB on the drive\"");
	IS(doc, "/items/0/reasons/8/text",
		"\"the node's wall clock was set 1.5 s back\"");
	IS(doc, "/items/0/reasons/9/text", "\"59 of 60 s have no sample\"");
	IS(doc, "/items/0/reasons/10/text", "\"the first I/O came 700 ms late\"");
	json_decref(doc);
}
END_TEST

START_TEST(a_running_point_has_no_figures_yet)
{
	struct ingest_answer a;
	struct err e = {0};
	json_t *doc;

	rig_add_running();
	feed_start(1, 101);
	feed_start_point(1, "w", 10);
	OK(feed_send(1, &a, &e));
	doc = good(api_runs_points, 1, "");
	IS(doc, "/items/0/state", "\"running\"");
	IS(doc, "/items/0/iops", "null");
	IS(doc, "/items/0/service", "(none)");
	json_decref(doc);
}
END_TEST

START_TEST(a_run_that_was_never_tried_has_empty_results)
{
	json_t *doc;

	rig_add_run((struct rig_run){.id = 1,
		.drive = 1,
		.suite = 1,
		.repeat = 1,
		.state = "pending",
		.attempt = "lost"});
	rig_exec("DELETE FROM attempt");
	doc = good(api_runs_points, 1, "");
	IS(doc, "/items", "[]");
	json_decref(doc);
	doc = good(api_runs_series, 1, "");
	IS(doc, "/items", "[]");
	IS(doc, "/samples", "0");
	json_decref(doc);
	doc = good(api_curves_get, 0, "run=r1");
	IS(doc, "/workloads", "[]");
	json_decref(doc);
}
END_TEST

START_TEST(a_series_has_a_row_a_second_and_goes_on_where_it_ended)
{
	json_t *doc;

	add_done_run(1, 1, 1, 20000);
	doc = good(api_runs_series, 1, "point=2");
	IS(doc, "/run", "\"r1\"");
	IS(doc, "/samples", "2");
	IS(doc, "/gaps", "[]");
	IS(doc, "/next_cursor", "null");
	IS(doc, "/items/1/second", "1");
	IS(doc, "/items/1/read_ops", "3000");
	IS(doc, "/items/1/read_bytes", "12288000");
	IS(doc, "/items/1/service_max_ns", "129990");
	IS(doc, "/items/1/response_p99_ns", "null");
	json_decref(doc);
	doc = good(api_runs_series, 1, "limit=1");
	IS(doc, "/items/0/second", "0");
	IS(doc, "/next_cursor", "\"s3\"");
	json_decref(doc);
	doc = good(api_runs_series, 1, "limit=1&cursor=s3");
	IS(doc, "/items/0/second", "1");
	IS(doc, "/next_cursor", "null");
	json_decref(doc);
	doc = good(api_runs_series, 1, "point=3");
	IS(doc, "/items", "[]");
	json_decref(doc);
	refused(api_runs_series, 1, "cursor=3", ERR_INVALID, "no cursor");
	refused(api_runs_series, 1, "limit=0", ERR_INVALID, "limit");
	refused(api_runs_series, 1, "point=x", ERR_INVALID, "point");
}
END_TEST

START_TEST(a_series_tells_its_gaps)
{
	struct ingest_answer a;
	struct err e = {0};
	json_t *doc;

	add_done_run(1, 1, 1, 20000);
	feed_start(1, 101);
	rig_feed.seq = 20;
	feed_text(RECORD_GAP, "{\"from\":\"15\",\"to\":\"20\",\"reason\":\"disk full\"}");
	OK(feed_send(1, &a, &e));
	doc = good(api_runs_series, 1, "");
	IS(doc, "/gaps", "[{\"from\":15,\"to\":20,\"reason\":\"disk full\"}]");
	json_decref(doc);
}
END_TEST

START_TEST(a_histogram_is_chosen_by_kind_and_direction)
{
	json_t *doc;

	add_done_run(1, 1, 1, 20000);
	doc = good(api_runs_histogram, 1, "point=4");
	IS(doc, "/unit", "\"ns\"");
	IS(doc, "/n", "10000");
	IS(doc, "/mean_ns", "200.0");
	IS(doc, "/bins", "[[200,201,10000]]");
	json_decref(doc);
	doc = good(api_runs_histogram, 1, "point=4&kind=response&op=read");
	IS(doc, "/max_ns", "400");
	json_decref(doc);
	doc = good(api_runs_histogram, 1, "point=4&op=write");
	IS(doc, "/n", "0");
	IS(doc, "/mean_ns", "null");
	json_decref(doc);
	refused(api_runs_histogram, 1, "", ERR_INVALID, "point is missing");
	refused(api_runs_histogram, 1, "point=99", ERR_NOTFOUND, "r1 has no point 99");
	refused(api_runs_histogram, 1, "point=4&kind=x", ERR_INVALID, "neither service");
	refused(api_runs_histogram, 1, "point=4&op=x", ERR_INVALID,
		"none of read, write, trim");
}
END_TEST

static void
add_run_with_others(void)
{
	struct ingest_answer answer;
	struct err e = {0};

	rig_add_run((struct rig_run){.id = 1,
		.drive = 1,
		.suite = 1,
		.repeat = 1,
		.state = "done",
		.attempt = "sealed"});
	feed_reset();
	feed_start(1, 101);
	feed_others(1, "trims");
	OK(feed_send(1, &answer, &e));
}

START_TEST(trims_and_flushes_are_shown_beside_reads_and_writes)
{
	json_t *doc;

	add_run_with_others();
	doc = good(api_runs_points, 1, "");
	IS(doc, "/items/0/iops", "1000.0");
	IS(doc, "/items/0/all_iops", "1406.0");
	IS(doc, "/items/0/trim_iops", "400.0");
	IS(doc, "/items/0/trim_bytes_per_second", "26214400.0");
	IS(doc, "/items/0/flush_iops", "2.0");
	IS(doc, "/items/0/service/trim/lat_p50_ns", "5000.0");
	IS(doc, "/items/0/response/trim/lat_mean_ns", "7000.0");
	IS(doc, "/items/0/service/flush/n", "\"2\"");
	IS(doc, "/items/0/write_zeroes_iops", "4.0");
	IS(doc, "/items/0/service/lat_max_ns", "100.0");
	/* all that was offered was done: it is not saturated */
	IS(doc, "/items/0/errors", "1");
	IS(doc, "/items/0/flags", "[\"errors\"]");
	json_decref(doc);
	doc = good(api_runs_series, 1, "");
	IS(doc, "/items/0/read_ops", "1000");
	IS(doc, "/items/0/trim_ops", "400");
	IS(doc, "/items/0/trim_bytes", "26214400");
	IS(doc, "/items/0/trim_service_p99_ns", "null");
	IS(doc, "/items/0/flush_ops", "2");
	IS(doc, "/items/0/flush_bytes", "(none)");
	IS(doc, "/items/0/write_zeroes_ops", "4");
	IS(doc, "/items/0/errors", "1");
	json_decref(doc);
}
END_TEST

START_TEST(trims_and_flushes_have_histograms_of_their_own)
{
	json_t *doc;

	add_run_with_others();
	doc = good(api_runs_histogram, 1, "point=1");
	IS(doc, "/n", "1000");
	json_decref(doc);
	doc = good(api_runs_histogram, 1, "point=1&op=trim");
	IS(doc, "/n", "400");
	IS(doc, "/max_ns", "5000");
	json_decref(doc);
	doc = good(api_runs_histogram, 1, "point=1&op=trim&kind=response");
	IS(doc, "/max_ns", "7000");
	json_decref(doc);
	doc = good(api_runs_histogram, 1, "point=1&op=flush");
	IS(doc, "/n", "2");
	json_decref(doc);
	doc = good(api_runs_histogram, 1, "point=1&op=write-zeroes");
	IS(doc, "/n", "4");
	json_decref(doc);
}
END_TEST

START_TEST(single_runs_are_compared_without_a_verdict)
{
	json_t *doc;

	add_done_run(1, 1, 1, 20000);
	add_done_run(2, 2, 1, 30000);
	doc = good(api_comparisons_get, 0, "a=d1&b=d2");
	IS(doc, "/a/kind", "\"drive\"");
	IS(doc, "/a/label", "\"M1 S1\"");
	IS(doc, "/b/runs", "[\"r2\"]");
	IS(doc, "/b/repeats", "1");
	IS(doc, "/workloads/0/metrics/0/metric", "\"peak_iops\"");
	IS(doc, "/workloads/0/metrics/0/title", "\"peak IOPS\"");
	IS(doc, "/workloads/0/metrics/0/a", "20000.0");
	IS(doc, "/workloads/0/metrics/0/b", "30000.0");
	IS(doc, "/workloads/0/metrics/0/difference_percent", "50.0");
	IS(doc, "/workloads/0/metrics/0/verdict", "\"single run\"");
	IS(doc, "/workloads/0/metrics/0/p", "null");
	IS(doc, "/workloads/0/metrics/5/metric", "\"lat_mean_ns@50\"");
	IS(doc, "/workloads/0/metrics/5/a", "400.0");
	IS(doc, "/differs/0", "{\"what\":\"model\",\"a\":\"M1\",\"b\":\"M2\"}");
	IS(doc, "/differs/1/what", "\"firmware\"");
	ck_assert_ptr_nonnull(strstr(at(doc, "/warnings"), "side B is a virtual drive"));
	ck_assert_ptr_nonnull(strstr(at(doc, "/warnings"), "side A is a single run"));
	json_decref(doc);
}
END_TEST

START_TEST(four_repeats_can_show_a_difference_and_three_cannot)
{
	json_t *doc;

	for (int i = 0; i < 3; i++) {
		add_done_run(1 + i, 1, 1, (uint64_t)(20000 + 10 * i));
		add_done_run(11 + i, 2, 1, (uint64_t)(30000 + 10 * i));
	}
	doc = good(api_comparisons_get, 0, "a=d1&b=d2");
	IS(doc, "/workloads/0/metrics/0/verdict", "\"no difference shown\"");
	IS(doc, "/workloads/0/metrics/0/p", "0.1");
	ck_assert_ptr_nonnull(
		strstr(at(doc, "/warnings"), "3 and 3 repeats cannot show a difference"));
	json_decref(doc);
	add_done_run(4, 1, 1, 20100);
	add_done_run(14, 2, 1, 30100);
	doc = good(api_comparisons_get, 0, "a=d1&b=d2");
	IS(doc, "/workloads/0/metrics/0/verdict", "\"better\"");
	IS(doc, "/workloads/0/metrics/0/a", "20015.0");
	IS(doc, "/workloads/0/metrics/0/minimum_a", "20000.0");
	IS(doc, "/workloads/0/metrics/2/verdict", "\"no difference shown\"");
	ck_assert_ptr_nonnull(strstr(at(doc, "/warnings"), "by chance alone"));
	json_decref(doc);
	doc = good(api_comparisons_get, 0, "a=d2&b=d1&workload=4k-random-read");
	IS(doc, "/workloads/0/metrics/0/verdict", "\"worse\"");
	json_decref(doc);
}
END_TEST

START_TEST(scaled_and_full_results_are_not_compared)
{
	json_t *doc;

	add_done_run(1, 1, 1, 20000);
	add_done_run(2, 2, 2, 30000);
	refused(api_comparisons_get, 0, "a=d1&b=d2", ERR_STATE,
		"no results of the same suite");
	add_done_run(3, 1, 2, 10000);
	doc = good(api_comparisons_get, 0, "a=d1&b=d2");
	IS(doc, "/suite", "\"four-corners-demo@1\"");
	IS(doc, "/a/runs", "[\"r3\"]");
	ck_assert_ptr_nonnull(strstr(at(doc, "/warnings"), "is a scaled suite"));
	ck_assert_ptr_nonnull(
		strstr(at(doc, "/warnings"), "side A is without 1 run of other"));
	json_decref(doc);
	refused(api_comparisons_get, 0, "a=d1&b=d2&suite=four-corners@1", ERR_STATE,
		"no results of the same suite");
}
END_TEST

START_TEST(warnings_of_a_comparison_are_about_runs_of_its_suite)
{
	json_t *doc;

	add_done_run(1, 1, 2, 10000);
	add_done_run(2, 2, 1, 30000);
	add_done_run(3, 1, 1, 20000);
	rig_add_run((struct rig_run){4, 1, 1, 4, "cancelled", "sealed"});
	rig_add_run((struct rig_run){5, 1, 2, 5, "cancelled", "sealed"});
	doc = good(api_comparisons_get, 0, "a=d1&b=d2");
	has_warning(doc, "without r4: cancelled", true);
	has_warning(doc, "without r5", false);
	has_warning(doc, "side A is without 1 run of other suites", true);
	json_decref(doc);
	doc = good(api_comparisons_get, 0, "a=d1&b=d2&suite=four-corners@1");
	has_warning(doc, "without r4: cancelled", true);
	has_warning(doc, "without r5", false);
	has_warning(doc, "of other suites", false);
	json_decref(doc);
}
END_TEST

START_TEST(two_runs_of_one_drive_are_compared)
{
	json_t *doc;

	add_done_run(1, 1, 1, 20000);
	add_done_run(2, 1, 1, 10000);
	doc = good(api_comparisons_get, 0, "a=r1&b=r2");
	IS(doc, "/a/kind", "\"run\"");
	IS(doc, "/a/label", "\"r1 on M1 S1\"");
	IS(doc, "/workloads/0/metrics/0/difference_percent", "-50.0");
	IS(doc, "/differs", "[]");
	json_decref(doc);
	/* A drive against one of its own runs is the rest of them. */
	doc = good(api_comparisons_get, 0, "a=r2&b=d1");
	IS(doc, "/b/runs", "[\"r1\"]");
	json_decref(doc);
}
END_TEST

START_TEST(what_cannot_be_compared_is_said)
{
	add_done_run(1, 1, 1, 20000);
	rig_add_run((struct rig_run){.id = 2,
		.drive = 2,
		.suite = 1,
		.repeat = 2,
		.state = "failed",
		.attempt = "sealed"});
	refused(api_comparisons_get, 0, "a=d1", ERR_INVALID, "parameter b is missing");
	refused(api_comparisons_get, 0, "a=d1&b=d1", ERR_INVALID, "the same");
	refused(api_comparisons_get, 0, "a=d1&b=S2", ERR_INVALID,
		"neither a drive nor a run");
	refused(api_comparisons_get, 0, "a=d1&b=d9", ERR_NOTFOUND, "no drive d9");
	refused(api_comparisons_get, 0, "a=r9&b=d1", ERR_NOTFOUND, "no run r9");
	refused(api_comparisons_get, 0, "a=d1&b=d2", ERR_STATE,
		"d2 has no run that is done");
	refused(api_comparisons_get, 0, "a=d1&b=r2", ERR_STATE, "r2 is failed");
}
END_TEST

START_TEST(drives_are_ranked_by_the_median_of_their_runs)
{
	json_t *doc;

	add_done_run(1, 1, 1, 20000);
	add_done_run(2, 1, 1, 22000);
	add_done_run(3, 2, 1, 42000);
	add_done_run(4, 2, 2, 99000);
	rig_add_run((struct rig_run){.id = 5,
		.drive = 1,
		.suite = 1,
		.repeat = 5,
		.state = "failed",
		.attempt = "sealed"});
	rig_exec("UPDATE run SET reason = 'it broke' WHERE id = 5");
	doc = good(api_rankings_get, 0,
		"metric=peak_iops&workload=4k-random-read&suite=four-corners@1");
	IS(doc, "/metric", "\"peak_iops\"");
	IS(doc, "/suite", "\"four-corners@1\"");
	IS(doc, "/virtual", "true");
	ck_assert_uint_eq(json_array_size(json_object_get(doc, "rankings")), 1);
	ck_assert_uint_eq(json_array_size(json_object_get(doc, "items")), 2);
	IS(doc, "/items/0/drive",
		"{\"id\":\"d2\",\"model\":\"M2\",\"serial\":\"S2\",\"firmware\":\"F2\","
		"\"virtual\":true}");
	IS(doc, "/items/0/value", "42000.0");
	IS(doc, "/items/1/rank", "2");
	IS(doc, "/items/1/value", "21000.0");
	IS(doc, "/items/1/bytes_per_second", "86016000.0");
	IS(doc, "/items/1/n", "2");
	IS(doc, "/items/1/minimum", "20000.0");
	IS(doc, "/items/1/maximum", "22000.0");
	IS(doc, "/items/1/single_run", "false");
	IS(doc, "/items/0/single_run", "true");
	IS(doc, "/single_runs", "true");
	IS(doc, "/title", "\"peak IOPS\"");
	IS(doc, "/items/1/runs", "[\"r1\",\"r2\"]");
	IS(doc, "/items/1/percent_of_best", "50.0");
	IS(doc, "/excluded", "[{\"run\":\"r5\",\"why\":\"it is failed: it broke\"}]");
	json_decref(doc);
}
END_TEST

START_TEST(figures_carry_the_flags_of_their_points)
{
	json_t *doc;

	add_done_run(1, 1, 1, 20000);
	add_done_run(2, 2, 1, 42000);
	rig_exec("UPDATE point SET meta = json_set(meta, '$.errors', json('[3,0]')) WHERE"
		 " load_percent IS NULL AND attempt_id IN"
		 " (SELECT id FROM attempt WHERE run_id = 1)");
	doc = good(api_rankings_get, 0, "workload=4k-random-read");
	IS(doc, "/items/0/flags", "[]");
	IS(doc, "/items/1/flags", "[\"errors\"]");
	json_decref(doc);
	doc = good(api_comparisons_get, 0, "a=d1&b=d2");
	IS(doc, "/workloads/0/metrics/0/flags_a", "[\"errors\"]");
	IS(doc, "/workloads/0/metrics/0/flags_b", "[]");
	IS(doc, "/workloads/0/metrics/5/flags_a", "[]");
	json_decref(doc);
}
END_TEST

/* Makes two loads of run 1 do more than they were offered. */
static void
let_loads_catch_up(void)
{
	rig_exec("UPDATE point SET iops = 10000 + 5000 * point,"
		 " metrics = json_set(metrics, '$.iops', 10000 + 5000 * point)"
		 " WHERE point IN (3, 4) AND attempt_id IN"
		 " (SELECT id FROM attempt WHERE run_id = 1)");
}

START_TEST(what_is_worked_off_is_nobodys_peak)
{
	json_t *doc;

	add_done_run(1, 1, 1, 20000);
	add_done_run(2, 2, 1, 20000);
	let_loads_catch_up();
	doc = good(api_rankings_get, 0, "workload=4k-random-read");
	IS(doc, "/items/0/value", "20000.0");
	IS(doc, "/items/1/value", "20000.0");
	IS(doc, "/items/1/rank", "1");
	IS(doc, "/items/0/flags", "[]");
	IS(doc, "/items/1/flags", "[]");
	json_decref(doc);
	doc = good(api_comparisons_get, 0, "a=d1&b=d2");
	IS(doc, "/workloads/0/metrics/0/difference_percent", "0.0");
	IS(doc, "/workloads/0/metrics/0/flags_a", "[]");
	IS(doc, "/workloads/0/metrics/5/metric", "\"lat_mean_ns@50\"");
	IS(doc, "/workloads/0/metrics/5/flags_a", "[\"catching-up\"]");
	json_decref(doc);
	doc = good(api_curves_get, 0, "run=r1");
	IS(doc, "/workloads/0/peak/point", "2");
	IS(doc, "/workloads/0/best/point", "5");
	IS(doc, "/workloads/0/points/1/flags", "[\"catching-up\"]");
	json_decref(doc);
	doc = good(api_runs_points, 1, "");
	IS(doc, "/items/3/reasons/0/text",
		"\"30000 I/Os per second were done though only 10000 were offered: the "
		"rest had waited since the warm-up, so neither rate nor response are "
		"those of this load\"");
	json_decref(doc);
}
END_TEST

START_TEST(a_long_text_is_cut_between_characters)
{
	json_t *doc;
	const char *why;

	add_done_run(1, 1, 1, 20000);
	rig_add_run((struct rig_run){.id = 5,
		.drive = 1,
		.suite = 1,
		.repeat = 5,
		.state = "failed",
		.attempt = "sealed"});
	/* one or the other has a character across any limit */
	for (int odd = 0; odd < 2; odd++) {
		rig_exec(odd ? "UPDATE run SET reason = 'x' || reason WHERE id = 5"
			     : "UPDATE run SET reason = replace(hex(zeroblob(200)),"
			       " '00', 'ü') WHERE id = 5");
		doc = good(api_rankings_get, 0, "workload=4k-random-read");
		why = json_text_of(
			json_array_get(json_object_get(doc, "excluded"), 0), "why");
		ck_assert_msg(strstr(why, "üüü") != NULL, "%s", why);
		json_decref(doc);
	}
	rig_exec("UPDATE point SET workload = replace(hex(zeroblob(200)), '00', 'ü')"
		 " WHERE workload <> 'fill'");
	doc = good(api_curves_get, 0, "run=r1");
	ck_assert_uint_eq(json_array_size(json_object_get(doc, "workloads")), 1);
	json_decref(doc);
}
END_TEST

START_TEST(suites_are_never_ranked_together)
{
	json_t *doc;

	add_done_run(1, 1, 1, 20000);
	add_done_run(2, 2, 2, 42000);
	doc = good(api_rankings_get, 0, "");
	ck_assert_uint_eq(json_array_size(json_object_get(doc, "rankings")), 2);
	IS(doc, "/rankings/0/suite", "\"four-corners-demo@1\"");
	IS(doc, "/rankings/0/scaled", "true");
	IS(doc, "/rankings/0/items/0/rank", "1");
	IS(doc, "/rankings/1/suite", "\"four-corners@1\"");
	IS(doc, "/items", "(none)");
	json_decref(doc);
	doc = good(api_rankings_get, 0, "metric=lat_mean_ns@peak&campaign=c1");
	IS(doc, "/better", "\"lower\"");
	IS(doc, "/rankings/0/items/0/value", "400.0");
	json_decref(doc);
	refused(api_rankings_get, 0, "campaign=c9", ERR_NOTFOUND, "no campaign c9");
	refused(api_rankings_get, 0, "metric=iops", ERR_INVALID, "\"iops\" is not known");
}
END_TEST

START_TEST(what_is_asked_for_and_is_nowhere_is_named)
{
	struct err e;

	add_done_run(1, 1, 1, 20000);
	add_done_run(2, 2, 1, 30000);
	ck_assert_ptr_null(get(api_rankings_get, 0, "workload=read", &e));
	ck_assert_str_eq(e.text, "there are no results of a workload read here");
	ck_assert_str_eq(e.fix, "there are results of: 4k-random-read");
	ck_assert_ptr_null(get(api_comparisons_get, 0, "a=d1&b=d2&workload=read", &e));
	ck_assert_str_eq(e.fix, "there are results of: 4k-random-read");
	ck_assert_ptr_null(get(api_curves_get, 0, "run=r1&workload=read", &e));
	ck_assert_str_eq(e.fix, "there are results of: 4k-random-read");
	refused(api_rankings_get, 0, "suite=x@1", ERR_NOTFOUND, "no suite x@1");
	ck_assert_ptr_null(get(api_comparisons_get, 0, "a=d1&b=d2&suite=x@1", &e));
	ck_assert_str_eq(e.fix, "there are: four-corners@1, four-corners-demo@1");
	ck_assert_ptr_null(
		get(api_rankings_get, 0, "suite=four-corners-demo@1&workload=read", &e));
	ck_assert_str_eq(e.fix, "there are none of any workload yet");
}
END_TEST

START_TEST(a_figure_with_too_few_ios_is_left_out)
{
	json_t *doc;

	add_done_run(1, 1, 1, 5000);
	doc = good(
		api_rankings_get, 0, "metric=lat_p99.9_ns@peak&workload=4k-random-read");
	IS(doc, "/items", "[]");
	IS(doc, "/excluded/0/why", "\"too few I/Os support lat_p99.9_ns@peak\"");
	json_decref(doc);
}
END_TEST

/* An agent agrees a session over REST; both sides then have matching keys. */
START_TEST(a_session_is_agreed_and_installed_after_the_job)
{
	struct api_env env = {0};
	struct session_book *book = session_book_new();
	struct ask a = {.fn = api_agents_session};
	struct seal_pair node;
	struct seal_pair now;
	struct seal_session keys;
	struct session *theirs;
	uint8_t id[SEAL_SESSION_BYTES];
	uint8_t ephemeral[SEAL_KEY_BYTES];
	char text[64];
	struct err e = {0};

	seal_init();
	seal_pair_new(&env.keys);
	seal_pair_new(&node);
	seal_pair_new(&now);
	api_call_init(&a.call);
	a.call.node = 1;
	a.call.id = 1;
	a.call.env = &env;
	a.call.sessions = book;
	a.call.body = json_object();
	FAILS(rig_write(run_handler, &a, &e), ERR_INVALID, "\"ephemeral\" is missing");
	seal_base64(now.public_key, sizeof(now.public_key), text);
	json_put(a.call.body, "ephemeral", json_string(text));
	FAILS(rig_write(run_handler, &a, &e), ERR_STATE, "n1 has no key");
	{
		char sql[200];
		char hex[2 * SEAL_KEY_BYTES + 1];

		seal_hex(node.public_key, sizeof(node.public_key), hex);
		snprintf(sql, sizeof(sql),
			"UPDATE node SET public_key = x'%s' WHERE id = 1", hex);
		rig_exec(sql);
	}
	OK(rig_write(run_handler, &a, &e));
	ck_assert_uint_eq(session_count(book), 0);
	a.call.after(&a.call);
	ck_assert_uint_eq(session_count(book), 1);
	ck_assert_ptr_null(a.call.after_data);
	OK(seal_unbase64(json_text_of(a.call.doc, "session"), id, sizeof(id), &e));
	OK(seal_unbase64(
		json_text_of(a.call.doc, "ephemeral"), ephemeral, sizeof(ephemeral), &e));
	OK(seal_session_agree(
		&keys, id, false, &node, &now, env.keys.public_key, ephemeral, &e));
	theirs = session_find(book, id, clock_mono());
	ck_assert_ptr_nonnull(theirs);
	ck_assert_int_eq(theirs->node, 1);
	ck_assert_int_eq(memcmp(theirs->keys.rx, keys.tx, sizeof(keys.tx)), 0);
	ck_assert_int_eq(memcmp(theirs->keys.tx, keys.rx, sizeof(keys.rx)), 0);
	IS(a.call.doc, "/valid_s", "43200");
	api_call_fini(&a.call);
	session_book_free(book);
}
END_TEST

int
main(void)
{
	TCase *tc = tcase_create("results");

	tcase_add_checked_fixture(tc, data_up, data_down);
	tcase_set_timeout(tc, 60);
	tcase_add_test(tc, points_have_their_figures_and_flags);
	tcase_add_test(tc, flags_have_their_reasons);
	tcase_add_test(tc, a_running_point_has_no_figures_yet);
	tcase_add_test(tc, a_run_that_was_never_tried_has_empty_results);
	tcase_add_test(tc, a_series_has_a_row_a_second_and_goes_on_where_it_ended);
	tcase_add_test(tc, a_series_tells_its_gaps);
	tcase_add_test(tc, a_histogram_is_chosen_by_kind_and_direction);
	tcase_add_test(tc, trims_and_flushes_are_shown_beside_reads_and_writes);
	tcase_add_test(tc, trims_and_flushes_have_histograms_of_their_own);
	tcase_add_test(tc, single_runs_are_compared_without_a_verdict);
	tcase_add_test(tc, four_repeats_can_show_a_difference_and_three_cannot);
	tcase_add_test(tc, scaled_and_full_results_are_not_compared);
	tcase_add_test(tc, warnings_of_a_comparison_are_about_runs_of_its_suite);
	tcase_add_test(tc, two_runs_of_one_drive_are_compared);
	tcase_add_test(tc, what_cannot_be_compared_is_said);
	tcase_add_test(tc, drives_are_ranked_by_the_median_of_their_runs);
	tcase_add_test(tc, figures_carry_the_flags_of_their_points);
	tcase_add_test(tc, what_is_worked_off_is_nobodys_peak);
	tcase_add_test(tc, a_long_text_is_cut_between_characters);
	tcase_add_test(tc, suites_are_never_ranked_together);
	tcase_add_test(tc, what_is_asked_for_and_is_nowhere_is_named);
	tcase_add_test(tc, a_figure_with_too_few_ios_is_left_out);
	tcase_add_test(tc, a_session_is_agreed_and_installed_after_the_job);
	return unit_run("results", tc);
}
