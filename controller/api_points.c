/* Load points of a run, and the histogram of one of them. */
#include <inttypes.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "common/err.h"
#include "common/hist.h"
#include "common/json.h"
#include "common/parse.h"
#include "common/record.h"
#include "common/xalloc.h"
#include "controller/api.h"
#include "controller/doc.h"
#include "controller/flags.h"
#include "controller/result.h"
#include "controller/rounds.h"
#include "controller/store.h"

/* Members of a point record that the API passes on as they are. */
static const char *const passed[] = {"backlog_max", "dropped", "in_flight",
	"in_flight_mean", "late_mean_ns", "late_max_ns", "drain_ns", "unfinished",
	"unfinished_max_ns", "unfinished_factor", "missed_ns", "engine", "seed",
	"compress_percent", "dedupe_percent", "reference_iops", "length_ns",
	"cpu_user_ns", "cpu_system_ns", "first_error", "workers", "shape", "sampled_ns",
	"start_lag_ns", "readings", "health_polls", NULL};

/* Our own JSON from the database, so not looked into for what only others would send; an
 * empty object when it is not readable. */
static json_t *
stored(const char *text)
{
	json_t *doc = doc_stored(text);

	if (!json_is_object(doc)) {
		json_decref(doc);
		doc = json_object();
	}
	return doc;
}

static double
real_of(const json_t *doc, const char *name)
{
	const json_t *v = json_object_get(doc, name);

	return json_is_number(v) ? json_number_value(v) : (double)NAN;
}

static void
add_facts(json_t *o, const json_t *meta)
{
	double iops = real_of(o, "iops"), littles_n = real_of(o, "littles_n");

	for (size_t i = 0; passed[i] != NULL; i++) {
		json_t *v = json_object_get(meta, passed[i]);

		if (v != NULL)
			json_object_set(o, passed[i], v);
	}
	json_put(o, "errors", json_integer((json_int_t)flags_errors(meta)));
	json_put(o, "flags", flags_json(flags_of_point(meta, iops, littles_n)));
	json_put(o, "reasons", flags_reasons(meta, iops, littles_n));
}

/* The test in the name of a cell, TEST/CELL. New reference. */
static json_t *
test_of(const char *workload)
{
	return json_stringn(workload, strcspn(workload, "/"));
}

static json_t *
point_json(struct cur *c)
{
	json_t *o = json_object();
	json_t *meta = stored(cur_text(c, 7));
	json_t *metrics = cur_null(c, 8) ? json_object() : stored(cur_text(c, 8));

	json_put(o, "point", json_integer(cur_int(c, 0)));
	json_put(o, "step", json_integer(cur_int(c, 1)));
	json_put(o, "workload", json_string(cur_text(c, 2)));
	json_put(o, "load_percent",
		cur_null(c, 3) ? json_null() : json_real(cur_real(c, 3)));
	json_put(o, "offered_iops",
		cur_null(c, 4) ? json_null() : json_real(cur_real(c, 4)));
	json_put(o, "test", cur_null(c, 9) ? json_null() : test_of(cur_text(c, 2)));
	json_put(o, "round", cur_null(c, 9) ? json_null() : json_integer(cur_int(c, 9)));
	json_put(o, "cell", cur_null(c, 10) ? json_null() : json_integer(cur_int(c, 10)));
	json_put(o, "state", json_string(cur_text(c, 5)));
	json_put(o, "started", api_time(cur_int(c, 6)));
	json_put(o, "iops", json_null());
	json_put(o, "bytes_per_second", json_null());
	json_object_update(o, metrics);
	add_facts(o, meta);
	json_decref(meta);
	json_decref(metrics);
	return o;
}

int
api_runs_points(struct tx *t, struct api_call *c, struct err *e)
{
	static const char *const names[] = {"workload", NULL};
	json_t *items = json_array();
	struct cur *cur = NULL;
	int64_t attempt;
	int rc = -1;

	if (api_only_query(c, names, e) != 0 ||
		result_attempt(t, c->id, &attempt, e) != 0 ||
		tx_query(t, &cur, e,
			"SELECT point, step, workload, load_percent, offered_iops, state,"
			" started_ns, meta, metrics, round, cell FROM point"
			" WHERE attempt_id = ?1"
			" AND (?2 IS NULL OR workload = ?2) ORDER BY point",
			"is", attempt, c->query(c, "workload")) != 0)
		goto out;
	while ((rc = cur_next(cur, e)) == 1)
		json_array_append_new(items, point_json(cur));
	cur_close(cur);
	if (rc != 0)
		goto out;
	c->doc = json_object();
	json_put(c->doc, "items", items);
	return 0;
out:
	json_decref(items);
	return -1;
}

