/* Tables of published figures as foreign results. */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "cli/convert.h"
#include "cli/foreign.h"
#include "common/err.h"
#include "common/json.h"
#include "common/str.h"

enum column {
	DRIVE,
	WORKLOAD,
	POINT,
	METRIC,
	VALUE,
	UNIT,
	QUALITY,
	SOURCE,
	NOTE,
	UNIT_BYTES, /* how many bytes the unit is; may be missing */
	COLUMNS
};

static const char *const titles[COLUMNS] = {"drive", "workload", "point", "metric",
	"value", "unit", "quality", "source", "note", "unit_bytes"};

#define FIELDS_MAX 32

/* StorageReview prints MiB/s divided by 1000 as GB/s: 39,502 reads of 64 KiB a second,
 * 2,469 MiB/s, are its 2.5 GB/s. What a table calls GB/s and MB/s is taken for that, and
 * marked, unless it says how many bytes they are. */
#define PRINTED_GB (1000.0 * 1048576)
#define PRINTED_MB 1048576.0

#define BANDWIDTH "bytes_per_second"

static const struct {
	const char *metric, *unit;
	const char *member; /* of a point */
	double times;
	bool assumed; /* the unit does not say how much it is */
} metrics[] = {
	{"iops", "1/s", "iops", 1, false},
	{"tps", "1/s", "transactions_per_second", 1, false},
	{"latency_mean", "us", "lat_mean_ns", 1e3, false},
	{"latency_mean", "ms", "lat_mean_ns", 1e6, false},
	{"latency_p99", "us", "lat_p99_ns", 1e3, false},
	{"latency_p99", "ms", "lat_p99_ns", 1e6, false},
	{"bandwidth", "GB/s", BANDWIDTH, PRINTED_GB, true},
	{"bandwidth", "MB/s", BANDWIDTH, PRINTED_MB, true},
	{"bandwidth", "GiB/s", BANDWIDTH, 1073741824, false},
	{"bandwidth", "MiB/s", BANDWIDTH, 1048576, false},
	{"bandwidth", "B/s", BANDWIDTH, 1, false},
	{"duration", "s", "duration_ns", 1e9, false},
};

static const struct {
	const char *workload;
	double older, newer;
} in_flight[] = {
#define PUBLISHED(workload, older, newer) {workload, older, newer},
#include "cli/published_tbl.h"
#undef PUBLISHED
};

/* From the best to the worst. */
static const char *const qualities[] = {
	"printed", "reconstructed", "suspect", "contradictory"};

struct reader {
	const char *next, *end;
	unsigned line;	/* of the record being read */
	unsigned lines; /* that were read */
	struct str fields[FIELDS_MAX];
	size_t n;
	int column[COLUMNS]; /* where each stands in a record */
};

/* One field, RFC 4180: quotes around it may hold commas, line ends and doubled quotes. */
static int
read_field(struct reader *r, struct str *out, struct err *e)
{
	bool quoted = r->next < r->end && *r->next == '"';

	str_reset(out);
	for (r->next += quoted; r->next < r->end; r->next++) {
		char ch = *r->next;

		if (quoted && ch == '"') {
			if (r->next + 1 == r->end || r->next[1] != '"')
				break;
			r->next++;
		} else if (!quoted && (ch == ',' || ch == '\n' || ch == '\r')) {
			break;
		}
		r->lines += ch == '\n';
		str_add(out, &ch, 1);
	}
	if (!quoted)
		return 0;
	if (r->next == r->end)
		return err_set(e, ERR_INVALID, "line %u: a quote is not closed", r->line);
	r->next++;
	return 0;
}

/* One record: 1, 0 at the end, or -1. */
static int
read_record(struct reader *r, struct err *e)
{
	r->n = 0;
	if (r->next == r->end)
		return 0;
	r->line = r->lines + 1;
	for (;;) {
		if (r->n == FIELDS_MAX)
			return err_set(e, ERR_INVALID,
				"line %u: a record has more than %d fields", r->line,
				FIELDS_MAX);
		if (read_field(r, &r->fields[r->n++], e) != 0)
			return -1;
		if (r->next < r->end && *r->next == '\r')
			r->next++;
		if (r->next == r->end)
			return 1;
		if (*r->next == '\n') {
			r->next++;
			r->lines++;
			return 1;
		}
		if (*r->next++ != ',')
			return err_set(e, ERR_INVALID,
				"line %u: something stands behind a quote", r->line);
	}
}

