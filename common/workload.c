#include "common/workload.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

#include "common/err.h"
#include "common/json.h"
#include "common/parse.h"
#include "common/share.h"

#define AT_MAX 160

static int
bad(struct err *e, const char *at, const char *name, const char *text)
{
	err_set(e, ERR_INVALID, "%s", text);
	return err_at(e, "%s/%s", at, name);
}

void
workload_plain(struct workload *w, double read_percent, double random_percent,
	uint32_t block_bytes)
{
	w->n_streams = 1;
	flow_plain(&w->streams[0], read_percent, random_percent, block_bytes);
}

bool
workload_is_plain(const struct workload *w)
{
	return w->n_streams == 1 && flow_is_plain(&w->streams[0]);
}

double
workload_read_percent(const struct workload *w)
{
	double sum = 0;

	if (w->n_streams == 1)
		return w->streams[0].read_percent;
	for (size_t i = 0; i < w->n_streams; i++)
		sum += w->streams[i].share_percent * w->streams[i].read_percent / 100;
	return sum;
}

double
workload_random_percent(const struct workload *w)
{
	double sum = 0;

	if (w->n_streams == 1)
		return w->streams[0].random_percent;
	for (size_t i = 0; i < w->n_streams; i++)
		sum += w->streams[i].share_percent * w->streams[i].random_percent / 100;
	return sum;
}

bool
workload_writes(const struct workload *w)
{
	for (size_t i = 0; i < w->n_streams; i++)
		if (flow_changes(&w->streams[i]))
			return true;
	return false;
}

unsigned
workload_operations(const struct workload *w)
{
	unsigned operations = 0;

	for (size_t i = 0; i < w->n_streams; i++)
		if (w->streams[i].read_percent < 100)
			operations |= 1U << w->streams[i].operation;
	return operations;
}

/* The mean bytes that an I/O reads, or writes and zeroes. */
static void
mean_bytes(const struct workload *w, double *ret_read, double *ret_written)
{
	*ret_read = *ret_written = 0;
	for (size_t i = 0; i < w->n_streams; i++) {
		const struct flow *s = &w->streams[i];
		double share = w->n_streams == 1 ? 1 : s->share_percent / 100;

		*ret_read += share * s->read_percent / 100 * flow_mean_bytes(s, DIR_READ);
		if (s->operation != OP_TRIM)
			*ret_written += share * (100 - s->read_percent) / 100 *
					flow_mean_bytes(s, DIR_WRITE);
	}
}

double
workload_written_part(const struct workload *w)
{
	double read, written;

	mean_bytes(w, &read, &written);
	return written > 0 ? written / (read + written) : 0;
}

double
workload_written_bytes(const struct workload *w)
{
	double read, written;

	mean_bytes(w, &read, &written);
	return written;
}

uint32_t
workload_unit(const struct workload *w)
{
	uint32_t unit = 0;

	for (size_t i = 0; i < w->n_streams; i++) {
		const struct flow *s = &w->streams[i];

		unit = (uint32_t)share_divisor(unit, s->align_bytes);
		for (int d = 0; d < DATA_DIRECTIONS; d++)
			for (size_t k = 0; k < s->blocks[d].n; k++)
				unit = (uint32_t)share_divisor(
					unit, s->blocks[d].list[k].bytes);
	}
	return unit;
}

uint32_t
workload_block_max(const struct workload *w)
{
	uint32_t most = 512;

	for (size_t i = 0; i < w->n_streams; i++)
		if (flow_block_max(&w->streams[i]) > most)
			most = flow_block_max(&w->streams[i]);
	return most;
}

static int
check_shares(const struct workload *w, struct err *e)
{
	double sum = 0;

	for (size_t i = 0; i < w->n_streams; i++)
		sum += w->streams[i].share_percent;
	if (share_is_whole(sum))
		return 0;
	err_set(e, ERR_INVALID, "the shares of the streams sum to %g%%", sum);
	return err_fix(e, "make them 100%% in all");
}

/* fallocate of Linux holds the lock of the device's, or file's, inode until the zeros are
 * there (blkdev_fallocate in block/fops.c), so a second one only waits for the first. */
static int
check_zeroes(const struct workload *w, struct err *e)
{
	if (w->in_flight <= 1 || workload_operations(w) != 1U << OP_WRITE_ZEROES ||
		workload_read_percent(w) > 0)
		return 0;
	err_set(e, ERR_INVALID,
		"the kernel does the write-zeroes of a drive one after the other, so %u "
		"in flight would only wait for each other",
		w->in_flight);
	return err_fix(e, "keep 1 in flight where all I/Os are write-zeroes");
}

