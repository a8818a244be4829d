/* Tests in rounds, as the controller stores and shows them. */
#include "controller/rounds.h"

#include "analysis/metrics.h"
#include "common/json.h"
#include "controller/api.h"
#include "tests/unit/result_rig.h"
#include "tests/unit/rounds_rig.h"

static int64_t send_from; /* node, run and attempt */

static void
set_up(void)
{
	data_up();
	rig_add_running();
	rounds_program(1);
	feed_start(1, 101);
	send_from = 1;
}

static void
send(void)
{
	struct ingest_answer a;
	struct err e = {0};

	OK(feed_send(send_from, &a, &e));
	ck_assert_uint_eq(a.acked, rig_feed.seq);
	feed_start((uint64_t)send_from, 100 + (uint64_t)send_from);
}

/* What is missing before it is not acknowledged yet. */
static void
send_early(void)
{
	struct ingest_answer a;
	struct err e = {0};

	OK(feed_send(1, &a, &e));
	ck_assert_uint_eq(a.acked, 0);
	feed_start(1, 101);
}

/* Rounds 1 and 2 are faster; 3 is void; 4 to 8 are the window: 100, 102, 98, 101, 99. */
static void
feed_test(const char *verdict)
{
	static const uint64_t window[] = {100, 102, 98, 101, 99};

	feed_round(1, NULL, 900, 100000);
	feed_round(2, NULL, 800, 100000);
	feed_round(3, "iops/r0: 1 I/Os failed", 5000, 100000);
	for (uint32_t i = 0; i < 5; i++)
		feed_round(4 + i, NULL, window[i], i == 4 ? 900000 : 300000);
	feed_steady(verdict, 8, 4);
	send();
}

START_TEST(the_figures_of_a_cell_are_those_of_the_window)
{
	json_t *doc;

	feed_test("steady");
	doc = good(api_runs_rounds, 1, "");
	ck_assert_uint_eq(json_array_size(json_object_get(doc, "items")), 1);
	IS(doc, "/items/0/test", "\"iops\"");
	IS(doc, "/items/0/step", "2");
	IS(doc, "/items/0/verdict", "\"steady\"");
	IS(doc, "/items/0/first_round", "4");
	IS(doc, "/items/0/last_round", "8");
	IS(doc, "/items/0/range_percent", "20.0");
	IS(doc, "/items/0/tracking/0/slope", "-0.3");
	IS(doc, "/items/0/left_out/0", "\"w512\"");
	IS(doc, "/items/0/left_out_for", "\"health\"");
	IS(doc, "/items/0/cells/0/health_polls", "null");
	ck_assert_uint_eq(
		json_array_size(json_object_get(
			json_array_get(json_object_get(doc, "items"), 0), "list")),
		8);
	IS(doc, "/items/0/list/2/void", "\"iops/r0: 1 I/Os failed\"");
	IS(doc, "/items/0/list/3/void", "null");
	IS(doc, "/items/0/list/3/tracking/0/value", "100");
	/* cells in their order, with what they do */
	IS(doc, "/items/0/cells/0/workload", "\"iops/r100\"");
	IS(doc, "/items/0/cells/0/iops", "200.0");
	IS(doc, "/items/0/cells/0/read_percent", "100");
	IS(doc, "/items/0/cells/1/workload", "\"iops/r0\"");
	IS(doc, "/items/0/cells/1/rounds", "5");
	IS(doc, "/items/0/cells/1/iops", "100.0");
	IS(doc, "/items/0/cells/1/block_bytes", "4096");
	/* 500 I/Os: merged, 99 of them took three times as long; 500 are too few for
	 * p99 but enough for the median */
	IS(doc, "/items/0/cells/1/service/n", "\"500\"");
	IS(doc, "/items/0/cells/1/service/lat_max_ns", "900000.0");
	IS(doc, "/items/0/cells/1/service/lat_p99_ns", "null");
	IS(doc, "/items/0/cells/1/flags", "[]");
	json_decref(doc);
	doc = good(api_runs_points, 1, "workload=iops/r0");
	ck_assert_uint_eq(json_array_size(json_object_get(doc, "items")), 8);
	IS(doc, "/items/3/round", "4");
	IS(doc, "/items/3/cell", "2");
	IS(doc, "/items/3/test", "\"iops\"");
	json_decref(doc);
	refused(api_runs_rounds, 9, "", ERR_NOTFOUND, "no run r9");
	refused(api_runs_rounds, 1, "x=1", ERR_INVALID, "x");
}
END_TEST

