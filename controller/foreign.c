/* Foreign results in the database. */
#include "controller/foreign.h"

#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "common/err.h"
#include "common/json.h"
#include "common/record.h"
#include "common/seal.h"
#include "common/str.h"
#include "common/xalloc.h"
#include "controller/api.h"
#include "controller/store.h"

/* NAN is NULL in the database, which has no NAN. */
struct real {
	const char *name;
	size_t at;
};

#define REAL(name)                                          \
	{                                                   \
#name, offsetof(struct foreign_point, name) \
	}

/* The columns and members that are numbers, in the order of the table. */
static const struct real reals[] = {REAL(load_percent), REAL(offered_iops), REAL(iops),
	REAL(bytes_per_second), REAL(read_percent), REAL(in_flight), REAL(lat_mean_ns),
	REAL(lat_p50_ns), REAL(lat_p99_ns),
	{"lat_p99.9_ns", offsetof(struct foreign_point, lat_p99_9_ns)}, REAL(lat_max_ns),
	REAL(transactions_per_second), REAL(duration_ns)};

#define REALS (sizeof(reals) / sizeof(reals[0]))

static double
real_of(const struct foreign_point *p, size_t i)
{
	return *(const double *)(const void *)((const char *)p + reals[i].at);
}

static int
put_real(struct tx *t, int64_t id, const char *column, double x, struct err *e)
{
	char sql[120];

	if (!isfinite(x))
		return 0;
	snprintf(sql, sizeof(sql), "UPDATE foreign_point SET %s = ?1 WHERE id = ?2",
		column);
	return tx_exec(t, e, sql, "di", x, id);
}

static int
put_histogram(
	struct tx *t, int64_t id, const char *sql, const struct hist *h, struct err *e)
{
	uint8_t *buf = xcalloc(1, HIST_ENCODED_MAX);
	size_t n = hist_encode(h, buf, HIST_ENCODED_MAX);
	int rc = tx_exec(t, e, sql, "bi", (const void *)buf, n, id);

	free(buf);
	return rc;
}

static int
put_point(struct tx *t, int64_t result, size_t number, const struct foreign_point *p,
	struct err *e)
{
	int64_t id;
	int rc = tx_exec(t, e,
		"INSERT INTO foreign_point (foreign_id, number, workload, point,"
		" saturated, quality, note, breaks_law, unit_assumed, clat)"
		" VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, ?9, ?10)",
		"iississiii", result, (int64_t)number, p->workload, p->point,
		(int64_t)p->saturated, p->quality, p->note, (int64_t)p->breaks_law,
		(int64_t)p->unit_assumed, (int64_t)p->clat);

	id = tx_last_id(t);
	for (size_t i = 0; rc == 0 && i < REALS; i++) {
		const char *column = strcmp(reals[i].name, "lat_p99.9_ns") == 0
					     ? "lat_p99_9_ns"
					     : reals[i].name;

		rc = put_real(t, id, column, real_of(p, i), e);
	}
	if (rc != 0 || p->service == NULL)
		return rc;
	if (put_histogram(t, id,
		    "UPDATE foreign_point SET read_service = ?1 WHERE id = ?2",
		    &p->service[DIR_READ], e) != 0)
		return -1;
	return put_histogram(t, id,
		"UPDATE foreign_point SET write_service = ?1 WHERE id = ?2",
		&p->service[DIR_WRITE], e);
}

static int
put(struct tx *t, const struct foreign *f, const char *digest, const char *actor,
	int64_t *ret_id, struct err *e)
{
	if (tx_exec(t, e,
		    "INSERT INTO foreign_result (digest, tool, tool_version, source,"
		    " subject, scaled, imported_by, imported_ns)"
		    " VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8)",
		    "sssssisi", digest, f->tool, f->tool_version, f->source, f->subject,
		    (int64_t)f->scaled, actor, tx_wall(t)) != 0)
		return -1;
	*ret_id = tx_last_id(t);
	for (size_t i = 0; i < f->n; i++)
		if (put_point(t, *ret_id, i + 1, &f->points[i], e) != 0)
			return -1;
	return 0;
}

