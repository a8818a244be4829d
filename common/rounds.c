#include "common/rounds.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "common/clock.h"
#include "common/err.h"
#include "common/json.h"
#include "common/need.h"
#include "common/xalloc.h"

#define MEASURE_MIN_NS (100 * NS_PER_MS)
#define AT_MAX 80
#define LEFT_OUT_FOR_HEALTH "health"

static const char *const metric_names[] = {
	[ROUNDS_IOPS] = "iops",
	[ROUNDS_BYTES_PER_SECOND] = "bytes_per_second",
	[ROUNDS_LAT_MEAN_NS] = "lat_mean_ns",
	NULL,
};

static const char *const pick_names[] = {
	[ROUNDS_PICK_MAX] = "max",
	[ROUNDS_PICK_MID] = "mid",
	[ROUNDS_PICK_MIN] = "min",
	NULL,
};

const char *
rounds_metric_name(enum rounds_metric m)
{
	return metric_names[m];
}

const char *
rounds_pick_name(enum rounds_pick p)
{
	return pick_names[p];
}

void
rounds_fini(struct rounds *r)
{
	free(r->cells);
	free(r->left_out);
	memset(r, 0, sizeof(*r));
}

void
rounds_name(const char *test, const struct rounds_cell *c, char ret_name[ROUNDS_NAME_MAX])
{
	int n = snprintf(ret_name, ROUNDS_NAME_MAX, "%s/%s", test, c->workload.id);

	if (n < 0)
		ret_name[0] = '\0';
}

bool
rounds_writes(const struct rounds *r)
{
	for (size_t i = 0; i < r->n_cells; i++)
		if (workload_writes(&r->cells[i].workload))
			return true;
	return false;
}

bool
rounds_polls_health(const struct rounds *r)
{
	for (size_t i = 0; i < r->n_cells; i++)
		if (r->cells[i].poll_health_ns > 0)
			return true;
	return false;
}

int64_t
rounds_duration_ns(const struct rounds *r)
{
	int64_t ns = 0;

	for (size_t i = 0; i < r->n_cells; i++) {
		const struct rounds_cell *c = &r->cells[i];

		ns += c->warmup_ns + c->measure_ns + c->pause_ns;
	}
	return ns;
}

uint64_t
rounds_space_bytes(const struct rounds *r)
{
	uint64_t most = 0;

	for (size_t i = 0; i < r->n_cells; i++) {
		const struct workload *w = &r->cells[i].workload;
		uint64_t bytes = (uint64_t)workload_block_max(w) * w->workers;

		if (bytes > most)
			most = bytes;
	}
	return most;
}

bool
rounds_offers_choice(const struct rounds *r)
{
	return r->n_tracked > 0 && r->choice.from[0] == '\0';
}

bool
rounds_may_choose(const struct rounds *from, size_t i)
{
	return rounds_offers_choice(from) &&
	       workload_does_same(&from->cells[i].workload,
		       &from->cells[from->tracked[0].cell].workload);
}

void
rounds_demand(struct rounds *r, uint32_t workers, uint32_t in_flight)
{
	for (size_t i = 0; i < r->n_cells; i++) {
		r->cells[i].workload.workers = workers;
		r->cells[i].workload.in_flight = in_flight;
	}
}

void
rounds_bound(struct rounds *r, const struct rounds *from)
{
	uint32_t workers = 1, in_flight = 1;

	for (size_t i = 0; i < from->n_cells; i++) {
		const struct workload *w = &from->cells[i].workload;

		if (!rounds_may_choose(from, i))
			continue;
		if (w->workers > workers)
			workers = w->workers;
		if (w->in_flight > in_flight)
			in_flight = w->in_flight;
	}
	rounds_demand(r, workers, in_flight);
}

static bool
cell_is_possible(const struct rounds_cell *c, uint32_t logical_block_bytes)
{
	return logical_block_bytes != 0 &&
	       workload_unit(&c->workload) % logical_block_bytes == 0;
}

bool
rounds_is_possible(const struct rounds *r, uint32_t logical_block_bytes)
{
	size_t n = 0;

	for (size_t i = 0; i < r->n_tracked; i++)
		if (!cell_is_possible(&r->cells[r->tracked[i].cell], logical_block_bytes))
			return false;
	for (size_t i = 0; i < r->n_cells; i++)
		n += cell_is_possible(&r->cells[i], logical_block_bytes);
	return n > 0;
}

