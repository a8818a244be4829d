/* Drives in the order of one figure, per suite and workload. */
#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "analysis/compare.h"
#include "analysis/figure.h"
#include "analysis/rank.h"
#include "common/err.h"
#include "common/json.h"
#include "common/str.h"
#include "common/xalloc.h"
#include "controller/api.h"
#include "controller/doc.h"
#include "controller/flags.h"
#include "controller/foreign.h"
#include "controller/result.h"
#include "controller/store.h"
#include "controller/suites.h"

/* A result from elsewhere, as a run, and as it came. */
struct elsewhere {
	struct foreign foreign;
	struct result_list list; /* of one */
};

/* Those that are ranked, too, when that is asked for. */
struct elsewheres {
	struct elsewhere *items; /* owned */
	size_t n;
};

/* A drive in one ranking, or a result from elsewhere. */
struct place {
	const struct result *newest;
	const struct foreign *foreign;		/* NULL: a drive of ours */
	const struct result *runs[COMPARE_MAX]; /* newest first */
	double values[COMPARE_MAX];
	double bytes[COMPARE_MAX]; /* per second, at the points of the values */
	size_t n;
	unsigned flags; /* of all points that the values are from */
};

/* One ranking: a figure of a workload of a suite. */
struct ranking {
	enum figure figure;
	const char *suite, *workload;
	double rate_iops; /* of the figure, which the suite says; NAN: it is of no rate */
	bool fixed_rates; /* a run has points at rates as they are */
	struct place *places; /* owned */
	size_t n;
	json_t *excluded; /* owned until it goes into the answer */
};

/* letter: 'r' of a run, 'x' of a result from elsewhere. */
static void
exclude_as(struct ranking *k, char letter, const struct result *r, json_t *why)
{
	json_t *o = json_object();

	json_put(o, letter == 'x' ? "foreign" : "run", api_id(letter, r->run));
	json_put(o, "why", why);
	json_array_append_new(k->excluded, o);
}

static void
exclude(struct ranking *k, const struct result *r, json_t *why)
{
	exclude_as(k, 'r', r, why);
}

static struct place *
new_place(struct ranking *k, const struct result *r)
{
	k->places = xrealloc(k->places, k->n + 1, sizeof(k->places[0]));
	k->places[k->n] = (struct place){.newest = r};
	return &k->places[k->n++];
}

static struct place *
place_of(struct ranking *k, const struct result *r)
{
	for (size_t i = 0; i < k->n; i++)
		if (k->places[i].newest->drive == r->drive)
			return &k->places[i];
	return new_place(k, r);
}

/* Why a run with points of the workload has no value. New reference. */
static json_t *
why_no_value(const struct ranking *k, const struct result_curve *c)
{
	if (figure_applies(k->figure, c->points, c->n))
		return json_sprintf("too few I/Os support %s", figure_name(k->figure));
	if (c->n > 0 && curve_is_rate(&c->points[0]))
		return json_sprintf("rates were offered as they are: %s tells more of it",
			figure_name(FIGURE_RATE_IOPS));
	return json_string("all its loads are shares of a maximum");
}

/* Puts a run of the ranking's suite in its place, or says why it has none. */
static void
enter(struct ranking *k, const struct result *r)
{
	const struct result_curve *c = result_curve(r, k->workload);
	double value = c != NULL ? figure_of(k->figure, c->points, c->n) : (double)NAN;
	struct place *p;

	if (!r->done) {
		exclude(k, r,
			r->reason[0] != '\0'
				? json_sprintf("it is %s: %s", r->state, r->reason)
				: json_sprintf("it is %s", r->state));
		return;
	}
	if (c == NULL) {
		exclude(k, r, json_sprintf("it has no points of %s", k->workload));
		return;
	}
	k->fixed_rates |= figure_applies(FIGURE_RATE_IOPS, c->points, c->n);
	if (!isfinite(value)) {
		exclude(k, r, why_no_value(k, c));
		return;
	}
	p = place_of(k, r);
	if (p->n == COMPARE_MAX) {
		exclude(k, r,
			json_sprintf(
				"its drive has %d newer ones, which count", COMPARE_MAX));
		return;
	}
	if (curve_is_rate(figure_point(k->figure, c->points, c->n)))
		k->rate_iops = curve_load(figure_point(k->figure, c->points, c->n));
	p->flags |= result_flags(c, k->figure);
	p->bytes[p->n] = figure_point(k->figure, c->points, c->n)->bytes_per_second;
	p->runs[p->n] = r;
	p->values[p->n++] = value;
}

