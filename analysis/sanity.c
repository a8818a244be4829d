#include "analysis/sanity.h"

#include <math.h>
#include <stdbool.h>
#include <stddef.h>

#include "analysis/shape.h"

/* Arrivals that came while the node did not run the load: no fault of the drive. */
static double
excused(const struct sanity *s)
{
	return s->missed_seconds > 0 ? s->missed_seconds * s->offered_iops : 0;
}

static bool
fell_short(const struct sanity *s)
{
	double missing = (s->offered_iops - s->iops) * s->seconds;

	return s->iops < SANITY_OFFER * s->offered_iops &&
	       !(missing <= s->in_flight + excused(s));
}

/* What was in flight when the warm-up ended is counted: so much more is no backlog. */
static bool
caught_up(const struct sanity *s)
{
	double more = (s->iops - s->offered_iops) * s->seconds;

	return s->iops > SANITY_CATCH_UP * s->offered_iops && !(more <= s->in_flight);
}

static bool
piled_up(const struct sanity *s)
{
	return s->backlog_max - excused(s) >
	       fmax(SANITY_BACKLOG_IN_FLIGHT * s->in_flight,
		       SANITY_BACKLOG_SECONDS * s->offered_iops);
}

/* The mean service time is in flight / IOPS, by Little's law. */
static bool
was_late(const struct sanity *s)
{
	return s->late_mean_ns * s->iops / 1e9 > SANITY_LATE * s->in_flight_mean;
}

static unsigned
shape_flags(const struct sanity *s)
{
	const struct shape *h = s->shape;
	double missed = s->missed_seconds > 0 ? s->missed_seconds : 0;
	unsigned flags = 0;

	if (h == NULL)
		return 0;
	if (h->cliff)
		flags |= SANITY_CLIFF;
	if (h->spells > 0)
		flags |= SANITY_SPELLS;
	/* A node that did not run sees the same: the drive is not to blame for that. */
	if (h->stalls > 0 && h->stall_s - missed >= SHAPE_STALL_S)
		flags |= SANITY_DRIVE_STALL;
	return flags;
}

static bool
is_below(const struct sanity_link *l, const struct sanity_link *max)
{
	return (l->gts > 0 && l->gts < max->gts) ||
	       (l->width > 0 && l->width < max->width);
}

static bool
has_changed(const struct sanity_link *a, const struct sanity_link *b)
{
	return (a->gts > 0 && b->gts > 0 && fabs(a->gts - b->gts) > 0.01) ||
	       (a->width > 0 && b->width > 0 && a->width != b->width);
}

static unsigned
pcie_flags(const struct sanity *s)
{
	unsigned flags = 0;

	if (is_below(&s->link, &s->link_max) || is_below(&s->link_end, &s->link_max))
		flags |= SANITY_LINK_SLOW;
	if (has_changed(&s->link, &s->link_end))
		flags |= SANITY_LINK_CHANGED;
	if (s->aer_correctable > 0 || s->aer_nonfatal > 0 || s->aer_fatal > 0)
		flags |= SANITY_PCIE_ERRORS;
	return flags;
}

static bool
was_cpu_bound(const struct sanity *s)
{
	return s->cpu_seconds >= SANITY_CPU * s->workers * s->seconds && s->workers > 0 &&
	       s->in_flight_mean >= SANITY_CPU_IN_FLIGHT && s->drive_in_flight > 0 &&
	       s->drive_in_flight < SANITY_DRIVE_BUSY * s->in_flight_mean;
}

static bool
had_company(const struct sanity *s)
{
	return s->other_written_bytes > SANITY_OTHERS_WRITTEN ||
	       s->other_read_bytes >
		       fmax(SANITY_OTHERS_READ, SANITY_OTHERS_READ_PART * s->read_bytes);
}

/* What the node and the drive counted themselves. */
static unsigned
outside_flags(const struct sanity *s)
{
	unsigned flags = pcie_flags(s);

	if (s->thermal_transitions > 0 || s->thermal_seconds > 0 ||
		(s->warning_c > 0 && s->temperature_c >= s->warning_c))
		flags |= SANITY_THROTTLED;
	if (was_cpu_bound(s))
		flags |= SANITY_CPU_BOUND;
	if (had_company(s))
		flags |= SANITY_OTHERS;
	if (fabs(s->clock_step_seconds) > SANITY_CLOCK_STEP)
		flags |= SANITY_CLOCK;
	if (s->unsampled_seconds > SANITY_UNSAMPLED)
		flags |= SANITY_UNSAMPLED_TIME;
	if (s->start_lag_seconds > fmax(SANITY_START, SANITY_START_PART * s->seconds))
		flags |= SANITY_LATE_START;
	return flags;
}

unsigned
sanity_flags(const struct sanity *s)
{
	bool stalled = s->missed_seconds > SANITY_MISSED * s->seconds;
	unsigned flags = stalled ? SANITY_STALLED : 0;

	if (s->errors > 0)
		flags |= SANITY_ERRORS;
	if (s->dropped > 0)
		flags |= SANITY_DROPPED;
	if (s->offered_iops > 0 && caught_up(s))
		flags |= SANITY_CATCHING_UP;
	else if (s->offered_iops > 0 && (fell_short(s) || piled_up(s)))
		flags |= SANITY_SATURATED;
	else if (!stalled && s->unfinished_factor > SANITY_CUT_FACTOR)
		flags |= SANITY_CUT;
	if (s->in_flight_mean > 0 && fabs(s->littles_n - s->in_flight_mean) >
					     SANITY_LITTLE * s->in_flight_mean)
		flags |= SANITY_LITTLES_LAW;
	if (was_late(s))
		flags |= SANITY_LATE_LOAD;
	return flags | shape_flags(s) | outside_flags(s);
}
