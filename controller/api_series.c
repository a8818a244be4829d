/* The samples of a run, one row a second. */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "common/err.h"
#include "common/hist.h"
#include "common/json.h"
#include "common/parse.h"
#include "common/record.h"
#include "common/xalloc.h"
#include "controller/api.h"
#include "controller/fact.h"
#include "controller/result.h"
#include "controller/series.h"
#include "controller/store.h"

/* Samples in one answer: the usual run fits, and memory stays bounded. */
#define LIMIT_MAX 10000

struct ask {
	int64_t attempt, point; /* point 0: all */
	uint64_t after, limit;
};

/* Decoding needs 180 KiB and merging 18 more: too much for a stack. */
struct work {
	struct sample s;
	struct hist merged;
};

static int
read_query(struct api_call *c, struct ask *ret_q, struct err *e)
{
	static const char *const names[] = {"point", "limit", "cursor", NULL};
	const char *point = c->query(c, "point");
	const char *limit = c->query(c, "limit");
	const char *cursor = c->query(c, "cursor");
	uint64_t n = 0;

	*ret_q = (struct ask){.limit = LIMIT_MAX};
	if (api_only_query(c, names, e) != 0)
		return -1;
	if (point != NULL && parse_uint(point, 1, UINT32_MAX, &n, e) != 0)
		return err_ctx(e, "query parameter point");
	if (limit != NULL && parse_uint(limit, 1, LIMIT_MAX, &ret_q->limit, e) != 0)
		return err_ctx(e, "query parameter limit");
	if (cursor != NULL && (cursor[0] != 's' || parse_uint(cursor + 1, 1, INT64_MAX,
							   &ret_q->after, NULL) != 0))
		return err_set(e, ERR_INVALID,
			"query parameter cursor: \"%.40s\" is no cursor", cursor);
	ret_q->point = (int64_t)n;
	return 0;
}

static json_t *
percentile(const struct hist *h, double q)
{
	return hist_percentile_known(h, q)
		       ? json_integer((json_int_t)hist_percentile(h, q))
		       : json_null();
}

static void
put_latency(json_t *o, struct work *w)
{
	const struct sample *s = &w->s;

	w->merged = s->service[DIR_READ];
	hist_merge(&w->merged, &s->service[DIR_WRITE]);
	json_put(o, "service_p50_ns", percentile(&w->merged, 0.5));
	json_put(o, "service_p99_ns", percentile(&w->merged, 0.99));
	json_put(o, "service_max_ns",
		w->merged.n > 0 ? json_integer((json_int_t)w->merged.max_ns)
				: json_null());
	w->merged = s->response[DIR_READ];
	hist_merge(&w->merged, &s->response[DIR_WRITE]);
	json_put(o, "response_p50_ns", percentile(&w->merged, 0.5));
	json_put(o, "response_p99_ns", percentile(&w->merged, 0.99));
	json_put(o, "response_max_ns",
		w->merged.n > 0 ? json_integer((json_int_t)w->merged.max_ns)
				: json_null());
}

/* What is told of trims, write-zeroes and flushes, when there were any. */
static void
put_others(json_t *o, const struct sample *s)
{
	char name[40];

	for (int d = DATA_DIRECTIONS; d < DIRECTIONS; d++) {
		const char *op = direction_name((enum direction)d);

		if (s->ops[d] == 0 && s->errors[d] == 0)
			continue;
		snprintf(name, sizeof(name), "%s_ops", op);
		json_put(o, name, json_integer((json_int_t)s->ops[d]));
		if (d != DIR_FLUSH) {
			snprintf(name, sizeof(name), "%s_bytes", op);
			json_put(o, name, json_integer((json_int_t)s->bytes[d]));
		}
		snprintf(name, sizeof(name), "%s_service_p99_ns", op);
		json_put(o, name, percentile(&s->service[d], 0.99));
		snprintf(name, sizeof(name), "%s_response_p99_ns", op);
		json_put(o, name, percentile(&s->response[d], 0.99));
	}
}

static json_t *
sample_json(struct work *w)
{
	const struct sample *s = &w->s;
	uint64_t errors = 0;
	json_t *o = json_object();

	for (int d = 0; d < DIRECTIONS; d++)
		errors += s->errors[d];

	json_put(o, "point", json_integer(s->point));
	json_put(o, "second", json_integer(s->second));
	json_put(o, "start", api_time(s->wall_ns));
	json_put(o, "length_ns", json_integer(s->length_ns));
	json_put(o, "warmup", json_boolean((s->flags & SAMPLE_WARMUP) != 0));
	json_put(o, "merged", json_boolean((s->flags & SAMPLE_MERGED) != 0));
	json_put(o, "read_ops", json_integer((json_int_t)s->ops[DIR_READ]));
	json_put(o, "write_ops", json_integer((json_int_t)s->ops[DIR_WRITE]));
	json_put(o, "read_bytes", json_integer((json_int_t)s->bytes[DIR_READ]));
	json_put(o, "write_bytes", json_integer((json_int_t)s->bytes[DIR_WRITE]));
	json_put(o, "errors", json_integer((json_int_t)errors));
	json_put(o, "in_flight", json_integer(s->in_flight));
	json_put(o, "backlog", json_integer((json_int_t)s->backlog));
	json_put(o, "dropped", json_integer((json_int_t)s->dropped));
	put_latency(o, w);
	put_others(o, s);
	return o;
}