START_TEST(polls_of_health_are_those_of_all_rounds_that_count)
{
	json_t *doc;

	feed_polls = "{\"period_ns\":\"1000000000\",\"polls\":\"9\",\"failed\":\"1\","
		     "\"mean_ns\":100.0,\"max_ns\":500,\"why\":\"no answer\"}";
	feed_round(1, NULL, 100, 300000);
	feed_polls = "{\"period_ns\":\"1000000000\",\"polls\":\"1\",\"failed\":\"0\","
		     "\"mean_ns\":200.0,\"max_ns\":200,\"why\":null}";
	feed_round(2, NULL, 100, 300000);
	feed_round(3, "iops/r0: 1 I/Os failed", 100, 300000);
	feed_polls = "{\"period_ns\":7,\"polls\":\"many\"}";
	feed_round(4, NULL, 100, 300000);
	feed_polls = NULL;
	feed_steady("not_reached", 4, 1);
	send();
	doc = good(api_runs_rounds, 1, "");
	IS(doc, "/items/0/cells/0/rounds", "3");
	IS(doc, "/items/0/cells/0/health_polls/period_ns", "\"1000000000\"");
	IS(doc, "/items/0/cells/0/health_polls/polls", "\"10\"");
	IS(doc, "/items/0/cells/0/health_polls/failed", "\"1\"");
	IS(doc, "/items/0/cells/0/health_polls/mean_ns", "110.0");
	IS(doc, "/items/0/cells/0/health_polls/max_ns", "500.0");
	json_decref(doc);
	doc = good(api_runs_points, 1, "workload=iops/r0");
	IS(doc, "/items/0/health_polls/why", "\"no answer\"");
	json_decref(doc);
}
END_TEST

START_TEST(the_order_in_which_records_come_changes_nothing)
{
	json_t *doc;

	/* the newest first: the end of the test, before any of its points */
	rig_feed.seq = 6;
	feed_steady("steady", 2, 1);
	rig_feed.seq = 3;
	feed_round(2, NULL, 102, 300000);
	send_early();
	doc = good(api_runs_rounds, 1, "");
	IS(doc, "/items/0/verdict", "\"steady\"");
	IS(doc, "/items/0/cells", "[]"); /* half a window has no figures */
	json_decref(doc);
	rig_feed.seq = 0;
	feed_round(1, NULL, 98, 300000);
	rig_feed.seq = 7;
	send();
	doc = good(api_runs_rounds, 1, "");
	IS(doc, "/items/0/cells/1/iops", "100.0");
	IS(doc, "/items/0/list/0/round", "1");
	IS(doc, "/items/0/list/1/round", "2");
	json_decref(doc);
}
END_TEST

/* The rounds of the window of feed_test, merged here. */
static void
merge_window(struct point_metrics *ret_m)
{
	static struct hist service[DIRECTIONS], response[DIRECTIONS];
	uint64_t ops[DIRECTIONS] = {[DIR_WRITE] = 500};
	uint64_t bytes[DIRECTIONS] = {[DIR_WRITE] = 500 * 4096};

	for (int d = 0; d < DIRECTIONS; d++)
		hist_reset(&service[d]);
	hist_add_times(&service[DIR_WRITE], 401, 300000);
	hist_add_times(&service[DIR_WRITE], 99, 900000);
	metrics_compute(service, response, ops, bytes, 5 * NS_PER_S, ret_m);
}

