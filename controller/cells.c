#include "controller/cells.h"

#include <math.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#include "analysis/metrics.h"
#include "common/err.h"
#include "common/hist.h"
#include "common/json.h"
#include "common/record.h"
#include "common/xalloc.h"
#include "controller/doc.h"
#include "controller/fact.h"
#include "controller/flags.h"
#include "controller/store.h"

/* A test that has ended, and which of its rounds count: those of the window, or all that
 * are not void. */
struct test {
	int64_t attempt, step, first, last;
	unsigned flags; /* of all its cells */
};

/* How often the drive's health was read while a cell ran. */
struct polls {
	uint64_t period_ns; /* 0: it was not */
	uint64_t n, failed;
	double sum_ns, max_ns; /* how long the answers took */
};

/* The cell that is added up, and what each row is decoded into. */
struct sum {
	int64_t cell, point, n; /* point: of the last of n rounds */
	char *name;		/* owned */
	unsigned flags;
	struct hist service[DIRECTIONS], response[DIRECTIONS]; /* the latter empty */
	struct hist one;
	uint64_t ops[DIRECTIONS], bytes[DIRECTIONS];
	int64_t length_ns;
	struct polls polls;
};

static void
begin(struct sum *s, int64_t cell, const char *name)
{
	free(s->name);
	memset(s, 0, sizeof(*s)); /* histograms without counts are empty */
	s->cell = cell;
	s->name = xstrdup(name);
}

/* Adds the n histograms of a column, from operation d on; an empty column has none. */
static int
add_hists(struct sum *s, struct cur *c, int col, int d, struct err *e)
{
	int n = d < DATA_DIRECTIONS ? 1 : DIRECTIONS - DATA_DIRECTIONS;
	size_t len, used;
	const uint8_t *bytes = cur_bytes(c, col, &len);

	for (; len > 0 && n > 0; n--, d++) {
		if (hist_decode(&s->one, bytes, len, &used, e) != 0)
			return -1;
		hist_merge(&s->service[d], &s->one);
		bytes += used;
		len -= used;
	}
	return 0;
}

/* Adds what the record of a point says of polls; numbers that nobody checked. */
static void
add_polls(struct polls *sum, const json_t *polls)
{
	double max_ns = json_number_value(json_object_get(polls, "max_ns"));
	uint64_t period_ns, n, failed;

	if (!json_is_object(polls) ||
		json_need_u64(polls, "", "period_ns", &period_ns, NULL) != 0 ||
		json_need_u64(polls, "", "polls", &n, NULL) != 0 ||
		json_need_u64(polls, "", "failed", &failed, NULL) != 0)
		return;
	sum->period_ns = period_ns;
	sum->n += n;
	sum->failed += failed;
	sum->sum_ns += (double)n * json_number_value(json_object_get(polls, "mean_ns"));
	sum->max_ns = max_ns > sum->max_ns ? max_ns : sum->max_ns;
}

static json_t *
polls_json(const struct polls *p)
{
	double mean = p->n > 0 ? p->sum_ns / (double)p->n : (double)NAN;
	json_t *o = json_object();

	json_put(o, "period_ns", json_u64(p->period_ns));
	json_put(o, "polls", json_u64(p->n));
	json_put(o, "failed", json_u64(p->failed));
	json_put(o, "mean_ns", isfinite(mean) ? json_real(mean) : json_null());
	json_put(o, "max_ns", p->n > 0 ? json_real(p->max_ns) : json_null());
	return o;
}

/* Columns: cell, workload, point, iops, littles_n, meta, three of histograms. */
static int
add_row(struct sum *s, struct cur *c, struct err *e)
{
	json_t *meta = doc_stored(cur_text(c, 5));
	uint64_t ops[DIRECTIONS], bytes[DIRECTIONS];
	int rc = 0;

	s->n++;
	s->point = cur_int(c, 2);
	s->flags |= flags_of_point(
		meta, cur_real(c, 3), cur_null(c, 4) ? (double)NAN : cur_real(c, 4));
	fact_counts(meta, "ops", ops);
	fact_counts(meta, "bytes", bytes);
	s->length_ns += fact_length_ns(meta);
	add_polls(&s->polls, json_object_get(meta, "health_polls"));
	for (int d = 0; d < DIRECTIONS; d++) {
		s->ops[d] += ops[d];
		s->bytes[d] += bytes[d];
	}
	for (int d = 0; rc == 0 && d <= DATA_DIRECTIONS; d++)
		rc = add_hists(s, c, 6 + d, d, e);
	json_decref(meta);
	return rc;
}

/* What a cell counts as a curve: its reads and writes, or, where there are none, all its
 * other operations. */
struct count {
	unsigned operations; /* bits 1 << enum direction */
	double iops, bytes_per_second;
	struct lat_metrics service;
};