/* Puts a result from elsewhere in a place of its own. Full results and scaled ones share
 * no ranking. */
static void
enter_foreign(struct ranking *k, const struct elsewhere *x, bool scaled)
{
	const struct result *r = x->list.items;
	const struct result_curve *c = result_curve(r, k->workload);
	const struct curve_point *point;
	double value;
	struct place *p;

	if (c == NULL)
		return;
	value = figure_of(k->figure, c->points, c->n);
	if (x->foreign.scaled >= 0 && (x->foreign.scaled > 0) != scaled) {
		exclude_as(k, 'x', r,
			json_string(scaled ? "it is of a full test, and this ranking of "
					     "scaled ones"
					   : "it is of a scaled test"));
		return;
	}
	if (!isfinite(value)) {
		exclude_as(k, 'x', r,
			json_sprintf("it does not tell %s", figure_title(k->figure)));
		return;
	}
	p = new_place(k, r);
	p->foreign = &x->foreign;
	point = figure_point(k->figure, c->points, c->n);
	/* beside IOPS nothing would say that its unit is assumed */
	p->bytes[0] = x->foreign.points[point->point - 1].unit_assumed
			      ? (double)NAN
			      : point->bytes_per_second;
	p->values[p->n++] = value;
}

/* What to know of a result from elsewhere: that it is one, and what makes it doubtful. */
static json_t *
foreign_flags(const struct ranking *k, const struct place *p)
{
	const struct result_curve *c = result_curve(p->newest, k->workload);
	const struct curve_point *point = figure_point(k->figure, c->points, c->n);
	json_t *list = json_array();

	json_array_append_new(list, json_string("foreign"));
	foreign_figure_marks(&p->foreign->points[point->point - 1], k->figure, list);
	if (p->foreign->scaled < 0)
		json_array_append_new(list, json_string("scaling-unknown"));
	return list;
}

/* Adds the bandwidth of the points that rates are from: the median of the runs. */
static void
put_bandwidth(const struct ranking *k, const struct place *p, json_t *o)
{
	if (strcmp(figure_unit(k->figure), "1/s") == 0)
		json_put(o, "bytes_per_second",
			result_real(compare_median(p->bytes, p->n)));
}

static json_t *
foreign_item(const struct ranking *k, const struct place *p, const struct rank_entry *x)
{
	json_t *o = json_object();

	json_put(o, "rank", json_integer((json_int_t)x->rank));
	json_put(o, "drive", json_null());
	json_put(o, "foreign", foreign_head(p->foreign, p->newest->run));
	json_put(o, "value", result_real(x->value));
	put_bandwidth(k, p, o);
	json_put(o, "n", json_integer(1));
	json_put(o, "percent_of_best", result_real(x->percent_of_best));
	json_put(o, "flags", foreign_flags(k, p));
	json_put(o, "runs", json_array());
	return o;
}

static json_t *
item_json(const struct ranking *k, const struct place *p, const struct rank_entry *x)
{
	json_t *o = json_object();
	json_t *runs = json_array();
	double least = p->values[0];
	double most = p->values[0];

	for (size_t i = 0; i < p->n; i++) {
		json_array_append_new(runs, api_id('r', p->runs[p->n - 1 - i]->run));
		least = fmin(least, p->values[i]);
		most = fmax(most, p->values[i]);
	}
	json_put(o, "rank", json_integer((json_int_t)x->rank));
	json_put(o, "drive", result_drive(p->newest));
	json_put(o, "value", result_real(x->value));
	put_bandwidth(k, p, o);
	json_put(o, "minimum", result_real(least));
	json_put(o, "maximum", result_real(most));
	json_put(o, "n", json_integer((json_int_t)p->n));
	json_put(o, "single_run", json_boolean(p->n == 1));
	json_put(o, "percent_of_best", result_real(x->percent_of_best));
	json_put(o, "flags", flags_json(p->flags));
	json_put(o, "runs", runs);
	return o;
}

