#include "controller/fact.h"

#include <assert.h>
#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "analysis/metrics.h"
#include "common/err.h"
#include "common/json.h"
#include "common/parse.h"
#include "common/str.h"
#include "common/xalloc.h"
#include "controller/environment.h"
#include "controller/event.h"
#include "controller/flags.h"
#include "controller/health.h"
#include "controller/ledger.h"
#include "controller/rounds.h"
#include "controller/store.h"

static const char *const point_states[] = {"done", "stopped", "failed", NULL};

/* 64-bit counters are decimal strings, small numbers are numbers; false for neither. */
static bool
read_count(const json_t *v, uint64_t *ret_n)
{
	if (json_is_integer(v) && json_integer_value(v) >= 0) {
		*ret_n = (uint64_t)json_integer_value(v);
		return true;
	}
	return json_is_string(v) &&
	       parse_uint(json_string_value(v), 0, INT64_MAX, ret_n, NULL) == 0;
}

static uint64_t
count_of(const json_t *doc, const char *name)
{
	uint64_t n = 0;

	return read_count(json_object_get(doc, name), &n) ? n : 0;
}

void
fact_counts(const json_t *doc, const char *name, uint64_t ret_n[DIRECTIONS])
{
	const json_t *list = json_object_get(doc, name);

	for (int d = 0; d < DIRECTIONS; d++) {
		const json_t *v = json_array_get(list, (size_t)d);

		if (d >= DATA_DIRECTIONS)
			v = json_object_get(
				json_object_get(json_object_get(doc, "others"),
					direction_name((enum direction)d)),
				name);
		if (!read_count(v, &ret_n[d]))
			ret_n[d] = 0;
	}
}

int64_t
fact_length_ns(const json_t *doc)
{
	return (int64_t)count_of(doc, "length_ns");
}

bool
fact_gap(const json_t *doc, uint64_t seq, uint64_t *ret_from, uint64_t *ret_to)
{
	return read_count(json_object_get(doc, "from"), ret_from) &&
	       read_count(json_object_get(doc, "to"), ret_to) && *ret_from >= 1 &&
	       *ret_from <= *ret_to && *ret_from <= seq;
}

/* Records why f is not understood. */
static void
refuse(struct fact *f, const char *why)
{
	snprintf(f->why, sizeof(f->why), "record %" PRIu64 " is not understood: %.100s",
		f->seq, why);
	f->understood = false;
}

static void
read_point(struct fact *f, const struct spool_record *rec, struct err *e)
{
	const char *state;

	f->pr = xcalloc(1, sizeof(*f->pr));
	if (point_decode(f->pr, rec->payload, rec->len, e) != 0) {
		free(f->pr);
		f->pr = NULL;
		refuse(f, e->text);
		return;
	}
	f->doc = f->pr->meta;
	state = json_text_of(f->doc, "state");
	f->point = (uint32_t)count_of(f->doc, "point");
	for (size_t i = 0; point_states[i] != NULL; i++)
		f->understood |= strcmp(point_states[i], state) == 0;
	if (f->point == 0 || json_text_of(f->doc, "workload")[0] == '\0')
		f->understood = false;
	if (!f->understood)
		refuse(f, "a point without number, workload or state");
}

static void
read_document(struct fact *f, const struct spool_record *rec, struct err *e)
{
	if (json_parse((const char *)rec->payload, rec->len, &f->doc, e) != 0) {
		refuse(f, e->text);
		return;
	}
	f->understood = json_is_object(f->doc);
	if (!f->understood)
		refuse(f, "no JSON object");
	else if (f->kind == RECORD_EVENT)
		f->point = (uint32_t)count_of(f->doc, "point");
	else if (f->kind == RECORD_GAP && !fact_gap(f->doc, f->seq, &f->from, &f->to))
		refuse(f, "a gap without a range of records");
}

