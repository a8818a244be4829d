#include "runner/fio_doc.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

#include "common/err.h"
#include "common/json.h"
#include "common/parse.h"

/* All above is in the last bin (fio's stat.h: 29 groups of 64 bins). */
#define BINS_END_NS (UINT64_C(1) << 34)

/* Far above what a test can count, and sums of all bins still hold. */
#define COUNT_MAX (INT64_C(1) << 48)

/* Finds the document: from a line that begins with "{" to the last that begins with "}".
 */
static bool
find(const char *text, size_t len, const char **ret_start, size_t *ret_len)
{
	const char *start = NULL;
	const char *end = NULL;

	for (size_t i = 0; i < len; i++) {
		if (i != 0 && text[i - 1] != '\n')
			continue;
		if (text[i] == '{' && start == NULL)
			start = text + i;
		if (text[i] == '}')
			end = text + i + 1;
	}
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

static int
read_latency(const json_t *dir, const char *at, struct hist *h, struct err *e)
{
	json_t *lat, *bins;
	int64_t n, min, max;
	double mean;
	char where[64];

	snprintf(where, sizeof(where), "%s/lat_ns", at);
	if (json_need_object(dir, at, "lat_ns", &lat, e) != 0 ||
		json_need_int(lat, where, "N", 0, COUNT_MAX, &n, e) != 0)
		return -1;
	if (n == 0)
		return 0;
	if (json_need_int(lat, where, "min", 0, INT64_MAX, &min, e) != 0 ||
		json_need_int(lat, where, "max", min, INT64_MAX, &max, e) != 0 ||
		json_need_real(lat, where, "mean", &mean, e) != 0 ||
		json_need_object(lat, where, "bins", &bins, e) != 0)
		return -1;
	if ((uint64_t)max >= BINS_END_NS)
		return err_set(e, ERR_STATE,
			"an I/O took %.1f s, and fio's bins end at 17 s: they cannot be "
			"read as a histogram",
			(double)max / 1e9);
	if (add_bins(bins, where, n, h, e) != 0)
		return -1;
	h->min_ns = (uint64_t)min;
	h->max_ns = (uint64_t)max;
	if (h->n != (uint64_t)n || !extremes_fit(h) || !(mean >= (double)min - 1) ||
		!(mean <= (double)max + 1)) {
		err_set(e, ERR_INVALID,
			"the bins of fio do not fit its count, extremes and mean");
		return err_at(e, "%s", where);
	}
	h->sum_ns = (uint64_t)llround(fmin(mean * (double)n, (double)HIST_SUM_MAX));
	return 0;
}

static int
read_direction(
	const json_t *job, const char *name, int d, struct load_result *r, struct err *e)
{
	json_t *dir;
	int64_t bytes, ms;
	char at[40];

	snprintf(at, sizeof(at), "/jobs/0/%s", name);
	if (json_need_object(job, "/jobs/0", name, &dir, e) != 0 ||
		json_need_int(dir, at, "io_bytes", 0, INT64_MAX, &bytes, e) != 0 ||
		json_need_int(dir, at, "runtime", 0, INT64_MAX / 1000000, &ms, e) != 0 ||
		read_latency(dir, at, &r->service[d], e) != 0)
		return -1;
	/* total_ios misses some I/Os after a ramp_time. */
	r->ops[d] = r->service[d].n;
	r->bytes[d] = (uint64_t)bytes;
	if (ms * 1000000 > r->length_ns)
		r->length_ns = ms * 1000000;
	return 0;
}

static int
read_job(const json_t *job, struct load_result *r, struct err *e)
{
	const char *at = "/jobs/0";
	int64_t error, ms;
	double user, system;

	if (json_need_int(job, at, "error", 0, 4095, &error, e) != 0 ||
		json_need_int(job, at, "job_runtime", 0, INT64_MAX / 1000000, &ms, e) !=
			0 ||
		json_need_real(job, at, "usr_cpu", &user, e) != 0 ||
		json_need_real(job, at, "sys_cpu", &system, e) != 0 ||
		read_direction(job, "read", DIR_READ, r, e) != 0 ||
		read_direction(job, "write", DIR_WRITE, r, e) != 0)
		return -1;
	r->first_error = (int)error;
	/* Percent of the run times of all jobs together. */
	r->cpu_user_ns = (int64_t)(user / 100 * (double)ms * 1e6);
	r->cpu_system_ns = (int64_t)(system / 100 * (double)ms * 1e6);
	return 0;
}

int
fio_doc_read(const char *text, size_t len, struct load_result *ret_r, struct err *e)
{
	const char *start, *version;
	json_t *doc = NULL;
	json_t *jobs;
	int failed = -1;

	ret_r->length_ns = 0;
	for (int d = 0; d < DATA_DIRECTIONS; d++)
		hist_reset(&ret_r->service[d]);
	if (!find(text, len, &start, &len))
		return err_set(e, ERR_INVALID, "the output of fio holds no document");
	if (json_parse(start, len, &doc, e) != 0)
		return err_ctx(e, "the output of fio");
	if (json_need_text(doc, "", "fio version", &version, e) != 0 ||
		json_need_array(doc, "", "jobs", &jobs, e) != 0)
		goto out;
	if (json_array_size(jobs) != 1) {
		err_set(e, ERR_INVALID, "fio reports %zu groups of jobs, not 1",
			json_array_size(jobs));
		err_at(e, "/jobs");
		goto out;
	}
	snprintf(ret_r->engine, sizeof(ret_r->engine), "%.40s", version);
	failed = read_job(json_array_get(jobs, 0), ret_r, e);
out:
	json_decref(doc);
	if (failed != 0)
		err_ctx(e, "the output of fio");
	return failed;
}
