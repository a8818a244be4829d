/*
 * rounds - the tests of a run that were measured in rounds, shown to people: verdicts
 * with the figures that led to them, and the results of their cells.
 */
#ifndef CLI_ROUNDS_H
#define CLI_ROUNDS_H

#include <jansson.h>

struct out;

/* rounds_show writes the tables of the array of tests, the items of /runs/{id}/rounds. */
void rounds_show(const struct out *o, const json_t *tests);

#endif