void
fact_read(struct fact *ret_f, const struct spool_record *rec)
{
	struct err e = {0};

	*ret_f = (struct fact){.kind = rec->kind, .seq = rec->seq};
	switch (rec->kind) {
	case RECORD_SAMPLE:
		ret_f->point = sample_point(rec->payload, rec->len);
		ret_f->understood = ret_f->point > 0;
		if (!ret_f->understood)
			refuse(ret_f, "no sample");
		break;
	case RECORD_POINT:
		read_point(ret_f, rec, &e);
		break;
	case RECORD_EVENT:
	case RECORD_RESULT:
	case RECORD_GAP:
		read_document(ret_f, rec, &e);
		break;
	default:
		refuse(ret_f, "its kind is not known here");
	}
}

void
fact_fini(struct fact *f)
{
	if (f->pr != NULL)
		point_record_fini(f->pr);
	else
		json_decref(f->doc);
	free(f->pr);
	f->pr = NULL;
	f->doc = NULL;
}

/* An object with the ids that every event of a run carries. */
static json_t *
new_event(const struct origin *o)
{
	json_t *data = json_object();

	json_put(data, "run", json_sprintf("r%" PRId64, o->run));
	json_put(data, "campaign", json_sprintf("c%" PRId64, o->campaign));
	json_put(data, "attempt", json_sprintf("%" PRId64, o->attempt));
	return data;
}

static int
add_event(struct tx *t, const struct origin *o, const char *name, json_t *data,
	struct err *e)
{
	char topic[32];

	snprintf(topic, sizeof(topic), "run:r%" PRId64, o->run);
	return event_add(t, name, topic, data, e);
}

/* The text may quote bytes and be cut within a character. */
int
fact_alarm(struct tx *t, const struct origin *o, const char *what, uint64_t seq,
	const char *text, struct err *e)
{
	json_t *data = new_event(o);

	json_put(data, "what", json_string(what));
	json_put(data, "seq", json_u64(seq));
	json_put(data, "text", json_text(text));
	return add_event(t, o, "run.alarm", data, e);
}

/* Copies members of a record's document into an event. */
static void
copy_members(json_t *to, const json_t *from, const char *const names[])
{
	for (size_t i = 0; names[i] != NULL; i++) {
		json_t *v = json_object_get(from, names[i]);

		if (v != NULL)
			json_object_set(to, names[i], v);
	}
}

/* A number of a round or cell; NAN, stored as NULL, for what is none. */
static double
place_of(const json_t *doc, const char *name)
{
	const json_t *v = json_object_get(doc, name);
	json_int_t n = json_integer_value(v);

	return json_is_integer(v) && n >= 0 && n <= INT32_MAX ? (double)n : (double)NAN;
}

static double
real_of(const json_t *doc, const char *name)
{
	const json_t *v = json_object_get(doc, name);

	return json_is_number(v) ? json_number_value(v) : (double)NAN;
}

/* What is wrong with a record, in e, is an alarm and stops nothing; e is then the
 * alarm's. */
static int
alarm_instead(struct tx *t, const struct origin *o, const struct fact *f, struct err *e)
{
	const struct err wrong = *e;

	err_clear(e);
	return fact_alarm(t, o, "malformed", f->seq, wrong.text, e);
}

/* A manifest that cannot be kept is told; it holds nothing up. */
static int
apply_environment(
	struct tx *t, const struct origin *o, const struct fact *f, struct err *e)
{
	int rc = environment_note(t, o->attempt, json_object_get(f->doc, "manifest"), e);

	if (rc == 0 || (e->class != ERR_INVALID && e->class != ERR_LIMIT))
		return rc;
	return alarm_instead(t, o, f, e);
}

/* A run of those that start together has begun. */
static int
apply_start(struct tx *t, const struct origin *o, const struct fact *f, struct err *e)
{
	const json_t *lag = json_object_get(f->doc, "lag_ns");

	if (!json_is_integer(lag))
		return 0;
	return tx_exec(t, e, "UPDATE attempt SET start_lag_ns = ? WHERE id = ?", "ii",
		(int64_t)json_integer_value(lag), o->attempt);
}

