#include "analysis/metrics.h"

#include <assert.h>
#include <math.h>
#include <stdbool.h>
#include <stdio.h>
#include <string.h>

#include "common/hist.h"
#include "common/json.h"

static double
percentile(const struct hist *h, double q)
{
	return hist_percentile_known(h, q) ? (double)hist_percentile(h, q) : (double)NAN;
}

void
metrics_latency(const struct hist *h, struct lat_metrics *ret_m)
{
	*ret_m = (struct lat_metrics){
		.n = h->n,
		.mean = h->n != 0 ? hist_mean(h) : (double)NAN,
		.p50 = percentile(h, 0.5),
		.p90 = percentile(h, 0.9),
		.p95 = percentile(h, 0.95),
		.p99 = percentile(h, 0.99),
		.p99_9 = percentile(h, 0.999),
		.p99_99 = percentile(h, 0.9999),
		.p99_999 = percentile(h, 0.99999),
		.max = h->n != 0 ? (double)h->max_ns : (double)NAN,
	};
}

static void
kind_compute(const struct hist h[DIRECTIONS], struct lat_metrics *ret_all,
	struct lat_metrics ret_dir[DIRECTIONS])
{
	struct hist all = h[DIR_READ];

	hist_merge(&all, &h[DIR_WRITE]);
	metrics_latency(&all, ret_all);
	for (int d = 0; d < DIRECTIONS; d++)
		metrics_latency(&h[d], &ret_dir[d]);
}

void
metrics_compute(const struct hist service[DIRECTIONS],
	const struct hist response[DIRECTIONS], const uint64_t ops[DIRECTIONS],
	const uint64_t bytes[DIRECTIONS], int64_t length_ns, struct point_metrics *ret_m)
{
	double seconds = (double)length_ns / 1e9;

	assert(length_ns > 0);
	memset(ret_m, 0, sizeof(*ret_m));
	for (int d = 0; d < DIRECTIONS; d++) {
		ret_m->op_iops[d] = (double)ops[d] / seconds;
		ret_m->op_bytes_per_second[d] = (double)bytes[d] / seconds;
		ret_m->all_iops += ret_m->op_iops[d];
	}
	ret_m->read_iops = ret_m->op_iops[DIR_READ];
	ret_m->write_iops = ret_m->op_iops[DIR_WRITE];
	ret_m->iops = ret_m->read_iops + ret_m->write_iops;
	ret_m->read_bytes_per_second = ret_m->op_bytes_per_second[DIR_READ];
	ret_m->write_bytes_per_second = ret_m->op_bytes_per_second[DIR_WRITE];
	ret_m->bytes_per_second = ret_m->read_bytes_per_second +
				  ret_m->write_bytes_per_second;
	kind_compute(service, &ret_m->service, ret_m->service_dir);
	kind_compute(response, &ret_m->response, ret_m->response_dir);
	ret_m->littles_n = ret_m->service.n != 0 ? ret_m->iops * ret_m->service.mean / 1e9
						 : 0;
	for (int d = DATA_DIRECTIONS; d < DIRECTIONS; d++)
		if (service[d].n != 0)
			ret_m->littles_n += ret_m->op_iops[d] *
					    ret_m->service_dir[d].mean / 1e9;
}

/* Whether the load did any of an operation that is neither read nor write. */
static bool
occurred(const struct point_metrics *m, int d)
{
	return m->op_iops[d] > 0 || m->service_dir[d].n != 0;
}

static json_t *
lat_to_json(const struct lat_metrics *m)
{
	json_t *o = json_object();

	json_put(o, "n", json_u64(m->n));
	json_put(o, "lat_mean_ns", json_finite(m->mean));
	json_put(o, "lat_p50_ns", json_finite(m->p50));
	json_put(o, "lat_p90_ns", json_finite(m->p90));
	json_put(o, "lat_p95_ns", json_finite(m->p95));
	json_put(o, "lat_p99_ns", json_finite(m->p99));
	json_put(o, "lat_p99.9_ns", json_finite(m->p99_9));
	json_put(o, "lat_p99.99_ns", json_finite(m->p99_99));
	json_put(o, "lat_p99.999_ns", json_finite(m->p99_999));
	json_put(o, "lat_max_ns", json_finite(m->max));
	return o;
}

static json_t *
kind_to_json(const struct point_metrics *m, const struct lat_metrics *all,
	const struct lat_metrics dir[DIRECTIONS])
{
	json_t *o = lat_to_json(all);

	for (int d = 0; d < DIRECTIONS; d++)
		if (d < DATA_DIRECTIONS || occurred(m, d))
			json_put(o, direction_name((enum direction)d),
				lat_to_json(&dir[d]));
	return o;
}

/* The rates of the operations that are neither reads nor writes. */
static void
put_others(json_t *o, const struct point_metrics *m)
{
	char name[40];
	bool any = false;

	for (int d = DATA_DIRECTIONS; d < DIRECTIONS; d++) {
		if (!occurred(m, d))
			continue;
		any = true;
		snprintf(
			name, sizeof(name), "%s_iops", direction_name((enum direction)d));
		json_put(o, name, json_finite(m->op_iops[d]));
		if (d == DIR_FLUSH)
			continue;
		snprintf(name, sizeof(name), "%s_bytes_per_second",
			direction_name((enum direction)d));
		json_put(o, name, json_finite(m->op_bytes_per_second[d]));
	}
	if (any)
		json_put(o, "all_iops", json_finite(m->all_iops));
}

json_t *
metrics_to_json(const struct point_metrics *m)
{
	json_t *o = json_object();

	json_put(o, "iops", json_finite(m->iops));
	json_put(o, "read_iops", json_finite(m->read_iops));
	json_put(o, "write_iops", json_finite(m->write_iops));
	json_put(o, "bytes_per_second", json_finite(m->bytes_per_second));
	json_put(o, "read_bytes_per_second", json_finite(m->read_bytes_per_second));
	json_put(o, "write_bytes_per_second", json_finite(m->write_bytes_per_second));
	json_put(o, "littles_n", json_finite(m->littles_n));
	put_others(o, m);
	json_put(o, "service", kind_to_json(m, &m->service, m->service_dir));
	json_put(o, "response", kind_to_json(m, &m->response, m->response_dir));
	return o;
}