static int
read_titles(struct reader *r, struct err *e)
{
	if (read_record(r, e) < 0)
		return -1;
	for (int c = 0; c < COLUMNS; c++) {
		r->column[c] = -1;
		for (size_t i = 0; i < r->n; i++)
			if (strcmp(str_text(&r->fields[i]), titles[c]) == 0)
				r->column[c] = (int)i;
		if (r->column[c] >= 0 || c == UNIT_BYTES)
			continue;
		err_set(e, ERR_INVALID, "line 1: there is no column \"%s\"", titles[c]);
		return err_fix(e,
			"its columns are drive, workload, point, metric, value, "
			"unit, quality, source, note and, where it is told, "
			"unit_bytes");
	}
	return 0;
}

static const char *
field(const struct reader *r, enum column c)
{
	return r->column[c] < 0 ? "" : str_text(&r->fields[r->column[c]]);
}

/* The document of a drive, which is made when there is none. Borrowed. */
static json_t *
document_of(json_t *docs, const char *drive, const char *source)
{
	json_t *doc;
	size_t i;

	json_array_foreach (docs, i, doc)
		if (strcmp(json_text_of(doc, "subject"), drive) == 0)
			return doc;
	doc = foreign_begin("published", "", source, drive);
	json_put(doc, "scaled", json_false());
	json_array_append_new(docs, doc);
	return doc;
}

/* The point of a workload, which is made when there is none. Borrowed. */
static json_t *
point_of(json_t *doc, const char *workload, const char *point)
{
	json_t *p;
	size_t i;

	json_array_foreach (json_object_get(doc, "points"), i, p)
		if (strcmp(json_text_of(p, "workload"), workload) == 0 &&
			strcmp(json_text_of(p, "point"), point) == 0)
			return p;
	return foreign_point(doc, workload, point, qualities[0]);
}

static size_t
rank_of(const char *quality)
{
	size_t i = 0;

	while (i < sizeof(qualities) / sizeof(qualities[0]) &&
		strcmp(qualities[i], quality) != 0)
		i++;
	return i;
}

/* What is known, for one who wrote something else. */
static int
name_metrics(struct err *e)
{
	struct str list = {0};
	size_t n = sizeof(metrics) / sizeof(metrics[0]);

	for (size_t i = 0; i < n; i++)
		if (i > 0 && strcmp(metrics[i].metric, metrics[i - 1].metric) == 0)
			str_printf(&list, " or %s", metrics[i].unit);
		else
			str_printf(&list, "%s%s in %s", i > 0 ? ", " : "",
				metrics[i].metric, metrics[i].unit);
	err_fix(e, "known here: %s", str_text(&list));
	str_fini(&list);
	return -1;
}

/* A point is no better than its worst figure. */
static int
add_quality(const struct reader *r, json_t *p, struct err *e)
{
	const char *quality = field(r, QUALITY);

	if (rank_of(quality) == sizeof(qualities) / sizeof(qualities[0])) {
		err_set(e, ERR_INVALID, "line %u: \"%.40s\" is no quality", r->line,
			quality);
		return err_fix(
			e, "printed, reconstructed, suspect and contradictory are");
	}
	if (rank_of(quality) > rank_of(json_text_of(p, "quality")))
		json_put(p, "quality", json_text(quality));
	return 0;
}

/* Notes of a point and the files it is from, each once. */
static void
add_note(const struct reader *r, json_t *p)
{
	const char *parts[] = {field(r, SOURCE), field(r, NOTE)};
	struct str note = {0};

	str_puts(&note, json_text_of(p, "note"));
	for (size_t i = 0; i < 2; i++)
		if (parts[i][0] != '\0' && strstr(str_text(&note), parts[i]) == NULL &&
			note.len + strlen(parts[i]) < 250)
			str_printf(&note, "%s%s", note.len > 0 ? "; " : "", parts[i]);
	if (note.len > 0)
		json_put(p, "note", json_text(str_text(&note)));
	str_fini(&note);
}

/* Reads a field that is a number. */
static int
read_number(const struct reader *r, enum column c, double *ret_x, struct err *e)
{
	char *end;

	*ret_x = strtod(field(r, c), &end);
	if (*end == '\0' && end != field(r, c) && *ret_x >= 0 && *ret_x < 1e15)
		return 0;
	return err_set(e, ERR_INVALID, "line %u: \"%.40s\" is no %s", r->line,
		field(r, c), c == VALUE ? "value" : "number of bytes");
}