static void
leave_out(struct rounds *r, const char *id)
{
	r->left_out = xrealloc(r->left_out, r->n_left_out + 1, sizeof(*r->left_out));
	snprintf(r->left_out[r->n_left_out++], sizeof(*r->left_out), "%s", id);
}

void
rounds_copy(const struct rounds *r, uint32_t logical_block_bytes, struct rounds *ret_r)
{
	bool possible = rounds_is_possible(r, logical_block_bytes);

	*ret_r = *r;
	ret_r->cells = xcalloc(r->n_cells, sizeof(*ret_r->cells));
	ret_r->n_cells = 0;
	ret_r->left_out = NULL;
	ret_r->n_left_out = 0;
	if (!possible)
		ret_r->n_tracked = 0;
	for (size_t i = 0; i < r->n_left_out; i++)
		leave_out(ret_r, r->left_out[i]);
	for (size_t i = 0; i < r->n_cells; i++) {
		if (!possible || !cell_is_possible(&r->cells[i], logical_block_bytes)) {
			leave_out(ret_r, r->cells[i].workload.id);
			continue;
		}
		for (size_t k = 0; k < r->n_tracked && possible; k++)
			if (r->tracked[k].cell == i)
				ret_r->tracked[k].cell = (uint32_t)ret_r->n_cells;
		ret_r->cells[ret_r->n_cells++] = r->cells[i];
	}
}

int
rounds_check_names(
	const struct rounds *r, const char *test, const char *at, struct err *e)
{
	for (size_t i = 0; i < r->n_cells; i++) {
		const char *id = r->cells[i].workload.id;

		if (strlen(test) + 1 + strlen(id) >= ROUNDS_NAME_MAX) {
			err_set(e, ERR_INVALID,
				"the ids of a test and of its cell have at most %d bytes "
				"together",
				ROUNDS_NAME_MAX - 2);
			return err_at(e, "%s/cells/%zu", at, i);
		}
		for (size_t k = 0; k < i; k++) {
			if (strcmp(r->cells[k].workload.id, id) != 0)
				continue;
			err_set(e, ERR_INVALID,
				"the id \"%s\" is already that of cell %zu", id, k);
			return err_at(e, "%s/cells/%zu", at, i);
		}
	}
	return 0;
}

static json_t *
choice_to_json(const struct rounds_choice *c)
{
	json_t *o = json_object();

	json_put(o, "from", json_string(c->from));
	json_put(o, "pick", json_string(rounds_pick_name(c->pick)));
	json_put(o, "mean_below_ns", json_u64((uint64_t)c->mean_below_ns));
	return o;
}

json_t *
rounds_to_json(const struct rounds *r)
{
	json_t *o = json_object();
	json_t *cells = json_array();
	json_t *tracking = json_array();
	json_t *left_out = json_array();

	for (size_t i = 0; i < r->n_cells; i++) {
		const struct rounds_cell *c = &r->cells[i];
		json_t *cell = json_object();

		json_put(cell, "workload", workload_to_json(&c->workload));
		json_put(cell, "warmup_ns", json_u64((uint64_t)c->warmup_ns));
		json_put(cell, "measure_ns", json_u64((uint64_t)c->measure_ns));
		json_put(cell, "pause_ns", json_u64((uint64_t)c->pause_ns));
		if (c->poll_health_ns > 0)
			json_put(cell, "poll_health_ns",
				json_u64((uint64_t)c->poll_health_ns));
		json_array_append_new(cells, cell);
	}
	for (size_t i = 0; i < r->n_tracked; i++) {
		json_t *t = json_object();

		json_put(t, "cell", json_integer(r->tracked[i].cell + 1));
		json_put(t, "metric",
			json_string(rounds_metric_name(r->tracked[i].metric)));
		json_array_append_new(tracking, t);
	}
	for (size_t i = 0; i < r->n_left_out; i++)
		json_array_append_new(left_out, json_string(r->left_out[i]));
	json_put(o, "cells", cells);
	if (r->choice.from[0] != '\0')
		json_put(o, "choose", choice_to_json(&r->choice));
	json_put(o, "tracking", tracking);
	json_put(o, "window", json_integer(r->window));
	json_put(o, "range_percent", json_real(r->range_percent));
	json_put(o, "slope_percent", json_real(r->slope_percent));
	json_put(o, "max_rounds", json_integer(r->max_rounds));
	json_put(o, "stop_bytes", json_u64(r->stop_bytes));
	json_put(o, "left_out", left_out);
	if (r->left_out_for_health)
		json_put(o, "left_out_for", json_string(LEFT_OUT_FOR_HEALTH));
	return o;
}