int
foreign_add(struct tx *t, const json_t *doc, const char *actor, int64_t *ret_id,
	bool *ret_new, struct err *e)
{
	char hex[2 * SEAL_HASH_BYTES + 1];
	uint8_t hash[SEAL_HASH_BYTES];
	struct foreign f;
	struct str text = {0};
	int rc = foreign_parse(doc, &f, e);

	if (rc == 0) {
		json_canonical(doc, &text);
		seal_hash(str_text(&text), text.len, hash);
		seal_hex(hash, sizeof(hash), hex);
		rc = tx_int(t, ret_id, e,
			"SELECT id FROM foreign_result WHERE digest = ?1", "s", hex);
		*ret_new = rc == 0;
		rc = rc == 0 ? put(t, &f, hex, actor, ret_id, e) : rc < 0 ? -1 : 0;
	}
	str_fini(&text);
	foreign_fini(&f);
	return rc;
}

/* The columns of SELECT_POINTS; reals begin at 8. */
#define SELECT_POINTS                                                                    \
	"SELECT workload, point, saturated, quality, note, breaks_law, unit_assumed, "   \
	"clat,"                                                                          \
	" load_percent, offered_iops, iops, bytes_per_second, read_percent, in_flight, " \
	"lat_mean_ns,"                                                                   \
	" lat_p50_ns, lat_p99_ns, lat_p99_9_ns, lat_max_ns, transactions_per_second,"    \
	" duration_ns FROM foreign_point"                                                \
	" WHERE foreign_id = ?1 ORDER BY number"
#define FIRST_REAL 8

static void
read_point(struct cur *c, struct foreign_point *p)
{
	snprintf(p->workload, sizeof(p->workload), "%s", cur_text(c, 0));
	snprintf(p->point, sizeof(p->point), "%s", cur_text(c, 1));
	p->saturated = cur_int(c, 2) != 0;
	snprintf(p->quality, sizeof(p->quality), "%s", cur_text(c, 3));
	snprintf(p->note, sizeof(p->note), "%s", cur_text(c, 4));
	p->breaks_law = cur_int(c, 5) != 0;
	p->unit_assumed = cur_int(c, 6) != 0;
	p->clat = cur_int(c, 7) != 0;
	for (size_t i = 0; i < REALS; i++)
		*(double *)(void *)((char *)p +
				    reals[i].at) = cur_null(c, FIRST_REAL + (int)i)
							   ? (double)NAN
							   : cur_real(c,
								     FIRST_REAL + (int)i);
}

static int
read_points(struct tx *t, int64_t id, struct foreign *f, struct err *e)
{
	struct cur *c;
	int rc = tx_query(t, &c, e, SELECT_POINTS, "i", id);

	if (rc != 0)
		return -1;
	while ((rc = cur_next(c, e)) == 1) {
		if ((f->n & (f->n - 1)) == 0)
			f->points = xrealloc(
				f->points, f->n == 0 ? 1 : f->n * 2, sizeof(*f->points));
		memset(&f->points[f->n], 0, sizeof(*f->points));
		read_point(c, &f->points[f->n++]);
	}
	cur_close(c);
	return rc;
}

/* All but the points. */
static int
read_head(struct tx *t, int64_t id, struct foreign *ret_f, struct err *e)
{
	struct foreign *f = ret_f;
	struct cur *c;
	int rc;

	memset(f, 0, sizeof(*f));
	if (tx_query(t, &c, e,
		    "SELECT tool, tool_version, source, subject, scaled"
		    " FROM foreign_result WHERE id = ?1",
		    "i", id) != 0)
		return -1;
	rc = cur_next(c, e);
	if (rc == 1) {
		snprintf(f->tool, sizeof(f->tool), "%s", cur_text(c, 0));
		snprintf(f->tool_version, sizeof(f->tool_version), "%s", cur_text(c, 1));
		snprintf(f->source, sizeof(f->source), "%s", cur_text(c, 2));
		snprintf(f->subject, sizeof(f->subject), "%s", cur_text(c, 3));
		f->scaled = (int)cur_int(c, 4);
	}
	cur_close(c);
	if (rc == 0) {
		err_set(e, ERR_NOTFOUND, "there is no foreign result x%" PRId64, id);
		return err_fix(e, "ssdlab foreign ls");
	}
	return rc < 0 ? -1 : 0;
}

