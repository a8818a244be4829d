/* Foreign results in the controller: documents, the law, the store, comparisons. */
#include "controller/foreign.h"

#include "tests/unit/cases.h"
#include "tests/unit/result_rig.h"

struct post {
	json_t *doc;
	int64_t id;
	bool is_new;
};

static int
add(struct tx *t, void *arg, struct err *e)
{
	struct post *p = arg;

	return foreign_add(t, p->doc, "me", &p->id, &p->is_new, e);
}

static json_t *
document(const char *subject)
{
	return json_pack("{s:s, s:s, s:s, s:s, s:s, s:[]}", "ssdlab", "foreign/v1",
		"tool", "published", "tool_version", "", "source", "table.csv", "subject",
		subject, "points");
}

static json_t *
point(json_t *doc, const char *workload, double iops, double lat_mean_ns,
	double in_flight)
{
	json_t *p = json_pack("{s:s, s:s, s:s, s:f, s:f, s:f, s:b}", "workload", workload,
		"point", "peak", "quality", "printed", "iops", iops, "lat_mean_ns",
		lat_mean_ns, "in_flight", in_flight, "saturated", 1);

	json_array_append_new(json_object_get(doc, "points"), p);
	return p;
}

/* Adds a document, whose reference it takes. */
static int64_t
added(json_t *doc, bool is_new)
{
	struct post p = {.doc = doc};
	struct err e = {0};

	OK(rig_write(add, &p, &e));
	ck_assert(p.is_new == is_new);
	json_decref(doc);
	return p.id;
}

static int
parse(const json_t *doc, struct err *e)
{
	struct foreign f;
	int rc = foreign_parse(doc, &f, e);

	foreign_fini(&f);
	return rc;
}

START_TEST(each_bad_document_is_refused_with_place_and_cure)
{
	cases_run("foreign", parse);
}
END_TEST

START_TEST(the_same_document_is_there_once)
{
	json_t *doc = document("d");

	point(doc, "sql", 100000, 320000, 32);
	json_incref(doc);
	ck_assert_int_eq(added(doc, true), 1);
	json_incref(doc);
	ck_assert_int_eq(added(doc, false), 1);
	json_put(doc, "subject", json_string("other"));
	ck_assert_int_eq(added(doc, true), 2);
	doc = good(api_foreign_list, 0, "");
	ck_assert_uint_eq(json_array_size(json_object_get(doc, "items")), 2);
	IS(doc, "/items/0/id", "\"x1\"");
	IS(doc, "/items/0/foreign", "true");
	IS(doc, "/items/0/scaled", "null");
	IS(doc, "/items/0/imported_by", "\"me\"");
	json_decref(doc);
	doc = good(api_foreign_list, 0, "tool=fio");
	ck_assert_uint_eq(json_array_size(json_object_get(doc, "items")), 0);
	json_decref(doc);
	refused(api_foreign_list, 0, "tool=foo", ERR_INVALID,
		"tool: \"foo\" is not known");
	doc = good(api_foreign_list, 0, "tool=published");
	IS(doc, "/items/1/n_points", "1");
	IS(doc, "/items/1/points", "(none)");
	json_decref(doc);
	refused(api_foreign_get, 3, "", ERR_NOTFOUND, "no foreign result x3");
}
END_TEST

START_TEST(what_breaks_littles_law_is_marked)
{
	static const struct {
		double iops, ns, in_flight;
		bool saturated, breaks;
	} rows[] = {
		{100000, 320000, 32, true, false},
		{100000, 351000, 32, true, false},
		{100000, 353000, 32, true, true},
		{100000, 289000, 32, true, false},
		{100000, 287000, 32, true, true},
		{10000, 110000, 32, false, false}, /* a low load leaves slots free */
		{100000, 353000, 32, false, true},
	};
	json_t *doc = document("d"), *p;

	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
		p = point(doc, "w", rows[i].iops, rows[i].ns, rows[i].in_flight);
		json_put(p, "saturated", json_boolean(rows[i].saturated));
	}
	json_object_del(point(doc, "w", 100000, 900000, 1), "in_flight");
	added(doc, true);
	doc = good(api_foreign_get, 1, "");
	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
		p = json_array_get(json_object_get(doc, "points"), i);
		ck_assert_uint_eq(json_array_size(json_object_get(p, "marks")),
			rows[i].breaks ? 2 : 1);
	}
	IS(doc, "/points/2/marks", "[\"printed\",\"littles-law\"]");
	IS(doc, "/points/2/littles_n", "35.3");
	IS(doc, "/points/7/marks", "[\"printed\"]");
	json_decref(doc);
}
END_TEST

