/*
 * rounds - measures the cells of a test round by round, until they are steady.
 *
 * Each cell is a point. What a round is worth, and whether the test is steady, is told by
 * the events round.end and steady (schema/wire.md). That the test does not come to a
 * steady state is a verdict and no failure. One thread.
 */
#ifndef RUNNER_ROUNDS_H
#define RUNNER_ROUNDS_H

#include <stddef.h>
#include <stdint.h>

struct resume;
struct step;
struct steps;

/* A gap before a cell that is longer than this makes its round void: the drive had time
 * to recover. */
#define ROUNDS_GAP_NS (INT64_C(30) * 1000000000)

/* What may make a round void, of one of its cells. */
struct rounds_trouble {
	const char *cell;  /* name */
	uint64_t errors;   /* failed I/Os */
	int64_t missed_ns; /* of the measured time, that this host did not run */
	int64_t measure_ns;
	int64_t gap_ns; /* since something was done, the planned pause left out */
};

/* rounds_why_void writes why a round is void, "" when it is not. */
void rounds_why_void(const struct rounds_trouble *t, char *ret_text, size_t size);

/* rounds_run runs a step "rounds", from where an earlier runner of the attempt was ended
 * when there was one (else NULL). 0, or -1 when the run has ended. */
int rounds_run(struct steps *s, const struct step *step, const struct resume *resume);

#endif
