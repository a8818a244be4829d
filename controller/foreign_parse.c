/* The document of a foreign result, read and checked. Pure. */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "analysis/sanity.h"
#include "common/err.h"
#include "common/json.h"
#include "common/record.h"
#include "common/str.h"
#include "common/xalloc.h"
#include "controller/foreign.h"

#define AT_MAX 80
#define REAL_MAX 1e18

const char *const foreign_tools[] = {"fio", "vdbench", "published", NULL};

static int
read_text(const json_t *o, const char *at, const char *name, char *buf, size_t size,
	struct err *e)
{
	const char *text;

	buf[0] = '\0';
	if (json_need_text(o, at, name, &text, e) != 0)
		return -1;
	if (strlen(text) >= size) {
		err_set(e, ERR_INVALID, "\"%s\" has at most %zu bytes", name, size - 1);
		return err_at(e, "%s/%s", at, name);
	}
	if (!str_is_plain(text)) {
		err_set(e, ERR_INVALID,
			"\"%s\" has no controls, and nothing that turns the direction of "
			"text",
			name);
		return err_at(e, "%s/%s", at, name);
	}
	snprintf(buf, size, "%s", text);
	return 0;
}

/* Whether a text that was read is one of the NULL-ended choices. */
static int
check_choice(const char *text, const char *at, const char *name,
	const char *const choices[], struct err *e)
{
	for (size_t i = 0; choices[i] != NULL; i++)
		if (strcmp(choices[i], text) == 0)
			return 0;
	err_set(e, ERR_INVALID, "\"%s\" cannot be \"%.40s\"", name, text);
	err_suggest(e, text, choices);
	return err_at(e, "%s/%s", at, name);
}

/* A number of 0 or more, or none. */
static int
read_real(const json_t *o, const char *at, const char *name, double *ret_x, struct err *e)
{
	*ret_x = (double)NAN;
	if (!json_has(o, name))
		return 0;
	if (json_need_real(o, at, name, ret_x, e) != 0)
		return -1;
	if (*ret_x >= 0 && *ret_x <= REAL_MAX)
		return 0;
	err_set(e, ERR_INVALID, "\"%s\" is a number of 0 or more", name);
	return err_at(e, "%s/%s", at, name);
}

/* Pairs of a bucket of common/hist and its count, rising: [120, 5, 121, 7]. */
static int
read_buckets(const json_t *o, const char *at, struct hist *h, struct err *e)
{
	json_t *list;
	int64_t last = -1;

	if (json_need_array(o, at, "buckets", &list, e) != 0)
		return -1;
	if (json_array_size(list) % 2 != 0) {
		err_set(e, ERR_INVALID, "buckets are pairs of a number and a count");
		return err_at(e, "%s/buckets", at);
	}
	for (size_t i = 0; i + 1 < json_array_size(list); i += 2) {
		int64_t bucket = json_integer_value(json_array_get(list, i));
		int64_t count = json_integer_value(json_array_get(list, i + 1));

		if (!json_is_integer(json_array_get(list, i)) ||
			!json_is_integer(json_array_get(list, i + 1)) || bucket <= last ||
			bucket >= HIST_BUCKETS || count <= 0 ||
			count > SAMPLE_COUNT_MAX / HIST_BUCKETS) {
			err_set(e, ERR_INVALID,
				"buckets are pairs of a rising number below %d and a "
				"count",
				HIST_BUCKETS);
			return err_at(e, "%s/buckets/%zu", at, i);
		}
		h->count[bucket] = (uint64_t)count;
		h->n += (uint64_t)count;
		last = bucket;
	}
	return 0;
}

/* "histograms": {"read": {...}, "write": {...}} */
static int
read_histogram(const json_t *all, const char *at, const char *name, struct hist *h,
	struct err *e)
{
	static const char *const names[] = {
		"min_ns", "max_ns", "sum_ns", "buckets", NULL};
	char below[AT_MAX];
	json_t *o;