START_TEST(figures_of_latency_come_from_the_histograms)
{
	json_t *doc = document("d");
	json_t *p = point(doc, "w", 1000, 5, 1);

	json_put(p, "histograms",
		json_pack("{s:{s:s, s:s, s:s, s:[i,i,i,i]}}", "read", "min_ns", "100",
			"max_ns", "101", "sum_ns", "100900", "buckets", 100, 100, 101,
			900));
	added(doc, true);
	doc = good(api_foreign_get, 1, "");
	IS(doc, "/points/0/lat_mean_ns", "100.9");
	IS(doc, "/points/0/lat_p50_ns", "101.0");
	IS(doc, "/points/0/lat_p99_ns", "101.0");
	IS(doc, "/points/0/lat_p99.9_ns", "null"); /* one I/O lies beyond it */
	IS(doc, "/points/0/lat_max_ns", "101.0");
	json_decref(doc);
	doc = good(api_foreign_histogram, 1, "point=1");
	IS(doc, "/bins", "[[100,100,100],[101,101,900]]");
	IS(doc, "/n", "1000");
	IS(doc, "/mean_ns", "100.9");
	json_decref(doc);
	doc = good(api_foreign_histogram, 1, "point=1&op=write");
	IS(doc, "/n", "0");
	json_decref(doc);
	refused(api_foreign_histogram, 1, "point=2", ERR_NOTFOUND, "x1 has no point 2");
	refused(api_foreign_histogram, 1, "point=1&op=trim", ERR_INVALID,
		"neither read nor write");
	refused(api_foreign_histogram, 1, "", ERR_INVALID, "point is missing");
	doc = document("without");
	point(doc, "w", 1000, 5, 1);
	added(doc, true);
	refused(api_foreign_histogram, 2, "point=1", ERR_NOTFOUND,
		"x2 has no histogram of point 1");
}
END_TEST

START_TEST(a_foreign_result_is_compared_by_workload_and_shown_as_foreign)
{
	json_t *doc = document("acme-1tb");

	add_done_run(1, 1, 1, 20000);
	json_put(point(doc, "4k-random-read", 40000, 3.2e6, 128), "quality",
		json_string("suspect"));
	point(doc, "elsewhere", 1, 1, 1);
	added(doc, true);
	doc = good(api_comparisons_get, 0, "a=d1&b=x1");
	IS(doc, "/suite", "\"four-corners@1\"");
	IS(doc, "/a/kind", "\"drive\"");
	IS(doc, "/b/kind", "\"foreign\"");
	IS(doc, "/b/id", "\"x1\"");
	IS(doc, "/b/label", "\"acme-1tb, measured elsewhere: published, table.csv\"");
	ck_assert_uint_eq(json_array_size(json_object_get(doc, "workloads")), 1);
	IS(doc, "/workloads/0/metrics/0/b", "40000.0");
	IS(doc, "/workloads/0/metrics/0/difference_percent", "100.0");
	IS(doc, "/workloads/0/metrics/0/verdict", "\"single run\"");
	IS(doc, "/workloads/0/metrics/0/flags_a", "[]");
	IS(doc, "/workloads/0/metrics/0/flags_b", "[\"suspect\"]");
	IS(doc, "/workloads/0/metrics/2/b", "3200000.0");
	IS(doc, "/differs", "[]");
	ck_assert_ptr_nonnull(strstr(at(doc, "/warnings"), "side B is foreign"));
	ck_assert_ptr_nonnull(
		strstr(at(doc, "/warnings"), "elsewhere is measured on side B only"));
	json_decref(doc);
	doc = good(api_comparisons_get, 0, "a=x1&b=r1");
	IS(doc, "/a/kind", "\"foreign\"");
	IS(doc, "/workloads/0/metrics/0/difference_percent", "-50.0");
	json_decref(doc);
	doc = good(api_rankings_get, 0, "");
	ck_assert_ptr_null(strstr(at(doc, ""), "acme"));
	json_decref(doc);
}
END_TEST

