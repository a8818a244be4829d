/* fio's JSON and JSON+ as foreign results. */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "cli/convert.h"
#include "cli/foreign.h"
#include "common/err.h"
#include "common/fio.h"
#include "common/hist.h"
#include "common/json.h"
#include "common/record.h"
#include "common/xalloc.h"

#define JOBS_MAX 4096

/* Jobs of one name in one group, which ran together. */
struct group {
	const char *name; /* borrowed from the document */
	int64_t group;
	size_t jobs;
	double iops[DATA_DIRECTIONS], bytes_per_second[DATA_DIRECTIONS];
	double lat_n, lat_sum_ns; /* count and sum of lat */
	double lat_max_ns;
	double in_flight;     /* NAN: not known */
	bool paced;	      /* a rate was asked for */
	int64_t error;	      /* of a job that failed, as fio tells it; 0: none */
	bool binned;	      /* all of it has bins */
	struct hist *service; /* DATA_DIRECTIONS of them; owned */
	const json_t *only;   /* the job, when it is one; borrowed */
};

struct reading {
	struct group *list; /* owned */
	size_t n;
	const json_t *global; /* options of all jobs, or NULL */
};

static struct group *
group_of(struct reading *r, const char *name, int64_t number)
{
	struct group *g;

	for (size_t i = 0; i < r->n; i++)
		if (r->list[i].group == number && strcmp(r->list[i].name, name) == 0)
			return &r->list[i];
	if ((r->n & (r->n - 1)) == 0)
		r->list = xrealloc(r->list, r->n == 0 ? 1 : r->n * 2, sizeof(*r->list));
	g = &r->list[r->n++];
	*g = (struct group){.name = name, .group = number, .binned = true};
	g->service = xcalloc(DATA_DIRECTIONS, sizeof(*g->service));
	return g;
}

/* An option of a job, or of all; "" when it is not told. */
static const char *
option(const struct reading *r, const json_t *job, const char *name)
{
	const char *text = json_text_of(json_object_get(job, "job options"), name);

	return text[0] != '\0' ? text : json_text_of(r->global, name);
}

/* Whether an option is told, with a value or without. */
static bool
has_option(const struct reading *r, const json_t *job, const char *name)
{
	return json_has(json_object_get(job, "job options"), name) ||
	       json_has(r->global, name);
}

/* I/Os in flight of a job's threads; 1 for the engines that do one at a time. */
static double
in_flight_of(const struct reading *r, const json_t *job)
{
	const char *engine = option(r, job, "ioengine");
	const char *depth = option(r, job, "iodepth");
	double x = strtod(depth[0] != '\0' ? depth : "1", NULL);

	/* fio's default on Linux is psync */
	if (engine[0] == '\0' || strstr(engine, "sync") != NULL)
		x = 1;
	return x >= 1 && x <= 1e6 ? x : (double)NAN;
}

/* lat: counts, mean and extremes always, bins when there are some. */
static int
read_latency(struct group *g, const json_t *dir, const char *at, int d, struct err *e)
{
	struct hist *h = xcalloc(1, sizeof(*h));
	char where[80];
	double n, mean, max;
	json_t *lat;
	int rc = -1;

	snprintf(where, sizeof(where), "%s/lat_ns", at);
	if (json_need_object(dir, at, "lat_ns", &lat, e) != 0 ||
		json_need_real(lat, where, "N", &n, e) != 0 ||
		json_need_real(lat, where, "mean", &mean, e) != 0 ||
		json_need_real(lat, where, "max", &max, e) != 0)
		goto out;
	g->lat_n += n;
	g->lat_sum_ns += n * mean;
	if (max > g->lat_max_ns)
		g->lat_max_ns = max;
	rc = 0;
	if (n <= 0)
		goto out;
	if (!json_has(lat, "bins") || max >= 17e9) {
		g->binned = false;
		goto out;
	}
	rc = fio_latency(lat, where, h, e);
	if (rc == 0)
		hist_merge(&g->service[d], h);
out:
	free(h);
	return rc;
}

static int
read_direction(struct group *g, const json_t *job, const char *at, int d, struct err *e)
{
	const char *name = direction_name((enum direction)d);
	char below[60];
	double iops, bytes;
	json_t *dir;

	snprintf(below, sizeof(below), "%s/%s", at, name);
	if (json_need_object(job, at, name, &dir, e) != 0 ||
		json_need_real(dir, below, "iops", &iops, e) != 0 ||
		json_need_real(dir, below, "bw_bytes", &bytes, e) != 0 ||
		read_latency(g, dir, below, d, e) != 0)
		return -1;
	if (!(iops >= 0 && iops <= 1e12) || !(bytes >= 0 && bytes <= 1e15)) {
		err_set(e, ERR_INVALID, "a rate is out of range");
		return err_at(e, "%s", below);
	}
	g->iops[d] += iops;
	g->bytes_per_second[d] += bytes;
	return 0;
}

