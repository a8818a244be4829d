/*
 * program - the run program: all that a runner needs, with nothing left to ask
 * (schema/program.md).
 *
 * Made by the controller, kept by the agent, executed by the runner. Pure.
 */
#ifndef COMMON_PROGRAM_H
#define COMMON_PROGRAM_H

#include <jansson.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "common/drive.h"
#include "common/rounds.h"
#include "common/workload.h"

struct err;

#define RAMP_POINTS_MAX 64

enum arrivals { ARRIVALS_POISSON, ARRIVALS_FIXED };

/* The highest rate that can be asked for, I/Os per second. */
#define RAMP_RATE_MAX 100000000

/*
 * The load points of a workload: an uncontrolled maximum, then percentages of it; or
 * rates that are offered as they are, without a maximum. Where there are rates there are
 * no percentages, and the times of the maximum are 0.
 */
struct ramp {
	int64_t maximum_warmup_ns;
	int64_t maximum_measure_ns;
	int64_t warmup_ns;
	int64_t measure_ns;
	enum arrivals arrivals;
	double load_percent[RAMP_POINTS_MAX];
	size_t n_loads;
	double rate_iops[RAMP_POINTS_MAX];
	size_t n_rates;
};

enum step_kind { STEP_IDENTIFY, STEP_PURGE, STEP_FILL, STEP_WORKLOAD, STEP_ROUNDS };

/* A line that tells in which state a drive was found or left (runner/witness.h). */
#define WITNESS_MAX 256

/* A step that is not needed when the drive is as a run has left it. */
struct unless {
	uint64_t run; /* 0: the step is always done */
	char witness[WITNESS_MAX];
};

struct step {
	enum step_kind kind;
	struct unless unless;	    /* purge, fill */
	uint32_t passes;	    /* fill */
	struct workload workload;   /* fill: its block and in_flight; workload: all */
	struct ramp ramp;	    /* workload */
	char test[WORKLOAD_ID_MAX]; /* rounds: id of the test */
	struct rounds rounds;	    /* rounds; owned by the program */
};

/* Which bytes are written: 0 and 0 is what neither compresses nor repeats. */
struct data_shares {
	double compress_percent; /* share that compresses away, 0..100 */
	double dedupe_percent;	 /* share that repeats what was written before, 0..100 */
};

/* The instant at which the runs of a group begin their steps. */
struct program_start {
	uint64_t at_ns;	 /* by the node's wall clock; 0: at once */
	uint64_t lab_ns; /* the same by the controller's */
};

struct program {
	uint64_t run;	  /* number of the run: 12 for r12 */
	uint64_t attempt; /* number of the attempt */
	uint64_t fence;
	uint64_t seed;
	uint32_t max_errors;	/* a point fails when more of its I/Os failed */
	struct drive_id drive;	/* who the drive must be */
	uint64_t region_offset; /* bytes; workloads stay inside the region, purge and
				   fill cover the drive */
	uint64_t region_length;
	struct data_shares data; /* of all that is written */
	struct program_start start;
	struct step *steps; /* owned */
	size_t n_steps;
};

/* program_to_json writes a program (64-bit numbers as decimal strings). New reference. */
json_t *program_to_json(const struct program *p);

/* program_from_json reads and checks one; *ret_p is owned (program_fini). ERR_INVALID. */
int program_from_json(const json_t *doc, struct program *ret_p, struct err *e);

/* program_writes says whether any step of p writes to the drive. */
bool program_writes(const struct program *p);

/* program_has_rounds says whether any step of p measures in rounds. */
bool program_has_rounds(const struct program *p);

/* program_polls_health says whether the drive's health is polled while any cell runs. */
bool program_polls_health(const struct program *p);

/* program_chosen_from returns the test from which step i, counted from 0, takes over its
 * demand: the last before it with that id. NULL: it takes over none, or there is none. */
const struct step *program_chosen_from(const struct program *p, size_t i);

/* program_fini frees what p owns. */
void program_fini(struct program *p);

/* arrivals_name returns "poisson" or "fixed"; step_kind_name "identify", "purge",
 * "fill", "workload", "rounds". */
const char *arrivals_name(enum arrivals a);
const char *step_kind_name(enum step_kind kind);

/*
 * program_round_target rounds an offered rate up as vdbench does: to the next 100 above
 * 1,000 I/Os per second, else to the next 10.
 */
double program_round_target(double iops);

#endif
