/*
 * knee - where a curve that rises begins to rise steeply.
 *
 * Kneedle (V. Satopaa, J. Albrecht, D. Irwin, B. Raghavan: Finding a "Kneedle" in a
 * Haystack: Detecting Knee Points in System Behavior, ICDCS Workshops 2011) for
 * increasing convex curves, offline, sensitivity 1, without its smoothing: a point here
 * is a mean of many I/Os already, and there are few of them. Pure.
 */
#ifndef ANALYSIS_KNEE_H
#define ANALYSIS_KNEE_H

#include <stdbool.h>
#include <stddef.h>

/* S of the paper: how many mean distances between points a knee must stand out by. */
#define KNEE_SENSITIVITY 1.0

/* What y must at least rise by, highest to lowest, for a knee to be looked for: ours.
 * Scaled to 1, noise on a flat line has knees, too. */
#define KNEE_RISE 2.0

/*
 * knee_find finds the knee of n points, x rising strictly, x and y finite, y positive.
 * Both are scaled to 0..1; the difference is d = x - y. A point is a candidate where d is
 * higher than at the next higher x and not lower than at the next lower x. Its threshold
 * is d - KNEE_SENSITIVITY / (n - 1); it is a knee when d falls below that at a lower x
 * before the next candidate. Of several the one with the largest d, of equal ones the
 * lowest x. false when there is none, or y rises by less than KNEE_RISE.
 */
bool knee_find(const double *x, const double *y, size_t n, size_t *ret_i);

#endif