static json_t *
ranking_json(struct ranking *k, bool scaled)
{
	struct rank_entry *order = xcalloc(k->n + 1, sizeof(*order));
	json_t *o = json_object();
	json_t *items = json_array();
	bool is_virtual = false;
	bool single = false;

	for (size_t i = 0; i < k->n; i++) {
		order[i].index = i;
		order[i].value = compare_median(k->places[i].values, k->places[i].n);
		is_virtual |= k->places[i].newest->is_virtual;
		single |= k->places[i].n == 1 && k->places[i].foreign == NULL;
	}
	rank_order(order, k->n, figure_higher_is_better(k->figure));
	for (size_t i = 0; i < k->n; i++) {
		const struct place *p = &k->places[order[i].index];

		json_array_append_new(items, p->foreign != NULL
						     ? foreign_item(k, p, &order[i])
						     : item_json(k, p, &order[i]));
	}
	free(order);
	json_put(o, "metric", json_string(figure_name(k->figure)));
	json_put(o, "title", json_string(figure_title(k->figure)));
	json_put(o, "unit", json_string(figure_unit(k->figure)));
	json_put(o, "better", json_string(figure_better(k->figure)));
	json_put(o, "rate_iops", result_real(k->rate_iops));
	json_put(o, "fixed_rates", json_boolean(k->fixed_rates));
	json_put(o, "workload", json_string(k->workload));
	json_put(o, "suite", json_string(k->suite));
	json_put(o, "scaled", json_boolean(scaled));
	json_put(o, "virtual", json_boolean(is_virtual));
	json_put(o, "single_runs", json_boolean(single));
	json_put(o, "repeats_needed", json_integer((json_int_t)compare_repeats()));
	json_put(o, "items", items);
	json_put(o, "excluded", k->excluded);
	return o;
}

/* The ranking of a workload of the suite that r is of. */
static json_t *
rank(const struct result_list *l, const struct elsewheres *x, enum figure f,
	const struct result *r, const char *workload)
{
	struct ranking k = {.figure = f,
		.suite = r->suite,
		.workload = workload,
		.rate_iops = (double)NAN};
	json_t *o;

	k.excluded = json_array();
	for (size_t i = l->n; i > 0; i--)
		if (strcmp(l->items[i - 1].suite, r->suite) == 0)
			enter(&k, &l->items[i - 1]);
	for (size_t i = 0; i < x->n; i++)
		enter_foreign(&k, &x->items[i], r->scaled);
	o = ranking_json(&k, r->scaled);
	free(k.places);
	return o;
}

static bool
is_listed(const json_t *list, const char *suite, const char *workload)
{
	size_t i;
	json_t *v;

	json_array_foreach ((json_t *)(uintptr_t)list, i, v)
		if (strcmp(json_text_of(v, "suite"), suite) == 0 &&
			strcmp(json_text_of(v, "workload"), workload) == 0)
			return true;
	return false;
}

/* All rankings, those of the newest runs first. */
static json_t *
rankings_json(const struct result_list *l, const struct elsewheres *x, enum figure f)
{
	json_t *list = json_array();

	for (size_t i = l->n; i > 0; i--) {
		const struct result *r = &l->items[i - 1];

		for (size_t k = 0; k < r->n_curves; k++)
			if (!is_listed(list, r->suite, r->curves[k].workload))
				json_array_append_new(
					list, rank(l, x, f, r, r->curves[k].workload));
	}
	return list;
}

static void
elsewheres_fini(struct elsewheres *x)
{
	for (size_t i = 0; i < x->n; i++) {
		result_list_fini(&x->items[i].list);
		foreign_fini(&x->items[i].foreign);
	}
	free(x->items);
}

/* The results from elsewhere that have a workload, or any. *ret_x is owned
 * (elsewheres_fini), also after an error. */
static int
load_elsewheres(
	struct tx *t, const char *workload, struct elsewheres *ret_x, struct err *e)
{
	struct elsewheres *x = ret_x;
	struct cur *c;
	int rc;

	if (tx_query(t, &c, e,
		    "SELECT id FROM foreign_result r WHERE ?1 IS NULL OR EXISTS (SELECT 1"
		    " FROM foreign_point WHERE foreign_id = r.id AND workload = ?1)"
		    " ORDER BY id",
		    "s", workload) != 0)
		return -1;
	while ((rc = cur_next(c, e)) == 1) {
		struct elsewhere *y;

		x->items = xrealloc(x->items, x->n + 1, sizeof(*x->items));
		y = &x->items[x->n++];
		*y = (struct elsewhere){0};
		rc = foreign_load(t, cur_int(c, 0), &y->foreign, e);
		if (rc != 0)
			break;
		foreign_result(&y->foreign, cur_int(c, 0), &y->list);
	}
	cur_close(c);
	return rc;
}

