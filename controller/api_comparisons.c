/* Two drives, runs or foreign results: the difference per workload and figure. */
#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "analysis/compare.h"
#include "analysis/figure.h"
#include "common/err.h"
#include "common/json.h"
#include "common/str.h"
#include "controller/api.h"
#include "controller/doc.h"
#include "controller/environment.h"
#include "controller/flags.h"
#include "controller/foreign.h"
#include "controller/result.h"
#include "controller/store.h"
#include "controller/suites.h"

/* One of the two sides: a drive with all its runs, one run, or what was measured
 * elsewhere, which is a run of no suite then. */
struct side {
	const char *name;  /* "a" or "b": the query parameter */
	const char *title; /* "A" or "B", as people call it */
	char letter;	   /* 'd', 'r' or 'x' */
	int64_t id;
	bool suite_asked;
	struct result_list all;
	struct foreign foreign;			/* of 'x' */
	const struct result *runs[COMPARE_MAX]; /* that count; borrowed from all, newest
						   last */
	size_t n;
};

/* A fact that two sides may differ in. */
struct trait {
	const char *what;
	char text[2][256]; /* distinct values of both sides, joined */
};

static int
read_side(struct api_call *c, struct side *s, struct err *e)
{
	const char *text = c->query(c, s->name);
	char at[32];

	snprintf(at, sizeof(at), "query parameter %s", s->name);
	if (text == NULL) {
		err_set(e, ERR_INVALID, "%s is missing", at);
		return err_fix(e, "give a drive, a run or a foreign result on each side: "
				  "a=d1&b=d2");
	}
	if (text[0] != 'd' && text[0] != 'r' && text[0] != 'x') {
		err_set(e, ERR_INVALID,
			"%s: \"%.40s\" is neither a drive nor a run, nor a foreign "
			"result",
			at, text);
		return err_fix(e, "ids look like d1, r12 or x3");
	}
	s->letter = text[0];
	if (api_parse_id(text, s->letter, "", &s->id, e) != 0)
		return err_ctx(e, "%s", at);
	return 0;
}

static int
load_side(struct tx *t, struct side *s, struct err *e)
{
	struct result_filter f = {.figure_flags = true};
	int64_t one;
	int rc;

	if (s->letter == 'x') {
		if (foreign_load(t, s->id, &s->foreign, e) != 0)
			return -1;
		foreign_result(&s->foreign, s->id, &s->all);
		return 0;
	}
	*(s->letter == 'd' ? &f.drive : &f.run) = s->id;
	if (result_load(t, &f, &s->all, e) != 0)
		return -1;
	if (s->all.n > 0)
		return 0;
	if (s->letter == 'r')
		return doc_missing('r', s->id, e);
	rc = tx_int(t, &one, e, "SELECT 1 FROM drive WHERE id = ?", "i", s->id);
	return rc == 0 ? doc_missing('d', s->id, e) : rc < 0 ? -1 : 0;
}

/* Whether a run of other is the same as one that s is about. */
static bool
is_own_run(const struct side *other, const struct result *r)
{
	return other->letter == 'r' && other->id == r->run;
}

/* Whether a run has a workload of a foreign result. */
static bool
shares_workload(const struct result *r, const struct result *foreign)
{
	for (size_t i = 0; i < foreign->n_curves; i++)
		if (result_curve(r, foreign->curves[i].workload) != NULL)
			return true;
	return false;
}

static bool
has_suite(const struct side *s, const struct side *other, const char *suite)
{
	if (s->letter == 'x')
		return true;
	for (size_t i = 0; i < s->all.n; i++)
		if (s->all.items[i].done && !is_own_run(other, &s->all.items[i]) &&
			strcmp(s->all.items[i].suite, suite) == 0)
			return true;
	return false;
}

/* The suite to compare by: the one asked for, else the one of the newest run of a that b
 * has results of too. NULL: none. */
