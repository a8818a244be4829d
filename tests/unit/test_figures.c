/* What rank, compare and curve print of the controller's answers. */
#include <stdio.h>
#include <stdlib.h>

#include "cli/comparison.h"
#include "cli/curves.h"
#include "cli/facts.h"
#include "cli/out.h"
#include "cli/ranking.h"
#include "cli/show.h"
#include "common/json.h"
#include "tests/unit/unit.h"

typedef void print_fn(const struct out *o, json_t *doc);

/* What is printed of a document, which is taken; static buffer. */
static const char *
printed(print_fn *print, enum out_format format, json_t *doc)
{
	static char *text;
	struct out o = {.format = format, .fd = -1};
	size_t len;

	ck_assert_ptr_nonnull(doc);
	free(text);
	o.file = open_memstream(&text, &len);
	print(&o, doc);
	fclose(o.file);
	json_decref(doc);
	return text;
}

static void
has(const char *text, const char *part)
{
	ck_assert_msg(strstr(text, part) != NULL, "no \"%s\" in:\n%s", part, text);
}

static void
has_not(const char *text, const char *part)
{
	ck_assert_msg(strstr(text, part) == NULL, "\"%s\" in:\n%s", part, text);
}

/* The place of a drive with n runs; flag may be NULL. */
static json_t *
place(int rank, const char *drive, int n, const char *flag)
{
	json_t *o = json_pack("{s:i, s:{s:s, s:s, s:s, s:s, s:b}, s:f, s:f, s:f, s:i,"
			      " s:f, s:[], s:[s]}",
		"rank", rank, "drive", "id", drive, "model", "M", "serial", "S",
		"firmware", "F", "virtual", strcmp(drive, "d1") == 0, "value",
		1000.0 / rank, "minimum", 10.0, "maximum", 2000.0, "n", n,
		"percent_of_best", 100.0 / rank, "flags", "runs", drive + 1);

	ck_assert_ptr_nonnull(o);
	if (flag != NULL)
		json_array_append_new(json_object_get(o, "flags"), json_string(flag));
	return o;
}

static json_t *
ranking(json_t *items)
{
	return json_pack("{s:[{s:s, s:s, s:s, s:s, s:s, s:s, s:b, s:b, s:i, s:o, s:[]}]}",
		"rankings", "metric", "peak_iops", "title", "peak IOPS", "unit", "1/s",
		"better", "higher", "workload", "w", "suite", "s@1", "scaled", 1,
		"virtual", 1, "repeats_needed", 4, "items", items, "excluded");
}

START_TEST(places_that_rest_on_too_few_runs_are_named)
{
	const char *text;
	json_t *items = json_array();

	text = printed(ranking_print, OUT_TABLE,
		ranking(json_pack("[o, o, o]", place(1, "d1", 4, NULL),
			place(2, "d2", 1, NULL), place(3, "d3", 3, NULL))));
	has(text, "\n2 of 3 drives have fewer than 4 runs (d2: 1, d3: 3): their places "
		  "may be chance; 4 on each side can show a difference\n");
	has_not(text, "single");
	has_not(text, "ssdlab run show");
	text = printed(ranking_print, OUT_TABLE,
		ranking(json_pack(
			"[o, o]", place(1, "d1", 4, NULL), place(2, "d2", 9, NULL))));
	has_not(text, "fewer");
	/* one drive is in no order */
	text = printed(ranking_print, OUT_TABLE,
		ranking(json_pack("[o]", place(1, "d1", 1, NULL))));
	has_not(text, "fewer");
	for (int i = 1; i <= 10; i++) {
		char id[16];

		snprintf(id, sizeof(id), "d%d", i);
		json_array_append_new(items, place(i, id, 1, NULL));
	}
	text = printed(ranking_print, OUT_TABLE, ranking(items));
	has(text, "10 of 10 drives have fewer than 4 runs (d1: 1, ");
	has(text, "d8: 1, and 2 more)");
}
END_TEST

/* Adds a ranking without a row. */
static void
add_empty(json_t *doc, const char *metric, bool fixed_rates)
{
	json_array_append_new(json_object_get(doc, "rankings"),
		json_pack("{s:s, s:s, s:s, s:b, s:[], s:[]}", "metric", metric,
			"workload", "without", "suite", "s@1", "fixed_rates", fixed_rates,
			"items", "excluded"));
}

