#include "controller/result.h"

#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "common/err.h"
#include "common/hist.h"
#include "common/json.h"
#include "common/record.h"
#include "common/str.h"
#include "common/xalloc.h"
#include "controller/api.h"
#include "controller/doc.h"
#include "controller/flags.h"
#include "controller/others.h"
#include "controller/store.h"

/* Copies text, cut between two characters when it is too long: it goes into JSON. */
static void
copy_text(char *to, size_t size, const char *text)
{
	size_t n = strlen(text);

	if (n >= size)
		for (n = size - 1; n > 0 && ((unsigned char)text[n] & 0xc0) == 0x80;)
			n--;
	memcpy(to, text, n);
	to[n] = '\0';
}

/* The curve of a workload, which is made when there is none. */
static struct result_curve *
curve_for(struct result *r, const char *workload)
{
	struct result_curve *c = NULL;
	char name[sizeof(c->workload)];

	copy_text(name, sizeof(name), workload);
	for (size_t i = 0; i < r->n_curves && c == NULL; i++)
		if (strcmp(r->curves[i].workload, name) == 0)
			c = &r->curves[i];
	if (c == NULL) {
		r->curves = xrealloc(r->curves, r->n_curves + 1, sizeof(r->curves[0]));
		c = &r->curves[r->n_curves++];
		*c = (struct result_curve){0};
		memcpy(c->workload, name, sizeof(name));
	}
	return c;
}

static struct curve_point *
add_point(struct result_curve *c)
{
	if (c->n == c->cap) {
		c->cap = c->cap > 0 ? 2 * c->cap : 16;
		c->points = xrealloc(c->points, c->cap, sizeof(c->points[0]));
	}
	return &c->points[c->n++];
}

static double
real_at(struct cur *c, int col)
{
	return cur_null(c, col) ? (double)NAN : cur_real(c, col);
}

static unsigned
flags_at(struct cur *c, int col, double iops, double littles_n)
{
	json_t *meta = doc_stored(cur_text(c, col));
	unsigned flags = flags_of_point(meta, iops, littles_n);

	json_decref(meta);
	return flags;
}

/* Reads the flags of one point; most points need none, and their records are long. */
static int
load_flags(struct tx *t, int64_t attempt, struct curve_point *p, struct err *e)
{
	struct cur *c;
	int rc;

	if (tx_query(t, &c, e,
		    "SELECT meta, metrics ->> '$.littles_n', iops FROM point"
		    " WHERE attempt_id = ?1 AND point = ?2",
		    "ii", attempt, (int64_t)p->point) != 0)
		return -1;
	rc = cur_next(c, e);
	if (rc == 1)
		p->flags = flags_at(c, 0, real_at(c, 2), real_at(c, 1));
	cur_close(c);
	return rc < 0 ? -1 : 0;
}

/*
 * Reads the flags of the points that figures are from. A flag may show that a point is no
 * peak; then the figures are from another one, whose flags are looked at, too.
 */
static int
load_figure_flags(
	struct tx *t, int64_t attempt, struct result_curve *curve, struct err *e)
{
	bool *known;
	bool again = true;
	int rc = 0;

	if (strchr(curve->workload, '/') != NULL)
		return 0; /* a cell of rounds has those of all of them */
	known = xcalloc(curve->n + 1, sizeof(*known));
	while (rc == 0 && again) {
		again = false;
		for (int f = 0; rc == 0 && f < FIGURES; f++) {
			const struct curve_point *p = figure_point(
				(enum figure)f, curve->points, curve->n);
			size_t i = p != NULL ? (size_t)(p - curve->points) : curve->n;

			if (p == NULL || known[i])
				continue;
			known[i] = again = true;
			rc = load_flags(t, attempt, &curve->points[i], e);
		}
	}
	free(known);
	return rc;
}

/* A cell of a test in rounds is a curve of its own, which has only a maximum: the mean of
 * the rounds that count, as it was settled. */
static int
load_cells(struct tx *t, struct result *r, const struct result_filter *f, struct err *e)
{
	const double none = (double)NAN;
	struct result_curve *curve;
	struct cur *c;
	int rc;

	if (tx_query(t, &c, e,
		    "SELECT workload, operations, point, iops, bytes_per_second,"
		    " service_mean_ns, service_p50_ns, service_p99_ns, service_p99_9_ns,"
		    " flags FROM test_cell WHERE attempt_id = ?1"
		    " AND (?2 IS NULL OR workload = ?2) ORDER BY step, cell",
		    "is", r->attempt, f->workload) != 0)
		return -1;
	while ((rc = cur_next(c, e)) == 1) {
		curve = curve_for(r, cur_text(c, 0));
		curve->operations |= (unsigned)cur_int(c, 1);
		*add_point(curve) = (struct curve_point){
			.point = (uint32_t)cur_int(c, 2),
			.load_percent = none,
			.offered_iops = none,
			.iops = real_at(c, 3),
			.bytes_per_second = real_at(c, 4),
			.service = {real_at(c, 5), real_at(c, 6), real_at(c, 7),
				real_at(c, 8)},
			.response = {none, none, none, none},
			.flags = (unsigned)cur_int(c, 9),
		};
	}
	cur_close(c);
	return rc;
}