static const char *
common_suite(const struct side *a, const struct side *b, const char *asked)
{
	const struct result *newest = NULL;

	/* a foreign result is of no suite: that of the other side */
	if (a->letter == 'x' && b->letter == 'x')
		return "";
	if (a->letter == 'x')
		return common_suite(b, a, asked);
	for (size_t i = 0; i < a->all.n; i++) {
		const struct result *r = &a->all.items[i];

		if (!r->done || is_own_run(b, r) || !has_suite(b, a, r->suite) ||
			(asked != NULL && strcmp(asked, r->suite) != 0) ||
			(b->letter == 'x' && !shares_workload(r, b->all.items)))
			continue;
		if (newest == NULL || r->finished_ns >= newest->finished_ns)
			newest = r;
	}
	return newest != NULL ? newest->suite : NULL;
}

/* Says why a side has nothing to compare, or that the two have nothing in common. */
static int
nothing_common(
	const struct side *a, const struct side *b, const char *asked, struct err *e)
{
	const struct side *sides[] = {a, b};

	for (int i = 0; i < 2; i++) {
		const struct side *s = sides[i];
		size_t done = 0;

		for (size_t k = 0; k < s->all.n; k++)
			done += s->all.items[k].done;
		if (done > 0)
			continue;
		if (s->letter == 'r') {
			err_set(e, ERR_STATE,
				"run r%" PRId64
				" is %s; only runs that are done are compared",
				s->id, s->all.items[0].state);
			return err_fix(e, "ssdlab run show r%" PRId64, s->id);
		}
		err_set(e, ERR_STATE, "drive d%" PRId64 " has no run that is done",
			s->id);
		return err_fix(e, "ssdlab run ls --drive d%" PRId64, s->id);
	}
	if (a->letter == 'x' || b->letter == 'x') {
		err_set(e, ERR_STATE,
			"%c%" PRId64 " and %c%" PRId64 " have no workload in common",
			a->letter, a->id, b->letter, b->id);
		return err_fix(e,
			"workloads are matched by id: A has %.50s, B has %.50s; rename "
			"those of the foreign file (jobname in fio's JSON), and import "
			"it again",
			result_example(&a->all, a->letter == 'x' ? NULL : asked),
			result_example(&b->all, b->letter == 'x' ? NULL : asked));
	}
	err_set(e, ERR_STATE,
		"%c%" PRId64 " and %c%" PRId64
		" have no results of the same suite; others are not comparable",
		a->letter, a->id, b->letter, b->id);
	return err_fix(e, "run the same suite, with the same version, on both");
}

/* Takes the newest runs of the suite. */
static void
select_runs(struct side *s, const struct side *other, const char *suite)
{
	s->n = 0;
	for (size_t i = s->all.n; i > 0 && s->n < COMPARE_MAX; i--) {
		const struct result *r = &s->all.items[i - 1];

		if (s->letter == 'x' || (r->done && !is_own_run(other, r) &&
						strcmp(r->suite, suite) == 0))
			s->runs[s->n++] = r;
	}
}

/* The values of a figure, and the flags of all points that they are from. */
static size_t
values_of(const struct side *s, enum figure f, const char *workload, double *ret_x,
	unsigned *ret_flags)
{
	size_t n = 0;

	*ret_flags = 0;
	for (size_t i = 0; i < s->n; i++) {
		const struct result_curve *c = result_curve(s->runs[i], workload);
		double x = c != NULL ? figure_of(f, c->points, c->n) : (double)NAN;

		if (!isfinite(x))
			continue;
		ret_x[n++] = x;
		*ret_flags |= result_flags(c, f);
	}
	return n;
}

static json_t *
metric_json(enum figure f, const struct comparison *x)
{
	json_t *o = json_object();

	json_put(o, "metric", json_string(figure_name(f)));
	json_put(o, "title", json_string(figure_title(f)));
	json_put(o, "unit", json_string(figure_unit(f)));
	json_put(o, "better", json_string(figure_better(f)));
	json_put(o, "a", result_real(x->a));
	json_put(o, "b", result_real(x->b));
	json_put(o, "difference_percent", result_real(x->difference_percent));
	json_put(o, "n_a", json_integer((json_int_t)x->n_a));
	json_put(o, "n_b", json_integer((json_int_t)x->n_b));
	json_put(o, "p", result_real(x->p));
	json_put(o, "p_least", result_real(x->p_least));
	json_put(o, "verdict", json_string(verdict_name(x->verdict)));
	return o;
}