START_TEST(rankings_without_a_row_are_counted_and_not_shown)
{
	json_t *doc = json_pack("{s:[]}", "rankings");
	json_t *full = ranking(json_pack("[o]", place(1, "d1", 4, NULL)));
	const char *text;

	add_empty(doc, "peak_iops", false);
	json_array_extend(
		json_object_get(doc, "rankings"), json_object_get(full, "rankings"));
	text = printed(ranking_print, OUT_TABLE, json_deep_copy(doc));
	ck_assert_msg(strncmp(text, "w by peak IOPS ", 15) == 0, "%s", text);
	has(text, "\n\n1 workload has no such figure (-o json says why)\n");
	has_not(text, "without");
	add_empty(doc, "peak_iops", true);
	text = printed(ranking_print, OUT_TABLE, doc);
	has(text, "\n\n2 workloads have no such figure (-o json says why), those with "
		  "fixed rates: --metric iops@rate\n");
	json_decref(full);
}
END_TEST

/* What is said on stderr of rankings of which none has a row; to be freed. */
static char *
said_of_nothing(const char *metric, bool fixed_rates)
{
	json_t *doc = json_pack("{s:[]}", "rankings");
	FILE *kept = stderr;
	char *said = NULL;
	size_t len;

	add_empty(doc, metric, fixed_rates);
	stderr = open_memstream(&said, &len);
	ck_assert_str_eq(printed(ranking_print, OUT_TABLE, doc), "");
	fclose(stderr);
	stderr = kept;
	return said;
}

START_TEST(nothing_to_rank_leads_to_fixed_rates_where_runs_have_them)
{
	char *said = said_of_nothing("peak_iops", true);

	has(said, "nothing to rank: no finished run has that figure\n");
	has(said, "  fix: runs have fixed rates: add --metric iops@rate\n");
	free(said);
	said = said_of_nothing("peak_iops", false);
	has_not(said, "fix");
	free(said);
	said = said_of_nothing("lat_p99_ns@rate", true);
	has_not(said, "fix");
	free(said);
}
END_TEST

START_TEST(rows_of_a_ranking_tell_virtual_drives_and_scaled_suites)
{
	const char *text = printed(ranking_print, OUT_CSV,
		ranking(json_pack(
			"[o, o]", place(1, "d1", 4, NULL), place(2, "d2", 1, NULL))));

	has(text, ",maximum,virtual,scaled,is_foreign\r\n");
	has(text, ",true,true,false\r\n");
	has(text, ",false,true,false\r\n");
	has_not(text, "fewer");
}
END_TEST

/* The place of a result from elsewhere; scaled NULL: not known. */
static json_t *
elsewhere(int rank, const char *id, json_t *scaled)
{
	json_t *o = json_pack(
		"{s:i, s:n, s:{s:s, s:b, s:s, s:s, s:s, s:o}, s:f, s:i, s:f,"
		" s:[s, s], s:[]}",
		"rank", rank, "drive", "foreign", "id", id, "foreign", 1, "tool",
		"published", "source", "table.csv", "subject", "acme-1tb", "scaled",
		scaled, "value", 500.0, "n", 1, "percent_of_best", 50.0, "flags",
		"foreign", "printed", "runs");

	ck_assert_ptr_nonnull(o);
	return o;
}

START_TEST(a_result_from_elsewhere_is_told_as_such_in_a_ranking)
{
	const char *text = printed(ranking_print, OUT_TABLE,
		ranking(json_pack("[o, o]", place(1, "d1", 4, NULL),
			elsewhere(2, "x3", json_null()))));

	has(text, "x3     acme-1tb  published: table.csv");
	has(text, "foreign, printed");
	has(text, "\nforeign: not measured by this lab, and ranked by the name of the "
		  "workload alone\n");
	has(text, "\nwhat the marks are about: ssdlab foreign show x3\n");
	has_not(text, "fewer than 4 runs");
	text = printed(ranking_print, OUT_CSV,
		ranking(json_pack("[o, o]", elsewhere(1, "x3", json_null()),
			elsewhere(2, "x4", json_false()))));
	has(text, ",x3,acme-1tb,");
	has(text, ",unknown,true\r\n");
	has(text, ",false,true\r\n");
}
END_TEST