static int
load_curves(struct tx *t, struct result *r, const struct result_filter *f, struct err *e)
{
	struct result_curve *curve;
	struct cur *c;
	int rc;

	if (tx_query(t, &c, e,
		    "SELECT workload, point, load_percent, offered_iops, iops,"
		    " bytes_per_second, service_mean_ns, service_p50_ns, service_p99_ns,"
		    " service_p99_9_ns, response_mean_ns, response_p50_ns,"
		    " response_p99_ns, response_p99_9_ns, meta,"
		    " metrics ->> '$.littles_n', metrics ->> '$.read_iops' > 0,"
		    " metrics ->> '$.write_iops' > 0 FROM point"
		    " WHERE attempt_id = ?1 AND state = 'done' AND workload <> 'fill'"
		    " AND cell IS NULL"
		    " AND (?2 IS NULL OR workload = ?2) ORDER BY point",
		    "is", r->attempt, f->workload) != 0)
		return -1;
	while ((rc = cur_next(c, e)) == 1) {
		curve = curve_for(r, cur_text(c, 0));
		curve->operations |= (cur_int(c, 16) != 0 ? 1U << DIR_READ : 0) |
				     (cur_int(c, 17) != 0 ? 1U << DIR_WRITE : 0);
		*add_point(curve) = (struct curve_point){
			.point = (uint32_t)cur_int(c, 1),
			.load_percent = real_at(c, 2),
			.offered_iops = real_at(c, 3),
			.iops = real_at(c, 4),
			.bytes_per_second = real_at(c, 5),
			.service = {real_at(c, 6), real_at(c, 7), real_at(c, 8),
				real_at(c, 9)},
			.response = {real_at(c, 10), real_at(c, 11), real_at(c, 12),
				real_at(c, 13)},
			.flags = f->flags ? flags_at(c, 14, real_at(c, 4), real_at(c, 15))
					  : 0,
		};
	}
	cur_close(c);
	if (rc == 0)
		rc = load_cells(t, r, f, e);
	for (size_t i = 0; i < r->n_curves; i++) {
		curve_sort(r->curves[i].points, r->curves[i].n);
		if (rc == 0)
			rc = others_count(t, r->attempt, &r->curves[i], e);
		if (rc == 0 && f->figure_flags)
			rc = load_figure_flags(t, r->attempt, &r->curves[i], e);
	}
	return rc;
}

static void
copy(char *to, size_t size, struct cur *c, int col)
{
	copy_text(to, size, cur_text(c, col));
}

static void
read_run(struct cur *c, struct result *r)
{
	*r = (struct result){
		.run = cur_int(c, 0),
		.campaign = cur_int(c, 1),
		.drive = cur_int(c, 2),
		.attempt = cur_int(c, 3),
		.scaled = cur_int(c, 5) != 0,
		.is_virtual = cur_int(c, 6) != 0,
		.capacity_bytes = cur_int(c, 13),
		.finished_ns = cur_int(c, 14),
	};
	copy(r->state, sizeof(r->state), c, 4);
	copy(r->reason, sizeof(r->reason), c, 7);
	copy(r->suite, sizeof(r->suite), c, 8);
	copy(r->model, sizeof(r->model), c, 9);
	copy(r->serial, sizeof(r->serial), c, 10);
	copy(r->firmware, sizeof(r->firmware), c, 11);
	copy(r->kind, sizeof(r->kind), c, 12);
	copy(r->node, sizeof(r->node), c, 15);
	r->done = strcmp(r->state, "done") == 0 && r->attempt != 0;
}

int
result_load(struct tx *t, const struct result_filter *f, struct result_list *ret_l,
	struct err *e)
{
	struct result_list l = {0};
	size_t cap = 0;
	struct cur *c;
	int rc;