/* Adds a load to a list in their order, null (the maximum) last; each once. */
static void
add_load(json_t *list, double load)
{
	json_t *v;
	size_t i;

	json_array_foreach (list, i, v) {
		double x = json_is_number(v) ? json_number_value(v) : HUGE_VAL;
		double new = isnan(load) ? HUGE_VAL : load;

		if (x == new)
			return;
		if (x > new)
			break;
	}
	json_array_insert_new(list, i, result_real(load));
}

/* Puts the loads, or rates, of the points that a figure of a side is from; of foreign
 * ones they need not be known, and are left out. */
static void
put_loads(json_t *o, const struct side *s, enum figure f, const char *workload)
{
	json_t *loads = json_array();
	json_t *rates = json_array();
	char name[16];

	for (size_t i = 0; i < s->n && s->letter != 'x'; i++) {
		const struct result_curve *c = result_curve(s->runs[i], workload);
		const struct curve_point *p = c != NULL ? figure_point(f, c->points, c->n)
							: NULL;

		if (p != NULL)
			add_load(curve_is_rate(p) ? rates : loads, curve_load(p));
	}
	snprintf(name, sizeof(name), "loads_%s", s->name);
	json_put(o, name, loads);
	snprintf(name, sizeof(name), "rates_%s", s->name);
	json_put(o, name, rates);
}

/* Whether any run of a side can have the figure. */
static bool
applies(const struct side *s, enum figure f, const char *workload)
{
	for (size_t i = 0; i < s->n; i++) {
		const struct result_curve *c = result_curve(s->runs[i], workload);

		if (c != NULL && figure_applies(f, c->points, c->n))
			return true;
	}
	return false;
}

/* The flags of the points that a figure of a side is from, and of a foreign one what
 * makes it doubtful. */
static json_t *
marks_json(const struct side *s, enum figure f, const char *workload, unsigned flags)
{
	const struct result_curve *c = s->letter == 'x'
					       ? result_curve(s->runs[0], workload)
					       : NULL;
	const struct curve_point *p = c != NULL ? figure_point(f, c->points, c->n) : NULL;
	json_t *list = flags_json(flags);

	if (p != NULL)
		foreign_figure_marks(&s->foreign.points[p->point - 1], f, list);
	return list;
}

/* Adds the least and the greatest of the repeats of a side; null of none. */
static void
put_range(json_t *metric, const char *least, const char *most, const double *x, size_t n)
{
	double low = n > 0 ? x[0] : (double)NAN;
	double high = low;

	for (size_t i = 1; i < n; i++) {
		low = fmin(low, x[i]);
		high = fmax(high, x[i]);
	}
	json_put(metric, least, result_real(low));
	json_put(metric, most, result_real(high));
}

/* All figures of a workload; *tests counts those that a test was made of. */
static json_t *
workload_json(
	const struct side *a, const struct side *b, const char *workload, unsigned *tests)
{
	json_t *o = json_object();
	json_t *metrics = json_array();
	double xa[COMPARE_MAX];
	double xb[COMPARE_MAX];

	for (int f = 0; f < FIGURES; f++) {
		unsigned flags_a, flags_b;
		size_t n_a = values_of(a, (enum figure)f, workload, xa, &flags_a);
		size_t n_b = values_of(b, (enum figure)f, workload, xb, &flags_b);
		struct comparison x;
		json_t *metric;

		if (!applies(a, (enum figure)f, workload) &&
			!applies(b, (enum figure)f, workload))
			continue;
		compare_sets(
			xa, n_a, xb, n_b, figure_higher_is_better((enum figure)f), &x);
		*tests += x.n_a > 1 && x.n_b > 1;
		metric = metric_json((enum figure)f, &x);
		put_range(metric, "minimum_a", "maximum_a", xa, n_a);
		put_range(metric, "minimum_b", "maximum_b", xb, n_b);
		put_loads(metric, a, (enum figure)f, workload);
		put_loads(metric, b, (enum figure)f, workload);
		json_put(metric, "flags_a",
			marks_json(a, (enum figure)f, workload, flags_a));
		json_put(metric, "flags_b",
			marks_json(b, (enum figure)f, workload, flags_b));
		json_array_append_new(metrics, metric);
	}
	json_put(o, "workload", json_string(workload));
	json_put(o, "metrics", metrics);
	return o;
}