START_TEST(a_ranking_with_flags_says_where_their_reasons_are)
{
	const char *text = printed(ranking_print, OUT_TABLE,
		ranking(json_pack("[o, o, o]", place(1, "d7", 4, "late"),
			place(2, "d2", 4, NULL), place(3, "d3", 4, "cut"))));

	has(text, "\nwhy there are flags: ssdlab run show RUN (7, 3)\n");
}
END_TEST

static json_t *
side(const char *kind, const char *id, const char *label, json_t *runs)
{
	json_t *o = json_pack("{s:s, s:s, s:s, s:o}", "kind", kind, "id", id, "label",
		label, "runs", runs);

	ck_assert_ptr_nonnull(o);
	if (strcmp(kind, "foreign") != 0)
		json_object_set_new(o, "drive", json_pack("{s:b}", "virtual", 1));
	return o;
}

static json_t *
metric(const char *name, double a, double b, json_t *loads_a, json_t *loads_b)
{
	return json_pack("{s:s, s:s, s:s, s:s, s:f, s:f, s:f, s:i, s:i, s:n, s:s, s:o,"
			 " s:o, s:[], s:[]}",
		"metric", name, "title", name, "unit", "1/s", "better", "higher", "a", a,
		"b", b, "difference_percent", (b / a - 1) * 100, "n_a", 1, "n_b", 1, "p",
		"verdict", "single run", "loads_a", loads_a, "loads_b", loads_b,
		"flags_a", "flags_b");
}

static json_t *
comparison(json_t *a, json_t *b, json_t *metrics)
{
	return json_pack("{s:s, s:b, s:o, s:o, s:[{s:s, s:o}], s:[], s:[s]}", "suite",
		"s@1", "scaled", 1, "a", a, "b", b, "workloads", "workload", "w",
		"metrics", metrics, "differs", "warnings", "beware");
}

static json_t *
two_runs(void)
{
	return comparison(side("run", "r1", "r1 on M S1", json_pack("[s]", "r1")),
		side("drive", "d2", "M S2", json_pack("[s, s]", "r2", "r3")),
		json_pack("[o, o]",
			metric("peak_iops", 1000, 97250, json_pack("[n]"),
				json_pack("[f, n]", 80.0)),
			metric("lat_mean_ns@50", 1000, 11000, json_pack("[f]", 50.0),
				json_pack("[f]", 50.0))));
}

START_TEST(a_comparison_names_its_suite_first)
{
	json_t *doc = two_runs();
	const char *text;

	text = printed(comparison_print, OUT_TABLE, json_incref(doc));
	ck_assert_msg(strncmp(text, "runs of s@1\nA  ", 15) == 0, "%s", text);
	/* two results from elsewhere */
	json_object_set_new(doc, "suite", json_string(""));
	text = printed(comparison_print, OUT_TABLE, doc);
	ck_assert_msg(strncmp(text, "A  ", 3) == 0, "%s", text);
}
END_TEST

START_TEST(a_comparison_tells_the_loads_of_peaks_and_multiples)
{
	const char *text = printed(comparison_print, OUT_TABLE, two_runs());

	has(text, "A  run r1 on M S1\nB  drive d2  M S2 (r2, r3)\n");
	has(text, "1.00 k at max");
	has(text, "97.2 k at 80 %, max");
	has(text, "  x97.2 ");
	has(text, "+1000.0 %");
	has_not(text, "at 50 %");
	has(text, "warning: beware");
	has_not(text, "why there are flags");
	text = printed(comparison_print, OUT_TABLE,
		comparison(side("run", "r1", "r1 on M S1", json_pack("[s]", "r1")),
			side("run", "r2", "r2 on M S2", json_pack("[s]", "r2")),
			json_pack("[o]", metric("peak_iops", 10, 2400, json_array(),
						 json_array()))));
	has(text, "  x240 ");
	has_not(text, " at ");
}
END_TEST

/* A metric of more than one run a side. */
static json_t *
repeated(double p, const char *verdict)
{
	json_t *m = metric("peak_iops", 1000, 430, json_array(), json_array());
	json_t *more = json_pack("{s:i, s:i, s:f, s:s, s:f, s:f, s:f, s:f}", "n_a", 4,
		"n_b", 3, "p", p, "verdict", verdict, "minimum_a", 990.0, "maximum_a",
		1021.0, "minimum_b", 430.0, "maximum_b", 430.0);

	ck_assert_ptr_nonnull(more);
	json_object_update(m, more);
	json_decref(more);
	return m;
}

