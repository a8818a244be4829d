#include "cli/ranking.h"

#include <stdbool.h>
#include <stdio.h>
#include <string.h>

#include "cli/show.h"
#include "common/json.h"
#include "common/str.h"

/* So many drives with too few runs are named; a row is a line. */
#define DOUBT_NAMES 8

static void
figure_value(const json_t *row, struct str *out)
{
	show_figure(row, "value", out);
}

/* "640 k .. 655 k" of a drive with more than one run. */
static void
range(const json_t *row, struct str *out)
{
	double n = 0;

	if (!json_number(json_object_get(row, "n"), &n) || n < 2)
		return;
	show_figure(row, "minimum", out);
	str_puts(out, " .. ");
	show_figure(row, "maximum", out);
}

static void
rank_text(const json_t *row, struct str *out)
{
	raw_value(json_object_get(row, "rank"), out);
	if (json_is_true(json_object_get(row, "tie")))
		str_puts(out, "=");
}

static const struct column ranking[] = {
	{"RANK", "rank", UNIT_WHOLE, 0, rank_text},
	{"SUITE", "suite", UNIT_TEXT, COL_WIDE, NULL},
	{"WORKLOAD", "workload", UNIT_TEXT, COL_WIDE, NULL},
	{"METRIC", "metric", UNIT_TEXT, COL_WIDE, show_figure_title},
	{"DRIVE", "drive/id", UNIT_TEXT, COL_KEEP, NULL},
	{"MODEL", "drive/model", UNIT_TEXT, 0, NULL},
	{"SERIAL", "drive/serial", UNIT_TEXT, COL_KEEP, NULL},
	{"FIRMWARE", "drive/firmware", UNIT_TEXT, COL_WIDE, NULL},
	{"MEDIAN", "value", UNIT_COUNT, 0, figure_value},
	{"MIN .. MAX", "range", UNIT_COUNT, COL_PEOPLE, range},
	{"BANDWIDTH", "bytes_per_second", UNIT_BYTES_PER_S, 0, NULL},
	{"OF BEST", "percent_of_best", UNIT_PERCENT, 0, NULL},
	{"N", "n", UNIT_WHOLE, 0, NULL},
	{"FLAGS", "flags", UNIT_TEXTS, 0, NULL},
	{"RUN IDS", "runs", UNIT_TEXTS, COL_WIDE, NULL},
	{"MINIMUM", "minimum", UNIT_COUNT, COL_CSV, NULL},
	{"MAXIMUM", "maximum", UNIT_COUNT, COL_CSV, NULL},
	{"VIRTUAL", "virtual", UNIT_YES, COL_CSV, NULL},
	{"SCALED", "scaled", UNIT_TEXT, COL_CSV, NULL},
	{"FOREIGN", "is_foreign", UNIT_YES, COL_CSV, NULL},
};

/* Marks rows that share their rank with another. */
static void
mark_ties(json_t *items)
{
	for (size_t i = 1; i < json_array_size(items); i++) {
		json_t *a = json_array_get(items, i - 1);
		json_t *b = json_array_get(items, i);

		if (!json_equal(json_object_get(a, "rank"), json_object_get(b, "rank")))
			continue;
		json_object_set_new(a, "tie", json_true());
		json_object_set_new(b, "tie", json_true());
	}
}

/* Adds "d1: 2", a drive and how many runs it has. */
static void
add_place(const json_t *item, double n, struct str *list)
{
	str_printf(list, "%s%s: %.0f", list->len > 0 ? ", " : "",
		json_text_of(json_object_get(item, "drive"), "id"), n);
}

/* Says which places rest on fewer runs than a verdict needs, as compare says it. */
static void
print_doubt(const struct out *o, const json_t *r)
{
	const json_t *items = json_object_get(r, "items");
	struct str list = {0};
	size_t few = 0;
	double needed, n;
	json_t *item;
	size_t i;

	if (!json_number(json_object_get(r, "repeats_needed"), &needed))
		return;
	json_array_foreach (items, i, item) {
		if (json_has(item, "foreign") ||
			!json_number(json_object_get(item, "n"), &n) || n >= needed)
			continue;
		if (few++ < DOUBT_NAMES)
			add_place(item, n, &list);
	}
	if (few > DOUBT_NAMES)
		str_printf(&list, ", and %zu more", few - DOUBT_NAMES);
	/* A drive alone is in no order. */
	if (few > 0 && json_array_size(items) > 1)
		out_line(o,
			"%zu of %zu drives have fewer than %.0f runs (%s): their places "
			"may be chance; %.0f on each side can show a difference",
			few, json_array_size(items), needed, str_text(&list), needed);
	str_fini(&list);
}

/* Names results from elsewhere in the columns of drives: by id, subject and source. */
static void
name_foreign(json_t *items)
{
	json_t *item;
	size_t i;

	json_array_foreach (items, i, item) {
		const json_t *f = json_object_get(item, "foreign");

		if (f == NULL)
			continue;
		json_object_set_new(item, "drive",
			json_pack("{s:O, s:O, s:o}", "id", json_object_get(f, "id"),
				"model", json_object_get(f, "subject"), "serial",
				json_sprintf("%s: %s", json_text_of(f, "tool"),
					json_text_of(f, "source"))));
	}
}

