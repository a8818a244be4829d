#include "cli/comparison.h"

#include <stdio.h>
#include <string.h>

#include "cli/show.h"
#include "common/json.h"
#include "common/str.h"

/* From so many percent on a difference is told as how many times as much B is. */
#define TIMES_FROM 1000

/* "80 %, max": at which loads the figures of a side were measured. */
static void
add_loads(const json_t *loads, const char *before, struct str *out)
{
	json_t *load;
	size_t i;

	json_array_foreach (loads, i, load) {
		str_puts(out, i == 0 ? before : ", ");
		if (json_is_number(load))
			human_percent(json_number_value(load), out);
		else
			str_puts(out, "max");
	}
}

/* "5 k IOPS": at which rates, where loads were no shares of a maximum. */
static void
add_rates(const json_t *rates, struct str *out)
{
	json_t *rate;
	size_t i;

	json_array_foreach (rates, i, rate) {
		str_puts(out, i == 0 ? "" : ", ");
		show_rate(json_number_value(rate), out);
	}
}

/* The peak of a side is told with its load, and the highest rate with what it was. The
 * other figures are from there, too, or have theirs in their titles. */
static void
add_peak_loads(const json_t *row, const char *loads, const char *rates, struct str *out)
{
	const json_t *list = json_object_get(row, rates);

	if (show_text_is(row, "metric", "peak_iops"))
		add_loads(json_object_get(row, loads), " at ", out);
	if (!show_text_is(row, "metric", "iops@rate") || json_array_size(list) == 0)
		return;
	str_puts(out, " of ");
	add_rates(list, out);
	str_puts(out, " offered");
}

static void
figure_a(const json_t *row, struct str *out)
{
	show_figure(row, "a", out);
	add_peak_loads(row, "loads_a", "rates_a", out);
}

static void
figure_b(const json_t *row, struct str *out)
{
	show_figure(row, "b", out);
	add_peak_loads(row, "loads_b", "rates_b", out);
}

static void
verdict(const json_t *row, struct str *out)
{
	const char *text = json_text_of(row, "verdict");
	bool of_b = strcmp(text, "better") == 0 || strcmp(text, "worse") == 0;
	bool one_a = json_integer_value(json_object_get(row, "n_a")) == 1;
	bool one_b = json_integer_value(json_object_get(row, "n_b")) == 1;

	str_printf(out, "%s%s", of_b ? "B is " : "", text);
	if (strcmp(text, "single run") == 0)
		str_printf(out, ": %s%s%s", one_a ? "A" : "",
			one_a && one_b ? " and " : "", one_b ? "B" : "");
}

/* "4/5": the repeats of A and B. */
static void
repeats(const json_t *row, struct str *out)
{
	raw_value(json_object_get(row, "n_a"), out);
	str_puts(out, "/");
	raw_value(json_object_get(row, "n_b"), out);
}

/* To two digits where a verdict hangs on it. */
static void
chance(const json_t *row, struct str *out)
{
	double p;

	if (!json_number(json_object_get(row, "p"), &p))
		return;
	if (p < 0.001)
		str_puts(out, "<0.001");
	else
		str_printf(out, p < 0.1 ? "%.3f" : "%.2f", p);
}

/* Appends the span of a side's repeats as a share of its median; "-" of one alone. */
static void
add_spread(const json_t *row, const char *name, const char *least, const char *most,
	struct str *out)
{
	double x, low, high;

	if (json_number(json_object_get(row, name), &x) && x > 0 &&
		json_number(json_object_get(row, least), &low) &&
		json_number(json_object_get(row, most), &high) && high > low)
		str_printf(out, "%.1f %%", 100 * (high - low) / x);
	else
		str_puts(out, "-");
}

/* "3.1 %, 0.8 %"; nothing where no side has a spread. */
static void
spread(const json_t *row, struct str *out)
{
	struct str a = {0}, b = {0};

	add_spread(row, "a", "minimum_a", "maximum_a", &a);
	add_spread(row, "b", "minimum_b", "maximum_b", &b);
	if (strcmp(str_text(&a), "-") != 0 || strcmp(str_text(&b), "-") != 0)
		str_printf(out, "%s, %s", str_text(&a), str_text(&b));
	str_fini(&a);
	str_fini(&b);
}