/* What nobody should miss of a drive's health is an alarm. */
static int
apply_health(struct tx *t, const struct origin *o, const struct fact *f, struct err *e)
{
	json_t *told = NULL, *text;
	int rc = health_note(t, o->attempt, f->doc, &told, e);
	size_t i;

	if (rc != 0 && e->class == ERR_INVALID)
		rc = alarm_instead(t, o, f, e);
	json_array_foreach (told, i, text)
		if (rc == 0)
			rc = fact_alarm(
				t, o, "health", f->seq, json_string_value(text), e);
	json_decref(told);
	return rc;
}

static int
apply_event(struct tx *t, const struct origin *o, const struct fact *f, struct err *e)
{
	static const char *const names[] = {"event", "step", "kind", "workload", "point",
		"load_percent", "offered_iops", NULL};
	const char *event = json_text_of(f->doc, "event");
	bool step = strcmp(event, "step.start") == 0;
	bool point = strcmp(event, "point.start") == 0;
	json_t *data;

	if (ledger_event(t, o, f->seq, f->doc, e) != 0)
		return -1;
	if (strcmp(event, "environment") == 0)
		return apply_environment(t, o, f, e);
	if (strcmp(event, "start") == 0)
		return apply_start(t, o, f, e);
	if (strcmp(event, "round.end") == 0 || strcmp(event, "steady") == 0)
		return rounds_apply(t, o, f, e);
	if (strcmp(event, "health") == 0)
		return apply_health(t, o, f, e);
	if (!step && !point)
		return 0;
	if (step && tx_exec(t, e,
			    "UPDATE attempt SET step = ?, step_seq = ?"
			    " WHERE id = ? AND step_seq < ?",
			    "siii", json_text_of(f->doc, "kind"), (int64_t)f->seq,
			    o->attempt, (int64_t)f->seq) != 0)
		return -1;
	/* The numbers that are not known bind as NAN, which SQLite stores as NULL. */
	if (point && f->point > 0 &&
		tx_exec(t, e,
			"INSERT INTO point(attempt_id, point, step, workload,"
			" load_percent, offered_iops, state, started_ns, round, cell)"
			" VALUES (?, ?, ?, ?, ?, ?, 'running', ?, ?, ?)"
			" ON CONFLICT(attempt_id, point) DO NOTHING",
			"iiisddidd", o->attempt, (int64_t)f->point,
			(int64_t)count_of(f->doc, "step"),
			json_text_of(f->doc, "workload"), real_of(f->doc, "load_percent"),
			real_of(f->doc, "offered_iops"),
			(int64_t)count_of(f->doc, "at_ns"), place_of(f->doc, "round"),
			place_of(f->doc, "cell")) != 0)
		return -1;
	data = new_event(o);
	copy_members(data, f->doc, names);
	return add_event(t, o, "run.step", data, e);
}

/* Columns with histograms: reads and writes have each their own, the rest share one. */
#define HIST_BLOBS (2 * (DATA_DIRECTIONS + 1))

/* What the row of a finished point gets. */
struct outcome {
	struct point_metrics m;
	bool known;		    /* m is */
	char *metrics;		    /* JSON; NULL when not known */
	uint8_t *bytes[HIST_BLOBS]; /* encoded histograms, NULL when empty */
	size_t len[HIST_BLOBS];
};

static void
outcome_fini(struct outcome *x)
{
	free(x->metrics);
	for (size_t i = 0; i < HIST_BLOBS; i++)
		free(x->bytes[i]);
}

static char *
text_of(const json_t *doc)
{
	struct str s = {0};

	json_write(doc, &s);
	return str_take(&s);
}

/* Encodes n histograms, one behind the other; nothing when all are empty. */
static void
encode_hists(struct outcome *x, size_t blob, const struct hist *h, size_t n)
{
	uint64_t values = 0;
	size_t cap = n * HIST_ENCODED_MAX;

	for (size_t i = 0; i < n; i++)
		values += h[i].n;
	if (values == 0)
		return;
	x->bytes[blob] = xcalloc(1, cap);
	for (size_t i = 0; i < n; i++)
		x->len[blob] += hist_encode(
			&h[i], x->bytes[blob] + x->len[blob], cap - x->len[blob]);
}

