#include "cli/curves.h"

#include <stdio.h>

#include "cli/facts.h"
#include "cli/show.h"
#include "common/json.h"

/* Whether a point is a load that was offered, and no maximum. */
static bool
is_offered(const json_t *point)
{
	return json_is_number(json_object_get(point, "load_percent")) ||
	       json_is_number(json_object_get(point, "offered_iops"));
}

/* Puts the maximum first: it is measured before the loads, which are shares of it. */
static void
put_maximum_first(json_t *curve)
{
	json_t *points = json_array();
	json_t *point;
	size_t i;

	for (int loads = 0; loads < 2; loads++)
		json_array_foreach (json_object_get(curve, "points"), i, point)
			if (is_offered(point) == (loads == 1))
				json_array_append(points, point);
	json_object_set_new(curve, "points", points);
}

/* What a row needs that stands alone. */
static void
complete(json_t *curve, const json_t *doc)
{
	json_t *points, *point;
	size_t i;

	put_maximum_first(curve);
	points = json_object_get(curve, "points");
	show_add_latency(points);
	json_array_foreach (points, i, point) {
		json_object_set(point, "workload", json_object_get(curve, "workload"));
		json_object_set(point, "virtual", json_at(doc, "drive/virtual"));
		json_object_set(point, "scaled", json_object_get(doc, "scaled"));
		json_object_set_new(
			point, "runs", json_pack("[O]", json_object_get(doc, "run")));
	}
}

/* Whether any point is of a ramp: the others are of tests in rounds. */
static bool
has_ramp(const json_t *points)
{
	json_t *point;
	size_t i;

	json_array_foreach (points, i, point)
		if (!json_has(point, "round"))
			return true;
	return json_array_size(points) == 0;
}

static void
print_curve(const struct out *o, const json_t *curve, bool first)
{
	if (first)
		out_line(o, "%s", json_text_of(curve, "workload"));
	else
		show_title(o, json_text_of(curve, "workload"));
	facts_print(o, curve);
	show_title(o, SHOW_POINTS_TITLE);
	/* The first column is the workload. */
	table_print(
		o, json_object_get(curve, "points"), show_points + 1, show_points_n - 1);
}

void
curves_print(const struct out *o, json_t *doc)
{
	json_t *all = json_array();
	json_t *curve;
	size_t i;

	json_array_foreach (json_object_get(doc, "workloads"), i, curve) {
		complete(curve, doc);
		json_array_extend(all, json_object_get(curve, "points"));
	}
	if (o->format == OUT_CSV) {
		table_print(o, all, show_points, show_points_n);
	} else if (!has_ramp(all)) {
		out_line(o, "no ramp in this run: see ssdlab run show %s",
			json_text_of(doc, "run"));
	} else {
		json_array_foreach (json_object_get(doc, "workloads"), i, curve)
			print_curve(o, curve, i == 0);
		show_flags_pointer(o, all);
	}
	json_decref(all);
}
