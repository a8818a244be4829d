/* Tests in rounds, as the controller stores and shows them. */
#include "controller/rounds.h"

#include "common/json.h"
#include "controller/api.h"
#include "tests/unit/result_rig.h"
#include "tests/unit/rounds_rig.h"

static void
set_up(void)
{
	rig_up();
	rig_seed();
	rig_add_run((struct rig_run){1, 1, 1, 1, "running", "running"});
	rounds_program(1);
	feed_reset();
	feed_start(1, 101);
}

static void
tear_down(void)
{
	feed_reset();
	rig_down();
}

static void
send(void)
{
	struct ingest_answer a;
	struct err e = {0};

	OK(feed_send(1, &a, &e));
	ck_assert_uint_eq(a.acked, rig_feed.seq);
	feed_start(1, 101);
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
	IS(doc, "/items/0/cells/1/iops", "102.0");
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

START_TEST(a_test_that_judges_nothing_has_the_means_of_all_rounds_that_count)
{
	json_t *doc;

	feed_round(1, NULL, 90, 100000);
	feed_round(2, "iops/r0: 1 I/Os failed", 5000, 100000);
	feed_round(3, NULL, 110, 100000);
	feed_text(RECORD_EVENT,
		"{\"event\":\"steady\",\"step\":2,\"test\":\"iops\",\"verdict\":"
		"\"not_judged\",\"rounds\":3,\"first_round\":null,\"last_round\":null,"
		"\"tracking\":[]}");
	send();
	doc = good(api_runs_rounds, 1, "");
	IS(doc, "/items/0/cells/1/iops", "100.0");
	IS(doc, "/items/0/cells/1/rounds", "2");
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

	tcase_add_checked_fixture(tc, set_up, tear_down);
	tcase_add_test(tc, the_figures_of_a_cell_are_those_of_the_window);
	tcase_add_test(tc, the_order_in_which_records_come_changes_nothing);
	tcase_add_test(tc, a_test_that_runs_has_rounds_and_no_results);
	tcase_add_test(
		tc, a_test_that_judges_nothing_has_the_means_of_all_rounds_that_count);
	tcase_add_test(tc, what_is_not_steady_is_marked_wherever_it_is_read);
	tcase_add_test(tc, a_cell_is_a_curve_of_its_own_and_never_that_of_a_ramp);
	tcase_add_test(tc, an_end_without_a_window_has_no_results);
	tcase_add_test(tc, nonsense_is_an_alarm_and_stops_nothing);
	return unit_run("run_rounds", tc);
}
