#include "runner/purge_step.h"

#include <stdio.h>

#include "common/clock.h"
#include "common/err.h"
#include "common/json.h"
#include "common/log.h"
#include "runner/outbox.h"
#include "runner/purge.h"
#include "runner/steps_priv.h"

/* Keeps the status up to date; part: see struct purge_job. */
static void
on_hold(void *arg, enum purge_method method, double part)
{
	struct steps *s = arg;

	if (part < 0)
		snprintf(s->purge, sizeof(s->purge), "purge by %s",
			purge_method_name(method));
	else
		snprintf(s->purge, sizeof(s->purge), "purge by %s, %.0f %% done",
			purge_method_name(method), part * 100);
	s->env->status->cannot_stop = s->purge;
}

static int
purge_drive(struct steps *s, const struct purge_job *job, const struct purge_choice *c)
{
	struct purge_report report;
	struct drive_id seen;
	struct err e = {0};
	json_t *o = json_object();

	json_put(o, "step", json_integer(s->step));
	purge_choice_json(c, o);
	outbox_event(s->env->outbox, "purge.start", json_deep_copy(o));
	log_info("purge.start", "method=%s", purge_method_name(c->method));
	purge_run(job, c, &report, &e);
	s->env->status->cannot_stop = NULL;
	s->idle_ns = clock_mono();
	purge_report_json(&report, o);
	outbox_event(s->env->outbox, "purge.end", o);
	if (report.end == PURGE_STOPPED)
		return steps_cancel(s);
	if (report.end == PURGE_DONE)
		return steps_verify(s, &seen);
	steps_fail(s->r, steps_class(&e), &e);
	return -1;
}

/* A purge may change who the drive is: it is looked at again behind it. */
int
purge_step(struct steps *s)
{
	const struct purge_job job = {
		.fd = s->env->fd,
		.drive = &s->program->drive,
		.seed = s->program->seed + (uint64_t)s->step * STEPS_SEED_STEP,
		.tick = steps_tick,
		.on_hold = on_hold,
		.arg = s,
	};
	struct purge_choice choice;
	struct err e = {0};

	if (purge_look(&job, &choice, &e) == 0)
		return purge_drive(s, &job, &choice);
	/* A drive that nothing purges is no bad drive. */
	steps_fail(s->r, e.class == ERR_LIMIT ? "recipe" : steps_class(&e), &e);
	return -1;
}
