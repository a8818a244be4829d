/*
 * figure - the single numbers that a curve is reduced to, for comparing and ranking.
 *
 * Pure. The rows are in figure_tbl.h.
 */
#ifndef ANALYSIS_FIGURE_H
#define ANALYSIS_FIGURE_H

#include <stdbool.h>
#include <stddef.h>

#include "analysis/curve.h"

enum figure {
#define FIGURE(symbol, name, title, unit, better, where, field) FIGURE_##symbol,
#include "analysis/figure_tbl.h"
#undef FIGURE
	FIGURES
};

/* figure_name returns "peak_iops"; figure_unit "1/s", "B/s" or "ns". */
const char *figure_name(enum figure f);
const char *figure_unit(enum figure f);

/* figure_title says for people which latency it is and where: "service p99 at peak". */
const char *figure_title(enum figure f);

/* figure_from_name finds a figure by its name; false when there is none. */
bool figure_from_name(const char *name, enum figure *ret_f);

/* figure_higher_is_better says which direction is good; figure_better names it. */
bool figure_higher_is_better(enum figure f);
const char *figure_better(enum figure f);

/* figure_applies says whether a curve of n points can have f at all: one of rates has
 * figures of its own, and no others. */
bool figure_applies(enum figure f, const struct curve_point *points, size_t n);

/*
 * figure_point returns the point that f is read from, of n points in the order of
 * curve_sort; NULL when the curve has none. Borrowed from points.
 */
const struct curve_point *figure_point(
	enum figure f, const struct curve_point *points, size_t n);

/*
 * figure_of reads f from the n points of one workload in the order of curve_sort. NAN
 * when the curve has no such point or the point does not support the figure.
 */
double figure_of(enum figure f, const struct curve_point *points, size_t n);

#endif