/* The value that drives are ordered by is the median of their runs. Whether a drive is
 * virtual is its own matter: a ranking is when one of its drives is. */
static void
complete(json_t *rows)
{
	json_t *row;
	size_t i;

	json_array_foreach (rows, i, row) {
		if (!json_has(row, "value"))
			json_object_set(row, "value", json_object_get(row, "median"));
		json_object_set(row, "virtual", json_at(row, "drive/virtual"));
		json_object_set_new(
			row, "is_foreign", json_boolean(json_has(row, "foreign")));
		if (!json_has(row, "foreign"))
			continue;
		if (json_has(json_object_get(row, "foreign"), "scaled"))
			json_object_set(row, "scaled", json_at(row, "foreign/scaled"));
		else
			json_object_set_new(row, "scaled", json_string("unknown"));
	}
}

/* The runs that a ranking is without, those with one reason together. */
static void
print_left_out(const struct out *o, const json_t *excluded)
{
	json_t *reasons = json_object();
	json_t *x, *runs;
	const char *why;
	size_t i;

	json_array_foreach (excluded, i, x) {
		why = json_text_of(x, "why");
		if (!json_has(reasons, why))
			json_object_set_new(reasons, why, json_array());
		json_array_append(json_object_get(reasons, why),
			json_object_get(x, json_has(x, "run") ? "run" : "foreign"));
	}
	json_object_foreach (reasons, why, runs) {
		struct str line = {0};

		bool many = json_array_size(runs) > 1 && strncmp(why, "it is ", 6) == 0;

		json_array_foreach (runs, i, x)
			str_printf(
				&line, "%s%s", i > 0 ? ", " : "", json_string_value(x));
		out_line(o, "left out: %s; %s%s", str_text(&line),
			many ? "they are " : "", many ? why + 6 : why);
		str_fini(&line);
	}
	json_decref(reasons);
}

/* Says what results from elsewhere are worth here. */
static void
print_foreign(const struct out *o, const json_t *r)
{
	json_t *item;
	size_t i;

	json_array_foreach (json_object_get(r, "items"), i, item) {
		if (!json_has(item, "foreign"))
			continue;
		out_line(o,
			"foreign: not measured by this lab, and ranked by the name of "
			"the workload alone");
		return;
	}
}

/* Whether runs have fixed rates, which the metric asked for is not of. */
static bool
asks_for_rates(const json_t *rankings)
{
	json_t *r;
	size_t i;

	json_array_foreach (rankings, i, r)
		if (json_is_true(json_object_get(r, "fixed_rates")) &&
			json_array_size(json_object_get(r, "items")) == 0 &&
			strstr(json_text_of(r, "metric"), "@rate") == NULL)
			return true;
	return false;
}

static void
print_rankings(const struct out *o, const json_t *rankings)
{
	size_t empty = 0;
	json_t *r;
	size_t i;

	json_array_foreach (rankings, i, r) {
		struct str title = {0};
		double rate;

		if (json_array_size(json_object_get(r, "items")) == 0) {
			empty++;
			continue;
		}
		show_figure_title(r, &title);
		if (json_number(json_object_get(r, "rate_iops"), &rate)) {
			str_puts(&title, ", ");
			show_rate(rate, &title);
			str_puts(&title, " offered");
		}
		fputs(i > empty ? "\n" : "", o->file);
		out_line(o, "%s by %s (%s is better), %s%s%s",
			json_text_of(r, "workload"), str_text(&title),
			json_text_of(r, "better"), json_text_of(r, "suite"),
			json_is_true(json_object_get(r, "scaled")) ? ", scaled down" : "",
			json_is_true(json_object_get(r, "virtual")) ? ", virtual drives"
								    : "");
		table_print(o, json_object_get(r, "items"), COLUMNS(ranking));
		print_doubt(o, r);
		print_foreign(o, r);
		print_left_out(o, json_object_get(r, "excluded"));
		str_fini(&title);
	}
	if (empty == 0)
		return;
	fputs("\n", o->file);
	out_line(o, "%zu workload%s no such figure (-o json says why)%s", empty,
		empty == 1 ? " has" : "s have",
		asks_for_rates(rankings) ? ", those with fixed rates: --metric iops@rate"
					 : "");
}

void
ranking_print(const struct out *o, json_t *doc)
{
	static const char *const inherit[] = {
		"unit", "metric", "title", "workload", "suite", "scaled", NULL};
	json_t *rankings = json_incref(json_object_get(doc, "rankings"));
	json_t *rows, *r;
	size_t i;

	if (rankings == NULL) {
		rankings = json_array();
		json_array_append(rankings, doc);
	}
	json_array_foreach (rankings, i, r)
		name_foreign(json_object_get(r, "items"));
	rows = show_rows(rankings, "items", inherit);
	complete(rows);
	json_array_foreach (rankings, i, r)
		mark_ties(json_object_get(r, "items"));
	if (json_array_size(rows) == 0) {
		talk("nothing to rank: no finished run has that figure");
		if (asks_for_rates(rankings))
			talk("  fix: runs have fixed rates: add --metric iops@rate");
	} else if (o->format == OUT_CSV) {
		table_print(o, rows, COLUMNS(ranking));
	} else {
		print_rankings(o, rankings);
		show_flags_pointer(o, rows);
	}
	json_decref(rows);
	json_decref(rankings);
}