static int
cell_from_json(const json_t *o, const char *at, struct rounds_cell *c, struct err *e)
{
	static const char *const names[] = {"workload", "warmup_ns", "measure_ns",
		"pause_ns", "poll_health_ns", NULL};
	char below[AT_MAX + 16];
	json_t *w;

	snprintf(below, sizeof(below), "%s/workload", at);
	if (json_only(o, at, names, e) != 0 ||
		json_need_object(o, at, "workload", &w, e) != 0 ||
		workload_from_json(w, below, &c->workload, e) != 0 ||
		need_duration(o, at, "warmup_ns", 0, &c->warmup_ns, e) != 0 ||
		need_duration(o, at, "measure_ns", MEASURE_MIN_NS, &c->measure_ns, e) !=
			0)
		return -1;
	if (json_has(o, "poll_health_ns") &&
		need_duration(o, at, "poll_health_ns", 1, &c->poll_health_ns, e) != 0)
		return -1;
	return need_duration(o, at, "pause_ns", 0, &c->pause_ns, e);
}

static int
cells_from_json(const json_t *o, const char *at, struct rounds *r, struct err *e)
{
	char below[AT_MAX];
	json_t *list;

	if (json_need_array(o, at, "cells", &list, e) != 0)
		return -1;
	if (json_array_size(list) > ROUNDS_CELLS_MAX) {
		err_set(e, ERR_INVALID, "a round has at most %d cells", ROUNDS_CELLS_MAX);
		return err_at(e, "%s/cells", at);
	}
	r->cells = xcalloc(json_array_size(list) + 1, sizeof(*r->cells));
	for (size_t i = 0; i < json_array_size(list); i++, r->n_cells++) {
		snprintf(below, sizeof(below), "%s/cells/%zu", at, i);
		if (cell_from_json(json_array_get(list, i), below, &r->cells[i], e) != 0)
			return -1;
	}
	return 0;
}

static int
tracking_from_json(const json_t *o, const char *at, struct rounds *r, struct err *e)
{
	static const char *const names[] = {"cell", "metric", NULL};
	char below[AT_MAX];
	int64_t cell;
	size_t metric;
	json_t *list;

	if (json_need_array(o, at, "tracking", &list, e) != 0)
		return -1;
	if (json_array_size(list) > ROUNDS_TRACKED_MAX) {
		err_set(e, ERR_INVALID, "at most %d values are tracked",
			ROUNDS_TRACKED_MAX);
		return err_at(e, "%s/tracking", at);
	}
	for (size_t i = 0; i < json_array_size(list); i++) {
		const json_t *item = json_array_get(list, i);

		snprintf(below, sizeof(below), "%s/tracking/%zu", at, i);
		if (json_only(item, below, names, e) != 0 ||
			json_need_int(item, below, "cell", 1, (int64_t)r->n_cells, &cell,
				e) != 0 ||
			need_name(item, below, "metric", metric_names, &metric, e) != 0)
			return -1;
		r->tracked[r->n_tracked++] = (struct rounds_tracked){
			(uint32_t)cell - 1, (enum rounds_metric)metric};
	}
	return 0;
}

/* The member "left_out_for", which may be missing. */
static int
left_out_for_from_json(const json_t *o, const char *at, struct rounds *r, struct err *e)
{
	static const char *const reasons[] = {LEFT_OUT_FOR_HEALTH, NULL};
	size_t reason;

	r->left_out_for_health = json_has(o, "left_out_for");
	return r->left_out_for_health
		       ? need_name(o, at, "left_out_for", reasons, &reason, e)
		       : 0;
}

