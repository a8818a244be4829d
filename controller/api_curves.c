/* Latency against IOPS: the curves of one run and their facts. */
#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "analysis/curve.h"
#include "analysis/line.h"
#include "common/err.h"
#include "common/json.h"
#include "common/parse.h"
#include "common/record.h"
#include "common/str.h"
#include "controller/api.h"
#include "controller/doc.h"
#include "controller/flags.h"
#include "controller/result.h"

/* The latency lines that are asked for. */
struct lines {
	struct line items[LINES_MAX];
	size_t n;
};

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
line_json(const struct result_curve *c, struct line line)
{
	struct line_answer a;
	json_t *o = json_object();

	line_find(c->points, c->n, line, &a);
	json_put(o, "latency", json_string(line_latency_name(line.latency)));
	json_put(o, "line_ns", result_real(line.ns));
	json_put(o, "state", json_string(line_state_name(a.state)));
	json_put(o, "load_percent", result_real(a.load_percent));
	json_put(o, "offered_iops", result_real(a.offered_iops));
	json_put(o, "iops", result_real(a.iops));
	json_put(o, "interpolated", json_boolean(a.interpolated));
	json_put(o, "loads_over", json_integer((json_int_t)a.loads_over));
	json_put(o, "lower_over", json_boolean(a.lower_over));
	json_put(o, "reason", json_string(a.why));
	return o;
}

/* The point of a fact, or null; why is NULL when there is one. */
static json_t *
fact_json(const struct result_curve *c, size_t i, const char *why)
{
	return why == NULL ? point_json(&c->points[i]) : json_null();
}

static json_t *
fall_json(const struct result_curve *c, const struct curve_facts *f)
{
	const struct curve_point *p = &c->points[f->fall];
	json_t *o;

	if (f->no_fall != NULL)
		return json_null();
	o = json_object();
	json_put(o, "percent", result_real(f->fall_percent));
	json_put(o, "point", json_integer(p->point));
	json_put(o, "load_percent", result_real(p->load_percent));
	json_put(o, "iops", result_real(p->iops));
	return o;
}

static void
put_facts(json_t *o, const struct result_curve *c)
{
	struct curve_facts f = {0};

	curve_find(c->points, c->n, &f);
	json_put(o, "first", fact_json(c, f.first, f.no_first));
	json_put(o, "peak", fact_json(c, f.peak, f.no_peak));
	json_put(o, "peak_reason", json_string(f.no_peak != NULL ? f.no_peak : ""));
	json_put(o, "best", fact_json(c, f.best, f.no_best));
	json_put(o, "best_reason", json_string(f.no_best != NULL ? f.no_best : ""));
	json_put(o, "fall", fall_json(c, &f));
	json_put(o, "fall_reason", json_string(f.no_fall != NULL ? f.no_fall : ""));
	json_put(o, "knee", fact_json(c, f.knee, f.no_knee));
	json_put(o, "knee_reason", json_string(f.no_knee != NULL ? f.no_knee : ""));
}

static json_t *
curve_json(const struct result_curve *c, const struct lines *lines)
{
	json_t *o = json_object();
	json_t *operations = json_array();
	json_t *under = json_array();
	json_t *points = json_array();

	for (int d = 0; d < DIRECTIONS; d++)
		if ((c->operations & 1U << d) != 0)
			json_array_append_new(operations,
				json_string(direction_name((enum direction)d)));
	for (size_t i = 0; i < lines->n; i++)
		json_array_append_new(under, line_json(c, lines->items[i]));
	for (size_t i = 0; i < c->n; i++)
		json_array_append_new(points, point_json(&c->points[i]));
	json_put(o, "workload", json_string(c->workload));
	json_put(o, "operations", operations);
	put_facts(o, c);
	json_put(o, "lines", under);
	json_put(o, "points", points);
	return o;
}