static void
difference(const json_t *row, struct str *out)
{
	double percent;

	if (!json_number(json_object_get(row, "difference_percent"), &percent))
		return;
	if (percent > TIMES_FROM)
		str_printf(out, percent < 9900 ? "x%.3g" : "x%.0f", 1 + percent / 100);
	else
		str_printf(out, "%+.1f %%", percent);
}

static const struct column metrics[] = {
	{"WORKLOAD", "workload", UNIT_TEXT, COL_WIDE, NULL},
	{"METRIC", "metric", UNIT_TEXT, COL_KEEP, show_figure_title},
	{"UNIT", "unit", UNIT_TEXT, COL_CSV, NULL}, /* cells have their own */
	{"BETTER", "better", UNIT_TEXT, COL_WIDE, NULL},
	{"A", "a", UNIT_COUNT, 0, figure_a},
	{"B", "b", UNIT_COUNT, 0, figure_b},
	{"B AGAINST A", "difference_percent", UNIT_PERCENT, 0, difference},
	{"N", "n", UNIT_COUNT, COL_PEOPLE, repeats},
	{"N A", "n_a", UNIT_WHOLE, COL_CSV, NULL},
	{"N B", "n_b", UNIT_WHOLE, COL_CSV, NULL},
	{"SPREAD A, B", "spread", UNIT_COUNT, COL_PEOPLE, spread},
	{"P", "p", UNIT_COUNT, 0, chance},
	{"FLAGS A", "flags_a", UNIT_TEXTS, 0, NULL},
	{"FLAGS B", "flags_b", UNIT_TEXTS, 0, NULL},
	{"VERDICT", "verdict", UNIT_STATE, 0, verdict},
	{"SUITE", "suite", UNIT_TEXT, COL_CSV, NULL},
	{"ID A", "id_a", UNIT_TEXT, COL_CSV, NULL},
	{"NAME A", "name_a", UNIT_TEXT, COL_CSV, NULL},
	{"ID B", "id_b", UNIT_TEXT, COL_CSV, NULL},
	{"NAME B", "name_b", UNIT_TEXT, COL_CSV, NULL},
	{"VIRTUAL", "virtual", UNIT_YES, COL_CSV, NULL},
	{"SCALED", "scaled", UNIT_TEXT, COL_CSV, NULL},
	{"LOAD A", "load_a", UNIT_TEXT, COL_CSV, NULL},
	{"LOAD B", "load_b", UNIT_TEXT, COL_CSV, NULL},
	{"MINIMUM A", "minimum_a", UNIT_COUNT, COL_CSV, NULL},
	{"MAXIMUM A", "maximum_a", UNIT_COUNT, COL_CSV, NULL},
	{"MINIMUM B", "minimum_b", UNIT_COUNT, COL_CSV, NULL},
	{"MAXIMUM B", "maximum_b", UNIT_COUNT, COL_CSV, NULL},
};

static const struct column differs[] = {
	{"WHAT", "what", UNIT_TEXT, 0, NULL},
	{"A", "a", UNIT_TEXT, 0, NULL},
	{"B", "b", UNIT_TEXT, 0, NULL},
};

static void
print_side(const struct out *o, const char *name, const json_t *side)
{
	const char *id = json_text_of(side, "id");
	const char *label = json_text_of(side, "label");
	struct str runs = {0};

	raw_value(json_object_get(side, "runs"), &runs);
	/* A run is its own label and its own only run. */
	if (show_text_is(side, "kind", "run"))
		out_line(o, "%s  run %s", name, label[0] != '\0' ? label : id);
	else
		out_line(o, "%s  %s %s  %s%s%s%s", name, json_text_of(side, "kind"), id,
			label, runs.len > 0 ? " (" : "", str_text(&runs),
			runs.len > 0 ? ")" : "");
	str_fini(&runs);
}

static void
set_loads(json_t *row, const char *name, const json_t *loads, const json_t *rates)
{
	struct str text = {0};

	add_loads(loads, "", &text);
	add_rates(rates, &text);
	json_object_set_new(row, name, json_string(str_text(&text)));
	str_fini(&text);
}

