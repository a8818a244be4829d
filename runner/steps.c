#include "runner/steps.h"

#include <errno.h>
#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "common/clock.h"
#include "common/err.h"
#include "common/json.h"
#include "common/log.h"
#include "common/program.h"
#include "common/str.h"
#include "common/xalloc.h"
#include "runner/ability.h"
#include "runner/chore.h"
#include "runner/outbox.h"
#include "runner/prepare.h"
#include "runner/purge_step.h"
#include "runner/resume.h"
#include "runner/rounds.h"
#include "runner/steps_priv.h"

/* What a load may take beyond its planned time before it counts as hung. */
#define LATE_NS (300 * NS_PER_S)

const char *
steps_error_text(int num, char buf[STEPS_ERROR_TEXT_MAX])
{
	return strerror_r(num, buf, STEPS_ERROR_TEXT_MAX);
}

static double
all_ops(const struct load_result *l)
{
	uint64_t n = 0;

	for (int d = 0; d < DIRECTIONS; d++)
		n += l->ops[d];
	return (double)n;
}

void
steps_fail(struct steps_result *r, const char *class, const struct err *e)
{
	r->end = STEPS_FAILED;
	r->class = class;
	snprintf(r->reason, sizeof(r->reason), "%s%s%.200s", e->text,
		e->fix[0] != '\0' ? "; " : "", e->fix);
}

const char *
steps_class(const struct err *e)
{
	if (e->class == ERR_UNSAFE)
		return "safety";
	return e->class == ERR_IO ? "drive" : "infra";
}

static int fail(struct steps *s, const char *class, const char *fmt, ...)
	__attribute__((format(printf, 3, 4)));

/* Sets a failure; -1 always. */
static int
fail(struct steps *s, const char *class, const char *fmt, ...)
{
	va_list ap;

	s->r->end = STEPS_FAILED;
	s->r->class = class;
	va_start(ap, fmt);
	if (vsnprintf(s->r->reason, sizeof(s->r->reason), fmt, ap) < 0)
		s->r->reason[0] = '\0';
	va_end(ap);
	return -1;
}

int
steps_cancel(struct steps *s)
{
	s->r->end = STEPS_CANCELLED;
	snprintf(s->r->reason, sizeof(s->r->reason), "%s", s->stop);
	return -1;
}

static void
on_sample(void *arg, const struct sample *sample)
{
	struct steps *s = arg;

	seconds_add(&s->seconds, sample);
	outbox_sample(s->env->outbox, sample);
}

bool
steps_tick(void *arg)
{
	struct steps *s = arg;

	s->env->status->last_seq = outbox_last(s->env->outbox);
	s->stop = s->env->tick(s->env->arg);
	s->late = clock_mono() > s->deadline_ns;
	return s->stop == NULL && !s->late;
}

bool
steps_go_on(struct steps *s)
{
	s->deadline_ns = INT64_MAX;
	if (steps_tick(s))
		return true;
	steps_cancel(s);
	return false;
}

/* Tells how many I/Os failed, and of which kinds, "12 (10 media, 2 timeout)"; returns
 * how many. */
static uint64_t
put_faults(const uint64_t faults[LOAD_FAULTS], struct str *out)
{
	const char *before = "(";
	uint64_t sum = 0;

	for (int i = 0; i < LOAD_FAULTS; i++)
		sum += faults[i];
	str_printf(out, "%" PRIu64 " ", sum);
	for (int i = 0; i < LOAD_FAULTS; i++) {
		if (faults[i] == 0)
			continue;
		str_printf(out, "%s%" PRIu64 " %s", before, faults[i],
			load_fault_name((enum load_fault)i));
		before = ", ";
	}
	str_puts(out, ")");
	return sum;
}

/* Sets the failure of a load whose I/Os failed, or whose engine did. */
static int
fail_load(struct steps *s, const struct plan *p, const char *load)
{
	const struct load_result *l = &s->load;
	char why[STEPS_ERROR_TEXT_MAX];
	struct str faults = {0};

	if (put_faults(l->faults, &faults) == 0)
		fail(s, "infra", "%s%s: %s: %s", steps_point_name(p), load, l->reason,
			steps_error_text(l->first_error, why));
	else
		fail(s, "drive", "%s%s: %s: %s, the first at byte %" PRIu64 ": %s%s",
			steps_point_name(p), load, l->reason, str_text(&faults),
			l->first_error_offset, steps_error_text(l->first_error, why),
			l->faults[LOAD_FAULT_GONE] > 0 ? "; the drive is gone" : "");
	str_fini(&faults);
	return -1;
}