static bool
side_has(const struct side *s, const char *workload)
{
	for (size_t i = 0; i < s->n; i++)
		if (result_curve(s->runs[i], workload) != NULL)
			return true;
	return false;
}

static bool
is_listed(const json_t *list, const char *workload)
{
	size_t i;
	json_t *v;

	json_array_foreach ((json_t *)(uintptr_t)list, i, v)
		if (strcmp(json_text_of(v, "workload"), workload) == 0)
			return true;
	return false;
}

static void warn(json_t *warnings, const char *fmt, ...)
	__attribute__((format(printf, 2, 3)));

static void
warn(json_t *warnings, const char *fmt, ...)
{
	va_list ap;

	va_start(ap, fmt);
	json_array_append_new(warnings, json_vsprintf(fmt, ap));
	va_end(ap);
}

/* The workloads (or only one) of s that other has too; those it has not become warnings.
 */
static void
add_workloads(const struct side *s, const struct side *other, const char *only,
	json_t *list, json_t *warnings, unsigned *tests)
{
	for (size_t i = 0; i < s->n; i++) {
		for (size_t k = 0; k < s->runs[i]->n_curves; k++) {
			const char *w = s->runs[i]->curves[k].workload;

			if (is_listed(list, w) || (only != NULL && strcmp(w, only) != 0))
				continue;
			if (side_has(other, w))
				json_array_append_new(list,
					s->name[0] == 'a'
						? workload_json(s, other, w, tests)
						: workload_json(other, s, w, tests));
			else if (i == 0)
				warn(warnings, "%s is measured on side %s only", w,
					s->title);
		}
	}
}

static void
trait_add(struct trait *x, int side, const char *text)
{
	char *all = x->text[side];
	size_t n = strlen(all);
	size_t len = strlen(text);

	for (const char *p = all; (p = strstr(p, text)) != NULL; p++)
		if ((p == all || p[-1] == ' ') && (p[len] == '\0' || p[len] == ','))
			return;
	snprintf(all + n, sizeof(x->text[side]) - n, "%s%s", n > 0 ? ", " : "", text);
}

static json_t *
differs_json(const struct side *a, const struct side *b)
{
	struct trait traits[] = {{.what = "model"}, {.what = "firmware"},
		{.what = "kind"}, {.what = "capacity_bytes"}, {.what = "node"}};
	const struct side *sides[] = {a, b};
	json_t *list = json_array();

	/* of a foreign result nothing of this is known */
	if (a->letter == 'x' || b->letter == 'x')
		return list;
	for (int k = 0; k < 2; k++) {
		for (size_t i = 0; i < sides[k]->n; i++) {
			const struct result *r = sides[k]->runs[i];
			char capacity[24];

			snprintf(capacity, sizeof(capacity), "%" PRId64,
				r->capacity_bytes);
			trait_add(&traits[0], k, r->model);
			trait_add(&traits[1], k, r->firmware);
			trait_add(&traits[2], k, r->kind);
			trait_add(&traits[3], k, capacity);
			trait_add(&traits[4], k, r->node);
		}
	}
	for (size_t i = 0; i < sizeof(traits) / sizeof(traits[0]); i++)
		if (strcmp(traits[i].text[0], traits[i].text[1]) != 0)
			json_array_append_new(
				list, json_pack("{s:s, s:o, s:o}", "what", traits[i].what,
					      "a", json_text(traits[i].text[0]), "b",
					      json_text(traits[i].text[1])));
	return list;
}

