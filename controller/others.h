/*
 * others - curves of workloads that neither read nor write: trims, write-zeroes, flushes.
 *
 * Rates and latencies of a point are those of its reads and writes. Of a workload that
 * has none in any point, the curve is that of its own operations, all together; else it
 * would be a curve of zeroes. Inside read jobs.
 */
#ifndef CONTROLLER_OTHERS_H
#define CONTROLLER_OTHERS_H

#include <stdint.h>

struct err;
struct result_curve;
struct tx;

/*
 * others_count leaves a curve of the attempt alone when one of its points read or wrote.
 * Of any other it sets which operations it counts, and the rates and latencies of its
 * points. ERR_STORE.
 */
int others_count(
	struct tx *t, int64_t attempt, struct result_curve *curve, struct err *e);

#endif