	if (!json_has(all, name))
		return 0;
	snprintf(below, sizeof(below), "%s/%s", at, name);
	if (json_need_object(all, at, name, &o, e) != 0 ||
		json_only(o, below, names, e) != 0 ||
		json_need_u64(o, below, "min_ns", &h->min_ns, e) != 0 ||
		json_need_u64(o, below, "max_ns", &h->max_ns, e) != 0 ||
		json_need_u64(o, below, "sum_ns", &h->sum_ns, e) != 0 ||
		read_buckets(o, below, h, e) != 0)
		return -1;
	if (h->n > 0 && hist_is_sound(h))
		return 0;
	err_set(e, ERR_INVALID, "the buckets do not fit the extremes and the sum");
	return err_at(e, "%s", below);
}

/* A percentile, where enough I/Os support it. */
static double
percentile(const struct hist *h, double q)
{
	return hist_percentile_known(h, q) ? (double)hist_percentile(h, q) : (double)NAN;
}

/* Figures of latency come from the histograms where there are some. */
static int
read_histograms(const json_t *o, const char *at, struct foreign_point *p, struct err *e)
{
	static const char *const names[] = {"read", "write", NULL};
	char below[AT_MAX];
	struct hist *all;
	json_t *list;

	if (!json_has(o, "histograms"))
		return 0;
	snprintf(below, sizeof(below), "%s/histograms", at);
	p->service = xcalloc(DATA_DIRECTIONS, sizeof(*p->service));
	if (json_need_object(o, at, "histograms", &list, e) != 0 ||
		json_only(list, below, names, e) != 0 ||
		read_histogram(list, below, "read", &p->service[DIR_READ], e) != 0 ||
		read_histogram(list, below, "write", &p->service[DIR_WRITE], e) != 0)
		return -1;
	all = xcalloc(1, sizeof(*all));
	hist_merge(all, &p->service[DIR_READ]);
	hist_merge(all, &p->service[DIR_WRITE]);
	if (all->n > 0) {
		p->lat_mean_ns = hist_mean(all);
		p->lat_p50_ns = percentile(all, 0.5);
		p->lat_p99_ns = percentile(all, 0.99);
		p->lat_p99_9_ns = percentile(all, 0.999);
		p->lat_max_ns = (double)all->max_ns;
	}
	free(all);
	return 0;
}

static int
read_reals(const json_t *o, const char *at, struct foreign_point *p, struct err *e)
{
	const struct {
		const char *name;
		double *x;
	} rows[] = {{"load_percent", &p->load_percent},
		{"offered_iops", &p->offered_iops}, {"iops", &p->iops},
		{"bytes_per_second", &p->bytes_per_second},
		{"read_percent", &p->read_percent}, {"in_flight", &p->in_flight},
		{"lat_mean_ns", &p->lat_mean_ns}, {"lat_p50_ns", &p->lat_p50_ns},
		{"lat_p99_ns", &p->lat_p99_ns}, {"lat_p99.9_ns", &p->lat_p99_9_ns},
		{"lat_max_ns", &p->lat_max_ns},
		{"transactions_per_second", &p->transactions_per_second},
		{"duration_ns", &p->duration_ns}};

	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++)
		if (read_real(o, at, rows[i].name, rows[i].x, e) != 0)
			return -1;
	return 0;
}

static int
read_bools(const json_t *o, const char *at, struct foreign_point *p, struct err *e)
{
	const struct {
		const char *name;
		bool *x;
	} rows[] = {{"saturated", &p->saturated}, {"unit_assumed", &p->unit_assumed},
		{"clat", &p->clat}};

	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++)
		if (json_has(o, rows[i].name) &&
			json_need_bool(o, at, rows[i].name, rows[i].x, e) != 0)
			return -1;
	return 0;
}

/*
 * Little's law: the mean number in flight is the rate times the mean time. Where a tool
 * kept all in flight both are equal, else it is the most there can be.
 */