static json_t *
side_json(const struct side *s)
{
	const struct result *r = s->runs[0];
	json_t *o = json_object();
	json_t *runs = json_array();

	if (s->letter == 'x') {
		json_put(o, "kind", json_string("foreign"));
		json_put(o, "id", api_id('x', s->id));
		json_put(o, "label",
			json_sprintf("%s, measured elsewhere: %s%s%s, %s",
				s->foreign.subject, s->foreign.tool,
				s->foreign.tool_version[0] != '\0' ? " " : "",
				s->foreign.tool_version, s->foreign.source));
		json_put(o, "runs", runs);
		json_put(o, "repeats", json_integer(1));
		return o;
	}
	for (size_t i = s->n; i > 0; i--)
		json_array_append_new(runs, api_id('r', s->runs[i - 1]->run));
	json_put(o, "kind", json_string(s->letter == 'd' ? "drive" : "run"));
	json_put(o, "id", api_id(s->letter, s->id));
	json_put(o, "label",
		s->letter == 'd' ? json_sprintf("%s %s", r->model, r->serial)
				 : json_sprintf("r%" PRId64 " on %s %s", r->run, r->model,
					   r->serial));
	json_put(o, "drive", result_drive(r));
	json_put(o, "runs", runs);
	json_put(o, "repeats", json_integer((json_int_t)s->n));
	return o;
}

static void
warn_of_foreign(json_t *warnings, const struct side *s)
{
	warn(warnings,
		"side %s is foreign: not measured by this lab, and compared by the "
		"names of workloads alone",
		s->title);
	if (s->foreign.scaled > 0)
		warn(warnings, "side %s is scaled down: its results are no full results",
			s->title);
	if (s->foreign.scaled < 0)
		warn(warnings, "side %s does not say whether it is scaled down",
			s->title);
}

static void
warn_of_side(json_t *warnings, const struct side *s, const struct side *other,
	const char *suite)
{
	size_t left_out = 0;
	size_t of_suite = 0;

	if (s->letter == 'x') {
		warn_of_foreign(warnings, s);
		return;
	}
	for (size_t i = 0; i < s->n; i++)
		if (s->runs[i]->is_virtual) {
			warn(warnings,
				"side %s is a virtual drive: no statement about SSDs",
				s->title);
			break;
		}
	if (s->n == 1)
		warn(warnings, "side %s is a single run: no statement about differences",
			s->title);
	for (size_t i = 0; i < s->all.n; i++) {
		const struct result *r = &s->all.items[i];

		if (strcmp(r->suite, suite) != 0)
			left_out += r->done && !s->suite_asked;
		else if (r->done && !is_own_run(other, r))
			of_suite++;
		else
			warn(warnings, "side %s is without r%" PRId64 ": %s", s->title,
				r->run, r->done ? "it is the other side" : r->state);
	}
	if (left_out > 0)
		warn(warnings, "side %s is without %zu run%s of other suites", s->title,
			left_out, left_out == 1 ? "" : "s");
	if (of_suite > s->n)
		warn(warnings, "side %s is without %zu run%s older than its newest %zu",
			s->title, of_suite - s->n, of_suite - s->n == 1 ? "" : "s", s->n);
}

static json_t *
warnings_json(const struct side *a, const struct side *b, const char *suite)
{
	json_t *warnings = json_array();
	double least = compare_p_least(a->n, b->n);

	if ((a->letter != 'x' && a->runs[0]->scaled) ||
		(b->letter != 'x' && b->runs[0]->scaled))
		warn(warnings, "%s is a scaled suite: its results are no full results",
			suite);
	warn_of_side(warnings, a, b, suite);
	warn_of_side(warnings, b, a, suite);
	if (a->n > 1 && b->n > 1 && least > COMPARE_ALPHA)
		warn(warnings,
			"%zu and %zu repeats cannot show a difference (p is at least "
			"%.3f): %zu on each side can",
			a->n, b->n, least, compare_repeats());
	return warnings;
}

