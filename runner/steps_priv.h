/*
 * steps_priv - what steps.c shares with rounds.c, purge_step.c and steps_tell.c: one
 * point to be measured, who measures it, and what is told of it.
 */
#ifndef RUNNER_STEPS_PRIV_H
#define RUNNER_STEPS_PRIV_H

#include <stdbool.h>
#include <stdint.h>

#include "common/program.h"
#include "common/record.h"
#include "runner/choice.h"
#include "runner/load.h"
#include "runner/polls.h"
#include "runner/reading.h"
#include "runner/seconds.h"
#include "runner/steps.h"

/* The seed of a point: seed + step * STEPS_SEED_STEP + point (schema/program.md). */
#define STEPS_SEED_STEP 1000003

/* A maximum or a cell of which this host has missed so much, in time and as a part of it,
 * says nothing of the drive. */
#define STEPS_MISSED_NS NS_PER_S
#define STEPS_MISSED_PART 0.1

/* Where a cell of a round stands. */
struct round_place {
	const char *test;
	uint32_t round, cell; /* from 1 */
};

/* One point to be measured. */
struct plan {
	const struct workload *workload;
	const char *name;		 /* in records; NULL: the id of the workload */
	const struct round_place *place; /* of a cell; NULL: it is none */
	double load_percent; /* NAN: fill, cell, uncontrolled maximum, or a rate as it is
			      */
	double target_iops;  /* before rounding */
	double offered_iops; /* 0: closed loop */
	double reference_iops; /* the maximum that load_percent refers to, or NAN */
	enum arrivals arrivals;
	int64_t warmup_ns, measure_ns;
	int64_t poll_health_ns;	 /* as of a cell; 0: nobody polls */
	uint64_t offset, length; /* bytes */
	uint64_t one_pass;	 /* as in struct load */
};

struct steps {
	const struct steps_env *env;
	const struct program *program;
	struct steps_result *r;
	uint32_t step;	     /* number, from 1 */
	int64_t deadline_ns; /* CLOCK_MONOTONIC; the load that runs has hung then */
	int64_t idle_ns; /* CLOCK_MONOTONIC since when nothing is done; 0: not known */
	int64_t gap_ns;	 /* for how long nothing was done before the last load */
	bool late;
	bool changed;		    /* a step may have changed the drive */
	const char *stop;	    /* why to stop, from env->tick */
	char name[ROUNDS_NAME_MAX]; /* of the point that runs, for the status */
	char purge[64];		    /* how the purge goes that runs, for the status */
	struct load_result load;
	struct polls_report polls; /* of the point */
	struct seconds seconds;	   /* of the point */
	struct reading before;	   /* when it began */
	struct point_record record;
	struct figures figures; /* of cells, of earlier runners, too; owned */
};

/* steps_point measures a point and tells it; the result is in s->load. 0, or -1 when the
 * run has ended. */
int steps_point(struct steps *s, const struct plan *p);

/* steps_go_on asks whether the run goes on; when it does not, it has been cancelled. To
 * be called at least 10 times a second while nothing else does. */
bool steps_go_on(struct steps *s);

/* steps_tick asks the caller whether to go on, and looks at the clock; arg: the steps. */
bool steps_tick(void *arg);

/* steps_cancel ends the run as cancelled, for the reason of the last tick; -1 always. */
int steps_cancel(struct steps *s);

/* steps_verify looks once more whether this is the drive. 0, or -1 when the run has
 * ended. */
int steps_verify(struct steps *s, struct drive_id *ret_seen);

#define STEPS_ERROR_TEXT_MAX 128

/* steps_error_text returns the text of an error number; buf is used when it is not a
 * constant. */
const char *steps_error_text(int num, char buf[STEPS_ERROR_TEXT_MAX]);

/* steps_point_name returns what a point is called in records. */
const char *steps_point_name(const struct plan *p);

/* steps_tell_start tells that the point begins; steps_tell_point tells it, once its load
 * is in s->load. */
void steps_tell_start(struct steps *s, const struct plan *p);
void steps_tell_point(struct steps *s, const struct plan *p, uint64_t seed);

#endif