/* A drive is not to blame for what happened while nobody looked. */
static int
fail_absent(struct steps *s, const char *workload)
{
	return fail(s, "infra",
		"%s: this host did not run the test for %" PRId64
		" s (stopped or overloaded)",
		workload, s->load.missed_ns / NS_PER_S);
}

/* Says how a load ended: 0 to go on, -1 when the run has. */
static int
judge(struct steps *s, const struct plan *p)
{
	char load[32] = "";

	if (isfinite(p->load_percent))
		snprintf(load, sizeof(load), " at %g %%", p->load_percent);
	else if (p->offered_iops > 0)
		snprintf(load, sizeof(load), " at %.0f IOPS", p->offered_iops);
	switch (s->load.end) {
	case LOAD_DONE:
		return 0;
	case LOAD_STOPPED:
		if (s->stop != NULL)
			return steps_cancel(s);
		if (s->load.missed_ns > LATE_NS / 2)
			return fail_absent(s, steps_point_name(p));
		return fail(s, "timeout", "%s%s did not end in time", steps_point_name(p),
			load);
	case LOAD_FAILED:
		break;
	}
	return fail_load(s, p, load);
}

/* Polls that are to end, and what they had. */
struct poll_end {
	struct polls *polls;
	struct polls_report report;
};

static int
stop_polls(void *arg, struct err *e)
{
	struct poll_end *end = arg;

	(void)e;
	polls_stop(end->polls, &end->report);
	end->polls = NULL;
	return 0;
}

static void
hear(void *arg)
{
	steps_tick(arg);
}

/* A read that is under way may take long; whoever asks meanwhile is answered. */
static void
end_polls(struct steps *s, struct polls *polls)
{
	struct poll_end end = {.polls = polls};

	if (polls == NULL || chore_once(stop_polls, &end, hear, s, NULL) != 0)
		stop_polls(&end, NULL);
	s->polls = end.report;
}

/* Runs the load while the health of the drive is polled, when the point wants that. */
static int
measure(struct steps *s, const struct plan *p, const struct load *load, struct err *e)
{
	struct polls *polls = NULL;
	int rc;

	if (p->poll_health_ns > 0 && polls_start(&polls, s->env->read_health, s->env->arg,
					     p->poll_health_ns, e) != 0)
		return -1;
	/* what is read of the drive before and behind a load is no load */
	s->gap_ns = s->idle_ns != 0 ? clock_mono() - s->idle_ns : 0;
	rc = load_run(load, &s->load, e);
	s->idle_ns = clock_mono();
	end_polls(s, polls);
	return rc;
}

int
steps_point(struct steps *s, const struct plan *p)
{
	struct err e = {0};
	uint64_t seed = s->program->seed + (uint64_t)s->step * STEPS_SEED_STEP +
			++s->r->points;
	const struct load load = {
		.fd = s->env->fd,
		.engine = s->env->engine,
		.engine_script = s->env->engine_script,
		.workload = *p->workload,
		.offset = p->offset,
		.length = p->length,
		.align_bytes = s->program->drive.logical_block_bytes,
		.offered_iops = p->offered_iops,
		.arrivals = p->arrivals,
		.warmup_ns = p->warmup_ns,
		.measure_ns = p->measure_ns,
		.one_pass = p->one_pass,
		.seed = seed,
		.compress_percent = s->program->data.compress_percent,
		.dedupe_percent = s->program->data.dedupe_percent,
		.max_errors = s->program->max_errors,
		.point = s->r->points,
		.on_sample = on_sample,
		.on_tick = steps_tick,
		.arg = s,
	};

	steps_tell_start(s, p);
	seconds_reset(&s->seconds);
	reading_take(&s->env->place, &s->before);
	s->deadline_ns = clock_mono() + 2 * (p->warmup_ns + p->measure_ns) + LATE_NS;
	s->deadline_ns += (int64_t)(p->one_pass / STEPS_FILL_BYTES_PER_S_MIN) * NS_PER_S;
	if (measure(s, p, &load, &e) != 0) {
		steps_fail(s->r,
			e.class == ERR_INVALID || e.class == ERR_LIMIT ? "recipe"
								       : "infra",
			&e);
		return -1;
	}
	steps_tell_point(s, p, seed);
	return judge(s, p);
}

static int
run_fill(struct steps *s, const struct step *step)
{
	const struct plan p = {
		.workload = &step->workload,
		.load_percent = (double)NAN,
		.reference_iops = (double)NAN,
		.length = s->program->drive.capacity_bytes,
		.one_pass = s->program->drive.capacity_bytes,
	};

	for (uint32_t i = 0; i < step->passes; i++)
		if (steps_point(s, &p) != 0)
			return -1;
	return 0;
}