/* Fills items with at most q->limit samples; *ret_last is the last seq when there are
 * more, else 0. What cannot be decoded was told when it arrived, and is left out. */
static int
read_samples(struct tx *t, const struct ask *q, json_t *items, uint64_t *ret_last,
	struct err *e)
{
	struct work *w = xcalloc(1, sizeof(*w));
	struct series_reader *r = NULL;
	struct series_entry entry;
	uint64_t last = 0;
	uint64_t n = 0;
	int rc = series_open(&r, t, q->attempt, q->point, q->after, e);

	while (rc == 0 && (rc = series_next(r, &entry, e)) == 1) {
		if (n++ == q->limit)
			break;
		last = entry.seq;
		if (sample_decode(&w->s, entry.payload, entry.len, NULL) == 0)
			json_array_append_new(items, sample_json(w));
		rc = 0;
	}
	*ret_last = rc == 1 ? last : 0;
	series_close(r);
	free(w);
	return rc < 0 ? -1 : 0;
}

static json_t *
gap_json(const json_t *doc, uint64_t from, uint64_t to)
{
	/* What a runner tells of seconds that it could not keep. */
	static const char *const names[] = {
		"point", "from_second", "to_second", "samples", NULL};
	json_t *o = json_object();

	json_put(o, "from", json_integer((json_int_t)from));
	json_put(o, "to", json_integer((json_int_t)to));
	json_put(o, "reason", json_string(json_text_of(doc, "reason")));
	for (size_t i = 0; names[i] != NULL; i++)
		if (json_has(doc, names[i]))
			json_object_set(o, names[i], json_object_get(doc, names[i]));
	return o;
}

static int
read_gaps(struct tx *t, int64_t attempt, json_t *gaps, struct err *e)
{
	struct cur *cur;
	int rc;

	if (tx_query(t, &cur, e,
		    "SELECT payload, seq FROM record WHERE attempt_id = ? AND kind = 5"
		    " AND kind <> 2 ORDER BY seq",
		    "i", attempt) != 0)
		return -1;
	while ((rc = cur_next(cur, e)) == 1) {
		size_t len;
		const char *text = cur_bytes(cur, 0, &len);
		uint64_t from;
		uint64_t to;
		json_t *doc;

		if (json_parse(text, len, &doc, NULL) != 0)
			continue;
		if (fact_gap(doc, (uint64_t)cur_int(cur, 1), &from, &to))
			json_array_append_new(gaps, gap_json(doc, from, to));
		json_decref(doc);
	}
	cur_close(cur);
	return rc;
}

static int
count_samples(struct tx *t, const struct ask *q, int64_t *ret_n, struct err *e)
{
	return tx_int(t, ret_n, e,
		"SELECT (SELECT coalesce(sum(n), 0) FROM series WHERE attempt_id = ?1"
		"  AND (?2 = 0 OR point = ?2))"
		" + (SELECT count(*) FROM record WHERE attempt_id = ?1 AND kind = 2"
		"  AND (?2 = 0 OR point = ?2))",
		"ii", q->attempt, q->point);
}

int
api_runs_series(struct tx *t, struct api_call *c, struct err *e)
{
	json_t *items = json_array();
	json_t *gaps = json_array();
	struct ask q;
	uint64_t last;
	int64_t n = 0;

	if (read_query(c, &q, e) != 0 || result_attempt(t, c->id, &q.attempt, e) != 0 ||
		read_samples(t, &q, items, &last, e) != 0 ||
		read_gaps(t, q.attempt, gaps, e) != 0 ||
		count_samples(t, &q, &n, e) < 0) {
		json_decref(items);
		json_decref(gaps);
		return -1;
	}
	c->doc = json_object();
	json_put(c->doc, "run", api_id('r', c->id));
	json_put(c->doc, "items", items);
	json_put(c->doc, "samples", json_integer(n));
	json_put(c->doc, "gaps", gaps);
	json_put(c->doc, "next_cursor",
		last != 0 ? json_sprintf("s%" PRIu64, last) : json_null());
	return 0;
}