static int
read_job(struct reading *r, const json_t *job, size_t i, struct err *e)
{
	const char *name;
	int64_t number = 0;
	struct group *g;
	char at[40];

	snprintf(at, sizeof(at), "/jobs/%zu", i);
	if (json_need_text(job, at, "jobname", &name, e) != 0 ||
		(json_has(job, "groupid") &&
			json_need_int(job, at, "groupid", 0, INT64_MAX, &number, e) != 0))
		return -1;
	g = group_of(r, name, number);
	if (json_integer_value(json_object_get(job, "error")) != 0)
		g->error = json_integer_value(json_object_get(job, "error"));
	for (int d = 0; d < DATA_DIRECTIONS; d++)
		if (read_direction(g, job, at, d, e) != 0)
			return -1;
	g->only = g->jobs++ == 0 ? job : NULL;
	g->in_flight = g->jobs == 1 ? in_flight_of(r, job)
				    : g->in_flight + in_flight_of(r, job);
	g->paced = g->paced || has_option(r, job, "rate_iops") ||
		   has_option(r, job, "rate") || has_option(r, job, "thinktime");
	return 0;
}

/* A percentile of clat of the busier direction, as fio names it: "99.000000". */
static double
percentile(const struct group *g, const char *name)
{
	int d = g->iops[DIR_WRITE] > g->iops[DIR_READ] ? DIR_WRITE : DIR_READ;
	const json_t *dir = json_object_get(g->only, direction_name((enum direction)d));
	const json_t *list = json_object_get(
		json_object_get(dir, "clat_ns"), "percentile");
	const json_t *x = json_object_get(list, name);

	return json_is_number(x) ? json_number_value(x) : (double)NAN;
}

static void
add_latency(json_t *p, const struct group *g)
{
	bool mixed = g->iops[DIR_READ] > 0 && g->iops[DIR_WRITE] > 0;

	if (g->lat_n > 0 && g->binned) {
		foreign_histogram(p, "read", &g->service[DIR_READ]);
		foreign_histogram(p, "write", &g->service[DIR_WRITE]);
		return;
	}
	foreign_real(
		p, "lat_mean_ns", g->lat_n > 0 ? g->lat_sum_ns / g->lat_n : (double)NAN);
	foreign_real(p, "lat_max_ns", g->lat_n > 0 ? g->lat_max_ns : (double)NAN);
	if (g->only == NULL || mixed)
		return;
	foreign_real(p, "lat_p50_ns", percentile(g, "50.000000"));
	foreign_real(p, "lat_p99_ns", percentile(g, "99.000000"));
	foreign_real(p, "lat_p99.9_ns", percentile(g, "99.900000"));
	if (!json_has(p, "lat_p99_ns"))
		return;
	json_put(p, "clat", json_true());
	json_put(p, "note", json_string(FOREIGN_NO_BINS));
}

static void
add_group(const struct reading *r, const struct group *g, json_t *doc)
{
	double iops = g->iops[DIR_READ] + g->iops[DIR_WRITE];
	double jobs = 1;
	char id[WORKLOAD_ID_MAX];
	json_t *p;

	convert_id(id, g->name);
	p = foreign_point(doc, id, g->paced ? "rate" : "maximum",
		g->error != 0 ? "suspect" : "measured");
	/* with group_reporting one entry stands for all numjobs */
	if (g->only != NULL && has_option(r, g->only, "numjobs") &&
		has_option(r, g->only, "group_reporting"))
		jobs = strtod(option(r, g->only, "numjobs"), NULL);
	foreign_real(p, "iops", iops);
	foreign_real(p, "bytes_per_second",
		g->bytes_per_second[DIR_READ] + g->bytes_per_second[DIR_WRITE]);
	foreign_real(p, "read_percent",
		iops > 0 ? g->iops[DIR_READ] * 100 / iops : (double)NAN);
	if (jobs >= 1 && jobs <= 1e6)
		foreign_real(p, "in_flight", g->in_flight * jobs);
	json_put(p, "saturated", json_boolean(!g->paced));
	add_latency(p, g);
	if (g->error != 0)
		json_put(p, "note",
			json_sprintf("fio tells error %" JSON_INTEGER_FORMAT
				     ": the job did not run to its end",
				(json_int_t)g->error));
}

static int
read_jobs(struct reading *r, const json_t *doc, struct err *e)
{
	json_t *jobs;

	r->global = json_object_get(doc, "global options");
	if (json_need_array(doc, "", "jobs", &jobs, e) != 0)
		return -1;
	if (json_array_size(jobs) < 1 || json_array_size(jobs) > JOBS_MAX) {
		err_set(e, ERR_INVALID, "a result of fio has 1 to %d jobs", JOBS_MAX);
		return err_at(e, "/jobs");
	}
	for (size_t i = 0; i < json_array_size(jobs); i++)
		if (read_job(r, json_array_get(jobs, i), i, e) != 0)
			return -1;
	return 0;
}

int
foreign_fio(const char *text, size_t len, const struct foreign_origin *o,
	json_t **ret_doc, struct err *e)
{
	struct reading r = {0};
	const char *start, *version;
	json_t *doc = NULL;
	int rc = -1;

	*ret_doc = NULL;
	if (!fio_find(text, len, &start, &len))
		return err_set(e, ERR_INVALID, "there is no JSON document of fio in it");
	if (json_parse_max(start, len, FOREIGN_MAX_BYTES, &doc, e) != 0 ||
		json_need_text(doc, "", "fio version", &version, e) != 0)
		goto out;
	rc = read_jobs(&r, doc, e);
	if (rc == 0) {
		*ret_doc = foreign_begin("fio", version, o->source,
			o->subject[0] != '\0' ? o->subject : o->source);
		for (size_t i = 0; i < r.n; i++)
			add_group(&r, &r.list[i], *ret_doc);
	}
out:
	for (size_t i = 0; i < r.n; i++)
		free(r.list[i].service);
	free(r.list);
	json_decref(doc);
	return rc;
}
