#include "runner/rounds.h"

#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "analysis/steady.h"
#include "common/clock.h"
#include "common/json.h"
#include "common/log.h"
#include "common/xalloc.h"
#include "runner/outbox.h"
#include "runner/resume.h"
#include "runner/steps_priv.h"

#define PAUSE_STEP_NS (20 * NS_PER_MS)
#define VOID_MAX 200

struct rounds_state {
	struct steps *s;
	const struct rounds *rounds;
	const char *test;
	struct choice choice; /* its document is NULL: nothing is chosen; owned */
	struct steady steady;
	double values[ROUNDS_TRACKED_MAX]; /* of this round; NAN: not measured */
	uint32_t round;
	uint32_t n_void;
	uint32_t first_point;
	uint64_t written;	 /* by all rounds of the test */
	char why_void[VOID_MAX]; /* of this round, "" when it counts */
};

void
rounds_why_void(const struct rounds_trouble *t, char *ret_text, size_t size)
{
	ret_text[0] = '\0';
	if (t->errors > 0)
		snprintf(ret_text, size, "%s: %" PRIu64 " I/Os failed", t->cell,
			t->errors);
	else if (t->missed_ns >= STEPS_MISSED_NS &&
		 (double)t->missed_ns > STEPS_MISSED_PART * (double)t->measure_ns)
		snprintf(ret_text, size,
			"%s: this host did not run the test for %.1f s (stopped or "
			"overloaded)",
			t->cell, (double)t->missed_ns / 1e9);
	else if (t->gap_ns > ROUNDS_GAP_NS)
		snprintf(ret_text, size, "%s: nothing was done for %.1f s before it",
			t->cell, (double)t->gap_ns / 1e9);
}

/* A tracked value of the cell that was just measured. */
static double
metric_of(const struct load_result *l, enum rounds_metric metric)
{
	double seconds = (double)l->length_ns / 1e9;
	double n = 0, sum = 0;

	if (metric == ROUNDS_IOPS)
		return (double)(l->ops[DIR_READ] + l->ops[DIR_WRITE]) / seconds;
	if (metric == ROUNDS_BYTES_PER_SECOND)
		return (double)(l->bytes[DIR_READ] + l->bytes[DIR_WRITE]) / seconds;
	for (int d = 0; d < DATA_DIRECTIONS; d++) {
		n += (double)l->service[d].n;
		sum += (double)l->service[d].n * hist_mean(&l->service[d]);
	}
	return sum / n;
}

static uint64_t
errors_of(const struct load_result *l)
{
	uint64_t n = 0;

	for (int d = 0; d < DIRECTIONS; d++)
		n += l->errors[d];
	return n;
}

/* Does nothing for that long. 0, or -1 when the run is to stop. */
static int
pause_for(struct steps *s, int64_t ns)
{
	int64_t end = clock_mono() + ns;
	const struct timespec step = {0, PAUSE_STEP_NS};

	s->deadline_ns = INT64_MAX;
	do {
		if (!steps_go_on(s))
			return -1;
		if (clock_mono() >= end)
			break;
		nanosleep(&step, NULL);
	} while (true);
	s->idle_ns = clock_mono();
	return 0;
}

/* For a test that chooses from this one. */
static void
keep_figure(struct rounds_state *x, uint32_t i)
{
	const struct load_result *l = &x->s->load;
	const struct figure f = {.step = x->s->step,
		.round = x->round,
		.cell = i + 1,
		.ops = l->ops[DIR_READ] + l->ops[DIR_WRITE],
		.length_ns = (uint64_t)l->length_ns};

	figures_add(&x->s->figures, &f, l->service);
}

