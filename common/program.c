#include "common/program.h"

#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "common/clock.h"
#include "common/err.h"
#include "common/json.h"
#include "common/need.h"
#include "common/xalloc.h"

#define FORM "program/v1"
#define STEPS_MAX 256
#define PASSES_MAX 100
#define LOAD_PERCENT_MAX 1000
#define MEASURE_MIN_NS (100 * NS_PER_MS)
#define AT_MAX 32

static const char *const arrivals_names[] = {
	[ARRIVALS_POISSON] = "poisson",
	[ARRIVALS_FIXED] = "fixed",
	NULL,
};
static const char *const step_names[] = {
	[STEP_IDENTIFY] = "identify",
	[STEP_PURGE] = "purge",
	[STEP_FILL] = "fill",
	[STEP_WORKLOAD] = "workload",
	[STEP_ROUNDS] = "rounds",
	NULL,
};

const char *
arrivals_name(enum arrivals a)
{
	return arrivals_names[a];
}

const char *
step_kind_name(enum step_kind kind)
{
	return step_names[kind];
}

double
program_round_target(double iops)
{
	double unit = iops > 1000 ? 100 : 10;

	return ceil(iops / unit) * unit;
}

bool
program_writes(const struct program *p)
{
	for (size_t i = 0; i < p->n_steps; i++) {
		const struct step *s = &p->steps[i];

		if (s->kind == STEP_PURGE || s->kind == STEP_FILL ||
			(s->kind == STEP_WORKLOAD && workload_writes(&s->workload)) ||
			(s->kind == STEP_ROUNDS && rounds_writes(&s->rounds)))
			return true;
	}
	return false;
}

bool
program_polls_health(const struct program *p)
{
	for (size_t i = 0; i < p->n_steps; i++)
		if (p->steps[i].kind == STEP_ROUNDS &&
			rounds_polls_health(&p->steps[i].rounds))
			return true;
	return false;
}

bool
program_has_rounds(const struct program *p)
{
	for (size_t i = 0; i < p->n_steps; i++)
		if (p->steps[i].kind == STEP_ROUNDS)
			return true;
	return false;
}

void
program_fini(struct program *p)
{
	if (p == NULL)
		return;
	for (size_t i = 0; i < p->n_steps; i++)
		rounds_fini(&p->steps[i].rounds);
	free(p->steps);
	p->steps = NULL;
	p->n_steps = 0;
}

static json_t *
ramp_to_json(const struct ramp *r)
{
	json_t *o = json_object();
	json_t *list = json_array();

	json_put(o, "warmup_ns", json_u64((uint64_t)r->warmup_ns));
	json_put(o, "measure_ns", json_u64((uint64_t)r->measure_ns));
	json_put(o, "arrivals", json_string(arrivals_name(r->arrivals)));
	if (r->n_rates > 0) {
		for (size_t i = 0; i < r->n_rates; i++)
			json_array_append_new(list, json_real(r->rate_iops[i]));
		json_put(o, "rates_iops", list);
		return o;
	}
	json_put(o, "maximum_warmup_ns", json_u64((uint64_t)r->maximum_warmup_ns));
	json_put(o, "maximum_measure_ns", json_u64((uint64_t)r->maximum_measure_ns));
	for (size_t i = 0; i < r->n_loads; i++)
		json_array_append_new(list, json_real(r->load_percent[i]));
	json_put(o, "load_percent", list);
	return o;
}

static json_t *
step_to_json(const struct step *s)
{
	json_t *o = json_object();

	json_put(o, "step", json_string(step_kind_name(s->kind)));
	if (s->unless.run != 0) {
		json_t *unless = json_object();

		json_put(unless, "run", json_u64(s->unless.run));
		json_put(unless, "witness", json_string(s->unless.witness));
		json_put(o, "unless", unless);
	}
	if (s->kind == STEP_FILL) {
		json_put(o, "passes", json_integer(s->passes));
		json_put(
			o, "block_bytes", json_integer(workload_block_max(&s->workload)));
		json_put(o, "in_flight", json_integer(s->workload.in_flight));
	} else if (s->kind == STEP_WORKLOAD) {
		json_put(o, "workload", workload_to_json(&s->workload));
		json_put(o, "ramp", ramp_to_json(&s->ramp));
	} else if (s->kind == STEP_ROUNDS) {
		json_put(o, "test", json_string(s->test));
		json_put(o, "rounds", rounds_to_json(&s->rounds));
	}
	return o;
}