/* Whether results from elsewhere are ranked, too. */
static int
read_foreign(struct api_call *c, bool *ret_foreign, struct err *e)
{
	const char *text = c->query(c, "foreign");

	*ret_foreign = text != NULL && strcmp(text, "true") == 0;
	if (text == NULL || *ret_foreign || strcmp(text, "false") == 0)
		return 0;
	return err_set(e, ERR_INVALID,
		"query parameter foreign: \"%.40s\" is neither true nor false", text);
}

static int
read_query(struct tx *t, struct api_call *c, enum figure *ret_f,
	struct result_filter *ret_filter, struct err *e)
{
	static const char *const names[] = {
		"metric", "workload", "suite", "campaign", "foreign", NULL};
	const char *metric = c->query(c, "metric");
	const char *campaign = c->query(c, "campaign");
	char all[sizeof(e->fix)] = "";
	int64_t suite;

	if (api_only_query(c, names, e) != 0)
		return -1;
	*ret_f = FIGURE_PEAK_IOPS;
	if (metric != NULL && !figure_from_name(metric, ret_f)) {
		for (int i = 0; i < FIGURES; i++)
			snprintf(all + strlen(all), sizeof(all) - strlen(all), "%s%s",
				i > 0 ? ", " : "", figure_name((enum figure)i));
		err_set(e, ERR_INVALID, "query parameter metric: \"%.40s\" is not known",
			metric);
		return err_fix(e, "known here: %s", all);
	}
	*ret_filter = (struct result_filter){
		.suite = c->query(c, "suite"),
		.workload = c->query(c, "workload"),
		.figure_flags = true,
	};
	if (campaign != NULL &&
		api_parse_id(campaign, 'c', "", &ret_filter->campaign, e) != 0)
		return err_ctx(e, "query parameter campaign");
	if (ret_filter->suite != NULL &&
		suites_find(t, ret_filter->suite, &suite, NULL, e) != 0)
		return err_ctx(e, "query parameter suite");
	return doc_exists(t, 'c', ret_filter->campaign, e);
}

/* Fails with the workloads that the runs have points of. */
static int
no_workload(struct tx *t, struct result_filter f, struct err *e)
{
	const char *workload = f.workload;
	struct str names = {0};
	struct result_list l;

	f.workload = NULL;
	if (result_load(t, &f, &l, e) != 0)
		return -1;
	for (size_t i = 0; i < l.n; i++)
		result_workloads(&l.items[i], &names);
	result_list_fini(&l);
	result_no_workload(workload, &names, e);
	str_fini(&names);
	return -1;
}

int
api_rankings_get(struct tx *t, struct api_call *c, struct err *e)
{
	struct result_filter f;
	struct result_list l;
	struct elsewheres x = {0};
	enum figure figure;
	bool foreign;
	json_t *list;

	if (read_foreign(c, &foreign, e) != 0 || read_query(t, c, &figure, &f, e) != 0)
		return -1;
	if ((foreign && load_elsewheres(t, f.workload, &x, e) != 0) ||
		result_load(t, &f, &l, e) != 0) {
		elsewheres_fini(&x);
		return -1;
	}
	list = rankings_json(&l, &x, figure);
	result_list_fini(&l);
	elsewheres_fini(&x);
	if (f.workload != NULL && json_array_size(list) == 0) {
		json_decref(list);
		return no_workload(t, f, e);
	}
	c->doc = json_object();
	json_put(c->doc, "metric", json_string(figure_name(figure)));
	json_put(c->doc, "title", json_string(figure_title(figure)));
	json_put(c->doc, "unit", json_string(figure_unit(figure)));
	json_put(c->doc, "better", json_string(figure_better(figure)));
	/* One workload was asked for: its newest suite's ranking is the answer itself. */
	if (f.workload != NULL)
		json_object_update(c->doc, json_array_get(list, 0));
	json_put(c->doc, "rankings", list);
	return 0;
}
