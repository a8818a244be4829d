/* What a suite takes and writes, before anything is measured. */
#include "common/suite_priv.h"

/* The first double that an int64_t does not hold. */
#define COUNT_END 9223372036854775808.0

int64_t
suite_count(double x)
{
	return x < COUNT_END ? (int64_t)x : INT64_MAX;
}

static int64_t
plus(int64_t a, int64_t b)
{
	return a > INT64_MAX - b ? INT64_MAX : a + b;
}

static void
add(struct suite_cost *sum, const struct suite_cost *x)
{
	sum->duration_ns = plus(sum->duration_ns, x->duration_ns);
	sum->measure_ns = plus(sum->measure_ns, x->measure_ns);
	sum->writing_ns = plus(sum->writing_ns, x->writing_ns);
	sum->rate_bytes = (uint64_t)plus(
		(int64_t)sum->rate_bytes, (int64_t)x->rate_bytes);
	sum->write_bytes = (uint64_t)plus(
		(int64_t)sum->write_bytes, (int64_t)x->write_bytes);
	sum->fill_bytes = (uint64_t)plus(
		(int64_t)sum->fill_bytes, (int64_t)x->fill_bytes);
	sum->overwrites += x->overwrites;
	sum->points += x->points;
}

/* A purge and a fill, with what is measured and written after them; stop_bytes: less than
 * this and what one round writes is written by it, 0: no limit. */
struct work {
	bool purge;
	uint32_t fill_passes;
	double measure_ns, writing_ns; /* of all points */
	double round_ns;	       /* of writing_ns, of one round */
	double stop_bytes;
	double rate_bytes; /* what points of rates write, beside writing_ns */
	uint32_t points;
};

static void
cost_of(const struct work *w, const struct suite_drive *d, uint64_t fill_bytes_per_s,
	uint64_t write_bytes_per_s, struct suite_cost *ret_cost)
{
	uint32_t overwrites = w->fill_passes + w->purge;
	double fill = (double)overwrites * (double)d->capacity_bytes;
	double rate = (double)write_bytes_per_s;
	double measured = w->writing_ns * rate / 1e9;
	double limit = w->stop_bytes + w->round_ns * rate / 1e9;

	if (w->stop_bytes > 0 && limit < measured)
		measured = limit;
	*ret_cost = (struct suite_cost){
		.duration_ns = suite_count(
			fill / (double)fill_bytes_per_s * 1e9 + w->measure_ns),
		.measure_ns = suite_count(w->measure_ns),
		.writing_ns = suite_count(w->writing_ns),
		.rate_bytes = (uint64_t)suite_count(w->rate_bytes),
		.write_bytes = (uint64_t)suite_count(fill + measured + w->rate_bytes),
		.fill_bytes = (uint64_t)suite_count(fill),
		.overwrites = overwrites,
		.points = w->fill_passes + w->points,
	};
}

static struct work
work_of_workload(const struct ramp *r, const struct workload *w)
{
	double point_ns = (double)(r->warmup_ns + r->measure_ns);
	/* ns at full load; above 100 % no more is written */
	double loaded_ns = (double)(r->maximum_warmup_ns + r->maximum_measure_ns);
	double rates_iops = 0;

	for (size_t i = 0; i < r->n_loads; i++)
		loaded_ns += point_ns *
			     (r->load_percent[i] < 100 ? r->load_percent[i] / 100 : 1);
	for (size_t i = 0; i < r->n_rates; i++)
		rates_iops += r->rate_iops[i];
	return (struct work){.measure_ns = suite_ramp_ns(r),
		.writing_ns = workload_written_part(w) * loaded_ns,
		.rate_bytes = rates_iops * point_ns / 1e9 * workload_written_bytes(w),
		.points = (uint32_t)((r->n_rates == 0) + r->n_loads + r->n_rates)};
}