static void
count_cell(struct sum *s, const struct point_metrics *m, struct count *ret_x)
{
	int from = m->iops > 0 ? 0 : DATA_DIRECTIONS;
	int to = m->iops > 0 ? DATA_DIRECTIONS : DIRECTIONS;

	*ret_x = (struct count){0};
	hist_reset(&s->one);
	for (int d = from; d < to; d++) {
		ret_x->operations |= m->op_iops[d] > 0 ? 1U << d : 0;
		ret_x->iops += m->op_iops[d];
		ret_x->bytes_per_second += m->op_bytes_per_second[d];
		hist_merge(&s->one, &s->service[d]);
	}
	metrics_latency(&s->one, &ret_x->service);
}

/* Stores the cell that was added up; one without measured time has no figures. */
static int
store_cell(struct sum *s, struct tx *t, const struct test *test, struct err *e)
{
	struct point_metrics m;
	struct count x;
	json_t *doc;
	char *metrics;
	int rc;

	if (s->n == 0 || s->length_ns <= 0)
		return 0;
	metrics_compute(s->service, s->response, s->ops, s->bytes, s->length_ns, &m);
	count_cell(s, &m, &x);
	doc = metrics_to_json(&m);
	if (s->polls.period_ns > 0)
		json_put(doc, "health_polls", polls_json(&s->polls));
	metrics = doc_text(doc);
	rc = tx_exec(t, e,
		"INSERT INTO test_cell(attempt_id, step, cell, workload, rounds, point,"
		" flags, operations, metrics, iops, bytes_per_second, service_mean_ns,"
		" service_p50_ns, service_p99_ns, service_p99_9_ns)"
		" VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)",
		"iiisiiiisdddddd", test->attempt, test->step, s->cell, s->name, s->n,
		s->point, (int64_t)(s->flags | test->flags), (int64_t)x.operations,
		metrics, x.iops, x.bytes_per_second, x.service.mean, x.service.p50,
		x.service.p99, x.service.p99_9);
	free(metrics);
	return rc;
}

static int
add_cells(struct sum *s, struct tx *t, const struct test *test, struct err *e)
{
	struct cur *c;
	int rc;

	if (tx_query(t, &c, e,
		    "SELECT p.cell, p.workload, p.point, p.iops,"
		    " p.metrics ->> '$.littles_n', p.meta, p.read_service,"
		    " p.write_service, p.other_service FROM point p"
		    " JOIN round r ON r.attempt_id = p.attempt_id AND r.step = p.step"
		    " AND r.round = p.round AND r.void IS NULL"
		    " WHERE p.attempt_id = ?1 AND p.step = ?2 AND p.cell IS NOT NULL"
		    " AND p.round BETWEEN ?3 AND ?4 AND p.state = 'done'"
		    " ORDER BY p.cell, p.round",
		    "iiii", test->attempt, test->step, test->first, test->last) != 0)
		return -1;
	begin(s, 0, "");
	while ((rc = cur_next(c, e)) == 1) {
		if (cur_int(c, 0) != s->cell) {
			if ((rc = store_cell(s, t, test, e)) != 0)
				break;
			begin(s, cur_int(c, 0), cur_text(c, 1));
		}
		if ((rc = add_row(s, c, e)) != 0)
			break;
	}
	cur_close(c);
	return rc == 0 ? store_cell(s, t, test, e) : -1;
}

static int
settle(struct tx *t, const struct test *test, struct err *e)
{
	struct sum *s;
	int rc;

	if (tx_exec(t, e, "DELETE FROM test_cell WHERE attempt_id = ? AND step = ?", "ii",
		    test->attempt, test->step) != 0)
		return -1;
	s = xcalloc(1, sizeof(*s));
	rc = add_cells(s, t, test, e);
	free(s->name);
	free(s);
	return rc;
}

/* Columns: step, doc. */
static struct test
test_at(struct cur *c, int64_t attempt)
{
	json_t *doc = doc_stored(cur_text(c, 1));
	struct test x = {.attempt = attempt,
		.step = cur_int(c, 0),
		.last = INT64_MAX,
		.flags = flags_of_test(doc)};

	if (json_array_size(json_object_get(doc, "tracking")) > 0) {
		x.first = json_integer_value(json_object_get(doc, "first_round"));
		x.last = json_integer_value(json_object_get(doc, "last_round"));
	}
	json_decref(doc);
	return x;
}

int
cells_settle(struct tx *t, int64_t attempt, uint64_t from, uint64_t to, struct err *e)
{
	struct test *list = NULL;
	size_t n = 0;
	struct cur *c;
	int rc;

	if (tx_query(t, &c, e,
		    "SELECT step, doc FROM test_end WHERE attempt_id = ?"
		    " AND seq > ? AND seq <= ?",
		    "iii", attempt, (int64_t)from, (int64_t)to) != 0)
		return -1;
	while ((rc = cur_next(c, e)) == 1) {
		list = xrealloc(list, n + 1, sizeof(*list));
		list[n++] = test_at(c, attempt);
	}
	cur_close(c);
	for (size_t i = 0; rc == 0 && i < n; i++)
		rc = settle(t, &list[i], e);
	free(list);
	return rc;
}