int
workload_check_buffers(uint32_t block_bytes, uint32_t in_flight, struct err *e)
{
	char block[40], most[40];

	if ((uint64_t)block_bytes * in_flight <= WORKLOAD_BUFFERS_MAX)
		return 0;
	err_set(e, ERR_INVALID, "%u I/Os of %s in flight need more than %s of memory",
		in_flight, format_size(block_bytes, block, sizeof(block)),
		format_size(WORKLOAD_BUFFERS_MAX, most, sizeof(most)));
	return err_fix(e, "keep at most %llu of these in flight",
		(unsigned long long)(WORKLOAD_BUFFERS_MAX / block_bytes));
}

/* What the streams and their number in flight must be together. */
static int
check_in_flight(const struct workload *w, struct err *e)
{
	return check_zeroes(w, e) != 0
		       ? -1
		       : workload_check_buffers(workload_block_max(w), w->in_flight, e);
}

int
workload_check(const struct workload *w, struct err *e)
{
	if (w->n_streams == 0 || w->n_streams > WORKLOAD_STREAMS_MAX)
		return err_set(e, ERR_INVALID, "a workload has 1 to %d streams",
			WORKLOAD_STREAMS_MAX);
	for (size_t i = 0; i < w->n_streams; i++)
		if (flow_check(&w->streams[i], e) != 0)
			return -1;
	return check_shares(w, e) != 0 ? -1 : check_in_flight(w, e);
}

int
workload_fits(const struct workload *w, uint64_t length, uint32_t logical_block_bytes,
	struct err *e)
{
	unsigned workers = workload_workers(w);

	for (size_t i = 0; i < w->n_streams; i++) {
		if (flow_fits(&w->streams[i], length, logical_block_bytes, workers, e) ==
			0)
			continue;
		return w->n_streams == 1 ? -1 : err_ctx(e, "stream %zu", i);
	}
	return 0;
}

static bool
id_is_valid(const char *id)
{
	size_t n = strspn(id, "abcdefghijklmnopqrstuvwxyz0123456789-");

	return id[0] != '-' && n > 0 && n < WORKLOAD_ID_MAX && id[n] == '\0';
}

int
workload_need_id(const json_t *o, const char *at, const char *name,
	char ret_id[WORKLOAD_ID_MAX], struct err *e)
{
	const char *id;

	if (json_need_text(o, at, name, &id, e) != 0)
		return -1;
	if (!id_is_valid(id))
		return bad(e, at, name,
			"an id has 1 to 63 of the characters a-z, 0-9 and -, "
			"and does not start with -");
	snprintf(ret_id, WORKLOAD_ID_MAX, "%s", id);
	return 0;
}

static int
read_id(const json_t *o, const char *at, struct workload *w, struct err *e)
{
	return workload_need_id(o, at, "id", w->id, e);
}

static int
read_counts(const json_t *o, const char *at, struct workload *w, struct err *e)
{
	int64_t in_flight;
	int64_t workers = 1;

	if (json_need_int(o, at, "in_flight", 1, WORKLOAD_IN_FLIGHT_MAX, &in_flight, e) !=
		0)
		return -1;
	if (json_has(o, "workers") &&
		json_need_int(o, at, "workers", 1, in_flight, &workers, e) != 0)
		return err_fix(e, "each worker needs at least one I/O in flight");
	w->in_flight = (uint32_t)in_flight;
	w->workers = (uint32_t)workers;
	return check_in_flight(w, e) == 0 ? 0 : err_at(e, "%s/in_flight", at);
}

/* The list of streams; `at` is its workload. */
static int
need_streams(
	const json_t *o, const char *at, json_t **ret_list, size_t *ret_n, struct err *e)
{
	if (json_need_array(o, at, "streams", ret_list, e) != 0)
		return -1;
	*ret_n = json_array_size(*ret_list);
	if (*ret_n == 0 || *ret_n > WORKLOAD_STREAMS_MAX)
		return bad(e, at, "streams", "a workload has 1 to 8 streams");
	return 0;
}

static int
parse_streams(const json_t *o, const char *at, struct workload *w, struct err *e)
{
	static const char *const names[] = {"share", FLOW_MEMBERS, NULL};
	json_t *list;

	if (need_streams(o, at, &list, &w->n_streams, e) != 0)
		return -1;
	for (size_t i = 0; i < w->n_streams; i++) {
		const json_t *item = json_array_get(list, i);
		char below[AT_MAX];
		double share;

		snprintf(below, sizeof(below), "%s/streams/%zu", at, i);
		if (json_only(item, below, names, e) != 0 ||
			share_need(item, below, "share", "a share of I/Os", &share, e) !=
				0)
			return -1;
		if (share <= 0)
			return bad(e, below, "share",
				"a stream has more than 0% of the I/Os");
		if (flow_parse(item, below, &w->streams[i], e) != 0)
			return -1;
		w->streams[i].share_percent = share;
	}
	return check_shares(w, e) == 0 ? 0 : err_at(e, "%s/streams", at);
}

