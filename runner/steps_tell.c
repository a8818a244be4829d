/* What steps tell of a point: the event that it begins, and its POINT record. */
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "analysis/cut.h"
#include "analysis/shape.h"
#include "common/json.h"
#include "runner/outbox.h"
#include "runner/steps_priv.h"

static json_t *
pair(const uint64_t n[DIRECTIONS])
{
	json_t *list = json_array();

	for (int i = 0; i < DATA_DIRECTIONS; i++)
		json_array_append_new(list, json_u64(n[i]));
	return list;
}

/* Counters of the operations that are neither reads nor writes; NULL for none. */
static json_t *
others(const struct load_result *l)
{
	json_t *all = json_object();

	for (int d = DATA_DIRECTIONS; d < DIRECTIONS; d++) {
		json_t *o;

		if (l->ops[d] == 0 && l->errors[d] == 0)
			continue;
		o = json_object();
		json_put(o, "ops", json_u64(l->ops[d]));
		json_put(o, "bytes", json_u64(l->bytes[d]));
		json_put(o, "errors", json_u64(l->errors[d]));
		json_put(all, direction_name((enum direction)d), o);
	}
	if (json_object_size(all) > 0)
		return all;
	json_decref(all);
	return NULL;
}

const char *
steps_point_name(const struct plan *p)
{
	return p->name != NULL ? p->name : p->workload->id;
}

/* The members that all events and the POINT record of a point have. */
static json_t *
point_doc(const struct steps *s, const struct plan *p)
{
	json_t *o = json_object();

	json_put(o, "point", json_integer(s->r->points));
	json_put(o, "step", json_integer(s->step));
	json_put(o, "workload", json_string(steps_point_name(p)));
	json_put(o, "load_percent", json_finite(p->load_percent));
	json_put(o, "offered_iops",
		p->offered_iops > 0 ? json_real(p->offered_iops) : json_null());
	if (p->place != NULL) {
		json_put(o, "test", json_string(p->place->test));
		json_put(o, "round", json_integer(p->place->round));
		json_put(o, "cell", json_integer(p->place->cell));
	}
	return o;
}

void
steps_tell_start(struct steps *s, const struct plan *p)
{
	json_t *o = point_doc(s, p);

	json_put(o, "target_iops",
		p->offered_iops > 0 ? json_real(p->target_iops) : json_null());
	outbox_event(s->env->outbox, "point.start", o);
	s->env->status->point = s->r->points;
	snprintf(s->name, sizeof(s->name), "%s", steps_point_name(p));
	s->env->status->workload = s->name;
	s->env->status->load_percent = p->load_percent;
}

static const char *
end_name(enum load_end end)
{
	switch (end) {
	case LOAD_DONE:
		return "done";
	case LOAD_STOPPED:
		return "stopped";
	case LOAD_FAILED:
		break;
	}
	return "failed";
}

static json_t *
shape_of(const struct steps *s, const struct plan *p)
{
	struct shape shape;

	seconds_shape(&s->seconds, p->offered_iops > 0, p->workload->in_flight, &shape);
	return seconds_json(&shape);
}

/* What the node counted while the point ran, less what we did ourselves. */
static json_t *
readings_of(const struct steps *s, const struct plan *p)
{
	const struct load_result *l = &s->load;
	struct reading_own own = {.read_bytes = l->moved_bytes[DIR_READ],
		.written_bytes = l->moved_bytes[DIR_WRITE] + l->moved_bytes[DIR_ZERO]};
	struct reading after;

	for (int i = 0; i < LOAD_FAULTS; i++)
		own.failed_bytes += l->faults[i] * workload_block_max(p->workload);
	reading_take(&s->env->place, &after);
	return reading_json(&s->before, &after, &own);
}

void
steps_tell_point(struct steps *s, const struct plan *p, uint64_t seed)
{
	const struct load_result *l = &s->load;
	char why[STEPS_ERROR_TEXT_MAX];
	json_t *o = point_doc(s, p);
	json_t *rest = others(l);

	if (rest != NULL)
		json_put(o, "others", rest);
	json_put(o, "state", json_string(end_name(l->end)));
	json_put(o, "started_ns", json_u64((uint64_t)l->start_wall_ns));
	json_put(o, "length_ns", json_u64((uint64_t)l->length_ns));
	json_put(o, "ops", pair(l->ops));
	json_put(o, "bytes", pair(l->bytes));
	json_put(o, "written_bytes", json_u64(l->written_bytes));
	json_put(o, "errors", pair(l->errors));
	json_put(o, "first_error",
		l->first_error != 0 ? json_text(steps_error_text(l->first_error, why))
				    : json_null());
	json_put(o, "backlog_max", json_u64(l->backlog_max));
	json_put(o, "dropped", json_u64(l->dropped));
	json_put(o, "in_flight", json_integer(p->workload->in_flight));
	json_put(o, "in_flight_mean", json_finite(l->in_flight_mean));
	json_put(o, "late_mean_ns", json_finite(late_mean_ns(&l->late)));
	json_put(o, "late_max_ns",
		l->late.n > 0 ? json_integer(l->late.max_ns) : json_null());
	json_put(o, "drain_ns", json_u64((uint64_t)l->drain_ns));
	json_put(o, "missed_ns", json_u64((uint64_t)l->missed_measure_ns));
	json_put(o, "unfinished", json_u64(l->unfinished.n));
	json_put(o, "unfinished_max_ns",
		l->unfinished.n > 0 ? json_integer((json_int_t)l->unfinished.max_ns)
				    : json_null());
	json_put(o, "unfinished_factor",
		json_finite(cut_factor(l->service, l->response, &l->unfinished)));
	json_put(o, "cpu_user_ns", json_u64((uint64_t)l->cpu_user_ns));
	json_put(o, "cpu_system_ns", json_u64((uint64_t)l->cpu_system_ns));
	json_put(o, "workers", json_integer(workload_workers(p->workload)));
	json_put(o, "start_lag_ns", json_u64((uint64_t)l->start_lag_ns));
	json_put(o, "shape", shape_of(s, p));
	json_put(o, "readings", readings_of(s, p));
	if (s->polls.period_ns > 0)
		json_put(o, "health_polls", polls_json(&s->polls));
	json_put(o, "engine", json_text(l->engine));
	json_put(o, "seed", json_u64(seed));
	json_put(o, "compress_percent", json_real(s->program->data.compress_percent));
	json_put(o, "dedupe_percent", json_real(s->program->data.dedupe_percent));
	json_put(o, "reference_iops", json_finite(p->reference_iops));
	s->record.meta = o;
	memcpy(s->record.service, l->service, sizeof(l->service));
	memcpy(s->record.response, l->response, sizeof(l->response));
	outbox_point(s->env->outbox, &s->record);
	point_record_fini(&s->record);
}
