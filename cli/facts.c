#include "cli/facts.h"

#include <stdio.h>
#include <string.h>

#include "cli/client.h"
#include "cli/show.h"
#include "common/err.h"
#include "common/json.h"
#include "common/parse.h"
#include "common/str.h"

/* Adds one "p99=200us" to the numbers of its latency. */
static int
add_line(const char *text, size_t n, struct str lists[], struct err *e)
{
	static const char *const names[] = {"mean", "p99", "p99.9"};
	char line[64];
	const char *value;
	int64_t ns;

	snprintf(line, sizeof(line), "%.*s", (int)(n < 63 ? n : 63), text);
	value = strchr(line, '=');
	for (size_t i = 0; value != NULL && i < 3; i++) {
		if (strlen(names[i]) != (size_t)(value - line) ||
			strncmp(names[i], line, strlen(names[i])) != 0)
			continue;
		if (parse_duration(value + 1, &ns, e) != 0)
			return err_ctx(e, "--line %s", line);
		if (ns < 1)
			return err_set(e, ERR_INVALID, "--line %s: no time", line);
		str_printf(
			&lists[i], "%s%lld", lists[i].len > 0 ? "," : "", (long long)ns);
		return 0;
	}
	err_set(e, ERR_INVALID, "--line: \"%s\" is no latency with a time", line);
	return err_fix(e, "write mean, p99 or p99.9 and a time: p99=200us,mean=1ms");
}

int
facts_query(const struct cli *c, struct str *path, struct err *e)
{
	static const char *const names[] = {"lat_mean_ns", "lat_p99_ns", "lat_p99.9_ns"};
	struct str lists[3] = {{0}};
	const char *p = c->flags[FLAG_LINE];
	int rc = 0;

	while (rc == 0 && p != NULL) {
		size_t n = strcspn(p, ",");

		rc = add_line(p, n, lists, e);
		p = p[n] == ',' ? p + n + 1 : NULL;
	}
	for (int i = 0; i < 3; i++) {
		if (rc == 0 && lists[i].len > 0)
			client_query(path, names[i], str_text(&lists[i]));
		str_fini(&lists[i]);
	}
	return rc;
}

static void
add_latency(const json_t *latency, const char *kind, struct str *out)
{
	double ns;

	if (!json_number(json_object_get(latency, "lat_mean_ns"), &ns))
		return;
	str_printf(out, ", %s mean ", kind);
	human_latency(ns, out);
	if (json_number(json_object_get(latency, "lat_p99_ns"), &ns)) {
		str_puts(out, ", p99 ");
		human_latency(ns, out);
	}
}

/* "642 k IOPS at 90 %"; "4.98 k IOPS of 5 k offered" of a rate. */
static void
add_load(const json_t *point, struct str *out)
{
	double x;

	if (json_number(json_object_get(point, "iops"), &x)) {
		human_count(x, out);
		str_puts(out, " IOPS");
	}
	if (json_number(json_object_get(point, "load_percent"), &x)) {
		str_puts(out, " at ");
		human_percent(x, out);
	} else if (json_number(json_object_get(point, "offered_iops"), &x)) {
		str_puts(out, " of ");
		human_count(x, out);
		str_puts(out, " offered");
	}
}

/*
 * "642 k IOPS at 90 %, response mean 180 us, p99 611 us". The peak is told with the
 * service, as in rankings: a saturated point's response grows for as long as it lasts.
 */
static void
print_point(const struct out *o, const char *title, const json_t *point, const char *kind)
{
	struct str line = {0};

	if (!json_is_object(point))
		return;
	str_printf(&line, "%s: ", title);
	add_load(point, &line);
	add_latency(json_object_get(point, kind), kind, &line);
	out_line(o, "%s", str_text(&line));
	str_fini(&line);
}

static void
print_reason(const struct out *o, const char *what, const char *why)
{
	if (why[0] != '\0')
		out_line(o, "no %s: %s", what, why);
}

/* "mean 1.00 ms" */
static void
add_line_name(const json_t *line, struct str *out)
{
	double ns = 0;

	json_number(json_object_get(line, "line_ns"), &ns);
	str_printf(out, "%s ", json_text_of(line, "latency"));
	human_latency(ns, out);
}

/* What else there is to say of a load under a line, with commas before each. */
static void
add_remarks(const json_t *line, struct str *out)
{
	if (json_is_true(json_object_get(line, "interpolated")))
		str_puts(out, ", interpolated");
	if (json_is_true(json_object_get(line, "lower_over")))
		str_puts(out, ", a lower load lies over it");
	if (json_text_of(line, "reason")[0] != '\0')
		str_printf(out, ", %s", json_text_of(line, "reason"));
}

