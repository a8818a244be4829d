#include "controller/rounds.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "analysis/sanity.h"
#include "common/err.h"
#include "common/json.h"
#include "common/xalloc.h"
#include "controller/doc.h"
#include "controller/fact.h"
#include "controller/flags.h"
#include "controller/result.h"
#include "controller/store.h"

/* As table test_end has them. */
static bool
is_verdict(const char *text)
{
	return strcmp(text, "steady") == 0 || strcmp(text, "not_reached") == 0 ||
	       strcmp(text, "not_judged") == 0;
}

int
rounds_apply(struct tx *t, const struct origin *o, const struct fact *f, struct err *e)
{
	int64_t step = json_integer_value(json_object_get(f->doc, "step"));
	int64_t round = json_integer_value(json_object_get(f->doc, "round"));
	const char *verdict = json_text_of(f->doc, "verdict");
	bool end = strcmp(json_text_of(f->doc, "event"), "steady") == 0;
	char *text;
	int rc;

	if (step < 1 || (end ? !is_verdict(verdict) : round < 1))
		return fact_alarm(t, o, "malformed", f->seq,
			"a round or the end of a test without number or verdict", e);
	text = doc_text(json_incref(f->doc));
	if (end)
		rc = tx_exec(t, e,
			"INSERT INTO test_end(attempt_id, step, verdict, doc)"
			" VALUES (?, ?, ?, ?) ON CONFLICT DO NOTHING",
			"iiss", o->attempt, step, verdict, text);
	else
		rc = tx_exec(t, e,
			"INSERT INTO round(attempt_id, step, round, void, doc)"
			" VALUES (?, ?, ?, ?, ?) ON CONFLICT DO NOTHING",
			"iiiss", o->attempt, step, round,
			json_has(f->doc, "void") ? json_text_of(f->doc, "void") : NULL,
			text);
	free(text);
	return rc;
}

/* The cell that is added up, and what each row is decoded into. */
struct sum {
	const struct rounds_want *want;
	struct rounds_result r;
	struct hist service[DIRECTIONS], response[DIRECTIONS];
	struct hist one;
	uint64_t ops[DIRECTIONS], bytes[DIRECTIONS];
	int64_t length_ns;
};

static void
tell(struct sum *s)
{
	if (s->r.n > 0 && s->length_ns > 0) {
		metrics_compute(
			s->service, s->response, s->ops, s->bytes, s->length_ns, &s->r.m);
		s->want->fn(s->want->arg, &s->r);
	}
}

static void
begin(struct sum *s, uint32_t cell, const char *name)
{
	memset(&s->r, 0, sizeof(s->r));
	s->r.cell = cell;
	snprintf(s->r.name, sizeof(s->r.name), "%.*s", (int)sizeof(s->r.name) - 1, name);
	for (int d = 0; d < DIRECTIONS; d++) {
		hist_reset(&s->service[d]);
		s->ops[d] = s->bytes[d] = 0;
	}
	s->length_ns = 0;
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

/* Columns: cell, workload, point, iops, littles_n, meta, three of histograms. */
static int
add_row(struct sum *s, struct cur *c, struct err *e)
{
	json_t *meta = doc_stored(cur_text(c, 5));
	uint64_t ops[DIRECTIONS], bytes[DIRECTIONS];
	int rc = 0;

	s->r.n++;
	s->r.point = (uint32_t)cur_int(c, 2);
	s->r.flags |= flags_of_point(
		meta, cur_real(c, 3), cur_null(c, 4) ? (double)NAN : cur_real(c, 4));
	fact_counts(meta, "ops", ops);
	fact_counts(meta, "bytes", bytes);
	s->length_ns += fact_length_ns(meta);
	for (int d = 0; d < DIRECTIONS; d++) {
		s->ops[d] += ops[d];
		s->bytes[d] += bytes[d];
	}
	for (int d = 0; rc == 0 && d <= DATA_DIRECTIONS; d++)
		rc = add_hists(s, c, 6 + d, d, e);
	json_decref(meta);
	return rc;
}

/* Which rounds of a step count: those of the window, or all that are not void. */
struct span_of_rounds {
	int64_t step, first, last;
	bool reached;
};

static int
add_step(struct sum *s, struct tx *t, int64_t attempt, const struct span_of_rounds *w,
	struct err *e)
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
		    " AND (?5 IS NULL OR p.workload = ?5) ORDER BY p.cell, p.round",
		    "iiiis", attempt, w->step, w->first, w->last, s->want->name) != 0)
		return -1;
	begin(s, 0, "");
	while ((rc = cur_next(c, e)) == 1) {
		uint32_t cell = (uint32_t)cur_int(c, 0);

		if (cell != s->r.cell) {
			tell(s);
			begin(s, cell, cur_text(c, 1));
		}
		s->r.reached = w->reached;
		s->r.flags |= w->reached ? 0 : SANITY_UNSTEADY;
		if (add_row(s, c, e) != 0) {
			rc = -1;
			break;
		}
	}
	cur_close(c);
	if (rc == 0)
		tell(s);
	return rc;
}

