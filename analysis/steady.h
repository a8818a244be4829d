/*
 * steady - whether the rounds of a test have come to a steady state, after SNIA's PTS.
 *
 * The last rounds in a row, the window, are steady when for every tracked variable the
 * mean is above 0, the range is at most 20 % of it, and the rise of the least-squares
 * line over the window, |slope| * (window - 1), is at most 10 % of it (SNIA PTS 2.0.2;
 * window 5). A void round restarts the window, not the test. Pure; one thread.
 */
#ifndef ANALYSIS_STEADY_H
#define ANALYSIS_STEADY_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define STEADY_WINDOW_MAX 64
#define STEADY_TRACKED_MAX 8

/* What the standard has: rounds of the window and at most, percent of the mean. */
#define STEADY_WINDOW 5
#define STEADY_RANGE_PERCENT 20
#define STEADY_SLOPE_PERCENT 10
#define STEADY_ROUNDS 25

struct steady_rule {
	uint32_t window;      /* rounds, 2..STEADY_WINDOW_MAX */
	double range_percent; /* of the mean, that the range may have */
	double slope_percent; /* of the mean, that the line may rise over the window */
};

/* One tracked variable over a window. All figures are NAN when the window is not full,
 * ratios also when the mean is not above 0. */
struct steady_fit {
	double mean;
	double range, range_allowed; /* highest - lowest */
	/* the line: value = intercept + slope * number of the round */
	double slope, intercept;
	double correlation; /* Pearson's, of value and round; NAN when all are equal */
	double rise, rise_allowed; /* |slope| * (window - 1) */
	double range_ratio;	   /* range / mean */
	double slope_ratio;	   /* rise / mean */
	bool steady;
};

enum steady_verdict { STEADY_NOT_YET, STEADY_REACHED, STEADY_NOT_REACHED };

/* The rounds so far; plain data, steady_init. */
struct steady {
	struct steady_rule rule;
	size_t n_tracked;
	uint32_t last; /* number of the last round that counts */
	uint32_t n;    /* rounds in the window, at most rule.window */
	double values[STEADY_TRACKED_MAX][STEADY_WINDOW_MAX]; /* the latest is n - 1 */
};

/* steady_fit judges n values, those of the rounds first, first + 1, ... n: 2 to
 * STEADY_WINDOW_MAX. */
void steady_fit(const struct steady_rule *rule, const double *values, uint32_t n,
	uint32_t first, struct steady_fit *ret_fit);

/* steady_init begins a test with 1..STEADY_TRACKED_MAX tracked variables. */
void steady_init(struct steady *s, const struct steady_rule *rule, size_t n_tracked);

/* steady_add adds round number `round` with its n_tracked values. One that does not
 * follow the last restarts the window. */
void steady_add(struct steady *s, uint32_t round, const double *values);

/* steady_void restarts the window: a round does not count. */
void steady_void(struct steady *s);

/*
 * steady_judge tells the fit of each tracked variable to the window, ret_fits[n_tracked],
 * and whether the test is steady; `over` says that there will be no more rounds.
 */
enum steady_verdict steady_judge(
	const struct steady *s, bool over, struct steady_fit *ret_fits);

/* steady_is_standard says whether a test is judged as the standard has it; rounds: the
 * most that it may take. */
bool steady_is_standard(const struct steady_rule *rule, uint32_t rounds);

/* steady_verdict_name returns "not_yet", "steady" or "not_reached". */
const char *steady_verdict_name(enum steady_verdict v);

#endif
