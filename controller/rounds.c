#include "controller/rounds.h"

#include <stdlib.h>
#include <string.h>

#include "common/err.h"
#include "common/json.h"
#include "controller/doc.h"
#include "controller/fact.h"
#include "controller/flags.h"
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
			"INSERT INTO test_end(attempt_id, step, seq, verdict, doc)"
			" VALUES (?, ?, ?, ?, ?) ON CONFLICT DO NOTHING",
			"iiiss", o->attempt, step, (int64_t)f->seq, verdict, text);
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

/* Copies members of a document; one that it has not is null. */
static void
copy_members(json_t *to, const json_t *from, const char *const names[])
{
	for (size_t k = 0; names[k] != NULL; k++)
		json_object_set(to, names[k],
			json_has(from, names[k]) ? json_object_get(from, names[k])
						 : json_null());
}

/* A cell as it was settled; what it does is told by the program, number by number.
 * Columns: cell, workload, rounds, flags, metrics. */
static json_t *
cell_json(struct cur *c)
{
	static const char *const told[] = {"iops", "read_iops", "write_iops",
		"bytes_per_second", "health_polls", NULL};
	static const char *const latencies[] = {"n", "lat_mean_ns", "lat_p50_ns",
		"lat_p99_ns", "lat_p99.9_ns", "lat_p99.99_ns", "lat_p99.999_ns",
		"lat_max_ns", NULL};
	json_t *metrics = doc_stored(cur_text(c, 4));
	json_t *service = json_object();
	json_t *o = json_object();

	json_put(o, "cell", json_integer(cur_int(c, 0)));
	json_put(o, "workload", json_text(cur_text(c, 1)));
	json_put(o, "rounds", json_integer(cur_int(c, 2)));
	copy_members(o, metrics, told);
	/* the rate of all operations is told apart where there are others */
	json_object_set(o, "all_iops",
		json_object_get(
			metrics, json_has(metrics, "all_iops") ? "all_iops" : "iops"));
	copy_members(service, json_object_get(metrics, "service"), latencies);
	json_put(o, "service", service);
	json_put(o, "flags", flags_json((unsigned)cur_int(c, 3)));
	json_decref(metrics);
	return o;
}

static int
list_cells(struct tx *t, int64_t attempt, int64_t step, json_t *list, struct err *e)
{
	struct cur *c;
	int rc;

	if (tx_query(t, &c, e,
		    "SELECT cell, workload, rounds, flags, metrics FROM test_cell"
		    " WHERE attempt_id = ? AND step = ? ORDER BY cell",
		    "ii", attempt, step) != 0)
		return -1;
	while ((rc = cur_next(c, e)) == 1)
		json_array_append_new(list, cell_json(c));
	cur_close(c);
	return rc;
}

/* Gives each cell the members of its workload that a plain one has, as the program says
 * them; where the demand was chosen, that. */
static void
describe_cells(json_t *cells, const json_t *rounds, const json_t *choice)
{
	static const char *const names[] = {"read_percent", "random_percent",
		"block_bytes", "in_flight", "workers", NULL};
	static const char *const chosen[] = {"in_flight", "workers"};
	json_t *o;
	size_t i;

	json_array_foreach (cells, i, o) {
		size_t cell = (size_t)json_integer_value(json_object_get(o, "cell"));
		const json_t *w = json_object_get(
			json_array_get(json_object_get(rounds, "cells"), cell - 1),
			"workload");

		copy_members(o, w, names);
		for (size_t k = 0; k < sizeof(chosen) / sizeof(chosen[0]); k++)
			if (json_has(choice, chosen[k]))
				json_object_set(
					o, chosen[k], json_object_get(choice, chosen[k]));
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

/* How the test ended; what is not known yet is null, and the verdict the one given. */
static int
add_end(struct tx *t, int64_t attempt, int64_t step, const char *verdict, json_t *o,
	struct err *e)
{
	static const char *const names[] = {"ended_by", "rounds", "void_rounds",
		"first_round", "last_round", "written_bytes", "tracking", "choice", NULL};
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
		json_string(rc == 1 ? json_text_of(doc, "verdict") : verdict));
	copy_members(o, doc, names);
	json_put(o, "flags", flags_json(flags_of_test(doc)));
	json_put(o, "reasons", flags_test_reasons(doc));
	json_decref(doc);
	free(text);
	return 0;
}

static int
test_json(struct tx *t, int64_t attempt, int64_t number, const json_t *step,
	json_t *items, struct err *e)
{
	static const char *const rule[] = {"window", "range_percent", "slope_percent",
		"max_rounds", "left_out", "left_out_for", NULL};
	const json_t *rounds = json_object_get(step, "rounds");
	json_t *o = json_object();
	json_t *list = json_array();
	json_t *cells = json_array();
	bool measures = json_array_size(json_object_get(rounds, "cells")) > 0;

	json_array_append_new(items, o);
	json_put(o, "step", json_integer(number));
	json_put(o, "test", json_string(json_text_of(step, "test")));
	for (size_t k = 0; rule[k] != NULL; k++)
		json_object_set(o, rule[k], json_object_get(rounds, rule[k]));
	json_put(o, "list", list);
	json_put(o, "cells", cells);
	if (add_end(t, attempt, number, measures ? "not_yet" : "left_out", o, e) != 0 ||
		list_rounds(t, attempt, number, list, e) != 0 ||
		list_cells(t, attempt, number, cells, e) != 0)
		return -1;
	describe_cells(cells, rounds, json_object_get(o, "choice"));
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
