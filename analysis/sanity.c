#include "analysis/sanity.h"

#include <math.h>
#include <stdbool.h>
#include <stddef.h>

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

unsigned
sanity_flags(const struct sanity *s)
{
	bool stalled = s->missed_seconds > SANITY_MISSED * s->seconds;
	unsigned flags = stalled ? SANITY_STALLED : 0;

	if (s->errors > 0)
		flags |= SANITY_ERRORS;
	if (s->dropped > 0)
		flags |= SANITY_DROPPED;
	if (s->offered_iops > 0 && (fell_short(s) || piled_up(s)))
		flags |= SANITY_SATURATED;
	else if (!stalled && s->unfinished_factor > SANITY_CUT_FACTOR)
		flags |= SANITY_CUT;
	if (s->in_flight_mean > 0 && fabs(s->littles_n - s->in_flight_mean) >
					     SANITY_LITTLE * s->in_flight_mean)
		flags |= SANITY_LITTLES_LAW;
	if (was_late(s))
		flags |= SANITY_LATE_LOAD;
	return flags;
}

const char *
sanity_name(enum sanity_flag f)
{
	switch (f) {
	case SANITY_ERRORS:
		return "errors";
	case SANITY_DROPPED:
		return "dropped";
	case SANITY_SATURATED:
		return "saturated";
	case SANITY_LITTLES_LAW:
		return "littles-law";
	case SANITY_LATE_LOAD:
		return "late";
	case SANITY_CUT:
		return "cut";
	case SANITY_STALLED:
		return "stalled";
	}
	return NULL;
}
