/*
 * arrival - when I/Os of an open loop are due, and which of them still wait.
 *
 * Fixed arrivals are evenly spaced. Poisson arrivals come in spans (the warm-up, the
 * measured time); each span has exactly rate x span arrivals, spread as a Poisson process
 * with that count spreads them, so that a rate is met and not only expected. Pure,
 * seeded, one thread; nothing is allocated after arrival_new.
 */
#ifndef RUNNER_ARRIVAL_H
#define RUNNER_ARRIVAL_H

#include <stdbool.h>
#include <stdint.h>

#include "common/program.h"

#define ARRIVAL_SPANS 2

struct arrival_config {
	enum arrivals kind;
	double rate;  /* per second, more than 0 */
	double phase; /* 0..1, of the first gap: keeps fixed workers apart */
	int64_t span_ns[ARRIVAL_SPANS]; /* one after the other from the start */
	uint64_t seed;
	unsigned backlog_max; /* power of two: more that wait are dropped */
};

struct arrival;

/* arrival_new makes a process that starts with arrival_start. Owned by the caller. */
struct arrival *arrival_new(const struct arrival_config *c);

/* arrival_free frees it; NULL allowed. */
void arrival_free(struct arrival *a);

/* arrival_start sets time 0 of the process (CLOCK_MONOTONIC). */
void arrival_start(struct arrival *a, int64_t start_ns);

/*
 * arrival_advance lets everything due by now_ns arrive. Returns how many were dropped
 * because backlog_max of them wait already.
 */
uint64_t arrival_advance(struct arrival *a, int64_t now_ns);

/* arrival_waiting returns how many have arrived and were not taken. */
unsigned arrival_waiting(const struct arrival *a);

/* arrival_take returns the due time of the oldest that waits; one must. */
int64_t arrival_take(struct arrival *a);

/* arrival_next returns when the next one is due; INT64_MAX after the last span. */
int64_t arrival_next(const struct arrival *a);

#endif