static struct span_of_rounds
span_of(struct cur *c)
{
	json_t *doc = doc_stored(cur_text(c, 2));
	struct span_of_rounds w = {.step = cur_int(c, 0), .last = INT64_MAX};

	w.reached = strcmp(cur_text(c, 1), "not_reached") != 0;
	if (json_array_size(json_object_get(doc, "tracking")) > 0) {
		w.first = json_integer_value(json_object_get(doc, "first_round"));
		w.last = json_integer_value(json_object_get(doc, "last_round"));
	}
	json_decref(doc);
	return w;
}

int
rounds_cells(struct tx *t, int64_t attempt, const struct rounds_want *want, struct err *e)
{
	struct sum *s = xcalloc(1, sizeof(*s));
	struct span_of_rounds *list = NULL;
	size_t n = 0;
	struct cur *c;
	int rc;

	s->want = want;
	rc = tx_query(t, &c, e,
		"SELECT step, verdict, doc FROM test_end WHERE attempt_id = ?1"
		" AND (?2 = 0 OR step = ?2) ORDER BY step",
		"ii", attempt, want->step);
	while (rc == 0 && (rc = cur_next(c, e)) == 1) {
		list = xrealloc(list, n + 1, sizeof(*list));
		list[n++] = span_of(c);
		rc = 0;
	}
	cur_close(c);
	for (size_t i = 0; rc == 0 && i < n; i++)
		rc = add_step(s, t, attempt, &list[i], e);
	free(list);
	free(s);
	return rc;
}

static json_t *
latency_of(const struct lat_metrics *l)
{
	json_t *o = json_object();

	json_put(o, "n", json_u64(l->n));
	json_put(o, "lat_mean_ns", result_real(l->mean));
	json_put(o, "lat_p50_ns", result_real(l->p50));
	json_put(o, "lat_p99_ns", result_real(l->p99));
	json_put(o, "lat_p99.9_ns", result_real(l->p99_9));
	json_put(o, "lat_p99.99_ns", result_real(l->p99_99));
	json_put(o, "lat_p99.999_ns", result_real(l->p99_999));
	json_put(o, "lat_max_ns", result_real(l->max));
	return o;
}

/* Appends a cell to the array; what it does is told by the program, number by number. */
static void
add_cell(void *arg, const struct rounds_result *r)
{
	json_t *o = json_object();

	json_put(o, "cell", json_integer(r->cell));
	json_put(o, "workload", json_text(r->name));
	json_put(o, "rounds", json_integer(r->n));
	json_put(o, "iops", result_real(r->m.iops));
	json_put(o, "read_iops", result_real(r->m.read_iops));
	json_put(o, "write_iops", result_real(r->m.write_iops));
	json_put(o, "all_iops", result_real(r->m.all_iops));
	json_put(o, "bytes_per_second", result_real(r->m.bytes_per_second));
	json_put(o, "service", latency_of(&r->m.service));
	json_put(o, "flags", flags_json(r->flags));
	json_array_append_new(arg, o);
}

/* Gives each cell the members of its workload that a plain one has, as the program says
 * them. */