json_t *
program_to_json(const struct program *p)
{
	json_t *o = json_object();
	json_t *region = json_object();
	json_t *data = json_object();
	json_t *steps = json_array();

	json_put(o, "ssdlab", json_string(FORM));
	json_put(o, "run", json_u64(p->run));
	json_put(o, "attempt", json_u64(p->attempt));
	json_put(o, "fence", json_u64(p->fence));
	json_put(o, "seed", json_u64(p->seed));
	json_put(o, "max_errors", json_integer(p->max_errors));
	json_put(o, "drive", drive_to_json(&p->drive));
	json_put(region, "offset_bytes", json_u64(p->region_offset));
	json_put(region, "length_bytes", json_u64(p->region_length));
	json_put(o, "region", region);
	json_put(data, "compress_percent", json_real(p->data.compress_percent));
	json_put(data, "dedupe_percent", json_real(p->data.dedupe_percent));
	json_put(o, "data", data);
	if (p->start.at_ns != 0)
		json_put(o, "start",
			json_pack("{s:o, s:o}", "at_ns", json_u64(p->start.at_ns),
				"lab_ns", json_u64(p->start.lab_ns)));
	for (size_t i = 0; i < p->n_steps; i++)
		json_array_append_new(steps, step_to_json(&p->steps[i]));
	json_put(o, "steps", steps);
	return o;
}

/* A list of loads or rates, each above 0 and at most max of its unit. */
struct points {
	const char *name, *unit;
	double max;
};

static int
read_points(const json_t *o, const char *at, const struct points *p,
	double ret_x[RAMP_POINTS_MAX], size_t *ret_n, struct err *e)
{
	json_t *list;

	if (json_need_array(o, at, p->name, &list, e) != 0)
		return -1;
	if (json_array_size(list) > RAMP_POINTS_MAX) {
		err_set(e, ERR_INVALID, "a ramp has at most %d load points",
			RAMP_POINTS_MAX);
		return err_at(e, "%s/%s", at, p->name);
	}
	for (size_t i = 0; i < json_array_size(list); i++) {
		double x = json_number_value(json_array_get(list, i));

		if (!(x > 0 && x <= p->max)) {
			err_set(e, ERR_INVALID,
				"a load is a number above 0, at most %.0f %s", p->max,
				p->unit);
			return err_at(e, "%s/%s/%zu", at, p->name, i);
		}
		ret_x[(*ret_n)++] = x;
	}
	return 0;
}

/* A ramp of rates has no maximum. */
static int
rates_from_json(const json_t *o, const char *at, struct ramp *r, struct err *e)
{
	static const char *const names[] = {
		"warmup_ns", "measure_ns", "arrivals", "rates_iops", NULL};
	static const struct points rates = {
		"rates_iops", "I/Os per second", RAMP_RATE_MAX};

	if (json_only(o, at, names, e) != 0 ||
		read_points(o, at, &rates, r->rate_iops, &r->n_rates, e) != 0)
		return -1;
	if (r->n_rates > 0)
		return 0;
	err_set(e, ERR_INVALID, "there is no rate");
	return err_at(e, "%s/rates_iops", at);
}

static int
loads_from_json(const json_t *o, const char *at, struct ramp *r, struct err *e)
{
	static const char *const names[] = {"maximum_warmup_ns", "maximum_measure_ns",
		"warmup_ns", "measure_ns", "arrivals", "load_percent", NULL};
	static const struct points loads = {"load_percent", "percent", LOAD_PERCENT_MAX};

	if (json_only(o, at, names, e) != 0 ||
		need_duration(o, at, "maximum_warmup_ns", 0, &r->maximum_warmup_ns, e) !=
			0 ||
		need_duration(o, at, "maximum_measure_ns", MEASURE_MIN_NS,
			&r->maximum_measure_ns, e) != 0)
		return -1;
	return read_points(o, at, &loads, r->load_percent, &r->n_loads, e);
}

static int
ramp_from_json(const json_t *o, const char *at, struct ramp *r, struct err *e)
{
	size_t arrivals;

	if ((json_has(o, "rates_iops") ? rates_from_json : loads_from_json)(
		    o, at, r, e) != 0 ||
		need_duration(o, at, "warmup_ns", 0, &r->warmup_ns, e) != 0 ||
		need_duration(o, at, "measure_ns", MEASURE_MIN_NS, &r->measure_ns, e) !=
			0 ||
		need_name(o, at, "arrivals", arrivals_names, &arrivals, e) != 0)
		return -1;
	r->arrivals = (enum arrivals)arrivals;
	return 0;
}