/* Measures cell i of the round and keeps what is tracked of it. */
static int
run_cell(struct rounds_state *x, uint32_t i)
{
	const struct rounds_cell *c = &x->rounds->cells[i];
	const struct round_place place = {x->test, x->round, i + 1};
	struct steps *s = x->s;
	char name[ROUNDS_NAME_MAX];
	const struct plan p = {
		.workload = &c->workload,
		.name = name,
		.place = &place,
		.load_percent = (double)NAN,
		.reference_iops = (double)NAN,
		.warmup_ns = c->warmup_ns,
		.measure_ns = c->measure_ns,
		.poll_health_ns = c->poll_health_ns,
		.offset = s->program->region_offset,
		.length = s->program->region_length,
	};
	struct rounds_trouble t = {.cell = name, .measure_ns = c->measure_ns};

	rounds_name(x->test, c, name);
	if (!steps_go_on(s) || steps_point(s, &p) != 0)
		return -1;
	x->written += s->load.written_bytes;
	t.gap_ns = s->gap_ns;
	keep_figure(x, i);
	t.errors = errors_of(&s->load);
	t.missed_ns = s->load.missed_measure_ns;
	if (x->why_void[0] == '\0')
		rounds_why_void(&t, x->why_void, sizeof(x->why_void));
	for (size_t k = 0; k < x->rounds->n_tracked; k++)
		if (x->rounds->tracked[k].cell == i)
			x->values[k] = metric_of(&s->load, x->rounds->tracked[k].metric);
	return c->pause_ns > 0 ? pause_for(s, c->pause_ns) : 0;
}

/* What is tracked, as far as a round or the whole test knows it. */
static json_t *
tracked_doc(const struct rounds_state *x, size_t k, const struct steady_fit *f)
{
	const struct rounds_tracked *t = &x->rounds->tracked[k];
	char name[ROUNDS_NAME_MAX];
	json_t *o = json_object();

	rounds_name(x->test, &x->rounds->cells[t->cell], name);
	json_put(o, "cell", json_string(name));
	json_put(o, "metric", json_string(rounds_metric_name(t->metric)));
	json_put(o, "mean", json_finite(f->mean));
	json_put(o, "range", json_finite(f->range));
	json_put(o, "range_allowed", json_finite(f->range_allowed));
	json_put(o, "range_ratio", json_finite(f->range_ratio));
	json_put(o, "slope", json_finite(f->slope));
	json_put(o, "intercept", json_finite(f->intercept));
	json_put(o, "correlation", json_finite(f->correlation));
	json_put(o, "rise", json_finite(f->rise));
	json_put(o, "rise_allowed", json_finite(f->rise_allowed));
	json_put(o, "slope_ratio", json_finite(f->slope_ratio));
	json_put(o, "steady", json_boolean(f->steady));
	return o;
}

static json_t *
test_doc(const struct rounds_state *x)
{
	json_t *o = json_object();

	json_put(o, "step", json_integer(x->s->step));
	json_put(o, "test", json_string(x->test));
	json_put(o, "written_bytes", json_u64(x->written));
	return o;
}

static const char *
verdict_name(const struct rounds_state *x, enum steady_verdict v)
{
	return x->rounds->n_tracked > 0 ? steady_verdict_name(v) : "not_judged";
}

/* Tells the round that has ended, and judges. */
static enum steady_verdict
tell_round(struct rounds_state *x)
{
	struct steady_fit fits[STEADY_TRACKED_MAX];
	enum steady_verdict v = STEADY_NOT_YET;
	bool is_void = x->why_void[0] != '\0';
	json_t *o = test_doc(x);
	json_t *list = json_array();

	if (is_void)
		x->n_void++;
	if (x->rounds->n_tracked > 0) {
		if (is_void)
			steady_void(&x->steady);
		else
			steady_add(&x->steady, x->round, x->values);
		v = steady_judge(&x->steady, false, fits);
	}
	for (size_t k = 0; k < x->rounds->n_tracked; k++) {
		json_t *t = tracked_doc(x, k, &fits[k]);

		json_put(t, "value", json_finite(x->values[k]));
		json_array_append_new(list, t);
	}
	json_put(o, "round", json_integer(x->round));
	json_put(o, "first_point", json_integer(x->first_point));
	json_put(o, "void", is_void ? json_text(x->why_void) : json_null());
	json_put(o, "verdict", json_string(verdict_name(x, v)));
	json_put(o, "tracking", list);
	outbox_event(x->s->env->outbox, "round.end", o);
	log_info("round.end", "test=%s round=%" PRIu32 " verdict=%s void=%s", x->test,
		x->round, verdict_name(x, v), log_q(x->why_void));
	return v;
}

