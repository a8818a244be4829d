/* The form of rounds in a suite: units in texts, defaults filled in. */
#include <stdio.h>
#include <string.h>

#include "common/clock.h"
#include "common/err.h"
#include "common/json.h"
#include "common/need.h"
#include "common/parse.h"
#include "common/rounds.h"
#include "common/share.h"
#include "common/xalloc.h"

#define AT_MAX 96
#define MEASURE_MIN_NS (100 * NS_PER_MS)
#define PHASE_MAX_NS (24 * 3600 * NS_PER_S)
#define CAPACITIES_MAX 100
/* Drives answer for their health in tenths of a millisecond at best. */
#define POLL_MIN_NS NS_PER_MS

/* SNIA PTS 2.0.2: the last 5 rounds, 20 % and 10 % of their mean, at most 25 rounds. */
#define WINDOW 5
#define RANGE_PERCENT 20
#define SLOPE_PERCENT 10
#define ROUNDS 25

/* What holds for all cells that do not say otherwise. */
struct usual {
	int64_t warmup_ns, measure_ns, pause_ns;
	const json_t *in_flight, *workers; /* NULL: each says it */
	bool chosen;			   /* from another test: none says it */
};

static int
read_time(const json_t *o, const char *at, const char *name, int64_t min_ns,
	int64_t *ret_ns, struct err *e)
{
	char low[40];
	const char *text;

	if (!json_has(o, name))
		return 0;
	if (json_need_text(o, at, name, &text, e) != 0)
		return -1;
	if (parse_duration(text, ret_ns, e) != 0)
		return err_at(e, "%s/%s", at, name);
	if (*ret_ns >= min_ns && *ret_ns <= PHASE_MAX_NS)
		return 0;
	err_set(e, ERR_INVALID, "\"%s\" must be from %s to 24h", name,
		format_duration(min_ns, low, sizeof(low)));
	return err_at(e, "%s/%s", at, name);
}

/* What is not said stays as it is. */
static int
read_times(const json_t *o, const char *at, struct usual *t, struct err *e)
{
	if (read_time(o, at, "warmup", 0, &t->warmup_ns, e) != 0 ||
		read_time(o, at, "measure", MEASURE_MIN_NS, &t->measure_ns, e) != 0)
		return -1;
	return read_time(o, at, "pause", 0, &t->pause_ns, e);
}

/* The workload of a cell, with what holds for all. New reference. */
static json_t *
complete(const json_t *w, const struct usual *usual)
{
	json_t *whole = json_copy((json_t *)(uintptr_t)w);

	if (usual->in_flight != NULL && !json_has(whole, "in_flight"))
		json_object_set(
			whole, "in_flight", (json_t *)(uintptr_t)usual->in_flight);
	if (usual->workers != NULL && !json_has(whole, "workers"))
		json_object_set(whole, "workers", (json_t *)(uintptr_t)usual->workers);
	return whole;
}

static int
check_rates(const json_t *o, const char *at, struct err *e)
{
	if (!json_has(o, "rates_iops"))
		return 0;
	err_set(e, ERR_INVALID,
		"a cell keeps its I/Os in flight, and is offered no rate");
	err_fix(e, "rates are for the workloads of a suite with \"ramp\"");
	return err_at(e, "%s/rates_iops", at);
}

/* What is chosen from another test is said nowhere. */
static int
check_chosen(const json_t *o, const char *at, struct err *e)
{
	static const char *const names[] = {"in_flight", "workers"};

	for (size_t i = 0; i < sizeof(names) / sizeof(names[0]); i++) {
		if (!json_has(o, names[i]))
			continue;
		err_set(e, ERR_INVALID, "\"%s\" is chosen from another test", names[i]);
		err_fix(e, "leave it out, or \"choose\"");
		return err_at(e, "%s/%s", at, names[i]);
	}
	return 0;
}

static int
read_cell(const json_t *o, const char *at, const struct usual *usual,
	struct rounds_cell *c, struct err *e)
{
	static const char *const names[] = {
		"workload", "warmup", "measure", "pause", "poll_health", NULL};
	struct usual t = *usual;
	char below[AT_MAX + 16];
	json_t *w;
	int rc;