START_TEST(percentiles_of_clat_are_marked_where_they_are_compared)
{
	json_t *doc = document("acme-1tb"), *p;

	add_done_run(1, 1, 1, 20000);
	p = point(doc, "4k-random-read", 40000, 3.2e6, 128);
	json_put(p, "lat_p99_ns", json_real(9e6));
	json_put(p, "clat", json_true());
	added(doc, true);
	doc = good(api_comparisons_get, 0, "a=d1&b=x1");
	IS(doc, "/workloads/0/metrics/0/flags_b", "[\"printed\"]");
	IS(doc, "/workloads/0/metrics/2/metric", "\"lat_mean_ns@peak\"");
	IS(doc, "/workloads/0/metrics/2/flags_b", "[\"printed\"]");
	IS(doc, "/workloads/0/metrics/3/metric", "\"lat_p99_ns@peak\"");
	IS(doc, "/workloads/0/metrics/3/flags_b", "[\"printed\",\"clat\"]");
	json_decref(doc);
	doc = good(api_rankings_get, 0,
		"workload=4k-random-read&foreign=true&metric=lat_p99_ns@peak");
	IS(doc, "/items/1/foreign/id", "\"x1\"");
	IS(doc, "/items/1/flags",
		"[\"foreign\",\"printed\",\"clat\",\"scaling-unknown\"]");
	IS(doc, "/items/1/bytes_per_second", "(none)");
	json_decref(doc);
	doc = good(api_foreign_get, 1, "");
	IS(doc, "/points/0/marks", "[\"printed\",\"clat\"]");
	json_decref(doc);
}
END_TEST

START_TEST(a_ranking_has_foreign_results_when_asked_and_marks_them)
{
	json_t *doc = document("acme-1tb"), *p;

	add_done_run(1, 1, 1, 20000);
	p = point(doc, "4k-random-read", 40000, 3.2e6, 128);
	json_put(p, "quality", json_string("suspect"));
	json_put(p, "bytes_per_second", json_real(163840000));
	json_put(p, "unit_assumed", json_true());
	added(doc, true);
	doc = document("acme-small");
	json_put(doc, "scaled", json_true());
	point(doc, "4k-random-read", 50000, 3.2e6, 128);
	added(doc, true);
	doc = document("acme-full");
	json_put(doc, "scaled", json_false());
	point(doc, "4k-random-read", 10000, 12.8e6, 128);
	added(doc, true);
	doc = document("elsewhere");
	point(doc, "elsewhere", 1, 1e9, 1);
	added(doc, true);
	doc = good(api_rankings_get, 0, "workload=4k-random-read");
	ck_assert_uint_eq(json_array_size(json_object_get(doc, "items")), 1);
	ck_assert_ptr_null(strstr(at(doc, ""), "acme"));
	json_decref(doc);
	doc = good(api_rankings_get, 0, "workload=4k-random-read&foreign=true");
	ck_assert_uint_eq(json_array_size(json_object_get(doc, "items")), 3);
	IS(doc, "/items/0/rank", "1");
	IS(doc, "/items/0/drive", "null");
	IS(doc, "/items/0/foreign/id", "\"x1\"");
	IS(doc, "/items/0/foreign/subject", "\"acme-1tb\"");
	IS(doc, "/items/0/flags", "[\"foreign\",\"suspect\",\"scaling-unknown\"]");
	IS(doc, "/items/0/bytes_per_second", "null");
	IS(doc, "/items/1/drive/id", "\"d1\"");
	IS(doc, "/items/1/foreign", "(none)");
	IS(doc, "/items/1/percent_of_best", "50.0");
	IS(doc, "/items/1/flags", "[]");
	IS(doc, "/items/2/flags", "[\"foreign\",\"printed\"]");
	IS(doc, "/excluded/0/foreign", "\"x2\"");
	IS(doc, "/excluded/0/why", "\"it is of a scaled test\"");
	json_decref(doc);
	/* the mark of a unit stands only at the bandwidth */
	doc = good(api_rankings_get, 0,
		"workload=4k-random-read&foreign=true&metric=peak_bytes_per_second");
	IS(doc, "/items/0/flags",
		"[\"foreign\",\"suspect\",\"unit-assumed\",\"scaling-unknown\"]");
	IS(doc, "/excluded/1/why", "\"it does not tell peak bandwidth\"");
	json_decref(doc);
	doc = good(api_rankings_get, 0, "foreign=true");
	ck_assert_uint_eq(json_array_size(json_object_get(doc, "rankings")), 1);
	json_decref(doc);
	refused(api_rankings_get, 0, "foreign=yes", ERR_INVALID,
		"neither true nor false");
}
END_TEST