/* Tells how the test ended: the window that was judged last, and by which rule. */
static void
tell_end(struct rounds_state *x, enum steady_verdict v, const char *ended_by)
{
	const struct rounds *r = x->rounds;
	struct steady_fit fits[STEADY_TRACKED_MAX];
	uint32_t n = r->n_tracked > 0 ? x->steady.n : 0;
	json_t *o = test_doc(x);
	json_t *list = json_array();

	if (r->n_tracked > 0)
		v = steady_judge(&x->steady, true, fits);
	for (size_t k = 0; k < r->n_tracked; k++) {
		json_t *t = tracked_doc(x, k, &fits[k]);
		json_t *values = json_array();

		for (uint32_t i = 0; i < n; i++)
			json_array_append_new(
				values, json_finite(x->steady.values[k][i]));
		json_put(t, "values", values);
		json_array_append_new(list, t);
	}
	json_put(o, "verdict", json_string(verdict_name(x, v)));
	json_put(o, "ended_by", json_string(ended_by));
	json_put(o, "rounds", json_integer(x->round));
	json_put(o, "void_rounds", json_integer(x->n_void));
	json_put(o, "first_round",
		n > 0 ? json_integer(x->steady.last - n + 1) : json_null());
	json_put(o, "last_round", n > 0 ? json_integer(x->steady.last) : json_null());
	json_put(o, "window", json_integer(r->window));
	json_put(o, "range_percent", json_real(r->range_percent));
	json_put(o, "slope_percent", json_real(r->slope_percent));
	json_put(o, "max_rounds", json_integer(r->max_rounds));
	json_put(o, "tracking", list);
	if (x->choice.doc != NULL)
		json_put(o, "choice", json_incref(x->choice.doc));
	figures_end(&x->s->figures, o);
	outbox_event(x->s->env->outbox, "steady", o);
	log_info("test.end", "test=%s rounds=%" PRIu32 " verdict=%s", x->test, x->round,
		verdict_name(x, v));
}

static int
run_round(struct rounds_state *x)
{
	x->round++;
	x->why_void[0] = '\0';
	x->first_point = x->s->r->points + 1;
	for (size_t k = 0; k < x->rounds->n_tracked; k++)
		x->values[k] = (double)NAN;
	for (uint32_t i = 0; i < x->rounds->n_cells; i++)
		if (run_cell(x, i) != 0) {
			snprintf(x->why_void, sizeof(x->why_void),
				"the run ended in this round");
			tell_round(x);
			return -1;
		}
	return 0;
}

static void
tell_left_out(struct rounds_state *x)
{
	size_t n = x->rounds->n_left_out, all = n + x->rounds->n_cells;
	json_t *o = test_doc(x);
	json_t *list = json_array();

	for (size_t i = 0; i < n; i++)
		json_array_append_new(
			list, json_sprintf("%s/%s", x->test, x->rounds->left_out[i]));
	json_put(o, "left_out", list);
	json_put(o, "text",
		x->rounds->left_out_for_health
			? json_sprintf(
				  "%zu of %zu cells are left out: the drive has no log "
				  "of its health that the test could poll",
				  n, all)
			: json_sprintf(
				  "%zu of %zu cells are left out: their blocks are no "
				  "whole number of the drive's logical blocks of "
				  "%" PRIu32 " bytes",
				  n, all, x->s->program->drive.logical_block_bytes));
	outbox_event(x->s->env->outbox, "note", o);
}