/* The member "unless", which may be missing. */
static int
unless_from_json(const json_t *o, const char *at, struct unless *u, struct err *e)
{
	static const char *const names[] = {"run", "witness", NULL};
	char below[AT_MAX + 16];
	const char *text;
	json_t *part;

	if (!json_has(o, "unless"))
		return 0;
	snprintf(below, sizeof(below), "%s/unless", at);
	if (json_need_object(o, at, "unless", &part, e) != 0 ||
		json_only(part, below, names, e) != 0 ||
		json_need_u64(part, below, "run", &u->run, e) != 0 ||
		json_need_text(part, below, "witness", &text, e) != 0)
		return -1;
	if (u->run == 0) {
		err_set(e, ERR_INVALID, "\"run\" starts at 1");
		return err_at(e, "%s/run", below);
	}
	if (text[0] == '\0' || strlen(text) >= sizeof(u->witness)) {
		err_set(e, ERR_INVALID, "a witness has 1 to %zu bytes",
			sizeof(u->witness) - 1);
		return err_at(e, "%s/witness", below);
	}
	snprintf(u->witness, sizeof(u->witness), "%s", text);
	return 0;
}

static int
purge_from_json(const json_t *o, const char *at, struct step *s, struct err *e)
{
	static const char *const names[] = {"step", "unless", NULL};

	if (json_only(o, at, names, e) != 0)
		return -1;
	return unless_from_json(o, at, &s->unless, e);
}

static int
fill_from_json(const json_t *o, const char *at, struct step *s, struct err *e)
{
	static const char *const names[] = {
		"step", "unless", "passes", "block_bytes", "in_flight", NULL};
	int64_t passes, block, in_flight;

	if (json_only(o, at, names, e) != 0 ||
		unless_from_json(o, at, &s->unless, e) != 0 ||
		json_need_int(o, at, "passes", 1, PASSES_MAX, &passes, e) != 0 ||
		json_need_int(o, at, "block_bytes", 512, WORKLOAD_BLOCK_MAX, &block, e) !=
			0 ||
		json_need_int(o, at, "in_flight", 1, WORKLOAD_IN_FLIGHT_MAX, &in_flight,
			e) != 0)
		return -1;
	s->passes = (uint32_t)passes;
	snprintf(s->workload.id, sizeof(s->workload.id), "fill");
	workload_plain(&s->workload, 0, 0, (uint32_t)block);
	s->workload.in_flight = (uint32_t)in_flight;
	s->workload.workers = 1;
	return workload_check_buffers((uint32_t)block, (uint32_t)in_flight, e) == 0
		       ? 0
		       : err_at(e, "%s/in_flight", at);
}

static int
workload_step_from_json(const json_t *o, const char *at, struct step *s, struct err *e)
{
	static const char *const names[] = {"step", "workload", "ramp", NULL};
	char below[AT_MAX + 16];
	json_t *part;

	if (json_only(o, at, names, e) != 0 ||
		json_need_object(o, at, "workload", &part, e) != 0)
		return -1;
	snprintf(below, sizeof(below), "%s/workload", at);
	if (workload_from_json(part, below, &s->workload, e) != 0 ||
		json_need_object(o, at, "ramp", &part, e) != 0)
		return -1;
	snprintf(below, sizeof(below), "%s/ramp", at);
	return ramp_from_json(part, below, &s->ramp, e);
}

static int
rounds_step_from_json(const json_t *o, const char *at, struct step *s, struct err *e)
{
	static const char *const names[] = {"step", "test", "rounds", NULL};
	char below[AT_MAX + 16];
	json_t *part;

	if (json_only(o, at, names, e) != 0 ||
		workload_need_id(o, at, "test", s->test, e) != 0 ||
		json_need_object(o, at, "rounds", &part, e) != 0)
		return -1;
	snprintf(below, sizeof(below), "%s/rounds", at);
	if (rounds_from_json(part, below, &s->rounds, e) != 0)
		return -1;
	return rounds_check_names(&s->rounds, s->test, below, e);
}

