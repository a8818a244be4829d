#include <string.h>

#include "cli/client.h"
#include "cli/cmd.h"
#include "cli/ref.h"
#include "cli/show.h"
#include "common/err.h"
#include "common/json.h"
#include "common/str.h"

static void
figure_a(const json_t *row, struct str *out)
{
	show_figure(row, "a", out);
}

static void
figure_b(const json_t *row, struct str *out)
{
	show_figure(row, "b", out);
}

static void
verdict(const json_t *row, struct str *out)
{
	const char *text = json_text_of(row, "verdict");
	bool of_b = strcmp(text, "better") == 0 || strcmp(text, "worse") == 0;

	str_printf(out, "%s%s", of_b ? "B is " : "", text);
}

static void
difference(const json_t *row, struct str *out)
{
	double percent;

	if (json_number(json_object_get(row, "difference_percent"), &percent))
		str_printf(out, "%+.1f %%", percent);
}

static const struct column metrics[] = {
	{"WORKLOAD", "workload", UNIT_TEXT, COL_WIDE, NULL},
	{"METRIC", "metric", UNIT_TEXT, COL_KEEP, show_figure_title},
	{"UNIT", "unit", UNIT_TEXT, COL_WIDE, NULL},
	{"BETTER", "better", UNIT_TEXT, COL_WIDE, NULL},
	{"A", "a", UNIT_COUNT, 0, figure_a},
	{"B", "b", UNIT_COUNT, 0, figure_b},
	{"B AGAINST A", "difference_percent", UNIT_PERCENT, 0, difference},
	{"N A", "n_a", UNIT_WHOLE, COL_WIDE, NULL},
	{"N B", "n_b", UNIT_WHOLE, COL_WIDE, NULL},
	{"P", "p", UNIT_COUNT, COL_WIDE, NULL},
	{"FLAGS A", "flags_a", UNIT_TEXTS, 0, NULL},
	{"FLAGS B", "flags_b", UNIT_TEXTS, 0, NULL},
	{"VERDICT", "verdict", UNIT_STATE, 0, verdict},
};

static const struct column differs[] = {
	{"WHAT", "what", UNIT_TEXT, 0, NULL},
	{"A", "a", UNIT_TEXT, 0, NULL},
	{"B", "b", UNIT_TEXT, 0, NULL},
};

/* A side of the comparison: ids of runs, drives and foreign results as they are,
 * anything else is a serial. */
static int
add_side(struct cli *c, const char *name, const char *text, struct str *path,
	struct err *e)
{
	struct ref ref;

	if (!ref_is_id(text, 'r') && !ref_is_id(text, 'x')) {
		if (ref_drive(c->client, text, &ref, e) != 0)
			return -1;
		text = ref.id;
	}
	client_query(path, name, text);
	return 0;
}

static void
print_side(const struct out *o, const char *name, const json_t *side)
{
	struct str runs = {0};

	raw_value(json_object_get(side, "runs"), &runs);
	out_line(o, "%s  %s %s  %s%s%s%s", name, json_text_of(side, "kind"),
		json_text_of(side, "id"), json_text_of(side, "label"),
		runs.len > 0 ? " (" : "", str_text(&runs), runs.len > 0 ? ")" : "");
	str_fini(&runs);
}

static void
print_comparison(const struct out *o, const json_t *doc)
{
	json_t *workload, *warning;
	size_t i;

	print_side(o, "A", json_object_get(doc, "a"));
	print_side(o, "B", json_object_get(doc, "b"));
	json_array_foreach (json_object_get(doc, "workloads"), i, workload) {
		show_title(o, json_text_of(workload, "workload"));
		table_print(o, json_object_get(workload, "metrics"), COLUMNS(metrics));
	}
	if (json_array_size(json_object_get(doc, "differs")) > 0) {
		show_title(o, "What else differs");
		table_print(o, json_object_get(doc, "differs"), COLUMNS(differs));
	}
	json_array_foreach (json_object_get(doc, "warnings"), i, warning) {
		fputs(i == 0 ? "\n" : "", o->file);
		out_line(o, "warning: %s", json_string_value(warning));
	}
}

int
cmd_compare(struct cli *c, struct err *e)
{
	static const char *const inherit[] = {"workload", NULL};
	struct str path = {0};
	json_t *doc = NULL;
	json_t *rows;
	int rc = -1;

	str_puts(&path, "/api/v1/comparisons");
	if (add_side(c, "a", c->args[0], &path, e) != 0 ||
		add_side(c, "b", c->args[1], &path, e) != 0)
		goto out;
	if (c->flags[FLAG_WORKLOAD] != NULL)
		client_query(&path, "workload", c->flags[FLAG_WORKLOAD]);
	if (c->flags[FLAG_SUITE] != NULL)
		client_query(&path, "suite", c->flags[FLAG_SUITE]);
	if (client_get(c->client, str_text(&path), &doc, e) != 0)
		goto out;
	if (c->out.format == OUT_JSON) {
		out_json(&c->out, doc);
	} else {
		rows = show_rows(json_object_get(doc, "workloads"), "metrics", inherit);
		if (show_for_people(c))
			print_comparison(&c->out, doc);
		else
			table_print(&c->out, rows, COLUMNS(metrics));
		json_decref(rows);
	}
	rc = 0;
out:
	json_decref(doc);
	str_fini(&path);
	return rc;
}