int
api_runs_rounds(struct tx *t, struct api_call *c, struct err *e)
{
	static const char *const names[] = {NULL};
	json_t *items = NULL;
	int64_t attempt;

	if (api_only_query(c, names, e) != 0 ||
		result_attempt(t, c->id, &attempt, e) != 0 ||
		rounds_json(t, attempt, &items, e) != 0)
		return -1;
	c->doc = json_object();
	json_put(c->doc, "items", items);
	return 0;
}

/* The histogram of a point: which of its operations count. */
struct choice {
	int64_t point;
	bool response;
	bool take[DIRECTIONS];
	struct hist *one, *all; /* for decoding, and the sum */
};

/* Reads and writes together when none is asked for, as in the figures of a point. */
static int
choose_op(const char *op, bool ret_take[DIRECTIONS], struct err *e)
{
	/* As an operation is called in a suite. */
	static const char *const names[DIRECTIONS] = {
		[DIR_READ] = "read",
		[DIR_WRITE] = "write",
		[DIR_TRIM] = "trim",
		[DIR_ZERO] = "write-zeroes",
		[DIR_FLUSH] = "flush",
	};
	bool known = op == NULL;

	for (int d = 0; d < DIRECTIONS; d++) {
		ret_take[d] = op == NULL ? d < DATA_DIRECTIONS
					 : strcmp(op, names[d]) == 0;
		known = known || ret_take[d];
	}
	if (known)
		return 0;
	return err_set(e, ERR_INVALID,
		"query parameter op: \"%.40s\" is none of read, write, trim, "
		"write-zeroes "
		"and flush",
		op);
}

static int
choose(struct api_call *c, struct choice *ret_x, struct err *e)
{
	static const char *const names[] = {"point", "kind", "op", NULL};
	const char *point = c->query(c, "point");
	const char *kind = c->query(c, "kind");
	const char *op = c->query(c, "op");
	uint64_t n;

	if (api_only_query(c, names, e) != 0)
		return -1;
	if (point == NULL) {
		err_set(e, ERR_INVALID, "query parameter point is missing");
		return err_fix(e, "ssdlab run show r%" PRId64 " lists the points", c->id);
	}
	if (parse_uint(point, 1, UINT32_MAX, &n, e) != 0)
		return err_ctx(e, "query parameter point");
	if (kind != NULL && strcmp(kind, "service") != 0 && strcmp(kind, "response") != 0)
		return err_set(e, ERR_INVALID,
			"query parameter kind: \"%.40s\" is neither service nor response",
			kind);
	ret_x->point = (int64_t)n;
	ret_x->response = kind != NULL && strcmp(kind, "response") == 0;
	return choose_op(op, ret_x->take, e);
}

/* Adds those of a column's histograms, n from operation d on, that are taken; an empty
 * column adds nothing. */
static int
add_hists(struct cur *cur, int col, const struct choice *x, int d, int n, struct err *e)
{
	size_t used;
	size_t len;
	const uint8_t *bytes = cur_bytes(cur, col, &len);

	for (; len > 0 && n > 0; n--, d++) {
		if (hist_decode(x->one, bytes, len, &used, e) != 0)
			return -1;
		if (x->take[d])
			hist_merge(x->all, x->one);
		bytes += used;
		len -= used;
	}
	return 0;
}

static int
load_hist(struct tx *t, int64_t attempt, const struct choice *x, struct err *e)
{
	struct cur *cur = NULL;
	int col = x->response ? DATA_DIRECTIONS + 1 : 0;
	int rc = tx_query(t, &cur, e,
		"SELECT read_service, write_service, other_service, read_response,"
		" write_response, other_response"
		" FROM point WHERE attempt_id = ? AND point = ?",
		"ii", attempt, x->point);

	if (rc == 0)
		rc = cur_next(cur, e);
	for (int d = 0; rc == 1 && d < DATA_DIRECTIONS; d++)
		if (add_hists(cur, col + d, x, d, 1, e) != 0)
			rc = -1;
	if (rc == 1 && add_hists(cur, col + DATA_DIRECTIONS, x, DATA_DIRECTIONS,
			       DIRECTIONS - DATA_DIRECTIONS, e) != 0)
		rc = -1;
	cur_close(cur);
	return rc;
}

int
api_runs_histogram(struct tx *t, struct api_call *c, struct err *e)
{
	struct choice x = {0};
	int64_t attempt;
	int rc;

	if (choose(c, &x, e) != 0 || result_attempt(t, c->id, &attempt, e) != 0)
		return -1;
	x.one = xcalloc(1, sizeof(*x.one));
	x.all = xcalloc(1, sizeof(*x.all));
	rc = load_hist(t, attempt, &x, e);
	if (rc == 1)
		c->doc = result_histogram(x.all);
	free(x.one);
	free(x.all);
	if (rc == 0)
		return err_set(e, ERR_NOTFOUND, "run r%" PRId64 " has no point %" PRId64,
			c->id, x.point);
	return rc < 0 ? -1 : 0;
}