static int
step_from_json(const json_t *o, const char *at, struct step *s, struct err *e)
{
	static const char *const step_only[] = {"step", NULL};
	size_t kind;

	if (!json_is_object(o)) {
		err_set(e, ERR_INVALID, "a step is an object");
		return err_at(e, "%s", at);
	}
	if (need_name(o, at, "step", step_names, &kind, e) != 0)
		return -1;
	s->kind = (enum step_kind)kind;
	if (s->kind == STEP_PURGE)
		return purge_from_json(o, at, s, e);
	if (s->kind == STEP_FILL)
		return fill_from_json(o, at, s, e);
	if (s->kind == STEP_WORKLOAD)
		return workload_step_from_json(o, at, s, e);
	if (s->kind == STEP_ROUNDS)
		return rounds_step_from_json(o, at, s, e);
	return json_only(o, at, step_only, e);
}

/* A block must be whole logical blocks of the drive and fit where it is used. */
static int
check_block(const struct program *p, const struct workload *w, bool fill, const char *at,
	struct err *e)
{
	uint32_t block = workload_block_max(w);
	uint64_t room = fill ? p->drive.capacity_bytes : p->region_length;

	if (block % p->drive.logical_block_bytes != 0)
		err_set(e, ERR_INVALID,
			"a block of %" PRIu32
			" bytes is not a whole number of the drive's "
			"logical blocks of %" PRIu32 " bytes",
			block, p->drive.logical_block_bytes);
	else if (block > room)
		err_set(e, ERR_INVALID,
			"a block of %" PRIu32 " bytes does not fit into %" PRIu64
			" bytes",
			block, room);
	else if (fill ||
		 workload_fits(w, p->region_length, p->drive.logical_block_bytes, e) == 0)
		return 0;
	return err_at(e, "%s", at);
}

static int
check_blocks(const struct program *p, const struct step *s, const char *at, struct err *e)
{
	char cell[AT_MAX + 48];

	if (s->kind == STEP_FILL || s->kind == STEP_WORKLOAD)
		return check_block(p, &s->workload, s->kind == STEP_FILL, at, e);
	for (size_t i = 0; i < s->rounds.n_cells; i++) {
		snprintf(cell, sizeof(cell), "%s/rounds/cells/%zu", at, i);
		if (check_block(p, &s->rounds.cells[i].workload, false, cell, e) != 0)
			return -1;
	}
	return 0;
}

const struct step *
program_chosen_from(const struct program *p, size_t i)
{
	const struct rounds_choice *c = &p->steps[i].rounds.choice;

	while (c->from[0] != '\0' && i-- > 0)
		if (p->steps[i].kind == STEP_ROUNDS &&
			strcmp(p->steps[i].test, c->from) == 0)
			return &p->steps[i];
	return NULL;
}

/* What step i takes over must have been measured before. */
static int
check_choice(const struct program *p, size_t i, const char *at, struct err *e)
{
	const struct rounds *r = &p->steps[i].rounds;
	const struct step *from = program_chosen_from(p, i);

	if (r->choice.from[0] == '\0' || r->n_cells == 0 ||
		(from != NULL && rounds_offers_choice(&from->rounds)))
		return 0;
	err_set(e, ERR_INVALID, "\"%s\" is no earlier test that offers a choice",
		r->choice.from);
	return err_at(e, "%s/rounds/choose/from", at);
}

static int
steps_from_json(const json_t *doc, struct program *p, struct err *e)
{
	char at[AT_MAX];
	json_t *steps;
	size_t n;

	if (json_need_array(doc, "", "steps", &steps, e) != 0)
		return -1;
	n = json_array_size(steps);
	if (n == 0 || n > STEPS_MAX) {
		err_set(e, ERR_INVALID, "a program has 1 to %d steps", STEPS_MAX);
		return err_at(e, "/steps");
	}
	p->steps = xcalloc(n, sizeof(*p->steps));
	p->n_steps = n;
	for (size_t i = 0; i < n; i++) {
		snprintf(at, sizeof(at), "/steps/%zu", i);
		if (step_from_json(json_array_get(steps, i), at, &p->steps[i], e) != 0 ||
			check_blocks(p, &p->steps[i], at, e) != 0 ||
			check_choice(p, i, at, e) != 0)
			return -1;
	}
	return 0;
}

static int
region_from_json(const json_t *doc, struct program *p, struct err *e)
{
	static const char *const names[] = {"offset_bytes", "length_bytes", NULL};
	uint32_t block = p->drive.logical_block_bytes;
	json_t *o;

	if (json_need_object(doc, "", "region", &o, e) != 0 ||
		json_only(o, "/region", names, e) != 0 ||
		json_need_u64(o, "/region", "offset_bytes", &p->region_offset, e) != 0 ||
		json_need_u64(o, "/region", "length_bytes", &p->region_length, e) != 0)
		return -1;
	if (p->region_offset % block != 0 || p->region_length % block != 0 ||
		p->region_length == 0)
		err_set(e, ERR_INVALID,
			"a region is one or more whole logical blocks of %" PRIu32
			" bytes",
			block);
	else if (p->region_offset > p->drive.capacity_bytes ||
		 p->region_length > p->drive.capacity_bytes - p->region_offset)
		err_set(e, ERR_INVALID,
			"the region ends behind the drive's %" PRIu64 " bytes",
			p->drive.capacity_bytes);
	else
		return 0;
	return err_at(e, "/region");
}