static json_t *
run_json(const struct result *r, const char *workload, const struct lines *lines)
{
	json_t *o = json_object();
	json_t *workloads = json_array();

	for (size_t i = 0; i < r->n_curves; i++)
		if (workload == NULL || strcmp(r->curves[i].workload, workload) == 0)
			json_array_append_new(
				workloads, curve_json(&r->curves[i], lines));
	json_put(o, "run", api_id('r', r->run));
	json_put(o, "state", json_string(r->state));
	json_put(o, "suite", json_string(r->suite));
	json_put(o, "scaled", json_boolean(r->scaled));
	json_put(o, "drive", result_drive(r));
	json_put(o, "workloads", workloads);
	return o;
}

/* Reads one number of a list; *text is left at what follows it. */
static int
read_line(
	const char **text, enum line_latency latency, struct lines *ret_l, struct err *e)
{
	size_t n = strcspn(*text, ",");
	char number[24];
	uint64_t ns;

	if (n >= sizeof(number))
		return err_set(e, ERR_INVALID, "\"%.20s...\" has more than %zu digits",
			*text, sizeof(number) - 1);
	if ((*text)[n] == ',' && (*text)[n + 1] == '\0')
		return err_set(e, ERR_INVALID, "there is no number after the last comma");
	snprintf(number, sizeof(number), "%.*s", (int)n, *text);
	if (parse_uint(number, 1, INT64_MAX, &ns, e) != 0)
		return -1;
	if (ret_l->n == LINES_MAX)
		return err_set(e, ERR_LIMIT, "more than %d lines", LINES_MAX);
	ret_l->items[ret_l->n++] = (struct line){latency, (double)ns};
	*text += n + ((*text)[n] == ',');
	return 0;
}

/* Reads the lines that the query asks for; without any, the usual ones. */
static int
read_lines(struct api_call *c, struct lines *ret_l, struct err *e)
{
	static const struct line usual[] = LINE_DEFAULTS;
	char name[32];

	ret_l->n = 0;
	for (int l = 0; l < LINE_LATENCIES; l++) {
		const char *text;

		snprintf(name, sizeof(name), "lat_%s_ns",
			line_latency_name((enum line_latency)l));
		text = c->query(c, name);
		if (text == NULL)
			continue;
		do {
			if (read_line(&text, (enum line_latency)l, ret_l, e) != 0) {
				err_fix(e,
					"give nanoseconds, with commas where they "
					"are several: %s=200000,500000",
					name);
				return err_ctx(e, "query parameter %s", name);
			}
		} while (*text != '\0');
	}
	if (ret_l->n > 0)
		return 0;
	memcpy(ret_l->items, usual, sizeof(usual));
	ret_l->n = sizeof(usual) / sizeof(usual[0]);
	return 0;
}

static int
answer(struct api_call *c, const struct result *r, const struct lines *lines,
	struct err *e)
{
	const char *workload = c->query(c, "workload");
	struct str names = {0};

	if (workload != NULL && result_curve(r, workload) == NULL) {
		result_workloads(r, &names);
		result_no_workload(workload, &names, e);
		str_fini(&names);
		return -1;
	}
	c->doc = run_json(r, workload, lines);
	return 0;
}

int
api_curves_get(struct tx *t, struct api_call *c, struct err *e)
{
	static const char *const names[] = {
		"run", "workload", "lat_mean_ns", "lat_p99_ns", "lat_p99.9_ns", NULL};
	struct result_filter f = {.unfinished = true, .flags = true};
	const char *run = c->query(c, "run");
	struct lines lines;
	struct result_list l;
	int rc;

	if (api_only_query(c, names, e) != 0 || read_lines(c, &lines, e) != 0)
		return -1;
	if (run == NULL) {
		err_set(e, ERR_INVALID, "query parameter run is missing");
		return err_fix(e, "give the run whose curves you want, as run=r12");
	}
	if (api_parse_id(run, 'r', "", &f.run, e) != 0)
		return err_ctx(e, "query parameter run");
	if (result_load(t, &f, &l, e) != 0)
		return -1;
	rc = l.n == 1 ? answer(c, &l.items[0], &lines, e) : doc_missing('r', f.run, e);
	result_list_fini(&l);
	return rc;
}