static void
outcome_of(struct outcome *x, const struct fact *f)
{
	static const struct lat_metrics unknown = {.mean = (double)NAN,
		.p50 = (double)NAN,
		.p99 = (double)NAN,
		.p99_9 = (double)NAN};
	const struct hist *const kinds[] = {f->pr->service, f->pr->response};
	int64_t length_ns = fact_length_ns(f->doc);
	uint64_t ops[DIRECTIONS];
	uint64_t bytes[DIRECTIONS];
	json_t *doc;

	*x = (struct outcome){0};
	x->m.iops = (double)NAN;
	x->m.bytes_per_second = (double)NAN;
	x->m.littles_n = (double)NAN;
	x->m.service = unknown;
	x->m.response = unknown;
	for (size_t i = 0; i < 2; i++) {
		size_t at = i * (DATA_DIRECTIONS + 1);

		encode_hists(x, at, &kinds[i][DIR_READ], 1);
		encode_hists(x, at + 1, &kinds[i][DIR_WRITE], 1);
		encode_hists(x, at + 2, &kinds[i][DATA_DIRECTIONS],
			DIRECTIONS - DATA_DIRECTIONS);
	}
	if (length_ns <= 0)
		return;
	fact_counts(f->doc, "ops", ops);
	fact_counts(f->doc, "bytes", bytes);
	metrics_compute(f->pr->service, f->pr->response, ops, bytes, length_ns, &x->m);
	doc = metrics_to_json(&x->m);
	x->metrics = text_of(doc);
	json_decref(doc);
}

static int
store_point(struct tx *t, const struct origin *o, const struct fact *f,
	const struct outcome *x, struct err *e)
{
	const struct lat_metrics *s = &x->m.service;
	const struct lat_metrics *r = &x->m.response;
	char *meta = text_of(f->doc);
	int rc = tx_exec(t, e,
		"INSERT INTO point(attempt_id, point, step, workload, load_percent,"
		" offered_iops, state, started_ns, round, cell, meta, metrics, iops,"
		" bytes_per_second,"
		" service_mean_ns, service_p50_ns, service_p99_ns, service_p99_9_ns,"
		" response_mean_ns, response_p50_ns, response_p99_ns, response_p99_9_ns,"
		" read_service, write_service, other_service, read_response,"
		" write_response, other_response) VALUES"
		" (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, "
		"?, ?, ?, ?, ?)"
		" ON CONFLICT(attempt_id, point) DO UPDATE SET step = excluded.step,"
		" workload = excluded.workload, load_percent = excluded.load_percent,"
		" offered_iops = excluded.offered_iops, state = excluded.state,"
		" started_ns = excluded.started_ns, round = excluded.round,"
		" cell = excluded.cell, meta = excluded.meta,"
		" metrics = excluded.metrics, iops = excluded.iops,"
		" bytes_per_second = excluded.bytes_per_second,"
		" service_mean_ns = excluded.service_mean_ns,"
		" service_p50_ns = excluded.service_p50_ns,"
		" service_p99_ns = excluded.service_p99_ns,"
		" service_p99_9_ns = excluded.service_p99_9_ns,"
		" response_mean_ns = excluded.response_mean_ns,"
		" response_p50_ns = excluded.response_p50_ns,"
		" response_p99_ns = excluded.response_p99_ns,"
		" response_p99_9_ns = excluded.response_p99_9_ns,"
		" read_service = excluded.read_service,"
		" write_service = excluded.write_service,"
		" other_service = excluded.other_service,"
		" read_response = excluded.read_response,"
		" write_response = excluded.write_response,"
		" other_response = excluded.other_response",
		"iiisddsiddssddddddddddbbbbbb", o->attempt, (int64_t)f->point,
		(int64_t)count_of(f->doc, "step"), json_text_of(f->doc, "workload"),
		real_of(f->doc, "load_percent"), real_of(f->doc, "offered_iops"),
		json_text_of(f->doc, "state"), (int64_t)count_of(f->doc, "started_ns"),
		place_of(f->doc, "round"), place_of(f->doc, "cell"), meta, x->metrics,
		x->m.iops, x->m.bytes_per_second, s->mean, s->p50, s->p99, s->p99_9,
		r->mean, r->p50, r->p99, r->p99_9, x->bytes[0], x->len[0], x->bytes[1],
		x->len[1], x->bytes[2], x->len[2], x->bytes[3], x->len[3], x->bytes[4],
		x->len[4], x->bytes[5], x->len[5]);

	free(meta);
	return rc;
}