static void
is_value(const json_t *doc, const char *path, double want)
{
	ck_assert_double_eq_tol(strtod(at(doc, path), NULL), want, want * 1e-11);
}

START_TEST(what_is_stored_of_a_cell_is_what_merging_its_window_gives)
{
	struct point_metrics m;
	json_t *doc;

	rig_add_run((struct rig_run){2, 2, 1, 2, "done", "sealed"});
	feed_test("steady");
	rig_exec("UPDATE run SET state = 'done' WHERE id = 1");
	merge_window(&m);
	doc = good(api_runs_rounds, 1, "");
	is_value(doc, "/items/0/cells/1/iops", m.iops);
	is_value(doc, "/items/0/cells/1/write_iops", m.write_iops);
	IS(doc, "/items/0/cells/1/read_iops", "0.0");
	is_value(doc, "/items/0/cells/1/all_iops", m.all_iops);
	is_value(doc, "/items/0/cells/1/bytes_per_second", m.bytes_per_second);
	is_value(doc, "/items/0/cells/1/service/lat_mean_ns", m.service.mean);
	is_value(doc, "/items/0/cells/1/service/lat_p50_ns", m.service.p50);
	json_decref(doc);
	doc = good(api_curves_get, 0, "run=r1&workload=iops/r0");
	is_value(doc, "/workloads/0/points/0/service/lat_p50_ns", m.service.p50);
	IS(doc, "/workloads/0/points/0/point", "16");
	IS(doc, "/workloads/0/operations", "[\"write\"]");
	json_decref(doc);
	doc = good(api_rankings_get, 0, "workload=iops/r0&metric=lat_mean_ns@peak");
	is_value(doc, "/items/0/value", m.service.mean);
	json_decref(doc);
	/* the same rounds again, on the other drive */
	feed_reset();
	feed_start(2, 102);
	rounds_program(2);
	send_from = 2;
	feed_test("steady");
	doc = good(api_comparisons_get, 0, "a=r1&b=r2&workload=iops/r0");
	IS(doc, "/workloads/0/metrics/0/metric", "\"peak_iops\"");
	is_value(doc, "/workloads/0/metrics/0/a", m.iops);
	is_value(doc, "/workloads/0/metrics/0/b", m.iops);
	is_value(doc, "/workloads/0/metrics/1/b", m.bytes_per_second);
	is_value(doc, "/workloads/0/metrics/2/b", m.service.mean);
	json_decref(doc);
	/* and nothing else is read for it */
	rig_exec("UPDATE point SET read_service = NULL, write_service = NULL, meta = "
		 "'{}'");
	doc = good(api_rankings_get, 0, "workload=iops/r0&metric=lat_mean_ns@peak");
	is_value(doc, "/items/1/value", m.service.mean);
	json_decref(doc);
}
END_TEST

START_TEST(rounds_that_a_gap_had_stood_for_count_when_they_come)
{
	struct ingest_answer a;
	struct err e = {0};
	json_t *doc;

	feed_text(RECORD_GAP, "{\"from\":1,\"to\":4,\"reason\":\"x\"}");
	rig_feed.seq = 4;
	feed_round(2, NULL, 102, 300000);
	feed_steady("steady", 2, 1);
	send();
	doc = good(api_runs_rounds, 1, "");
	IS(doc, "/items/0/cells/1/iops", "102.0");
	json_decref(doc);
	rig_feed.seq = 1;
	feed_round(1, NULL, 98, 300000);
	OK(feed_send(1, &a, &e));
	ck_assert_uint_eq(a.stored, 3);
	doc = good(api_runs_rounds, 1, "");
	IS(doc, "/items/0/cells/1/rounds", "2");
	IS(doc, "/items/0/cells/1/iops", "100.0");
	json_decref(doc);
}
END_TEST

