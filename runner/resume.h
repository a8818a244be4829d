/*
 * resume - what an earlier runner of the attempt has left in its spool: where to go on.
 *
 * The spool is the only word on what was done: a round whose end is not in it was not
 * completed. Reads; one thread.
 */
#ifndef RUNNER_RESUME_H
#define RUNNER_RESUME_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "common/rounds.h"
#include "runner/choice.h"

struct err;
struct program;

struct resume_round {
	uint32_t round;
	bool is_void;
	double values[ROUNDS_TRACKED_MAX]; /* tracked; NAN: not known */
};

struct resume {
	bool begun;	  /* there was an earlier runner */
	bool has_result;  /* which ended the attempt */
	uint64_t samples; /* SAMPLE records */
	uint32_t points;  /* highest number of a point */
	uint32_t step;	  /* that was begun last, from 1; 0: none */
	bool step_done;	  /* and has ended well */
	/* Of that step: */
	struct resume_round *rounds; /* that have ended, in order; owned */
	size_t n_rounds;
	uint32_t round_begun;	/* highest number of a round with a point; 0: none */
	uint32_t round_point;	/* its first point */
	uint64_t written_bytes; /* by its rounds, and by cells that were cut, as far as
				   their samples tell */
	uint32_t open_point;	/* a cell without a record of its end; 0: none */
	uint64_t open_bytes;	/* that its samples say it wrote */
	int64_t last_wall_ns;	/* when the last record was made; 0: not known */
	struct figures figures; /* of all steps; owned */
};

/* resume_read reads the spool in dir; *ret_r is owned (resume_fini). Errors: as
 * spool_reader_open. */
int resume_read(const char *dir, struct resume *ret_r, struct err *e);

/*
 * resume_is_possible says whether a runner can go on with p from r: not in the middle of
 * a ramp, whose points refer to each other. A purge or fill that was cut is done again.
 */
bool resume_is_possible(const struct resume *r, const struct program *p);

/* resume_fini frees what r owns. */
void resume_fini(struct resume *r);

#endif
