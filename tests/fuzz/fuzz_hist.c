/*
 * What hist_decode accepts is what hist_encode writes, with counters, extremes and
 * percentiles that belong together.
 */
#include <string.h>

#include "common/hist.h"
#include "tests/fuzz/fuzz.h"

static struct hist h, twice;
static uint8_t again[HIST_ENCODED_MAX];

int
LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	uint64_t n = 0, before = 0;
	size_t used = 0;

	if (hist_decode(&h, data, size, &used, NULL) != 0) {
		MUST(h.n == 0 && h.max_ns == 0);
		return 0;
	}
	MUST(used <= size && hist_encode(&h, again, sizeof(again)) == used);
	MUST(memcmp(again, data, used) == 0);
	for (unsigned i = 0; i < HIST_BUCKETS; i++)
		n += h.count[i];
	MUST(h.n == n && h.min_ns <= h.max_ns);
	for (int i = 0; i <= 100; i++) {
		uint64_t ns = hist_percentile(&h, i / 100.0);

		MUST(ns >= before && ns >= h.min_ns && ns <= h.max_ns);
		before = ns;
	}
	twice = h;
	hist_merge(&twice, &h);
	MUST(twice.n == 2 * h.n && twice.min_ns == h.min_ns && twice.max_ns == h.max_ns);
	MUST(hist_percentile(&twice, 0.5) == hist_percentile(&h, 0.5));
	return 0;
}