static bool
breaks_law(const struct foreign_point *p)
{
	double n = p->iops * p->lat_mean_ns / 1e9;

	if (!isfinite(n) || !isfinite(p->in_flight))
		return false;
	return n > p->in_flight * (1 + SANITY_LITTLE) ||
	       (p->saturated && n < p->in_flight * (1 - SANITY_LITTLE));
}

static int
read_point(const json_t *o, size_t i, struct foreign_point *p, struct err *e)
{
	static const char *const names[] = {"workload", "point", "load_percent",
		"offered_iops", "iops", "bytes_per_second", "read_percent", "in_flight",
		"saturated", "unit_assumed", "clat", "lat_mean_ns", "lat_p50_ns",
		"lat_p99_ns", "lat_p99.9_ns", "lat_max_ns", "transactions_per_second",
		"duration_ns", "quality", "note", "histograms", NULL};
	static const char *const qualities[] = {
		"measured", "printed", "reconstructed", "suspect", "contradictory", NULL};
	char at[AT_MAX / 2];

	snprintf(at, sizeof(at), "/points/%zu", i);
	if (json_only(o, at, names, e) != 0 ||
		read_text(o, at, "workload", p->workload, sizeof(p->workload), e) != 0 ||
		read_text(o, at, "point", p->point, sizeof(p->point), e) != 0 ||
		read_text(o, at, "quality", p->quality, sizeof(p->quality), e) != 0 ||
		check_choice(p->quality, at, "quality", qualities, e) != 0 ||
		read_reals(o, at, p, e) != 0)
		return -1;
	if (json_has(o, "note") &&
		read_text(o, at, "note", p->note, sizeof(p->note), e) != 0)
		return -1;
	if (read_bools(o, at, p, e) != 0)
		return -1;
	if (read_histograms(o, at, p, e) != 0)
		return -1;
	p->breaks_law = breaks_law(p);
	return 0;
}

static int
read_points(const json_t *doc, struct foreign *f, struct err *e)
{
	json_t *list, *item;
	size_t i, n;

	if (json_need_array(doc, "", "points", &list, e) != 0)
		return -1;
	n = json_array_size(list);
	if (n < 1 || n > FOREIGN_POINTS_MAX) {
		err_set(e, n < 1 ? ERR_INVALID : ERR_LIMIT,
			"a foreign result has 1 to %d points", FOREIGN_POINTS_MAX);
		return err_at(e, "/points");
	}
	f->points = xcalloc(n, sizeof(*f->points));
	json_array_foreach (list, i, item) {
		f->n = i + 1;
		if (read_point(item, i, &f->points[i], e) != 0)
			return -1;
	}
	return 0;
}

int
foreign_parse(const json_t *doc, struct foreign *ret_f, struct err *e)
{
	static const char *const names[] = {"ssdlab", "tool", "tool_version", "source",
		"subject", "scaled", "points", NULL};
	static const char *const kinds[] = {"foreign/v1", NULL};
	struct foreign *f = ret_f;
	char kind[16];
	bool scaled = false;

	memset(f, 0, sizeof(*f));
	f->scaled = -1;
	if (json_only(doc, "", names, e) != 0 ||
		read_text(doc, "", "ssdlab", kind, sizeof(kind), e) != 0 ||
		check_choice(kind, "", "ssdlab", kinds, e) != 0 ||
		read_text(doc, "", "tool", f->tool, sizeof(f->tool), e) != 0 ||
		check_choice(f->tool, "", "tool", foreign_tools, e) != 0 ||
		read_text(doc, "", "tool_version", f->tool_version,
			sizeof(f->tool_version), e) != 0 ||
		read_text(doc, "", "source", f->source, sizeof(f->source), e) != 0 ||
		read_text(doc, "", "subject", f->subject, sizeof(f->subject), e) != 0)
		return -1;
	if (json_has(doc, "scaled")) {
		if (json_need_bool(doc, "", "scaled", &scaled, e) != 0)
			return -1;
		f->scaled = scaled;
	}
	return read_points(doc, f, e);
}
