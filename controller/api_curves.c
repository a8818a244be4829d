/* Latency against IOPS: the curves of one run and their facts. */
#include <inttypes.h>
#include <string.h>

#include "analysis/curve.h"
#include "common/err.h"
#include "common/json.h"
#include "common/str.h"
#include "controller/api.h"
#include "controller/flags.h"
#include "controller/result.h"

static json_t *
latency_json(const struct curve_latency *l)
{
	json_t *o = json_object();

	json_put(o, "lat_mean_ns", result_real(l->mean));
	json_put(o, "lat_p50_ns", result_real(l->p50));
	json_put(o, "lat_p99_ns", result_real(l->p99));
	json_put(o, "lat_p99.9_ns", result_real(l->p99_9));
	return o;
}

static json_t *
point_json(const struct curve_point *p)
{
	json_t *o = json_object();

	json_put(o, "point", json_integer(p->point));
	json_put(o, "load_percent", result_real(p->load_percent));
	json_put(o, "offered_iops", result_real(p->offered_iops));
	json_put(o, "iops", result_real(p->iops));
	json_put(o, "bytes_per_second", result_real(p->bytes_per_second));
	json_put(o, "service", latency_json(&p->service));
	json_put(o, "response", latency_json(&p->response));
	json_put(o, "flags", flags_json(p->flags));
	return o;
}

static json_t *
curve_json(const struct result_curve *c)
{
	json_t *o = json_object();
	json_t *points = json_array();
	struct curve_facts f;
	bool known = curve_find(c->points, c->n, &f);

	for (size_t i = 0; i < c->n; i++)
		json_array_append_new(points, point_json(&c->points[i]));
	json_put(o, "workload", json_string(c->workload));
	json_put(o, "first", known ? point_json(&c->points[f.first]) : json_null());
	json_put(o, "peak", known ? point_json(&c->points[f.peak]) : json_null());
	json_put(o, "best",
		known && f.no_best == NULL ? point_json(&c->points[f.best])
					   : json_null());
	json_put(o, "best_reason",
		json_string(!known		? "no point has completed an I/O"
			    : f.no_best != NULL ? f.no_best
						: ""));
	json_put(o, "points", points);
	return o;
}

static json_t *
run_json(const struct result *r, const char *workload)
{
	json_t *o = json_object();
	json_t *workloads = json_array();

	for (size_t i = 0; i < r->n_curves; i++)
		if (workload == NULL || strcmp(r->curves[i].workload, workload) == 0)
			json_array_append_new(workloads, curve_json(&r->curves[i]));
	json_put(o, "run", api_id('r', r->run));
	json_put(o, "state", json_string(r->state));
	json_put(o, "suite", json_string(r->suite));
	json_put(o, "scaled", json_boolean(r->scaled));
	json_put(o, "drive", result_drive(r));
	json_put(o, "workloads", workloads);
	return o;
}

static int
answer(struct api_call *c, const struct result *r, struct err *e)
{
	const char *workload = c->query(c, "workload");
	struct str names = {0};

	if (workload != NULL && result_curve(r, workload) == NULL) {
		result_workloads(r, &names);
		result_no_workload(workload, &names, e);
		str_fini(&names);
		return -1;
	}
	c->doc = run_json(r, workload);
	return 0;
}

int
api_curves_get(struct tx *t, struct api_call *c, struct err *e)
{
	static const char *const names[] = {"run", "workload", NULL};
	struct result_filter f = {.unfinished = true, .flags = true};
	const char *run = c->query(c, "run");
	struct result_list l;
	int rc;

	if (api_only_query(c, names, e) != 0)
		return -1;
	if (run == NULL) {
		err_set(e, ERR_INVALID, "query parameter run is missing");
		return err_fix(e, "give the run whose curves you want, as run=r12");
	}
	if (api_parse_id(run, 'r', "", &f.run, e) != 0)
		return err_ctx(e, "query parameter run");
	if (result_load(t, &f, &l, e) != 0)
		return -1;
	rc = l.n == 1 ? answer(c, &l.items[0], e)
		      : err_set(e, ERR_NOTFOUND, "there is no run r%" PRId64, f.run);
	result_list_fini(&l);
	return rc;
}
