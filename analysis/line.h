/*
 * line - the highest load of a curve whose latency stays under a line.
 *
 * Latency is that of the response of offered loads: it hides no waiting. The uncontrolled
 * maximum offers nothing and does not count. Pure.
 */
#ifndef ANALYSIS_LINE_H
#define ANALYSIS_LINE_H

#include <stdbool.h>
#include <stddef.h>

#include "analysis/curve.h"

enum line_latency { LINE_MEAN, LINE_P99, LINE_P99_9, LINE_LATENCIES };

struct line {
	enum line_latency latency;
	double ns; /* at most so much is under the line */
};

/* The most lines that one answer may ask for. */
#define LINES_MAX 16

/*
 * Where nobody says otherwise: 1 ms in the mean, which storage reviews call
 * sub-millisecond latency; twice and five times that for p99 and p99.9 are ours.
 */
#define LINE_DEFAULTS                                                 \
	{                                                             \
		{LINE_MEAN, 1e6}, {LINE_P99, 2e6}, {LINE_P99_9, 5e6}, \
	}

enum line_state {
	LINE_FOUND,   /* up to a load that has numbers */
	LINE_ALL,     /* every offered load is under the line */
	LINE_NONE,    /* no offered load is */
	LINE_UNKNOWN, /* it cannot be told */
};

struct line_answer {
	enum line_state state;
	/* FOUND: the load, without percent of a rate; otherwise NAN. */
	double load_percent, offered_iops, iops;
	bool interpolated; /* FOUND: between two measured loads */
	size_t loads_over; /* known to lie over the line */
	bool lower_over;   /* a load below it lies over the line */
	const char *why;   /* a constant: why so and not otherwise; "" when it is plain */
};

/* line_latency_name returns "mean", "p99" or "p99.9"; line_state_name "found", "all",
 * "none" or "unknown". */
const char *line_latency_name(enum line_latency l);
const char *line_state_name(enum line_state s);

/*
 * line_find answers for n points in the order of curve_sort. A load is under the line
 * when it is not saturated and its latency is known and at most line.ns; over it when it
 * is saturated or its latency is known and more. Of one that is catching up the latency
 * is not known. The answer rests on the highest load under the line. Where the next load
 * is over it and not saturated, load and rates are interpolated linearly in the latency
 * between the two. Next to a saturated load, whose response grows for as long as it
 * lasts, next to one that is catching up or whose latency is not known, and at the
 * highest load the answer is the load under the line itself.
 */
void line_find(const struct curve_point *points, size_t n, struct line line,
	struct line_answer *ret_a);

#endif