static void
describe_cells(json_t *cells, const json_t *rounds)
{
	static const char *const names[] = {"read_percent", "random_percent",
		"block_bytes", "in_flight", "workers", NULL};
	json_t *o;
	size_t i;

	json_array_foreach (cells, i, o) {
		size_t cell = (size_t)json_integer_value(json_object_get(o, "cell"));
		const json_t *w = json_object_get(
			json_array_get(json_object_get(rounds, "cells"), cell - 1),
			"workload");

		for (size_t k = 0; names[k] != NULL; k++)
			json_object_set(o, names[k],
				json_has(w, names[k]) ? json_object_get(w, names[k])
						      : json_null());
	}
}

static int
list_rounds(struct tx *t, int64_t attempt, int64_t step, json_t *list, struct err *e)
{
	static const char *const names[] = {"round", "first_point", "void", "verdict",
		"written_bytes", "tracking", NULL};
	struct cur *c;
	int rc;

	if (tx_query(t, &c, e,
		    "SELECT doc FROM round WHERE attempt_id = ? AND step = ?"
		    " ORDER BY round",
		    "ii", attempt, step) != 0)
		return -1;
	while ((rc = cur_next(c, e)) == 1) {
		json_t *doc = doc_stored(cur_text(c, 0));
		json_t *o = json_object();

		for (size_t k = 0; names[k] != NULL; k++)
			if (json_object_get(doc, names[k]) != NULL)
				json_object_set(
					o, names[k], json_object_get(doc, names[k]));
		json_array_append_new(list, o);
		json_decref(doc);
	}
	cur_close(c);
	return rc;
}

/* How the test ended; what is not known yet is null, and the verdict not_yet. */
static int
add_end(struct tx *t, int64_t attempt, int64_t step, json_t *o, struct err *e)
{
	static const char *const names[] = {"ended_by", "rounds", "void_rounds",
		"first_round", "last_round", "written_bytes", "tracking", NULL};
	json_t *doc = NULL;
	char *text = NULL;
	int rc = tx_text(t, &text, e,
		"SELECT doc FROM test_end WHERE attempt_id = ? AND step = ?", "ii",
		attempt, step);

	if (rc < 0)
		return -1;
	if (rc == 1)
		doc = doc_stored(text);
	json_put(o, "verdict",
		json_string(rc == 1 ? json_text_of(doc, "verdict") : "not_yet"));
	for (size_t k = 0; names[k] != NULL; k++)
		json_put(o, names[k],
			json_has(doc, names[k])
				? json_incref(json_object_get(doc, names[k]))
				: json_null());
	json_decref(doc);
	free(text);
	return 0;
}

static int
test_json(struct tx *t, int64_t attempt, int64_t number, const json_t *step,
	json_t *items, struct err *e)
{
	static const char *const rule[] = {"window", "range_percent", "slope_percent",
		"max_rounds", "left_out", NULL};
	const json_t *rounds = json_object_get(step, "rounds");
	json_t *o = json_object();
	json_t *list = json_array();
	json_t *cells = json_array();
	const struct rounds_want want = {.step = number, .fn = add_cell, .arg = cells};

	json_array_append_new(items, o);
	json_put(o, "step", json_integer(number));
	json_put(o, "test", json_string(json_text_of(step, "test")));
	for (size_t k = 0; rule[k] != NULL; k++)
		json_object_set(o, rule[k], json_object_get(rounds, rule[k]));
	json_put(o, "list", list);
	json_put(o, "cells", cells);
	if (add_end(t, attempt, number, o, e) != 0 ||
		list_rounds(t, attempt, number, list, e) != 0 ||
		rounds_cells(t, attempt, &want, e) != 0)
		return -1;
	describe_cells(cells, rounds);
	return 0;
}

int
rounds_json(struct tx *t, int64_t attempt, json_t **ret_items, struct err *e)
{
	json_t *items = json_array();
	json_t *program, *step;
	char *text = NULL;
	size_t i;
	int rc = tx_text(
		t, &text, e, "SELECT program FROM attempt WHERE id = ?", "i", attempt);

	program = rc == 1 ? doc_stored(text) : json_null();
	rc = rc < 0 ? -1 : 0;
	json_array_foreach (json_object_get(program, "steps"), i, step)
		if (rc == 0 && strcmp(json_text_of(step, "step"), "rounds") == 0)
			rc = test_json(t, attempt, (int64_t)i + 1, step, items, e);
	json_decref(program);
	free(text);
	if (rc == 0)
		*ret_items = items;
	else
		json_decref(items);
	return rc;
}