/* "all loads", "no load", or the load itself. */
static void
add_answer(const json_t *line, struct str *out)
{
	if (show_text_is(line, "state", "all"))
		str_puts(out, "all loads");
	else if (show_text_is(line, "state", "none"))
		str_puts(out, "no load");
	else if (show_text_is(line, "state", "found"))
		add_load(line, out);
	else if (json_integer_value(json_object_get(line, "loads_over")) > 0)
		str_puts(out, "none of those known");
	else
		str_puts(out, "cannot be told");
}

static void
print_line(const struct out *o, const json_t *line)
{
	struct str text = {0};

	str_puts(&text, "under ");
	add_line_name(line, &text);
	str_puts(&text, ": ");
	add_answer(line, &text);
	add_remarks(line, &text);
	out_line(o, "%s", str_text(&text));
	str_fini(&text);
}

static void
print_fall(const struct out *o, const json_t *fall)
{
	struct str text = {0};
	double percent;

	if (json_number(json_object_get(fall, "percent"), &percent)) {
		str_printf(&text, "fall after the peak: %.1f %%, to ", percent);
		add_load(fall, &text);
		out_line(o, "%s", str_text(&text));
	}
	str_fini(&text);
}

void
facts_print(const struct out *o, const json_t *curve)
{
	json_t *line;
	size_t i;

	print_point(o, "first", json_object_get(curve, "first"), "response");
	print_point(o, "peak", json_object_get(curve, "peak"), "service");
	print_reason(o, "peak", json_text_of(curve, "peak_reason"));
	print_point(
		o, "best operating point", json_object_get(curve, "best"), "response");
	print_reason(o, "best operating point", json_text_of(curve, "best_reason"));
	json_array_foreach (json_object_get(curve, "lines"), i, line)
		print_line(o, line);
	print_fall(o, json_object_get(curve, "fall"));
	print_point(o, "knee", json_object_get(curve, "knee"), "response");
	print_reason(o, "knee", json_text_of(curve, "knee_reason"));
}

/* Adds a row of facts_table: what was found, or why nothing. */
static json_t *
add_row(json_t *rows, const json_t *curve, const char *fact, const json_t *found,
	const char *reason)
{
	json_t *row = json_object();

	if (json_is_object(found))
		json_object_update(row, (json_t *)(uintptr_t)found);
	json_put(row, "workload", json_string(json_text_of(curve, "workload")));
	json_put(row, "fact", json_string(fact));
	if (reason[0] != '\0')
		json_put(row, "reason", json_string(reason));
	if (!json_has(row, "state"))
		json_put(row, "state",
			json_string(json_is_object(found) ? "found" : "none"));
	json_array_append_new(rows, row);
	return row;
}

/* Adds the row of a point with the latencies of kind as its own. */
static void
add_point(json_t *rows, const json_t *curve, const char *fact, const char *kind)
{
	struct str reason = {0};
	const json_t *point = json_object_get(curve, fact);
	json_t *row;

	str_printf(&reason, "%s_reason", fact);
	row = add_row(rows, curve, fact, point, json_text_of(curve, str_text(&reason)));
	str_fini(&reason);
	if (!json_is_object(point))
		return;
	json_object_update(row, json_object_get(point, kind));
	json_put(row, "latency", json_string(kind));
}

static void
add_rows(json_t *rows, const json_t *curve)
{
	json_t *line;
	size_t i;

	add_point(rows, curve, "first", "response");
	add_point(rows, curve, "peak", "service");
	add_point(rows, curve, "best", "response");
	json_array_foreach (json_object_get(curve, "lines"), i, line)
		add_row(rows, curve, "line", line, "");
	add_row(rows, curve, "fall", json_object_get(curve, "fall"),
		json_text_of(curve, "fall_reason"));
	add_point(rows, curve, "knee", "response");
}

static void
fact_name(const json_t *row, struct str *out)
{
	if (show_text_is(row, "fact", "line")) {
		str_puts(out, "under ");
		add_line_name(row, out);
	} else {
		str_puts(out, json_text_of(row, "fact"));
	}
}

static void
remarks(const json_t *row, struct str *out)
{
	struct str text = {0};

	add_remarks(row, &text);
	if (text.len > 0)
		str_puts(out, str_text(&text) + 2);
	str_fini(&text);
}

/* The load of a point, a rate where there are no shares. */
static void
load_of(const json_t *point, struct str *out)
{
	double x;

	if (json_number(json_object_get(point, "load_percent"), &x))
		human_percent(x, out);
	else if (json_number(json_object_get(point, "offered_iops"), &x))
		show_rate(x, out);
}