int
foreign_load(struct tx *t, int64_t id, struct foreign *ret_f, struct err *e)
{
	return read_head(t, id, ret_f, e) == 0 ? read_points(t, id, ret_f, e) : -1;
}

static int
add_histogram(struct cur *c, int col, struct hist *h, struct err *e)
{
	struct hist *one;
	size_t len, used;
	const uint8_t *bytes = cur_bytes(c, col, &len);
	int rc;

	if (len == 0)
		return 0;
	one = xcalloc(1, sizeof(*one));
	rc = hist_decode(one, bytes, len, &used, e);
	if (rc == 0)
		hist_merge(h, one);
	free(one);
	return rc;
}

int
foreign_histogram(struct tx *t, int64_t id, int64_t number, int dir, struct hist *ret_h,
	struct err *e)
{
	struct cur *c;
	bool there = false;
	int rc = tx_query(t, &c, e,
		"SELECT read_service, write_service FROM foreign_point"
		" WHERE foreign_id = ?1 AND number = ?2",
		"ii", id, number);

	if (rc != 0)
		return -1;
	hist_reset(ret_h);
	rc = cur_next(c, e);
	for (int d = 0; rc == 1 && d < DATA_DIRECTIONS; d++) {
		there = there || !cur_null(c, d);
		if ((dir < 0 || dir == d) && add_histogram(c, d, ret_h, e) != 0)
			rc = -1;
	}
	cur_close(c);
	if (rc < 0 || there)
		return rc < 0 ? -1 : 0;
	err_set(e, ERR_NOTFOUND,
		rc == 0 ? "x%" PRId64 " has no point %" PRId64
			: "x%" PRId64 " has no histogram of point %" PRId64,
		id, number);
	return err_fix(e,
		"ssdlab foreign show x%" PRId64 " lists the points; those of fio's "
		"JSON+ have histograms",
		id);
}

/* Marks of a point: with those of its bandwidth, of its percentiles. */
static void
add_marks(const struct foreign_point *p, bool bandwidth, bool percentile, json_t *list)
{
	if (strcmp(p->quality, "measured") != 0)
		json_array_append_new(list, json_string(p->quality));
	if (p->breaks_law)
		json_array_append_new(list, json_string("littles-law"));
	if (p->unit_assumed && bandwidth)
		json_array_append_new(list, json_string("unit-assumed"));
	if (p->clat && percentile)
		json_array_append_new(list, json_string("clat"));
}

void
foreign_marks(const struct foreign_point *p, json_t *list)
{
	add_marks(p, true, true, list);
}

void
foreign_figure_marks(const struct foreign_point *p, enum figure f, json_t *list)
{
	add_marks(p, f == FIGURE_PEAK_BYTES,
		f == FIGURE_P99_PEAK || f == FIGURE_P99_9_PEAK, list);
}

json_t *
foreign_scaled(const struct foreign *f)
{
	return f->scaled < 0 ? json_null() : json_boolean(f->scaled);
}

static json_t *
point_json(const struct foreign_point *p, size_t number)
{
	json_t *o = json_pack("{s:i, s:o, s:o, s:b}", "number", (int)number, "workload",
		json_text(p->workload), "point", json_text(p->point), "saturated",
		(int)p->saturated);
	json_t *marks = json_array();

	for (size_t i = 0; i < REALS; i++)
		json_put(o, reals[i].name, result_real(real_of(p, i)));
	json_put(o, "littles_n", result_real(p->iops * p->lat_mean_ns / 1e9));
	json_put(o, "quality", json_text(p->quality));
	json_put(o, "note", json_text(p->note));
	foreign_marks(p, marks);
	json_put(o, "marks", marks);
	return o;
}

/* Adds when and by whom a result was imported, and how many points it has. */
static int
add_record(struct tx *t, int64_t id, json_t *o, struct err *e)
{
	int64_t imported = 0, points = 0;
	char *by = NULL;
	int rc = tx_int(t, &imported, e,
			 "SELECT imported_ns FROM foreign_result WHERE id = ?1", "i",
			 id) < 0 ||
				 tx_int(t, &points, e,
					 "SELECT count(*) FROM foreign_point"
					 " WHERE foreign_id = ?1",
					 "i", id) < 0 ||
				 tx_text(t, &by, e,
					 "SELECT imported_by FROM foreign_result"
					 " WHERE id = ?1",
					 "i", id) < 0
			 ? -1
			 : 0;

	if (rc == 0) {
		json_put(o, "imported", api_time(imported));
		json_put(o, "imported_by", json_text(by));
		json_put(o, "n_points", json_integer(points));
	}
	free(by);
	return rc;
}