/* Whether one of them is scaled down; null when that is not known. */
static json_t *
scaled_json(const struct side *a, const struct side *b)
{
	bool unknown = (a->letter == 'x' && a->foreign.scaled < 0) ||
		       (b->letter == 'x' && b->foreign.scaled < 0);

	if (a->runs[0]->scaled || b->runs[0]->scaled)
		return json_true();
	return unknown ? json_null() : json_false();
}

static json_t *
comparison_json(
	const struct side *a, const struct side *b, const char *suite, const char *only)
{
	json_t *o = json_object();
	json_t *workloads = json_array();
	json_t *warnings = warnings_json(a, b, suite);
	unsigned tests = 0;

	add_workloads(a, b, only, workloads, warnings, &tests);
	add_workloads(b, a, only, workloads, warnings, &tests);
	if (tests > 0 && compare_p_least(a->n, b->n) <= COMPARE_ALPHA)
		warn(warnings,
			"of %u tests at %.0f %%, %.1f show a difference by chance alone",
			tests, COMPARE_ALPHA * 100, COMPARE_ALPHA * tests);
	json_put(o, "suite", json_string(suite));
	json_put(o, "scaled", scaled_json(a, b));
	json_put(o, "alpha", json_real(COMPARE_ALPHA));
	json_put(o, "a", side_json(a));
	json_put(o, "b", side_json(b));
	json_put(o, "workloads", workloads);
	json_put(o, "differs", differs_json(a, b));
	json_put(o, "warnings", warnings);
	return o;
}

/* Fails with the workloads that the runs of both sides have points of. */
static void
no_workload(
	const struct side *a, const struct side *b, const char *workload, struct err *e)
{
	struct str names = {0};

	for (size_t i = 0; i < a->n; i++)
		result_workloads(a->runs[i], &names);
	for (size_t i = 0; i < b->n; i++)
		result_workloads(b->runs[i], &names);
	result_no_workload(workload, &names, e);
	str_fini(&names);
}

/* Adds what the machines of the two sides differ in. */
static int
add_environments(struct tx *t, const struct side *a, const struct side *b, json_t *doc,
	struct err *e)
{
	int64_t ids[2][COMPARE_MAX];

	for (size_t i = 0; i < a->n; i++)
		ids[0][i] = a->runs[i]->attempt;
	for (size_t i = 0; i < b->n; i++)
		ids[1][i] = b->runs[i]->attempt;
	return environment_differs(t, &(struct environment_set){ids[0], a->n},
		&(struct environment_set){ids[1], b->n}, json_object_get(doc, "differs"),
		e);
}

int
api_comparisons_get(struct tx *t, struct api_call *c, struct err *e)
{
	static const char *const names[] = {"a", "b", "workload", "suite", NULL};
	const char *workload = c->query(c, "workload");
	const char *asked = c->query(c, "suite");
	struct side a = {.name = "a", .title = "A"};
	struct side b = {.name = "b", .title = "B"};
	const char *suite;
	int64_t id;
	int rc = -1;

	if (api_only_query(c, names, e) != 0 || read_side(c, &a, e) != 0 ||
		read_side(c, &b, e) != 0)
		return -1;
	if (a.letter == b.letter && a.id == b.id)
		return err_set(e, ERR_INVALID, "a and b are the same");
	if (asked != NULL && suites_find(t, asked, &id, NULL, e) != 0)
		return err_ctx(e, "query parameter suite");
	a.suite_asked = b.suite_asked = asked != NULL;
	if (load_side(t, &a, e) != 0 || load_side(t, &b, e) != 0)
		goto out;
	suite = common_suite(&a, &b, asked);
	if (suite == NULL) {
		nothing_common(&a, &b, asked, e);
		goto out;
	}
	select_runs(&a, &b, suite);
	select_runs(&b, &a, suite);
	if (workload != NULL && !side_has(&a, workload) && !side_has(&b, workload)) {
		no_workload(&a, &b, workload, e);
		goto out;
	}
	c->doc = comparison_json(&a, &b, suite, workload);
	rc = add_environments(t, &a, &b, c->doc, e);
out:
	result_list_fini(&a.all);
	result_list_fini(&b.all);
	foreign_fini(&a.foreign);
	foreign_fini(&b.foreign);
	return rc;
}