static const struct column facts[] = {
	{"WORKLOAD", "workload", UNIT_TEXT, COL_KEEP, NULL},
	{"FACT", "fact", UNIT_TEXT, COL_KEEP, fact_name},
	{"LINE", "line_ns", UNIT_NS, COL_CSV, NULL},
	{"STATE", "state", UNIT_TEXT, 0, NULL},
	{"LOAD", "load_percent", UNIT_PERCENT, 0, load_of},
	{"OFFERED", "offered_iops", UNIT_COUNT, COL_WIDE, NULL},
	{"IOPS", "iops", UNIT_COUNT, 0, NULL},
	{"BANDWIDTH", "bytes_per_second", UNIT_BYTES_PER_S, 0, NULL},
	{"LATENCY", "latency", UNIT_TEXT, COL_CSV, NULL},
	{"MEAN", "lat_mean_ns", UNIT_NS, 0, NULL},
	{"P50", "lat_p50_ns", UNIT_NS, COL_WIDE, NULL},
	{"P99", "lat_p99_ns", UNIT_NS, 0, NULL},
	{"P99.9", "lat_p99.9_ns", UNIT_NS, 0, NULL},
	{"FALL", "percent", UNIT_PERCENT, 0, NULL},
	{"FLAGS", "flags", UNIT_TEXTS, 0, NULL},
	{"INTERPOLATED", "interpolated", UNIT_YES, COL_CSV, NULL},
	{"LOWER OVER", "lower_over", UNIT_YES, COL_CSV, NULL},
	{"REASON", "reason", UNIT_TEXT, COL_CSV, NULL},
	{"REMARKS", "remarks", UNIT_TEXT, COL_PEOPLE, remarks},
	{"VIRTUAL", "virtual", UNIT_YES, COL_CSV, NULL},
	{"SCALED", "scaled", UNIT_YES, COL_CSV, NULL},
};

void
facts_table(const struct out *o, const json_t *curves)
{
	json_t *rows = json_array();
	json_t *curve, *row;
	size_t i;

	json_array_foreach (json_object_get(curves, "workloads"), i, curve)
		add_rows(rows, curve);
	json_array_foreach (rows, i, row) {
		json_object_set(row, "virtual", json_at(curves, "drive/virtual"));
		json_object_set(row, "scaled", json_object_get(curves, "scaled"));
		json_object_set_new(
			row, "runs", json_pack("[O]", json_object_get(curves, "run")));
	}
	table_print(o, rows, COLUMNS(facts));
	if (o->format != OUT_CSV)
		show_flags_pointer(o, rows);
	json_decref(rows);
}

static void
best_load(const json_t *curve, struct str *out)
{
	const json_t *best = json_object_get(curve, "best");

	if (json_is_object(best))
		add_load(best, out);
}

/* The answer for the n-th line; "~" before what was interpolated. */
static void
add_nth(const json_t *curve, size_t n, struct str *out)
{
	const json_t *line = json_array_get(json_object_get(curve, "lines"), n);

	if (json_is_true(json_object_get(line, "interpolated")))
		str_puts(out, "~");
	add_answer(line, out);
}

static void
under_mean(const json_t *curve, struct str *out)
{
	add_nth(curve, 0, out);
}

static void
under_p99(const json_t *curve, struct str *out)
{
	add_nth(curve, 1, out);
}

static void
under_p99_9(const json_t *curve, struct str *out)
{
	add_nth(curve, 2, out);
}

/* "3.2 % at 110 %" */
static void
fall(const json_t *curve, struct str *out)
{
	const json_t *found = json_object_get(curve, "fall");
	double percent, load;

	if (!json_number(json_object_get(found, "percent"), &percent) ||
		!json_number(json_object_get(found, "load_percent"), &load))
		return;
	str_printf(out, "%.1f %% at ", percent);
	human_percent(load, out);
}

static void
knee(const json_t *curve, struct str *out)
{
	load_of(json_object_get(curve, "knee"), out);
}

/* The lines are those that the API answers for when none is asked for. */
static const struct column summary[] = {
	{"WORKLOAD", "workload", UNIT_TEXT, COL_KEEP, NULL},
	{"FIRST", "first/iops", UNIT_COUNT, 0, NULL},
	{"PEAK", "peak/iops", UNIT_COUNT, 0, NULL},
	{"SERVICE MEAN", "peak/service/lat_mean_ns", UNIT_NS, 0, NULL},
	{"P99", "peak/service/lat_p99_ns", UNIT_NS, 0, NULL},
	{"BEST", "best/iops", UNIT_TEXT, 0, best_load},
	{"MEAN UNDER 1 ms", "lines", UNIT_TEXT, 0, under_mean},
	{"P99 UNDER 2 ms", "lines", UNIT_TEXT, 0, under_p99},
	{"P99.9 UNDER 5 ms", "lines", UNIT_TEXT, 0, under_p99_9},
	{"FALL", "fall/percent", UNIT_TEXT, 0, fall},
	{"KNEE", "knee/load_percent", UNIT_PERCENT, 0, knee},
};

void
facts_summary(const struct out *o, const json_t *curves)
{
	const json_t *workloads = json_object_get(curves, "workloads");

	if (json_array_size(workloads) == 0)
		return;
	show_title(o, "Curves (loads by their response; ~ lies between two that were "
		      "measured)");
	table_print(o, workloads, COLUMNS(summary));
}
