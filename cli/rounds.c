#include "cli/rounds.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "cli/human.h"
#include "cli/show.h"
#include "cli/table.h"
#include "common/json.h"
#include "common/parse.h"
#include "common/str.h"

/* Columns of a matrix; more do not fit a screen. */
#define MATRIX_MAX 16

static bool
number_at(const json_t *o, const char *path, double *ret_x)
{
	return json_number(json_at(o, path), ret_x);
}

static void
metric_of(const json_t *row, struct str *out)
{
	const char *metric = json_text_of(row, "metric");

	if (strcmp(metric, "lat_mean_ns") == 0)
		str_puts(out, "mean latency");
	else if (strcmp(metric, "bytes_per_second") == 0)
		str_puts(out, "bandwidth");
	else if (strcmp(metric, "iops") == 0)
		str_puts(out, "IOPS");
	else
		str_puts(out, metric);
}

/* A value of a tracked variable in its unit. */
static void
put_metric(const json_t *row, double x, struct str *out)
{
	const char *metric = json_text_of(row, "metric");

	if (strcmp(metric, "lat_mean_ns") == 0) {
		human_latency(x, out);
	} else if (strcmp(metric, "bytes_per_second") == 0) {
		human_bytes(x, out);
		str_puts(out, "/s");
	} else {
		human_count(x, out);
	}
}

static void
mean_of(const json_t *row, struct str *out)
{
	double x;

	if (number_at(row, "mean", &x))
		put_metric(row, x, out);
}

/* "4.1 %, limit 20 %": what it is and what it may be. */
static void
put_ratio(const json_t *row, const char *ratio, const char *limit, struct str *out)
{
	double x, most;

	if (!number_at(row, ratio, &x) || !number_at(row, limit, &most))
		return;
	str_printf(out, "%.1f %%, limit %g %%%s", 100 * x, most,
		100 * x <= most ? "" : " exceeded");
}

static void
range_of(const json_t *row, struct str *out)
{
	put_ratio(row, "range_ratio", "range_percent", out);
}

static void
slope_of(const json_t *row, struct str *out)
{
	put_ratio(row, "slope_ratio", "slope_percent", out);
}

/* The line through the window in the unit of the mean: intercept + slope * round. */
static void
line_of(const json_t *row, struct str *out)
{
	double slope, intercept;

	if (!number_at(row, "slope", &slope) || !number_at(row, "intercept", &intercept))
		return;
	put_metric(row, intercept, out);
	str_puts(out, slope < 0 ? " - " : " + ");
	put_metric(row, fabs(slope), out);
	str_puts(out, " * round");
}

static void
window_of(const json_t *row, struct str *out)
{
	double first, last;

	if (number_at(row, "first_round", &first) && number_at(row, "last_round", &last))
		str_printf(out, "%.0f-%.0f", first, last);
}

static void
verdict_of(const json_t *row, struct str *out)
{
	const char *verdict = json_text_of(row, "verdict");

	if (strcmp(verdict, "not_reached") == 0)
		str_puts(out, "not reached");
	else if (strcmp(verdict, "not_judged") == 0)
		str_puts(out, "not judged");
	else if (strcmp(verdict, "not_yet") == 0)
		str_puts(out, "not yet");
	else if (strcmp(verdict, "left_out") == 0)
		str_puts(out, "left out");
	else
		str_puts(out, verdict);
}

static void
rounds_of(const json_t *row, struct str *out)
{
	double done, most;

	if (number_at(row, "rounds", &done) && number_at(row, "max_rounds", &most))
		str_printf(out, "%.0f/%.0f", done, most);
}

static const struct column verdicts[] = {
	{"TEST", "test", UNIT_TEXT, COL_KEEP, NULL},
	{"VERDICT", "verdict", UNIT_TEXT, COL_KEEP, verdict_of},
	{"ROUNDS", "rounds", UNIT_TEXT, 0, rounds_of},
	{"VOID", "void_rounds", UNIT_WHOLE, 0, NULL},
	{"WINDOW", "window", UNIT_TEXT, 0, window_of},
	{"TRACKED", "cell", UNIT_TEXT, 0, NULL},
	{"METRIC", "metric", UNIT_TEXT, 0, metric_of},
	{"MEAN", "mean", UNIT_TEXT, 0, mean_of},
	{"RANGE", "range_ratio", UNIT_TEXT, 0, range_of},
	{"SLOPE", "slope_ratio", UNIT_TEXT, 0, slope_of},
	{"LINE", "slope", UNIT_TEXT, 0, line_of},
	{"CORRELATION", "correlation", UNIT_TEXT, COL_WIDE, NULL},
	{"ENDED BY", "ended_by", UNIT_TEXT, COL_WIDE, NULL},
};

