#include "cli/suite_parts.h"

#include <stdlib.h>

#include "cli/show.h"
#include "common/err.h"
#include "common/json.h"
#include "common/str.h"
#include "common/suite.h"
#include "common/xalloc.h"

/* "2 x", or nothing. */
static void
overwrites_of(const json_t *row, struct str *out)
{
	json_int_t n = json_integer_value(json_object_get(row, "overwrites"));

	if (n > 0)
		str_printf(out, "%lld x", (long long)n);
}

static const struct column columns[] = {
	{"PART", "part", UNIT_TEXT, COL_KEEP, NULL},
	{"POINTS", "points", UNIT_WHOLE, 0, NULL},
	{"MEASURES FOR", "measure_ns", UNIT_SPAN, 0, NULL},
	{"OVERWRITES ALL", "overwrites", UNIT_TEXT, 0, overwrites_of},
	{"WRITES FOR", "writing_ns", UNIT_SPAN, 0, NULL},
	{"WRITES", "rate_bytes", UNIT_BYTES, 0, NULL},
};

static void
add_row(json_t *rows, const char *name, const struct suite_cost *cost)
{
	json_t *row = json_object();

	json_put(row, "part", json_string(name));
	json_put(row, "points", json_integer(cost->points));
	json_put(row, "measure_ns", json_integer(cost->measure_ns));
	json_put(row, "overwrites", json_integer(cost->overwrites));
	json_put(row, "writing_ns", json_integer(cost->writing_ns));
	/* only rates say it beforehand */
	if (cost->rate_bytes > 0)
		json_put(row, "rate_bytes", json_u64(cost->rate_bytes));
	json_array_append_new(rows, row);
}

static json_t *
rows_of(const struct suite *s)
{
	/* the least blocks there are, so that nothing is left out; times do not depend on
	 * the capacity */
	const struct suite_drive any = {0, 512, true};
	size_t n = s->n_tests > 0 ? s->n_tests : s->n_workloads;
	json_t *rows = json_array();
	struct suite_cost cost;

	if (s->fill_passes > 0 || s->purge) {
		cost = (struct suite_cost){.overwrites = s->fill_passes + s->purge,
			.points = s->fill_passes};
		add_row(rows, "preparation", &cost);
	}
	for (size_t i = 0; i < n; i++) {
		suite_part_cost(s, i, &any, 1, 1, &cost);
		add_row(rows, s->n_tests > 0 ? s->tests[i].id : s->workloads[i].id,
			&cost);
	}
	suite_cost(s, &any, 1, 1, &cost);
	add_row(rows, "in all", &cost);
	return rows;
}

static bool
cost_has_rates(const json_t *rows)
{
	return json_has(json_array_get(rows, json_array_size(rows) - 1), "rate_bytes");
}

void
suite_parts_show(const struct out *o, const json_t *doc)
{
	struct suite *s = xcalloc(1, sizeof(*s));
	json_t *rows;

	if (suite_parse(doc, s, NULL) == 0) {
		rows = rows_of(s);
		show_title(o, "What a run takes at most");
		table_print(o, rows, COLUMNS(columns));
		out_line(o, "Time: what it measures for, and that of overwriting all of "
			    "the drive "
			    "(purge, fill) so many times.");
		out_line(o, "Bytes: so many times the capacity, and what the drive "
			    "writes in that "
			    "time at its own speed.");
		if (cost_has_rates(rows))
			out_line(o, "WRITES is what rates write that are offered as they "
				    "are, whatever the drive's speed.");
		out_line(o, "ssdlab campaign plan tells both of a drive.");
		json_decref(rows);
		suite_fini(s);
	}
	free(s);
}