	snprintf(below, sizeof(below), "%s/workload", at);
	if (json_only(o, at, names, e) != 0 || read_times(o, at, &t, e) != 0 ||
		read_time(o, at, "poll_health", POLL_MIN_NS, &c->poll_health_ns, e) !=
			0 ||
		json_need_object(o, at, "workload", &w, e) != 0 ||
		check_rates(w, below, e) != 0 ||
		(usual->chosen && check_chosen(w, below, e) != 0))
		return -1;
	if (t.measure_ns == 0) {
		err_set(e, ERR_INVALID, "\"measure\" is missing");
		err_fix(e, "say it in \"rounds\" for all cells, or in each cell");
		return err_at(e, "%s/measure", at);
	}
	c->warmup_ns = t.warmup_ns;
	c->measure_ns = t.measure_ns;
	c->pause_ns = t.pause_ns;
	w = complete(w, usual);
	rc = workload_parse(w, below, &c->workload, e);
	json_decref(w);
	return rc;
}

static int
read_choice(const json_t *o, const char *at, struct rounds_choice *c, struct err *e)
{
	static const char *const names[] = {"from", "pick", "mean_below", NULL};
	static const char *const picks[] = {"max", "mid", "min", NULL};
	char below[AT_MAX];
	json_t *part;
	size_t pick;

	snprintf(below, sizeof(below), "%s/choose", at);
	if (json_need_object(o, at, "choose", &part, e) != 0 ||
		json_only(part, below, names, e) != 0 ||
		workload_need_id(part, below, "from", c->from, e) != 0 ||
		need_name(part, below, "pick", picks, &pick, e) != 0 ||
		read_time(part, below, "mean_below", 1, &c->mean_below_ns, e) != 0)
		return -1;
	c->pick = (enum rounds_pick)pick;
	if ((c->pick == ROUNDS_PICK_MIN) == (c->mean_below_ns == 0))
		return 0;
	err_set(e, ERR_INVALID,
		"\"max\" and \"mid\" need \"mean_below\", \"min\" has none");
	return err_at(e, "%s/mean_below", below);
}

static int
read_list(const json_t *o, const char *at, const struct usual *usual, struct rounds *r,
	struct err *e)
{
	char below[AT_MAX];
	json_t *list;

	if (json_need_array(o, at, "cells", &list, e) != 0)
		return -1;
	if (json_array_size(list) < 1 || json_array_size(list) > ROUNDS_CELLS_MAX) {
		err_set(e, ERR_INVALID, "a round has 1 to %d cells", ROUNDS_CELLS_MAX);
		return err_at(e, "%s/cells", at);
	}
	r->cells = xcalloc(json_array_size(list), sizeof(*r->cells));
	for (size_t i = 0; i < json_array_size(list); i++, r->n_cells++) {
		snprintf(below, sizeof(below), "%s/cells/%zu", at, i);
		if (read_cell(json_array_get(list, i), below, usual, &r->cells[i], e) !=
			0)
			return -1;
	}
	return 0;
}

/* Until it is known what may be chosen, one worker with one I/O. */
static int
read_cells(const json_t *o, const char *at, struct rounds *r, struct err *e)
{
	struct usual usual = {.in_flight = json_object_get(o, "in_flight"),
		.workers = json_object_get(o, "workers"),
		.chosen = json_has(o, "choose")};
	json_t *one;
	int rc;

	if (read_times(o, at, &usual, e) != 0 ||
		(usual.chosen && (check_chosen(o, at, e) != 0 ||
					 read_choice(o, at, &r->choice, e) != 0)))
		return -1;
	one = json_integer(1);
	if (usual.chosen)
		usual.in_flight = usual.workers = one;
	rc = read_list(o, at, &usual, r, e);
	json_decref(one);
	return rc;
}

static int
find_cell(const struct rounds *r, const char *id, uint32_t *ret_cell, struct err *e)
{
	for (size_t i = 0; i < r->n_cells; i++) {
		if (strcmp(r->cells[i].workload.id, id) != 0)
			continue;
		*ret_cell = (uint32_t)i;
		return 0;
	}
	return err_set(e, ERR_INVALID, "there is no cell \"%.64s\"", id);
}

