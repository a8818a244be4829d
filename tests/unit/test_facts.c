#include "cli/facts.h"

#include <stdio.h>
#include <stdlib.h>

#include "common/err.h"
#include "common/json.h"
#include "common/str.h"
#include "tests/unit/unit.h"

static json_t *
point(double load, double iops, double service_ns, double response_ns)
{
	return json_pack("{s:i, s:f, s:f, s:f, s:{s:f, s:n}, s:{s:f, s:f}, s:[]}",
		"point", 1, "load_percent", load, "offered_iops", iops, "iops", iops,
		"service", "lat_mean_ns", service_ns, "lat_p99_ns", "response",
		"lat_mean_ns", response_ns, "lat_p99_ns", 2 * response_ns, "flags");
}

static json_t *
line(const char *latency, double ns, const char *state, const char *reason)
{
	return json_pack("{s:s, s:f, s:s, s:n, s:n, s:b, s:b, s:s}", "latency", latency,
		"line_ns", ns, "state", state, "load_percent", "iops", "interpolated", 0,
		"lower_over", 0, "reason", reason);
}

/* A run of one workload whose curve has an answer of each kind. */
static json_t *
curves(void)
{
	json_t *found = line("mean", 1e6, "found", "");
	json_t *doc;

	json_object_set_new(found, "load_percent", json_real(92.5));
	json_object_set_new(found, "iops", json_real(920));
	json_object_set_new(found, "interpolated", json_true());
	json_object_set_new(found, "lower_over", json_true());
	doc = json_pack("{s:[{s:s, s:o, s:o, s:n, s:s, s:[o, o, o, o],"
			" s:{s:f, s:i, s:f, s:f}, s:s, s:n, s:s, s:[]}]}",
		"workloads", "workload", "w", "first", point(10, 100, 40000, 50000),
		"peak", point(100, 1000, 300000, 800000), "best", "best_reason",
		"it was hot", "lines", found, line("p99", 2e6, "all", ""),
		line("p99.9", 5e6, "unknown", "too few I/Os"),
		line("mean", 5e4, "none", ""), "fall", "percent", 3.25, "point", 9,
		"load_percent", 120.0, "iops", 967.5, "fall_reason", "", "knee",
		"knee_reason", "no load stands out", "points");
	ck_assert_ptr_nonnull(doc);
	return doc;
}

enum view { LINES, TABLE, SUMMARY };

/* What is printed of the curves; static buffer. */
static const char *
printed(enum view view, enum out_format format)
{
	static char *text;
	struct out o = {.format = format, .fd = -1};
	json_t *doc = curves();
	size_t len;

	free(text);
	o.file = open_memstream(&text, &len);
	if (view == TABLE)
		facts_table(&o, doc);
	else if (view == SUMMARY)
		facts_summary(&o, doc);
	else
		facts_print(&o, json_array_get(json_object_get(doc, "workloads"), 0));
	fclose(o.file);
	json_decref(doc);
	return text;
}

START_TEST(facts_are_told_in_lines)
{
	ck_assert_str_eq(printed(LINES, OUT_TABLE),
		"first: 100 IOPS at 10 %, response mean 50.0 us, p99 100 us\n"
		"peak: 1.00 k IOPS at 100 %, service mean 300 us\n"
		"no best operating point: it was hot\n"
		"under mean 1.00 ms: 920 IOPS at 92.5 %, interpolated, a lower load lies "
		"over it\n"
		"under p99 2.00 ms: all loads\n"
		"under p99.9 5.00 ms: cannot be told, too few I/Os\n"
		"under mean 50.0 us: no load\n"
		"fall after the peak: 3.2 %, to 968 IOPS at 120 %\n"
		"no knee: no load stands out\n");
}
END_TEST