/* A row for each tracked variable; one for a test that tracks nothing. */
static json_t *
verdict_rows(const json_t *tests)
{
	static const char *const names[] = {"test", "verdict", "rounds", "void_rounds",
		"max_rounds", "first_round", "last_round", "range_percent",
		"slope_percent", "ended_by"};
	json_t *rows = json_array();
	json_t *test, *t;
	size_t i, k;

	json_array_foreach (tests, i, test) {
		const json_t *tracking = json_object_get(test, "tracking");
		json_t *none = json_pack("[{}]");

		json_array_foreach (
			json_array_size(tracking) > 0 ? tracking : none, k, t) {
			json_t *row = json_copy(t);

			for (size_t n = 0; n < sizeof(names) / sizeof(names[0]); n++)
				json_object_set(
					row, names[n], json_object_get(test, names[n]));
			json_array_append_new(rows, row);
		}
		json_decref(none);
	}
	return rows;
}

/* "60", or "60, 2 failed". */
static void
polls_of(const json_t *cell, struct str *out)
{
	double n, failed;

	if (!number_at(cell, "health_polls/polls", &n) ||
		!number_at(cell, "health_polls/failed", &failed))
		return;
	str_printf(out, "%.0f", n);
	if (failed > 0)
		str_printf(out, ", %.0f failed", failed);
}

static const struct column cells[] = {
	{"CELL", "workload", UNIT_TEXT, COL_KEEP, NULL},
	{"ROUNDS", "rounds", UNIT_WHOLE, 0, NULL},
	{"IN FLIGHT", "in_flight", UNIT_WHOLE, COL_WIDE, NULL},
	{"IOPS", "iops", UNIT_COUNT, 0, NULL},
	{"BANDWIDTH", "bytes_per_second", UNIT_BYTES_PER_S, 0, NULL},
	{"MEAN", "service/lat_mean_ns", UNIT_NS, 0, NULL},
	{"P99", "service/lat_p99_ns", UNIT_NS, 0, NULL},
	{"P99.9", "service/lat_p99.9_ns", UNIT_NS, 0, NULL},
	{"P99.99", "service/lat_p99.99_ns", UNIT_NS, COL_WIDE, NULL},
	{"P99.999", "service/lat_p99.999_ns", UNIT_NS, COL_WIDE, NULL},
	{"MAX", "service/lat_max_ns", UNIT_NS, 0, NULL},
	{"HEALTH POLLS", "health_polls/polls", UNIT_TEXT, 0, polls_of},
	{"POLL MEAN", "health_polls/mean_ns", UNIT_NS, 0, NULL},
	{"POLL MAX", "health_polls/max_ns", UNIT_NS, 0, NULL},
	{"FLAGS", "flags", UNIT_TEXTS, 0, NULL},
};

/* Different values of a member in the order of the cells, at most MATRIX_MAX; 0: some
 * cell has none, or there are more. */
static size_t
values_of(const json_t *list, const char *name, double ret_x[MATRIX_MAX])
{
	json_t *cell;
	size_t i, k, n = 0;
	double x;

	json_array_foreach (list, i, cell) {
		if (!number_at(cell, name, &x))
			return 0;
		for (k = 0; k < n && fabs(ret_x[k] - x) > 1e-9; k++)
			;
		if (k < n)
			continue;
		if (n == MATRIX_MAX)
			return 0;
		ret_x[n++] = x;
	}
	return n;
}

static const json_t *
cell_of(const json_t *list, double block, double read)
{
	json_t *cell;
	size_t i;
	double b, r;

	json_array_foreach (list, i, cell)
		if (number_at(cell, "block_bytes", &b) &&
			number_at(cell, "read_percent", &r) && fabs(b - block) < 0.5 &&
			fabs(r - read) < 1e-9)
			return cell;
	return NULL;
}

/* Whether these are cells of all blocks in all mixes, one of each. */
static bool
is_matrix(const json_t *list)
{
	double blocks[MATRIX_MAX], reads[MATRIX_MAX];
	size_t n_blocks = values_of(list, "block_bytes", blocks);
	size_t n_reads = values_of(list, "read_percent", reads);

	for (size_t i = 0; i < n_blocks; i++)
		for (size_t k = 0; k < n_reads; k++)
			if (cell_of(list, blocks[i], reads[k]) == NULL)
				return false;
	return n_blocks >= 2 && n_reads >= 2 &&
	       n_blocks * n_reads == json_array_size(list);
}

/* Shows such cells: the mean latency or I/Os per second, a row for each block, a column
 * for each share of reads. */