static void
tell_skipped(struct steps *s, const struct plan *p)
{
	json_t *o = json_object();

	json_put(o, "step", json_integer(s->step));
	json_put(o, "workload", json_string(p->workload->id));
	json_put(o, "load_percent", json_real(p->load_percent));
	json_put(o, "target_iops", json_real(p->target_iops));
	json_put(o, "text",
		json_sprintf("%g %% of the maximum is less than %d I/Os per second: "
			     "skipped",
			p->load_percent, STEPS_IOPS_MIN));
	outbox_event(s->env->outbox, "note", o);
}

/* Measures the maximum, which the loads of p are shares of from then on. */
static int
run_maximum(struct steps *s, const struct ramp *r, struct plan *p)
{
	const struct load_result *l = &s->load;

	p->warmup_ns = r->maximum_warmup_ns;
	p->measure_ns = r->maximum_measure_ns;
	if (steps_point(s, p) != 0)
		return -1;
	p->reference_iops = 0;
	if (l->length_ns > 0)
		p->reference_iops = all_ops(l) * 1e9 / (double)l->length_ns;
	if ((double)l->missed_measure_ns > STEPS_MISSED_PART * (double)p->measure_ns &&
		(p->reference_iops <= 0 || l->missed_measure_ns >= STEPS_MISSED_NS))
		return fail_absent(s, p->workload->id);
	if (p->reference_iops <= 0)
		return fail(s, "drive",
			"%s: not one I/O ended while the maximum was measured",
			p->workload->id);
	return 0;
}

static int
run_loads(struct steps *s, const struct ramp *r, struct plan *p)
{
	if (run_maximum(s, r, p) != 0)
		return -1;
	p->warmup_ns = r->warmup_ns;
	p->measure_ns = r->measure_ns;
	for (size_t i = 0; i < r->n_loads; i++) {
		p->load_percent = r->load_percent[i];
		p->target_iops = p->reference_iops * p->load_percent / 100;
		p->offered_iops = program_round_target(p->target_iops);
		if (p->target_iops < STEPS_IOPS_MIN)
			tell_skipped(s, p);
		else if (steps_point(s, p) != 0)
			return -1;
	}
	return 0;
}

static int
run_workload(struct steps *s, const struct step *step)
{
	const struct ramp *r = &step->ramp;
	struct plan p = {
		.workload = &step->workload,
		.load_percent = (double)NAN,
		.reference_iops = (double)NAN,
		.arrivals = r->arrivals,
		.warmup_ns = r->warmup_ns,
		.measure_ns = r->measure_ns,
		.offset = s->program->region_offset,
		.length = s->program->region_length,
	};

	if (r->n_rates == 0)
		return run_loads(s, r, &p);
	for (size_t i = 0; i < r->n_rates; i++) {
		p.target_iops = p.offered_iops = r->rate_iops[i];
		if (steps_point(s, &p) != 0)
			return -1;
	}
	return 0;
}

int
steps_verify(struct steps *s, struct drive_id *ret_seen)
{
	struct err e = {0};

	if (s->env->verify(s->env->arg, ret_seen, &e) == 0)
		return 0;
	steps_fail(s->r, steps_class(&e), &e);
	return -1;
}

/* What is left of the step by an earlier runner; NULL: nothing. */
static const struct resume *
left_of(const struct steps *s)
{
	const struct resume *r = s->env->resume;

	return r != NULL && r->step == s->step ? r : NULL;
}

static int
run_step(struct steps *s, const struct step *step, struct drive_id *ret_seen)
{
	/* a reset or a new lease may have come between */
	if (steps_verify(s, ret_seen) != 0)
		return -1;
	if (prepare_is_needless(s->env, step, s->step, s->changed))
		return 0;
	s->changed |= step->kind != STEP_IDENTIFY;
	switch (step->kind) {
	case STEP_IDENTIFY:
		return 0;
	case STEP_PURGE:
		return purge_step(s);
	case STEP_FILL:
		return run_fill(s, step);
	case STEP_WORKLOAD:
		return run_workload(s, step);
	case STEP_ROUNDS:
		return rounds_run(s, step, left_of(s));
	}
	return fail(s, "recipe", "step %" PRIu32 " is of a kind not known here", s->step);
}