static int
need_share(const json_t *o, const char *at, const char *name, double *ret_percent,
	struct err *e)
{
	if (json_need_real(o, at, name, ret_percent, e) != 0)
		return -1;
	if (*ret_percent >= 0 && *ret_percent <= 100)
		return 0;
	err_set(e, ERR_INVALID, "\"%s\" is a share from 0 to 100 percent", name);
	return err_at(e, "%s/%s", at, name);
}

static int
data_from_json(const json_t *doc, struct data_shares *d, struct err *e)
{
	static const char *const names[] = {"compress_percent", "dedupe_percent", NULL};
	json_t *o;

	if (json_need_object(doc, "", "data", &o, e) != 0 ||
		json_only(o, "/data", names, e) != 0 ||
		need_share(o, "/data", "compress_percent", &d->compress_percent, e) != 0)
		return -1;
	return need_share(o, "/data", "dedupe_percent", &d->dedupe_percent, e);
}

/* A number that names something and so is never 0. */
static int
need_number(const json_t *doc, const char *name, uint64_t *ret_n, struct err *e)
{
	if (json_need_u64(doc, "", name, ret_n, e) != 0)
		return -1;
	if (*ret_n != 0)
		return 0;
	err_set(e, ERR_INVALID, "\"%s\" starts at 1", name);
	return err_at(e, "/%s", name);
}

/* Only runs that start together have one. */
static int
start_from_json(const json_t *doc, struct program_start *s, struct err *e)
{
	static const char *const names[] = {"at_ns", "lab_ns", NULL};
	json_t *o;

	if (!json_has(doc, "start"))
		return 0;
	if (json_need_object(doc, "", "start", &o, e) != 0 ||
		json_only(o, "/start", names, e) != 0 ||
		json_need_u64(o, "/start", "at_ns", &s->at_ns, e) != 0 ||
		json_need_u64(o, "/start", "lab_ns", &s->lab_ns, e) != 0)
		return -1;
	if (s->at_ns > 0 && s->at_ns <= INT64_MAX && s->lab_ns <= INT64_MAX)
		return 0;
	err_set(e, ERR_INVALID, "no clock shows that");
	return err_at(e, "/start/at_ns");
}

static int
read_all(const json_t *doc, struct program *p, struct err *e)
{
	static const char *const names[] = {"ssdlab", "run", "attempt", "fence", "seed",
		"max_errors", "drive", "region", "data", "start", "steps", NULL};
	const char *form;
	json_t *drive;
	int64_t max_errors;

	if (json_only(doc, "", names, e) != 0 ||
		json_need_text(doc, "", "ssdlab", &form, e) != 0)
		return -1;
	if (strcmp(form, FORM) != 0) {
		err_set(e, ERR_INVALID, "this is a \"%.40s\", not a \"%s\"", form, FORM);
		return err_at(e, "/ssdlab");
	}
	if (need_number(doc, "run", &p->run, e) != 0 ||
		need_number(doc, "attempt", &p->attempt, e) != 0 ||
		need_number(doc, "fence", &p->fence, e) != 0 ||
		json_need_u64(doc, "", "seed", &p->seed, e) != 0 ||
		json_need_int(doc, "", "max_errors", 0, UINT32_MAX, &max_errors, e) !=
			0 ||
		json_need_object(doc, "", "drive", &drive, e) != 0 ||
		drive_from_json(drive, "/drive", &p->drive, e) != 0 ||
		region_from_json(doc, p, e) != 0 ||
		data_from_json(doc, &p->data, e) != 0 ||
		start_from_json(doc, &p->start, e) != 0)
		return -1;
	p->max_errors = (uint32_t)max_errors;
	return steps_from_json(doc, p, e);
}

int
program_from_json(const json_t *doc, struct program *ret_p, struct err *e)
{
	memset(ret_p, 0, sizeof(*ret_p));
	if (read_all(doc, ret_p, e) == 0)
		return 0;
	program_fini(ret_p);
	return -1;
}
