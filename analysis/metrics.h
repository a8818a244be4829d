/*
 * metrics - the figures of one point from its counters and merged histograms. Pure.
 */
#ifndef ANALYSIS_METRICS_H
#define ANALYSIS_METRICS_H

#include <jansson.h>
#include <stdint.h>

#include "common/record.h"

/* Latency figures in ns; a percentile that too few samples support is NAN, so is all of n
 * = 0. */
struct lat_metrics {
	uint64_t n;
	double mean, p50, p90, p95, p99, p99_9, p99_99, p99_999, max;
};

struct point_metrics {
	double iops, read_iops, write_iops;
	double bytes_per_second, read_bytes_per_second, write_bytes_per_second;
	/* Per operation; what offered loads are compared with is the sum, all_iops. */
	double op_iops[DIRECTIONS], op_bytes_per_second[DIRECTIONS], all_iops;
	struct lat_metrics service,
		service_dir[DIRECTIONS]; /* reads and writes merged, then per operation */
	struct lat_metrics response, response_dir[DIRECTIONS]; /* n = 0 in closed loops */
	double littles_n; /* IOPS x mean service latency over all operations: I/Os in
			     flight by Little's law */
};

/* metrics_latency fills ret_m from one histogram. */
void metrics_latency(const struct hist *h, struct lat_metrics *ret_m);

/*
 * metrics_compute fills ret_m; length_ns is the measured time, more than 0. iops,
 * bytes_per_second and the merged latencies are those of reads and writes, whatever else
 * the load did.
 */
void metrics_compute(const struct hist service[DIRECTIONS],
	const struct hist response[DIRECTIONS], const uint64_t ops[DIRECTIONS],
	const uint64_t bytes[DIRECTIONS], int64_t length_ns, struct point_metrics *ret_m);

/*
 * metrics_to_json writes iops, bytes_per_second, read/write split, and for "service" and
 * "response" an object {n, lat_mean_ns, lat_p50_ns, lat_p90_ns, lat_p95_ns, lat_p99_ns,
 * lat_p99.9_ns, lat_p99.99_ns, lat_p99.999_ns, lat_max_ns, read: {...}, write: {...}};
 * figures that are not known are null. Trims, write-zeroes and flushes have the same
 * members under their names (direction_name) when they occurred; then there is all_iops,
 * too. New reference.
 */
json_t *metrics_to_json(const struct point_metrics *m);

#endif