START_TEST(a_verdict_stands_beside_repeats_spread_and_p)
{
	json_t *one = metric("peak_iops", 10, 20, json_array(), json_array());
	const char *text = printed(comparison_print, OUT_TABLE,
		comparison(side("drive", "d1", "M S1", json_array()),
			side("drive", "d2", "M S2", json_array()),
			json_pack("[o, o, o]", repeated(0.057, "no difference shown"),
				repeated(0.0001, "worse"), one)));

	has(text, "  N  SPREAD A, B       P  VERDICT\n");
	has(text, "-57.0 %  4/3     3.1 %, -   0.057  no difference shown\n");
	has(text, "  <0.001  B is worse\n");
	has(text, "  single run: A and B\n");
	one = metric("x", 1, 2, json_array(), json_array());
	json_object_set_new(one, "n_a", json_integer(3));
	text = printed(comparison_print, OUT_WIDE,
		comparison(side("drive", "d1", "M S1", json_array()),
			side("drive", "d2", "M S2", json_array()),
			json_pack("[o]", one)));
	has(text, "  single run: B\n");
	has_not(text, "UNIT");
}
END_TEST

START_TEST(rows_of_a_comparison_tell_suite_and_sides)
{
	FILE *kept = stderr;
	const char *text;
	char *said = NULL;
	size_t len;

	stderr = open_memstream(&said, &len);
	text = printed(comparison_print, OUT_CSV, two_runs());
	fclose(stderr);
	stderr = kept;
	ck_assert_str_eq(said, "warning: beware\n");
	free(said);

	has(text, "workload,metric,unit,better,a,b,difference_percent,n_a,n_b,p,");
	has(text, ",verdict,suite,id_a,name_a,id_b,name_b,virtual,scaled,load_a,"
		  "load_b,minimum_a,maximum_a,minimum_b,maximum_b\r\n");
	has(text, ",s@1,r1,r1 on M S1,d2,M S2,true,true,max,\"80 %, max\",,,,\r\n");
	has_not(text, "beware");
}
END_TEST

START_TEST(rows_of_a_comparison_do_not_call_full_what_is_not_known)
{
	json_t *doc = two_runs();
	const char *text;

	json_object_set_new(doc, "scaled", json_null());
	json_object_set_new(doc, "warnings", json_array());
	text = printed(comparison_print, OUT_CSV, doc);
	has(text, ",true,unknown,max,\"80 %, max\",,,,\r\n");
}
END_TEST

START_TEST(flags_of_a_comparison_lead_to_their_runs_and_foreign_results)
{
	json_t *m = metric("peak_iops", 1000, 1000, json_array(), json_array());
	const char *text;

	json_array_append_new(json_object_get(m, "flags_a"), json_string("late"));
	json_array_append_new(json_object_get(m, "flags_b"), json_string("printed"));
	text = printed(comparison_print, OUT_TABLE,
		comparison(side("drive", "d1", "M S1", json_pack("[s, s]", "r4", "r5")),
			side("foreign", "x3", "elsewhere", json_array()),
			json_pack("[o]", m)));
	has(text, "\nwhy there are flags: ssdlab run show RUN (r4, r5)\n"
		  "what the marks are about: ssdlab foreign show x3\n");
	has(text, "B  foreign x3  elsewhere\n");
}
END_TEST

static json_t *
point(int number, json_t *load, const char *flag)
{
	json_t *o = json_pack("{s:i, s:o, s:f, s:{s:f}, s:{}, s:[]}", "point", number,
		"load_percent", load, "iops", 100.0 * number, "service", "lat_mean_ns",
		400.0, "response", "flags");

	ck_assert_ptr_nonnull(o);
	if (flag != NULL)
		json_array_append_new(json_object_get(o, "flags"), json_string(flag));
	return o;
}

static json_t *
curve(const char *flag)
{
	return json_pack("{s:s, s:b, s:{s:b}, s:[{s:s, s:[o, o, o]}]}", "run", "r9",
		"scaled", 0, "drive", "virtual", 1, "workloads", "workload", "w",
		"points", point(2, json_real(10), NULL), point(3, json_real(100), flag),
		point(1, json_null(), NULL));
}