START_TEST(a_cell_without_reads_and_writes_counts_the_rest_of_all_its_rounds)
{
	json_t *doc;

	rig_exec("UPDATE run SET state = 'done' WHERE id = 1");
	for (uint32_t round = 1; round <= 2; round++) {
		feed_trims(round, "storm/trim", -1, round == 1 ? 100 : 300,
			round == 1 ? 1000 : 3000);
		feed_round_end(round, NULL, 0);
	}
	feed_end("storm", "not_judged", "\"rounds\":2,\"tracking\":[]");
	rig_exec("CREATE TRIGGER places AFTER INSERT ON point BEGIN UPDATE point"
		 " SET round = new.point, cell = 1 WHERE id = new.id; END");
	send();
	doc = good(api_curves_get, 0, "run=r1");
	ck_assert_uint_eq(json_array_size(json_object_get(doc, "workloads")), 1);
	IS(doc, "/workloads/0/operations", "[\"trim\",\"flush\"]");
	/* 101 and 301 in two seconds */
	IS(doc, "/workloads/0/points/0/iops", "201.0");
	is_value(doc, "/workloads/0/points/0/service/lat_mean_ns",
		(100 * 1000 + 10000 + 300 * 3000 + 30000) / 402.0);
	json_decref(doc);
}
END_TEST

START_TEST(a_test_that_runs_has_rounds_and_no_results)
{
	json_t *doc;

	doc = good(api_runs_rounds, 1, "");
	IS(doc, "/items/0/verdict", "\"not_yet\"");
	IS(doc, "/items/0/tracking", "null");
	json_decref(doc);
	feed_round(1, NULL, 900, 100000);
	send();
	doc = good(api_runs_rounds, 1, "");
	IS(doc, "/items/0/list/0/verdict", "\"not_yet\"");
	IS(doc, "/items/0/rounds", "null");
	IS(doc, "/items/0/cells", "[]");
	json_decref(doc);
}
END_TEST

START_TEST(a_test_whose_cells_are_all_left_out_has_that_as_its_verdict)
{
	json_t *doc = good(api_runs_rounds, 1, "");
	char sql[200];

	snprintf(sql, sizeof(sql),
		"UPDATE attempt SET program = json_set(program,"
		" '$.steps[%d].rounds.cells', json('[]'))",
		(int)json_integer_value(json_object_get(
			json_array_get(json_object_get(doc, "items"), 0), "step")) -
			1);
	json_decref(doc);
	rig_exec(sql);
	doc = good(api_runs_rounds, 1, "");
	IS(doc, "/items/0/verdict", "\"left_out\"");
	json_decref(doc);
}
END_TEST

START_TEST(a_test_that_judges_nothing_has_the_means_of_all_rounds_that_count)
{
	json_t *doc;

	feed_round(1, NULL, 90, 100000);
	feed_round(2, "iops/r0: 1 I/Os failed", 5000, 100000);
	feed_round(3, NULL, 110, 100000);
	feed_end("iops", "not_judged",
		"\"rounds\":3,\"first_round\":null,\"last_round\":null,\"tracking\":[]");
	send();
	doc = good(api_runs_rounds, 1, "");
	IS(doc, "/items/0/cells/1/iops", "100.0");
	IS(doc, "/items/0/cells/1/rounds", "2");
	IS(doc, "/items/0/cells/1/flags", "[\"not-judged\"]");
	IS(doc, "/items/0/reasons/0/text",
		"\"its test tracks nothing, so nobody judged whether it was steady\"");
	json_decref(doc);
	/* and so wherever it is read */
	rig_exec("UPDATE run SET state = 'done' WHERE id = 1");
	doc = good(api_rankings_get, 0, "workload=iops/r0");
	IS(doc, "/items/0/flags", "[\"not-judged\"]");
	json_decref(doc);
	doc = good(api_curves_get, 0, "run=r1&workload=iops/r0");
	IS(doc, "/workloads/0/points/0/flags", "[\"not-judged\"]");
	json_decref(doc);
}
END_TEST

/* A test that is judged by the standard but for one member. */
static const struct {
	const char *member, *value;
	bool own;
} criteria[] = {
	{"window", "5", false},
	{"window", "4", true},
	{"range_percent", "20.5", true},
	{"slope_percent", "9.0", true},
	{"max_rounds", "7", true},
	{"max_rounds", "26", true},
};

