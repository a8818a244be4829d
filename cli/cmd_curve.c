#include "cli/client.h"
#include "cli/cmd.h"
#include "cli/ref.h"
#include "cli/show.h"
#include "common/err.h"
#include "common/json.h"
#include "common/str.h"

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

/*
 * "642 k IOPS at 90 %, response mean 180 us, p99 611 us". The peak is told with the
 * service, as in rankings: a saturated point's response grows for as long as it lasts.
 */
static void
print_fact(const struct out *o, const char *title, const json_t *point, const char *kind)
{
	struct str line = {0};
	double x;

	if (!json_number(json_object_get(point, "iops"), &x))
		return;
	str_printf(&line, "%s: ", title);
	human_count(x, &line);
	str_puts(&line, " IOPS");
	if (json_number(json_object_get(point, "load_percent"), &x)) {
		str_puts(&line, " at ");
		human_percent(x, &line);
	}
	add_latency(json_object_get(point, kind), kind, &line);
	out_line(o, "%s", str_text(&line));
	str_fini(&line);
}

static void
print_curve(const struct out *o, json_t *curve)
{
	show_title(o, json_text_of(curve, "workload"));
	print_fact(o, "peak", json_object_get(curve, "peak"), "service");
	print_fact(o, "best operating point", json_object_get(curve, "best"), "response");
	if (json_text_of(curve, "best_reason")[0] != '\0')
		out_line(o, "no best operating point: %s",
			json_text_of(curve, "best_reason"));
	/* The first column is the workload. */
	table_print(
		o, json_object_get(curve, "points"), show_points + 1, show_points_n - 1);
}

static json_t *
find_point(const json_t *points, const json_t *number)
{
	json_t *point;
	size_t i;

	json_array_foreach (points, i, point)
		if (json_equal(json_object_get(point, "point"), number))
			return point;
	return NULL;
}

/* Completes the points of the curves by what the run tells of each of them. */
static int
complete(struct cli *c, const char *run, json_t *doc, struct err *e)
{
	struct str path = {0};
	json_t *full = NULL;
	json_t *curve, *point;
	size_t i, j;
	int rc;

	str_printf(&path, "/api/v1/runs/%s/points", run);
	rc = client_get(c->client, str_text(&path), &full, e);
	str_fini(&path);
	if (rc != 0)
		return -1;
	json_array_foreach (json_object_get(doc, "workloads"), i, curve) {
		json_array_foreach (json_object_get(curve, "points"), j, point) {
			json_t *known = find_point(json_object_get(full, "items"),
				json_object_get(point, "point"));

			if (known != NULL)
				json_object_update(point, known);
			/* That a point is done goes without saying. */
			if (c->out.format == OUT_TABLE &&
				show_text_is(point, "state", "done"))
				json_object_del(point, "state");
		}
	}
	json_decref(full);
	return 0;
}

/* The points of all workloads in one list, each with its workload. New reference. */
static json_t *
all_points(json_t *doc)
{
	json_t *all = json_array();
	json_t *curve, *point;
	size_t i, j;

	json_array_foreach (json_object_get(doc, "workloads"), i, curve) {
		json_t *points = json_object_get(curve, "points");

		show_add_latency(points);
		json_array_foreach (points, j, point)
			json_object_set(
				point, "workload", json_object_get(curve, "workload"));
		json_array_extend(all, points);
	}
	return all;
}

int
cmd_curve(struct cli *c, struct err *e)
{
	struct str path = {0};
	struct ref ref;
	json_t *doc = NULL;
	json_t *all, *curve;
	size_t i;
	int rc;

	if (show_arg_id(c, 'r', &ref, e) != 0)
		return -1;
	str_puts(&path, "/api/v1/curves");
	client_query(&path, "run", ref.id);
	if (c->flags[FLAG_WORKLOAD] != NULL)
		client_query(&path, "workload", c->flags[FLAG_WORKLOAD]);
	rc = client_get(c->client, str_text(&path), &doc, e);
	if (rc == 0 && c->out.format != OUT_JSON)
		rc = complete(c, ref.id, doc, e);
	if (rc == 0 && c->out.format == OUT_JSON) {
		out_json(&c->out, doc);
	} else if (rc == 0) {
		all = all_points(doc);
		if (json_array_size(all) == 0)
			talk("%s has measured no point yet", ref.id);
		else if (!show_for_people(c))
			table_print(&c->out, all, show_points, show_points_n);
		json_array_foreach (json_object_get(doc, "workloads"), i, curve)
			if (show_for_people(c))
				print_curve(&c->out, curve);
		json_decref(all);
	}
	json_decref(doc);
	str_fini(&path);
	return rc;
}