static void
put_real(json_t *o, const char *name, double x)
{
	json_put(o, name, isfinite(x) ? json_real(x) : json_null());
}

/* An offered load is judged by its response time, which hides no waiting. */
static void
put_figures(json_t *data, const json_t *doc, const struct point_metrics *m)
{
	bool open = isfinite(real_of(doc, "offered_iops"));
	const struct lat_metrics *l = open ? &m->response : &m->service;

	put_real(data, "iops", m->iops);
	put_real(data, "bytes_per_second", m->bytes_per_second);
	if (m->all_iops > m->iops)
		put_real(data, "all_iops", m->all_iops);
	json_put(data, "latency", json_string(open ? "response" : "service"));
	put_real(data, "lat_mean_ns", l->mean);
	put_real(data, "lat_p99_ns", l->p99);
	json_put(data, "flags", flags_json(flags_of_point(doc, m->iops, m->littles_n)));
}

static int
apply_point(struct tx *t, const struct origin *o, const struct fact *f, struct err *e)
{
	static const char *const names[] = {"point", "step", "workload", "load_percent",
		"offered_iops", "state", NULL};
	struct outcome x;
	int rc;

	outcome_of(&x, f);
	rc = store_point(t, o, f, &x, e);
	if (rc == 0)
		rc = ledger_point(t, o, f->seq, f->doc, e);
	if (rc == 0) {
		json_t *data = new_event(o);

		copy_members(data, f->doc, names);
		put_figures(data, f->doc, &x.m);
		rc = add_event(t, o, "run.point", data, e);
	}
	outcome_fini(&x);
	return rc;
}

static int
apply_result(struct tx *t, const struct origin *o, const struct fact *f, struct err *e)
{
	char *text = text_of(f->doc);
	int rc = tx_exec(t, e,
		"UPDATE attempt SET result = ?, result_seq = ?"
		" WHERE id = ? AND result_seq IS NULL",
		"sii", text, (int64_t)f->seq, o->attempt);

	free(text);
	return rc;
}

static int
apply_gap(struct tx *t, const struct origin *o, const struct fact *f, struct err *e)
{
	const char *reason = json_text_of(f->doc, "reason");
	char text[256];

	/* A runner counts seconds that never became records, an agent lost records. */
	if (json_has(f->doc, "samples"))
		snprintf(text, sizeof(text),
			"%" PRIu64 " samples of point %" PRIu64 " are lost: %.180s",
			count_of(f->doc, "samples"), count_of(f->doc, "point"), reason);
	else
		snprintf(text, sizeof(text),
			"records %" PRIu64 " to %" PRIu64 " are lost: %.180s", f->from,
			f->to, reason);
	return fact_alarm(t, o, "gap", f->seq, text, e);
}

int
fact_apply(struct tx *t, const struct origin *o, const struct fact *f, struct err *e)
{
	if (!f->understood)
		return fact_alarm(t, o, "malformed", f->seq, f->why, e);
	switch (f->kind) {
	case RECORD_SAMPLE:
		return 0;
	case RECORD_EVENT:
		return apply_event(t, o, f, e);
	case RECORD_POINT:
		return apply_point(t, o, f, e);
	case RECORD_RESULT:
		return apply_result(t, o, f, e);
	case RECORD_GAP:
		return apply_gap(t, o, f, e);
	}
	return 0;
}
