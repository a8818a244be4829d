#include "cli/rounds.h"

#include <stdio.h>

#include "cli/out.h"
#include "tests/unit/unit.h"

/* What rounds_show writes of these tests; static buffer. */
static const char *
shown(enum out_format format, const char *tests)
{
	static char *text;
	struct out o = {.format = format, .fd = -1, .utf8 = true};
	json_t *doc = json_loads(tests, 0, NULL);
	size_t len;

	free(text);
	ck_assert_ptr_nonnull(doc);
	o.file = open_memstream(&text, &len);
	rounds_show(&o, doc);
	fclose(o.file);
	json_decref(doc);
	return text;
}

static void
says(const char *text, const char *part)
{
	ck_assert_msg(strstr(text, part) != NULL, "no \"%s\" in\n%s", part, text);
}

#define RULE \
	"\"window\":5,\"range_percent\":20.0,\"slope_percent\":10.0,\"max_rounds\":25"

/* SNIA's first vector, by its latencies: 100, 102, 98, 101, 99 us. */
#define TRACKED                                                         \
	"\"tracking\":[{\"cell\":\"lat/"                                \
	"r0\",\"metric\":\"lat_mean_ns\",\"mean\":100000.0,"            \
	"\"range_ratio\":0.04,\"slope\":-300.0,\"intercept\":101800.0," \
	"\"slope_ratio\":0.012,\"steady\":true}]"

#define CELL(id, block, read, iops, ns)                                              \
	"{\"workload\":\"lat/" id "\",\"rounds\":5,\"block_bytes\":" block           \
	",\"read_percent\":" read ",\"iops\":" iops ",\"bytes_per_second\":4096000," \
	"\"service\":{\"lat_mean_ns\":" ns "},\"flags\":[]}"

START_TEST(a_verdict_stands_beside_the_figures_that_led_to_it)
{
	const char *text = shown(OUT_TABLE,
		"[{\"test\":\"lat\",\"verdict\":\"steady\",\"rounds\":8,\"void_rounds\":"
		"1,"
		"\"first_round\":4,\"last_round\":8," RULE "," TRACKED
		",\"list\":[{\"round\":3,\"void\":\"lat/r0: 1 I/Os failed\"}],"
		"\"left_out\":[\"r0-512\",\"r100-512\"],\"cells\":[]}]");

	says(text, "Steady state (range and slope of the window, of its mean)");
	says(text, "lat   steady   8/25       1  4-8     lat/r0   mean latency  100 us  "
		   "4.0 %, limit 20 %  1.2 %, limit 10 %  102 us - 300 ns * round\n");
	says(text, "lat: round 3 is void: lat/r0: 1 I/Os failed");
	says(text, "lat: left out for the drive's logical blocks: r0-512, r100-512");
}
END_TEST

START_TEST(polls_of_health_stand_beside_the_cell_that_they_ran_beside)
{
	const char *text = shown(OUT_TABLE,
		"[{\"test\":\"hp\",\"verdict\":\"not_judged\",\"tracking\":[],\"cells\":["
		"{\"workload\":\"hp/"
		"alone\",\"rounds\":1,\"iops\":10,\"health_polls\":null,"
		"\"service\":{\"lat_max_ns\":1000}},"
		"{\"workload\":\"hp/poll-1s\",\"rounds\":1,\"iops\":10,\"health_polls\":{"
		"\"period_ns\":\"1000000000\",\"polls\":\"60\",\"failed\":\"2\",\"mean_"
		"ns\":200000,"
		"\"max_ns\":5000000},\"service\":{\"lat_max_ns\":2000}}]},"
		"{\"test\":\"other\",\"verdict\":\"left_out\",\"left_out_for\":"
		"\"health\",\"left_out\":[\"alone\","
		"\"poll-1s\"]}]");

	says(text, "\nother  left out");
	says(text, "HEALTH POLLS  POLL MEAN  POLL MAX");
	says(text, "60, 2 failed     200 us   5.00 ms");
	says(text,
		"other: left out as the drive has no log of its health to poll: alone, "
		"poll-1s");
}
END_TEST