/* What a machine needs to know of both sides, in each row. */
static void
add_sides(json_t *rows, const json_t *doc)
{
	const json_t *a = json_object_get(doc, "a");
	const json_t *b = json_object_get(doc, "b");
	bool is_virtual = json_is_true(json_at(a, "drive/virtual")) ||
			  json_is_true(json_at(b, "drive/virtual"));
	json_t *scaled = json_has(doc, "scaled")
				 ? json_incref(json_object_get(doc, "scaled"))
				 : json_string("unknown");
	json_t *row;
	size_t i;

	json_array_foreach (rows, i, row) {
		json_object_set(row, "suite", json_object_get(doc, "suite"));
		json_object_set(row, "scaled", scaled);
		json_object_set_new(row, "virtual", json_boolean(is_virtual));
		json_object_set(row, "id_a", json_object_get(a, "id"));
		json_object_set(row, "name_a", json_object_get(a, "label"));
		json_object_set(row, "id_b", json_object_get(b, "id"));
		json_object_set(row, "name_b", json_object_get(b, "label"));
		set_loads(row, "load_a", json_object_get(row, "loads_a"),
			json_object_get(row, "rates_a"));
		set_loads(row, "load_b", json_object_get(row, "loads_b"),
			json_object_get(row, "rates_b"));
	}
	json_decref(scaled);
}

/* The runs of which suite are compared; results from elsewhere are of none. */
static void
print_suite(const struct out *o, const json_t *doc)
{
	const char *suite = json_text_of(doc, "suite");

	if (suite[0] != '\0')
		out_line(o, "runs of %s", suite);
}

static void
print_comparison(const struct out *o, const json_t *doc, const json_t *flagged)
{
	json_t *workload, *warning;
	size_t i;

	print_suite(o, doc);
	print_side(o, "A", json_object_get(doc, "a"));
	print_side(o, "B", json_object_get(doc, "b"));
	json_array_foreach (json_object_get(doc, "workloads"), i, workload) {
		show_title(o, json_text_of(workload, "workload"));
		table_print(o, json_object_get(workload, "metrics"), COLUMNS(metrics));
	}
	show_flags_pointer(o, flagged);
	if (json_array_size(json_object_get(doc, "differs")) > 0) {
		show_title(o, "What else differs");
		table_print(o, json_object_get(doc, "differs"), COLUMNS(differs));
	}
	json_array_foreach (json_object_get(doc, "warnings"), i, warning) {
		fputs(i == 0 ? "\n" : "", o->file);
		out_line(o, "warning: %s", json_string_value(warning));
	}
}

/* Warnings are talk where rows are data. */
static void
print_rows(const struct out *o, const json_t *doc, json_t *rows)
{
	json_t *warning;
	size_t i;

	add_sides(rows, doc);
	table_print(o, rows, COLUMNS(metrics));
	json_array_foreach (json_object_get(doc, "warnings"), i, warning)
		talk("warning: %s", json_string_value(warning));
}

/* Where the flags of one side come from: its runs, or the foreign result. */
static void
add_flagged(json_t *flagged, const json_t *rows, const json_t *side, const char *flags)
{
	json_t *item, *row;
	size_t i;

	json_array_foreach (rows, i, row) {
		if (json_array_size(json_object_get(row, flags)) == 0)
			continue;
		item = json_object();
		json_object_set(item, "flags", json_object_get(row, flags));
		json_object_set(item, "runs", json_object_get(side, "runs"));
		if (json_array_size(json_object_get(side, "runs")) == 0)
			json_object_set(item, "foreign", json_object_get(side, "id"));
		json_array_append_new(flagged, item);
	}
}

void
comparison_print(const struct out *o, json_t *doc)
{
	static const char *const inherit[] = {"workload", NULL};
	json_t *rows = show_rows(json_object_get(doc, "workloads"), "metrics", inherit);
	json_t *flagged = json_array();

	if (o->format == OUT_CSV) {
		print_rows(o, doc, rows);
	} else {
		add_flagged(flagged, rows, json_object_get(doc, "a"), "flags_a");
		add_flagged(flagged, rows, json_object_get(doc, "b"), "flags_b");
		print_comparison(o, doc, flagged);
	}
	json_decref(flagged);
	json_decref(rows);
}