/* Takes up the rounds that an earlier runner has told, and voids the one it was in. */
static enum steady_verdict
take_up(struct rounds_state *x, const struct resume *resume)
{
	struct steady_fit fits[STEADY_TRACKED_MAX];
	enum steady_verdict v = STEADY_NOT_YET;

	for (size_t i = 0; i < resume->n_rounds; i++) {
		const struct resume_round *r = &resume->rounds[i];

		x->round = r->round;
		x->n_void += r->is_void;
		if (x->rounds->n_tracked == 0)
			continue;
		if (r->is_void)
			steady_void(&x->steady);
		else
			steady_add(&x->steady, r->round, r->values);
	}
	x->written = resume->written_bytes;
	if (x->rounds->n_tracked > 0)
		v = steady_judge(&x->steady, false, fits);
	if (resume->round_begun <= x->round)
		return v;
	x->round = resume->round_begun;
	x->first_point = resume->round_point;
	for (size_t k = 0; k < x->rounds->n_tracked; k++)
		x->values[k] = (double)NAN;
	snprintf(x->why_void, sizeof(x->why_void),
		"the runner was ended in this round and started again");
	return tell_round(x);
}

/* Why there are no more rounds; NULL: there are. */
static const char *
why_over(const struct rounds_state *x, enum steady_verdict v)
{
	if (v == STEADY_REACHED)
		return "steady";
	if (x->round >= x->rounds->max_rounds)
		return "max_rounds";
	if (x->rounds->stop_bytes > 0 && x->written >= x->rounds->stop_bytes)
		return "stop_bytes";
	return NULL;
}

static int
run_test(struct rounds_state *x, const struct resume *resume)
{
	enum steady_verdict v = STEADY_NOT_YET;
	const char *why;

	if (resume != NULL)
		v = take_up(x, resume);
	while ((why = why_over(x, v)) == NULL) {
		if (run_round(x) != 0)
			return -1;
		v = tell_round(x);
	}
	tell_end(x, v, why);
	return 0;
}

/* Chooses the demand, tells it, and measures with it. One that cannot be chosen is no
 * failure: the test ends without a round. */
static int
run_chosen(struct rounds_state *x, const struct resume *resume)
{
	const struct rounds *r = x->rounds;
	struct rounds chosen;
	json_t *o = test_doc(x);
	int rc = 0;

	choice_make(x->s->program, x->s->step, &x->s->figures, &x->choice);
	json_put(o, "choice", json_incref(x->choice.doc));
	json_put(o, "text", json_incref(json_object_get(x->choice.doc, "text")));
	outbox_event(x->s->env->outbox, "note", o);
	if (!x->choice.made) {
		tell_end(x, STEADY_NOT_YET, "no_choice");
		return 0;
	}
	rounds_copy(r, x->s->program->drive.logical_block_bytes, &chosen);
	rounds_demand(&chosen, x->choice.point.workers, x->choice.point.in_flight);
	x->rounds = &chosen;
	rc = run_test(x, resume);
	x->rounds = r;
	rounds_fini(&chosen);
	return rc;
}

int
rounds_run(struct steps *s, const struct step *step, const struct resume *resume)
{
	const struct rounds *r = &step->rounds;
	const struct steady_rule rule = {r->window, r->range_percent, r->slope_percent};
	struct rounds_state *x = xcalloc(1, sizeof(*x));
	int rc = 0;

	x->s = s;
	x->rounds = r;
	x->test = step->test;
	if (r->n_tracked > 0)
		steady_init(&x->steady, &rule, r->n_tracked);
	if (r->n_left_out > 0)
		tell_left_out(x);
	if (r->n_cells > 0)
		rc = r->choice.from[0] != '\0' ? run_chosen(x, resume)
					       : run_test(x, resume);
	json_decref(x->choice.doc);
	free(x);
	return rc;
}