static int
read_tracked(const json_t *item, const char *at, struct rounds *r, struct err *e)
{
	static const char *const names[] = {"cell", "metric", NULL};
	static const char *const metrics[] = {
		"iops", "bytes_per_second", "lat_mean_ns", NULL};
	struct rounds_tracked *t = &r->tracked[r->n_tracked];
	const char *id;
	size_t metric;

	if (json_only(item, at, names, e) != 0 ||
		json_need_text(item, at, "cell", &id, e) != 0)
		return -1;
	if (find_cell(r, id, &t->cell, e) != 0)
		return err_at(e, "%s/cell", at);
	if (need_name(item, at, "metric", metrics, &metric, e) != 0)
		return -1;
	t->metric = (enum rounds_metric)metric;
	r->n_tracked++;
	return 0;
}

static int
read_tracking(const json_t *o, const char *at, struct rounds *r, struct err *e)
{
	char below[AT_MAX];
	json_t *list;

	if (!json_has(o, "tracking"))
		return 0;
	if (json_need_array(o, at, "tracking", &list, e) != 0)
		return -1;
	if (json_array_size(list) > ROUNDS_TRACKED_MAX) {
		err_set(e, ERR_INVALID, "at most %d values are tracked",
			ROUNDS_TRACKED_MAX);
		return err_at(e, "%s/tracking", at);
	}
	for (size_t i = 0; i < json_array_size(list); i++) {
		snprintf(below, sizeof(below), "%s/tracking/%zu", at, i);
		if (read_tracked(json_array_get(list, i), below, r, e) != 0)
			return -1;
	}
	return 0;
}

static int
read_counts(const json_t *o, const char *at, struct rounds *r, struct err *e)
{
	int64_t window = r->window, most = r->max_rounds;

	if (json_has(o, "window") &&
		json_need_int(o, at, "window", 2, ROUNDS_WINDOW_MAX, &window, e) != 0)
		return -1;
	if (json_has(o, "max_rounds") &&
		json_need_int(o, at, "max_rounds", 1, ROUNDS_MAX, &most, e) != 0)
		return -1;
	r->window = (uint32_t)window;
	r->max_rounds = (uint32_t)most;
	if (r->n_tracked == 0 || r->max_rounds >= r->window)
		return 0;
	err_set(e, ERR_INVALID, "a window of %u rounds needs as many rounds at least",
		(unsigned)r->window);
	return err_at(e, "%s/max_rounds", at);
}

/* A limit of the rule, which may be missing. */
static int
read_limit(const json_t *o, const char *at, const char *name, double *x, struct err *e)
{
	if (!json_has(o, name))
		return 0;
	if (share_need(o, at, name, "a limit", x, e) != 0)
		return -1;
	if (*x > 0)
		return 0;
	err_set(e, ERR_INVALID, "\"%s\" is above 0%%", name);
	return err_at(e, "%s/%s", at, name);
}

static int
read_stop(const json_t *o, const char *at, double *ret_capacities, struct err *e)
{
	*ret_capacities = 0;
	if (!json_has(o, "stop_capacities"))
		return 0;
	if (json_need_real(o, at, "stop_capacities", ret_capacities, e) != 0)
		return -1;
	if (*ret_capacities > 0 && *ret_capacities <= CAPACITIES_MAX)
		return 0;
	err_set(e, ERR_INVALID,
		"\"stop_capacities\" is a number of capacities above 0, at most %d",
		CAPACITIES_MAX);
	return err_at(e, "%s/stop_capacities", at);
}

int
rounds_parse(const json_t *o, const char *at, struct rounds *ret_r,
	double *ret_stop_capacities, struct err *e)
{
	static const char *const names[] = {"warmup", "measure", "pause", "in_flight",
		"workers", "choose", "cells", "tracking", "window", "range", "slope",
		"max_rounds", "stop_capacities", NULL};

	*ret_r = (struct rounds){.window = WINDOW,
		.range_percent = RANGE_PERCENT,
		.slope_percent = SLOPE_PERCENT,
		.max_rounds = ROUNDS};
	if (json_only(o, at, names, e) != 0 || read_cells(o, at, ret_r, e) != 0 ||
		read_tracking(o, at, ret_r, e) != 0)
		return -1;
	if (ret_r->n_tracked == 0)
		ret_r->max_rounds = 1;
	if (read_counts(o, at, ret_r, e) != 0 || rounds_check_points(ret_r, at, e) != 0 ||
		read_limit(o, at, "range", &ret_r->range_percent, e) != 0 ||
		read_limit(o, at, "slope", &ret_r->slope_percent, e) != 0)
		return -1;
	return read_stop(o, at, ret_stop_capacities, e);
}