START_TEST(a_run_in_rounds_has_no_curves_and_says_where_its_results_are)
{
	json_t *doc = curve(NULL);
	json_t *points = json_object_get(
		json_array_get(json_object_get(doc, "workloads"), 0), "points");
	json_t *p;
	size_t i;

	json_array_foreach (points, i, p)
		json_object_set_new(p, "round", json_integer(1));
	ck_assert_str_eq(printed(curves_print, OUT_TABLE, doc),
		"no ramp in this run: see ssdlab run show r9\n");
}
END_TEST

START_TEST(points_of_a_curve_say_which_latency_they_tell_and_the_maximum_is_first)
{
	const char *text = printed(curves_print, OUT_TABLE, curve("late"));
	const char *max, *ten;

	ck_assert_msg(strncmp(text, "w\n", 2) == 0, "%s", text);
	has(text, "\nPoints (latencies: response of offered loads, service of the "
		  "maximum)\n");
	max = strstr(text, " max ");
	ten = strstr(text, " 10 % ");
	ck_assert_msg(max != NULL && ten != NULL && max < ten, "%s", text);
	has(text, "\nwhy there are flags: ssdlab run show r9\n");
	text = printed(curves_print, OUT_TABLE, curve(NULL));
	has_not(text, "why there are flags");
	text = printed(curves_print, OUT_CSV, curve("late"));
	has(text, ",flags,virtual,scaled\r\nw,1,,");
	has(text, ",late,true,false\r\n");
	has_not(text, "Points");
}
END_TEST

static void
print_runs(const struct out *o, json_t *doc)
{
	table_print(o, doc, show_runs, show_runs_n);
}

START_TEST(rows_of_runs_tell_virtual_drives_and_scaled_suites)
{
	const char *text = printed(print_runs, OUT_CSV,
		json_pack("[{s:s, s:b, s:b}]", "id", "r1", "virtual", 1, "scaled", 0));

	has(text, ",virtual,scaled\r\nr1,");
	has(text, ",true,false\r\n");
	text = printed(print_runs, OUT_TABLE,
		json_pack("[{s:s, s:b, s:b}]", "id", "r1", "virtual", 1, "scaled", 1));
	has_not(text, "VIRTUAL");
}
END_TEST

static void
print_facts(const struct out *o, json_t *doc)
{
	facts_table(o, doc);
}

START_TEST(rows_of_facts_tell_virtual_drives_and_scaled_suites)
{
	const char *text = printed(print_facts, OUT_CSV, curve(NULL));
	json_t *doc;

	has(text, ",virtual,scaled\r\n");
	has(text, ",true,false\r\n");
	has_not(text, "why there are flags");
	doc = curve(NULL);
	json_object_set_new(json_array_get(json_object_get(doc, "workloads"), 0), "peak",
		point(3, json_real(100), "late"));
	text = printed(print_facts, OUT_TABLE, doc);
	has(text, "\nwhy there are flags: ssdlab run show r9\n");
}
END_TEST

int
main(void)
{
	TCase *tc = tcase_create("figures");

	tcase_add_test(tc, places_that_rest_on_too_few_runs_are_named);
	tcase_add_test(tc, rankings_without_a_row_are_counted_and_not_shown);
	tcase_add_test(tc, nothing_to_rank_leads_to_fixed_rates_where_runs_have_them);
	tcase_add_test(tc, rows_of_a_ranking_tell_virtual_drives_and_scaled_suites);
	tcase_add_test(tc, a_result_from_elsewhere_is_told_as_such_in_a_ranking);
	tcase_add_test(tc, a_ranking_with_flags_says_where_their_reasons_are);
	tcase_add_test(tc, a_comparison_names_its_suite_first);
	tcase_add_test(tc, a_comparison_tells_the_loads_of_peaks_and_multiples);
	tcase_add_test(tc, a_verdict_stands_beside_repeats_spread_and_p);
	tcase_add_test(tc, rows_of_a_comparison_tell_suite_and_sides);
	tcase_add_test(tc, rows_of_a_comparison_do_not_call_full_what_is_not_known);
	tcase_add_test(tc, flags_of_a_comparison_lead_to_their_runs_and_foreign_results);
	tcase_add_test(tc, a_run_in_rounds_has_no_curves_and_says_where_its_results_are);
	tcase_add_test(tc,
		points_of_a_curve_say_which_latency_they_tell_and_the_maximum_is_first);
	tcase_add_test(tc, rows_of_runs_tell_virtual_drives_and_scaled_suites);
	tcase_add_test(tc, rows_of_facts_tell_virtual_drives_and_scaled_suites);
	return unit_run("figures", tc);
}
