/*
 * steps - executes the steps of a run program, point by point, and tells the outbox.
 *
 * Decides what is measured next; does no I/O of its own: load_run does the load, the
 * caller holds the drive, the outbox keeps the records. Points are numbered over the
 * whole attempt from 1, fill passes included; steps from 1. Goes on where an earlier
 * runner of the attempt was ended. One thread.
 */
#ifndef RUNNER_STEPS_H
#define RUNNER_STEPS_H

#include <stdbool.h>
#include <stdint.h>

#include "runner/control.h"
#include "runner/reading.h"

struct drive_id;
struct engine_ops;
struct err;
struct outbox;
struct program;
struct resume;

/* Loads that offer less than this are not worth measuring and are skipped. */
#define STEPS_IOPS_MIN 10
/* A fill that is slower than this on average has hung. */
#define STEPS_FILL_BYTES_PER_S_MIN (4U << 20)

enum steps_end { STEPS_DONE, STEPS_FAILED, STEPS_CANCELLED };

/* What the steps work with; all borrowed. */
struct steps_env {
	const struct program *program;
	int fd; /* verified, claimed, O_DIRECT */
	const struct engine_ops *engine;
	const char *engine_script;  /* null engine only, else NULL */
	struct reading_place place; /* what to read of the drive around each point */
	struct outbox *outbox;
	/* what an earlier runner of the attempt left; NULL: there was none */
	const struct resume *resume;
	struct control_status *status; /* kept up to date */
	/* verify reads the drive's identity again; errors as claim_verify. */
	int (*verify)(void *arg, struct drive_id *ret_seen, struct err *e);
	/* witness looks at the drive as witness_take does (runner/witness.h); NULL when
	 * nobody can. text has room for WITNESS_MAX. */
	int (*witness)(void *arg, char *ret_text, struct err *e);
	/* read_health asks the drive how it is, and waits for its answer; for polls, on a
	 * thread of theirs. ERR_IO with the reason. NULL when no cell polls. */
	int (*read_health)(void *arg, struct err *e);
	/* tick is called at least 10 times a second; it returns why the run is to stop,
	 * or NULL. */
	const char *(*tick)(void *arg);
	void *arg;
};

/* How the attempt ended; the members of a RESULT. */
struct steps_result {
	enum steps_end end;
	const char *class; /* "drive", "infra", "recipe", "safety", "timeout"; NULL unless
			      failed */
	char reason[768];  /* "" when done */
	uint32_t points;   /* started */
};

/* steps_run executes all steps; blocks until the last has ended or one has failed. */
void steps_run(const struct steps_env *env, struct steps_result *ret_r);

/* steps_fail sets a failure of that class with the text and cure of e. */
void steps_fail(struct steps_result *r, const char *class, const struct err *e);

/* steps_class returns the class of a failure to get or keep the drive: "safety" for
 * ERR_UNSAFE, "drive" for ERR_IO, "infra" for everything else. */
const char *steps_class(const struct err *e);

#endif