START_TEST(a_comparison_says_when_nobody_knows_whether_a_result_is_scaled)
{
	json_t *doc = document("d");

	add_done_run(1, 1, 1, 20000);
	point(doc, "4k-random-read", 40000, 3.2e6, 128);
	added(doc, true);
	doc = document("d");
	json_put(doc, "scaled", json_true());
	point(doc, "4k-random-read", 40000, 3.2e6, 128);
	added(doc, true);
	doc = good(api_comparisons_get, 0, "a=d1&b=x1");
	IS(doc, "/scaled", "null");
	ck_assert_ptr_nonnull(strstr(
		at(doc, "/warnings"), "side B does not say whether it is scaled down"));
	json_decref(doc);
	doc = good(api_comparisons_get, 0, "a=x2&b=d1");
	IS(doc, "/scaled", "true");
	ck_assert_ptr_nonnull(strstr(at(doc, "/warnings"), "side A is scaled down"));
	ck_assert_ptr_null(strstr(at(doc, "/warnings"), "is a scaled suite"));
	json_decref(doc);
}
END_TEST

START_TEST(results_without_a_common_workload_are_not_compared)
{
	json_t *doc = document("d");
	struct err e;

	add_done_run(1, 1, 1, 20000);
	point(doc, "elsewhere", 1, 1, 1);
	added(doc, true);
	ck_assert_ptr_null(get(api_comparisons_get, 0, "a=x1&b=d1", &e));
	ck_assert_str_eq(e.fix,
		"workloads are matched by id: A has elsewhere, B has 4k-random-read; "
		"rename those of the foreign file (jobname in fio's JSON), and import it "
		"again");
	/* no run of the suite that was asked for */
	ck_assert_ptr_null(
		get(api_comparisons_get, 0, "a=d1&b=x1&suite=four-corners-demo@1", &e));
	ck_assert_ptr_nonnull(strstr(e.fix, "A has none, B has elsewhere;"));
	refused(api_comparisons_get, 0, "a=d1&b=x1", ERR_STATE,
		"d1 and x1 have no workload in common");
	refused(api_comparisons_get, 0, "a=x1&b=x1", ERR_INVALID, "are the same");
	refused(api_comparisons_get, 0, "a=x1&b=x9", ERR_NOTFOUND,
		"no foreign result x9");
	refused(api_comparisons_get, 0, "a=x1&b=c1", ERR_INVALID, "nor a foreign result");
}
END_TEST

int
main(void)
{
	TCase *tc = tcase_create("foreigns");

	tcase_add_checked_fixture(tc, data_up, data_down);
	tcase_add_test(tc, each_bad_document_is_refused_with_place_and_cure);
	tcase_add_test(tc, the_same_document_is_there_once);
	tcase_add_test(tc, what_breaks_littles_law_is_marked);
	tcase_add_test(tc, figures_of_latency_come_from_the_histograms);
	tcase_add_test(tc, a_foreign_result_is_compared_by_workload_and_shown_as_foreign);
	tcase_add_test(tc, percentiles_of_clat_are_marked_where_they_are_compared);
	tcase_add_test(tc, a_ranking_has_foreign_results_when_asked_and_marks_them);
	tcase_add_test(
		tc, a_comparison_says_when_nobody_knows_whether_a_result_is_scaled);
	tcase_add_test(tc, results_without_a_common_workload_are_not_compared);
	return unit_run("foreigns", tc);
}