/* Adds a figure of a known unit; a bandwidth's may say how many bytes it is. */
static int
add_known(const struct reader *r, size_t metric, double x, json_t *p, struct err *e)
{
	bool bandwidth = strcmp(metrics[metric].member, BANDWIDTH) == 0;
	double times = metrics[metric].times;

	if (field(r, UNIT_BYTES)[0] == '\0') {
		if (metrics[metric].assumed)
			json_put(p, "unit_assumed", json_true());
	} else if (!bandwidth) {
		return err_set(e, ERR_INVALID,
			"line %u: only the unit of a bandwidth is so many bytes",
			r->line);
	} else if (read_number(r, UNIT_BYTES, &times, e) != 0) {
		return -1;
	}
	foreign_real(p, metrics[metric].member, x * times);
	return 0;
}

static int
add_figure(const struct reader *r, json_t *p, struct err *e)
{
	const char *metric = field(r, METRIC), *unit = field(r, UNIT);
	double x;

	if (read_number(r, VALUE, &x, e) != 0)
		return -1;
	for (size_t i = 0; i < sizeof(metrics) / sizeof(metrics[0]); i++) {
		if (strcmp(metrics[i].metric, metric) != 0 ||
			strcmp(metrics[i].unit, unit) != 0)
			continue;
		if (json_has(p, metrics[i].member))
			return err_set(e, ERR_INVALID,
				"line %u: this figure of the point is there already",
				r->line);
		return add_known(r, i, x, p, e);
	}
	err_set(e, ERR_INVALID,
		"line %u: a metric \"%.40s\" in \"%.20s\" is not known here", r->line,
		metric, unit);
	return name_metrics(e);
}

static int
add_record(const struct reader *r, json_t *docs, const char *source, struct err *e)
{
	char id[WORKLOAD_ID_MAX];
	json_t *p;

	for (int c = 0; c < COLUMNS; c++)
		if (r->column[c] >= (int)r->n)
			return err_set(e, ERR_INVALID,
				"line %u: a record has %zu fields, and the titles more",
				r->line, r->n);
	if (field(r, DRIVE)[0] == '\0' || field(r, WORKLOAD)[0] == '\0' ||
		field(r, POINT)[0] == '\0')
		return err_set(e, ERR_INVALID,
			"line %u: a figure has a drive, a workload and a point", r->line);
	convert_id(id, field(r, WORKLOAD));
	p = point_of(document_of(docs, field(r, DRIVE), source), id, field(r, POINT));
	if (add_quality(r, p, e) != 0 || add_figure(r, p, e) != 0)
		return -1;
	add_note(r, p);
	return 0;
}

/* What was in flight, from the review whose number the figures are nearer to. At the
 * peak all of it was; below, it is a bound. */
static void
add_in_flight(json_t *p)
{
	const char *workload = json_text_of(p, "workload");
	double n = json_number_value(json_object_get(p, "iops")) *
		   json_number_value(json_object_get(p, "lat_mean_ns")) / 1e9;

	for (size_t i = 0; n > 0 && i < sizeof(in_flight) / sizeof(in_flight[0]); i++) {
		double older = in_flight[i].older, newer = in_flight[i].newer;

		if (strcmp(in_flight[i].workload, workload) != 0)
			continue;
		foreign_real(p, "in_flight",
			older > 0 && fabs(n - older) <= fabs(n - newer) ? older : newer);
		json_put(p, "saturated",
			json_boolean(strcmp(json_text_of(p, "point"), "peak") == 0));
	}
}

int
foreign_published(const char *text, size_t len, const struct foreign_origin *o,
	json_t **ret_docs, struct err *e)
{
	struct reader r = {.next = text, .end = text + len};
	json_t *docs = json_array();
	json_t *doc, *p;
	size_t i, k;
	int rc = read_titles(&r, e);

	while (rc == 0 && (rc = read_record(&r, e)) == 1)
		rc = r.n == 1 && r.fields[0].len == 0
			     ? 0
			     : add_record(&r, docs, o->source, e);
	if (rc == 0 && json_array_size(docs) == 0)
		rc = err_set(e, ERR_INVALID, "there are no figures in it");
	json_array_foreach (docs, i, doc)
		json_array_foreach (json_object_get(doc, "points"), k, p)
			add_in_flight(p);
	for (i = 0; i < FIELDS_MAX; i++)
		str_fini(&r.fields[i]);
	if (rc != 0) {
		json_decref(docs);
		docs = NULL;
	}
	*ret_docs = docs;
	return rc;
}
