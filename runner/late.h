/*
 * late - how late the load itself was: submission - intended start of arrivals.
 *
 * Only of those for which a slot was free from their intended start on. Arrivals that
 * found all slots in flight waited for the drive. Cheap enough for every I/O. Pure.
 */
#ifndef RUNNER_LATE_H
#define RUNNER_LATE_H

#include <math.h>
#include <stdint.h>

struct late {
	uint64_t n; /* arrivals counted */
	uint64_t sum_ns;
	int64_t max_ns;
};

/* late_add counts an arrival that was submitted so long after its intended start. */
static inline void
late_add(struct late *l, int64_t ns)
{
	l->n++;
	l->sum_ns += (uint64_t)ns;
	if (ns > l->max_ns)
		l->max_ns = ns;
}

/* late_merge adds what another worker counted. */
static inline void
late_merge(struct late *l, const struct late *other)
{
	l->n += other->n;
	l->sum_ns += other->sum_ns;
	if (other->max_ns > l->max_ns)
		l->max_ns = other->max_ns;
}

/* late_mean_ns returns the mean; NAN when nothing was counted. */
static inline double
late_mean_ns(const struct late *l)
{
	return l->n > 0 ? (double)l->sum_ns / (double)l->n : (double)NAN;
}

#endif