json_t *
foreign_head(const struct foreign *f, int64_t id)
{
	json_t *o = json_object();

	json_put(o, "id", api_id('x', id));
	json_put(o, "foreign", json_true());
	json_put(o, "tool", json_text(f->tool));
	json_put(o, "tool_version", json_text(f->tool_version));
	json_put(o, "source", json_text(f->source));
	json_put(o, "subject", json_text(f->subject));
	json_put(o, "scaled", foreign_scaled(f));
	return o;
}

int
foreign_json(struct tx *t, int64_t id, bool whole, json_t **ret_doc, struct err *e)
{
	struct foreign f;
	json_t *o = NULL, *list;
	int rc = whole ? foreign_load(t, id, &f, e) : read_head(t, id, &f, e);

	if (rc == 0) {
		o = foreign_head(&f, id);
		rc = add_record(t, id, o, e);
	}
	if (rc == 0 && whole) {
		list = json_array();
		for (size_t i = 0; i < f.n; i++)
			json_array_append_new(list, point_json(&f.points[i], i + 1));
		json_put(o, "points", list);
	}
	if (rc == 0)
		*ret_doc = o;
	else
		json_decref(o);
	foreign_fini(&f);
	return rc;
}

/* The curve of a workload, which is made when there is none. */
static struct result_curve *
curve_of(struct result *r, const char *workload)
{
	struct result_curve *c;

	for (size_t i = 0; i < r->n_curves; i++)
		if (strcmp(r->curves[i].workload, workload) == 0)
			return &r->curves[i];
	r->curves = xrealloc(r->curves, r->n_curves + 1, sizeof(*r->curves));
	c = &r->curves[r->n_curves++];
	*c = (struct result_curve){.operations = 1U << DIR_READ | 1U << DIR_WRITE};
	snprintf(c->workload, sizeof(c->workload), "%s", workload);
	return c;
}

void
foreign_result(const struct foreign *f, int64_t id, struct result_list *ret_l)
{
	const struct curve_latency none = {
		(double)NAN, (double)NAN, (double)NAN, (double)NAN};
	struct result *r = xcalloc(1, sizeof(*r));

	*ret_l = (struct result_list){r, 1};
	r->run = id;
	r->done = true;
	r->scaled = f->scaled == 1;
	snprintf(r->state, sizeof(r->state), "done");
	snprintf(r->model, sizeof(r->model), "%.63s", f->subject);
	snprintf(r->kind, sizeof(r->kind), "foreign");
	for (size_t i = 0; i < f->n; i++) {
		const struct foreign_point *p = &f->points[i];
		struct result_curve *c;

		/* A rate that was asked for is no maximum, and on no curve without one.
		 */
		if (!isfinite(p->iops) ||
			(strcmp(p->point, "rate") == 0 && !isfinite(p->load_percent)))
			continue;
		c = curve_of(r, p->workload);
		c->points = xrealloc(c->points, c->n + 1, sizeof(*c->points));
		c->points[c->n++] = (struct curve_point){.point = (uint32_t)i + 1,
			.load_percent = p->load_percent,
			.offered_iops = isfinite(p->load_percent) ? p->offered_iops
								  : (double)NAN,
			.iops = p->iops,
			.bytes_per_second = p->bytes_per_second,
			.service = {p->lat_mean_ns, p->lat_p50_ns, p->lat_p99_ns,
				p->lat_p99_9_ns},
			.response = none};
		c->cap = c->n;
	}
	for (size_t i = 0; i < r->n_curves; i++)
		curve_sort(r->curves[i].points, r->curves[i].n);
}

void
foreign_fini(struct foreign *f)
{
	for (size_t i = 0; i < f->n; i++)
		free(f->points[i].service);
	free(f->points);
	memset(f, 0, sizeof(*f));
}
