#include "controller/others.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "analysis/metrics.h"
#include "common/err.h"
#include "common/hist.h"
#include "common/json.h"
#include "common/record.h"
#include "common/xalloc.h"
#include "controller/doc.h"
#include "controller/result.h"
#include "controller/store.h"

/* Room for decoding the histograms of a point. */
struct room {
	struct hist one, all;
};

/* The latency of all operations in a column: histograms one behind the other. */
static int
latency_at(struct cur *c, int col, struct room *room, struct curve_latency *ret_l,
	struct err *e)
{
	struct lat_metrics m;
	size_t used, len;
	const uint8_t *bytes = cur_bytes(c, col, &len);

	hist_reset(&room->all);
	for (; len > 0; bytes += used, len -= used) {
		if (hist_decode(&room->one, bytes, len, &used, e) != 0)
			return -1;
		hist_merge(&room->all, &room->one);
	}
	metrics_latency(&room->all, &m);
	*ret_l = (struct curve_latency){m.mean, m.p50, m.p99, m.p99_9};
	return 0;
}

static double
rate(const json_t *metrics, enum direction d, const char *what)
{
	char name[48];
	const json_t *v;

	snprintf(name, sizeof(name), "%s_%s", direction_name(d), what);
	v = json_object_get(metrics, name);
	return json_is_number(v) ? json_number_value(v) : 0;
}

/* Returns which operations the point has. */
static unsigned
rates_at(struct cur *c, struct curve_point *p)
{
	json_t *metrics = doc_stored(cur_text(c, 0));
	unsigned operations = 0;
	double iops = 0;
	double bytes = 0;

	for (int d = DATA_DIRECTIONS; d < DIRECTIONS; d++) {
		double x = rate(metrics, (enum direction)d, "iops");

		iops += x;
		bytes += rate(metrics, (enum direction)d, "bytes_per_second");
		if (x > 0)
			operations |= 1U << d;
	}
	json_decref(metrics);
	if (operations != 0) {
		p->iops = iops;
		p->bytes_per_second = bytes;
	}
	return operations;
}

static int
count_point(struct tx *t, int64_t attempt, struct curve_point *p, struct room *room,
	unsigned *operations, struct err *e)
{
	struct cur *c;
	int rc;

	if (tx_query(t, &c, e,
		    "SELECT coalesce(metrics, '{}'), other_service, other_response"
		    " FROM point WHERE attempt_id = ? AND point = ?",
		    "ii", attempt, (int64_t)p->point) != 0)
		return -1;
	rc = cur_next(c, e);
	if (rc == 1) {
		*operations |= rates_at(c, p);
		rc = latency_at(c, 1, room, &p->service, e);
		if (rc == 0)
			rc = latency_at(c, 2, room, &p->response, e);
	}
	cur_close(c);
	return rc < 0 ? -1 : 0;
}

int
others_count(struct tx *t, int64_t attempt, struct result_curve *curve, struct err *e)
{
	struct room *room;
	unsigned operations = 0;
	int rc = 0;

	for (size_t i = 0; i < curve->n; i++)
		if (curve->points[i].iops > 0)
			return 0;
	room = xcalloc(1, sizeof(*room));
	for (size_t i = 0; rc == 0 && i < curve->n; i++)
		rc = count_point(t, attempt, &curve->points[i], room, &operations, e);
	free(room);
	if (operations != 0)
		curve->operations = operations;
	return rc;
}