static int
left_out_from_json(const json_t *o, const char *at, struct rounds *r, struct err *e)
{
	json_t *list;

	if (json_need_array(o, at, "left_out", &list, e) != 0)
		return -1;
	for (size_t i = 0; i < json_array_size(list); i++) {
		const char *id = json_string_value(json_array_get(list, i));

		if (id == NULL || id[0] == '\0' || strlen(id) >= WORKLOAD_ID_MAX) {
			err_set(e, ERR_INVALID, "an id of a cell is wanted here");
			return err_at(e, "%s/left_out/%zu", at, i);
		}
		leave_out(r, id);
	}
	if (left_out_for_from_json(o, at, r, e) != 0)
		return -1;
	if (r->n_cells > 0 || r->n_left_out > 0)
		return 0;
	err_set(e, ERR_INVALID, "a round has at least one cell");
	return err_at(e, "%s/cells", at);
}

/* The member "choose", which only tests have that take over a demand. */
static int
choice_from_json(const json_t *o, const char *at, struct rounds_choice *c, struct err *e)
{
	static const char *const names[] = {"from", "pick", "mean_below_ns", NULL};
	char below[AT_MAX];
	json_t *part;
	size_t pick;

	if (!json_has(o, "choose"))
		return 0;
	snprintf(below, sizeof(below), "%s/choose", at);
	if (json_need_object(o, at, "choose", &part, e) != 0 ||
		json_only(part, below, names, e) != 0 ||
		workload_need_id(part, below, "from", c->from, e) != 0 ||
		need_name(part, below, "pick", pick_names, &pick, e) != 0)
		return -1;
	c->pick = (enum rounds_pick)pick;
	return need_duration(part, below, "mean_below_ns",
		c->pick == ROUNDS_PICK_MIN ? 0 : 1, &c->mean_below_ns, e);
}

static int
need_percent(
	const json_t *o, const char *at, const char *name, double *ret_x, struct err *e)
{
	if (json_need_real(o, at, name, ret_x, e) != 0)
		return -1;
	if (*ret_x > 0 && *ret_x <= 100)
		return 0;
	err_set(e, ERR_INVALID, "\"%s\" is above 0, at most 100 percent", name);
	return err_at(e, "%s/%s", at, name);
}

int
rounds_check_points(const struct rounds *r, const char *at, struct err *e)
{
	uint64_t points = (uint64_t)r->n_cells * r->max_rounds;

	if (points <= ROUNDS_POINTS_MAX)
		return 0;
	err_set(e, ERR_INVALID,
		"%zu cells in %u rounds are %" PRIu64 " points; a test has at most %d",
		r->n_cells, (unsigned)r->max_rounds, points, ROUNDS_POINTS_MAX);
	return err_at(e, "%s/max_rounds", at);
}

int
rounds_from_json(const json_t *o, const char *at, struct rounds *ret_r, struct err *e)
{
	static const char *const names[] = {"cells", "choose", "tracking", "window",
		"range_percent", "slope_percent", "max_rounds", "stop_bytes", "left_out",
		"left_out_for", NULL};
	int64_t window, max_rounds;

	memset(ret_r, 0, sizeof(*ret_r));
	if (json_only(o, at, names, e) != 0 || cells_from_json(o, at, ret_r, e) != 0 ||
		choice_from_json(o, at, &ret_r->choice, e) != 0 ||
		tracking_from_json(o, at, ret_r, e) != 0 ||
		left_out_from_json(o, at, ret_r, e) != 0 ||
		json_need_int(o, at, "window", 2, ROUNDS_WINDOW_MAX, &window, e) != 0 ||
		need_percent(o, at, "range_percent", &ret_r->range_percent, e) != 0 ||
		need_percent(o, at, "slope_percent", &ret_r->slope_percent, e) != 0 ||
		json_need_int(o, at, "max_rounds", 1, ROUNDS_MAX, &max_rounds, e) != 0 ||
		json_need_u64(o, at, "stop_bytes", &ret_r->stop_bytes, e) != 0)
		return -1;
	ret_r->window = (uint32_t)window;
	ret_r->max_rounds = (uint32_t)max_rounds;
	return rounds_check_points(ret_r, at, e);
}
