/*
 * rounds - tests that were measured in rounds, as the records of an attempt tell them.
 *
 * The figures of a cell are those of the rounds that count: of the window that was judged
 * last, or of all rounds that are not void where nothing was judged. They are computed
 * from the stored points when they are asked for. Inside jobs.
 */
#ifndef CONTROLLER_ROUNDS_H
#define CONTROLLER_ROUNDS_H

#include <jansson.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "analysis/metrics.h"

struct err;
struct fact;
struct origin;
struct tx;

/* rounds_apply stores what the event of a fact, round.end or steady, tells. ERR_STORE,
 * ERR_FULL. */
int rounds_apply(
	struct tx *t, const struct origin *o, const struct fact *f, struct err *e);

/* One cell of a test that has ended. */
struct rounds_result {
	char name[64];	/* "TEST/CELL" */
	uint32_t cell;	/* from 1 */
	uint32_t n;	/* rounds that its figures are of */
	uint32_t point; /* of the last of them */
	bool reached;	/* the test is not one that did not come to a steady state */
	unsigned flags; /* enum sanity_flag, of all these points */
	struct point_metrics m; /* of all these rounds; histograms merged */
};

/* Which cells, and who is told of them. */
struct rounds_want {
	int64_t step;					      /* 0: of all steps */
	const char *name;				      /* "TEST/CELL"; NULL: all */
	void (*fn)(void *arg, const struct rounds_result *r); /* r: for the call */
	void *arg;
};

/* rounds_cells tells of each cell of the tests of an attempt that have ended and have
 * rounds that count. ERR_STORE. */
int rounds_cells(
	struct tx *t, int64_t attempt, const struct rounds_want *want, struct err *e);

/* rounds_json lists the tests of an attempt with verdicts, rounds and cells. *ret_items
 * is a new array. ERR_STORE. */
int rounds_json(struct tx *t, int64_t attempt, json_t **ret_items, struct err *e);

#endif
