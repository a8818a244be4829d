#include "runner/fio_doc.h"

#include <stdio.h>
#include <string.h>

#include "common/err.h"
#include "common/fio.h"
#include "common/json.h"

static int
read_latency(const json_t *dir, const char *at, struct hist *h, struct err *e)
{
	json_t *lat;
	char where[64];

	snprintf(where, sizeof(where), "%s/lat_ns", at);
	if (json_need_object(dir, at, "lat_ns", &lat, e) != 0)
		return -1;
	return fio_latency(lat, where, h, e);
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
	if (!fio_find(text, len, &start, &len))
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