	if (tx_query(t, &c, e,
		    "SELECT r.id, r.campaign_id, r.drive_id, a.id, r.state, r.scaled,"
		    " r.virtual, r.reason, s.name || '@' || s.version, d.model, d.serial,"
		    " CASE r.firmware WHEN '' THEN d.firmware ELSE r.firmware END,"
		    " d.kind, d.capacity_bytes, r.finished_ns, coalesce(n.name, '')"
		    " FROM run r JOIN suite s ON s.id = r.suite_id"
		    " JOIN drive d ON d.id = r.drive_id"
		    " LEFT JOIN attempt a ON a.id = (SELECT id FROM attempt"
		    "  WHERE run_id = r.id ORDER BY number DESC LIMIT 1)"
		    " LEFT JOIN node n ON n.id = a.node_id"
		    " WHERE (?1 = 0 OR r.id = ?1) AND (?2 = 0 OR r.drive_id = ?2)"
		    " AND (?3 = 0 OR r.campaign_id = ?3)"
		    " AND (?4 IS NULL OR s.name || '@' || s.version = ?4) ORDER BY r.id",
		    "iiis", f->run, f->drive, f->campaign, f->suite) != 0)
		return -1;
	while ((rc = cur_next(c, e)) == 1) {
		if (l.n == cap) {
			cap = cap > 0 ? 2 * cap : 16;
			l.items = xrealloc(l.items, cap, sizeof(l.items[0]));
		}
		read_run(c, &l.items[l.n++]);
	}
	cur_close(c);
	for (size_t i = 0; rc == 0 && i < l.n; i++)
		if (l.items[i].done || f->unfinished)
			rc = load_curves(t, &l.items[i], f, e);
	if (rc == 0)
		*ret_l = l;
	else
		result_list_fini(&l);
	return rc;
}

void
result_list_fini(struct result_list *l)
{
	for (size_t i = 0; i < l->n; i++) {
		for (size_t k = 0; k < l->items[i].n_curves; k++)
			free(l->items[i].curves[k].points);
		free(l->items[i].curves);
	}
	free(l->items);
	*l = (struct result_list){0};
}

const struct result_curve *
result_curve(const struct result *r, const char *workload)
{
	for (size_t i = 0; i < r->n_curves; i++)
		if (strcmp(r->curves[i].workload, workload) == 0)
			return &r->curves[i];
	return NULL;
}

unsigned
result_flags(const struct result_curve *c, enum figure f)
{
	const struct curve_point *p = figure_point(f, c->points, c->n);

	return p != NULL ? p->flags : 0;
}

static bool
is_in(const char *names, const char *name)
{
	size_t n = strlen(name);

	for (const char *p = names; (p = strstr(p, name)) != NULL; p++)
		if ((p == names || p[-1] == ' ') && (p[n] == '\0' || p[n] == ','))
			return true;
	return false;
}

void
result_workloads(const struct result *r, struct str *out)
{
	for (size_t i = 0; i < r->n_curves; i++)
		if (!is_in(str_text(out), r->curves[i].workload))
			str_printf(out, "%s%s", out->len > 0 ? ", " : "",
				r->curves[i].workload);
}

const char *
result_example(const struct result_list *l, const char *suite)
{
	for (size_t i = l->n; i > 0; i--) {
		const struct result *r = &l->items[i - 1];

		if (r->n_curves > 0 && (suite == NULL || strcmp(suite, r->suite) == 0))
			return r->curves[0].workload;
	}
	return "none";
}

int
result_no_workload(const char *workload, const struct str *names, struct err *e)
{
	err_set(e, ERR_NOTFOUND, "there are no results of a workload %.64s here",
		workload);
	if (names->len == 0)
		return err_fix(e, "there are none of any workload yet");
	return err_fix(e, "there are results of: %.180s", str_text(names));
}

int
result_attempt(struct tx *t, int64_t run, int64_t *ret_attempt, struct err *e)
{
	int64_t one;
	int rc;

	*ret_attempt = 0;
	rc = tx_int(t, ret_attempt, e,
		"SELECT id FROM attempt WHERE run_id = ? ORDER BY number DESC LIMIT 1",
		"i", run);
	if (rc == 0)
		rc = tx_int(t, &one, e, "SELECT 1 FROM run WHERE id = ?", "i", run);
	if (rc == 0)
		return err_set(e, ERR_NOTFOUND, "there is no run r%" PRId64, run);
	return rc < 0 ? -1 : 0;
}

json_t *
result_real(double x)
{
	json_t *v = isfinite(x) ? json_real(x) : json_null();

	if (v == NULL)
		abort();
	return v;
}

json_t *
result_drive(const struct result *r)
{
	json_t *o = json_object();

	json_put(o, "id", api_id('d', r->drive));
	json_put(o, "model", json_string(r->model));
	json_put(o, "serial", json_string(r->serial));
	json_put(o, "firmware", json_string(r->firmware));
	json_put(o, "virtual", json_boolean(r->is_virtual));
	return o;
}

json_t *
result_histogram(const struct hist *h)
{
	json_t *o = json_object();
	json_t *bins = json_array();

	for (unsigned i = 0; i < HIST_BUCKETS; i++)
		if (h->count[i] != 0)
			json_array_append_new(
				bins, json_pack("[I, I, I]", (json_int_t)hist_low(i),
					      (json_int_t)hist_high(i),
					      (json_int_t)h->count[i]));
	json_put(o, "unit", json_string("ns"));
	json_put(o, "bins", bins);
	json_put(o, "n", json_integer((json_int_t)h->n));
	json_put(o, "mean_ns", h->n > 0 ? json_real(hist_mean(h)) : json_null());
	json_put(o, "max_ns",
		h->n > 0 ? json_integer((json_int_t)h->max_ns) : json_null());
	return o;
}
