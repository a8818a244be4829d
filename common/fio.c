#include "common/fio.h"

#include <math.h>
#include <string.h>

#include "common/err.h"
#include "common/hist.h"
#include "common/json.h"
#include "common/parse.h"

/* All above is in the last bin (fio's stat.h: 29 groups of 64 bins). */
#define BINS_END_NS (UINT64_C(1) << 34)

/* Far above what a test can count, and sums of all bins still hold. */
#define COUNT_MAX (INT64_C(1) << 48)

bool
fio_find(const char *text, size_t len, const char **ret_start, size_t *ret_len)
{
	const char *start = NULL;
	const char *end = NULL;
	const char *last = memrchr(text, '}', len);

	for (size_t i = 0; i < len; i++) {
		if (i != 0 && text[i - 1] != '\n')
			continue;
		if (text[i] == '{' && start == NULL)
			start = text + i;
		if (text[i] == '}')
			end = text + i + 1;
	}
	/* a document on one line */
	if (end == NULL && last != NULL)
		end = last + 1;
	if (start == NULL || end == NULL || end < start)
		return false;
	*ret_start = start;
	*ret_len = (size_t)(end - start);
	return true;
}

static int
add_bins(json_t *bins, const char *at, int64_t n, struct hist *h, struct err *e)
{
	const char *name;
	json_t *value;

	json_object_foreach (bins, name, value) {
		uint64_t ns;
		int64_t count;

		if (parse_uint(name, 0, BINS_END_NS - 1, &ns, e) != 0)
			return err_at(e, "%s/%s", at, name);
		if (json_need_int(bins, at, name, 0, n - (int64_t)h->n, &count, e) != 0)
			return -1;
		h->count[hist_index(ns)] += (uint64_t)count;
		h->n += (uint64_t)count;
	}
	return 0;
}

/* The extremes must lie in the first and the last bucket with something in it. */
static bool
extremes_fit(const struct hist *h)
{
	unsigned first = 0;
	unsigned last = HIST_BUCKETS - 1;

	while (first < last && h->count[first] == 0)
		first++;
	while (last > first && h->count[last] == 0)
		last--;
	return hist_index(h->min_ns) == first && hist_index(h->max_ns) == last;
}

int
fio_latency(const json_t *lat, const char *at, struct hist *h, struct err *e)
{
	json_t *bins;
	int64_t n, min, max;
	double mean;

	if (json_need_int(lat, at, "N", 0, COUNT_MAX, &n, e) != 0)
		return -1;
	if (n == 0)
		return 0;
	if (json_need_int(lat, at, "min", 0, INT64_MAX, &min, e) != 0 ||
		json_need_int(lat, at, "max", min, INT64_MAX, &max, e) != 0 ||
		json_need_real(lat, at, "mean", &mean, e) != 0 ||
		json_need_object(lat, at, "bins", &bins, e) != 0)
		return -1;
	if ((uint64_t)max >= BINS_END_NS)
		return err_set(e, ERR_STATE,
			"an I/O took %.1f s, and fio's bins end at 17 s: they cannot be "
			"read as a histogram",
			(double)max / 1e9);
	if (add_bins(bins, at, n, h, e) != 0)
		return -1;
	h->min_ns = (uint64_t)min;
	h->max_ns = (uint64_t)max;
	if (h->n != (uint64_t)n || !extremes_fit(h) || !(mean >= (double)min - 1) ||
		!(mean <= (double)max + 1)) {
		err_set(e, ERR_INVALID,
			"the bins of fio do not fit its count, extremes and mean");
		return err_at(e, "%s", at);
	}
	h->sum_ns = (uint64_t)llround(fmin(mean * (double)n, (double)HIST_SUM_MAX));
	return 0;
}
