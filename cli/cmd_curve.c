#include "cli/client.h"
#include "cli/cmd.h"
#include "cli/curves.h"
#include "cli/facts.h"
#include "cli/ref.h"
#include "cli/show.h"
#include "common/err.h"
#include "common/json.h"
#include "common/str.h"

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

			/* What the curve counts goes before what the point does. */
			if (known != NULL) {
				json_object_update_recursive(known, point);
				json_object_update(point, known);
			}
			/* That a point is done goes without saying. */
			if (c->out.format == OUT_TABLE &&
				show_text_is(point, "state", "done"))
				json_object_del(point, "state");
		}
	}
	json_decref(full);
	return 0;
}

static int
curve_path(struct cli *c, const char *run, struct str *path, struct err *e)
{
	str_puts(path, "/api/v1/curves");
	client_query(path, "run", run);
	if (c->flags[FLAG_WORKLOAD] != NULL)
		client_query(path, "workload", c->flags[FLAG_WORKLOAD]);
	return facts_query(c, path, e);
}

int
cmd_curve(struct cli *c, struct err *e)
{
	struct str path = {0};
	struct ref ref;
	json_t *doc = NULL;
	bool facts = c->flags[FLAG_FACTS] != NULL;
	int rc;

	if (show_arg_id(c, 'r', &ref, e) != 0)
		return -1;
	rc = curve_path(c, ref.id, &path, e);
	if (rc == 0)
		rc = client_get(c->client, str_text(&path), &doc, e);
	if (rc == 0 && c->out.format != OUT_JSON && !facts)
		rc = complete(c, ref.id, doc, e);
	if (rc == 0 && c->out.format == OUT_JSON) {
		out_json(&c->out, doc);
	} else if (rc == 0) {
		if (json_array_size(json_object_get(doc, "workloads")) == 0)
			talk("%s has measured no point yet", ref.id);
		if (facts)
			facts_table(&c->out, doc);
		else
			curves_print(&c->out, doc);
	}
	json_decref(doc);
	str_fini(&path);
	return rc;
}