static struct work
work_of_test(const struct suite_test *t, const struct suite_drive *d)
{
	struct work x = {.purge = t->purge,
		.fill_passes = t->fill_passes,
		.stop_bytes = t->stop_capacities * (double)d->capacity_bytes};
	struct rounds r;

	rounds_copy(&t->rounds, d->logical_block_bytes, &r);
	for (size_t i = 0; i < r.n_cells; i++) {
		const struct rounds_cell *c = &r.cells[i];

		x.round_ns += workload_written_part(&c->workload) *
			      (double)(c->warmup_ns + c->measure_ns);
	}
	x.measure_ns = (double)rounds_duration_ns(&r) * r.max_rounds;
	x.writing_ns = x.round_ns * r.max_rounds;
	x.points = r.max_rounds * (uint32_t)r.n_cells;
	rounds_fini(&r);
	return x;
}

void
suite_part_cost(const struct suite *s, size_t part, const struct suite_drive *d,
	uint64_t fill_bytes_per_s, uint64_t write_bytes_per_s,
	struct suite_cost *ret_cost)
{
	struct work w = {0};
	struct ramp ramp;

	if (s->n_tests == 0) {
		suite_ramp_of(s, part, &ramp);
		w = work_of_workload(&ramp, &s->workloads[part]);
	} else if (suite_test_is_possible(s, part, d)) {
		w = work_of_test(&s->tests[part], d);
	}
	cost_of(&w, d, fill_bytes_per_s, write_bytes_per_s, ret_cost);
}

void
suite_cost(const struct suite *s, const struct suite_drive *d, uint64_t fill_bytes_per_s,
	uint64_t write_bytes_per_s, struct suite_cost *ret_cost)
{
	const struct work prepare = {.purge = s->purge, .fill_passes = s->fill_passes};
	size_t n = s->n_tests > 0 ? s->n_tests : s->n_workloads;

	cost_of(&prepare, d, fill_bytes_per_s, write_bytes_per_s, ret_cost);
	for (size_t i = 0; i < n; i++) {
		struct suite_cost part;

		suite_part_cost(s, i, d, fill_bytes_per_s, write_bytes_per_s, &part);
		add(ret_cost, &part);
	}
}

/* What is left of a workload of which so many points are done, the maximum first. */
static double
workload_left_ns(const struct ramp *r, uint32_t points)
{
	double ns = suite_ramp_ns(r);

	if (points > 0 && r->n_rates == 0) {
		ns -= (double)(r->maximum_warmup_ns + r->maximum_measure_ns);
		points--;
	}
	ns -= (double)(r->warmup_ns + r->measure_ns) * points;
	return ns > 0 ? ns : 0;
}

/* A pass is the time of one over the whole drive. */
static double
step_left_ns(const struct step *step, double pass_ns, uint32_t points)
{
	double all = (double)step->rounds.max_rounds * (double)step->rounds.n_cells;

	switch (step->kind) {
	case STEP_IDENTIFY:
		break;
	case STEP_PURGE:
		return pass_ns;
	case STEP_FILL:
		return points < step->passes ? pass_ns * (step->passes - points) : 0;
	case STEP_WORKLOAD:
		return workload_left_ns(&step->ramp, points);
	case STEP_ROUNDS:
		return points < all
			       ? (double)rounds_duration_ns(&step->rounds) *
					 step->rounds.max_rounds * ((all - points) / all)
			       : 0;
	}
	return 0;
}

int64_t
suite_left_ns(const struct suite *s, const struct suite_drive *d,
	uint64_t fill_bytes_per_s, uint32_t step, uint32_t points)
{
	double pass_ns = (double)d->capacity_bytes / (double)fill_bytes_per_s * 1e9;
	struct program p;
	double ns = 0;

	suite_compile(s, d, &p);
	for (size_t i = step > 0 ? step - 1 : 0; i < p.n_steps; i++)
		ns += step_left_ns(&p.steps[i], pass_ns, i + 1 == step ? points : 0);
	program_fini(&p);
	return suite_count(ns);
}

uint32_t
suite_fill_passes(const struct suite *s, const struct suite_drive *d, uint32_t step)
{
	struct program p;
	uint32_t passes = 0;

	suite_compile(s, d, &p);
	if (step > 0 && step <= p.n_steps && p.steps[step - 1].kind == STEP_FILL)
		passes = p.steps[step - 1].passes;
	program_fini(&p);
	return passes;
}