START_TEST(facts_are_rows_for_machines)
{
	ck_assert_str_eq(printed(TABLE, OUT_CSV),
		"workload,fact,line_ns,state,load_percent,offered_iops,iops,"
		"bytes_per_second,latency,lat_mean_ns,lat_p50_ns,lat_p99_ns,lat_p99.9_ns,"
		"percent,flags,interpolated,lower_over,reason,virtual,scaled\r\n"
		"w,first,,found,10,100,100,,response,50000,,100000,,,,,,,,\r\n"
		"w,peak,,found,100,1000,1000,,service,300000,,,,,,,,,,\r\n"
		"w,best,,none,,,,,,,,,,,,,,it was hot,,\r\n"
		"w,line,1000000,found,92.5,,920,,mean,,,,,,,true,true,,,\r\n"
		"w,line,2000000,all,,,,,p99,,,,,,,false,false,,,\r\n"
		"w,line,5000000,unknown,,,,,p99.9,,,,,,,false,false,too few I/Os,,\r\n"
		"w,line,50000,none,,,,,mean,,,,,,,false,false,,,\r\n"
		"w,fall,,found,120,,967.5,,,,,,,3.25,,,,,,\r\n"
		"w,knee,,none,,,,,,,,,,,,,,no load stands out,,\r\n");
}
END_TEST

START_TEST(a_run_shows_a_line_for_each_curve)
{
	const char *text = printed(SUMMARY, OUT_TABLE);

	ck_assert_msg(strstr(text, "~920 IOPS at 92.5 %") != NULL, "%s", text);
	ck_assert_msg(strstr(text, "all loads") != NULL, "%s", text);
	ck_assert_msg(strstr(text, "cannot be told") != NULL, "%s", text);
	ck_assert_msg(strstr(text, "3.2 % at 120 %") != NULL, "%s", text);
	ck_assert_ptr_null(strstr(text, "KNEE"));
}
END_TEST

static int
query(const char *lines, struct str *path, struct err *e)
{
	struct cli c = {0};

	c.flags[FLAG_LINE] = lines;
	str_reset(path);
	str_puts(path, "/curves");
	return facts_query(&c, path, e);
}

START_TEST(lines_are_asked_for_in_nanoseconds)
{
	static const struct {
		const char *lines, *text;
	} bad[] = {
		{"p50=1ms", "--line: \"p50=1ms\" is no latency with a time"},
		{"p99", "--line: \"p99\" is no latency with a time"},
		{"", "--line: \"\" is no latency with a time"},
		{"p99=1ms,", "--line: \"\" is no latency with a time"},
		{"mean=0us", "--line mean=0us: no time"},
	};
	struct str path = {0};
	struct err e = {0};

	ck_assert_int_eq(query(NULL, &path, &e), 0);
	ck_assert_str_eq(str_text(&path), "/curves");
	ck_assert_int_eq(query("p99=200us,mean=1ms,p99=1.5ms,p99.9=2s", &path, &e), 0);
	ck_assert_str_eq(str_text(&path), "/curves?lat_mean_ns=1000000&lat_p99_ns="
					  "200000,1500000&lat_p99.9_ns=2000000000");
	for (size_t i = 0; i < sizeof(bad) / sizeof(bad[0]); i++) {
		err_clear(&e);
		ck_assert_int_eq(query(bad[i].lines, &path, &e), -1);
		ck_assert_str_eq(e.text, bad[i].text);
	}
	err_clear(&e);
	ck_assert_int_eq(query("p99=200", &path, &e), -1);
	ck_assert_msg(strstr(e.text, "--line p99=200: ") != NULL, "%s", e.text);
	str_fini(&path);
}
END_TEST

int
main(void)
{
	TCase *tc = tcase_create("facts");

	tcase_add_test(tc, facts_are_told_in_lines);
	tcase_add_test(tc, facts_are_rows_for_machines);
	tcase_add_test(tc, a_run_shows_a_line_for_each_curve);
	tcase_add_test(tc, lines_are_asked_for_in_nanoseconds);
	return unit_run("facts", tc);
}