static void
show_matrix(const struct out *o, const json_t *list, bool latency)
{
	const char *member = latency ? "service/lat_mean_ns" : "iops";
	enum unit unit = latency ? UNIT_NS : UNIT_COUNT;
	double blocks[MATRIX_MAX], reads[MATRIX_MAX];
	size_t n_blocks = values_of(list, "block_bytes", blocks);
	size_t n_reads = values_of(list, "read_percent", reads);
	struct column columns[MATRIX_MAX + 1] = {
		{"BLOCK", "block", UNIT_TEXT, COL_KEEP, NULL}};
	char names[MATRIX_MAX][24];
	json_t *rows;

	rows = json_array();
	for (size_t k = 0; k < n_reads; k++) {
		snprintf(names[k], sizeof(names[k]), "READ %g %%", reads[k]);
		columns[k + 1] = (struct column){names[k], names[k], unit, 0, NULL};
	}
	for (size_t i = 0; i < n_blocks; i++) {
		json_t *row = json_object();
		char size[40];

		json_put(row, "block",
			json_string(
				format_size((uint64_t)blocks[i], size, sizeof(size))));
		for (size_t k = 0; k < n_reads; k++)
			json_object_set(row, names[k],
				json_at(cell_of(list, blocks[i], reads[k]), member));
		json_array_append_new(rows, row);
	}
	table_print(o, rows, columns, n_reads + 1);
	json_decref(rows);
}

/* Whether what is tracked first is a latency. */
static bool
tracks_latency(const json_t *test)
{
	const json_t *first = json_array_get(json_object_get(test, "tracking"), 0);

	return show_text_is(first, "metric", "lat_mean_ns");
}

static void
show_cells(const struct out *o, const json_t *test)
{
	const json_t *list = json_object_get(test, "cells");
	bool latency = tracks_latency(test);
	bool matrix = is_matrix(list);
	struct str title = {0};

	if (json_array_size(list) == 0)
		return;
	str_printf(&title, "Results of %s%s: %s of %s", json_text_of(test, "test"),
		show_text_is(test, "verdict", "not_reached") ? ", which is not steady"
							     : "",
		!matrix	  ? "means, and service times,"
		: latency ? "mean latencies"
			  : "IOPS",
		json_has(test, "first_round") ? "the window"
					      : "all rounds that are not void");
	show_title(o, str_text(&title));
	str_fini(&title);
	if (matrix)
		show_matrix(o, list, latency);
	if (!matrix || o->format == OUT_WIDE)
		table_print(o, list, COLUMNS(cells));
}

static void
show_left_out(const struct out *o, const json_t *test)
{
	const json_t *list = json_object_get(test, "left_out");
	struct str text = {0};
	json_t *id;
	size_t i;

	json_array_foreach (list, i, id)
		str_printf(&text, "%s%s", i > 0 ? ", " : "", json_string_value(id));
	if (text.len > 0)
		out_line(o, "%s: left out %s: %s", json_text_of(test, "test"),
			show_text_is(test, "left_out_for", "health")
				? "as the drive has no log of its health to poll"
				: "for the drive's logical blocks",
			str_text(&text));
	str_fini(&text);
}

/* Which demand a test took over, or why none. */
static void
show_choice(const struct out *o, const json_t *test)
{
	const json_t *choice = json_object_get(test, "choice");

	if (json_is_object(choice))
		out_line(o, "%s: %s", json_text_of(test, "test"),
			json_text_of(choice, "text"));
}

/* Rounds that do not count, and why. */
static void
show_void(const struct out *o, const json_t *test)
{
	json_t *round;
	size_t i;

	json_array_foreach (json_object_get(test, "list"), i, round)
		if (json_has(round, "void"))
			out_line(o, "%s: round %lld is void: %s",
				json_text_of(test, "test"),
				(long long)json_integer_value(
					json_object_get(round, "round")),
				json_text_of(round, "void"));
}

/* What to know before its results are believed. */
static void
show_marks(const struct out *o, const json_t *test)
{
	json_t *mark;
	size_t i;

	json_array_foreach (json_object_get(test, "reasons"), i, mark)
		out_line(o, "%s: %s: %s", json_text_of(test, "test"),
			json_text_of(mark, "flag"), json_text_of(mark, "text"));
}

void
rounds_show(const struct out *o, const json_t *tests)
{
	json_t *rows = verdict_rows(tests);
	json_t *test;
	size_t i;

	if (json_array_size(rows) > 0) {
		show_title(
			o, "Steady state (range and slope of the window, of its mean)");
		table_print(o, rows, COLUMNS(verdicts));
	}
	json_decref(rows);
	json_array_foreach (tests, i, test) {
		show_left_out(o, test);
		show_choice(o, test);
		show_void(o, test);
		show_marks(o, test);
	}
	json_array_foreach (tests, i, test)
		show_cells(o, test);
}