START_TEST(a_criterion_that_is_not_the_standards_is_marked)
{
	char text[600];
	json_t *doc;

	feed_round(1, NULL, 90, 100000);
	snprintf(text, sizeof(text),
		"\"rounds\":1,\"first_round\":1,\"last_round\":1,"
		"\"tracking\":[{\"cell\":\"iops/r0\"}],%s%s%s%s\"%s\":%s",
		criteria[_i].member[0] == 'w' ? "" : "\"window\":5,",
		criteria[_i].member[0] == 'r' ? "" : "\"range_percent\":20.0,",
		criteria[_i].member[0] == 's' ? "" : "\"slope_percent\":10.0,",
		criteria[_i].member[0] == 'm' ? "" : "\"max_rounds\":25,",
		criteria[_i].member, criteria[_i].value);
	feed_end("iops", "steady", text);
	send();
	doc = good(api_runs_rounds, 1, "");
	IS(doc, "/items/0/cells/1/flags",
		criteria[_i].own ? "[\"own-criterion\"]" : "[]");
	IS(doc, "/items/0/flags", criteria[_i].own ? "[\"own-criterion\"]" : "[]");
	if (_i == 4)
		IS(doc, "/items/0/reasons/0/text",
			"\"its test was judged by a window of 5 rounds, a range of 20 %, "
			"a "
			"slope of 10 % and at most 7 rounds; the standard has 5, 20 %, "
			"10 % "
			"and 25\"");
	json_decref(doc);
}
END_TEST

START_TEST(what_is_not_steady_is_marked_wherever_it_is_read)
{
	json_t *doc;

	feed_test("not_reached");
	rig_exec("UPDATE run SET state = 'done' WHERE id = 1");
	doc = good(api_runs_rounds, 1, "");
	IS(doc, "/items/0/cells/1/flags", "[\"unsteady\"]");
	json_decref(doc);
	doc = good(api_rankings_get, 0,
		"suite=four-corners@1&workload=iops/r0&metric=peak_iops");
	IS(doc, "/items/0/value", "100.0");
	IS(doc, "/items/0/flags", "[\"unsteady\"]");
	json_decref(doc);
}
END_TEST

START_TEST(a_cell_is_a_curve_of_its_own_and_never_that_of_a_ramp)
{
	json_t *doc;

	feed_test("steady");
	rig_exec("UPDATE run SET state = 'done' WHERE id = 1");
	doc = good(api_curves_get, 0, "run=r1");
	ck_assert_uint_eq(json_array_size(json_object_get(doc, "workloads")), 2);
	IS(doc, "/workloads/1/workload", "\"iops/r0\"");
	ck_assert_uint_eq(
		json_array_size(json_object_get(
			json_array_get(json_object_get(doc, "workloads"), 1), "points")),
		1);
	IS(doc, "/workloads/1/points/0/iops", "100.0");
	IS(doc, "/workloads/1/points/0/load_percent", "null");
	json_decref(doc);
	/* half load was never offered: no figure, and none made up */
	refused(api_curves_get, 0, "run=r1&workload=r0", ERR_NOTFOUND,
		"no results of a workload r0");
}
END_TEST

START_TEST(an_end_without_a_window_has_no_results)
{
	json_t *doc;

	feed_round(1, "iops/r0: 1 I/Os failed", 900, 100000);
	feed_steady("not_reached", 1, 0);
	send();
	doc = good(api_runs_rounds, 1, "");
	IS(doc, "/items/0/verdict", "\"not_reached\"");
	IS(doc, "/items/0/cells", "[]");
	json_decref(doc);
}
END_TEST

