/*
 * worker - one thread that loads a drive: submit, reap, count.
 *
 * Everything it needs is there before its first I/O; between start and drain it
 * allocates nothing, locks nothing and logs nothing. Seconds come out of a ring of
 * preallocated slots. Times are CLOCK_MONOTONIC. Slots cover exactly one second of the
 * clock, whatever the worker was doing at its end; a second in which it could do nothing
 * is a slot of zeros. When the reader is so far behind that no slot is free, the worker
 * goes on in the one it has (SAMPLE_MERGED).
 */
#ifndef RUNNER_WORKER_H
#define RUNNER_WORKER_H

#include <stdbool.h>
#include <stdint.h>

#include "common/record.h"
#include "runner/arrival.h"
#include "runner/content.h"
#include "runner/engine.h"
#include "runner/late.h"
#include "runner/load.h"
#include "runner/pattern.h"
#include "runner/verify.h"

struct err;
struct worker;

struct worker_config {
	const struct engine_ops *ops;
	struct engine_config engine; /* buffers: worker_new makes them */
	struct pattern_config pattern;
	struct content_config content;
	struct verify *verify;	       /* borrowed; NULL: data are not checked */
	struct arrival_config arrival; /* rate 0: closed loop */
	int64_t warmup_ns, measure_ns; /* not used with pattern.one_pass */
	uint64_t max_errors; /* the worker ends when more I/Os than this failed */
	uint32_t point;
	int64_t second_ns; /* length of a slot, for tests; 0: one second */
};

/* What the ring holds: s covers the seconds s.second up to but without end_second. */
struct worker_slot {
	struct sample s;
	uint32_t end_second;
};

/* What a worker knows when it is done; measured time only, where not said otherwise. */
struct worker_report {
	int engine_failure;    /* errno: the engine itself failed; 0 */
	bool too_many_errors;  /* ended by max_errors */
	bool no_place;	       /* ended by a write that found no free place */
	struct io first_fault; /* first I/O that failed; complete_ns 0: none */
	uint64_t faults[LOAD_FAULTS];
	uint64_t backlog_max;
	double in_flight_ns;	     /* I/Os in flight x ns */
	struct late late;	     /* open loops */
	struct verify_report verify; /* warm-up and drain included */
	int64_t measured_ns, drain_ns;
	struct hist unfinished;		    /* as in struct load_result */
	uint64_t drained_bytes[DIRECTIONS]; /* moved after the end */
	int64_t start_lag_ns;		    /* from the planned start to the real one */
	int64_t cpu_user_ns, cpu_system_ns;
	char engine[128];
};

/* worker_new allocates all memory. Owned by the caller. Errors: ERR_LIMIT. */
int worker_new(struct worker **ret_w, const struct worker_config *c, struct err *e);

/* worker_free stops and joins the thread if there is one; NULL allowed. */
void worker_free(struct worker *w);

/* worker_open starts the thread and waits until it has opened its engine. Errors: the
 * engine's, ERR_IO without a thread. */
int worker_open(struct worker *w, struct err *e);

/* worker_start lets the thread begin at start_ns, which is start_wall_ns on the wall. */
void worker_start(struct worker *w, int64_t start_ns, int64_t start_wall_ns);

/* worker_stop asks the thread to drain and end. Any thread. */
void worker_stop(struct worker *w);

/* worker_slot returns the oldest finished slot, or NULL; worker_pop gives it back, empty.
 */
struct worker_slot *worker_slot(struct worker *w);
void worker_pop(struct worker *w);

/* worker_errors returns the failed I/Os so far. Any thread. */
uint64_t worker_errors(const struct worker *w);

/* worker_is_done says whether the thread has drained; no slot comes after that. */
bool worker_is_done(const struct worker *w);

/* worker_report returns the report of a worker that is done; borrowed. */
const struct worker_report *worker_report(const struct worker *w);

#endif
