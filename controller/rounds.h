/*
 * rounds - tests that were measured in rounds, as the records of an attempt tell them.
 *
 * The figures of cells are those that cells.h stores. Inside jobs.
 */
#ifndef CONTROLLER_ROUNDS_H
#define CONTROLLER_ROUNDS_H

#include <jansson.h>
#include <stdint.h>

struct err;
struct fact;
struct origin;
struct tx;

/* rounds_apply stores what the event of a fact, round.end or steady, tells. ERR_STORE,
 * ERR_FULL. */
int rounds_apply(
	struct tx *t, const struct origin *o, const struct fact *f, struct err *e);

/* rounds_json lists the tests of an attempt with verdicts, rounds and cells. *ret_items
 * is a new array. ERR_STORE. */
int rounds_json(struct tx *t, int64_t attempt, json_t **ret_items, struct err *e);

#endif