START_TEST(a_demand_that_was_chosen_is_that_of_the_cells)
{
	json_t *doc;

	feed_round(1, NULL, 90, 100000);
	feed_end("iops", "not_judged",
		"\"rounds\":1,\"first_round\":null,\"last_round\":null,\"tracking\":[],"
		"\"choice\":{\"from\":\"matrix\",\"pick\":\"max\",\"cell\":\"matrix/"
		"t4-q2\",\"workers\":4,\"in_flight\":8,\"text\":\"max is "
		"matrix/t4-q2\"}");
	send();
	doc = good(api_runs_rounds, 1, "");
	IS(doc, "/items/0/choice/cell", "\"matrix/t4-q2\"");
	IS(doc, "/items/0/choice/text", "\"max is matrix/t4-q2\"");
	/* not the 32 of the program, which are the most it could be */
	IS(doc, "/items/0/cells/1/in_flight", "8");
	IS(doc, "/items/0/cells/1/workers", "4");
	IS(doc, "/items/0/cells/1/block_bytes", "4096");
	json_decref(doc);
}
END_TEST

START_TEST(what_could_not_be_chosen_says_why_and_has_no_cells)
{
	json_t *doc;

	feed_end("iops", "not_judged",
		"\"ended_by\":\"no_choice\",\"rounds\":0,\"first_round\":null,\"last_"
		"round\":null,\"tracking\":[],\"choice\":{\"from\":\"matrix\",\"pick\":"
		"\"max\",\"cell\":null,\"workers\":null,\"in_flight\":null,\"text\":"
		"\"nothing is measured\"}");
	send();
	doc = good(api_runs_rounds, 1, "");
	IS(doc, "/items/0/ended_by", "\"no_choice\"");
	IS(doc, "/items/0/choice/cell", "null");
	IS(doc, "/items/0/choice/text", "\"nothing is measured\"");
	IS(doc, "/items/0/cells", "[]");
	json_decref(doc);
}
END_TEST

START_TEST(nonsense_is_an_alarm_and_stops_nothing)
{
	feed_text(RECORD_EVENT, "{\"event\":\"steady\",\"step\":2,\"verdict\":\"fine\"}");
	feed_text(RECORD_EVENT, "{\"event\":\"round.end\",\"step\":2,\"round\":0}");
	feed_text(RECORD_EVENT, "{\"event\":\"round.end\",\"round\":\"x\"}");
	send();
	rig_is("SELECT count(*) FROM event WHERE name = 'run.alarm'", "3");
}
END_TEST

int
main(void)
{
	TCase *tc = tcase_create("run_rounds");

	tcase_add_checked_fixture(tc, set_up, data_down);
	tcase_add_test(tc, the_figures_of_a_cell_are_those_of_the_window);
	tcase_add_test(tc, polls_of_health_are_those_of_all_rounds_that_count);
	tcase_add_test(tc, the_order_in_which_records_come_changes_nothing);
	tcase_add_test(tc, what_is_stored_of_a_cell_is_what_merging_its_window_gives);
	tcase_add_test(tc, rounds_that_a_gap_had_stood_for_count_when_they_come);
	tcase_add_test(
		tc, a_cell_without_reads_and_writes_counts_the_rest_of_all_its_rounds);
	tcase_add_test(tc, a_test_that_runs_has_rounds_and_no_results);
	tcase_add_test(tc, a_test_whose_cells_are_all_left_out_has_that_as_its_verdict);
	tcase_add_test(
		tc, a_test_that_judges_nothing_has_the_means_of_all_rounds_that_count);
	tcase_add_loop_test(tc, a_criterion_that_is_not_the_standards_is_marked, 0,
		(int)(sizeof(criteria) / sizeof(criteria[0])));
	tcase_add_test(tc, what_is_not_steady_is_marked_wherever_it_is_read);
	tcase_add_test(tc, a_cell_is_a_curve_of_its_own_and_never_that_of_a_ramp);
	tcase_add_test(tc, an_end_without_a_window_has_no_results);
	tcase_add_test(tc, a_demand_that_was_chosen_is_that_of_the_cells);
	tcase_add_test(tc, what_could_not_be_chosen_says_why_and_has_no_cells);
	tcase_add_test(tc, nonsense_is_an_alarm_and_stops_nothing);
	return unit_run("run_rounds", tc);
}