START_TEST(what_is_not_reached_says_by_how_much)
{
	const char *text = shown(OUT_TABLE,
		"[{\"test\":\"iops\",\"verdict\":\"not_reached\",\"rounds\":25,"
		"\"first_round\":21,\"last_round\":25," RULE
		",\"reasons\":[{\"flag\":\"unsteady\",\"text\":\"its test did not come "
		"to "
		"a steady state\"}],\"tracking\":[{\"cell\":\"iops/r0\",\"metric\":"
		"\"iops\",\"mean\":110.0,"
		"\"range_ratio\":0.18,\"slope_ratio\":0.1818,\"slope\":5.0,"
		"\"intercept\":-5.0}],\"cells\":[" CELL(
			"r0", "4096", "0", "110", "9000") "]}]");

	says(text, "iops: unsteady: its test did not come to a steady state");
	says(text, "not reached");
	says(text, "  110   18.0 %, limit 20 %  ");
	says(text, "18.2 %, limit 10 % exceeded  -5 + 5 * round\n");
	says(text, "Results of iops, which is not steady: means, and service times, of "
		   "the window");
}
END_TEST

START_TEST(cells_of_all_blocks_in_all_mixes_are_a_matrix_of_what_is_tracked)
{
	static const char cells[] = "\"cells\":[" CELL("a", "8192", "100", "10",
		"1000") "," CELL("b", "8192", "0", "20", "2000") "," CELL("c", "4096",
		"100", "30", "3000") "," CELL("d", "4096", "0", "40", "4000") "]";
	char tests[3000];
	const char *text;

	snprintf(tests, sizeof(tests),
		"[{\"test\":\"lat\",\"verdict\":\"steady\",\"first_round\":1," TRACKED
		",%s}]",
		cells);
	text = shown(OUT_TABLE, tests);
	says(text, "Results of lat: mean latencies of the window\n"
		   "BLOCK  READ 100 %  READ 0 %\n"
		   "8KiB      1.00 us   2.00 us\n"
		   "4KiB      3.00 us   4.00 us\n");
	snprintf(tests, sizeof(tests),
		"[{\"test\":\"sweep\",\"verdict\":\"not_judged\",\"tracking\":[],%s}]",
		cells);
	text = shown(OUT_TABLE, tests);
	says(text, "Results of sweep: IOPS of all rounds that are not void\n"
		   "BLOCK  READ 100 %  READ 0 %\n"
		   "8KiB           10        20\n");
	ck_assert_ptr_null(strstr(text, "CELL"));
	says(shown(OUT_WIDE, tests), "CELL");
}
END_TEST

START_TEST(cells_that_are_no_matrix_are_a_list)
{
	const char *text = shown(OUT_TABLE,
		"[{\"test\":\"lat\",\"verdict\":\"not_judged\",\"cells\":[" CELL(
			"a", "8192", "100", "10", "1000") "," CELL("b", "8192", "100",
			"20", "2000") "," CELL("c", "4096", "0", "30",
			"3000") "," CELL("d", "4096", "0", "40", "4000") "]}]");

	says(text, "lat/d");
	says(text, "4.00 us");
}
END_TEST

START_TEST(a_demand_that_was_taken_over_is_told)
{
	const char *text = shown(OUT_TABLE,
		"[{\"test\":\"high\",\"verdict\":\"not_judged\",\"cells\":[],\"choice\":{"
		"\"from\":\"matrix\",\"text\":\"max is matrix/t4-q4\"}},{\"test\":"
		"\"matrix\",\"verdict\":\"steady\",\"cells\":[],\"choice\":null}]");

	says(text, "high: max is matrix/t4-q4\n");
	ck_assert_ptr_null(strstr(text, "matrix: "));
}
END_TEST

START_TEST(a_run_without_rounds_shows_nothing)
{
	ck_assert_str_eq(shown(OUT_TABLE, "[]"), "");
}
END_TEST

int
main(void)
{
	TCase *tc = tcase_create("cli_rounds");

	tcase_add_test(tc, a_verdict_stands_beside_the_figures_that_led_to_it);
	tcase_add_test(tc, polls_of_health_stand_beside_the_cell_that_they_ran_beside);
	tcase_add_test(tc, what_is_not_reached_says_by_how_much);
	tcase_add_test(
		tc, cells_of_all_blocks_in_all_mixes_are_a_matrix_of_what_is_tracked);
	tcase_add_test(tc, cells_that_are_no_matrix_are_a_list);
	tcase_add_test(tc, a_demand_that_was_taken_over_is_told);
	tcase_add_test(tc, a_run_without_rounds_shows_nothing);
	return unit_run("cli_rounds", tc);
}
