#include "cli/foreign.h"

#include <math.h>

#include "common/hist.h"
#include "common/json.h"

json_t *
foreign_begin(
	const char *tool, const char *version, const char *source, const char *subject)
{
	return json_pack("{s:s, s:s, s:o, s:o, s:o, s:[]}", "ssdlab", "foreign/v1",
		"tool", tool, "tool_version", json_text(version), "source",
		json_text(source), "subject", json_text(subject), "points");
}

json_t *
foreign_point(json_t *doc, const char *workload, const char *point, const char *quality)
{
	json_t *p = json_pack("{s:o, s:o, s:o}", "workload", json_text(workload), "point",
		json_text(point), "quality", json_text(quality));

	json_array_append_new(json_object_get(doc, "points"), p);
	return p;
}

void
foreign_real(json_t *point, const char *name, double x)
{
	if (isfinite(x))
		json_put(point, name, json_real(x));
}

void
foreign_histogram(json_t *point, const char *direction, const struct hist *h)
{
	json_t *all = json_object_get(point, "histograms");
	json_t *buckets;

	if (h->n == 0)
		return;
	if (all == NULL) {
		all = json_object();
		json_put(point, "histograms", all);
	}
	buckets = json_array();
	for (unsigned i = 0; i < HIST_BUCKETS; i++) {
		if (h->count[i] == 0)
			continue;
		json_array_append_new(buckets, json_integer(i));
		json_array_append_new(buckets, json_integer((json_int_t)h->count[i]));
	}
	json_put(all, direction,
		json_pack("{s:o, s:o, s:o, s:o}", "min_ns", json_u64(h->min_ns), "max_ns",
			json_u64(h->max_ns), "sum_ns", json_u64(h->sum_ns), "buckets",
			buckets));
}