int
workload_parse(const json_t *o, const char *at, struct workload *ret_w, struct err *e)
{
	static const char *const names[] = {"id", FLOW_MEMBERS, "streams", "in_flight",
		"workers", "rates_iops", NULL};
	static const char *const members[] = {FLOW_MEMBERS};

	memset(ret_w, 0, sizeof(*ret_w));
	if (json_only(o, at, names, e) != 0 || read_id(o, at, ret_w, e) != 0)
		return -1;
	if (!json_has(o, "streams")) {
		ret_w->n_streams = 1;
		return flow_parse(o, at, &ret_w->streams[0], e) != 0
			       ? -1
			       : read_counts(o, at, ret_w, e);
	}
	for (size_t i = 0; i < sizeof(members) / sizeof(members[0]); i++)
		if (json_has(o, members[i])) {
			bad(e, at, members[i],
				"each of the \"streams\" says this for itself");
			return err_fix(e, "move it into the streams");
		}
	if (parse_streams(o, at, ret_w, e) != 0)
		return -1;
	return read_counts(o, at, ret_w, e);
}

json_t *
workload_to_json(const struct workload *w)
{
	json_t *o = json_object();

	json_put(o, "id", json_string(w->id));
	if (workload_is_plain(w)) {
		const struct flow *s = &w->streams[0];

		json_put(o, "read_percent", json_real(s->read_percent));
		json_put(o, "random_percent", json_real(s->random_percent));
		json_put(o, "block_bytes", json_integer(flow_block_max(s)));
	} else {
		json_t *list = json_array();

		for (size_t i = 0; i < w->n_streams; i++)
			json_array_append_new(list, flow_to_json(&w->streams[i]));
		json_put(o, "streams", list);
	}
	json_put(o, "in_flight", json_integer(w->in_flight));
	json_put(o, "workers", json_integer(w->workers));
	return o;
}

bool
workload_does_same(const struct workload *a, const struct workload *b)
{
	struct workload like = *b;
	json_t *one = workload_to_json(a);
	json_t *other;
	bool same;

	memcpy(like.id, a->id, sizeof(like.id));
	like.in_flight = a->in_flight;
	like.workers = a->workers;
	other = workload_to_json(&like);
	same = json_equal(one, other) != 0;
	json_decref(one);
	json_decref(other);
	return same;
}

/* A percentage in base form, a number from 0 to 100. */
static int
need_percent(const json_t *o, const char *at, const char *name, double *ret_percent,
	struct err *e)
{
	if (json_need_real(o, at, name, ret_percent, e) != 0)
		return -1;
	if (*ret_percent < 0 || *ret_percent > 100)
		return bad(e, at, name, "a share of I/Os is from 0 to 100");
	return 0;
}

static int
plain_from_json(const json_t *o, const char *at, struct workload *w, struct err *e)
{
	static const char *const names[] = {"id", "read_percent", "random_percent",
		"block_bytes", "in_flight", "workers", NULL};
	struct block_mix valid = {0};
	double read, random;
	int64_t bytes;

	if (json_only(o, at, names, e) != 0 || read_id(o, at, w, e) != 0 ||
		need_percent(o, at, "read_percent", &read, e) != 0 ||
		need_percent(o, at, "random_percent", &random, e) != 0 ||
		json_need_int(o, at, "block_bytes", 0, INT64_MAX, &bytes, e) != 0)
		return -1;
	if (block_mix_add(&valid, (uint64_t)bytes, 100, e) != 0)
		return err_at(e, "%s/block_bytes", at);
	workload_plain(w, read, random, (uint32_t)bytes);
	return 0;
}

static int
streams_from_json(const json_t *o, const char *at, struct workload *w, struct err *e)
{
	static const char *const names[] = {
		"id", "streams", "in_flight", "workers", NULL};
	json_t *list;

	if (json_only(o, at, names, e) != 0 || read_id(o, at, w, e) != 0 ||
		need_streams(o, at, &list, &w->n_streams, e) != 0)
		return -1;
	for (size_t i = 0; i < w->n_streams; i++) {
		char below[AT_MAX];

		snprintf(below, sizeof(below), "%s/streams/%zu", at, i);
		if (flow_from_json(json_array_get(list, i), below, &w->streams[i], e) !=
			0)
			return -1;
	}
	return check_shares(w, e) == 0 ? 0 : err_at(e, "%s/streams", at);
}

int
workload_from_json(const json_t *o, const char *at, struct workload *ret_w, struct err *e)
{
	int64_t workers;
	int failed;

	memset(ret_w, 0, sizeof(*ret_w));
	failed = json_has(o, "streams") ? streams_from_json(o, at, ret_w, e)
					: plain_from_json(o, at, ret_w, e);
	if (failed != 0 || json_need_int(o, at, "workers", 1, WORKLOAD_IN_FLIGHT_MAX,
				   &workers, e) != 0)
		return -1;
	return read_counts(o, at, ret_w, e);
}