static json_t *
step_doc(const struct steps *s, const struct step *step)
{
	json_t *o = json_object();

	json_put(o, "step", json_integer(s->step));
	json_put(o, "kind", json_string(step_kind_name(step->kind)));
	if (step->kind == STEP_WORKLOAD)
		json_put(o, "workload", json_string(step->workload.id));
	if (step->kind == STEP_ROUNDS)
		json_put(o, "test", json_string(step->test));
	return o;
}

static const char *
step_state(const struct steps *s, int rc)
{
	if (rc == 0)
		return "done";
	return s->r->end == STEPS_CANCELLED ? "stopped" : "failed";
}

static int
run_and_tell(struct steps *s, const struct step *step)
{
	struct drive_id seen = {0};
	json_t *doc;
	int rc;

	s->env->status->step = s->step;
	s->env->status->workload = step->kind == STEP_ROUNDS ? step->test
							     : step->workload.id;
	s->env->status->load_percent = (double)NAN;
	log_info("step.start", "step=%" PRIu32 " kind=%s workload=%s", s->step,
		step_kind_name(step->kind), step->workload.id);
	outbox_event(s->env->outbox, "step.start", step_doc(s, step));
	rc = run_step(s, step, &seen);
	doc = step_doc(s, step);
	json_put(doc, "state", json_string(step_state(s, rc)));
	if (rc == 0 && step->kind == STEP_IDENTIFY)
		json_put(doc, "drive", drive_to_json(&seen));
	outbox_event(s->env->outbox, "step.end", doc);
	return rc;
}

/*
 * Goes on from what an earlier runner left: returns how many steps are behind us. The
 * time since its last record is one in which nothing was done; a clock that was set back
 * meanwhile leaves no doubt in favour of the rounds.
 */
static size_t
take_up(struct steps *s)
{
	const struct resume *r = s->env->resume;
	int64_t gap = clock_wall();
	json_t *o;

	if (r == NULL || r->step == 0)
		return 0;
	gap = r->last_wall_ns > gap ? ROUNDS_GAP_NS + NS_PER_S : gap - r->last_wall_ns;
	s->idle_ns = clock_mono() - gap;
	s->r->points = r->points;
	figures_copy(&s->figures, &r->figures);
	o = json_object();
	json_put(o, "step", json_integer(r->step));
	json_put(o, "step_done", json_boolean(r->step_done));
	json_put(o, "rounds", json_integer((json_int_t)r->n_rounds));
	json_put(o, "gap_ns", json_u64((uint64_t)gap));
	json_put(o, "text",
		json_string("the runner was ended and has been started again"));
	outbox_event(s->env->outbox, "run.resumed", o);
	log_info("run.resumed", "step=%" PRIu32 " rounds=%zu", r->step, r->n_rounds);
	return r->step_done ? r->step : r->step - 1;
}

/* Whether the drive tells its health, when it is to be asked for it later. */
static bool
can_poll(struct steps *s)
{
	const struct steps_env *v = s->env;
	struct err e = {0};

	if (!program_polls_health(v->program) ||
		chore_once(v->read_health, v->arg, hear, s, &e) == 0)
		return true;
	err_ctx(&e, "the drive's health, which a test polls, cannot be read");
	if (e.fix[0] == '\0')
		err_fix(&e, "leave the test out with \"workloads\"");
	steps_fail(s->r, "recipe", &e);
	return false;
}

/* Before the first step that writes: a retry would write in vain, too. */
static bool
is_able(struct steps *s)
{
	const struct steps_env *v = s->env;
	struct err e = {0};

	if (ability_check(v->program, v->engine, v->fd, v->engine_script, &e) == 0)
		return can_poll(s);
	steps_fail(s->r, e.class == ERR_LIMIT ? "recipe" : "infra", &e);
	return false;
}

void
steps_run(const struct steps_env *env, struct steps_result *ret_r)
{
	struct steps *s = xcalloc(1, sizeof(*s));

	memset(ret_r, 0, sizeof(*ret_r));
	s->env = env;
	s->program = env->program;
	s->r = ret_r;
	s->deadline_ns = INT64_MAX;
	s->changed = env->resume != NULL && env->resume->step > 0;
	env->status->state = "running";
	if (!is_able(s)) {
		free(s);
		return;
	}
	for (size_t i = take_up(s); i < s->program->n_steps; i++) {
		s->step = (uint32_t)i + 1;
		/* Also between the points: a stop must not wait for the next load. */
		if (!steps_go_on(s) || run_and_tell(s, &s->program->steps[i]) != 0)
			break;
	}
	seconds_fini(&s->seconds);
	figures_fini(&s->figures);
	free(s);
}
